"""What a study's losses are drawn beside: what costs nothing, and what was predicted before any run."""

from __future__ import annotations

from math import sqrt

from dpviz.runs.advice.prediction import predict
from dpviz.ui.studies.study_job import StudyJob


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
        prediction = predict(trial.contender, setting, table.domain.region)
        if prediction is not None and prediction.holds:
            loss = reference.nicv + prediction.excess
            value = {"nicv": loss, "ratio": loss / reference.nicv, "matched_error": sqrt(prediction.excess)}
            curves.setdefault(trial.contender.label, []).append((trial.epsilon, value[measure]))
    return {name: curve for name, curve in curves.items() if len(curve) > 1}
