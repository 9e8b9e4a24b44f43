"""Cells of a grid on the plane as heat maps: signed ones for noisy counts, one hue for counts that are never negative.

Where a grid fills a box only, the coarse cells around it lie under it, in the same colours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, sqrt
from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go

from dpviz.algorithms.steps import GridStep
from dpviz.arrays import Array, Codes
from dpviz.charts.canvas import NUMBER_SIZE, SCREEN, Screen
from dpviz.charts.theme import Kind, Palette
from dpviz.charts.view import View
from dpviz.charts.wording import number
from dpviz.privacy.partitions import Grid

# A screen shows no more cells than this along an axis.
_SHOWN_PER_AXIS = 250
# The share of the colour scale, on either side of 0, for what lies under the noise; and the least top of the scale.
_PALE, _LEAST_TOP = 0.2, 4.0


@dataclass(frozen=True, eq=False)
class Shown:
    """A grid as it is drawn: summed over the axes that are not shown, and over neighbours where cells are too many.

    ``edges`` are the cell borders along the drawn axes, unit coordinates. ``values`` and ``summed`` (how many listed
    cells went into each) have one axis for each drawn one.
    """

    axes: tuple[int, ...]
    edges: list[Array]
    values: Array
    summed: Codes
    block: tuple[int, ...]


class Counted(NamedTuple):
    """Counts of the listed cells of a grid."""

    grid: Grid
    codes: Codes
    counts: Array


def shown_grid(grid: Grid, codes: Codes, values: Array, view: View) -> Shown:
    """``values`` of the listed cells, added up to what the view shows."""
    axes = view.axes or (0,)
    cells = [int(grid.cells_per_axis[j]) for j in axes]
    block = tuple(ceil(m / _SHOWN_PER_AXIS) for m in cells)
    shape = tuple(ceil(m / b) for m, b in zip(cells, block, strict=True))
    place = (grid.places(codes, list(axes)) // block).T
    flat = np.ravel_multi_index(tuple(place), shape)
    total = np.bincount(flat, values, int(np.prod(shape))).astype(np.float64).reshape(shape)
    summed = np.bincount(flat, minlength=int(np.prod(shape))).astype(np.int64)
    edges = [_edges(grid, j, m, b) for j, m, b in zip(axes, cells, block, strict=True)]
    return Shown(axes, edges, total, summed.reshape(shape), block)


def true_counts(step: GridStep, rows: Array) -> list[Counted]:
    """The cells of ``step`` that hold a row, those around its box first; rows (n, d) in the grid's coordinates."""
    if step.around is None:
        return [_counted(step.grid, rows)]
    middle = 0.0 if step.grid.middle is None else step.grid.middle
    inside = (np.abs(rows - middle) <= step.grid.half).all(axis=1)
    return [_counted(step.around.grid, rows[~inside]), _counted(step.grid, rows[inside])]


def signed_maps(step: GridStep, inner: Shown, view: View, palette: Palette, place: dict[str, Any]) -> list[go.Heatmap]:
    """Colour follows the noisy count in units of its noise: slowly up to 1 sd, then with the square root.

    ``inner`` are the cells of ``step`` as they are shown; those around them, if there are any, come first.
    """
    layers = [layer for layer in (step.around, step) if layer is not None]
    shown = [*(shown_grid(some.grid, some.codes, some.noisy_counts, view) for some in layers[:-1]), inner]
    sds = [layer.sd * np.sqrt(np.maximum(some.summed, 1)) for layer, some in zip(layers, shown, strict=True)]
    in_sds = [some.values / sd for some, sd in zip(shown, sds, strict=True)]
    top = max(_LEAST_TOP, *(float(np.abs(values).max(initial=0)) for values in in_sds))
    last, filled = sds[-1], shown[-1].summed > 0
    typical = float(np.median(last[filled])) if filled.any() else step.sd
    ticks = np.array([-top, -1.0, 1.0, top])
    bar = color_bar(
        "noisy rows (released)",
        palette,
        tickvals=_tone(ticks, top),
        ticktext=[f"{number(float(t * typical))}" for t in ticks],
        place=place,
    )
    return [
        go.Heatmap(
            **_edges_drawn(some, view),
            z=np.where(some.summed == 0, np.nan, _tone(values, top)).T.astype(SCREEN),
            customdata=some.values.T.astype(SCREEN),
            hovertemplate="noisy count %{customdata:.4g} (released)<br>%{x:.4g}, %{y:.4g}<extra></extra>",
            colorscale=[list(stop) for stop in palette.diverging],
            **{"zmin": -1, "zmax": 1, "showscale": some is shown[-1], "colorbar": bar},
            meta="released",
        )
        for some, values in zip(shown, in_sds, strict=True)
    ]


def count_maps(
    layers: Sequence[Counted], view: View, palette: Palette, place: dict[str, Any], *, what: str, kind: Kind
) -> list[go.Heatmap]:
    """Counts of cells in the colour of their kind, by the square root; cells of no layer stay blank."""
    shown = [shown_grid(layer.grid, layer.codes, layer.counts, view) for layer in layers]
    top = max(1.0, *(float(some.values.max(initial=0)) for some in shown))
    bar = color_bar(
        f"{'◉ ' if kind == 'revealed' else ''}{what} ({kind})",
        palette,
        tickvals=np.array([0, sqrt(top)]),
        ticktext=["0", number(top)],
        place=place,
    )
    return [
        go.Heatmap(
            **_edges_drawn(some, view),
            z=np.where(some.summed == 0, np.nan, np.sqrt(np.maximum(some.values, 0.0))).T.astype(SCREEN),
            customdata=some.values.T.astype(SCREEN),
            hovertemplate=f"{what} %{{customdata:.4g}} ({kind})<br>%{{x:.4g}}, %{{y:.4g}}<extra></extra>",
            colorscale=[[0, palette.surface], [1, palette.kind(kind)]],
            **{"zmin": 0, "zmax": sqrt(top), "showscale": some is shown[-1], "colorbar": bar},
            meta=kind,
        )
        for some in shown
    ]


def color_bar(
    title: str, palette: Palette, *, tickvals: Array, ticktext: list[str], place: dict[str, Any]
) -> dict[str, Any]:
    """A colour bar at ``place``, its title above it."""
    return place | {
        "title": {"text": title, "side": "top", "font": {"size": NUMBER_SIZE}},
        "thickness": 10,
        "tickvals": tickvals,
        "ticktext": ticktext,
        "tickangle": 0,
        "tickfont": {"size": NUMBER_SIZE, "color": palette.muted},
        "outlinewidth": 0.5,
        "outlinecolor": palette.muted,
    }


def _counted(grid: Grid, rows: Array) -> Counted:
    codes, counts = np.unique(grid.assign(rows), return_counts=True)
    return Counted(grid, codes, counts.astype(np.float64))


def _tone(in_sds: Array, top: float) -> Array:
    """From noise sds to [-1, 1]: linear up to ``_PALE`` at 1 sd, then by the square root up to 1 at ``top``."""
    size = np.abs(in_sds)
    beyond = _PALE + (1 - _PALE) * (np.sqrt(np.maximum(size, 1)) - 1) / (sqrt(top) - 1)
    tone: Array = np.sign(in_sds) * np.where(size <= 1, _PALE * size, beyond)
    return tone


def _edges(grid: Grid, axis: int, cells: int, block: int) -> Array:
    """Borders of the shown cells along an axis, unit coordinates."""
    border = np.minimum(np.arange(ceil(cells / block) + 1) * block, cells)
    edges: Array = (2 * border / cells - 1) * grid.half[axis]
    return edges if grid.middle is None else edges + grid.middle[axis]


def _edges_drawn(shown: Shown, view: View) -> dict[str, Screen]:
    drawn = {}
    for name, axis, edges in zip("xy", shown.axes, shown.edges, strict=True):
        values = edges * view.domain.scale[axis] + view.domain.center[axis] if view.in_data_units else edges
        drawn[name] = values.astype(SCREEN)
    return drawn
