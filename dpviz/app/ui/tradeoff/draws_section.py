"""Repeated draws on a page: an animation of them beside the cloud of all."""

from __future__ import annotations

from functools import partial

import numpy as np
import streamlit as st

from dpviz.app.charts.animation import TitleNumber
from dpviz.app.charts.picture import RenderContext
from dpviz.app.charts.plot import pack
from dpviz.app.charts.studies.draws import CenterDraws
from dpviz.app.ui.data_access import reveal_view
from dpviz.app.ui.figure import show_wide
from dpviz.app.ui.plane_choice import ask_plane
from dpviz.app.ui.player.player import play
from dpviz.app.ui.reference import find_recovery
from dpviz.app.ui.session import find_known_clusters, make_once
from dpviz.app.ui.studies.one_setting import ask_one_setting, has_contenders
from dpviz.app.ui.studies.study_job import StudyJob, StudyQuestion
from dpviz.app.ui.studies.study_panel import Invitation, draw_numbers, draw_study_button, draw_study_half
from dpviz.words import choose_palette, format_ratio

_KEY = "tradeoff:draws"
_INVITATION = Invitation(
    "Draws",
    "How much do draws differ?",
    "Press **Draw again and again**: the same release, drawn again and again.",
    icon=":material/replay:",
    button="Draw again and again",
)


def draw_draws_section(question: StudyQuestion) -> None:
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
    (contender,), (epsilon,) = study.grid.contenders, study.grid.epsilons
    spends = epsilon if contender.card.private else None
    context = RenderContext(view, choose_palette(st.context.theme.type), rows, reference, found=found, epsilon=spends)
    centers = np.stack([row["centers"] for row in study.rows])
    draws = CenterDraws(centers, np.array([row["ratio"] for row in study.rows]), context)
    if study.running:
        _draw_cloud(draws)
        return
    _play(study, draws)
    if reference is not None:
        draw_numbers(draws, study)


def _play(study: StudyJob, draws: CenterDraws) -> None:
    """The draws in the player that runs are played in."""
    context = draws.context
    shown = (context.view.name, st.context.theme.type, context.reveal is None, context.reference is None)
    given = (study.job, len(draws.centers), *shown)
    animation = make_once(f"{_KEY}:animation", given, lambda: pack(draws.animate().to_data()))
    low, high = (format_ratio(float(end)) for end in (draws.losses.min(), draws.losses.max()))
    losses = TitleNumber("revealed", low if low == high else f"{low} to {high}", "the loss of k-means++")
    play(animation, [losses], None, key=f"{_KEY}:player")


def _draw_cloud(draws: CenterDraws) -> None:
    show_wide(draws.draw(), alt=draws.words(), key=f"{_KEY}:cloud", stem="cloud-of-centres")
