"""Repeated draws on a page: one after the other, at the reader's pace, beside the cloud of all of them."""

from __future__ import annotations

from functools import partial

import numpy as np
import streamlit as st

from dpviz.charts.picture import Look
from dpviz.charts.registry import picture_of
from dpviz.charts.studies.draws import Draws
from dpviz.charts.theme import palette
from dpviz.glossary import explained
from dpviz.ui.figure import show_wide
from dpviz.ui.looks import revealed_view
from dpviz.ui.plane_choice import plane_choice
from dpviz.ui.reader import wants_less_motion
from dpviz.ui.reference import found_or_none
from dpviz.ui.session import known_clusters
from dpviz.ui.step_player import step_player
from dpviz.ui.studies.one_setting import has_any, one_setting
from dpviz.ui.studies.study_job import Question, StudyJob
from dpviz.ui.studies.study_panel import Invitation, numbers_behind, study_button, study_half

_KEY = "tradeoff:draws"
_INVITATION = Invitation(
    "Draws",
    "How much do draws differ?",
    "Press **Compute**: the same release, drawn again and again.",
    icon=":material/replay:",
)


def draws_section(question: Question) -> None:
    """One algorithm at one ε, drawn many times."""
    if not has_any(question.grid.contenders):
        return
    with st.container(border=True):
        one = one_setting(question, _KEY, "Draws", 5, 100, 30)
        study_button(one, with_centers=True)
    study_half(one, invitation=_INVITATION, pictures=_pictures)


def _pictures(study: StudyJob) -> None:
    reference = study.yardstick.reference if study.yardstick is not None else None
    view = plane_choice(study.source.domain, _KEY)
    rows = revealed_view(study.source, "rows under repeated draws")
    counted = reference is not None and known_clusters(study.source) == study.grid.ks[0]
    found = None if reference is None or not counted else partial(found_or_none, study.source, reference=reference)
    look = Look(view, palette(st.context.theme.type), rows, reference, found=found)
    centers = np.stack([row["centers"] for row in study.rows])
    draws = Draws(centers, np.array([row["ratio"] for row in study.rows]), look)
    if study.running:
        _cloud(draws)
        return
    _player(draws, still=wants_less_motion())
    if reference is not None:
        numbers_behind(draws, study)


def _player(draws: Draws, *, still: bool) -> None:
    """Nothing moves until Play is pressed; for whoever has asked for less motion there is no such button.

    Another number of draws is another walk.
    """

    def show_draw(place: int) -> None:
        if still:
            st.caption("Your system asks for less motion: step through the draws by hand.")
        left, right = st.columns(2, gap="medium")
        with left:
            step = draws.step(place)
            show_wide(picture_of(step).draw(draws.look), alt=step.title, key=f"{_KEY}:one", stem="one-draw")
        with right:
            _cloud(draws)

    number = len(draws.centers)
    step_player(f"{_KEY}:{number}", number, show_draw, label="Draw", help=explained("draw"), still=still)


def _cloud(draws: Draws) -> None:
    show_wide(draws.draw(), alt=draws.words(), key=f"{_KEY}:cloud", stem="cloud-of-centres")
