"""A run in a notebook: the picture of one of its steps."""

from __future__ import annotations

import plotly.graph_objects as go

from dpviz.charts.picture import Look
from dpviz.charts.registry import picture_of
from dpviz.charts.theme import palette
from dpviz.charts.view import view_of
from dpviz.check import RequestError
from dpviz.runs.run import Run


def show(run: Run, step: int = -1) -> go.Figure:
    """The picture of a step of ``run``, its last by default; a notebook displays it.

    Raises
    ------
    RequestError
        If the run has no such step.
    """
    if not -len(run.frames) <= step < len(run.frames):
        raise RequestError(f"step is {step}: give a number from 0 to {len(run.frames) - 1}, or -1 for the last.")
    look = Look(view_of(run.domain), palette("light"), epsilon=run.epsilon if run.private else None)
    figure = picture_of(run.frames[step].step).draw(look)
    return figure.update_layout(paper_bgcolor=look.palette.surface)  # in a dark notebook, too
