"""The pictures of all kinds of steps. A new one is a function in ``pictures`` and a line here."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from dpviz.algorithms import Step
from dpviz.app.charts.picture import Chart, Companion, RenderContext, find_kind
from dpviz.app.charts.pictures import blocks, centers, columns, drawn_centers, grids, plan, prefixes, tree


class Picture(NamedTuple):
    """What a step of a kind is called in the stepper, how it is drawn, and what can stand beside it."""

    called: str
    draw: Callable[[Any, RenderContext], Chart]
    list_beside: Callable[[Any, Sequence[Step], RenderContext], Iterable[Companion]] = lambda *_: ()


# By name, not by class: a step made before a hot reload is an instance of a class that no longer exists.
_PICTURES = {
    "BlocksStep": Picture("blocks", blocks.draw_blocks),
    "CandidatesStep": Picture("candidates", tree.draw_candidates, tree.list_beside_candidates),
    "CentersStep": Picture("centres", centers.draw_centers, centers.list_beside_centers),
    "CoordinatesStep": Picture("coordinates", columns.draw_coordinates),
    "CoresetStep": Picture("coreset", prefixes.draw_coreset),
    "GridStep": Picture("grid", grids.draw_grid, grids.list_beside_grid),
    "HashTreeStep": Picture("hash tree", prefixes.draw_hash_tree),
    "MedianLawStep": Picture("medians", blocks.draw_median_law),
    "MessageStep": Picture("message", prefixes.draw_message),
    "MixtureStep": Picture("mixture", drawn_centers.draw_mixture),
    "PlanStep": Picture("plan", plan.draw_plan),
    "PolishStep": Picture("round", centers.draw_polish, centers.list_beside_polish),
    "PoolStep": Picture("candidate sets", drawn_centers.draw_pool),
    "ProjectionStep": Picture("first look", columns.draw_projection, columns.list_beside_projection),
    "RangesStep": Picture("boxes", blocks.draw_ranges),
    "ReferenceStep": Picture("k-means++", centers.draw_reference),
    "SeedStep": Picture("seeds", drawn_centers.draw_seeds),
    "ServerTreeStep": Picture("server tree", prefixes.draw_server_tree),
    "SplitStep": Picture("split", centers.draw_split, centers.list_beside_split),
    "StartsStep": Picture("starts", grids.draw_starts, grids.list_beside_starts),
    "SwapStep": Picture("swap", tree.draw_swap, tree.list_beside_swap),
    "SynopsisStep": Picture("grid", grids.draw_synopsis, grids.list_beside_synopsis),
    "TreeStep": Picture("tree level", tree.draw_tree, tree.list_beside_tree),
    "TupleTestStep": Picture("test of tuples", blocks.draw_tuple_test, blocks.list_beside_tuple_test),
    "ZoomStep": Picture("grid", grids.draw_zoom, grids.list_beside_grid),
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
