"""What is asked of a release, in the rail: algorithm, ε, k and δ, as on the other pages, and a share for segments."""

from __future__ import annotations

from typing import NamedTuple

import streamlit as st

from dpviz.algorithms.card import Guarantee
from dpviz.glossary import explained
from dpviz.release.order import SEGMENTS
from dpviz.runs.request import Contender, Request
from dpviz.ui.controls import epsilon_control, k_delta_row
from dpviz.ui.explore.algorithm_choice import algorithm_choice
from dpviz.ui.explore.setup_panel import params_form
from dpviz.ui.session import remember, remembered

_SHARE = "release:share"
_MOST_PERCENT = 50


class Terms(NamedTuple):
    """One run without a seed, and the share of its ε that says what the segments are."""

    request: Request
    segments: float


def terms_in_rail() -> Terms:
    """Draw the controls; what they ask for."""
    with st.sidebar:
        card = algorithm_choice()
        (epsilon,), _ = epsilon_control()
        k, delta = k_delta_row(delta_disabled=Guarantee.APPROX not in card.guarantees)
        with st.popover("Parameters", icon=":material/tune:", width="stretch"):
            params = params_form(card)
        return Terms(Request(Contender(card.id, params), k, epsilon, delta), _share())


def _share() -> float:
    percent = st.slider(
        "ε for segments, %",
        0,
        _MOST_PERCENT,
        value=remembered(_SHARE, round(100 * SEGMENTS)),
        step=5,
        key=_SHARE,
        help="What part of ε says how large the segments are and what tells them apart. With 0 % nothing is said of "
        f"them but their centres. {explained('budget')}",
    )
    return remember(_SHARE, int(percent)) / 100
