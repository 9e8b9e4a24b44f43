"""The page *Compare*: several algorithms at one ε, their scores and centres; sweeps and causes are folds of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, cast

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpviz.app.charts.canvas import Diagram
from dpviz.app.charts.picture import RenderContext
from dpviz.app.charts.studies.compare import Typical, draw_compare, draw_scores
from dpviz.app.charts.studies.curves import find_measure
from dpviz.app.charts.studies.stored_verdicts import read_runs, read_verdicts
from dpviz.app.ui import figure
from dpviz.app.ui.addresses import is_asked_for
from dpviz.app.ui.controls import (
    HIGHEST_DELTA,
    HIGHEST_EPSILON,
    LOWEST_EPSILON,
    MOST_CLUSTERS,
    draw_epsilon_control,
    draw_k_and_delta,
)
from dpviz.app.ui.data_access import reveal_view
from dpviz.app.ui.escape import escape_markdown
from dpviz.app.ui.page_sentences import SENTENCES
from dpviz.app.ui.reader import is_narrow
from dpviz.app.ui.session import choose
from dpviz.app.ui.studies import study_job, study_sections
from dpviz.app.ui.studies.judged_rows import ask_judged_rows
from dpviz.app.ui.studies.study_sections import SWEEP, draw_sweep_section, narrow_to_sweep
from dpviz.core import RequestError
from dpviz.runs import MEASURES, OpenTable, Script, StudyGrid, summarise
from dpviz.words import capitalize_first, glossary

_KEY = "compare"
# The stored runs that are shown before anybody has computed any: a table of this claim, at this ε.
_CLAIM, _TABLE, _EPSILON = "su-epsilon", "S1", 1.0
# Pixels of a character of a table, and of the air beside it.
_CHARACTER, _AIR = 7.5, 24
_WHY = "One run says little: noise makes each run different. Medians and quartiles need several."


def draw_compare_page(table: OpenTable) -> None:
    """The form, what came of it, and what else many runs tell, folded away."""
    study_job.turn_to_run()
    apply_study_link()
    form, answer, first = _place_parts()
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


def _place_parts() -> tuple[DeltaGenerator, DeltaGenerator, DeltaGenerator]:
    """Of the form, of the answer beside it, and of an answer that is known: on a telephone it comes first."""
    if is_narrow():
        first, form, answer = (st.container() for _ in range(3))
        return form, answer, first
    form, answer = st.columns([35, 65], gap="medium")
    return form, answer, answer


def _draw_fold(name: str, question: study_job.StudyQuestion, *, asked: bool) -> None:
    """One that a link asks for, or that has runs already, is open."""
    told, known = study_job.invite(name), study_job.find_job(question.narrow(name)) is not None
    label = escape_markdown(told.title)
    part = st.expander(label, asked or known, icon=told.icon, key=f"{_KEY}:fold:{name}", on_change="rerun")
    if part.open:
        with part:
            FOLDS[name](question)


def _draw_form(table: OpenTable) -> study_job.StudyQuestion:
    """What is compared, on whose rows, and the button."""
    with st.container(border=True):
        picker = st.container()
        epsilon, button = draw_epsilon_control()
        said = st.container()
        k, delta = draw_k_and_delta()
        repeats = study_job.ask_repeats(_KEY, "Runs of each", 10, _WHY)
        source = ask_judged_rows(table, _KEY, k=k)
        with picker:
            asked = StudyGrid((), (k,), (epsilon,), (delta,), repeats=repeats)
            grid = study_job.draw_contender_picker(_KEY, source or table, asked)
        question = study_job.StudyQuestion(_KEY, table, source, grid)
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


def _draw_pictures(study: study_job.StudyJob) -> None:
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


def _draw_centers(study: study_job.StudyJob) -> None:
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


def apply_study_link() -> None:
    """Set the form to what a link asked for; call it before the form is drawn."""
    said = cast("Mapping[str, str] | None", st.session_state.pop(_WAITING, None))
    if said is None:
        return
    with figure.say_refusal("The settings of this link cannot be used", ":material/link_off:"):
        apply(StudyGrid.from_yaml(said[_FIRST_LINK]) if _FIRST_LINK in said else StudyGrid.from_query(said))


def apply(grid: StudyGrid) -> None:
    """Set the form to ``grid``; call it from a callback, or before the form is drawn."""
    offered = {contender.label for contender in study_job.list_contenders()}
    labels = [contender.label for contender in grid.contenders]
    strange = [label for label in labels if label not in offered]
    if strange:
        raise SENTENCES.make_refusal("not_offered", name=strange[0])
    low, high = min(grid.epsilons), max(grid.epsilons)
    within = LOWEST_EPSILON <= low <= high <= HIGHEST_EPSILON and max(grid.deltas) <= HIGHEST_DELTA
    if not within or max(grid.ks) > MOST_CLUSTERS or grid.repeats > study_job.MOST_REPEATS:
        most: dict[str, Any] = {"k": MOST_CLUSTERS, "delta": HIGHEST_DELTA, "runs": study_job.MOST_REPEATS}
        raise SENTENCES.make_refusal("beyond_page", low=LOWEST_EPSILON, high=HIGHEST_EPSILON, **most)
    if grid != replace(grid, ks=grid.ks[:1], deltas=grid.deltas[:1], ns=(None,), seed=0):
        raise SENTENCES.make_refusal("one_of_each")
    choose(f"{_KEY}:contenders", labels)
    choose(f"{SWEEP}:repeats", grid.repeats)
    choose("k", grid.ks[0])
    choose("delta", grid.deltas[0])
    study_sections.load_epsilons(SWEEP, grid.epsilons)


def _draw_settings(question: study_job.StudyQuestion) -> None:
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
    if upload is None:
        return
    try:
        apply(StudyGrid.from_yaml(upload.getvalue().decode("utf-8", errors="replace")))
    except RequestError as error:
        st.session_state[f"{SWEEP}:settings:refusal"] = str(error)


FOLDS: Mapping[str, Callable[[study_job.StudyQuestion], None]] = {
    "sweep": draw_sweep_section,
    **{name: partial(study_sections.draw_varied_section, sweep) for name, sweep in study_sections.VARIED.items()},
    "causes": study_sections.draw_parts_section,
    "payers": study_sections.draw_payers_section,
    "draws": study_sections.draw_draws_section,
    "settings": _draw_settings,
}
"""By the key of its study, which opens it in a link."""
