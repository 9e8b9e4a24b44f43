"""Repeated draws on a page: one after the other, at the reader's pace, beside the cloud of all of them."""

from __future__ import annotations

from functools import cache, partial
from typing import Any

import numpy as np
import streamlit as st
from streamlit.components import v2

from dpviz.charts.pictures.draw import draw
from dpviz.charts.studies.draws import Draws
from dpviz.charts.theme import palette
from dpviz.charts.wording import ratio
from dpviz.ui.explore.frames import step_player
from dpviz.ui.explore.step_pictures import Looking, show
from dpviz.ui.plane_choice import plane_choice
from dpviz.ui.reference import found_or_none
from dpviz.ui.revealed_rows import revealed_view
from dpviz.ui.studies.one_setting import has_any, one_setting
from dpviz.ui.studies.study_job import Question, StudyJob
from dpviz.ui.studies.study_panel import Invitation, numbers_behind, study_button, study_half

_KEY = "tradeoff:draws"
_SECONDS_A_DRAW = 1.0
_INVITATION = Invitation(
    "Draws",
    "No draws yet",
    "Press **Compute**: the same release is drawn again and again. Step through the draws or let them play, beside a "
    "cloud of where centres fall.",
    icon=":material/replay:",
)
# The browser answers only where the answer has changed: every answer runs the page again.
_ASK = """
export default function ({ data, setStateValue }) {
  const less = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
  if (less !== data.known) setStateValue("less", less);
}
"""
_MOTION = "motion:asked"


def draws_section(question: Question) -> None:
    """One algorithm at one ε, drawn many times."""
    if not has_any(question.grid.contenders):
        return
    with st.container(border=True):
        one = one_setting(question, _KEY, "Draws", 5, 100, 30)
        study_button(one, with_centers=True)
    # Asked here, where it stays on the page: an answer to a panel that has gone by then would be lost.
    still = wants_less_motion()
    study_half(one, invitation=_INVITATION, pictures=lambda study: _pictures(study, still=still))


def wants_less_motion() -> bool:
    """Whether the reader has asked the system for less motion; at first, before the browser has answered, not."""
    known = bool((st.session_state.get(_MOTION) or {}).get("less", False))
    # The answer stands in the state already: nothing is left to do when it comes.
    answer = _motion()(
        data={"known": known}, key=_MOTION, default={"less": known}, on_less_change=lambda: None, height=1
    )
    return bool(answer.less)


@cache
def _motion() -> Any:
    return v2.component("dpviz_motion", js=_ASK)


def _pictures(study: StudyJob, *, still: bool) -> None:
    reference = study.yardstick.reference if study.yardstick is not None else None
    view = plane_choice(study.source.domain, _KEY)
    rows = revealed_view(study.source, "rows under repeated draws")
    centers = np.stack([row["centers"] for row in study.rows])
    draws = Draws(centers, np.array([row["ratio"] for row in study.rows]), view, reference, rows)
    found = None if reference is None else partial(found_or_none, study.source, reference=reference)
    looking = Looking(view, palette(st.context.theme.type), rows, reference, found=found)
    if study.running:
        _cloud(draws, looking)
        return
    _player(draws, looking, still=still)
    if reference is not None:
        numbers_behind(draws, study)


def _player(draws: Draws, looking: Looking, *, still: bool) -> None:
    """Nothing moves until Play is pressed; for whoever has asked for less motion there is no such button.

    Another number of draws is another walk.
    """
    number = len(draws.centers)
    key = f"{_KEY}:{number}"
    if still:
        st.session_state[f"{key}:playing"] = False
    playing = bool(st.session_state.get(f"{key}:playing"))

    # A decorator inside the function, because only a panel that plays may poll.
    @st.fragment(run_every=_SECONDS_A_DRAW if playing else None, key=f"{key}:panel")
    def panel() -> None:
        if bool(st.session_state.get(f"{key}:playing")) != playing:
            st.rerun()
        place = step_player(key, number, label="Draw", help="Each draw is one possible release.", still=still)
        if still:
            st.caption("Your system asks for less motion: step through the draws by hand.")
        left, right = st.columns(2, gap="medium")
        with left:
            _one(draws, place, looking)
        with right:
            _cloud(draws, looking)

    panel()


def _one(draws: Draws, place: int, looking: Looking) -> None:
    made = draw(
        draws.step(place),
        view=looking.view,
        palette=looking.palette,
        reference=looking.reference,
        found=looking.found(draws.centers[place]) if looking.found is not None else None,
        reveal=looking.reveal,
    )
    loss = ratio(float(draws.losses[place]))
    show(made, alt=f"Draw {place + 1}: {loss} the loss of k-means++", key=f"{_KEY}:one", stem="one-draw")


def _cloud(draws: Draws, looking: Looking) -> None:
    made = draws.draw(looking.palette)
    show(made, alt=draws.words(), key=f"{_KEY}:cloud", stem="cloud-of-centres")
