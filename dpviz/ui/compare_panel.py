"""Several algorithms at one ε: a form, a study in a worker, small multiples, scores and their table."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dpviz.runs.study import MEASURES, summarise, tidy
from dpviz.ui.controls import delta_control, epsilon_control, k_control
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

_KEY = "compare"


def compare_setup(table: OpenTable) -> tuple[Plan, OpenTable | None]:
    """The form; what is asked for now, and on which rows it would be judged."""
    with st.container(border=True):
        left, right = st.columns([6, 5], gap="large")
        with left:
            contenders = contender_picker(_KEY)
            repeats = st.slider(
                "Runs of each",
                1,
                50,
                value=10,
                key=f"{_KEY}:repeats",
                persist_state="session",
                help="One run says little: noise makes each run different. Medians and quartiles need several.",
            )
        with right:
            epsilon = epsilon_control()
            one, two = st.columns(2)
            with one:
                k = k_control()
            with two:
                delta = delta_control()
        st.caption(f"ε and δ protect {unit_line(table)}.")
        source = judged_rows(table, _KEY, k=k)
        plan = Plan(tuple(contenders), k, (epsilon,), delta, repeats)
        study_button(_KEY, table, source, plan, with_centers=True)
    return plan, source


def compare_study(table: OpenTable, plan: Plan, source: OpenTable | None) -> None:
    """The last study of this page: live while it runs, kept afterwards."""
    study = study_of(_KEY, table)
    if study is None:
        st.info(
            "Choose algorithms and press **Compute**: each runs several times at the same ε, and their centres appear "
            "here on one set of axes, with their scores.",
            title="Nothing to compare yet",
            icon=":material/compare_arrows:",
        )
        return
    study_headline(study, plan, source)
    study_job(study, label=f"Comparison at ε = {study.plan.epsilons[0]:g}", key=_KEY, live=lambda: _pictures(study))


def _pictures(study: Study) -> None:
    st.dataframe(score_table(study), hide_index=True, alt="Scores")


def score_table(study: Study) -> pd.DataFrame:
    """Median and quartiles of every measure, a line an algorithm."""
    frame = tidy(study.rows)
    lines = {measure: summarise(frame, measure).set_index("contender") for measure in MEASURES}
    table = pd.DataFrame({measure: line["median"] for measure, line in lines.items()})
    table["runs"] = lines["ratio"]["runs"]
    return table.reset_index()
