"""The frontier on a page: loss against ε of every algorithm, the best at each ε, and what a point stands for."""

from __future__ import annotations

from math import sqrt

import streamlit as st

from dpviz.charts.studies.tradeoff import describe_tradeoff, draw_tradeoff, frontier_table
from dpviz.charts.theme import palette
from dpviz.runs.advice.prediction import predict
from dpviz.runs.request import Contender, Request
from dpviz.runs.study.study import tidy
from dpviz.ui.explore.step_pictures import data_table
from dpviz.ui.studies.study_panel import Study, measure_choice, study_download
from dpviz.ui.tradeoff.open_setting import go_where_asked, on_click, opener
from dpviz.ui.wide_figure import show_wide

_DASHED = (
    "What Su et al. 2016 predict from n, k, d and ε alone, on top of the loss of k-means++: the noise of a round of "
    "Lloyd (Eq. 7), or the noise of a grid (Eq. 9) plus the most that its cells can be off (Eq. 10). "
    "It holds if clusters are of like size. Drawn only where centres stay apart, and where n is public."
)


def frontier(study: Study, key: str) -> None:
    """The figure, the numbers behind it, and files of all runs."""
    go_where_asked()
    frame = tidy(study.rows)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        measure = measure_choice(frame, key, without=("seconds",))
        dashed = st.toggle("Predictions", value=True, key=f"{key}:dashed", persist_state="session", help=_DASHED)
    made = draw_tradeoff(
        frame,
        measure,
        palette=palette(st.context.theme.type),
        baselines=baselines_of(study, measure),
        prediction=predictions_of(study, measure) if dashed else None,
        epsilons=study.plan.epsilons,
    )
    shown = f"{key}:figure"
    clicked = on_click(made, study.plan, shown)
    show_wide(made, alt=describe_tradeoff(frame, measure), key=shown, stem=f"trade-off-{measure}", on_click=clicked)
    with st.container(horizontal=True, vertical_alignment="center"):
        opener(study.plan, key)
        st.caption("Or click a point: its algorithm, ε, k and δ open in Explore.")
    behind = st.expander("The numbers behind it", icon=":material/table:", key=f"{key}:table", on_change="rerun")
    if behind.open:
        with behind:
            data_table(frontier_table(frame, measure), alt="Median and quartiles at every ε", height="auto")
    study_download(study, key)


def baselines_of(study: Study, measure: str) -> dict[str, float]:
    """Losses that cost nothing, and k-means++; other measures have no baselines."""
    found = study.yardstick
    if found is None or measure not in ("nicv", "ratio"):
        return {}
    unit = found.reference.nicv if measure == "ratio" else 1.0
    if unit == 0:
        return {}
    return {
        "one centre": found.one_center / unit,
        "centres that saw no row": found.data_independent / unit,
        "k-means++": found.reference.nicv / unit,
    }


def predictions_of(study: Study, measure: str) -> dict[str, list[tuple[float, float]]]:
    """The closed-form curve of each algorithm that has one, where it holds and n is public."""
    reference = study.yardstick.reference if study.yardstick is not None else None
    if reference is None or reference.nicv == 0 or measure not in ("nicv", "ratio", "matched_error"):
        return {}
    curves: dict[str, list[tuple[float, float]]] = {}
    for contender in study.plan.contenders:
        for epsilon in study.plan.epsilons:
            excess = _excess(study, contender, epsilon)
            if excess is not None:
                value = {"nicv": reference.nicv + excess, "ratio": 1 + excess / reference.nicv}
                curves.setdefault(contender.label, []).append((epsilon, value.get(measure, sqrt(excess))))
    return {name: curve for name, curve in curves.items() if len(curve) > 1}


def _excess(study: Study, contender: Contender, epsilon: float) -> float | None:
    table = study.source.private
    setting = Request(contender, study.plan.k, epsilon, study.plan.delta).setting(table)
    found = predict(contender.algorithm, contender.params, setting, table.domain.region)
    return found.excess if found is not None and found.holds else None
