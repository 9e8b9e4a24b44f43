"""Cells of a grid as they are drawn: maps on a plane, bars on a line; signed for noisy counts, one hue for others.

Where a grid fills a box only, the coarse cells around it lie under it, in the same colours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, sqrt
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dpviz.algorithms import GridStep
from dpviz.app.charts.canvas import SCREEN, format_legend_name, spell_name
from dpviz.app.charts.plot_canvas import PlotCanvas
from dpviz.app.charts.view import View
from dpviz.core import Array, Codes, partitions
from dpviz.words import Kind, format_number

# A screen shows no more cells than this along an axis.
_SHOWN_PER_AXIS = 250
# How strong a count is at so many standard deviations of its noise, below which noise alone could be; and the least
# top of the scale.
_PALE, _NOISE, _LEAST_TOP = 0.16, 3.0, 6.0
# Fewer cells than this along an axis have a gap between them.
_GAPS_BELOW = 40
# How strong a map is that lies under something else.
UNDER = 0.55
# Room above and below bars, as a share of their range.
_AIR = 0.08


@dataclass(frozen=True, eq=False)
class GridImage:
    """A grid as it is drawn: summed over the axes that are not shown, and over neighbours where cells are too many.

    ``edges`` are the cell borders along the drawn axes, unit coordinates. ``values`` and ``summed`` (how many listed
    cells went into each) have one axis for each drawn one.
    """

    axes: tuple[int, ...]
    edges: list[Array]
    values: Array
    summed: Codes
    block: tuple[int, ...]


class CellCounts(NamedTuple):
    """Counts of the listed cells of a grid."""

    grid: partitions.Grid
    codes: Codes
    counts: Array


class _Layer(NamedTuple):
    """Noisy counts of a grid as they are drawn, and the standard deviation of the noise on each."""

    shown: GridImage
    sd: Array


def find_shown_grid(grid: partitions.Grid, codes: Codes, values: Array, view: View) -> GridImage:
    """``values`` of the listed cells, added up to what the view shows.

    ``codes`` (m,), of listed cells; ``values`` (m,), what they hold.
    """
    axes = view.axes or (0,)
    cells = [int(grid.cells_per_axis[j]) for j in axes]
    block = tuple(ceil(m / _SHOWN_PER_AXIS) for m in cells)
    shape = tuple(ceil(m / b) for m, b in zip(cells, block, strict=True))
    place = (grid.places(codes, list(axes)) // block).T
    flat = np.ravel_multi_index(tuple(place), shape)
    total = np.bincount(flat, values, int(np.prod(shape))).astype(np.float64).reshape(shape)
    summed = np.bincount(flat, minlength=int(np.prod(shape))).astype(np.int64)
    edges = [_find_edges(grid, j, m, b) for j, m, b in zip(axes, cells, block, strict=True)]
    return GridImage(axes, edges, total, summed.reshape(shape), block)


def count_truth(step: GridStep, rows: Array) -> list[CellCounts]:
    """The cells of ``step`` that hold a row, those around its box first; rows (n, d) in the grid's coordinates.

    ``rows`` (n, d), revealed, unit coordinates.
    """
    if step.around is None:
        return [_count_cells(step.grid, rows)]
    middle = 0.0 if step.grid.middle is None else step.grid.middle
    inside = (np.abs(rows - middle) <= step.grid.half).all(axis=1)
    return [_count_cells(step.around.grid, rows[~inside]), _count_cells(step.grid, rows[inside])]


def add_signed_maps(canvas: PlotCanvas, step: GridStep, *, strength: float = 1.0) -> None:
    """Colour follows the noisy count in units of its noise: hardly up to 3 sd, then steeply; plum below zero.

    Cells around those of ``step``, if there are any, come first. At less than full ``strength`` the map lies under
    something else, and what is below zero stays blank.
    """
    layers = _list_layers(step, canvas.view)
    in_sds = [shown.values / sd for shown, sd in layers]
    top = max(_LEAST_TOP, *(float(np.abs(values).max(initial=0)) for values in in_sds))
    (last, sds), ticks = layers[-1], np.array([-top, -_NOISE, _NOISE, top])
    typical = float(np.median(sds[last.summed > 0])) if (last.summed > 0).any() else step.sd
    words = [format_number(float(tick * typical)) for tick in ticks]
    bar = canvas.color_bar("noisy rows (released)", tickvals=_choose_tone(ticks, top), ticktext=words)
    for (shown, _), values in zip(layers, in_sds, strict=True):
        canvas.cells(
            np.where(shown.summed == 0, np.nan, _choose_tone(values, top)).T,
            "released",
            hover="noisy count %{customdata:.4g} (released)<br>%{x:.4g}, %{y:.4g}",
            bar=bar if shown is last and strength == 1 else None,
            colorscale=_make_signed_scale(canvas, strength),
            **_place_cells(shown, canvas.view) | {"zmin": -1, "zmax": 1},
            **({"name": "rows, noisy"} if shown is last else {}),
        )
    if canvas.bare and strength == 1:
        square = {"symbol": "square", "color": canvas.palette.below}
        canvas.marks(np.zeros((0, 2)), "below zero: noise alone", "released", square)


def _make_signed_scale(canvas: PlotCanvas, strength: float) -> list[list[float | str]]:
    """From what is below zero through nothing to the largest counts."""
    palette = canvas.palette
    below = 0.0 if strength < 1 else 0.9
    return [
        [0.0, palette.fade(palette.below, below)],
        [(1 - _PALE) / 2, palette.fade(palette.below, min(below, 0.26))],
        [0.5, palette.fade(palette.below, 0.0)],
        [0.5, canvas.color("released", 0.0)],
        [(1 + _PALE) / 2, palette.fade(palette.released, round(_PALE * strength, 3))],
        [0.85, palette.fade(palette.released, round(0.75 * strength, 3))],
        [1.0, palette.deep if strength == 1 else palette.fade(palette.released, strength)],
    ]


def add_count_maps(canvas: PlotCanvas, layers: Sequence[CellCounts], what: str, kind: Kind) -> None:
    """Counts of cells in the colour of their kind, by the square root; cells of no layer stay blank."""
    drawn = [find_shown_grid(*layer, canvas.view) for layer in layers]
    top = max(1.0, *(float(shown.values.max(initial=0)) for shown in drawn))
    ticks = {"tickvals": [0, sqrt(top)], "ticktext": ["0", format_number(top)]}
    bar = canvas.color_bar(f"{format_legend_name(what, kind)} ({kind})", **ticks)
    for shown in drawn:
        canvas.cells(
            np.where(shown.summed == 0, np.nan, np.sqrt(np.maximum(shown.values, 0.0))).T,
            kind,
            hover=f"{what} %{{customdata:.4g}} ({kind})<br>%{{x:.4g}}, %{{y:.4g}}",
            bar=bar if shown is drawn[-1] else None,
            colorscale=[[0, canvas.color(kind, 0.0)], [1, canvas.color(kind)]],
            **_place_cells(shown, canvas.view) | {"zmin": 0, "zmax": sqrt(top)},
        )


def add_blocks(canvas: PlotCanvas, shown: GridImage, sides: Array, coarsest: int) -> None:
    """The side of the block around each cell: full colour for a cell by itself, the paler the larger the block."""
    finer = 1 - np.log2(np.minimum(sides, coarsest)) / np.log2(coarsest)
    hover = "in a block %{customdata:,.0f} cells wide (released)<br>%{x:.4g}"
    if canvas.view.flat:
        x, width = (values.astype(SCREEN) for values in _make_bars(shown, canvas.view))
        canvas.bars(x, finer.astype(SCREEN), width, "fineness", "released", hover=hover, notes=sides.astype(SCREEN))
        canvas.plot.update_xaxes(range=canvas.view.range[0], title_text=spell_name(canvas.view.name[0]), zeroline=False)
        ends = {"tickvals": [0, 1], "ticktext": [f"block of {coarsest:,}", "a cell"]}
        canvas.plot.update_yaxes(title_text="told apart down to", range=[0, 1 + _AIR], **ends)
        canvas.plot.update_layout(bargap=0, barmode="overlay")
        return
    ticks = {"tickvals": [0, 1], "ticktext": [f"a block of {coarsest:,} cells a side", "a cell"]}
    canvas.cells(
        finer.T,
        "released",
        hover=f"{hover}, %{{y:.4g}}",
        bar=canvas.color_bar("told apart down to (released)", **ticks),
        colorscale=[[0, canvas.color("released", 0.0)], [1, canvas.color("released")]],
        **_place_cells(shown, canvas.view) | {"customdata": sides.T.astype(SCREEN), "zmin": 0, "zmax": 1},
    )
    canvas.plane()


def add_noisy_bars(canvas: PlotCanvas, step: GridStep, rows: Array | None) -> None:
    """Bars, pale within 1 sd; over them what the cells truly hold of ``rows`` (n, 1), where these are given.

    ``rows`` (n, 1), revealed, unit coordinates.
    """
    for shown, sd in _list_layers(step, canvas.view):
        _add_bars(canvas, shown, "noisy count", choose_signed_colors(canvas, shown.values, sd))
    for counted in count_truth(step, rows) if rows is not None else []:
        truth = find_shown_grid(*counted, canvas.view)
        hover = "true count %{y:,.0f} (revealed)<br>%{x:.4g}"
        listed = {"showlegend": counted.grid is step.grid}
        canvas.ticks(_make_bars(truth, canvas.view).middle, truth.values, "true counts", hover=hover, trace=listed)
    noise = _NOISE * float(np.median(sd))
    canvas.band(-noise, noise, strength=0.18)
    canvas.plot.update_layout(showlegend=rows is not None)
    _dress(canvas, step)


def choose_signed_colors(canvas: PlotCanvas, counts: Array, sd: Array | float) -> npt.NDArray[np.str_]:
    """The colour of bars of noisy counts: faded where noise alone could be, plum below zero.

    ``counts`` (m,), noisy, rows; ``sd`` (m,), of the noise, rows. Returns (m,), colours.
    """
    palette = canvas.palette
    over = np.where(counts > _NOISE * sd, palette.released, palette.fade(palette.released, 0.35))
    colors: npt.NDArray[np.str_] = np.where(counts < 0, palette.below, over)
    return colors


def add_kept_bars(canvas: PlotCanvas, step: GridStep, layers: Sequence[CellCounts]) -> None:
    """Denoised counts of the cells that were kept, in the range of the noisy ones."""
    for counted in layers:
        _add_bars(canvas, find_shown_grid(*counted, canvas.view), "count kept")
    _dress(canvas, step)


def _list_layers(step: GridStep, view: View) -> list[_Layer]:
    """The coarse cells around the grid, if there are any, and those of the grid."""
    steps = [step] if step.around is None else [step.around, step]
    shown = [find_shown_grid(layer.grid, layer.codes, layer.noisy_counts, view) for layer in steps]
    return [_Layer(of, layer.sd * np.sqrt(np.maximum(of.summed, 1))) for layer, of in zip(steps, shown, strict=True)]


def _count_cells(grid: partitions.Grid, rows: Array) -> CellCounts:
    codes, counts = np.unique(grid.assign(rows), return_counts=True)
    return CellCounts(grid, codes, counts.astype(np.float64))


def _choose_tone(in_sds: Array, top: float) -> Array:
    """From noise sds to [-1, 1]: linear up to ``_PALE`` at 3 sd, then by the square root up to 1 at ``top``."""
    size = np.abs(in_sds)
    beyond = _PALE + (1 - _PALE) * np.sqrt(np.maximum(size - _NOISE, 0) / (top - _NOISE))
    tone: Array = np.sign(in_sds) * np.where(size <= _NOISE, _PALE * size / _NOISE, beyond)
    return tone


def _find_edges(grid: partitions.Grid, axis: int, cells: int, block: int) -> Array:
    """Borders of the shown cells along an axis, unit coordinates."""
    border = np.minimum(np.arange(ceil(cells / block) + 1) * block, cells)
    edges = grid.borders(axis)[border]
    return edges if grid.middle is None else edges + grid.middle[axis]


def _place_cells(shown: GridImage, view: View) -> dict[str, Any]:
    """Where the cells of a map lie, and what hovering tells of them."""
    gap = int(max(shown.values.shape) < _GAPS_BELOW)
    drawn: dict[str, Any] = {"customdata": shown.values.T.astype(SCREEN), "xgap": gap, "ygap": gap}
    for name, axis, edges in zip("xy", shown.axes, shown.edges, strict=True):
        values = view.to_axis_units_along(axis, edges) if view.in_data_units else edges
        drawn[name] = values.astype(SCREEN)
    return drawn


class _Bars(NamedTuple):
    """Middles and widths of bars, drawn units."""

    middle: Array
    width: Array


def _make_bars(shown: GridImage, view: View) -> _Bars:
    edges = view.plane(shown.edges[0][:, None])[:, 0]
    return _Bars((edges[1:] + edges[:-1]) / 2, np.diff(edges))


def _add_bars(canvas: PlotCanvas, shown: GridImage, what: str, colors: npt.NDArray[np.str_] | None = None) -> None:
    listed, (middle, width) = shown.summed > 0, _make_bars(shown, canvas.view)
    x, y, wide = (values[listed].astype(SCREEN) for values in (middle, shown.values, width))
    hover = f"{what} %{{y:.4g}} (released)<br>%{{x:.4g}}"
    marker = {} if colors is None else {"color": colors[listed]}
    canvas.bars(x, y, wide, f"{what}s", "released", marker, hover=hover)


def _dress(canvas: PlotCanvas, step: GridStep) -> None:
    """The same axes for noisy and denoised counts."""
    plot = canvas.plot
    counts = [layer.shown.values for layer in _list_layers(step, canvas.view)]
    low, high = min(0.0, *(float(some.min()) for some in counts)), max(1.0, *(float(some.max()) for some in counts))
    plot.update_xaxes(range=canvas.view.range[0], title_text=spell_name(canvas.view.name[0]), zeroline=False)
    plot.update_yaxes(title_text="rows per cell (noisy)", zeroline=True, zerolinecolor=canvas.palette.muted)
    plot.update_yaxes(range=[low - _AIR * (high - low), high + _AIR * (high - low)])
    plot.update_layout(bargap=0, barmode="overlay")
