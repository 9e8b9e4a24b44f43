"""Noisy histograms as signed maps: blue above zero, plum below, pale where noise alone would do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import ceil, sqrt
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from dpviz.algorithms import GridStep, Step, ZoomStep
from dpviz.app.charts.canvas import SCREEN
from dpviz.app.charts.picture import Chart, Companion, RenderContext, format_columns, tabulate_points
from dpviz.app.charts.pictures.grid_cells import (
    add_count_maps,
    add_noisy_bars,
    add_signed_maps,
    choose_signed_colors,
    count_truth,
    find_shown_grid,
)
from dpviz.app.charts.plot_canvas import PlotCanvas
from dpviz.core import Array, Codes, Domain, Region, partitions
from dpviz.words import format_number, format_percent, format_things, join_clauses

# Beyond this many noise sd a cell is said to stand out.
_STANDS_OUT = 3.0
# An axis with this part of its length in one column is named after it.
_MOSTLY = 0.5
# As many cells as anybody reads.
_TABLE_ROWS = 1000
# As many bars as a narrow picture has pixels for.
_SORTED = 500
# Up to so many cells, digits are as long as a reader takes them in.
_COUNTABLE = 1e9


class PlacedGrid(NamedTuple):
    """A step with its grid in the coordinates of the view that shows it, and the context with that view."""

    step: Any
    context: RenderContext


def place_grid(step: GridStep, context: RenderContext) -> PlacedGrid:
    """A grid over columns is shown along two of them, one over the axes of a ``frame`` from its own middle."""
    frame, half = getattr(step, "frame", None), step.grid.half
    if frame is None:
        return PlacedGrid(step, context.on(context.view.boxes()))
    space, names = Region(half, float(np.linalg.norm(half))), format_axis_names(frame, context.view.domain)
    # Its pictures then range over the grid and no more.
    around_zero = replace(step, grid=replace(step.grid, middle=None))
    return PlacedGrid(around_zero, context.on(context.view.with_space(space, names)))


def project_points(step: GridStep, points: Array, space: Region | None = None) -> Array:
    """Points (m, d) along the axes of a step's frame, from the middle of its grid; clipped to ``space``.

    ``points`` (m, d), unit coordinates. Returns (m, p), along the axes of the grid; as they are without a frame.
    """
    frame = getattr(step, "frame", None)
    if frame is None:
        return points
    projected: Array = points @ frame.T
    projected = projected if space is None else space.clip(projected)
    return projected if step.grid.middle is None else projected - step.grid.middle


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
    note = join_clauses(
        f"standing out: over {format_number(_STANDS_OUT * sd)} rows, {_STANDS_OUT:g} sd of the noise",
        view.about,
        f"up to {most:,} cells added up: sd {format_number(sd * sqrt(most))}" if most > 1 else "",
        f"grey: not released (within ±{format_number(step.cutoff)})" if step.cutoff is not None else "",
    )
    over = f"of {format_columns(view.domain)}"
    if getattr(step, "frame", None) is not None:
        over = f"over {format_things(len(step.grid.half), 'axis', 'axes')} of the view"
    words = f"Noisy histogram {over}. {title}. Noise sd of a cell: {format_number(sd)}."
    if step.cutoff is not None:
        words += f" All others of {cells}, within ±{format_number(step.cutoff)}, were not released."

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
        table = tabulate_points(step.grid.centers(step.codes[top]), view.domain)
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

    note = join_clauses("true rows per cell: revealed, never a release", context.view.about)
    words = f"True rows in every cell of the grid. {title}."
    return Chart(context, title, note, words, paint, legend_lines=3, kind="revealed")


def draw_counts(step: GridStep, context: RenderContext) -> Chart:
    """All noisy counts, the fullest first, over a band of ±3 sd: what rises above it are rows."""
    counts, band = step.noisy_counts, _STANDS_OUT * step.sd
    wide, number = ceil(len(counts) / _SORTED), format_things(len(counts), "count")
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

    some = f"every {wide}th bar" if wide > 1 else ""
    note = join_clauses(f"grey band: ±{_STANDS_OUT:g} sd, {format_number(band)} rows", some)
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
    """What the axes of a view are called: after a column, if they are mostly that column.

    ``frame`` (p, d), rows are axes.
    """
    foremost = [int((axis**2).argmax()) for axis in frame]
    mostly = [
        f", mostly {domain.columns[j]}" if axis[j] ** 2 >= _MOSTLY else ""
        for axis, j in zip(frame, foremost, strict=True)
    ]
    return tuple(f"axis {number_of} of the view{part}" for number_of, part in enumerate(mostly, start=1))


def find_box(grid: partitions.Grid) -> Array:
    """Lower and upper corner of what a grid lies over, unit coordinates, shape (2, d)."""
    middle = 0.0 if grid.middle is None else grid.middle
    return np.stack([middle - grid.half, middle + grid.half])


def find_largest(counts: Array) -> Codes:
    """Positions of the largest counts, as many as a table shows, in their order."""
    few = min(_TABLE_ROWS, len(counts))
    top = np.sort(np.argpartition(-counts, few - 1)[:few]) if few else np.zeros(0, dtype=np.int64)
    ordered: Codes = top[np.argsort(-counts[top], kind="stable")]
    return ordered


def describe_cells(cells: int) -> str:
    """A number of cells, rounded where it is longer than a reader takes in."""
    return f"{cells:,} cells" if cells < _COUNTABLE else f"{format_number(cells)} cells"
