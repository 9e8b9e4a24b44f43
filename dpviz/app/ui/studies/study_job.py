"""What a part of a page asks of many runs, the job that answers it, kept for the visit, and what stands around both."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from math import log
from typing import Any, NamedTuple, cast

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpviz.algorithms import AUTO, list_private_cards
from dpviz.app.charts.canvas import Diagram, TitledPlot
from dpviz.app.charts.player.player_page import Figured, PlayerScene, make_player_page
from dpviz.app.charts.studies.compare import CenterDraws
from dpviz.app.charts.studies.curves import find_measure
from dpviz.app.ui import figure
from dpviz.app.ui.addresses import RUN
from dpviz.app.ui.bench.catalogue import format_warning, summarize_judgement
from dpviz.app.ui.data_access import reveal
from dpviz.app.ui.escape import escape_markdown
from dpviz.app.ui.figure import SENTENCES
from dpviz.app.ui.job_panel import draw_job_panel, open_job_registry
from dpviz.app.ui.session import choose, count_study, recall, remember
from dpviz.core import AccessKind, RequestError
from dpviz.runs import (
    MEASURES,
    Contender,
    JobState,
    JudgedTable,
    Judgement,
    OpenTable,
    Request,
    Row,
    Study,
    StudyGrid,
    Work,
    Yardstick,
    count_cores,
    export,
    forecast_seconds,
    tidy,
)
from dpviz.tables import FileKind
from dpviz.words import Palette, capitalize_first, format_duration, format_things

# Scores of a run, and its way to the page.
_SECONDS_AROUND_A_RUN = 0.02
# Of these a forecast is made where the number of rows is private.
_ROWS_NOT_TOLD = 10_000


@dataclass(frozen=True)
class StudyQuestion:
    """A grid of runs, about which open table, and on whose rows their losses are judged."""

    key: str
    table: OpenTable
    source: OpenTable | None
    grid: StudyGrid

    def narrow(self, key: str, **changes: Any) -> StudyQuestion:
        """The question of another part of the page, with ``changes`` of the grid."""
        return replace(self, key=key, grid=replace(self.grid, **changes))

    @property
    def problem(self) -> str | None:
        """Why it cannot be computed, if it cannot: here, rather than in the worker."""
        if self.source is None:
            return "It is not decided yet on which rows losses are judged."
        if not self.grid.contenders:
            return "Choose at least one algorithm."
        refusals = self.grid.list_refusals(self.source.private)
        first, *others = dict.fromkeys(refusals.values()) or [None]
        if others:
            return f"{first} {capitalize_first(format_things(len(refusals) - 1, 'other'))} cannot run either."
        try:
            self.grid.list_trials()
        except RequestError as error:
            return first or str(error)
        return first

    @property
    def seconds(self) -> float:
        """How long the runs may take one after the other, roughly, if there is no problem; see ``provided``.

        A private number of rows has no say in it: the words on the page would change with a row.
        """
        assert self.source is not None
        once = 0.0
        for trial in (trial for trial in self.grid.list_trials() if trial.repeat == 0):
            setting = self.grid.make_request(trial).make_setting(self.source.private)
            setting = replace(setting, n=trial.n or self._told_n or _ROWS_NOT_TOLD)
            once += forecast_seconds(trial.contender.card, setting, trial.contender.settings) + _SECONDS_AROUND_A_RUN
        return self.grid.repeats * once

    @property
    def provided(self) -> str:
        """What a forecast of time takes for granted, to be put behind it: a number of rows where that is private."""
        told = self._told_n is not None or None not in self.grid.ns
        return "" if told else f" if it has {_ROWS_NOT_TOLD:,} rows"

    @property
    def _told_n(self) -> int | None:
        """The number of rows where it is public."""
        assert self.source is not None
        return self.source.loaded.n_rows if self.source.kind.may_be_shown else self.source.n_public


@dataclass(frozen=True, eq=False)
class StudyJob:
    """What was asked, and the job that answers it; or whether it ran and what it had at one moment (``seen``)."""

    question: StudyQuestion
    source: OpenTable
    job: Work[Any]
    origin: Work[Any] | None = None
    seen: tuple[bool, list[Any]] | None = None

    @property
    def grid(self) -> StudyGrid:
        return self.question.grid

    @property
    def running(self) -> bool:
        return not self.job.state.final if self.seen is None else self.seen[0]

    @property
    def items(self) -> list[Any]:
        """Everything that has arrived."""
        return self.job.items if self.seen is None else [*self.seen[1]]

    def take_snapshot(self) -> StudyJob:
        """The same with what has arrived by now: a page that reads it twice while it runs finds the same runs."""
        running = self.running  # before the items: what has ended grows no more, and is whole
        return replace(self, seen=(running, self.items))

    @cached_property
    def _places(self) -> dict[str, int]:
        return {trial.key: place for place, trial in enumerate(self.grid.list_trials())}

    @property
    def rows(self) -> list[Row]:
        """The runs so far, in the order of the grid, whichever came first."""
        rows = [item for item in self.items if isinstance(item, dict)]
        return sorted(rows, key=lambda row: self._places.get(row.get("trial", ""), 0))

    def make_frame(self, extra: Sequence[Row] = ()) -> pd.DataFrame:
        """The runs so far, and some ``extra`` ones; algorithms look the same whichever of them comes first."""
        frame = tidy([*self.rows, *extra])
        names = [contender.label for contender in self.grid.contenders]
        return frame.assign(contender=pd.Categorical(frame["contender"], names))

    @property
    def yardstick(self) -> Yardstick | None:
        """What losses are measured against: the last one that has arrived."""
        return next((item for item in reversed(self.items) if isinstance(item, Yardstick)), None)

    def refuse_to_export_private(self) -> None:
        """Losses read from a private file leave in no file."""
        if not self.source.kind.may_be_shown:
            why = "Losses of a private file are not exported: study a synthetic table to take a file away."
            raise RequestError(why)

    def is_answer_to(self, question: StudyQuestion) -> bool:
        """Whether it is what is asked for now."""
        source = question.source
        return source is not None and self.grid == question.grid and self.source.key == source.key


def begin_study(question: StudyQuestion, *, with_centers: bool = False) -> None:
    """Begin a study in place of the one before, or go on with it: what has been found of it, by whomever, is there."""
    ks = ", ".join(map(str, question.grid.ks))
    source, judged = _judge(question, f"losses of {len(question.grid.list_trials())} study runs, k = {ks}")
    _keep(question, open_job_registry().start_study(judged, question.grid, key=source.key, with_centers=with_centers))


def send(
    question: StudyQuestion,
    work: Callable[..., Iterator[Any]],
    *arguments: Any,
    access: str,
    origin: Work[Any] | None = None,
    **options: Any,
) -> None:
    """Send ``work`` with its ``options`` to a worker in place of the job before."""
    _, judged = _judge(question, access)
    _keep(question, open_job_registry().submit(work, judged, question.grid, *arguments, **options), origin)


def _judge(question: StudyQuestion, access: str) -> tuple[OpenTable, JudgedTable]:
    """Whose rows losses are read from, and these rows; counted as a look at them."""
    source = question.source
    revealed = None if source is None else reveal(source, f"{question.key}: {access}", AccessKind.LOSS)
    if source is None or revealed is None:
        raise RequestError("A study reads losses from the rows: allow it with the switch Show truth.")
    count_study(source.source_key, f"{question.key}: {access}")
    return source, JudgedTable.of(source.private, revealed, source.read_labels(revealed))


def _keep(question: StudyQuestion, job: Work[Any], origin: Work[Any] | None = None) -> None:
    """In place of the job before, which ends now: a study that both read goes on."""
    before = find_job(question)
    if before is not None:
        before.job.cancel()
    assert question.source is not None
    st.session_state[f"{question.key}:job"] = StudyJob(question, question.source, job, origin)


def find_job(question: StudyQuestion) -> StudyJob | None:
    """The last job of that part of the page, if it was asked about the same table."""
    job = cast("StudyJob | None", st.session_state.get(f"{question.key}:job"))
    return job if job is not None and job.question.table.key == question.table.key else None


_WANTED = "open:wanted"


def has_contenders(contenders: Sequence[Contender]) -> bool:
    """Whether there is an algorithm to look at; says so if there is none."""
    if not contenders:
        st.info("Choose at least one algorithm above.", icon=":material/arrow_upward:")
    return bool(contenders)


def ask_contender(key: str, contenders: Sequence[Contender]) -> Contender:
    """Ask for an algorithm."""
    labels = [contender.label for contender in contenders]
    if st.session_state.get(f"{key}:whom") not in labels:
        st.session_state[f"{key}:whom"] = labels[0]
    return contenders[labels.index(st.selectbox("Algorithm", labels, key=f"{key}:whom", persist_state="session"))]


def open_run(request: Request) -> None:
    """Make it the settings of the visit, and turn to its run; call it from a callback."""
    shared = {"algorithm": request.algorithm, "k": request.k, "epsilon": request.epsilon, "delta": request.delta}
    for name, value in shared.items():
        choose(name, value)
    # Parameters travel as they do in a link: their widgets have defaults of their own.
    st.session_state[_WANTED] = {name: value for name, value in request.query.items() if name not in shared}


def turn_to_run() -> None:
    """Turn to a run if a click has asked for it; call it where a page may change, after the callbacks."""
    wanted = cast("dict[str, str] | None", st.session_state.pop(_WANTED, None))
    if wanted is not None:
        st.switch_page(RUN, query_params=wanted)


def open_clicked(names: Sequence[str | None], grid: StudyGrid, key: str) -> None:
    """What a click in a plot of curves does: the algorithm is the curve's name, ε its x."""
    chosen = cast("Mapping[str, Any]", st.session_state.get(key) or {})
    for point in (chosen.get("selection") or {}).get("points", ()):
        name = names[int(point["curve_number"])]
        contender = next((contender for contender in grid.contenders if contender.label == name), None)
        if contender is not None:
            # A drawn x may have been rounded on its way; no ε of a study has more than three digits.
            open_run(_make_request(contender, grid, float(f"{float(point['x']):.3g}")))


def draw_opener(grid: StudyGrid, key: str) -> None:
    """Let a setting be run from a list, for whoever has no pointer."""
    with st.popover(**figure.look_of("run_a_setting")):
        contender = ask_contender(f"{key}:open", grid.contenders)
        first = min(grid.epsilons, key=lambda epsilon: abs(log(epsilon)))
        look: dict[str, Any] = {"value": first, "key": f"{key}:open:epsilon"}
        epsilon = float(st.select_slider("ε", grid.epsilons, format_func=lambda value: f"{value:g}", **look))
        draw_run_button("Run it", _make_request(contender, grid, epsilon), key=f"{key}:open")


def draw_run_button(label: str, request: Request, *, key: str) -> None:
    """A button that makes it the settings of the visit, and turns to its run."""
    st.button(label, icon=":material/arrow_forward:", key=key, on_click=open_run, args=(request,))


def _make_request(contender: Contender, grid: StudyGrid, epsilon: float) -> Request:
    return Request(contender, grid.ks[0], epsilon, grid.deltas[0])


# At first: of every way to go about it the algorithm that does well most widely. Those that would fail are left out.
_USUAL = (AUTO, "eugkm", "dplloyd", "balcan", "lsh-coreset", "sulq")
_FEWEST = 2


class Offer(NamedTuple):
    """An algorithm with its parameters, and what it would do with the table."""

    contender: Contender
    judgement: Judgement


def list_contenders() -> list[Contender]:
    """Every private algorithm with its defaults, then each of its other presets."""
    options = []
    for card in list_private_cards():
        usual = Contender(card.id)
        others = (name for name in card.params.list_presets() if name != usual.preset)
        options += [usual, *(Contender(card.id, {"preset": name}) for name in others)]
    return options


def draw_contender_picker(key: str, table: OpenTable, grid: StudyGrid) -> StudyGrid:
    """Ask for the algorithms to study."""
    everyone = replace(grid, contenders=tuple(list_contenders()))
    refused = everyone.list_refusals(table.private)
    (k,), (delta,), highest = grid.ks, grid.deltas, max(grid.epsilons)

    def judgement(contender: Contender) -> Judgement:
        if contender.label in refused:
            return Judgement(refusal=refused[contender.label])
        return Judgement.of_request(Request(contender, k, highest, delta), table.private)

    offered = {contender.label: Offer(contender, judgement(contender)) for contender in everyone.contenders}
    widget = f"{key}:contenders"
    if widget not in st.session_state:
        kept: list[str] = recall(widget, [])
        st.session_state[widget] = [label for label in kept if label in offered] or choose_usual(offered)
    picked = remember(widget, st.multiselect(**figure.look_of("contenders", options=list(offered), key=widget)))
    with st.popover("Who can run here", icon=":material/playlist_add:", width="stretch"):
        _draw_shortcuts(widget, offered, picked)
        _draw_cautions(offered, picked)
    return replace(grid, contenders=tuple(offered[label].contender for label in picked))


def choose_usual(offered: Mapping[str, Offer]) -> list[str]:
    """A few good algorithms of different kinds that can serve the table; at worst whoever can run at all."""
    plain = {offer.contender.algorithm: label for label, offer in offered.items() if not offer.contender.params}
    able = [name for name in plain if not offered[plain[name]].judgement.refusal]
    good = [name for name in able if not offered[plain[name]].judgement.hopeless]
    first = [name for name in _USUAL if name in good]
    first += [name for name in good if name not in first][: max(0, _FEWEST - len(first))]
    return [plain[name] for name in first or [name for name in _USUAL if name in able] or able]


def _draw_shortcuts(widget: str, offered: Mapping[str, Offer], picked: Sequence[str]) -> None:
    """Buttons that change the choice as a whole."""
    able = [label for label, offer in offered.items() if not offer.judgement.refusal]
    everyone = [label for label in able if not offered[label].contender.params or label in picked]

    def shortcut(words: str, icon: str, labels: list[str]) -> None:
        done = set(labels) == set(picked)
        key = f"{widget}:{words}"
        st.button(words, icon=icon, key=key, on_click=choose, args=(widget, labels), type="tertiary", disabled=done)

    with st.container(gap="xsmall"):
        shortcut("Add all that can run", ":material/playlist_add:", everyone)
        shortcut("The usual few", ":material/restart_alt:", choose_usual(offered))
        still_able = [label for label in picked if label in able]
        if still_able != list(picked):
            shortcut("Leave out what cannot run", ":material/playlist_remove:", still_able)


def _draw_cautions(offered: Mapping[str, Offer], picked: Sequence[str]) -> None:
    """Who cannot run here, chosen or not, and of whom nothing but noise is to be expected."""
    told = {label: offer for label, offer in offered.items() if label in picked or not offer.contender.params}
    refused = {label: offer.judgement.refusal for label, offer in told.items() if offer.judgement.refusal}
    if refused:
        st.markdown(f"**{capitalize_first(format_things(len(refused), 'algorithm'))} cannot run here**")
        for reason in dict.fromkeys(refused.values()):
            st.caption(format_warning(reason))
    weak = [label for label in picked if offered[label].judgement.hopeless]
    if weak:
        st.markdown(f"**Too few records for {format_things(len(weak), 'algorithm')}: expect noise**")
        for label in weak:
            why = escape_markdown(summarize_judgement(offered[label].judgement))
            st.caption(f"**{escape_markdown(label)}**: {why}")


# Starting workers, and k-means++ before the first run.
_SECONDS_TO_BEGIN = 1.5


def invite(key: str) -> dict[str, str]:
    """What stands in place of the study of that key until somebody asks for it; ``what`` is its name, as a noun."""
    return {"button": "Compute"} | figure.look_of(f"invite_{key}")


def draw_study_button(
    question: StudyQuestion,
    *,
    with_centers: bool = False,
    problem: str | None = None,
    said: DeltaGenerator | None = None,
) -> None:
    """Draw the button that starts a study."""
    problem, words = problem or question.problem, ""
    if problem is None:
        about = format_duration(_SECONDS_TO_BEGIN + question.seconds / count_cores())
        words = f"{len(question.grid.list_trials()):,} runs, about {about}{question.provided}"
    draw_ask_button(question, partial(begin_study, with_centers=with_centers), words=words, problem=problem, said=said)


def draw_ask_button(
    question: StudyQuestion,
    begin: Callable[[StudyQuestion], None],
    *,
    words: str,
    problem: str | None,
    said: DeltaGenerator | None = None,
) -> None:
    """Draw a button that begins something long."""
    key, barred = f"{question.key}:compute", problem is not None
    label = invite(question.key)["button"]
    pressed = st.button(label, type="primary", icon=":material/play_circle:", key=key, disabled=barred, width="stretch")
    place = st.container() if said is None else said
    barred_by = f":red-badge[:material/cancel: cannot run] {escape_markdown(problem)}"
    place.caption(barred_by if problem else escape_markdown(words))
    if pressed:
        with figure.say_refusal("This cannot run"):
            begin(question)


def draw_study_half(question: StudyQuestion, pictures: Callable[[StudyJob], None]) -> None:
    """Draw what came of a question: its last study, or an invitation."""
    study, invitation = find_job(question), invite(question.key)
    if study is None:
        st.info(invitation["words"], icon=invitation["icon"])
        return

    def draw() -> None:
        now = study.take_snapshot()
        if now.rows:
            pictures(now)
        else:
            st.skeleton(height=560)

    is_answer = study.is_answer_to(question)
    if not is_answer:
        older = ":yellow-badge[:material/history: older settings]"
        st.markdown(f"{older} Press **{invitation['button']}** to apply the new ones.")
    draw_job_panel(study.job, label=invitation["what"], key=question.key, live=draw)
    badge = figure.format_badge("revealed" if study.source.kind is not FileKind.SIMULATED else "public")
    # Whether it is what the form asks for now, and whether that is all; older settings are told of above.
    standing = ":green-badge[:material/check: matches the settings]" if is_answer else ""
    if is_answer and study.job.state is JobState.CANCELLED and isinstance(study.job, Study):
        stopped = ":yellow-badge[:material/pause_circle: not complete]"
        standing = f"{stopped} Press **{invitation['button']}** to go on where it stopped."
    st.markdown(f"{badge} losses on {escape_markdown(study.source.title)} {standing}")


def ask_measure(frame: pd.DataFrame, key: str, *, without: Sequence[str] = ()) -> str:
    """Ask which measure is drawn."""
    offered = [name for name in MEASURES if name not in without and frame[name].notna().any()] or ["ratio"]
    offered.sort(key=lambda name: name != "ratio")
    look = figure.look_of("measure", key=f"{key}:measure")
    chosen = st.pills(options=offered, format_func=lambda one: capitalize_first(find_measure(one).short), **look)
    return str(chosen or "ratio")


def show_picture(picture: Diagram, study: StudyJob, *, beneath: Callable[[], None] = lambda: None) -> None:
    """Show a picture of a study as wide as the page, and the numbers behind it to unfold."""
    key, shown = f"{study.question.key}:figure", draw_marked(picture, study, figure.read_palette())
    figure.show_wide(shown, alt=picture.words, key=key, stem=picture.stem)
    beneath()
    draw_numbers(picture, study)


def draw_marked(picture: Diagram, study: StudyJob, palette: Palette) -> TitledPlot:
    """The picture, marked where its losses were read from the rows of a file."""
    drawn = picture.draw(palette)
    if study.source.kind is not FileKind.SIMULATED:
        drawn.plot.mark_revealed()
    return drawn


def draw_numbers(picture: Diagram | CenterDraws, study: StudyJob, *, growing: bool = False) -> None:
    """Draw a table to unfold, and its file where its rows may leave."""
    key = study.question.key
    behind = st.expander("The numbers behind it", icon=":material/table:", key=f"{key}:table", on_change="rerun")
    if not behind.open:
        return
    with behind:
        table = picture.table()
        figure.draw_data_table(table, alt=f"The numbers behind the picture: {picture.finding}", height="auto")
        if _may_leave(study) and not (study.running or growing):
            content, name = export.format_frame_csv(table, note=export.REVEALED_NOTE), picture.stem
            figure.draw_download("These numbers (CSV)", content, export.name_revealed_file(name), key=f"{key}:csv")


def draw_study_download(study: StudyJob, picture: Diagram) -> None:
    """Offer all runs of a study as CSV and its picture as a page, unless they are losses of a private file."""
    if not _may_leave(study):
        return
    number = len(study.rows)
    if study.running:  # a file that every picture replaces would be gone before the browser has seen it
        st.caption(f"A file of all runs comes with the last of them; {number:,} have arrived.")
        return
    key = study.question.key
    label = f"All {number:,} runs (CSV)" if number > 1 else "One run (CSV)"
    with st.container(horizontal=True, vertical_alignment="center"):
        draw_page_button(study, picture)
        name = export.name_revealed_file(f"{key.replace(':', '_')}_k{study.grid.ks[0]}")
        figure.draw_download(label, format_study(study), name, key=f"{key}:download")


def draw_page_button(study: StudyJob, picture: Diagram) -> None:
    """Offer a picture of a study as a page, which is made when it is asked for."""
    make, name = partial(draw_study_page, study, picture), export.name_revealed_file(picture.stem, "html")
    figure.draw_download(content=make, name=name, **figure.look_of("picture_page", key=f"{study.question.key}:page"))


def format_study(study: StudyJob) -> bytes:
    """One line a run; each says that it was read from rows."""
    study.refuse_to_export_private()
    return export.format_frame_csv(study.make_frame(), note=export.REVEALED_NOTE)


def _may_leave(study: StudyJob) -> bool:
    """Whether its losses may be taken away; says so if they may not."""
    if not study.source.kind.may_be_shown:
        figure.draw_caption_with_badge("revealed", SENTENCES.fill("for_your_eyes"))
    return study.source.kind.may_be_shown


def draw_study_page(study: StudyJob, picture: Diagram) -> bytes:
    """The picture of a study as a page, which needs no network and no server."""
    study.refuse_to_export_private()
    simulated = study.source.kind is FileKind.SIMULATED
    drawn = Figured.of(partial(draw_marked, picture, study), picture.words, "public" if simulated else "revealed")
    # What was run, on what, and whom ε protects.
    grid, source = study.grid, study.source
    epsilons, deltas, ks = (", ".join(f"{one:g}" for one in some) for some in (grid.epsilons, grid.deltas, grid.ks))
    who = ", ".join(contender.label for contender in grid.contenders)
    asked = f"Losses on {source.title}, {len(study.rows):,} runs: {who}; ε = {epsilons}; δ = {deltas}; k = {ks}; "
    asked += f"protects {source.private.unit}."
    note, numbers = export.REVEALED_NOTE, picture.table()
    scene = PlayerScene(figures=[drawn], paragraphs=[asked], note=note, numbers=numbers)
    return make_player_page([scene], title=f"{picture.finding} · {study.source.title}").encode("utf-8")


MOST_REPEATS = 50


def ask_repeats(key: str, label: str, usual: int, why: str) -> int:
    """Ask how often each runs."""
    name = f"{key}:repeats"
    if name not in st.session_state:
        st.session_state[name] = recall(name, usual)
    return remember(name, int(st.slider(label, 1, MOST_REPEATS, key=name, help=why)))
