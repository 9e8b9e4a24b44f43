"""Revealed rows as the pictures take them: a subsample to draw, kept so that a rerun does not draw another one."""

from __future__ import annotations

from dpviz.charts.revealed import RevealedView
from dpviz.runs.open_table import OpenTable
from dpviz.ui.looks import judged
from dpviz.ui.session import once

_VIEWS = "revealed:views"


def revealed_view(table: OpenTable, note: str, *, points_per_row: int = 1) -> RevealedView | None:
    """The points that rows of ``table`` stand for, inside the bounds as algorithms see them, if its owner allows it.

    The look is counted under ``note``.
    """
    rows = judged(table, note, points_per_row=points_per_row)
    if rows is None:
        return None
    return once(_VIEWS, (table.key, points_per_row), lambda: RevealedView.of(rows.points, note), most=2)
