"""Repeated draws on a page: one after the other, at the reader's pace, beside the cloud of all of them."""

from __future__ import annotations

from functools import partial

import numpy as np
import streamlit as st

from dpviz.charts.picture import RenderContext
from dpviz.charts.registry import find_picture
from dpviz.charts.studies.draws import Draws
from dpviz.charts.theme import choose_palette
from dpviz.glossary import explain_term
from dpviz.ui.data_access import reveal_view
from dpviz.ui.figure import show_wide
from dpviz.ui.plane_choice import ask_plane
from dpviz.ui.reader import wants_less_motion
from dpviz.ui.reference import find_recovery
from dpviz.ui.session import find_known_clusters
from dpviz.ui.step_player import draw_step_player
from dpviz.ui.studies.one_setting import ask_one_setting, has_contenders
from dpviz.ui.studies.study_job import Question, StudyJob
from dpviz.ui.studies.study_panel import Invitation, draw_numbers, draw_study_button, draw_study_half

_KEY = "tradeoff:draws"
_INVITATION = Invitation(
    "Draws",
    "How much do draws differ?",
    "Press **Draw again and again**: the same release, drawn again and again.",
    icon=":material/replay:",
    button="Draw again and again",
)


def draw_draws_section(question: Question) -> None:
    """One algorithm at one ε, drawn many times."""
    if not has_contenders(question.grid.contenders):
        return
    with st.container(border=True):
        one = ask_one_setting(question, _KEY, "Draws", 5, 100, 30)
        draw_study_button(one, invitation=_INVITATION, with_centers=True)
    draw_study_half(one, invitation=_INVITATION, pictures=_draw_pictures)


def _draw_pictures(study: StudyJob) -> None:
    reference = study.yardstick.reference if study.yardstick is not None else None
    view = ask_plane(study.source.domain, _KEY)
    rows = reveal_view(study.source, "rows under repeated draws")
    counted = reference is not None and find_known_clusters(study.source) == study.grid.ks[0]
    found = None if reference is None or not counted else partial(find_recovery, study.source, reference=reference)
    context = RenderContext(view, choose_palette(st.context.theme.type), rows, reference, found=found)
    centers = np.stack([row["centers"] for row in study.rows])
    draws = Draws(centers, np.array([row["ratio"] for row in study.rows]), context)
    if study.running:
        _draw_cloud(draws)
        return
    _draw_player(draws, still=wants_less_motion())
    if reference is not None:
        draw_numbers(draws, study)


def _draw_player(draws: Draws, *, still: bool) -> None:
    """Nothing moves until Play is pressed; for whoever has asked for less motion there is no such button.

    Another number of draws is another walk.
    """

    def show_draw(place: int) -> None:
        if still:
            st.caption("Your system asks for less motion: step through the draws by hand.")
        left, right = st.columns(2, gap="medium")
        with left:
            step = draws.step(place)
            show_wide(find_picture(step).draw(draws.context), alt=step.title, key=f"{_KEY}:one", stem="one-draw")
        with right:
            _draw_cloud(draws)

    number = len(draws.centers)
    draw_step_player(f"{_KEY}:{number}", number, show_draw, label="Draw", help=explain_term("draw"), still=still)


def _draw_cloud(draws: Draws) -> None:
    show_wide(draws.draw(), alt=draws.words(), key=f"{_KEY}:cloud", stem="cloud-of-centres")
