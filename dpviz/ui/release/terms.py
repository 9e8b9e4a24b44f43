"""What is asked of a release, in the rail: algorithm, ε, k and δ, as on the other pages, and a share for segments."""

from __future__ import annotations

from typing import NamedTuple

import streamlit as st

from dpviz.algorithms.card import Guarantee
from dpviz.glossary import explained
from dpviz.release.order import BOUNDS, SEGMENTS
from dpviz.runs.request import Contender, Request
from dpviz.ui.controls import epsilon_control, k_delta_row
from dpviz.ui.explore.algorithm_choice import algorithm_choice
from dpviz.ui.explore.setup_panel import params_form
from dpviz.ui.session import remember, remembered

_SHARE, _BOUNDS, _MISSING = "release:share", "release:bounds", "release:missing"
_MOST_PERCENT, _MOST_OF_BOUNDS = 50, 20


class Terms(NamedTuple):
    """One run without a seed, the share of ε for segments, the part of each open bound, and that of missing cells."""

    request: Request
    segments: float
    bounds: float
    missing: float


def terms_in_rail(*, buys: bool) -> Terms:
    """Draw the controls; what they ask for. ``buys``: whether some bounds are open."""
    with st.sidebar:
        card = algorithm_choice()
        (epsilon,), _ = epsilon_control()
        k, delta = k_delta_row(delta_disabled=Guarantee.APPROX not in card.guarantees)
        with st.popover("Parameters", icon=":material/tune:", width="stretch"):
            params = params_form(card)
        request = Request(Contender(card.id, params), k, epsilon, delta)
        return Terms(request, _share(), _of_bounds() if buys else BOUNDS, _of_missing())


def _of_bounds() -> float:
    percent = st.slider(
        "ε for each open column, %",
        1,
        _MOST_OF_BOUNDS,
        value=remembered(_BOUNDS, round(100 * BOUNDS)),
        key=_BOUNDS,
        help="What part of ε buys the bounds of a column that are left open. The fewer rows there are, the more it "
        f"takes: too little, and noise hides the range. {explained('bounds')}",
    )
    return remember(_BOUNDS, int(percent)) / 100


def _of_missing() -> float:
    percent = st.slider(
        "ε for missing values, %",
        0,
        _MOST_OF_BOUNDS,
        value=remembered(_MISSING, 0),
        key=_MISSING,
        help="What part of ε, shared by the columns, says how many of their values are missing. With 0 % it is not "
        f"shown. {explained('budget')}",
    )
    return remember(_MISSING, int(percent)) / 100


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
