"""The pictures of all kinds of steps. A new one is a file beside the others and a word here."""

from __future__ import annotations

from typing import Any

import plotly.graph_objects as go

from dpviz.algorithms.steps import Step
from dpviz.charts.picture import Look, Picture
from dpviz.charts.pictures import (
    blocks,
    centers,
    coordinates,
    hashes,
    histogram,
    look,
    many_starts,
    messages,
    mixture,
    plan,
    pool,
    rounds,
    seeds,
    swaps,
    synopsis,
    tree,
    tuple_test,
)
from dpviz.charts.theme import palette
from dpviz.charts.view import view_of
from dpviz.check import RequestError
from dpviz.runs.run import Run

_MODULES = (
    *(centers, histogram, many_starts, tree, swaps, coordinates),
    *(plan, look, synopsis, rounds),
    *(blocks, pool, seeds),
    *(hashes, messages),
    *(tuple_test, mixture),
)

# By name, not by class: a step made before a hot reload is an instance of a class that no longer exists.
_PICTURES: dict[str, type[Picture[Any]]] = {
    f"{name.removesuffix('Picture')}Step": thing
    for module in _MODULES
    for name, thing in vars(module).items()
    if name.endswith("Picture") and name != "Picture"
}


def picture_of(step: Step) -> Picture[Any]:
    """The picture of a step: ``picture_of(step).draw(look)`` is its figure.

    Raises
    ------
    TypeError
        If there is none for that kind of step: a defect of ours.
    """
    name = type(step).__name__
    if name not in _PICTURES:
        raise TypeError(f"no picture for a {name}: write one in charts/pictures, and name it here")
    return _PICTURES[name](step)


def show(run: Run, step: int = -1) -> go.Figure:
    """The picture of a step of ``run``, its last by default; a notebook displays it.

    Raises
    ------
    RequestError
        If the run has no such step.
    """
    if not -len(run.frames) <= step < len(run.frames):
        raise RequestError(f"step is {step}: give a number from 0 to {len(run.frames) - 1}, or -1 for the last.")
    look = Look(view_of(run.domain), palette("light"), epsilon=run.epsilon if run.private else None).through(run)
    figure = picture_of(run.frames[step].step).draw(look)
    return figure.update_layout(paper_bgcolor=look.palette.surface)  # in a dark notebook, too
