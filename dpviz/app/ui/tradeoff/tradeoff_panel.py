"""Loss against ε: a form, a study in workers, and the ways to look at it."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from dpviz.app.ui.controls import ROUND_EPSILONS, Epsilons, draw_meaning_link
from dpviz.app.ui.session import recall, remember
from dpviz.app.ui.studies.study_form import draw_study_form
from dpviz.app.ui.studies.study_job import StudyQuestion
from dpviz.app.ui.tradeoff.choose_section import draw_choose_section
from dpviz.app.ui.tradeoff.draws_section import draw_draws_section
from dpviz.app.ui.tradeoff.parts_section import draw_parts_section
from dpviz.app.ui.tradeoff.payers_section import draw_payers_section
from dpviz.app.ui.tradeoff.settings_section import apply_study_link, draw_settings_section, make_range_key
from dpviz.app.ui.tradeoff.sweep_sections import clusters_section, map_section, rows_section
from dpviz.runs import OpenTable, StudyGrid
from dpviz.words import explain_term

_KEY = "tradeoff"


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
    view = st.segmented_control(
        "What to look at",
        list(_SECTIONS),
        default=_FIRST,
        required=True,
        key=f"{_KEY}:view",
        persist_state="session",
        label_visibility="collapsed",
        wrap=True,
    )
    _SECTIONS[str(view or _FIRST)](question)


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
        help=explain_term("epsilon"),
    )
    if (low, high) != (min(epsilons), max(epsilons)):
        epsilons = remember(kept, StudyGrid.list_epsilons(low, high))
    draw_meaning_link()
    return Epsilons(epsilons, st.container())


_FIRST = "Choose ε"
_SECTIONS: dict[str, Callable[[StudyQuestion], None]] = {
    _FIRST: draw_choose_section,
    "Causes": draw_parts_section,
    "Who pays": draw_payers_section,
    "Map": map_section,
    "Clusters": clusters_section,
    "Rows": rows_section,
    "Draws": draw_draws_section,
    "Link": draw_settings_section,
}
