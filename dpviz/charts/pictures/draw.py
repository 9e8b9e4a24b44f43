"""One entry for every step of every algorithm: its figure, the table behind it, and its words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import pandas as pd
import plotly.graph_objects as go

from dpviz.algorithms.steps import Step
from dpviz.charts.pictures.blocks import (
    blocks_table,
    describe_blocks,
    describe_ranges,
    draw_blocks,
    draw_ranges,
    ranges_table,
)
from dpviz.charts.pictures.candidates import candidates_table, describe_candidates, draw_candidates, space_view
from dpviz.charts.pictures.centers import centers_table, describe_centers, draw_centers
from dpviz.charts.pictures.coordinates import coordinates_table, describe_coordinates, draw_coordinates
from dpviz.charts.pictures.coreset import coreset_table, describe_coreset, draw_coreset
from dpviz.charts.pictures.grid import describe_grid, draw_grid, grid_table
from dpviz.charts.pictures.hash_tree import describe_hash_tree, draw_hash_tree, hash_tree_table
from dpviz.charts.pictures.look import describe_look, draw_look, look_table
from dpviz.charts.pictures.median_law import describe_median_law, draw_median_law, median_law_table
from dpviz.charts.pictures.messages import (
    describe_message,
    describe_server,
    draw_message,
    draw_server,
    message_table,
    server_table,
)
from dpviz.charts.pictures.mixture import describe_mixture, draw_mixture, mixture_table
from dpviz.charts.pictures.plan import describe_plan, draw_plan, plan_table
from dpviz.charts.pictures.polish import describe_polish, draw_polish, polish_table
from dpviz.charts.pictures.pool import describe_pool, draw_pool, pool_table
from dpviz.charts.pictures.reference import describe_reference, draw_reference_step, reference_table
from dpviz.charts.pictures.seeds import describe_seed, draw_seed, seed_table
from dpviz.charts.pictures.split import describe_split, draw_split, split_table
from dpviz.charts.pictures.starts import describe_starts, draw_starts, starts_table
from dpviz.charts.pictures.swaps import describe_swap, draw_swap, swap_table
from dpviz.charts.pictures.synopsis import describe_synopsis, draw_synopsis, synopsis_table, synopsis_view
from dpviz.charts.pictures.tree import describe_tree, draw_tree, tree_table, tree_view
from dpviz.charts.pictures.tuple_test import describe_tuple_test, draw_tuple_test, tuple_test_table
from dpviz.charts.pictures.zoom import describe_zoom, draw_zoom
from dpviz.charts.revealed import RevealedView
from dpviz.charts.theme import Palette
from dpviz.charts.view import View
from dpviz.runs.evaluation import Reference
from dpviz.runs.found import Found
from dpviz.table.domain import Domain

__all__ = ["RevealedView", "describe", "draw", "shown_view", "table_of"]


def draw(
    step: Step,
    *,
    view: View,
    palette: Palette,
    reveal: RevealedView | None = None,
    reference: Reference | None = None,
    found: Found | None = None,
    epsilon: float | None = None,
) -> go.Figure:
    """The figure of ``step``.

    Parameters
    ----------
    view : View
        The plane; steps that a slanted plane cannot show (boxes, projected spaces) take the nearest one that can.
    reveal : RevealedView or None
        The owner's rows, drawn in orange only when they are handed over.
    reference : Reference or None
        k-means++, drawn as open diamonds beside released centres.
    found : Found or None
        How many clusters of the reference the centres of this step find, for the title.
    epsilon : float or None
        What the run was allowed to spend, for the title.
    """
    look = _Look(view, palette, reveal, reference, found, epsilon)
    made: go.Figure = _artist(step).draw(step, look)
    return made


def table_of(step: Step, *, domain: Domain) -> pd.DataFrame:
    """The table behind the figure, in data units where the step has them."""
    table: pd.DataFrame = _artist(step).table(step, domain)
    return table


def describe(step: Step, *, domain: Domain) -> str:
    """Alternative text: what the figure shows, computed from released values only."""
    return _artist(step).words(step, domain)


def shown_view(step: Step, view: View) -> View:
    """The view that ``draw`` takes for ``step``: its axes and ranges are those of the figure."""
    match type(step).__name__:
        case "GridStep" | "RangesStep" | "ZoomStep":
            return view.boxes()
        case "SynopsisStep":
            return synopsis_view(_any(step), view)
        case "TreeStep":
            return tree_view(_any(step), view)
        case "CandidatesStep" | "SwapStep":
            return space_view(view, _any(step).region, projected=_any(step).frame is not None)
    return view


class _Look(NamedTuple):
    view: View
    palette: Palette
    reveal: RevealedView | None
    reference: Reference | None
    found: Found | None
    epsilon: float | None

    @property
    def plane(self) -> dict[str, Any]:
        return {"view": self.view, "palette": self.palette, "reveal": self.reveal}

    @property
    def judged(self) -> dict[str, Any]:
        return {"reference": self.reference, "found": self.found, "epsilon": self.epsilon}


class _Artist(NamedTuple):
    """How one kind of step becomes a figure, a table and words."""

    draw: Callable[[Any, _Look], go.Figure]
    table: Callable[[Any, Domain], pd.DataFrame]
    words: Callable[[Any, Domain], str]


# By name, not by class: a step made before a hot reload is an instance of a class that no longer exists.
_ARTISTS = {
    "CentersStep": _Artist(
        lambda step, look: draw_centers(step, **look.plane, **look.judged),
        lambda step, domain: centers_table(step, domain=domain),
        lambda step, domain: describe_centers(step, domain=domain),
    ),
    "GridStep": _Artist(
        lambda step, look: draw_grid(step, **look.plane),
        lambda step, domain: grid_table(step, domain=domain),
        lambda step, domain: describe_grid(step, domain=domain),
    ),
    "PlanStep": _Artist(
        lambda step, look: draw_plan(step, palette=look.palette),
        lambda step, domain: plan_table(step),
        lambda step, domain: describe_plan(step),
    ),
    "ZoomStep": _Artist(
        lambda step, look: draw_zoom(step, **look.plane),
        lambda step, domain: grid_table(step, domain=domain),
        lambda step, domain: describe_zoom(step, domain=domain),
    ),
    "LookStep": _Artist(
        lambda step, look: draw_look(step, palette=look.palette, domain=look.view.domain, reveal=look.reveal),
        lambda step, domain: look_table(step, domain=domain),
        lambda step, domain: describe_look(step, domain=domain),
    ),
    "SynopsisStep": _Artist(
        lambda step, look: draw_synopsis(step, **look.plane),
        lambda step, domain: synopsis_table(step, domain=domain),
        lambda step, domain: describe_synopsis(step, domain=domain),
    ),
    "PolishStep": _Artist(
        lambda step, look: draw_polish(step, **look.plane, **look.judged),
        lambda step, domain: polish_table(step, domain=domain),
        lambda step, domain: describe_polish(step, domain=domain),
    ),
    "SplitStep": _Artist(
        lambda step, look: draw_split(step, **look.plane, reference=look.reference),
        lambda step, domain: split_table(step, domain=domain),
        lambda step, domain: describe_split(step, domain=domain),
    ),
    "StartsStep": _Artist(
        lambda step, look: draw_starts(step, palette=look.palette),
        lambda step, domain: starts_table(step),
        lambda step, domain: describe_starts(step),
    ),
    "TreeStep": _Artist(
        lambda step, look: draw_tree(step, **look.plane),
        lambda step, domain: tree_table(step, domain=domain),
        lambda step, domain: describe_tree(step, domain=domain),
    ),
    "CandidatesStep": _Artist(
        lambda step, look: draw_candidates(step, **look.plane),
        lambda step, domain: candidates_table(step, domain=domain),
        lambda step, domain: describe_candidates(step, domain=domain),
    ),
    "SwapStep": _Artist(
        lambda step, look: draw_swap(step, **look.plane),
        lambda step, domain: swap_table(step, domain=domain),
        lambda step, domain: describe_swap(step, domain=domain),
    ),
    "PoolStep": _Artist(
        lambda step, look: draw_pool(step, **look.plane),
        lambda step, domain: pool_table(step, domain=domain),
        lambda step, domain: describe_pool(step, domain=domain),
    ),
    "SeedStep": _Artist(
        lambda step, look: draw_seed(step, **look.plane),
        lambda step, domain: seed_table(step, domain=domain),
        lambda step, domain: describe_seed(step, domain=domain),
    ),
    "BlocksStep": _Artist(
        lambda step, look: draw_blocks(step, **look.plane),
        lambda step, domain: blocks_table(step, domain=domain),
        lambda step, domain: describe_blocks(step, domain=domain),
    ),
    "RangesStep": _Artist(
        lambda step, look: draw_ranges(step, **look.plane),
        lambda step, domain: ranges_table(step, domain=domain),
        lambda step, domain: describe_ranges(step, domain=domain),
    ),
    "MedianLawStep": _Artist(
        lambda step, look: draw_median_law(step, palette=look.palette),
        lambda step, domain: median_law_table(step),
        lambda step, domain: describe_median_law(step, domain=domain),
    ),
    "HashTreeStep": _Artist(
        lambda step, look: draw_hash_tree(step, palette=look.palette, reveal=look.reveal),
        lambda step, domain: hash_tree_table(step),
        lambda step, domain: describe_hash_tree(step),
    ),
    "CoresetStep": _Artist(
        lambda step, look: draw_coreset(step, **look.plane),
        lambda step, domain: coreset_table(step, domain=domain),
        lambda step, domain: describe_coreset(step, domain=domain),
    ),
    "MessageStep": _Artist(
        lambda step, look: draw_message(step, palette=look.palette),
        lambda step, domain: message_table(step),
        lambda step, domain: describe_message(step),
    ),
    "ServerTreeStep": _Artist(
        lambda step, look: draw_server(step, palette=look.palette),
        lambda step, domain: server_table(step),
        lambda step, domain: describe_server(step),
    ),
    "TupleTestStep": _Artist(
        lambda step, look: draw_tuple_test(step, **look.plane),
        lambda step, domain: tuple_test_table(step, domain=domain),
        lambda step, domain: describe_tuple_test(step, domain=domain),
    ),
    "MixtureStep": _Artist(
        lambda step, look: draw_mixture(step, **look.plane),
        lambda step, domain: mixture_table(step, domain=domain),
        lambda step, domain: describe_mixture(step, domain=domain),
    ),
    "CoordinatesStep": _Artist(
        lambda step, look: draw_coordinates(step, palette=look.palette, domain=look.view.domain),
        lambda step, domain: coordinates_table(step, domain=domain),
        lambda step, domain: describe_coordinates(step, domain=domain),
    ),
    "ReferenceStep": _Artist(
        lambda step, look: draw_reference_step(step, **look.plane),
        lambda step, domain: reference_table(step, domain=domain),
        lambda step, domain: describe_reference(step, domain=domain),
    ),
}


def _artist(step: Step) -> _Artist:
    name = type(step).__name__
    if name not in _ARTISTS:
        raise TypeError(f"no chart for a {name}: add one to _ARTISTS")
    return _ARTISTS[name]


def _any(step: Step) -> Any:
    return step
