"""How good a run is, judged on revealed rows: its loss beside that of k-means++, and how well known groups are met."""

from __future__ import annotations

from math import isnan
from typing import NamedTuple, cast

import streamlit as st

from dpviz.runs.evaluation import Reference, Scores, assign, evaluate, label_accuracy
from dpviz.runs.open_table import OpenTable
from dpviz.runs.record import LookKind
from dpviz.runs.run import Run
from dpviz.ui.looks import judged
from dpviz.ui.runner import Result

_SCORES = "result:scores"


class Labels(NamedTuple):
    """How well known groups are met, and how many rows are in none."""

    accuracy: float
    unlabelled: int

    @property
    def percent(self) -> str:
        """The accuracy in words."""
        return "none" if isnan(self.accuracy) else f"{100 * self.accuracy:.3g} %"


class Judged(NamedTuple):
    """Scores of one run, kept so that a rerun of the page does not read the rows again."""

    run: Run
    scores: Scores
    labels: Labels | None


def scores_of(table: OpenTable, result: Result, reference: Reference | None) -> Judged | None:
    """Scores of a run against revealed rows, if the owner allows looks and the reference is there."""
    run = result.run
    rows = judged(table, "loss of a run", LookKind.LOSS, points_per_row=run.points_per_row) if reference else None
    if rows is None or reference is None:
        return None
    kept = cast("Judged | None", st.session_state.get(_SCORES))
    if kept is None or kept.run is not run or kept.scores.nicv_kmeans != reference.nicv:
        labels = None
        codes = None if table.labels is None else table.labels[rows.kept]
        if codes is not None:
            accuracy = label_accuracy(codes, assign(rows.points, run.unit_centers))
            labels = Labels(accuracy, int((codes < 0).sum()))
        kept = st.session_state[_SCORES] = Judged(run, evaluate(rows, run.unit_centers, reference), labels)
    return kept
