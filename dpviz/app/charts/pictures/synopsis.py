"""A noisy histogram in a view of the rows, and beside it what denoising kept of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from dpviz.algorithms import Step, SynopsisStep
from dpviz.app.charts.canvas import SCREEN
from dpviz.app.charts.picture import Chart, Companion, RenderContext, tabulate_points
from dpviz.app.charts.pictures.grid_cells import CellCounts, add_blocks, add_count_maps, add_kept_bars, find_shown_grid
from dpviz.app.charts.pictures.histogram import (
    describe_cells,
    draw_grid,
    find_box,
    find_largest,
    format_axis_names,
    list_beside_grid,
    place_grid,
)
from dpviz.app.charts.plot_canvas import PlotCanvas
from dpviz.words import format_number, join_clauses

# What is shown around a box, as a share of its width.
_AIR = 0.06
# How strong the parts of a bar are: what stood out, what is believed in part, what is shared evenly.
_BARS = (("kept", 1.0), ("believed in part", 0.55), ("shared evenly", 0.18))
# How wide bars are that lie 1 apart, and the room above them as a share of their height.
_WIDTH, _AIR_ABOVE = 0.8, 0.04


def draw_synopsis(step: SynopsisStep, context: RenderContext) -> Chart:
    """Signed noisy counts; over the axes of a view, the first two of them, from the middle of the rows."""
    grid, domain = draw_grid(step, context), context.view.domain

    def tabulate() -> pd.DataFrame:
        top = find_largest(step.noisy_counts)
        table = tabulate_points(step.grid.centers(step.codes[top]), domain, projected=step.frame is not None)
        if step.frame is not None:
            table.columns = pd.Index(format_axis_names(step.frame, domain))
        kept = np.zeros(len(step.codes))
        kept[step.kept] = step.weights
        table["noisy count"], table["count kept"], table["noise sd"] = step.noisy_counts[top], kept[top], step.sd
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
    title = _describe_kept(step)

    def paint(canvas: PlotCanvas) -> None:
        plot, flat = canvas.plot, canvas.view.flat
        layers = [CellCounts(placed.grid, step.codes[step.kept], step.weights)]
        if step.around is not None:
            coarse = placed.around.grid
            layers.insert(0, CellCounts(coarse, coarse.assign(step.outside), step.outside_weights))
        plot.update_layout(showlegend=False)
        if flat:
            add_kept_bars(canvas, placed, layers)
        else:
            add_count_maps(canvas, layers, "rows kept", "released")
            canvas.plane()
        if step.around is not None:
            canvas.frame(find_box(placed.grid))
        if in_its_box:
            low, high = canvas.view.plane(find_box(placed.grid))
            around = np.column_stack([low, high]) + np.outer(high - low, [-_AIR, _AIR])
            plot.update_xaxes(range=list(around[0]))
            if not flat:
                plot.update_yaxes(range=list(around[1]))

    rows = format_number(step.rows_kept)
    blank = "what noise alone would show" if step.details is None else "empty, as far as noise tells"
    note = join_clauses(f"blank: {blank}", f"kept: {rows} rows in all", context.view.about)
    return Chart(context, title, note, f"{title}; together they weigh {rows} rows.", paint, legend_lines=3)


def _describe_kept(step: SynopsisStep) -> str:
    kept = step.cells_kept
    if step.cutoff is not None:
        return f"{kept:,} of {describe_cells(step.grid.n_cells)} stand out enough to be kept"
    everything = len(step.codes) + (len(step.around.codes) if step.around is not None else 0)
    if kept == everything:
        why = "smoothed, each stands out" if step.details is None else "none is told to be empty"
        return f"Denoising keeps all {kept:,} cells: {why}"
    return f"Denoising keeps {kept:,} of {everything:,} cells"


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
    note = join_clauses("pale: large blocks, shared evenly", "first of several trees", finest, context.view.about)
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

    note, table = "one tree of several: each block is cut in halves along all axes", partial(_tabulate_details, step)
    return Chart(context, title, note, f"{title}: {listed}.", paint, legend_lines=3, table=table)


def _tabulate_details(step: SynopsisStep) -> pd.DataFrame:
    """What became of the details, a line for each size of block."""
    details = step.told_apart
    parts = {"kept": details.kept, "believed in part": details.shrunk, "shared evenly": details.shared}
    return pd.DataFrame({"side of the parts (cells)": details.sides} | parts)
