"""The page *Trade-off*: loss against ε for a form, sweeps over k and n, and sections about one algorithm at one ε."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, cast

import pandas as pd
import streamlit as st

from dpviz.app.charts.animation import TitleNumber
from dpviz.app.charts.picture import RenderContext
from dpviz.app.charts.plot import pack
from dpviz.app.charts.studies.compare import CenterDraws, draw_epsilon_n_map, draw_payers, draw_waterfall
from dpviz.app.charts.studies.curves import Curves, draw_curves
from dpviz.app.ui.controls import (
    HIGHEST_DELTA,
    HIGHEST_EPSILON,
    LOWEST_EPSILON,
    MOST_CLUSTERS,
    ROUND_EPSILONS,
    Epsilons,
    draw_meaning_link,
)
from dpviz.app.ui.data_access import reveal_view
from dpviz.app.ui.escape import escape_markdown
from dpviz.app.ui.figure import (
    ask_one_of,
    ask_plane,
    draw_caption_with_badge,
    draw_download,
    draw_python_section,
    read_palette,
    show_wide,
)
from dpviz.app.ui.player import play
from dpviz.app.ui.runner import find_recovery
from dpviz.app.ui.session import choose, find_known_clusters, make_once, recall, remember
from dpviz.app.ui.studies.judged_rows import ask_larger_rows
from dpviz.app.ui.studies.study_job import (
    StudyJob,
    StudyQuestion,
    ask_contender,
    ask_epsilon,
    ask_one_setting,
    has_contenders,
    list_contenders,
    send,
)
from dpviz.app.ui.studies.study_panel import (
    MOST_REPEATS,
    Invitation,
    ask_measure,
    draw_ask_button,
    draw_numbers,
    draw_page_button,
    draw_study_button,
    draw_study_download,
    draw_study_form,
    draw_study_half,
    show_picture,
)
from dpviz.app.ui.tradeoff.choose_section import draw_choose_section
from dpviz.core import RequestError
from dpviz.runs import OpenTable, Script, StudyGrid, error_parts
from dpviz.tables import FileKind
from dpviz.words import format_duration, format_number, format_ratio, glossary

# The whole table, and halves of halves; fewer rows than this many, or than twice k, tell nothing.
_PARTS, _FEWEST = (1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2), 50
_CLUSTERS = (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 20, 25, 30, 40, 50, 75, 100)
_PRIVATE_N = "The number of rows is private: declare it on the Data page, or take a synthetic table."


@dataclass(frozen=True)
class _Sweep:
    """What is varied: k or n at one ε, or n beside all ε for one algorithm."""

    key: str
    over: Literal["k", "n", "epsilon and n"]
    invitation: Invitation


_DRAWN = "Press **Draw the map**: the loss at every ε and number of rows."
_BY_K = "Press **Try every k**: the loss for each number of clusters, at one ε."
_BY_N = "Press **Try every n**: the loss for each number of rows, at one ε."
_GRID, _LINES = ":material/grid_on:", ":material/ssid_chart:"
_MAP = _Sweep(
    "tradeoff:map",
    "epsilon and n",
    Invitation("Map of ε and n", "What would more rows buy?", _DRAWN, icon=_GRID, button="Draw the map"),
)
_KS = _Sweep(
    "tradeoff:ks",
    "k",
    Invitation("Sweep over k", "What would more clusters cost?", _BY_K, icon=_LINES, button="Try every k"),
)
_NS = _Sweep(
    "tradeoff:ns",
    "n",
    Invitation("Sweep over n", "What would fewer rows cost?", _BY_N, icon=_LINES, button="Try every n"),
)


def _draw_section(sweep: _Sweep, question: StudyQuestion) -> None:
    """The form of a sweep, and its picture or an invitation."""
    if not has_contenders(question.grid.contenders):
        return
    (k,), source = question.grid.ks, question.source
    changes: dict[str, Any] = {}
    with st.container(border=True):
        left, right = st.columns(2, gap="medium")
        with left:
            if sweep is _MAP:
                changes["contenders"] = (ask_contender(sweep.key, question.grid.contenders),)
            else:
                changes["epsilons"] = (ask_epsilon(sweep.key, question.grid.epsilons),)
        with right:
            if sweep is _KS:
                changes["ks"] = _draw_clusters(sweep.key, k)
            else:
                source = ask_larger_rows(sweep.key, question.table, source, k=k)
                changes["ns"] = _draw_sizes(source, k)
        narrowed = replace(question.narrow(sweep.key, **changes), source=source)
        private_n = sweep is not _KS and source is not None and source.n_public is None
        draw_study_button(narrowed, invitation=sweep.invitation, problem=_PRIVATE_N if private_n else None)
    own = k if sweep is _KS else question.table.n_public
    draw = partial(_draw_sweep, sweep, own=own)
    draw_study_half(narrowed, invitation=sweep.invitation, pictures=draw)


map_section = partial(_draw_section, _MAP)
"""What ε buys with how many rows, for one algorithm."""
clusters_section = partial(_draw_section, _KS)
"""How the loss moves with k, at one ε."""
rows_section = partial(_draw_section, _NS)
"""How the loss moves with n, at one ε."""


def _draw_sweep(sweep: _Sweep, study: StudyJob, own: int | None) -> None:
    frame, grid = _draw_with_whole(study), study.grid
    ns = [n or _find_whole(study.source) for n in grid.ns]
    if sweep.over == "epsilon and n":
        picture = draw_epsilon_n_map(frame, grid.contenders[0].label, grid.epsilons, ns, own)
    else:
        measure = ask_measure(frame, sweep.key)
        places = list(grid.ks) if sweep.over == "k" else ns
        inside = own is not None and min(places) <= own <= max(places)
        curves = Curves(frame, measure, sweep.over, places, grid.epsilons[0], own if inside else None)
        picture = draw_curves(curves)
    show_picture(picture, study)
    if sweep is not _MAP:
        st.caption(
            f"Every {escape_markdown(sweep.over)} is measured against k-means++ with the same "
            f"{escape_markdown(sweep.over)}."
        )
    elif own is None:
        st.caption("Your number of rows is private, and is not marked.")
    draw_study_download(study, picture)


def _draw_with_whole(study: StudyJob) -> pd.DataFrame:
    """The runs of a study, with the number of rows also where the whole table was used."""
    frame = study.make_frame()
    frame["n"] = frame["n"].astype(float).fillna(float(_find_whole(study.source)))
    return frame


def _find_whole(source: OpenTable) -> int:
    """The public number of rows; a study over n is offered only where there is one."""
    return source.n_public or 1


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
    low, high = st.select_slider(
        "Range of k",
        offered,
        value=(min(first, k), max(k, last)),
        format_func=lambda k: f"{k:d}",
        key=f"{key}:range:{k}",
    )
    return tuple(sorted({k, *(one for one in _CLUSTERS if low <= one <= high)}))


_DRAWS_KEY = "tradeoff:draws"
_DRAWS_INVITATION = Invitation(
    "Draws",
    "How much do draws differ?",
    "Press **Draw again and again**: the same release, drawn again and again.",
    icon=":material/replay:",
    button="Draw again and again",
)


def draw_draws_section(question: StudyQuestion) -> None:
    """One algorithm at one ε, drawn many times."""
    if not has_contenders(question.grid.contenders):
        return
    with st.container(border=True):
        one = ask_one_setting(question, _DRAWS_KEY, "Draws", 5, 100, 30)
        draw_study_button(one, invitation=_DRAWS_INVITATION, with_centers=True)
    draw_study_half(one, invitation=_DRAWS_INVITATION, pictures=_draw_draws)


def _draw_draws(study: StudyJob) -> None:
    reference = study.yardstick.reference if study.yardstick is not None else None
    view = ask_plane(study.source.domain, _DRAWS_KEY)
    rows = reveal_view(study.source, "rows under repeated draws")
    counted = reference is not None and find_known_clusters(study.source) == study.grid.ks[0]
    found = None if reference is None or not counted else partial(find_recovery, study.source, reference=reference)
    (contender,), (epsilon,) = study.grid.contenders, study.grid.epsilons
    spends = epsilon if contender.card.private else None
    context = RenderContext(view, read_palette(), rows, reference, found=found, epsilon=spends)
    draws = CenterDraws.of(study.rows, context)
    if study.running:
        show_wide(draws.draw(), alt=draws.words(), key=f"{_DRAWS_KEY}:cloud", stem="cloud-of-centres")
        return
    _play(study, draws)
    if reference is not None:
        draw_numbers(draws, study)


def _play(study: StudyJob, draws: CenterDraws) -> None:
    """The draws in the player that runs are played in."""
    context = draws.context
    shown = (context.view.name, st.context.theme.type, context.reveal is None, context.reference is None)
    given = (study.job, len(draws.centers), *shown)
    animation = make_once(f"{_DRAWS_KEY}:animation", given, lambda: pack(draws.animate().to_data()))
    low, high = (format_ratio(float(end)) for end in (draws.losses.min(), draws.losses.max()))
    losses = TitleNumber("revealed", low if low == high else f"{low} to {high}", "the loss of k-means++")
    play(animation, [losses], None, key=f"{_DRAWS_KEY}:player")


_PAYERS_KEY = "tradeoff:payers"
_PAYERS_INVITATION = Invitation(
    "Who pays",
    "Who pays for privacy?",
    "Press **Measure**: what draws cost each cluster by its size, and each declared group.",
    icon=":material/groups:",
    button="Measure",
)
PRIVATE = (
    "Who pays is told of public and made-up tables only: of a private file it would tell about its groups. Judge on "
    "made-up rows, or open a sample."
)


def draw_payers_section(question: StudyQuestion) -> None:
    """The form, and the picture of the last answer."""
    if not has_contenders(question.grid.contenders):
        return
    if question.source is not None and question.source.kind is FileKind.PRIVATE:
        st.info(PRIVATE, icon=":material/visibility_off:")
        return
    with st.container(border=True):
        one = ask_one_setting(question, _PAYERS_KEY, "Runs", 5, 50, 20)
        words = f"{one.grid.repeats:,} runs, about {format_duration(0.0 if one.problem else one.seconds)}"
        draw_ask_button(one, _begin_payers, words=words, problem=one.problem, label="Measure")
    draw_study_half(one, invitation=_PAYERS_INVITATION, pictures=_draw_picture)


def _begin_payers(one: StudyQuestion) -> None:
    access = f"{one.grid.repeats} runs by cluster and by group, k = {one.grid.ks[0]}"
    send(one, error_parts.measure_payer_rows, access=access)


def _draw_picture(study: StudyJob) -> None:
    if study.source.kind is FileKind.PRIVATE:  # it was public when it was asked
        st.info(PRIVATE, icon=":material/visibility_off:")
        return
    paid = error_parts.summarise_payers(study.rows)
    (contender,), (epsilon,) = study.grid.contenders, study.grid.epsilons
    picture = draw_payers(paid, contender.label, epsilon)
    told = "Not even the largest cluster is found in eight of ten draws."
    if (shown := paid.smallest_shown) is not None:
        rows = format_number(shown)
        told = f"The smallest cluster that eight of ten draws find, as they do all larger ones, has {rows} rows."
    show_picture(picture, study, beneath=lambda: draw_caption_with_badge("revealed", told))
    if not study.running:
        draw_page_button(study, picture)


_PARTS_KEY = "tradeoff:parts"
# A private run, the same without noise, and two solutions from many starts.
_RUNS_EACH = 4
_PARTS_INVITATION = Invitation(
    "Where the error comes from",
    "Where does the loss come from?",
    "Press **Measure**: what the grid, the noise and the solver each add.",
    icon=":material/waterfall_chart:",
    button="Measure",
)
_HOW = """
Every bar is the difference of two median losses, and each is measured by switching its cause off:

- **quantise**: the best of many starts on the synopsis without noise, against k-means++ on the rows. Nothing
  for an algorithm that reads rows to the end.
- **noise**: the private run, against the same run (same public coins) with its noise switched off.
- **solver**: the private run, against the best of many starts on its own release; for an algorithm without a synopsis,
  the run without noise against k-means++.
- **interaction**: what is left, so that the bars add up: what noise and solver do together beyond what each does alone.
  A grid's solver, say, leaves out cells that do not stand out from the noise, whether noise has come or not.

All losses are read from the rows as the declared bounds leave them. **Clipping**, the mean squared distance that the
bounds alone move a row, is the same for every algorithm and stands beside the bars, not among them; of a private file
it is not told, so that nobody chooses bounds by it.
"""


def draw_parts_section(question: StudyQuestion) -> None:
    """The form, and the bars of the last answer."""
    if not has_contenders(question.grid.contenders):
        return
    with st.container(border=True):
        one = ask_one_setting(question, _PARTS_KEY, "Runs", 3, 50, 10)
        problem = error_parts.explain_refusal(one.grid.contenders[0], one.grid.ks[0]) or one.problem
        about = "" if problem else f", about {format_duration(_RUNS_EACH * one.seconds)}{one.provided}"
        words = f"{one.grid.repeats:,} runs with noise and without{about}"
        draw_ask_button(one, _begin_parts, words=words, problem=problem, label="Measure")
    draw_study_half(one, invitation=_PARTS_INVITATION, pictures=_draw_bars)


def _begin_parts(one: StudyQuestion) -> None:
    access = f"error of {one.grid.repeats} runs taken apart, k = {one.grid.ks[0]}"
    send(one, error_parts.measure_error_rows, access=access)


def _draw_bars(study: StudyJob) -> None:
    assert study.yardstick is not None  # it comes before any row
    error = error_parts.compute_error_parts(study.yardstick, study.rows)
    if study.source.kind is FileKind.PRIVATE:  # bounds are not to be chosen by it
        error = replace(error, clip=None)
    (contender,), (epsilon,) = study.grid.contenders, study.grid.epsilons
    bars = draw_waterfall(error, contender.label, epsilon)
    show_picture(bars, study, beneath=_draw_explanation)
    if study.source.kind.may_be_shown and not study.running:
        draw_page_button(study, bars)


def _draw_explanation() -> None:
    with st.expander("How each part is measured", icon=":material/help:"):
        st.markdown(_HOW)
        draw_caption_with_badge("revealed", "Every bar is read from rows; a run without noise is thrown away at once.")


_KEY = "tradeoff"
_FIRST_LINK, _WAITING, _LOADED = "study", "link:study", "tradeoff:loaded"


def remember_study_link() -> None:
    """Keep the settings of a link until a table is open: opening one changes the page, which drops the link."""
    said = {name: st.query_params[name] for name in (_FIRST_LINK, *StudyGrid.FIELDS) if name in st.query_params}
    if said:
        st.session_state[_WAITING] = said
        for name in said:
            del st.query_params[name]


def apply_study_link() -> None:
    """Set the form to what a link asked for; call it before the form is drawn."""
    said = cast("Mapping[str, str] | None", st.session_state.pop(_WAITING, None))
    if said is None:
        return
    try:
        apply(StudyGrid.from_yaml(said[_FIRST_LINK]) if _FIRST_LINK in said else StudyGrid.from_query(said))
    except RequestError as error:
        st.error(escape_markdown(error), title="The settings of this link cannot be used", icon=":material/link_off:")


def apply(grid: StudyGrid) -> None:
    """Set the form to ``grid``; call it from a callback, or before the form is drawn."""
    offered = {contender.label for contender in list_contenders()}
    labels = [contender.label for contender in grid.contenders]
    strange = [label for label in labels if label not in offered]
    if strange:
        raise RequestError(
            f"{strange[0]} cannot be chosen on this page: it offers algorithms with their presets, and `dpviz sweep` "
            "any parameters."
        )
    low, high = min(grid.epsilons), max(grid.epsilons)
    if not (
        LOWEST_EPSILON <= low <= high <= HIGHEST_EPSILON
        and max(grid.ks) <= MOST_CLUSTERS
        and max(grid.deltas) <= HIGHEST_DELTA
        and grid.repeats <= MOST_REPEATS
    ):
        raise RequestError(
            f"This page allows ε from {LOWEST_EPSILON:g} to {HIGHEST_EPSILON:g}, k up to {MOST_CLUSTERS:,}, δ up to "
            f"{HIGHEST_DELTA:g} and up to {MOST_REPEATS} runs: these settings ask for more."
        )
    if grid != replace(grid, ks=grid.ks[:1], deltas=grid.deltas[:1], ns=(None,), seed=0):
        raise RequestError("This page takes one k, one δ, all rows and seed 0: `dpviz sweep` takes any of them.")
    choose(f"{_KEY}:contenders", labels)
    choose(f"{_KEY}:repeats", grid.repeats)
    choose("k", grid.ks[0])
    choose("delta", grid.deltas[0])
    remember(f"{_KEY}:epsilons", grid.epsilons)
    st.session_state[_LOADED] = st.session_state.get(_LOADED, 0) + 1


def make_range_key() -> str:
    """The key of the slider over ε: whenever settings are loaded, a new slider takes its place."""
    loaded = int(st.session_state.get(_LOADED, 0))
    return f"{_KEY}:range" + (f":{loaded}" if loaded else "")


def draw_settings_section(question: StudyQuestion) -> None:
    """The link and the file of the form as it stands, and a place for a file of another day."""
    grid = question.grid
    st.title("These settings as a link", anchor=False)
    st.caption("It holds nothing of the table: whoever follows it opens a table of their own.")
    st.code(f"{(st.context.url or '').split('?')[0]}?{grid.to_query()}", language=None, wrap_lines=True)
    with st.expander("The same as a file"):
        st.code(grid.to_yaml(), language="yaml")
    draw_download("Settings (YAML)", grid.to_yaml(), "trade-off-study.yaml", key=f"{_KEY}:settings:file")
    table = question.table
    script = partial(Script.for_sweep, table.loaded.name, table.declaration, grid)
    draw_python_section(script, key=_KEY, stem="trade-off-study")
    kinds, key = ["yaml", "yml", "json"], f"{_KEY}:settings:upload"
    st.file_uploader("Settings to load", type=kinds, key=key, on_change=_load, max_upload_size=1)
    refusal = cast("str | None", st.session_state.pop(f"{_KEY}:settings:refusal", None))
    if refusal:
        st.error(escape_markdown(refusal), title="These settings cannot be used", icon=":material/block:")


def _load() -> None:
    upload: Any = st.session_state.get(f"{_KEY}:settings:upload")
    if upload is None:
        return
    try:
        apply(StudyGrid.from_yaml(upload.getvalue().decode("utf-8", errors="replace")))
    except RequestError as error:
        st.session_state[f"{_KEY}:settings:refusal"] = str(error)


def draw_tradeoff_setup(table: OpenTable) -> StudyQuestion:
    """The form, and what it asks for now."""
    apply_study_link()
    return draw_study_form(
        _KEY,
        table,
        epsilons=_ask_epsilons,
        runs="Runs of each at every ε",
        usual=5,
        why="The line is the median of these runs, the band spans their quartiles.",
    )


def draw_tradeoff_study(question: StudyQuestion) -> None:
    """One way to look at the trade-off at a time."""
    look = {"persist_state": "session", "label_visibility": "collapsed", "wrap": True}
    _SECTIONS[ask_one_of("What to look at", list(_SECTIONS), key=f"{_KEY}:view", **look)](question)


def _ask_epsilons() -> Epsilons:
    """Round values of ε between two ends; those of a link or a file as long as its ends stay."""
    kept, key = f"{_KEY}:epsilons", make_range_key()
    epsilons = recall(kept, StudyGrid.list_epsilons(0.1, 10.0))
    # A slider with two ends takes them from its first value alone: it must not change while the slider lives.
    if key not in st.session_state:
        st.session_state[f"first:{key}"] = (min(epsilons), max(epsilons))
    first: tuple[float, float] = st.session_state[f"first:{key}"]
    low, high = st.select_slider(
        "Range of ε",
        sorted({*ROUND_EPSILONS, *first}),
        value=first,
        format_func=lambda value: f"{value:g}",
        key=key,
        help=glossary.explain_term("epsilon"),
    )
    if (low, high) != (min(epsilons), max(epsilons)):
        epsilons = remember(kept, StudyGrid.list_epsilons(low, high))
    draw_meaning_link()
    return Epsilons(epsilons, st.container())


_SECTIONS: dict[str, Callable[[StudyQuestion], None]] = {
    "Choose ε": draw_choose_section,
    "Causes": draw_parts_section,
    "Who pays": draw_payers_section,
    "Map": map_section,
    "Clusters": clusters_section,
    "Rows": rows_section,
    "Draws": draw_draws_section,
    "Link": draw_settings_section,
}
