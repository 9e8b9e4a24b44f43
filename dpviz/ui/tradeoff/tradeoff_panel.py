"""Loss against ε: a form, a study in a worker, a figure that fills while it computes, files to take away."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import streamlit as st

from dpviz.runs.advice.advice import Outlook
from dpviz.runs.open_table import OpenTable
from dpviz.runs.request import Contender
from dpviz.ui.controls import ROUND_EPSILONS, k_delta_row
from dpviz.ui.session import remember, remembered
from dpviz.ui.studies.contender_choice import contender_picker
from dpviz.ui.studies.judged_rows import judged_rows
from dpviz.ui.studies.study_panel import Invitation, Plan, study_button, study_half
from dpviz.ui.table_words import unit_line
from dpviz.ui.tradeoff.advice_panel import advice_panel
from dpviz.ui.tradeoff.open_setting import ask_for, go_where_asked
from dpviz.ui.tradeoff.tradeoff_draws import draws_section
from dpviz.ui.tradeoff.tradeoff_frontier import frontier
from dpviz.ui.tradeoff.tradeoff_parts import parts_section
from dpviz.ui.tradeoff.tradeoff_settings import MOST_REPEATS, apply_study_link, range_key, settings_section
from dpviz.ui.tradeoff.tradeoff_smallest import smallest
from dpviz.ui.tradeoff.tradeoff_sweeps import clusters_section, map_section, rows_section

_KEY = "tradeoff"
_INVITATION = Invitation(
    "No trade-off yet",
    "Choose algorithms and press **Compute**: the loss at every ε appears here as it is computed, each ε once before "
    "any comes twice.",
    icon=":material/show_chart:",
)
_NO_TARGET_YET = Invitation(
    "No runs to answer from yet",
    "Press **Compute** above; then name a target (at most 10 % above k-means++, say), and the smallest ε that meets it "
    "stands here, with how sure that is.",
    icon=":material/target:",
)
_TICKS = (0.03, 0.1, 0.2, 0.3, 0.5, 1.0, 2.0, 3.0, 5.0, 10.0, 20.0)


def tradeoff_setup(table: OpenTable) -> tuple[Plan, OpenTable | None]:
    """The form; what is asked for now, and on which rows it would be judged."""
    apply_study_link()
    with st.container(border=True):
        whom = st.container()
        left, right = st.columns(2, gap="medium")
        with left:
            epsilons = epsilon_range()
        with right:
            k, delta = k_delta_row()
        with left:
            repeats = runs_of_each()
        st.caption(f"ε and δ protect {unit_line(table)}.")
        source = judged_rows(table, _KEY, k=k)
        with whom:
            contenders = contender_picker(_KEY, source or table, k=k, epsilons=epsilons, delta=delta)
        plan = Plan(tuple(contenders), k, epsilons, delta, repeats)
        study_button(_KEY, table, source, plan)
    return plan, source


def epsilon_range() -> tuple[float, ...]:
    """Round values of ε between two ends, evenly spread on the log scale."""
    kept, key = f"{_KEY}:range", range_key()
    # A slider with two ends takes them from its first value alone: it must not change while the slider lives.
    if key not in st.session_state:
        st.session_state[f"first:{key}"] = remembered(kept, (0.1, 10.0))
    first: tuple[float, float] = st.session_state[f"first:{key}"]
    low, high = st.select_slider(
        "Range of ε",
        sorted({*ROUND_EPSILONS, *first}),
        value=first,
        format_func=lambda value: f"{value:g}",
        key=key,
    )
    remember(kept, (low, high))
    inner = [epsilon for epsilon in _TICKS if low < epsilon < high]
    return tuple(sorted({low, *inner, high}))


def runs_of_each() -> int:
    """How often everything is repeated."""
    key = f"{_KEY}:repeats"
    if key not in st.session_state:
        st.session_state[key] = remembered(key, 5)
    repeats = st.slider(
        "Runs of each at every ε",
        1,
        MOST_REPEATS,
        key=key,
        help="The line is the median of these runs, the band spans their quartiles.",
    )
    return remember(key, int(repeats))


def tradeoff_study(table: OpenTable, plan: Plan, source: OpenTable | None) -> None:
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
    _SECTIONS[str(view or _FIRST)](table, plan, source)


def _frontier_section(table: OpenTable, plan: Plan, source: OpenTable | None) -> None:
    """The figure and the numbers behind it, or an invitation."""
    study_half(
        *(_KEY, table, plan, source),
        invitation=_INVITATION,
        label=lambda study: f"Trade-off with k = {study.plan.k}",
        pictures=lambda study: frontier(study, _KEY),
    )


def _smallest_section(table: OpenTable, plan: Plan, source: OpenTable | None) -> None:
    """The smallest ε that is good enough, from the same runs as the frontier."""
    study_half(
        *(_KEY, table, plan, source),
        invitation=_NO_TARGET_YET,
        label=lambda study: f"Trade-off with k = {study.plan.k}",
        pictures=lambda study: smallest(table, study),
    )


def _advice_section(table: OpenTable, plan: Plan, source: OpenTable | None) -> None:
    """What a stored study of made-up tables says, before any run on this one."""
    go_where_asked()
    advice_panel(table, k=plan.k, delta=plan.delta, take=partial(_take, plan))


def _take(plan: Plan, advised: Outlook) -> None:
    ask_for(Contender(advised.algorithm), k=plan.k, epsilon=advised.epsilon, delta=plan.delta)


_FIRST = "Frontier"
_SECTIONS: dict[str, Callable[[OpenTable, Plan, OpenTable | None], None]] = {
    _FIRST: _frontier_section,
    "Smallest ε": _smallest_section,
    "Advice": _advice_section,
    "Error by cause": parts_section,
    "ε × n": map_section,
    "By k": clusters_section,
    "By n": rows_section,
    "Draws": draws_section,
    "Settings": settings_section,
}
