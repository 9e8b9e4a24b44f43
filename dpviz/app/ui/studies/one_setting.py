"""One algorithm at one ε, out of those of a study: chosen for a closer look here, or to be opened in Explore."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from math import log
from typing import Any, cast

import streamlit as st

from dpviz.app.charts.plot import Plot
from dpviz.app.ui.session import choose
from dpviz.app.ui.studies.study_job import StudyQuestion
from dpviz.runs import Contender, Request, StudyGrid

_WANTED = "open:wanted"


def has_contenders(contenders: Sequence[Contender]) -> bool:
    """Whether there is an algorithm to look at; says so if there is none."""
    if not contenders:
        st.info("Choose at least one algorithm above.", icon=":material/arrow_upward:")
    return bool(contenders)


def ask_contender(key: str, contenders: Sequence[Contender]) -> Contender:
    """Ask for an algorithm."""
    labels = [contender.label for contender in contenders]
    if st.session_state.get(f"{key}:whom") not in labels:
        st.session_state[f"{key}:whom"] = labels[0]
    chosen = st.selectbox("Algorithm", labels, key=f"{key}:whom", persist_state="session")
    return contenders[labels.index(chosen)]


def ask_epsilon(key: str, epsilons: Sequence[float]) -> float:
    """Ask for an ε."""
    if st.session_state.get(f"{key}:epsilon") not in epsilons:
        st.session_state[f"{key}:epsilon"] = min(epsilons, key=lambda epsilon: abs(log(epsilon)))
    if len(epsilons) == 1:
        return epsilons[0]
    chosen = st.select_slider(
        "ε", epsilons, key=f"{key}:epsilon", format_func=lambda value: f"{value:g}", persist_state="session"
    )
    return float(chosen)


def ask_one_setting(question: StudyQuestion, key: str, runs: str, low: int, high: int, usual: int) -> StudyQuestion:
    """Narrow a question to one algorithm at one ε."""
    grid = question.grid
    left, right = st.columns(2, gap="medium")
    with left:
        contender = ask_contender(key, grid.contenders)
    with right:
        epsilon = ask_epsilon(key, grid.epsilons)
    repeats = st.slider(runs, low, high, value=usual, key=f"{key}:repeats", persist_state="session", width=320)
    return question.narrow(key, contenders=(contender,), epsilons=(epsilon,), repeats=int(repeats))


def open_in_explore(request: Request) -> None:
    """Make it the settings of the visit, and turn to Explore; call it from a callback."""
    shared = {"algorithm": request.algorithm, "k": request.k, "epsilon": request.epsilon, "delta": request.delta}
    for name, value in shared.items():
        choose(name, value)
    # Parameters travel as they do in a link: their widgets have defaults of their own.
    st.session_state[_WANTED] = {name: value for name, value in request.query.items() if name not in shared}


def turn_to_explore() -> None:
    """Turn to Explore if a click has asked for it; call it where a page may change, after the callbacks."""
    wanted = cast("dict[str, str] | None", st.session_state.pop(_WANTED, None))
    if wanted is not None:
        st.switch_page("explore.py", query_params=wanted)


def bind_click(plot: Plot, grid: StudyGrid, key: str) -> Any:
    """What a click in a plot of curves does: the algorithm is the curve's name, ε its x."""
    return partial(_open_clicked, [trace.get("name") for trace in plot.traces], grid, key)


def _open_clicked(names: Sequence[str | None], grid: StudyGrid, key: str) -> None:
    chosen = cast("Mapping[str, Any]", st.session_state.get(key) or {})
    for point in (chosen.get("selection") or {}).get("points", ()):
        name = names[int(point["curve_number"])]
        contender = next((contender for contender in grid.contenders if contender.label == name), None)
        if contender is not None:
            # A drawn x may have been rounded on its way; no ε of a study has more than three digits.
            open_in_explore(_make_request(contender, grid, float(f"{float(point['x']):.3g}")))


def draw_opener(grid: StudyGrid, key: str) -> None:
    """Let a setting be opened in Explore from a list, for whoever has no pointer."""
    help = "Or click a point: its algorithm, ε, k and δ open in Explore."
    with st.popover("Open a setting in Explore", icon=":material/travel_explore:", help=help):
        contender, epsilon = ask_contender(f"{key}:open", grid.contenders), ask_epsilon(f"{key}:open", grid.epsilons)
        st.button(
            "Open in Explore",
            icon=":material/arrow_forward:",
            key=f"{key}:open",
            on_click=open_in_explore,
            args=(_make_request(contender, grid, epsilon),),
        )


def _make_request(contender: Contender, grid: StudyGrid, epsilon: float) -> Request:
    return Request(contender, grid.ks[0], epsilon, grid.deltas[0])
