"""How good a run is, judged on revealed rows: its loss beside that of k-means++, and how well known groups are met."""

from __future__ import annotations

from math import isnan
from typing import NamedTuple, cast

import numpy as np
import streamlit as st

from dpviz.app.ui.data_access import make_judged_table
from dpviz.app.ui.runner import Result
from dpviz.core import Codes
from dpviz.runs import AccessKind, OpenTable, Run, evaluation
from dpviz.words import format_percent

_SCORES = "result:scores"


class Labels(NamedTuple):
    """How well known groups are met, how many rows are in none, and how well so many centres could meet them."""

    accuracy: float
    unlabelled: int
    ceiling: float = 1.0

    @property
    def percent(self) -> str:
        """The accuracy in words."""
        return "none" if isnan(self.accuracy) else format_percent(self.accuracy)

    @property
    def of(self) -> str:
        """What the accuracy is of, with the most that fewer centres than groups can reach.

        >>> Labels(0.6, 0, 0.7).of, Labels(0.9, 0).of
        ('label accuracy, of at most 70 %', 'label accuracy')
        """
        return "label accuracy" + (f", of at most {format_percent(self.ceiling)}" if self.ceiling < 1 else "")


class Judged(NamedTuple):
    """Scores of one run, kept so that a rerun of the page does not read the rows again."""

    run: Run
    scores: evaluation.Scores
    labels: Labels | None


def read_labels(codes: Codes, assigned: Codes, k: int) -> Labels | None:
    """How well centres meet the groups of labelled rows.

    Each of more centres may lie in a group of its own making: the accuracy then rises with k, and says nothing.

    Parameters
    ----------
    codes : int array of shape (n,)
        The group of each row, from 0; below 0: none.
    assigned : int array of shape (n,)
        The nearest centre of each row.
    k : int
        Clusters.

    Returns
    -------
    Labels or None
        How many rows lie with their group; None with more centres than groups.
    """
    groups = np.unique(codes[codes >= 0]).size
    if k > groups > 0:
        return None
    return Labels(
        evaluation.label_accuracy(codes, assigned), int((codes < 0).sum()), evaluation.label_ceiling(codes, k)
    )


def compute_scores(table: OpenTable, result: Result, reference: evaluation.Reference | None) -> Judged | None:
    """Scores of a run against revealed rows.

    Parameters
    ----------
    table : OpenTable
    result : Result
        A finished run and what was asked.
    reference : Reference or None
        k-means++ on the rows; None: not there yet.

    Returns
    -------
    Judged or None
        None unless the owner allows looks and the reference is there.
    """
    run = result.run
    rows = (
        make_judged_table(table, "loss of a run", AccessKind.LOSS, points_per_row=run.points_per_row)
        if reference
        else None
    )
    if rows is None or reference is None:
        return None
    kept = cast("Judged | None", st.session_state.get(_SCORES))
    if kept is None or kept.run is not run or kept.scores.nicv_kmeans != reference.nicv:
        labels = None
        codes = None if table.labels is None else table.labels[rows.kept]
        if codes is not None:
            labels = read_labels(codes, evaluation.assign(rows.points, run.unit_centers), run.k)
        kept = st.session_state[_SCORES] = Judged(run, evaluation.evaluate(rows, run.unit_centers, reference), labels)
    return kept
