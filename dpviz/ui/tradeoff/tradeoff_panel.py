"""Loss against ε: a form, a study in workers, and the ways to look at it."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from dpviz.runs.advice.advice import Outlook
from dpviz.runs.open_table import OpenTable
from dpviz.runs.request import Contender, Request
from dpviz.runs.study.grid import epsilons_between
from dpviz.ui.controls import ROUND_EPSILONS
from dpviz.ui.session import remember, remembered
from dpviz.ui.studies.one_setting import go_where_asked, open_in_explore
from dpviz.ui.studies.study_form import study_form
from dpviz.ui.studies.study_job import Question
from dpviz.ui.tradeoff.advice_panel import advice_panel
from dpviz.ui.tradeoff.draws_section import draws_section
from dpviz.ui.tradeoff.frontier_section import frontier_section
from dpviz.ui.tradeoff.parts_section import parts_section
from dpviz.ui.tradeoff.settings_section import apply_study_link, range_key, settings_section
from dpviz.ui.tradeoff.smallest_section import smallest_section
from dpviz.ui.tradeoff.sweep_sections import clusters_section, map_section, rows_section

_KEY = "tradeoff"


def tradeoff_setup(table: OpenTable) -> Question:
    """The form, and what it asks for now."""
    apply_study_link()
    return study_form(
        _KEY,
        table,
        epsilons=_epsilons,
        runs="Runs of each at every ε",
        usual=5,
        why="The line is the median of these runs, the band spans their quartiles.",
    )


def tradeoff_study(question: Question) -> None:
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


def _epsilons() -> tuple[float, ...]:
    """Round values of ε between two ends; those of a link or a file as long as its ends stay."""
    kept, key = f"{_KEY}:epsilons", range_key()
    epsilons = remembered(kept, epsilons_between(0.1, 10.0))
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
    )
    if (low, high) == (min(epsilons), max(epsilons)):
        return epsilons
    return remember(kept, epsilons_between(low, high))


def _advice_section(question: Question) -> None:
    """What a stored study of made-up tables says, before any run on this one."""
    go_where_asked()
    (k,), (delta,) = question.grid.ks, question.grid.deltas

    def take(advised: Outlook) -> None:
        open_in_explore(Request(Contender(advised.algorithm), k, advised.epsilon, delta))

    advice_panel(question.table, k=k, delta=delta, take=take)


_FIRST = "Frontier"
_SECTIONS: dict[str, Callable[[Question], None]] = {
    _FIRST: frontier_section,
    "Smallest ε": smallest_section,
    "Advice": _advice_section,
    "Error by cause": parts_section,
    "ε × n": map_section,
    "By k": clusters_section,
    "By n": rows_section,
    "Draws": draws_section,
    "Settings": settings_section,
}
