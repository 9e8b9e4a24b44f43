"""The form of a study: algorithms, ε, k, δ, how many runs of each, and whose rows losses are judged on."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from dpviz.app.ui.controls import Epsilons, draw_k_and_delta
from dpviz.app.ui.session import recall, remember
from dpviz.app.ui.studies.contender_choice import draw_contender_picker
from dpviz.app.ui.studies.judged_rows import ask_judged_rows
from dpviz.app.ui.studies.study_job import StudyQuestion
from dpviz.app.ui.studies.study_panel import draw_study_button
from dpviz.runs import OpenTable, StudyGrid

MOST_REPEATS = 50


def draw_study_form(
    key: str,
    table: OpenTable,
    *,
    epsilons: Callable[[], Epsilons],
    runs: str,
    usual: int,
    why: str,
    with_centers: bool = False,
) -> StudyQuestion:
    """Draw the form of a study, with its button in the rail.

    Parameters
    ----------
    key : str
        Of the page.
    table : OpenTable
    epsilons : function
        Draws the widget of ε, with a place for the button.
    runs, usual, why : str, int, str
        Label, first value and help of the slider that says how often everything is repeated.
    with_centers : bool
        Whether the runs keep their centres.

    Returns
    -------
    StudyQuestion
        What the form asks for now.
    """
    with st.sidebar:
        picker = st.container()
        at, button = epsilons()
        said = st.container()
        k, delta = draw_k_and_delta()
        name = f"{key}:repeats"
        if name not in st.session_state:
            st.session_state[name] = recall(name, usual)
        repeats = remember(name, int(st.slider(runs, 1, MOST_REPEATS, key=name, help=why)))
        source = ask_judged_rows(table, key, k=k)
        with picker:
            grid = draw_contender_picker(key, source or table, StudyGrid((), (k,), at, (delta,), repeats=repeats))
        question = StudyQuestion(key, table, source, grid)
        with button:
            draw_study_button(question, with_centers=with_centers, said=said)
    return question
