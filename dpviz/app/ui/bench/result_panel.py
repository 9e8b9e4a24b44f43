"""The picture of an answer: a run, played or as profiles, judged on revealed rows; below it what it found, files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from math import isnan
from typing import NamedTuple, cast

import numpy as np
import streamlit as st

from dpviz.algorithms import Setting, Step, predict_floor, synopsis_reading
from dpviz.app.charts.animation import Animation, TitleNumber
from dpviz.app.charts.picture import RenderContext
from dpviz.app.charts.pictures.segment_profiles import MOST_COLUMNS, ProfilePicture
from dpviz.app.charts.pictures.space import describe_space, draw_space, list_turning_places
from dpviz.app.charts.player.player_page import PlayerScene, animate, make_player_page
from dpviz.app.charts.registry import draw_picture
from dpviz.app.charts.result_charts import draw_shares, draw_spent, list_shares
from dpviz.app.charts.studies.curves import draw_k_curve
from dpviz.app.charts.view import View, make_view
from dpviz.app.ui.bench.catalogue import draw_description, foresee_outcome
from dpviz.app.ui.bench.finding import Shown
from dpviz.app.ui.bench.hand import Hand
from dpviz.app.ui.data.table_summary import draw_table_facts
from dpviz.app.ui.data_access import draw_reveal_switch, is_reveal_allowed, make_judged_table, reveal, reveal_view
from dpviz.app.ui.escape import escape_markdown
from dpviz.app.ui.figure import (
    LEAST_PROFILED,
    SENTENCES,
    ask_one_of,
    ask_plane,
    choose_mark,
    draw_caption_with_badge,
    draw_centers_table,
    draw_data_table,
    draw_download,
    draw_profile_panel,
    draw_python_section,
    draw_tabs,
    format_badge,
    look_of,
    read_palette,
    show,
    show_diagram,
    show_wide,
)
from dpviz.app.ui.job_panel import poll
from dpviz.app.ui.player import Room, play, zip_steps
from dpviz.app.ui.reader import is_narrow
from dpviz.app.ui.runner import (
    Result,
    await_recovery,
    draw_pending_panel,
    draw_reference_notice,
    fetch_reference,
    find_failure,
    find_recovery,
    find_result,
    is_asked,
    is_pending,
    is_under_way,
    read_steps,
    start,
)
from dpviz.app.ui.session import count_grid_read, find_known_clusters, find_record, make_once
from dpviz.core import MOST_SAMPLED, AccessKind, Array, Codes, RequestError
from dpviz.runs import (
    OpenTable,
    ReleaseRecord,
    Request,
    Run,
    RunSoFar,
    Script,
    evaluation,
    export,
    make_synthetic_table,
    profiles,
)
from dpviz.tables import FileKind
from dpviz.words import PLUS_MINUS, capitalize_first, format_number, format_percent, format_ratio, glossary

_SCORES, _ROOM = "result:scores", Room(below=262, narrow=197, least=206, small=True)


class Labels(NamedTuple):
    """How well known groups are met, how many rows are in none, and how well so many centres could meet them."""

    accuracy: float
    unlabelled: int
    ceiling: float = 1.0

    @property
    def percent(self) -> str:
        """The accuracy in words."""
        return "none" if isnan(self.accuracy) else format_percent(self.accuracy)

    @property
    def of(self) -> str:
        """What the accuracy is of, with the most that fewer centres than groups can reach."""
        return "label accuracy" + (f", of at most {format_percent(self.ceiling)}" if self.ceiling < 1 else "")


class Judged(NamedTuple):
    """Scores of one run, kept so that a rerun of the page does not read the rows again; ``rows``: if all were read."""

    run: Run
    scores: evaluation.Scores
    labels: Labels | None
    rows: int | None

    def find_floor(self, setting: Setting) -> float | None:
        """What one perfect step would lose on the rows that are used, which may be fewer than were declared."""
        return predict_floor(setting if None in (self.rows, setting.n) else replace(setting, n=self.rows))


class Pictured(NamedTuple):
    """What the picture is of: a table or a stand-in for it, and a run on it, if there is one.

    ``epsilon`` is that of the release that is asked for.
    """

    table: OpenTable
    request: Request
    result: Result | None = None
    reference: evaluation.Reference | None = None
    judged: Judged | None = None
    refusal: str = ""
    is_made_up: bool = False
    epsilon: float = 0.0

    @property
    def part(self) -> str:
        """Which larger ε, that of the whole release, that of the run is a part of; "" if none."""
        return f" of {self.epsilon:g}" if self.is_of_request and self.request.epsilon < self.epsilon else ""

    @property
    def is_of_request(self) -> bool:
        """Whether the run is the one that is asked for now."""
        return self.result is not None and self.result.request == self.request

    @property
    def shown(self) -> Shown | None:
        """What a headline has to agree with; None where the run is of another ε, or there is none."""
        broke = find_failure(self.table, self.request)
        if broke or self.refusal:
            return Shown(broke=broke, refusal=self.refusal)
        if self.result is None or not self.is_of_request:
            return None
        loss = None if self.judged is None else self.judged.scores.ratio
        run = self.run
        return Shown(run.verdict, loss, self.is_made_up, run.private, epsilon=run.epsilon, part=self.part)

    @property
    def run(self) -> Run:
        """The run that is there."""
        assert self.result is not None
        return self.result.run

    @property
    def mark(self) -> str:
        """Said over the centres where a private test did not pass: they know no data, or come from ones that do not."""
        last = self.run.frames[-1].step
        return "refused (⊥)" if last.public or "⊥" in last.title else ""

    def make_profile(self) -> profiles.Profile:
        """The centres, column by column, beside those of k-means++ where truth is shown."""
        return profiles.make_profile(self.run, reference=None if self.reference is None else self.reference.centers)


def read_labels(codes: Codes, assigned: Codes, k: int) -> Labels | None:
    """How well centres meet the groups of labelled rows: ``codes`` (n,), below 0 none, and ``assigned`` (n,) centres.

    Each of more centres may lie in a group of its own making: the accuracy then rises with k, and says nothing.
    """
    if k > np.unique(codes[codes >= 0]).size > 0:
        return None
    accuracy, unlabelled = evaluation.label_accuracy(codes, assigned), int((codes < 0).sum())
    return Labels(accuracy, unlabelled, evaluation.label_ceiling(codes, k))


def compute_scores(table: OpenTable, result: Result, reference: evaluation.Reference | None) -> Judged | None:
    """Scores of a run against revealed rows."""
    run = result.run
    if reference is None:
        return None
    rows = make_judged_table(table, "loss of a run", AccessKind.LOSS, points_per_row=run.points_per_row)
    if rows is None:
        return None
    kept = cast("Judged | None", st.session_state.get(_SCORES))
    if kept is None or kept.run is not run or kept.scores.nicv_kmeans != reference.nicv:
        labels = None
        if table.labels is not None:
            labels = read_labels(table.labels[rows.kept], evaluation.assign(rows.points, run.unit_centers), run.k)
        scores = evaluation.evaluate(rows, run.unit_centers, reference)
        used = len(rows.points) // run.points_per_row if table.private.in_memory else None
        kept = st.session_state[_SCORES] = Judged(run, scores, labels, used)
    return kept


_ANIMATION, _KEPT_ANIMATIONS = "walk:animation", 4
_SO_FAR, _POLL_SECONDS = "walk:so_far", 1.0


def _zip_run(run: RunSoFar, context: RenderContext) -> str:
    return zip_steps(Animation.of_run(run, context).to_data())


def draw_walk(pictured: Pictured, view: View) -> None:
    """Play a finished run."""
    context, reference, result = make_final_context(pictured, view), pictured.reference, pictured.result
    assert result is not None
    plane = (context.view.axes, context.view.name)
    given = (result.number, plane, st.context.theme.type, context.reveal is None, reference is None, context.part)
    animation = make_once(_ANIMATION, given, partial(_zip_run, result.run, context), most=_KEPT_ANIMATIONS)
    said, numbers = _describe_staleness(pictured, result), list(list_numbers(pictured))
    play(animation, numbers, said=said, key="explore:player", room=_ROOM)


def draw_walk_so_far(table: OpenTable, so_far: RunSoFar, reference: evaluation.Reference | None, view: View) -> None:
    """Play the steps that a run has taken, and, as long as it is under way, those that come."""
    context = replace(_make_context(table, so_far, view), reference=reference, reference_coming=False)

    def steps() -> None:
        arrived = read_steps() or so_far
        given = (arrived.frames, context.view.name, st.context.theme.type, context.reveal is None)
        animation = make_once(_SO_FAR, given, partial(_zip_run, arrived, context))
        play(animation, [TitleNumber.of_spending(arrived)] if arrived.private else [], key="explore:player", room=_ROOM)

    poll(steps, every=_POLL_SECONDS if is_under_way(table) else None, key="walk:so_far")


def _describe_staleness(pictured: Pictured, result: Result) -> str:
    """What has to be said above the pictures, if they are not of what the controls ask for; "" if they are."""
    table, now = pictured.table, pictured.request
    if pictured.is_of_request:
        return ""
    of = f"These pictures are of the run before, {result.request.card.title} at ε = {result.run.epsilon:g}"
    broke = find_failure(table, now)
    if broke:
        return f"{of}: the last run broke off ({broke}). Move a control, or try again."
    refused = foresee_outcome(now, table).refusal
    if refused:
        return f"{of}. {refused}"
    return f"{of}: the next one is under way." if table.kind.may_be_shown else f"{of}: press Run to apply the settings."


def _make_context(table: OpenTable, run: RunSoFar, view: View) -> RenderContext:
    """The plane, the colours and, where truth is shown, the rows."""
    revealed = reveal_view(table, "rows under the pictures of a run", points_per_row=run.points_per_row)
    epsilon, mark = run.epsilon if run.private else None, choose_mark(table)
    return RenderContext(view, read_palette(), reveal=revealed, epsilon=epsilon, mark=mark)


def make_final_context(pictured: Pictured, view: View) -> RenderContext:
    """The look at a finished run, with what it cost beside it where truth is shown."""
    table, _, result, reference, judged, *_ = pictured
    assert result is not None
    run = result.run

    def loss(centers: Array) -> float | None:
        return judged.scores.ratio if judged is not None and np.array_equal(centers, run.unit_centers) else None

    context = replace(
        _make_context(table, run, view),
        part=pictured.part,
        reference=reference,
        reference_coming=reference is None and is_reveal_allowed(table),
        ratio=None if judged is None else loss,
        ghosts=result.earlier,
    )
    # One to one with k-means++ says something only where k is the number of clusters that are there.
    if reference is None or find_known_clusters(table) != run.k:
        return context
    return replace(context, found=partial(find_recovery, table, reference=reference, points_per_row=run.points_per_row))


def list_numbers(pictured: Pictured) -> Iterator[TitleNumber]:
    """The numbers beside a title: what was spent, what it cost, and how well known groups are met."""
    if pictured.run.private:
        yield TitleNumber.of_spending(pictured.run)
    if (judged := pictured.judged) is not None:
        sample = "" if pictured.table.private.in_memory else ", in a sample of the rows"
        yield TitleNumber("revealed", format_ratio(judged.scores.ratio), f"the loss of k-means++{sample}")
        if judged.labels is not None:
            yield TitleNumber("revealed", judged.labels.percent, judged.labels.of)


def draw_below(pictured: Pictured) -> None:
    """Draw the tabs under the pictures of a run; of those only the open one."""
    table, run, result = pictured.table, pictured.run, pictured.result
    assert result is not None
    context = make_final_context(pictured, make_view(run.domain))

    def draw_found() -> None:
        if run.private and run.domain.dim >= LEAST_PROFILED:
            draw_profile_panel(pictured.make_profile(), "explore", mark=pictured.mark)
        _draw_clusters(pictured, result.request)
        draw_turning(run, context)
        draw_k_reading(result)

    def draw_files() -> None:
        _draw_take_away(pictured, result, context)
        script = partial(Script.for_run, table.loaded.name, table.declaration, result.request)
        draw_python_section(script, key="explore", stem="run")

    tabs: dict[str, Callable[[], None]] = {
        "What was found": draw_found,
        "Ledger": partial(_draw_ledger, run),
        "How it works": partial(draw_description, result.request.card),
        "Table": partial(_draw_numbers, run, context),
        "Take away": draw_files,
    }
    draw_tabs(tabs, key="explore:below")


def _ask_step(label: str, run: Run, places: Sequence[int], key: str) -> Step:
    """One of the steps of a run; at first the last."""
    last, number = places[-1], len(run.frames)
    kept, named = f"{key}:{run.algorithm}:{last}", lambda i: f"{i + 1}/{number} {run.frames[i].step.title}"
    place = st.selectbox(label, places, index=len(places) - 1, format_func=named, key=kept)
    return run.frames[last if place is None else place].step


def _draw_numbers(run: Run, context: RenderContext) -> None:
    """The numbers behind the picture of any step."""
    chart = draw_picture(_ask_step("Step", run, range(len(run.frames)), "explore:table"), context.without_rows())
    st.markdown(format_badge(chart.kind))
    draw_data_table(chart.table(), alt="The numbers behind the picture")


def _draw_ledger(run: Run) -> None:
    """How the budget of a run was divided between the stages of the algorithm."""
    if not run.private:
        st.markdown(f"{format_badge('revealed')} No ledger: k-means++ has no privacy to account for.")
        return
    adds_up = SENTENCES.fill(f"adds_up_{run.accounting.value}")
    about = glossary.explain_words("ledger, charge, accounting")
    st.markdown(f"{format_badge('released')} *Ledger of this visit* has the charges of this run. {adds_up}", help=about)
    bar = draw_spent(list_shares(run.ledger), run.epsilon)
    show_diagram(bar, key="explore:shares", stem=f"{export.name_picture(run)}-{bar.stem}")


_TURNED = "explore:turned"


def draw_turning(run: Run, context: RenderContext) -> None:
    """Draw three columns as a body that turns, once somebody asks; nothing where there are more columns, or fewer."""
    places = list_turning_places(run.steps, run.domain)
    if not places or not st.toggle(**look_of("turned", key=_TURNED)):
        return
    step, shown = _ask_step("Step that is turned", run, places, _TURNED), context.with_steps_of(run)
    words = describe_space(step, shown)
    show_wide(draw_space(step, shown), alt=words, key=f"{_TURNED}:figure", stem=f"{export.name_picture(run)}-3d")


_READ = "explore:read_k"
# As far as the curve goes, beside the k of the run: a grid is as fine as its k asks for.
_LEAST = 8


def draw_k_reading(result: Result) -> None:
    """The loss on the run's synopsis for each k up to its own, once somebody asks; nothing where there is no grid."""
    run = result.run
    steps = run.steps
    if synopsis_reading.find_synopsis(steps) is None:
        return
    most = min(max(run.k, _LEAST), synopsis_reading.MOST_K)
    question = f"How many groups are there? Read it from the grid, for k up to {most:d}"
    if not st.toggle(question, **look_of("read_k", key=_READ)):
        return
    with st.spinner("The grid is solved for every k, and again with the noise redrawn", show_time=True):
        suggest = partial(synopsis_reading.suggest_k, steps, most, np.random.default_rng(0))
        read = make_once(f"{_READ}:curve", (result.number, most), suggest)
    count_grid_read(result.place, result.number)
    curve = draw_k_curve(read)
    show_diagram(curve, key="explore:k_curve")
    st.markdown(f"{format_badge('released')} {escape_markdown(read.words)}")
    with st.expander("The numbers"):
        draw_data_table(curve.table(), alt="The loss on the grid for each number of clusters")


def _draw_take_away(pictured: Pictured, result: Result, context: RenderContext) -> None:
    """The buttons, and what is in the files; without privacy there is nothing to take away."""
    record = find_record(result.place)
    if not record.private:
        draw_caption_with_badge("revealed", "k-means++ is never a release: there is nothing to download.")
        return
    stem, table, shown = export.name_file(record), pictured.table, _make_public_context(pictured, context)
    seen = pictured if shown.reveals else pictured._replace(judged=None)
    with st.container(horizontal=True, vertical_alignment="center"):
        name, look = (
            f"{export.name_file(record, revealed=shown.reveals)}.html",
            look_of("run_page", key="download_page"),
        )
        draw_download(content=lambda: make_run_page(seen, record, shown), name=name, **look)  # when it is asked for
        centers, braces = export.format_centers_csv(record), ":material/data_object:"
        draw_download("Centres (CSV)", centers, f"{stem}_centres.csv", key="download_centers")
        draw_download("Run (JSON)", export.format_run_json(record), f"{stem}_run.json", key="download_run", icon=braces)
    if shown.reveals:
        draw_caption_with_badge("revealed", SENTENCES.fill("page_reveals", title=escape_markdown(table.title)))
    others = "The other two files" if shown.reveals else "All files"
    draw_caption_with_badge("released", SENTENCES.fill("files_hold", files=others))
    if record.note:
        st.caption(f":material/warning: {escape_markdown(record.note)} Each file says so inside and by its name.")


def _make_public_context(pictured: Pictured, context: RenderContext) -> RenderContext:
    """What a page of its own may show: of a private table nothing but the release, whatever its owner sees here."""
    table = pictured.table
    if not (table.kind.may_be_shown and context.reveals):
        return context.without_rows()
    # Earlier draws stand in no ledger of this file.
    shown = replace(context, ghosts=(), part="", reference_coming=False)
    if context.found is None or context.reference is None:
        return shown
    return replace(shown, found=await_recovery(table, context.reference, points_per_row=pictured.run.points_per_row))


def make_run_page(pictured: Pictured, record: ReleaseRecord, context: RenderContext) -> bytes:
    """The walk through a run as one HTML file."""
    animation = animate(pictured.run, context, list(list_numbers(pictured)))
    return make_player_page([PlayerScene(animation=animation, run=record, table=pictured.table.title)]).encode("utf-8")


_UNITS = "In unit coordinates²; k-means++ reads the same rows, as the declared bounds leave them."


def _draw_clusters(pictured: Pictured, request: Request) -> None:
    """The table of clusters, and the loss under it; ``request`` is what was run."""
    run = pictured.run
    if run.verdict is None or run.verdict.kind != "refused":  # else there are none
        mark = format_badge("released" if run.private else "revealed")
        st.markdown(f"{mark} {escape_markdown(_describe_clusters(run))}")
    # How it ended, where something speaks against it, and why its light said otherwise.
    verdict = run.verdict and run.verdict.beside(None if pictured.judged is None else pictured.judged.scores.ratio)
    if verdict is not None and not verdict.fine:
        words = escape_markdown(capitalize_first(verdict.words))
        draw_caption_with_badge("released", f":material/warning: {words}")
    apart = foresee_outcome(request, pictured.table).explain_difference(run.verdict) if verdict is run.verdict else ""
    if apart:
        st.caption(escape_markdown(apart))
    draw_centers_table(run.profile)
    # The shares of declared values, if there are any.
    if run.domain.declared and (told := run.read_shares()):
        shares = draw_shares(told, run.profile.share_reach)
        show_diagram(shares, key="explore:shares_of_values", stem=f"{export.name_picture(run)}-{shares.stem}")
    # Whether the run went well, as far as released values tell.
    if run.loss_diagnostic is not None:
        doubtful = ":material/warning: " if run.loss_diagnostic.doubts else ""
        about = f"{SENTENCES.fill('loss_diagnostic')} {glossary.explain_term('loss')}"
        words = f"{doubtful}{escape_markdown(run.loss_diagnostic.words)}."
        draw_caption_with_badge("released", words, help=about)
    if run.stability is not None:
        mark = "" if run.stability.holds else ":material/warning: "
        draw_caption_with_badge("released", f"{mark}{escape_markdown(run.stability.words)}")
    _draw_cost(pictured.table, pictured.judged, request)


def _describe_clusters(run: Run) -> str:
    made, sizes = run.profile, run.profile.sizes
    noise = PLUS_MINUS if made.noise_known or (sizes is not None and sizes.known) else ""
    if sizes is None:
        return f"{run.k} clusters; their sizes were not measured. {noise}".rstrip()
    least, most = (sizes.words[int(place)] for place in (sizes.rows.argmin(), sizes.rows.argmax()))
    return f"{run.k} clusters, of {least} to {most} rows. {noise}".rstrip()


def _draw_cost(table: OpenTable, judged: Judged | None, request: Request) -> None:
    if judged is None:
        why = "k-means++ is still being computed." if is_reveal_allowed(table) else "Hidden: Show truth is off."
        draw_caption_with_badge("revealed", f"Loss against k-means++. {why}")
        return
    scores = judged.scores
    losses = f"{format_number(scores.nicv)} against {format_number(scores.nicv_kmeans)}"
    words = f"Loss {format_ratio(scores.ratio)} that of k-means++ ({losses})."
    floor = judged.find_floor(request.make_setting(table.private)) if request.card.private else None
    if floor is not None:
        more = f"{format_number(100 * (floor - 1))} % more than k-means++"
        words += f" One perfect step at this ε would lose {more}; no algorithm beats that by much."
    if scores.clipping > 0 and table.kind is not FileKind.PRIVATE:
        words += f" The bounds alone move a row by {format_number(scores.clipping)} on the same scale."
    if judged.labels is not None and judged.labels.unlabelled:
        words += f" {judged.labels.unlabelled:,d} rows without a label are left out of the label accuracy."
    about = f"{glossary.explain_term('loss', _UNITS)}\n\n{glossary.explain_words('k-means++')}"
    draw_caption_with_badge("revealed", words, help=about)


_MOST_MADE_UP = 20_000
_PROFILES, _STEPS = "Profiles", "Steps in a plane"


def find_pictured(hand: Hand, table: OpenTable) -> Pictured:
    """What the picture is of, with its run made where nobody's privacy is spent by that."""
    request = hand.run_request
    pictured = Pictured(table, request, epsilon=hand.request.epsilon)
    if hand.is_private and (refusal := _find_refusal(table, request)):
        return _judge(pictured)._replace(refusal=refusal)
    if hand.is_private and find_result(table) is None and not is_pending(table) and not find_failure(table, request):
        # Made-up rows between the declared bounds: of so many clear groups as are asked for.
        k = hand.request.k
        n = _MOST_MADE_UP if hand.rows is None else max(k, min(hand.rows.low, _MOST_MADE_UP))
        made = make_once("bench:made_up", (table.key, n, k), lambda: make_synthetic_table(table, n=n, k=k), most=4)
        return _run_by_itself(pictured._replace(table=made, is_made_up=True))
    return _judge(pictured) if hand.is_private else _run_by_itself(pictured)


def _find_refusal(table: OpenTable, request: Request) -> str:
    """Why rows of one's own cannot be asked that; "" if they can."""
    try:
        request.check(table.private)
    except RequestError as error:
        return str(error)
    if not request.card.private and not is_reveal_allowed(table):
        return "Show truth is off: k-means++ reads the rows as they are."
    return ""


def _run_by_itself(pictured: Pictured) -> Pictured:
    table, request = pictured.table, pictured.request
    if refusal := _find_refusal(table, request):
        return _judge(pictured)._replace(refusal=refusal)
    if not is_asked(table, request):
        if not request.card.private:
            reveal(table, f"k-means++ run with k = {request.k}", AccessKind.REFERENCE)
        start(table, request, live=True, booked=not pictured.is_made_up)
    return _judge(pictured)


def run_own(table: OpenTable, request: Request) -> None:
    """Run on the rows themselves, because its owner pressed; call it from a callback. What is refused is no button."""
    with suppress(RequestError):
        start(table, request)


def _fetch_reference(table: OpenTable, run: RunSoFar) -> evaluation.Reference | None:
    return fetch_reference(table, run.k, points_per_row=run.points_per_row) if is_reveal_allowed(table) else None


def _judge(pictured: Pictured) -> Pictured:
    table, result = pictured.table, find_result(pictured.table)
    if result is None:
        return pictured
    reference = _fetch_reference(table, result.run)
    return pictured._replace(result=result, reference=reference, judged=compute_scores(table, result, reference))


def draw_picture_of(pictured: Pictured) -> None:
    """Draw it under its bar; the steps of a run that is under way as they come."""
    table, result = pictured.table, pictured.result
    if pictured.refusal and result is None:
        return
    so_far = draw_pending_panel(table)
    if so_far is not None and (is_under_way(table) or result is None):
        draw_walk_so_far(table, so_far, _fetch_reference(table, so_far), make_view(so_far.domain))
        return
    if result is None:
        return
    run = result.run
    draw_reference_notice(table, run.k, points_per_row=run.points_per_row)
    with st.container(horizontal=True, gap="small", vertical_alignment="center", key="bench_bar"):
        form = _PROFILES if run.domain.dim >= LEAST_PROFILED and run.private else _STEPS
        if form == _PROFILES:
            form = ask_one_of("Picture", [_PROFILES, _STEPS], key="bench:form", label_visibility="collapsed")
        if form == _PROFILES:
            picture = _ask_page(pictured)
        else:
            view = ask_plane(run.domain, "bench", centers=run.unit_centers if run.private else None)
        if not pictured.is_made_up and draw_reveal_switch(table) and not table.private.in_memory:
            st.caption(f"Rows, losses and k-means++ are those of {MOST_SAMPLED:,} rows that stand for all of them.")
    if form == _PROFILES:
        if said := _describe_staleness(pictured, result):
            st.caption(escape_markdown(said))
        show(picture.draw(read_palette()), alt=picture.words(), key="bench:profile", stem=picture.stem, bare=True)
    else:
        draw_walk(pictured, view)


def _ask_page(pictured: Pictured) -> ProfilePicture:
    beside = "k-means++ of the made-up rows" if pictured.is_made_up else "k-means++, revealed"
    picture = ProfilePicture(pictured.make_profile(), narrow=is_narrow(), beside=beside, mark=pictured.mark)
    labels = [f"columns {begin:d}–{end:d}" for begin, end in picture.pages]
    if len(labels) > 1:
        page = ask_one_of("Columns", labels, key=f"bench:page:{len(labels)}", label_visibility="collapsed")
        picture = replace(picture, start=MOST_COLUMNS[picture.narrow] * labels.index(page))
    st.caption("How to read it", help=escape_markdown(picture.note), width="content")
    return picture


def draw_more(pictured: Pictured) -> None:
    """What was found, the charges, numbers and files of the run that is shown; and what is said of its table."""
    if pictured.is_made_up:
        return
    title, icon = "The table: promises · rows · declaration", ":material/handshake:"
    drawer = st.expander(title, icon=icon, key="bench:table", on_change="rerun")
    if drawer.open:
        with drawer:
            draw_table_facts(pictured.table)
    if pictured.result is None:
        return
    more = st.expander(**look_of("more", key="bench:more"))
    if more.open:
        with more:
            draw_below(pictured)
