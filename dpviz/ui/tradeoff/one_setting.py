"""One algorithm at one ε, out of those that the form of a study names: what a closer look is about."""

from __future__ import annotations

from collections.abc import Sequence
from math import log
from typing import NamedTuple

import streamlit as st

from dpviz.runs.request import Contender


class OneSetting(NamedTuple):
    """What is looked at closely."""

    contender: Contender
    epsilon: float


def has_any(contenders: Sequence[Contender]) -> bool:
    """Whether there is an algorithm to look at; says so if there is none."""
    if not contenders:
        st.info("Choose at least one algorithm above.", icon=":material/arrow_upward:")
    return bool(contenders)


def whom(key: str, contenders: Sequence[Contender]) -> Contender:
    """One of the algorithms chosen above."""
    labels = [each.label for each in contenders]
    if st.session_state.get(f"{key}:whom") not in labels:
        st.session_state[f"{key}:whom"] = labels[0]
    chosen = st.selectbox("Algorithm", labels, key=f"{key}:whom", persist_state="session")
    return next(each for each in contenders if each.label == chosen)


def at_epsilon(key: str, epsilons: Sequence[float]) -> float:
    """One ε of the range above; at first the one nearest to 1."""
    if st.session_state.get(f"{key}:epsilon") not in epsilons:
        st.session_state[f"{key}:epsilon"] = min(epsilons, key=lambda each: abs(log(each)))
    if len(epsilons) == 1:
        return epsilons[0]
    chosen = st.select_slider(
        "ε", epsilons, key=f"{key}:epsilon", format_func=lambda value: f"{value:g}", persist_state="session"
    )
    return float(chosen)


def one_setting(key: str, contenders: Sequence[Contender], epsilons: Sequence[float]) -> OneSetting:
    """Both, side by side."""
    left, right = st.columns(2, gap="medium")
    with left:
        contender = whom(key, contenders)
    with right:
        return OneSetting(contender, at_epsilon(key, epsilons))
