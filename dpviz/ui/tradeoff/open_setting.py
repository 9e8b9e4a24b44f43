"""From a point of a study to the same settings on the Explore page: by a click in a figure, or by a list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, cast

import plotly.graph_objects as go
import streamlit as st

from dpviz.runs.request import Contender
from dpviz.ui.session import choose
from dpviz.ui.studies.study_panel import Plan

_WANTED = "open:wanted"


def go_where_asked() -> None:
    """Turn to Explore if a click has asked for it; call it where a page may change, after the callbacks."""
    wanted = cast("dict[str, str] | None", st.session_state.pop(_WANTED, None))
    if wanted is not None:
        st.switch_page("explore.py", query_params=wanted)


def ask_for(contender: Contender, *, k: int, epsilon: float, delta: float) -> None:
    """Make these the settings of the visit and of Explore's form; call it from a callback."""
    shared = {"algorithm": contender.algorithm, "k": k, "epsilon": epsilon, "delta": delta}
    for name, value in shared.items():
        choose(name, value)
    # Parameters travel as they do in a link: their widgets have defaults of their own.
    st.session_state[_WANTED] = {f"{contender.algorithm}.{name}": str(v) for name, v in contender.params.items()}


def on_click(figure: go.Figure, plan: Plan, key: str) -> Any:
    """What a click in ``figure``, shown under ``key``, does: the algorithm is the curve's name, ε its x."""
    return partial(_clicked, [trace.name for trace in figure.data], plan, key)


def _clicked(names: Sequence[str | None], plan: Plan, key: str) -> None:
    chosen = cast("Mapping[str, Any]", st.session_state.get(key) or {})
    for point in (chosen.get("selection") or {}).get("points", ()):
        name = names[int(point["curve_number"])]
        contender = next((each for each in plan.contenders if each.label == name), None)
        if contender is not None:
            # A drawn x may have been rounded on its way; no ε of a study has more than three digits.
            ask_for(contender, k=plan.k, epsilon=float(f"{float(point['x']):.3g}"), delta=plan.delta)


def opener(plan: Plan, key: str) -> None:
    """The same by a list, for whoever has no pointer."""
    with st.popover("Open a setting in Explore", icon=":material/travel_explore:"):
        label = st.selectbox("Algorithm", [each.label for each in plan.contenders], key=f"{key}:open_whom")
        epsilon = st.selectbox("ε", plan.epsilons, key=f"{key}:open_epsilon", format_func=lambda value: f"{value:g}")
        contender = next(each for each in plan.contenders if each.label == label)
        st.button(
            "Open in Explore",
            icon=":material/arrow_forward:",
            key=f"{key}:open",
            on_click=partial(ask_for, contender, k=plan.k, epsilon=float(epsilon), delta=plan.delta),
        )
