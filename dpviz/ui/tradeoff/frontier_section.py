"""The frontier on a page: loss against ε of every algorithm, the best at each ε, and what a point stands for."""

from __future__ import annotations

from math import sqrt

import streamlit as st

from dpviz.charts.studies.curves import Curves
from dpviz.runs.advice.prediction import predict
from dpviz.runs.study.study import tidy
from dpviz.ui.studies.one_setting import go_where_asked, opener
from dpviz.ui.studies.study_job import Question, StudyJob
from dpviz.ui.studies.study_panel import (
    Invitation,
    measure_choice,
    show_picture,
    study_download,
    study_half,
)

_INVITATION = Invitation(
    "Trade-off",
    "No trade-off yet",
    "Choose algorithms and press **Compute**: the loss at every ε appears here as it is computed, each ε once before "
    "any comes twice.",
    icon=":material/show_chart:",
)
_DASHED = (
    "What Su et al. 2016 predict from n, k, d and ε alone, on top of the loss of k-means++: the noise of a round of "
    "Lloyd (Eq. 7), or the noise of a grid (Eq. 9) plus the most that its cells can be off (Eq. 10). "
    "It holds if clusters are of like size. Drawn only where centres stay apart, and where n is public."
)


def frontier_section(question: Question) -> None:
    """The figure and the numbers behind it, or an invitation."""
    study_half(question, invitation=_INVITATION, pictures=_frontier)


def _frontier(study: StudyJob) -> None:
    go_where_asked()
    frame, key = tidy(study.rows), study.question.key
    with st.container(horizontal=True, vertical_alignment="bottom"):
        measure = measure_choice(frame, key, without=("seconds",))
        dashed = st.toggle("Predictions", value=True, key=f"{key}:dashed", persist_state="session", help=_DASHED)
    curves = Curves(
        frame,
        measure,
        places=study.grid.epsilons,
        baselines=baselines_of(study, measure),
        predictions=predictions_of(study, measure) if dashed else {},
    )
    show_picture(curves, study, opens=True, beneath=lambda: opener(study.grid, key))
    study_download(study)


def baselines_of(study: StudyJob, measure: str) -> dict[str, float]:
    """Losses that cost nothing, and k-means++; other measures have no baselines."""
    yardstick = study.yardstick
    if yardstick is None or measure not in ("nicv", "ratio"):
        return {}
    unit = yardstick.reference.nicv if measure == "ratio" else 1.0
    if unit == 0:
        return {}
    return {
        "one centre": yardstick.one_center / unit,
        "centres that saw no row": yardstick.data_independent / unit,
        "k-means++": yardstick.reference.nicv / unit,
    }


def predictions_of(study: StudyJob, measure: str) -> dict[str, list[tuple[float, float]]]:
    """The closed-form curve of each algorithm that has one, where it holds and n is public."""
    reference = study.yardstick.reference if study.yardstick is not None else None
    if reference is None or reference.nicv == 0 or measure not in ("nicv", "ratio", "matched_error"):
        return {}
    table, curves = study.source.private, dict[str, list[tuple[float, float]]]()
    for trial in (trial for trial in study.grid.trials() if trial.repeat == 0):
        setting = study.grid.at(trial).setting(table)
        prediction = predict(trial.contender.algorithm, trial.contender.params, setting, table.domain.region)
        if prediction is not None and prediction.holds:
            excess = prediction.excess
            value = {
                "nicv": reference.nicv + excess,
                "ratio": 1 + excess / reference.nicv,
                "matched_error": sqrt(excess),
            }
            curves.setdefault(trial.contender.label, []).append((trial.epsilon, value[measure]))
    return {name: curve for name, curve in curves.items() if len(curve) > 1}
