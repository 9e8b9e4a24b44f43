"""Repeated draws on a page: one after the other, at the reader's pace, beside the cloud of all of them."""

from __future__ import annotations

from functools import partial

import numpy as np
import streamlit as st

from dpviz.charts.picture import Look
from dpviz.charts.studies.draws import Draws, cloud_table, describe_cloud, draw_cloud, draw_one
from dpviz.charts.theme import palette
from dpviz.charts.wording import ratio
from dpviz.runs.open_table import OpenTable
from dpviz.ui.figure import show
from dpviz.ui.plane_choice import plane_choice
from dpviz.ui.reference import found_or_none
from dpviz.ui.revealed_rows import revealed_view
from dpviz.ui.step_player import step_player
from dpviz.ui.studies.behind import numbers_behind
from dpviz.ui.studies.study_panel import Invitation, Plan, Study, study_button, study_half
from dpviz.ui.tradeoff.motion import wants_less_motion
from dpviz.ui.tradeoff.one_setting import has_any, one_setting

_KEY = "tradeoff:draws"
_INVITATION = Invitation(
    "No draws yet",
    "Press **Compute**: the same release is drawn again and again. Step through the draws or let them play, beside a "
    "cloud of where centres fall.",
    icon=":material/replay:",
)


def draws_section(table: OpenTable, plan: Plan, source: OpenTable | None) -> None:
    """One algorithm at one ε, drawn many times."""
    if not has_any(plan.contenders):
        return
    with st.container(border=True):
        contender, epsilon = one_setting(_KEY, plan.contenders, plan.epsilons)
        repeats = st.slider("Draws", 5, 100, value=30, key=f"{_KEY}:repeats", persist_state="session", width=320)
        asked = Plan((contender,), plan.k, (epsilon,), plan.delta, int(repeats))
        study_button(_KEY, table, source, asked, with_centers=True)
    # Asked here, where it stays on the page: an answer to a panel that has gone by then would be lost.
    still = wants_less_motion()
    study_half(
        *(_KEY, table, asked, source),
        invitation=_INVITATION,
        label=lambda study: f"Draws of {study.plan.contenders[0].label}",
        pictures=lambda study: _pictures(study, still=still),
    )


def _pictures(study: Study, *, still: bool) -> None:
    draws = Draws(np.stack([row["centers"] for row in study.rows]), np.array([row["ratio"] for row in study.rows]))
    reference = study.yardstick.reference if study.yardstick is not None else None
    view = plane_choice(study.source.domain, _KEY)
    rows = revealed_view(study.source, "rows under repeated draws")
    found = None if reference is None else partial(found_or_none, study.source, reference=reference)
    look = Look(view, palette(st.context.theme.type), rows, reference, found=found)
    if study.running:
        _cloud(draws, look)
        return
    _player(draws, look, still=still)
    if reference is not None:
        words = "How far centres lie from k-means++ over the draws"
        numbers_behind(cloud_table(draws, reference), study.source, key=_KEY, stem="repeated-draws", alt=words)


def _player(draws: Draws, look: Look, *, still: bool) -> None:
    """Nothing moves until Play is pressed; for whoever has asked for less motion there is no such button."""
    _fit_player(len(draws.centers))

    def show_draw(place: int) -> None:
        if still:
            st.caption("Your system asks for less motion: step through the draws by hand.")
        left, right = st.columns(2, gap="medium")
        with left:
            _one(draws, place, look)
        with right:
            _cloud(draws, look)

    words = "Each draw is one possible release."
    step_player(_KEY, len(draws.centers), show_draw, label="Draw", help=words, still=still)


def _fit_player(draws: int) -> None:
    """Another number of draws starts another walk."""
    if st.session_state.get(f"{_KEY}:draws", draws) != draws:
        for name in ("at", "slider"):
            st.session_state.pop(f"{_KEY}:{name}", None)
    st.session_state[f"{_KEY}:draws"] = draws


def _one(draws: Draws, place: int, look: Look) -> None:
    made = draw_one(
        *(draws, place),
        view=look.view,
        palette=look.palette,
        reference=look.reference,
        found=look.found(draws.centers[place]) if look.found is not None else None,
        reveal=look.reveal,
    )
    loss = ratio(float(draws.losses[place]))
    show(made, alt=f"Draw {place + 1}: {loss} the loss of k-means++", key=f"{_KEY}:one", stem="one-draw")


def _cloud(draws: Draws, look: Look) -> None:
    made = draw_cloud(draws, view=look.view, palette=look.palette, reference=look.reference, reveal=look.reveal)
    show(made, alt=describe_cloud(draws, look.reference), key=f"{_KEY}:cloud", stem="cloud-of-centres")
