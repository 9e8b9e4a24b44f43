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
from dpviz.ui.controls import ROUND_EPSILONS, choose_epsilon
from dpviz.ui.explore.scores import Judged
from dpviz.ui.explore.setup_panel import runs_by_itself
from dpviz.ui.looks import reveal_allowed, revealed_view
from dpviz.ui.plane_choice import plane_choice
from dpviz.ui.player.player import Dial, play
from dpviz.ui.reference import found_or_none
from dpviz.ui.runner import Result, failure
from dpviz.ui.session import known_clusters, once

_FILM, _KEPT_FILMS = "walk:film", 4


def walk(table: OpenTable, result: Result, now: Request, reference: Reference | None, judged: Judged | None) -> Look:
    """Play ``result``; ``now`` is what the controls ask for, ``judged`` its scores where truth is shown.

    Returns how it is looked at.
    """
    run, look = result.run, _look(table, result, reference, judged)
    plane = (look.view.axes, look.view.name)
    given = (result.number, plane, st.context.theme.type, look.reveal is not None, reference is not None)
    film = once(_FILM, given, lambda: packed(Film(run, look).data()), most=_KEPT_FILMS)
    dial = Dial(ROUND_EPSILONS, now.epsilon, choose_epsilon)
    play(film, list(beside_title(result, judged)), dial, said=said(table, result, now), key="explore:player")
    return look


def said(table: OpenTable, result: Result, now: Request) -> str:
    """What has to be said above the pictures, if they are not of what the controls ask for; "" if they are."""
    if result.request == now:
        return ""
    of = f"These pictures are of the run before, {result.request.card.title} at ε = {result.run.epsilon:g}"
    broke = failure(table, now)
    if broke:
        return f"{of}: the last run broke off ({broke}). Move a control, or try again."
    refused = now.prospect(table.private).refusal
    if refused:
        return f"{of}. {refused}"
    return f"{of}: the next one is under way." if runs_by_itself(table) else f"{of}: press Run to apply the settings."


def _look(table: OpenTable, result: Result, reference: Reference | None, judged: Judged | None) -> Look:
    run = result.run

    def loss(centers: Array) -> float | None:
        return judged.scores.ratio if judged is not None and np.array_equal(centers, run.unit_centers) else None

    with st.sidebar:
        view = plane_choice(run.domain, "explore", centers=run.unit_centers if run.private else None)
    per_row = run.points_per_row
    look = Look(
        view,
        palette(st.context.theme.type),
        reveal=revealed_view(table, "rows under the pictures of a run", points_per_row=per_row),
        reference=reference,
        epsilon=run.epsilon if run.private else None,
        reference_coming=reference is None and reveal_allowed(table),
        ratio=None if judged is None else loss,
        ghosts=result.earlier,
    )
    # One to one with k-means++ says something only where k is the number of clusters that are there.
    if reference is None or known_clusters(table) != run.k:
        return look
    return replace(look, found=partial(found_or_none, table, reference=reference, points_per_row=per_row))


def beside_title(result: Result, judged: Judged | None) -> Iterator[Number]:
    """At most three: what was spent, what it cost, and how well known groups are met."""
    run = result.run
    if run.private:
        charges = f"{len(run.entries):d} charge{'' if len(run.entries) == 1 else 's'}"
        yield Number("released", f"ε {run.spent_epsilon:.3g}", f"spent in {charges}")
    if judged is not None:
        yield Number("revealed", ratio(judged.scores.ratio), "the loss of k-means++")
        if judged.labels is not None:
            yield Number("revealed", judged.labels.percent, "label accuracy")
