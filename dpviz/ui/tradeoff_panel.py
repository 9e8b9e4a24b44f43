"""Loss against ε: a form, a study in a worker, a figure that fills while it computes, files to take away."""

from __future__ import annotations

import streamlit as st

from dpviz.runs.study import summarise, tidy
from dpviz.ui.controls import ROUND_EPSILONS, delta_control, k_control
from dpviz.ui.declaration import OpenTable
from dpviz.ui.study_panel import (
    Plan,
    Study,
    contender_picker,
    judged_rows,
    study_button,
    study_headline,
    study_job,
    study_of,
)
from dpviz.ui.table_words import unit_line

_KEY = "tradeoff"
_TICKS = (0.03, 0.1, 0.2, 0.3, 0.5, 1.0, 2.0, 3.0, 5.0, 10.0, 20.0)


def tradeoff_setup(table: OpenTable) -> tuple[Plan, OpenTable | None]:
    """The form; what is asked for now, and on which rows it would be judged."""
    with st.container(border=True):
        left, right = st.columns([6, 5], gap="large")
        with left:
            contenders = contender_picker(_KEY)
            epsilons = epsilon_range()
        with right:
            one, two = st.columns(2)
            with one:
                k = k_control()
            with two:
                delta = delta_control()
            repeats = st.slider(
                "Runs of each at every ε",
                1,
                50,
                value=5,
                key=f"{_KEY}:repeats",
                persist_state="session",
                help="The line is the median of these runs, the band spans their quartiles.",
            )
        st.caption(f"ε and δ protect {unit_line(table)}.")
        source = judged_rows(table, _KEY, k=k)
        plan = Plan(tuple(contenders), k, epsilons, delta, repeats)
        study_button(_KEY, table, source, plan)
    return plan, source


def epsilon_range() -> tuple[float, ...]:
    """Round values of ε between two ends, evenly spread on the log scale."""
    low, high = st.select_slider(
        "Range of ε",
        ROUND_EPSILONS,
        value=(0.1, 10.0),
        format_func=lambda value: f"{value:g}",
        key=f"{_KEY}:range",
        persist_state="session",
    )
    inner = [epsilon for epsilon in _TICKS if low < epsilon < high]
    return tuple(sorted({low, *inner, high}))


def tradeoff_study(table: OpenTable, plan: Plan, source: OpenTable | None) -> None:
    """The last study of this page: live while it runs, kept afterwards."""
    study = study_of(_KEY, table)
    if study is None:
        st.info(
            "Choose algorithms and press **Compute**: the loss at every ε appears here as it is computed, each ε once "
            "before any comes twice.",
            title="No trade-off yet",
            icon=":material/show_chart:",
        )
        return
    study_headline(study, plan, source)
    study_job(study, label=f"Trade-off with k = {study.plan.k}", key=_KEY, live=lambda: _pictures(study))


def _pictures(study: Study) -> None:
    st.dataframe(summarise(tidy(study.rows)), hide_index=True, alt="Medians")
