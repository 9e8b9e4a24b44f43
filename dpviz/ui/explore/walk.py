"""A run played on the page: its steps as one film, the numbers beside the title, and a sentence where one is due."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import numpy as np
import streamlit as st

from dpviz.arrays import Array
from dpviz.charts.film import Film, Number
from dpviz.charts.picture import Look
from dpviz.charts.plot import packed
from dpviz.charts.theme import palette
from dpviz.charts.wording import ratio
from dpviz.runs.evaluation import Reference
from dpviz.runs.open_table import OpenTable
from dpviz.runs.request import Request
from dpviz.runs.run import RunSoFar
from dpviz.ui.controls import ROUND_EPSILONS, choose_epsilon
from dpviz.ui.explore.foresight import judged as judged_before
from dpviz.ui.explore.scores import Judged
from dpviz.ui.explore.setup_panel import runs_by_itself
from dpviz.ui.looks import reveal_allowed, revealed_view
from dpviz.ui.plane_choice import plane_choice
from dpviz.ui.player.player import Dial, play
from dpviz.ui.polled import polled
from dpviz.ui.reference import found_or_none
from dpviz.ui.runner import Result, failure, is_under_way, steps_so_far
from dpviz.ui.session import known_clusters, once

_FILM, _KEPT_FILMS = "walk:film", 4
_SO_FAR, _KEPT_SO_FAR = "walk:so_far", 1
_POLL_SECONDS = 1.0


def walk(table: OpenTable, result: Result, now: Request, reference: Reference | None, judged: Judged | None) -> Look:
    """Play ``result``; ``now`` is what the controls ask for, ``judged`` its scores where truth is shown.

    Returns how it is looked at.
    """
    run, look = result.run, _look_back(table, result, reference, judged)
    plane = (look.view.axes, look.view.name)
    given = (result.number, plane, st.context.theme.type, look.reveal is not None, reference is not None)
    film = once(_FILM, given, lambda: packed(Film(run, look).data()), most=_KEPT_FILMS)
    dial = Dial(ROUND_EPSILONS, now.epsilon, choose_epsilon)
    play(film, list(beside_title(table, result, judged)), dial, said=said(table, result, now), key="explore:player")
    return look


def walk_so_far(table: OpenTable, so_far: RunSoFar, reference: Reference | None, *, now: Request) -> None:
    """Play the steps that a run has taken, and, as long as it is under way, those that come."""
    look = replace(_look(table, so_far), reference=reference, reference_coming=False)
    dial = Dial(ROUND_EPSILONS, now.epsilon, choose_epsilon)

    def steps() -> None:
        arrived = steps_so_far() or so_far
        given = (arrived.frames, look.view.name, st.context.theme.type, look.reveal is None)
        film = once(_SO_FAR, given, lambda: packed(Film(arrived, look).data()), most=_KEPT_SO_FAR)
        play(film, list(_spent(arrived)), dial, key="explore:player")

    polled(steps, every=_POLL_SECONDS if is_under_way(table) else None, key="walk:so_far")


def said(table: OpenTable, result: Result, now: Request) -> str:
    """What has to be said above the pictures, if they are not of what the controls ask for; "" if they are."""
    if result.request == now:
        return ""
    of = f"These pictures are of the run before, {result.request.card.title} at ε = {result.run.epsilon:g}"
    broke = failure(table, now)
    if broke:
        return f"{of}: the last run broke off ({broke}). Move a control, or try again."
    refused = judged_before(now, table).refusal
    if refused:
        return f"{of}. {refused}"
    return f"{of}: the next one is under way." if runs_by_itself(table) else f"{of}: press Run to apply the settings."


def _look(table: OpenTable, run: RunSoFar) -> Look:
    """The plane, the colours and, where truth is shown, the rows."""
    with st.sidebar:
        view = plane_choice(run.domain, "explore", centers=run.unit_centers if run.private else None)
    return Look(
        view,
        palette(st.context.theme.type),
        reveal=revealed_view(table, "rows under the pictures of a run", points_per_row=run.points_per_row),
        epsilon=run.epsilon if run.private else None,
    )


def _look_back(table: OpenTable, result: Result, reference: Reference | None, judged: Judged | None) -> Look:
    """The look at a finished run, with what it cost beside it where truth is shown."""
    run = result.run

    def loss(centers: Array) -> float | None:
        return judged.scores.ratio if judged is not None and np.array_equal(centers, run.unit_centers) else None

    look = replace(
        _look(table, run),
        reference=reference,
        reference_coming=reference is None and reveal_allowed(table),
        ratio=None if judged is None else loss,
        ghosts=result.earlier,
    )
    # One to one with k-means++ says something only where k is the number of clusters that are there.
    if reference is None or known_clusters(table) != run.k:
        return look
    return replace(look, found=partial(found_or_none, table, reference=reference, points_per_row=run.points_per_row))


def beside_title(table: OpenTable, result: Result, judged: Judged | None) -> Iterator[Number]:
    """At most three: what was spent, what it cost, and how well known groups are met."""
    yield from _spent(result.run)
    if judged is not None:
        sample = "" if table.private.in_memory else ", in a sample of the rows"
        yield Number("revealed", ratio(judged.scores.ratio), f"the loss of k-means++{sample}")
        if judged.labels is not None:
            yield Number("revealed", judged.labels.percent, judged.labels.of)


def _spent(run: RunSoFar) -> Iterator[Number]:
    if run.private:
        charges = f"{len(run.entries):d} charge{'' if len(run.entries) == 1 else 's'}"
        # In the digits of the bar below it.
        yield Number("released", f"ε {run.spent_epsilon:.2g}", f"spent in {charges}")
