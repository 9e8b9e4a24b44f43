"""The page *Compare*: several algorithms at one ε, their scores and centres; below it, folded away, what many runs tell
beside that: sweeps over ε, k and n, causes, who pays, and draws."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from math import sqrt
from typing import Any, Literal, cast

import pandas as pd
import streamlit as st

from dpviz.algorithms import AUTO, predict, predict_floor
from dpviz.app.charts.animation import TitleNumber
from dpviz.app.charts.canvas import Diagram
from dpviz.app.charts.picture import RenderContext
from dpviz.app.charts.studies.compare import CenterDraws, Typical, draw_compare, draw_scores
from dpviz.app.charts.studies.curves import Curves, draw_curves, draw_smallest, find_measure
from dpviz.app.charts.studies.errors import draw_epsilon_n_map, draw_payers, draw_waterfall
from dpviz.app.charts.studies.stored_verdicts import read_runs, read_verdicts
from dpviz.app.ui import controls, figure
from dpviz.app.ui.addresses import is_asked_for
from dpviz.app.ui.bench.hand import HIGHEST_DELTA, MOST_CLUSTERS
from dpviz.app.ui.bench.in_hand import recall_accepted
from dpviz.app.ui.data_access import reveal_view
from dpviz.app.ui.escape import escape_markdown
from dpviz.app.ui.figure import SENTENCES
from dpviz.app.ui.job_panel import draw_job_panel
from dpviz.app.ui.player import play, zip_steps
from dpviz.app.ui.reader import is_narrow
from dpviz.app.ui.runner import find_recovery
from dpviz.app.ui.session import choose, find_known_clusters, make_once, recall, remember
from dpviz.app.ui.studies import study_job
from dpviz.app.ui.studies.judged_rows import ask_judged_rows, ask_larger_rows, find_known_rows
from dpviz.app.ui.studies.study_job import StudyJob, StudyQuestion, ask_contender, has_contenders, send
from dpviz.core import RequestError
from dpviz.runs import (
    MEASURES,
    Advice,
    Contender,
    KnownRows,
    OpenTable,
    Recommendation,
    Request,
    RowsAdvice,
    Script,
    SmallestEpsilon,
    StudyGrid,
    Target,
    error_parts,
    sharpen_rows,
    summarise,
)
from dpviz.tables import FileKind
from dpviz.words import capitalize_first, format_duration, format_number, format_ratio, glossary, round_percent

_KEY = "compare"
# The stored runs that are shown before anybody has computed any: a table of this claim, at this ε.
_CLAIM, _TABLE, _EPSILON = "su-epsilon", "S1", 1.0
# Pixels of a character of a table, and of the air beside it.
_CHARACTER, _AIR = 7.5, 24
_WHY = "One run says little: noise makes each run different. Medians and quartiles need several."


def draw_compare_page(table: OpenTable) -> None:
    """The form, what came of it, and what else many runs tell, folded away."""
    study_job.turn_to_run()
    # Set the form to what a link asked for; call it before the form is drawn.
    said: Mapping[str, str] = st.session_state.pop(_WAITING, {})
    with figure.say_refusal("The settings of this link cannot be used", ":material/link_off:"):
        if said:
            apply(StudyGrid.from_yaml(said[_FIRST_LINK]) if _FIRST_LINK in said else StudyGrid.from_query(said))
    # An answer that is known comes first on a telephone.
    if is_narrow():
        first, form, answer = (st.container() for _ in range(3))
    else:
        form, answer = st.columns([35, 65], gap="medium")
        first = answer
    with form:
        question = _draw_form(table)
    known = study_job.find_job(question) is not None
    asked = [name for name in FOLDS if is_asked_for(name)]
    for name in asked:
        _draw_fold(name, question, asked=True)
    if not known:
        first.title("Which algorithm loses least here?", anchor=False)
    with first if known else answer:
        study_job.draw_study_half(question, _draw_pictures)
        if not known:
            _draw_example()
    for name in FOLDS:
        if name not in asked:
            _draw_fold(name, question, asked=False)


def _draw_fold(name: str, question: StudyQuestion, *, asked: bool) -> None:
    """One that a link asks for, or that has runs already, is open."""
    told, known = study_job.invite(name), study_job.find_job(question.narrow(name)) is not None
    label = escape_markdown(told["title"])
    part = st.expander(label, asked or known, icon=told["icon"], key=f"{_KEY}:fold:{name}", on_change="rerun")
    if part.open:
        with part:
            FOLDS[name](question)


def _draw_form(table: OpenTable) -> StudyQuestion:
    """What is compared, on whose rows, and the button."""
    with st.container(border=True):
        picker = st.container()
        epsilon, button = controls.draw_epsilon_control()
        said = st.container()
        k, delta = controls.draw_k_and_delta()
        repeats = study_job.ask_repeats(_KEY, "Runs of each", 10, _WHY)
        source = ask_judged_rows(table, _KEY, k=k)
        with picker:
            asked = StudyGrid((), (k,), (epsilon,), (delta,), repeats=repeats)
            grid = study_job.draw_contender_picker(_KEY, source or table, asked)
        question = StudyQuestion(_KEY, table, source, grid)
        with button:
            study_job.draw_study_button(question, with_centers=True, said=said)
    return question


def _draw_example() -> None:
    """What a comparison looks like: runs on a public file, stored with the claims of the papers."""
    found = next((claim for claim in read_verdicts().claims if claim.id == _CLAIM), None)
    if found is None:
        return
    table = read_runs(_CLAIM)
    runs = table[(table["data"] == _TABLE) & (table["epsilon"] == _EPSILON)]
    losses = {"contender": runs["line"], "epsilon": runs["epsilon"], "ratio": runs["nicv"] / runs["kmeans"]}
    scores = draw_scores(pd.DataFrame(losses))
    about = f"An example: stored runs of {escape_markdown(found.paper)}, on its table {_TABLE}."
    figure.draw_caption_with_badge("public", about)
    figure.show_diagram(scores, key=f"{_KEY}:example", stem=f"{scores.stem}-example")


def _draw_pictures(study: StudyJob) -> None:
    frame = study.make_frame()
    picture = st.container()
    measure = study_job.ask_measure(frame, _KEY)
    scores = draw_scores(frame, measure)
    with picture:
        figure.show_diagram(scores, key=f"{_KEY}:scores", first=True)

    def draw_files() -> None:
        study_job.draw_study_download(study, scores)
        table = study.question.table
        script = partial(Script.for_sweep, table.loaded.name, table.declaration, study.grid)
        figure.draw_python_section(script, key=_KEY, stem="comparison")

    tabs = {"Centres": partial(_draw_centers, study), "Table": partial(_draw_scores, scores, measure)}
    figure.draw_tabs(tabs | {"Take away": draw_files}, key=f"{_KEY}:below")


def _draw_scores(scores: Diagram, measure: str) -> None:
    """The medians of every measure."""
    table = scores.table()
    alt = f"Medians of every measure by algorithm, with the quartiles of {find_measure(measure).short}"
    shown = [str(name) for name in table if name != "runs" or table["runs"].nunique() > 1]
    looks = {"algorithm": st.column_config.Column(pinned=True)}
    for name in [name for name in MEASURES if name in table]:
        heading = capitalize_first(find_measure(name).short)
        # Pixels for the heading and the longest cell.
        width = round(_CHARACTER * max(map(len, [heading, *table[name]])) + _AIR)
        looks[name] = st.column_config.Column(heading, help=find_measure(name).name, width=width)
    st.dataframe(table, hide_index=True, alt=alt, column_order=shown, height="content", column_config=looks)
    st.caption(SENTENCES.fill("medians"))


def _draw_centers(study: StudyJob) -> None:
    """Small multiples: of each algorithm a run of typical loss, over the same rows and k-means++ centres.

    The number at a picture is the median of all runs, the one of the chart above and the table below.
    """
    view = figure.ask_plane(study.source.domain, _KEY)
    medians = summarise(study.make_frame()).set_index("contender")["median"]
    drawn = find_median_runs(study.rows)
    releases = {name: Typical(row["centers"], float(medians[name])) for name, row in drawn.items()}
    reference = study.yardstick.reference if study.yardstick is not None else None
    reveal = reveal_view(study.source, "rows under Compare")
    made = draw_compare(releases, RenderContext(view, figure.read_palette(), reveal, reference))
    st.markdown(f"**{escape_markdown(made.title)}**")
    about = escape_markdown(made.about)
    st.caption(f"{about}. Drawn is the run of each algorithm whose loss is nearest to its median.")
    with st.grid(min_column_width=made.least_width, gap="small"):
        for panel in made.panels:
            with st.container(height="stretch", vertical_alignment="bottom", gap="xsmall"):
                st.markdown(f":small[**{escape_markdown(panel.name)}**  \n{escape_markdown(panel.score)}]")
                alt = f"Centres of {panel.name}: in the median {panel.score} the loss of k-means++"
                key, stem = f"{_KEY}:centers:{panel.name}", f"compare-{panel.name}"
                figure.show(panel.plot, alt=alt, key=key, stem=stem, bare=True)
    # What the marks of all pictures are.
    over, rows = reference is not None, reveal is not None
    revealed = [words for words, drawn in (("open diamonds: k-means++", over), ("dots: rows", rows)) if drawn]
    truth = f" {figure.format_badge('revealed')} {', '.join(revealed)}." if revealed else ""
    legend = f":small[{figure.format_badge('released')} Filled circles: centres.{truth}]"
    st.markdown(legend, help=glossary.explain_words(legend))


def find_median_runs(rows: Sequence[Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """Of each algorithm the run whose loss is nearest to the median of its runs, the better one of two."""
    losses = pd.DataFrame({"name": [row["contender"] for row in rows], "nicv": [row["nicv"] for row in rows]})
    losses["off"] = (losses["nicv"] - losses.groupby("name")["nicv"].transform("median")).abs()
    nearest = losses.sort_values(["off", "nicv"], kind="stable").groupby("name", sort=False).head(1)
    return {str(losses["name"][place]): rows[place] for place in nearest.index.sort_values()}


_FIRST_LINK, _WAITING = "study", "link:study"


def remember_study_link() -> None:
    """Keep the settings of a link until a table is open: opening one changes the page, which drops the link."""
    said = {name: st.query_params[name] for name in (_FIRST_LINK, *StudyGrid.FIELDS) if name in st.query_params}
    if said:
        st.session_state[_WAITING] = said
        for name in said:
            del st.query_params[name]


def apply(grid: StudyGrid) -> None:
    """Set the form to ``grid``; call it from a callback, or before the form is drawn."""
    offered = {contender.label for contender in study_job.list_contenders()}
    labels = [contender.label for contender in grid.contenders]
    strange = [label for label in labels if label not in offered]
    if strange:
        raise SENTENCES.make_refusal("not_offered", name=strange[0])
    low, high = min(grid.epsilons), max(grid.epsilons)
    within = controls.LOWEST_EPSILON <= low <= high <= controls.HIGHEST_EPSILON and max(grid.deltas) <= HIGHEST_DELTA
    if not within or max(grid.ks) > MOST_CLUSTERS or grid.repeats > study_job.MOST_REPEATS:
        most: dict[str, Any] = {"k": MOST_CLUSTERS, "delta": HIGHEST_DELTA, "runs": study_job.MOST_REPEATS}
        raise SENTENCES.make_refusal("beyond_page", low=controls.LOWEST_EPSILON, high=controls.HIGHEST_EPSILON, **most)
    if grid != replace(grid, ks=grid.ks[:1], deltas=grid.deltas[:1], ns=(None,), seed=0):
        raise SENTENCES.make_refusal("one_of_each")
    choose(f"{_KEY}:contenders", labels)
    choose(f"{SWEEP}:repeats", grid.repeats)
    choose("k", grid.ks[0])
    choose("delta", grid.deltas[0])
    # What ``ask_epsilons`` asks.
    remember(f"{SWEEP}:epsilons", grid.epsilons)
    remember(f"{SWEEP}:loaded", recall(f"{SWEEP}:loaded", 0) + 1)


def _draw_settings(question: StudyQuestion) -> None:
    """The link and the file of a sweep as it stands, and a place for a file of another day."""
    grid = narrow_to_sweep(question).grid
    st.caption("It holds nothing of the table: whoever follows it opens a table of their own.")
    st.code(f"{(st.context.url or '').split('?')[0]}?{grid.to_query()}", language=None, wrap_lines=True)
    st.code(grid.to_yaml(), language="yaml")
    figure.draw_download("Settings (YAML)", grid.to_yaml(), "trade-off-study.yaml", key=f"{SWEEP}:settings:file")
    table = question.table
    script = partial(Script.for_sweep, table.loaded.name, table.declaration, grid)
    figure.draw_python_section(script, key=SWEEP, stem="trade-off-study")
    kinds, key = ["yaml", "yml", "json"], f"{SWEEP}:settings:upload"
    st.file_uploader("Settings to load", type=kinds, key=key, on_change=_load, max_upload_size=1)
    if refusal := cast("str | None", st.session_state.pop(f"{SWEEP}:settings:refusal", None)):
        st.error(escape_markdown(refusal), title="These settings cannot be used", icon=":material/block:")


def _load() -> None:
    upload: Any = st.session_state.get(f"{SWEEP}:settings:upload")
    try:
        if upload is not None:
            apply(StudyGrid.from_yaml(upload.getvalue().decode("utf-8", errors="replace")))
    except RequestError as error:
        st.session_state[f"{SWEEP}:settings:refusal"] = str(error)


# The whole table, and halves of halves; fewer rows than this many, or than twice k, tell nothing.
_PARTS, _FEWEST = (1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2), 50
_CLUSTERS = (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 20, 25, 30, 40, 50, 75, 100)
_PRIVATE_N = "The number of rows is private: say it on the bench, or take a synthetic table."


_MAP, _KS, _NS = "map", "ks", "ns"
VARIED: dict[str, Literal["k", "n", "epsilon and n"]] = {_MAP: "epsilon and n", _KS: "k", _NS: "n"}
"""What ε buys with how many rows, for one algorithm; and how the loss moves with k, or with n, at one ε."""


def draw_varied_section(sweep: str, question: StudyQuestion) -> None:
    """The form of a sweep, and its picture or an invitation."""
    if not has_contenders(question.grid.contenders):
        return
    (k,), source = question.grid.ks, question.source
    changes: dict[str, Any] = {}
    with st.container(border=True):
        left, right = st.columns(2, gap="medium")
        with left:
            if sweep == _MAP:
                changes = {"contenders": (ask_contender(sweep, question.grid.contenders),)}
                changes["epsilons"] = ask_epsilons(sweep)
            else:
                st.markdown(f"At ε = {question.grid.epsilons[0]:g}, as above.")
        with right:
            if sweep == _KS:
                changes["ks"] = _draw_clusters(sweep, k)
            else:
                source = ask_larger_rows(sweep, question.table, source, k=k)
                changes["ns"] = _draw_sizes(source, k)
        narrowed = replace(question.narrow(sweep, **changes), source=source)
        private_n = sweep != _KS and source is not None and source.n_public is None
        study_job.draw_study_button(narrowed, problem=_PRIVATE_N if private_n else None)
    own = k if sweep == _KS else question.table.n_public
    study_job.draw_study_half(narrowed, partial(_draw_sweep, sweep, own=own))


def _draw_sweep(sweep: str, study: StudyJob, own: int | None) -> None:
    frame, grid = study.make_frame(), study.grid
    over, whole = VARIED[sweep], study.source.n_public or 1  # a study over n has a public one
    frame["n"] = frame["n"].astype(float).fillna(float(whole))
    ns = [n or whole for n in grid.ns]
    if over == "epsilon and n":
        picture = draw_epsilon_n_map(frame, grid.contenders[0].label, grid.epsilons, ns, own)
    else:
        measure = study_job.ask_measure(frame, sweep)
        places = list(grid.ks) if over == "k" else ns
        inside = own is not None and min(places) <= own <= max(places)
        picture = draw_curves(Curves(frame, measure, over, places, grid.epsilons[0], own if inside else None))
    study_job.show_picture(picture, study)
    if sweep != _MAP:
        varied = escape_markdown(over)
        st.caption(f"Every {varied} is measured against k-means++ with the same {varied}.")
    elif own is None:
        st.caption("Your number of rows is private, and is not marked.")
    study_job.draw_study_download(study, picture)


def _draw_sizes(source: OpenTable | None, k: int) -> tuple[int | None, ...]:
    """Numbers of rows of subsamples, two digits each, and None for the whole table."""
    whole = source.n_public if source is not None else None
    if whole is None:
        return (None,)
    rounded = [int(float(f"{part * whole:.2g}")) for part in _PARTS]
    return (*(n for n in rounded if max(_FEWEST, 2 * k) <= n < whole), None)


def _draw_clusters(key: str, k: int) -> tuple[int, ...]:
    """A range of k, and k itself; at first from about a third of it to twice as many."""
    offered = sorted({*_CLUSTERS, k})
    first = max(one for one in offered if one <= max(2, k // 3))
    last = max(one for one in offered if one <= max(2 * k, 4))
    ends = (min(first, k), max(k, last))
    low, high = st.select_slider("Range of k", offered, ends, lambda k: f"{k:d}", key=f"{key}:range:{k}")
    return tuple(sorted({k, *(one for one in _CLUSTERS if low <= one <= high)}))


_DRAWS_KEY = "draws"


def draw_draws_section(question: StudyQuestion) -> None:
    """One algorithm at one ε, drawn many times."""
    button = partial(study_job.draw_study_button, with_centers=True)
    _draw_one_setting(question, _DRAWS_KEY, ("Draws", 5, 100, 30), button, _draw_draws)


def _draw_one_setting(
    question: StudyQuestion,
    key: str,
    runs: tuple[str, int, int, int],
    draw_button: Callable[[StudyQuestion], None],
    pictures: Callable[[StudyJob], None],
) -> None:
    """The form for one algorithm at one ε, with the slider of its ``runs``, and the picture of the last answer."""
    if not has_contenders(question.grid.contenders):
        return
    with st.container(border=True):
        (label, low, high, usual), (left, right) = runs, st.columns(2, gap="medium")
        with left:
            contender = ask_contender(key, question.grid.contenders)
        with right:
            repeats = st.slider(escape_markdown(label), low, high, usual, key=f"{key}:repeats", persist_state="session")
        one = question.narrow(key, contenders=(contender,), repeats=int(repeats))
        draw_button(one)
    study_job.draw_study_half(one, pictures)


def _draw_draws(study: StudyJob) -> None:
    reference = study.yardstick.reference if study.yardstick is not None else None
    view = figure.ask_plane(study.source.domain, _DRAWS_KEY)
    rows = reveal_view(study.source, "rows under repeated draws")
    counted = reference is not None and find_known_clusters(study.source) == study.grid.ks[0]
    found = None if reference is None or not counted else partial(find_recovery, study.source, reference=reference)
    (contender,), (epsilon,) = study.grid.contenders, study.grid.epsilons
    spends = epsilon if contender.card.private else None
    context = RenderContext(view, figure.read_palette(), rows, reference, found=found, epsilon=spends)
    draws = CenterDraws.of(study.rows, context)
    if study.running:
        figure.show_wide(draws.cloud.draw(), alt=draws.words(), key=f"{_DRAWS_KEY}:cloud", stem="cloud-of-centres")
        return
    # The draws in the player that runs are played in.
    shown = (context.view.name, st.context.theme.type, context.reveal is None, context.reference is None)
    given = (study.job, len(draws.centers), *shown)
    animation = make_once(f"{_DRAWS_KEY}:animation", given, lambda: zip_steps(draws.animate().to_data()))
    low, high = (format_ratio(float(end)) for end in (draws.losses.min(), draws.losses.max()))
    losses = TitleNumber("revealed", low if low == high else f"{low} to {high}", "the loss of k-means++")
    play(animation, [losses], key=f"{_DRAWS_KEY}:player")
    if reference is not None:
        study_job.draw_numbers(draws, study)


def draw_payers_section(question: StudyQuestion) -> None:
    """What draws cost each cluster and each group; nothing of a private file."""
    if question.grid.contenders and question.source is not None and question.source.kind is FileKind.PRIVATE:
        st.info(SENTENCES.fill("payers_private"), icon=":material/visibility_off:")
        return
    _draw_one_setting(question, "payers", ("Runs", 5, 50, 20), _draw_payers_button, _draw_picture)


def _draw_payers_button(one: StudyQuestion) -> None:
    access = f"{one.grid.repeats} runs by cluster and by group, k = {one.grid.ks[0]}"
    begin = partial(send, work=error_parts.measure_payer_rows, access=access)
    words = f"{one.grid.repeats:,} runs, about {format_duration(0.0 if one.problem else one.seconds)}"
    study_job.draw_ask_button(one, begin, words=words, problem=one.problem)


def _draw_picture(study: StudyJob) -> None:
    if study.source.kind is FileKind.PRIVATE:  # it was public when it was asked
        st.info(SENTENCES.fill("payers_private"), icon=":material/visibility_off:")
        return
    paid = error_parts.summarise_payers(study.rows)
    (contender,), (epsilon,) = study.grid.contenders, study.grid.epsilons
    picture = draw_payers(paid, contender.label, epsilon)
    told = "Not even the largest cluster is found in eight of ten draws."
    if (shown := paid.smallest_shown) is not None:
        rows = format_number(shown)
        told = f"The smallest cluster that eight of ten draws find, as they do all larger ones, has {rows} rows."
    study_job.show_picture(picture, study, beneath=lambda: figure.draw_caption_with_badge("revealed", told))
    if not study.running:
        study_job.draw_page_button(study, picture)


# A private run, the same without noise, and two solutions from many starts.
_RUNS_EACH = 4


def draw_parts_section(question: StudyQuestion) -> None:
    """What quantising, noise and solver each add."""
    _draw_one_setting(question, "causes", ("Runs", 3, 50, 10), _draw_parts_button, _draw_bars)


def _draw_parts_button(one: StudyQuestion) -> None:
    access = f"error of {one.grid.repeats} runs taken apart, k = {one.grid.ks[0]}"
    begin = partial(send, work=error_parts.measure_error_rows, access=access)
    problem = error_parts.explain_refusal(one.grid.contenders[0], one.grid.ks[0]) or one.problem
    about = "" if problem else f", about {format_duration(_RUNS_EACH * one.seconds)}{one.provided}"
    words = f"{one.grid.repeats:,} runs with noise and without{about}"
    study_job.draw_ask_button(one, begin, words=words, problem=problem)


def _draw_bars(study: StudyJob) -> None:
    assert study.yardstick is not None  # it comes before any row
    error = error_parts.compute_error_parts(study.yardstick, study.rows)
    if study.source.kind is FileKind.PRIVATE:  # bounds are not to be chosen by it
        error = replace(error, clip=None)
    (contender,), (epsilon,) = study.grid.contenders, study.grid.epsilons
    bars = draw_waterfall(error, contender.label, epsilon)
    study_job.show_picture(bars, study, beneath=_draw_explanation)
    if study.source.kind.may_be_shown and not study.running:
        study_job.draw_page_button(study, bars)


def _draw_explanation() -> None:
    with st.expander("How each part is measured", icon=":material/help:"):
        st.markdown(SENTENCES.fill("causes"))
        seen = "Every bar is read from rows; a run without noise is thrown away at once."
        figure.draw_caption_with_badge("revealed", seen)


def ask_epsilons(key: str) -> tuple[float, ...]:
    """Round values of ε between two ends; those of a link or a file as long as its ends stay."""
    kept, loaded = f"{key}:epsilons", recall(f"{key}:loaded", 0)
    # Whenever settings are loaded, a new slider takes the place of the one before.
    widget = f"{key}:range:{loaded}" if loaded else f"{key}:range"
    epsilons = recall(kept, StudyGrid.list_epsilons(0.1, 10.0))
    # A slider with two ends takes them from its first value alone: it must not change while the slider lives.
    if widget not in st.session_state:
        st.session_state[f"first:{widget}"] = (min(epsilons), max(epsilons))
    first: tuple[float, float] = st.session_state[f"first:{widget}"]
    look: dict[str, Any] = {"key": widget, "help": glossary.explain_term("epsilon")}
    offered = sorted({*controls.ROUND_EPSILONS, *first})
    low, high = st.select_slider("Range of ε", offered, first, format_func=lambda one: f"{one:g}", **look)
    if (low, high) != (min(epsilons), max(epsilons)):
        epsilons = remember(kept, StudyGrid.list_epsilons(low, high))
    return epsilons


SWEEP, _SHARPER = "sweep", "sweep:smallest"
_REPEATS_EACH, _REPEATS, _ROUNDS = 5, 20, 5
# The picture ends here, or at twice the target: whoever loses more is out of the question.
_MOST = 3.0
_WHY_EACH = "The line is the median of these runs, the band spans their quartiles."


def narrow_to_sweep(question: StudyQuestion) -> StudyQuestion:
    """The question over a range of ε, as the form of a sweep was left."""
    epsilons = recall(f"{SWEEP}:epsilons", StudyGrid.list_epsilons(0.1, 10.0))
    return question.narrow(SWEEP, epsilons=epsilons, repeats=recall(f"{SWEEP}:repeats", _REPEATS_EACH))


def draw_sweep_section(question: StudyQuestion) -> None:
    """The form and the target, what runs on these rows come to, and what a stored study says of tables like them."""
    with st.container(border=True):
        left, middle, right = st.columns(3, gap="medium")
        with left:
            ask_epsilons(SWEEP)
        with middle:
            study_job.ask_repeats(SWEEP, "Runs of each at every ε", _REPEATS_EACH, _WHY_EACH)
        with right:
            target = _ask_target(question.table)
        question = narrow_to_sweep(question)
        study_job.draw_study_button(question)
    # At the fewest rows; none where it has no such tables, or nobody said how many rows there are.
    advice = None
    with suppress(RequestError):
        answer = find_advice(question, target)
        advice = answer.few if answer is not None and answer.is_studied else None
    study_job.draw_study_half(question, partial(_measure, advice=advice, target=target))
    if advice is not None:
        draw_evidence(advice)


def _ask_target(table: OpenTable) -> Target:
    """Which loss counts as enough, and in how many runs: at first what was accepted of the table."""
    usual = recall_accepted(table).target
    above_place, share_place = st.columns(2, gap="small")
    more = f"Here: how far it may at most lie above that.\n\n{glossary.explain_words('k-means++')}"
    most = glossary.explain_term("loss", more)
    first = round(100 * (usual.loss - 1), 6)
    above = above_place.number_input(**figure.look_of("accepted_loss", value=first, key=f"{SWEEP}:above", help=most))
    look = figure.look_of("accepted_share", format_func=lambda share: Target(share=share).describe_often())
    share = share_place.selectbox(
        options=controls.SHARES, index=controls.SHARES.index(usual.share), key=f"{SWEEP}:share", **look
    )
    # Whole tenths of a percent, so that 110 % is the same target wherever it is written.
    return Target(round(1 + float(above) / 100, 6), float(share))


def _measure(study: StudyJob, *, advice: Advice | None, target: Target) -> None:
    """Read off runs: those of the study, and a bisection's."""
    bisection = study_job.find_job(study.question.narrow(_SHARPER))
    if bisection is None or bisection.origin is not study.job:
        _draw_answer(study, None, advice, target)
        return
    whose = f"Bisection for {bisection.grid.contenders[0].label}"
    draw = partial(_draw_answer, study, bisection, advice, target)
    draw_job_panel(bisection.job, label=whose, key=_SHARPER, live=draw)


def _draw_answer(study: StudyJob, bisection: StudyJob | None, advice: Advice | None, target: Target) -> None:
    grid, frame = study.grid, study.make_frame(bisection.rows if bisection is not None else ())
    points = frame.groupby(["contender", "epsilon"], observed=True).ngroups
    # While some point has no run yet, what the others say would be read as the whole.
    whole = not study.running or points >= len(grid.contenders) * len(grid.epsilons)
    answers = SmallestEpsilon.find_all(frame, target) if whole else []
    tried = sorted(frame["epsilon"].unique())
    share = controls.recall_division().find_share()
    recommendation = Recommendation.of(target, advice, answers, tried, grid.contenders, share=share)
    place = st.container()
    with st.container(horizontal=True, vertical_alignment="center"):
        _take(study.question, recommendation)
        measure, baselines = _draw_look(study)
        _draw_sharpen(study, answers, frame, target)
        study_job.draw_opener(grid, SWEEP)
    growing = bisection is not None and bisection.running
    with place:
        if measure == "ratio" and not baselines:
            curves = Curves(frame, places=grid.epsilons, floor=list_floor(study), most=max(_MOST, 2 * target.loss))
            numbers = draw_smallest(curves, answers, recommendation)
            about = recommendation.compare_with(advice) if answers and advice is not None else ""
            if study.source.key != study.question.table.key:
                about = f"A synthetic table has {grid.ks[0]} clear groups; your rows may need more. {about}"
            _show(numbers, " ".join(filter(None, (recommendation.describe_share(), about))), study)
        else:
            known = compute_baselines(study, measure) if baselines else {}
            predicted = list_predictions(study, measure) if baselines else {}
            floor = list_floor(study) if measure == "ratio" else []
            compared = Curves(frame, measure, places=grid.epsilons, baselines=known, predictions=predicted, floor=floor)
            numbers = draw_curves(compared)
            _show(numbers, "", study)
    study_job.draw_numbers(numbers, study, growing=growing)
    study_job.draw_study_download(study, numbers)


def _take(question: StudyQuestion, recommendation: Recommendation) -> None:
    """A button that hands the recommendation on."""
    everyone = {contender.label: contender for contender in (*study_job.list_contenders(), *question.grid.contenders)}
    contender = everyone.get(recommendation.who)
    if contender is None or not recommendation.reached:
        return
    (k,), (delta,), epsilon = question.grid.ks, question.grid.deltas, recommendation.epsilon
    study_job.draw_run_button(f"Take ε = {epsilon:g}", Request(contender, k, epsilon, delta), key=f"{SWEEP}:take")


def _draw_look(study: StudyJob) -> tuple[str, bool]:
    """Another measure, and what costs nothing beside it: out of the way until they are asked for."""
    with st.popover("Other pictures", icon=":material/stacked_line_chart:"):
        measure = study_job.ask_measure(study.make_frame(), SWEEP, without=("seconds",))
        baselines = st.toggle(**figure.look_of("baselines", key=f"{SWEEP}:dashed"))
    return measure, baselines


def _show(picture: Diagram, about: str, study: StudyJob) -> None:
    """A picture under its title; a click opens a run of a setting."""
    key, (title, subtitle, plot) = f"{SWEEP}:figure", study_job.draw_marked(picture, study, figure.read_palette())
    with st.container(gap="xsmall"):
        st.markdown(f"**{escape_markdown(title)}**")
        if about:
            st.markdown(escape_markdown(about), help=glossary.explain_words(about))
        st.caption(escape_markdown(subtitle))
    click = partial(study_job.open_clicked, [trace.get("name") for trace in plot.traces], study.grid, key)
    figure.show(plot, alt=picture.words, key=key, stem=picture.stem, on_click=click)


def _draw_sharpen(study: StudyJob, answers: Sequence[SmallestEpsilon], frame: pd.DataFrame, target: Target) -> None:
    """A bisection for one algorithm, from the runs that are there."""
    able = [one for one in answers if one.reached and not one.sharp and one.epsilon > one.lowest]
    if study.running or not able or study.yardstick is None:
        return
    with st.popover("Try ε in between", icon=":material/target:"):
        label = st.selectbox("For", [answer.contender for answer in able], key=f"{_SHARPER}:whom")
        pressed = st.button("Bisect", icon=":material/target:", key=f"{_SHARPER}:compute")
    if not pressed:
        return
    contender = next(contender for contender in study.grid.contenders if contender.label == label)
    question = study.question.narrow(_SHARPER, contenders=(contender,), repeats=_REPEATS)
    known = [row for row in frame.to_dict("records") if row["contender"] == label]
    access = f"{_REPEATS * _ROUNDS} study runs for the smallest ε, k = {study.grid.ks[0]}"
    options = {"yardstick": study.yardstick, "rounds": _ROUNDS}
    with figure.say_refusal("This cannot run"):
        study_job.send(question, sharpen_rows, known, target, access=access, origin=study.job, **options)
        st.rerun()


def compute_baselines(study: StudyJob, measure: str) -> dict[str, float]:
    """What can be had for nothing, and k-means++."""
    yardstick = study.yardstick
    if yardstick is None or measure not in ("nicv", "ratio"):
        return {}
    unit = yardstick.reference.nicv if measure == "ratio" else 1.0
    if unit == 0:
        return {}
    return {
        "one centre": yardstick.one_center / unit,
        "centres that saw no row": yardstick.data_independent / unit,
        "k-means++": yardstick.reference.nicv / unit,
    }


def list_predictions(study: StudyJob, measure: str) -> dict[str, list[tuple[float, float]]]:
    """The closed-form curve of each algorithm that has one."""
    reference = study.yardstick.reference if study.yardstick is not None else None
    if reference is None or reference.nicv == 0 or measure not in ("nicv", "ratio", "matched_error"):
        return {}
    table, curves = study.source.private, dict[str, list[tuple[float, float]]]()
    for trial in (trial for trial in study.grid.list_trials() if trial.repeat == 0):
        setting = study.grid.make_request(trial).make_setting(table)
        prediction = predict(trial.contender.card, trial.contender.settings, setting, table.domain.region)
        if prediction is not None and prediction.holds:
            loss = reference.nicv + prediction.excess
            value = {"nicv": loss, "ratio": loss / reference.nicv, "matched_error": sqrt(prediction.excess)}
            curves.setdefault(trial.contender.label, []).append((trial.epsilon, value[measure]))
    return {name: curve for name, curve in curves.items() if len(curve) > 1}


def list_floor(study: StudyJob) -> list[tuple[float, float]]:
    """What one perfect step would lose at each ε, over the loss of k-means++; empty where n is not public."""
    first = {trial.epsilon: trial for trial in study.grid.list_trials() if trial.repeat == 0}
    table = study.source.private
    floors = [(at, predict_floor(study.grid.make_request(first[at]).make_setting(table))) for at in sorted(first)]
    known = [(epsilon, floor) for epsilon, floor in floors if floor is not None]
    return known if len(known) > 1 else []


def read_stored_rows(question: StudyQuestion) -> KnownRows | None:
    """How many rows are spoken of: as declared or bought, or else those of the synthetic table that was asked for."""
    table, source = question.table, question.source
    if (known := find_known_rows(table)) is not None:
        return known
    n = source.n_public if source is not None and source.key != table.key else None
    return None if n is None else KnownRows(n, n)


def find_advice(question: StudyQuestion, target: Target) -> RowsAdvice | None:
    """What the stored study advises for a release; None of a sparse table, of which it has none."""
    (k,), (delta,), table = question.grid.ks, question.grid.deltas, question.table.private
    if table.sparse:
        return None
    setting = Request(Contender(AUTO), k, 1.0, delta).make_setting(table)
    return RowsAdvice.of(
        read_stored_rows(question), setting, target=target, share=controls.recall_division().find_share()
    )


def draw_evidence(advice: Advice) -> None:
    """How sure the stored study is, what would change its answer, and every algorithm at its ε; to unfold."""
    with st.expander("What a stored study says of made-up tables like this", icon=":material/lightbulb:"):
        certainty = " ".join(filter(None, (advice.describe_share(), *advice.write("certainty"))))
        st.markdown(escape_markdown(certainty), help=glossary.explain_words(certainty))
        figure.draw_bullets([*advice.write("alternatives"), *advice.write("changes")])
        if advice.outlooks:
            alt = f"What the stored study says of each algorithm at ε = {advice.setting.epsilon:g}"
            st.caption(f"{escape_markdown(alt)}:")
            names = ["algorithm", "loss / k-means++, median", "25 %", "75 %", "target met on", "seconds of a run"]
            lines = [(o.title, o.median, o.low, o.high, round_percent(o.share), o.seconds) for o in advice.outlooks]
            figure.draw_data_table(pd.DataFrame(lines, columns=names), alt=alt, height="auto")
        figure.draw_caption_with_badge("public", Advice.WHERE_FROM)


FOLDS: Mapping[str, Callable[[StudyQuestion], None]] = {
    "sweep": draw_sweep_section,
    **{name: partial(draw_varied_section, name) for name in VARIED},
    "causes": draw_parts_section,
    "payers": draw_payers_section,
    "draws": draw_draws_section,
    "settings": _draw_settings,
}
"""By the key of its study, which opens it in a link."""
