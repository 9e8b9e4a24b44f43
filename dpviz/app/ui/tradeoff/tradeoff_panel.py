"""Loss against ε: a form, a study in workers, and the ways to look at it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, cast

import streamlit as st

from dpviz.app.ui.controls import (
    HIGHEST_DELTA,
    HIGHEST_EPSILON,
    LOWEST_EPSILON,
    MOST_CLUSTERS,
    ROUND_EPSILONS,
    Epsilons,
    draw_meaning_link,
)
from dpviz.app.ui.escape import escape_markdown
from dpviz.app.ui.figure import ask_one_of, draw_download, draw_python_section
from dpviz.app.ui.session import choose, recall, remember
from dpviz.app.ui.studies.study_job import StudyQuestion, list_contenders
from dpviz.app.ui.studies.study_panel import MOST_REPEATS, draw_study_form
from dpviz.app.ui.tradeoff.choose_section import draw_choose_section
from dpviz.app.ui.tradeoff.one_setting_sections import draw_draws_section, draw_parts_section, draw_payers_section
from dpviz.app.ui.tradeoff.sweep_sections import clusters_section, map_section, rows_section
from dpviz.core import RequestError
from dpviz.runs import OpenTable, Script, StudyGrid
from dpviz.words import glossary

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
