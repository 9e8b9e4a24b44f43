"""A run played on the page: its steps as one animation, and how good it is, judged on revealed rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from math import isnan
from typing import NamedTuple, cast

import numpy as np
import streamlit as st

from dpviz.app.charts.animation import Animation, TitleNumber
from dpviz.app.charts.picture import RenderContext
from dpviz.app.charts.plot import pack
from dpviz.app.ui.controls import ROUND_EPSILONS, choose_epsilon
from dpviz.app.ui.data_access import is_reveal_allowed, make_judged_table, reveal_view
from dpviz.app.ui.explore.algorithm_choice import foresee_outcome as judged_before
from dpviz.app.ui.explore.setup_panel import is_run_at_once
from dpviz.app.ui.job_panel import poll
from dpviz.app.ui.plane_choice import ask_plane
from dpviz.app.ui.player.player import Dial, play
from dpviz.app.ui.reference import find_recovery
from dpviz.app.ui.runner import Result, find_failure, is_under_way, read_steps
from dpviz.app.ui.session import find_known_clusters, make_once
from dpviz.core import AccessKind, Array, Codes
from dpviz.runs import OpenTable, Request, Run, RunSoFar, evaluation
from dpviz.words import choose_palette, format_percent, format_ratio

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

    ``codes`` (n,), the group of each row, from 0; below 0: none; ``assigned`` (n,), the nearest centre of each row.
    """
    groups = np.unique(codes[codes >= 0]).size
    if k > groups > 0:
        return None
    return Labels(
        evaluation.label_accuracy(codes, assigned), int((codes < 0).sum()), evaluation.label_ceiling(codes, k)
    )


def compute_scores(table: OpenTable, result: Result, reference: evaluation.Reference | None) -> Judged | None:
    """Scores of a run against revealed rows."""
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


_ANIMATION, _KEPT_ANIMATIONS = "walk:animation", 4
_SO_FAR, _KEPT_SO_FAR = "walk:so_far", 1
_POLL_SECONDS = 1.0


def draw_walk(
    table: OpenTable, result: Result, now: Request, reference: evaluation.Reference | None, judged: Judged | None
) -> RenderContext:
    """Play a finished run."""
    run, context = result.run, _make_final_context(table, result, reference, judged)
    plane = (context.view.axes, context.view.name)
    given = (result.number, plane, st.context.theme.type, context.reveal is not None, reference is not None)
    animation = make_once(
        _ANIMATION, given, lambda: pack(Animation.of_run(run, context).to_data()), most=_KEPT_ANIMATIONS
    )
    dial = Dial(ROUND_EPSILONS, now.epsilon, choose_epsilon)
    play(
        animation,
        list(list_numbers(table, result, judged)),
        dial,
        said=_describe_staleness(table, result, now),
        key="explore:player",
    )
    return context


def draw_walk_so_far(
    table: OpenTable, so_far: RunSoFar, reference: evaluation.Reference | None, *, now: Request
) -> None:
    """Play the steps that a run has taken, and, as long as it is under way, those that come."""
    context = replace(_make_context(table, so_far), reference=reference, reference_coming=False)
    dial = Dial(ROUND_EPSILONS, now.epsilon, choose_epsilon)

    def steps() -> None:
        arrived = read_steps() or so_far
        given = (arrived.frames, context.view.name, st.context.theme.type, context.reveal is None)
        animation = make_once(
            _SO_FAR, given, lambda: pack(Animation.of_run(arrived, context).to_data()), most=_KEPT_SO_FAR
        )
        play(animation, list(_list_spending(arrived)), dial, key="explore:player")

    poll(steps, every=_POLL_SECONDS if is_under_way(table) else None, key="walk:so_far")


def _describe_staleness(table: OpenTable, result: Result, now: Request) -> str:
    """What has to be said above the pictures, if they are not of what the controls ask for; "" if they are."""
    if result.request == now:
        return ""
    of = f"These pictures are of the run before, {result.request.card.title} at ε = {result.run.epsilon:g}"
    broke = find_failure(table, now)
    if broke:
        return f"{of}: the last run broke off ({broke}). Move a control, or try again."
    refused = judged_before(now, table).refusal
    if refused:
        return f"{of}. {refused}"
    return f"{of}: the next one is under way." if is_run_at_once(table) else f"{of}: press Run to apply the settings."


def _make_context(table: OpenTable, run: RunSoFar) -> RenderContext:
    """The plane, the colours and, where truth is shown, the rows."""
    with st.sidebar:
        view = ask_plane(run.domain, "explore", centers=run.unit_centers if run.private else None)
    return RenderContext(
        view,
        choose_palette(st.context.theme.type),
        reveal=reveal_view(table, "rows under the pictures of a run", points_per_row=run.points_per_row),
        epsilon=run.epsilon if run.private else None,
    )


def _make_final_context(
    table: OpenTable, result: Result, reference: evaluation.Reference | None, judged: Judged | None
) -> RenderContext:
    """The look at a finished run, with what it cost beside it where truth is shown."""
    run = result.run

    def loss(centers: Array) -> float | None:
        return judged.scores.ratio if judged is not None and np.array_equal(centers, run.unit_centers) else None

    context = replace(
        _make_context(table, run),
        reference=reference,
        reference_coming=reference is None and is_reveal_allowed(table),
        ratio=None if judged is None else loss,
        ghosts=result.earlier,
    )
    # One to one with k-means++ says something only where k is the number of clusters that are there.
    if reference is None or find_known_clusters(table) != run.k:
        return context
    return replace(context, found=partial(find_recovery, table, reference=reference, points_per_row=run.points_per_row))


def list_numbers(table: OpenTable, result: Result, judged: Judged | None) -> Iterator[TitleNumber]:
    """The numbers beside a title: what was spent, what it cost, and how well known groups are met."""
    yield from _list_spending(result.run)
    if judged is not None:
        sample = "" if table.private.in_memory else ", in a sample of the rows"
        yield TitleNumber("revealed", format_ratio(judged.scores.ratio), f"the loss of k-means++{sample}")
        if judged.labels is not None:
            yield TitleNumber("revealed", judged.labels.percent, judged.labels.of)


def _list_spending(run: RunSoFar) -> Iterator[TitleNumber]:
    if run.private:
        charges = f"{len(run.entries):d} charge{'' if len(run.entries) == 1 else 's'}"
        # In the digits of the bar below it.
        yield TitleNumber("released", f"ε {run.spent_epsilon:.2g}", f"spent in {charges}")
