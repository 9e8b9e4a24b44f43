"""The pictures of all kinds of steps. A new one is a function in ``pictures`` and a line here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from dpviz.algorithms import Step
from dpviz.app.charts.picture import Chart, Companion, RenderContext, find_kind
from dpviz.app.charts.pictures import (
    blocks,
    centers,
    coordinates,
    hashes,
    histogram,
    many_starts,
    messages,
    mixture,
    plan,
    pool,
    projection_axes,
    rounds,
    seeds,
    swaps,
    synopsis,
    tree,
    tuple_check,
)


class Picture(NamedTuple):
    """What a step of a kind is called in the stepper, how it is drawn, and what can stand beside it."""

    called: str
    draw: Callable[[Any, RenderContext], Chart]
    list_beside: Callable[[Any, Sequence[Step], RenderContext], Iterable[Companion]] = lambda *_: ()


# By name, not by class: a step made before a hot reload is an instance of a class that no longer exists.
_PICTURES = {
    "BlocksStep": Picture("blocks", blocks.draw_blocks),
    "CandidatesStep": Picture("candidates", swaps.draw_candidates, swaps.list_beside_candidates),
    "CentersStep": Picture("centres", centers.draw_centers, centers.list_beside_centers),
    "CoordinatesStep": Picture("coordinates", coordinates.draw_coordinates),
    "CoresetStep": Picture("coreset", hashes.draw_coreset),
    "GridStep": Picture("grid", histogram.draw_grid, histogram.list_beside_grid),
    "HashTreeStep": Picture("hash tree", hashes.draw_hash_tree),
    "MedianLawStep": Picture("medians", blocks.draw_median_law),
    "MessageStep": Picture("message", messages.draw_message),
    "MixtureStep": Picture("mixture", mixture.draw_mixture),
    "PlanStep": Picture("plan", plan.draw_plan),
    "PolishStep": Picture("round", rounds.draw_polish, rounds.list_beside_polish),
    "PoolStep": Picture("candidate sets", pool.draw_pool),
    "ProjectionStep": Picture("first look", projection_axes.draw_projection, projection_axes.list_beside_projection),
    "RangesStep": Picture("boxes", blocks.draw_ranges),
    "ReferenceStep": Picture("k-means++", centers.draw_reference),
    "SeedStep": Picture("seeds", seeds.draw_seeds),
    "ServerTreeStep": Picture("server tree", messages.draw_server_tree),
    "SplitStep": Picture("split", rounds.draw_split, rounds.list_beside_split),
    "StartsStep": Picture("starts", many_starts.draw_starts, many_starts.list_beside_starts),
    "SwapStep": Picture("swap", swaps.draw_swap, swaps.list_beside_swap),
    "SynopsisStep": Picture("grid", synopsis.draw_synopsis, synopsis.list_beside_synopsis),
    "TreeStep": Picture("tree level", tree.draw_tree, tree.list_beside_tree),
    "TupleTestStep": Picture("test of tuples", tuple_check.draw_tuple_test, tuple_check.list_beside_tuple_test),
    "ZoomStep": Picture("grid", histogram.draw_zoom, histogram.list_beside_grid),
}


def find_picture(step: Step) -> Picture:
    """How steps of this one's kind are shown."""
    name = type(step).__name__
    if name not in _PICTURES:
        raise TypeError(f"no picture for a {name}: write one in charts/pictures, and name it here")
    return _PICTURES[name]


def draw_picture(step: Step, context: RenderContext) -> Chart:
    """The picture of a step: ``draw_picture(step, context).draw()`` is its plot under its title."""
    chart = find_picture(step).draw(step, context)
    return replace(chart, kind=find_kind(step)) if chart.kind == "released" else chart


def list_companions(step: Step, steps: Sequence[Step], context: RenderContext) -> list[Companion]:
    """What can stand beside it, the most telling first; ``steps`` are those of the whole run."""
    return list(find_picture(step).list_beside(step, steps, context))
