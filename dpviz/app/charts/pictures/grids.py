"""Noisy grids as signed maps, what denoising kept of them, and many starts that were solved on one.

Blue above zero, plum below, pale where noise alone would do. Where a grid fills a box only, the coarse cells around it
lie under it, in the same colours.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import ceil, sqrt
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from dpviz.algorithms import GridStep, StartsStep, Step, SynopsisStep, ZoomStep
from dpviz.app.charts.canvas import SCREEN, PlotCanvas, format_legend_name, spell_name
from dpviz.app.charts.picture import Chart, Companion, RenderContext, format_columns, tabulate_points
from dpviz.app.charts.pictures.centers import add_centers
from dpviz.app.charts.view import View
from dpviz.core import Array, Codes, Domain, Region, partitions
from dpviz.words import Kind, capitalize_first, format_count, format_number, format_percent, format_things

# How strong a count is at so many standard deviations of its noise, below which noise alone could be; and the least
# top of the scale.
_PALE, _NOISE, _LEAST_TOP = 0.16, 3.0, 6.0
# How strong a map is that lies under something else.
UNDER = 0.55
# Room above and below bars, as a share of their range.
_AIR_OF_BARS = 0.08


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


def find_shown_grid(grid: partitions.Grid, codes: Codes, values: Array, view: View) -> GridImage:
    """``values`` (m,) of the listed cells, those of ``codes`` (m,), added up to what the view shows."""
    axes = view.axes or (0,)
    cells = [int(grid.cells_per_axis[j]) for j in axes]
    # A screen shows no more cells than this along an axis.
    block = tuple(ceil(m / 250) for m in cells)
    shape = tuple(ceil(m / b) for m, b in zip(cells, block, strict=True))
    flat = np.ravel_multi_index(tuple((grid.places(codes, list(axes)) // block).T), shape)
    total = np.bincount(flat, values, int(np.prod(shape))).astype(np.float64).reshape(shape)
    summed = np.bincount(flat, minlength=int(np.prod(shape))).astype(np.int64)
    edges = []
    for j, m, b in zip(axes, cells, block, strict=True):
        borders = grid.borders(j)[np.minimum(np.arange(ceil(m / b) + 1) * b, m)]
        edges.append(borders if grid.middle is None else borders + grid.middle[j])
    return GridImage(axes, edges, total, summed.reshape(shape), block)


def count_truth(step: GridStep, rows: Array) -> list[CellCounts]:
    """The cells of ``step`` that hold a row, those around its box first; rows (n, d) in the grid's coordinates."""
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
    palette, below = canvas.palette, 0.0 if strength < 1 else 0.9
    # From what is below zero through nothing to the largest counts.
    scale = [
        [0.0, palette.fade(palette.below, below)],
        [(1 - _PALE) / 2, palette.fade(palette.below, min(below, 0.26))],
        [0.5, palette.fade(palette.below, 0.0)],
        [0.5, canvas.color("released", 0.0)],
        [(1 + _PALE) / 2, palette.fade(palette.released, round(_PALE * strength, 3))],
        [0.85, palette.fade(palette.released, round(0.75 * strength, 3))],
        [1.0, palette.deep if strength == 1 else palette.fade(palette.released, strength)],
    ]
    for (shown, _), values in zip(layers, in_sds, strict=True):
        z = np.where(shown.summed == 0, np.nan, _choose_tone(values, top)).T
        look = {"colorscale": scale, **_place_cells(shown, canvas.view), "zmin": -1, "zmax": 1}
        look |= {"name": "rows, noisy"} if shown is last else {}
        hover = "noisy count %{customdata:.4g} (released)<br>%{x:.4g}, %{y:.4g}"
        canvas.cells(z, "released", hover=hover, bar=bar if shown is last and strength == 1 else None, **look)
    if canvas.bare and strength == 1:
        square = {"symbol": "square", "color": canvas.palette.below}
        canvas.marks(np.zeros((0, 2)), "below zero: noise alone", "released", square)


def add_count_maps(canvas: PlotCanvas, layers: Sequence[CellCounts], what: str, kind: Kind) -> None:
    """Counts of cells in the colour of their kind, by the square root; cells of no layer stay blank."""
    drawn = [find_shown_grid(*layer, canvas.view) for layer in layers]
    top = max(1.0, *(float(shown.values.max(initial=0)) for shown in drawn))
    ticks = {"tickvals": [0, sqrt(top)], "ticktext": ["0", format_number(top)]}
    bar = canvas.color_bar(f"{format_legend_name(what, kind)} ({kind})", **ticks)
    for shown in drawn:
        z = np.where(shown.summed == 0, np.nan, np.sqrt(np.maximum(shown.values, 0.0))).T
        look = {"colorscale": canvas.shades(kind, 0.0), **_place_cells(shown, canvas.view)}
        look |= {"zmin": 0, "zmax": sqrt(top)}
        hover = f"{what} %{{customdata:.4g}} ({kind})<br>%{{x:.4g}}, %{{y:.4g}}"
        canvas.cells(z, kind, hover=hover, bar=bar if shown is drawn[-1] else None, **look)


def add_blocks(canvas: PlotCanvas, shown: GridImage, sides: Array, coarsest: int) -> None:
    """The side of the block around each cell: full colour for a cell by itself, the paler the larger the block."""
    finer = 1 - np.log2(np.minimum(sides, coarsest)) / np.log2(coarsest)
    hover = "in a block %{customdata:,.0f} cells wide (released)<br>%{x:.4g}"
    if canvas.view.flat:
        x, width = (values.astype(SCREEN) for values in _make_bars(shown, canvas.view))
        canvas.bars(x, finer.astype(SCREEN), width, "fineness", "released", hover=hover, notes=sides.astype(SCREEN))
        title = spell_name(canvas.view.titles[0])
        canvas.plot.update_xaxes(range=canvas.view.range[0], title_text=title, zeroline=False)
        ends = {"tickvals": [0, 1], "ticktext": [f"block of {coarsest:,}", "a cell"]}
        canvas.plot.update_yaxes(title_text="told apart down to", range=[0, 1 + _AIR_OF_BARS], **ends)
        canvas.plot.update_layout(bargap=0, barmode="overlay")
        return
    ticks = {"tickvals": [0, 1], "ticktext": [f"a block of {coarsest:,} cells a side", "a cell"]}
    place = _place_cells(shown, canvas.view) | {"customdata": sides.T.astype(SCREEN), "zmin": 0, "zmax": 1}
    bar, scale = canvas.color_bar("told apart down to (released)", **ticks), canvas.shades("released", 0.0)
    canvas.cells(finer.T, "released", hover=f"{hover}, %{{y:.4g}}", bar=bar, colorscale=scale, **place)
    canvas.plane()


def add_noisy_bars(canvas: PlotCanvas, step: GridStep, rows: Array | None) -> None:
    """Bars, pale within 1 sd; over them what the cells truly hold of ``rows`` (n, 1), where these are given."""
    for shown, sd in _list_layers(step, canvas.view):
        _add_bars(canvas, shown, "noisy count", choose_signed_colors(canvas, shown.values, sd))
    for counted in count_truth(step, rows) if rows is not None else []:
        truth = find_shown_grid(*counted, canvas.view)
        hover = "true count %{y:,.0f} (revealed)<br>%{x:.4g}"
        listed = {"showlegend": counted.grid is step.grid}
        canvas.ticks(_make_bars(truth, canvas.view)[0], truth.values, "true counts", hover=hover, trace=listed)
    noise = _NOISE * float(np.median(sd))
    canvas.band(-noise, noise, strength=0.18)
    canvas.plot.update_layout(showlegend=rows is not None)
    _dress(canvas, step)


def choose_signed_colors(canvas: PlotCanvas, counts: Array, sd: Array | float) -> npt.NDArray[np.str_]:
    """The colour of bars of noisy ``counts`` (m,), rows: faded where noise alone (``sd``) could be, plum below zero."""
    palette = canvas.palette
    over = np.where(counts > _NOISE * sd, palette.released, palette.fade(palette.released, 0.35))
    return np.where(counts < 0, palette.below, over)


def _list_layers(step: GridStep, view: View) -> list[tuple[GridImage, Array]]:
    """The coarse cells around the grid, if any, and those of the grid; with the noise (sd) on what each shows."""
    steps = [step] if step.around is None else [step.around, step]
    shown = [find_shown_grid(layer.grid, layer.codes, layer.noisy_counts, view) for layer in steps]
    return [(of, layer.sd * np.sqrt(np.maximum(of.summed, 1))) for layer, of in zip(steps, shown, strict=True)]


def _count_cells(grid: partitions.Grid, rows: Array) -> CellCounts:
    codes, counts = np.unique(grid.assign(rows), return_counts=True)
    return CellCounts(grid, codes, counts.astype(np.float64))


def _choose_tone(in_sds: Array, top: float) -> Array:
    """From noise sds to [-1, 1]: linear up to ``_PALE`` at 3 sd, then by the square root up to 1 at ``top``."""
    size = np.abs(in_sds)
    beyond = _PALE + (1 - _PALE) * np.sqrt(np.maximum(size - _NOISE, 0) / (top - _NOISE))
    return np.sign(in_sds) * np.where(size <= _NOISE, _PALE * size / _NOISE, beyond)


def _place_cells(shown: GridImage, view: View) -> dict[str, Any]:
    """Where the cells of a map lie, and what hovering tells of them."""
    # Fewer cells than this along an axis have a gap between them.
    gap = int(max(shown.values.shape) < 40)
    drawn: dict[str, Any] = {"customdata": shown.values.T.astype(SCREEN), "xgap": gap, "ygap": gap}
    for name, axis, edges in zip("xy", shown.axes, shown.edges, strict=True):
        points = np.zeros((len(edges), view.region.dim))
        points[:, axis] = edges
        drawn[name] = (view.to_axis_units(points) if view.in_data_units else points)[:, axis].astype(SCREEN)
    return drawn


def _make_bars(shown: GridImage, view: View) -> tuple[Array, Array]:
    """Middles and widths of bars, drawn units."""
    edges = view.plane(shown.edges[0][:, None])[:, 0]
    return (edges[1:] + edges[:-1]) / 2, np.diff(edges)


def _add_bars(canvas: PlotCanvas, shown: GridImage, what: str, colors: npt.NDArray[np.str_] | None = None) -> None:
    listed, (middle, width) = shown.summed > 0, _make_bars(shown, canvas.view)
    x, y, wide = (values[listed].astype(SCREEN) for values in (middle, shown.values, width))
    hover = f"{what} %{{y:.4g}} (released)<br>%{{x:.4g}}"
    canvas.bars(x, y, wide, f"{what}s", "released", {} if colors is None else {"color": colors[listed]}, hover=hover)


def _dress(canvas: PlotCanvas, step: GridStep) -> None:
    """The same axes for noisy and denoised counts."""
    plot = canvas.plot
    counts = [shown.values for shown, _ in _list_layers(step, canvas.view)]
    low, high = min(0.0, *(float(some.min()) for some in counts)), max(1.0, *(float(some.max()) for some in counts))
    plot.update_xaxes(range=canvas.view.range[0], title_text=spell_name(canvas.view.titles[0]), zeroline=False)
    plot.update_yaxes(title_text="rows per cell (noisy)", zeroline=True, zerolinecolor=canvas.palette.muted)
    plot.update_yaxes(range=[low - _AIR_OF_BARS * (high - low), high + _AIR_OF_BARS * (high - low)])
    plot.update_layout(bargap=0, barmode="overlay")


# Beyond this many noise sd a cell is said to stand out.
_STANDS_OUT = 3.0


def place_grid(step: Any, context: RenderContext) -> tuple[Any, RenderContext]:
    """A step with its grid in the coordinates of the view that shows it, and the context with that view.

    A grid over columns is shown along two of them, one over the axes of a ``frame`` from its own middle.
    """
    frame, half, placed = getattr(step, "frame", None), step.grid.half, step
    if frame is None:
        return step, context.on(context.view.boxes())
    if _is_of_columns(frame):
        half = frame @ context.view.domain.region.half
    else:  # its pictures then range over the grid and no more
        placed = replace(step, grid=replace(step.grid, middle=None))
    space, names = Region(half, float(np.linalg.norm(half))), format_axis_names(frame, context.view.domain)
    return placed, context.on(context.view.with_space(space, names))


def project_points(step: GridStep, points: Array, space: Region | None = None) -> Array:
    """Points (m, d) along the axes of a step's frame, from the middle of its grid; clipped to ``space``; (m, p)."""
    frame = getattr(step, "frame", None)
    if frame is None:
        return points
    projected: Array = points @ frame.T if space is None else space.clip(points @ frame.T)
    return projected if step.grid.middle is None or _is_of_columns(frame) else projected - step.grid.middle


def _is_of_columns(frame: Array) -> bool:
    """Whether axes are columns themselves: those that are wide, where all others are thin."""
    return bool((frame.max(axis=1) == 1.0).all())


def find_grid_rows(step: GridStep, context: RenderContext) -> Array | None:
    """Revealed rows as the algorithm saw them, in the coordinates of the placed grid."""
    region, frame = context.view.domain.region, getattr(step, "frame", None)
    rows = context.find_rows(region)
    space = None if frame is None else Region.ball(len(frame), region.radius)
    return None if rows is None else project_points(step, rows, space)


def draw_grid(step: GridStep, context: RenderContext) -> Chart:
    """Signed noisy counts of the shown columns; over the bars of one column the true counts, if rows are revealed."""
    placed, context = place_grid(step, context)
    view, sd, cells = context.view, step.sd, describe_cells(step.grid.n_cells)
    title = f"{find_outstanding(step):,} of {cells} stand out from the noise"
    if step.grid.n_cells == 1:
        title = "A grid of one cell says nothing of where rows lie"
    most = int(find_shown_grid(placed.grid, step.codes, step.noisy_counts, view).summed.max(initial=1))
    standing = f"standing out: over {format_number(_STANDS_OUT * sd)} rows, {_STANDS_OUT:g} sd of the noise"
    added = f"up to {most:,} cells added up: sd {format_number(sd * sqrt(most))}" if most > 1 else ""
    grey = f"grey: not released (at most {format_number(step.cutoff)}, up or down)" if step.cutoff is not None else ""
    note = (standing, view.about, added, grey)
    over, frame = f"of {format_columns(view.domain)}", getattr(step, "frame", None)
    if frame is not None:
        own = f"of the {len(frame)} widest columns"
        over = own if _is_of_columns(frame) else f"over {format_things(len(frame), 'axis', 'axes')} of the view"
    words = f"Noisy histogram {over}. {title}. Noise sd of a cell: {format_number(sd)}."
    if step.cutoff is not None:
        words += f" All others of {cells}, at most {format_number(step.cutoff)} up or down, were not released."

    def paint(canvas: PlotCanvas) -> None:
        if view.flat:
            add_noisy_bars(canvas, placed, find_grid_rows(step, context))
        else:
            canvas.plot.update_layout(showlegend=False)
            add_signed_maps(canvas, placed)
            canvas.plane(fill=None if step.cutoff is None else canvas.color("public", 0.16))
        if step.around is not None:
            canvas.frame(find_box(placed.grid))

    def tabulate() -> pd.DataFrame:
        top = find_largest(step.noisy_counts)
        table = tabulate_points(step.grid.centers(step.codes[top]), view.domain, projected=frame is not None)
        if frame is not None:
            table.columns = pd.Index(format_axis_names(frame, view.domain))
        table["noisy count"], table["noise sd"] = step.noisy_counts[top], sd
        return table

    return Chart(context, title, note, words, paint, legend_lines=3, table=tabulate)


def list_beside_grid(step: GridStep, steps: Sequence[Step], context: RenderContext) -> Iterator[Companion]:
    """All counts in order, and on a plane what the cells truly hold, where rows are revealed."""
    yield Companion("All counts", draw_counts(step, context))
    rows, (placed, context) = find_grid_rows(step, context), place_grid(step, context)
    if rows is not None and not context.view.flat:
        yield Companion("True counts", draw_true_counts(placed, rows, context))


def draw_true_counts(step: GridStep, rows: Array, context: RenderContext) -> Chart:
    """What the cells of a grid truly hold of revealed ``rows`` (n, d), in the coordinates and axes of its picture."""
    truth = count_truth(step, rows)
    cells = describe_cells(sum(layer.grid.n_cells for layer in truth))
    title = f"{sum(len(layer.codes) for layer in truth):,} of {cells} hold a row"

    def paint(canvas: PlotCanvas) -> None:
        canvas.plot.update_layout(showlegend=False)
        add_count_maps(canvas, truth, "true rows", "revealed")
        canvas.plane()
        if step.around is not None:
            canvas.frame(find_box(step.grid))

    note = ("true rows per cell: revealed, never a release", context.view.about)
    words = f"True rows in every cell of the grid. {title}."
    return Chart(context, title, note, words, paint, legend_lines=3, kind="revealed")


def draw_counts(step: GridStep, context: RenderContext) -> Chart:
    """All noisy counts, the fullest first, over a band of 3 sd: what rises above it are rows."""
    counts, band = step.noisy_counts, _STANDS_OUT * step.sd
    # As many bars as a narrow picture has pixels for.
    wide, number = ceil(len(counts) / 500), format_things(len(counts), "count")
    title = f"{find_outstanding(step):,} of {number} stand out; the others may be noise alone"

    def paint(canvas: PlotCanvas) -> None:
        shown = counts[np.argsort(-counts, kind="stable")[::wide]]
        ranks, widths = np.arange(len(shown)) * wide + wide / 2, np.full(len(shown), wide, dtype=SCREEN)
        marker = {"color": choose_signed_colors(canvas, shown, step.sd)}
        x, y, hover = ranks.astype(SCREEN), shown.astype(SCREEN), "%{y:.4g} rows (released)"
        canvas.band(-band, band, strength=0.18)
        canvas.bars(x, y, widths, "noisy counts", "released", marker, hover=hover)
        canvas.plot.update_xaxes(title_text="cells, fullest first", range=[0, len(counts)], showgrid=False, nticks=5)
        canvas.plot.update_yaxes(title_text="rows (noisy)", zeroline=True, zerolinecolor=canvas.palette.muted)
        canvas.plot.update_layout(bargap=0)

    some = f"one bar for {wide} counts" if wide > 1 else ""
    note = (f"grey band: {_STANDS_OUT:g} sd of the noise, {format_number(band)} rows", some)
    return Chart(context, title, note, f"All noisy counts, sorted. {title}.", paint, legend_lines=0)


def find_outstanding(step: GridStep) -> int:
    """How many cells are said to stand out: one word, one count, whoever says it."""
    return int((step.noisy_counts > _STANDS_OUT * step.sd).sum())


def draw_zoom(step: ZoomStep, context: RenderContext) -> Chart:
    """A coarse noisy histogram of the whole domain, and a frame around the box that holds nearly all rows, or most."""
    grid = draw_grid(step, context)
    block, rows = (step.core, "Most rows") if step.box is None else (step.box, "Nearly all rows")
    title = "No small box holds nearly all rows"
    if block is not None:
        part = float(np.prod(np.ptp(block, axis=0) / (2 * step.grid.half)))
        title = f"{rows} lie in {format_percent(part)} of the domain"

    def paint(canvas: PlotCanvas) -> None:
        grid.paint(canvas)
        if block is not None:
            canvas.frame(block)

    return replace(grid, title=title, words=f"{title}. {grid.words}", paint=paint)


def format_axis_names(frame: Array, domain: Domain) -> tuple[str, ...]:
    """What the axes of a view, the rows of ``frame`` (p, d), are called: after a column, if they are (mostly) that."""
    foremost = [int((axis**2).argmax()) for axis in frame]
    if _is_of_columns(frame):
        return tuple(f"{domain.columns[j]} (unit coordinates)" for j in foremost)
    # An axis with this part of its length in one column is named after it.
    long = [axis[j] ** 2 >= 0.5 for axis, j in zip(frame, foremost, strict=True)]
    mostly = [f", mostly {domain.columns[j]}" if most else "" for j, most in zip(foremost, long, strict=True)]
    return tuple(f"axis {number_of} of the view{part}" for number_of, part in enumerate(mostly, start=1))


def find_box(grid: partitions.Grid) -> Array:
    """Lower and upper corner of what a grid lies over, unit coordinates, shape (2, d)."""
    middle = 0.0 if grid.middle is None else grid.middle
    return np.stack([middle - grid.half, middle + grid.half])


def find_largest(counts: Array) -> Codes:
    """Positions of the largest counts, as many as a table shows, in their order."""
    # As many cells as anybody reads.
    few = min(1000, len(counts))
    top = np.sort(np.argpartition(-counts, few - 1)[:few]) if few else np.zeros(0, dtype=np.int64)
    return top[np.argsort(-counts[top], kind="stable")]


def describe_cells(cells: int) -> str:
    """A number of cells, rounded where it is longer than a reader takes in."""
    # Up to so many cells, digits are as long as a reader takes them in.
    return f"{cells:,} cells" if cells < 1e9 else f"{format_number(cells)} cells"


# What is shown around a box, as a share of its width.
_AIR_OF_BOX = 0.06
# How strong the parts of a bar are: what stood out, what is believed in part, what is shared evenly.
_BARS = (("kept", 1.0), ("believed in part", 0.55), ("shared evenly", 0.18))
# How wide bars are that lie 1 apart, and the room above them as a share of their height.
_WIDTH, _AIR_ABOVE = 0.8, 0.04


def draw_synopsis(step: SynopsisStep, context: RenderContext) -> Chart:
    """Signed noisy counts; over the axes of a view, the first two of them, from the middle of the rows."""
    grid = draw_grid(step, context)

    def tabulate() -> pd.DataFrame:
        table, kept = grid.table(), np.zeros(len(step.codes))
        kept[step.kept] = step.weights
        table.insert(len(table.columns) - 1, "count kept", kept[find_largest(step.noisy_counts)])
        return table

    return replace(grid, words=f"{grid.words} {draw_kept(step, context).words}", table=tabulate)


def list_beside_synopsis(step: SynopsisStep, steps: Sequence[Step], context: RenderContext) -> Iterator[Companion]:
    """What denoising kept, how finely it tells cells apart, a closer look at the box, and what stands beside a grid."""
    yield Companion("What is kept", draw_kept(step, context))
    if step.details is not None:
        yield Companion("Details", draw_block_sides(step, context))
        yield Companion("Tree of details", draw_detail_tree(step, context))
    if step.around is not None:
        yield Companion("In the box", draw_kept(step, context, in_its_box=True))
    yield from list_beside_grid(step, steps, context)


def draw_kept(step: SynopsisStep, context: RenderContext, *, in_its_box: bool = False) -> Chart:
    """The denoised counts of the cells that were kept, in the axes of the picture, or in those of its box."""
    placed, context = place_grid(step, context)
    everything = len(step.codes) + (len(step.around.codes) if step.around is not None else 0)
    title = f"Denoising keeps {step.cells_kept:,} of {everything:,} cells"
    if step.cutoff is not None:
        title = f"{step.cells_kept:,} of {describe_cells(step.grid.n_cells)} stand out enough to be kept"
    elif step.cells_kept == everything:
        why = "smoothed, each stands out" if step.details is None else "none is told to be empty"
        title = f"Denoising keeps all {everything:,} cells: {why}"

    def paint(canvas: PlotCanvas) -> None:
        plot, flat = canvas.plot, canvas.view.flat
        layers = [CellCounts(placed.grid, step.codes[step.kept], step.weights)]
        if step.around is not None:
            coarse = placed.around.grid
            layers.insert(0, CellCounts(coarse, coarse.assign(step.outside), step.outside_weights))
        plot.update_layout(showlegend=False)
        if flat:  # in the range of the noisy counts
            for counted in layers:
                _add_bars(canvas, find_shown_grid(*counted, canvas.view), "count kept")
            _dress(canvas, placed)
        else:
            add_count_maps(canvas, layers, "rows kept", "released")
            canvas.plane()
        if step.around is not None:
            canvas.frame(find_box(placed.grid))
        if in_its_box:
            low, high = canvas.view.plane(find_box(placed.grid))
            around = np.column_stack([low, high]) + np.outer(high - low, [-_AIR_OF_BOX, _AIR_OF_BOX])
            plot.update_xaxes(range=list(around[0]))
            if not flat:
                plot.update_yaxes(range=list(around[1]))

    rows = format_number(step.rows_kept)
    blank = "what noise alone would show" if step.details is None else "empty, as far as noise tells"
    note = (f"blank: {blank}", f"kept: taken for {rows} rows in all", context.view.about)
    return Chart(context, title, note, f"{title}; together they are taken for {rows} rows.", paint, legend_lines=3)


def draw_block_sides(step: SynopsisStep, context: RenderContext) -> Chart:
    """The side of the block around each cell that shares its rows evenly: the darker, the finer rows are told apart."""
    (placed, context), blocks = place_grid(step, context), step.told_apart.blocks
    title = f"{format_number(100 * float(np.mean(blocks == 1)))} % of the cells stand out one by one"
    hidden = len(step.grid.half) > (1 if context.view.flat else 2)

    def paint(canvas: PlotCanvas) -> None:
        shown = find_shown_grid(placed.grid, step.codes, np.zeros(blocks.size), canvas.view)
        place = (placed.grid.places(step.codes, list(shown.axes)) // shown.block).T
        sides = np.full(shown.values.size, np.inf)
        np.minimum.at(sides, np.ravel_multi_index(tuple(place), shown.values.shape), blocks.ravel())
        canvas.plot.update_layout(showlegend=False)
        add_blocks(canvas, shown, sides.reshape(shown.values.shape), max(2, int(blocks.max())))

    finest = "the finest along what is not shown" if hidden else ""
    note = ("pale: large blocks, shared evenly", "first of several trees", finest, context.view.about)
    words = f"{title}; the largest block that shares its rows evenly is {blocks.max():,} cells wide."
    return Chart(context, title, note, words, paint, legend_lines=3, table=partial(_tabulate_details, step))


def draw_detail_tree(step: SynopsisStep, context: RenderContext) -> Chart:
    """Of all blocks of each size, how many tell their parts apart and how many share their rows among them."""
    details = step.told_apart
    out = details.kept + details.shrunk
    title = f"{int(out.sum()):,} of {int(details.all.sum()):,} details stand out of the noise"
    sizes = zip(details.sides, out, details.all, strict=True)
    listed = ", ".join(f"{number:,} of {of:,} at a side of {side:,}" for side, number, of in sizes)

    def paint(canvas: PlotCanvas) -> None:
        below = np.zeros(len(details.sides))
        places, whole = np.arange(len(below)), np.maximum(details.all, 1)
        x, width = places.astype(SCREEN), np.full(len(places), _WIDTH, dtype=SCREEN)
        for (name, strength), blocks in zip(_BARS, (details.kept, details.shrunk, details.shared), strict=True):
            share, trace = blocks / whole, {"base": below.astype(SCREEN)}
            notes = [f"{number_of:,} of {of:,} blocks: {name}" for number_of, of in zip(blocks, whole, strict=True)]
            look: dict[str, Any] = {"strength": strength, "hover": "%{customdata}", "notes": notes, "trace": trace}
            canvas.bars(x, share.astype(SCREEN), width, name, "released", **look)
            below = below + share
        words = [f"{side:,}" for side in details.sides]
        canvas.plot.update_xaxes(title_text="side of the parts, in cells", tickvals=places, ticktext=words)
        canvas.plot.update_xaxes(showgrid=False, zeroline=False)
        canvas.plot.update_yaxes(title_text="share of the blocks", tickformat=".0%", range=[0, 1 + _AIR_ABOVE])
        canvas.plot.update_layout(barmode="overlay", legend={"traceorder": "normal"})

    note, table = ("one tree of several: each block is cut in halves along all axes",), partial(_tabulate_details, step)
    return Chart(context, title, note, f"{title}: {listed}.", paint, legend_lines=3, table=table)


def _tabulate_details(step: SynopsisStep) -> pd.DataFrame:
    """What became of the details, a line for each size of block."""
    details = step.told_apart
    parts = {"kept": details.kept, "believed in part": details.shrunk, "shared evenly": details.shared}
    return pd.DataFrame({"side of the parts (cells)": details.sides} | parts)


# Losses below this are 0, and gains below this are none.
_ROUNDING, _SAME = 1e-9, 5e-4


def draw_starts(step: StartsStep, context: RenderContext) -> Chart:
    """The centres of the chosen start over the synopsis they were found on; without one, the losses of all starts."""
    losses, grid = draw_start_losses(step, context), _find_grid_below(step, context)
    placed, on = (None, context) if grid is None else place_grid(grid, context)

    def paint(canvas: PlotCanvas) -> None:
        if placed is None:
            losses.paint(canvas)
            canvas.plot.update_layout(showlegend=False)
            return
        if not canvas.view.flat:
            add_signed_maps(canvas, placed, strength=UNDER)
        final = None if context.final is None else project_points(grid, context.final)
        add_centers(canvas, project_points(grid, step.centers), final=final)
        canvas.plane()

    def tabulate() -> pd.DataFrame:
        table = pd.DataFrame({"start": np.arange(1, len(step.losses) + 1), "synopsis loss": step.losses})
        table["chosen"] = table.index == step.chosen
        return table

    note = (step.title, "no further privacy is spent", on.view.about)
    return Chart(on, losses.title, note, losses.words, paint, table=tabulate)


def list_beside_starts(step: StartsStep, steps: Sequence[Step], context: RenderContext) -> Iterator[Companion]:
    """Their losses, where they are not the picture itself."""
    if _find_grid_below(step, replace(context, steps=steps)) is not None:
        yield Companion("Losses", draw_start_losses(step, context))


def _find_grid_below(step: StartsStep, context: RenderContext) -> Any:
    """The grid that the starts were solved on, where it can be drawn."""
    grids = context.list_before(step, "GridStep", "SynopsisStep")
    return grids[-1] if grids and step.centers.shape[1] == context.view.domain.dim else None


def draw_start_losses(step: StartsStep, context: RenderContext) -> Chart:
    """Synopsis losses from the best start to the worst."""
    losses: Array = np.where(np.abs(step.losses) < _ROUNDING, 0.0, step.losses)
    number, chosen = len(losses), step.chosen
    starts, best, typical = format_things(number, "start"), float(losses[chosen]), float(np.median(losses))
    if number == 1:
        title = "One start on the synopsis" + (": all points of it are centres" if best == 0 else "")
    elif typical <= 0:
        title = capitalize_first(f"{starts} on the synopsis")
    elif 1 - best / typical < _SAME:
        alike = int((losses <= best / (1 - _SAME)).sum())
        title = capitalize_first(f"{format_count(alike)} of {starts} end as well as the best")
    else:
        title = f"The best of {starts} loses {format_percent(1 - best / typical)} less than a typical one"

    def paint(canvas: PlotCanvas) -> None:
        order = np.argsort(losses, kind="stable")
        places = np.column_stack([np.arange(1, number + 1), losses[order]])
        hover = "start %{customdata}: loss %{y:.4g}"
        canvas.marks(places, "", "released", {"size": 9}, strength=0.6, hover=hover, notes=order + 1)
        here = places[order == chosen]
        ringed = {"size": 15, "line": {"width": 2, "color": canvas.palette.text}}
        canvas.marks(here, "", "released", ringed, hover=hover, notes=[chosen + 1])
        # Above its mark: others stand beside it, often at the same height.
        above = {"xanchor": "left", "yanchor": "bottom", "xshift": -8, "yshift": 10}
        x, y = here[0].tolist()
        canvas.note(f"start {chosen + 1} is chosen", x, y, above, color=canvas.palette.text)
        low, high = float(losses.min()), float(losses.max())
        air = 0.1 * (high - low) or 0.5 * abs(high) or 1.0
        ticks = {"tick0": 1, "dtick": max(1, round(number / 5))}
        canvas.plot.update_xaxes(title_text="starts, best first", range=[0.4, number + 0.6], **ticks)
        canvas.plot.update_yaxes(title_text="loss on the synopsis (unit coordinates²)", range=[low - air, high + air])
        if low == high == 0:
            canvas.plot.update_yaxes(tickvals=[0])

    note = ("each mark is a start: the lower, the better it fits the noisy counts",)
    words = f"{title}. The chosen start has a synopsis loss of {format_number(float(step.losses[chosen]))}."
    return Chart(context, title, note, words, paint, legend_lines=0)
