"""A noisy histogram in a view of the rows, and beside it what denoising kept of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from dpviz.algorithms import Step, SynopsisStep
from dpviz.app.charts.canvas import SCREEN
from dpviz.app.charts.picture import Companion, Drawing, RenderContext, tabulate_points
from dpviz.app.charts.pictures.grid_cells import CellCounts, add_blocks, add_count_maps, add_kept_bars, find_shown_grid
from dpviz.app.charts.pictures.histogram import GridPicture, describe_cells, find_box, find_largest
from dpviz.app.charts.plot_canvas import PlotCanvas
from dpviz.app.charts.view import View
from dpviz.core import Array, Domain, Region
from dpviz.words import format_number, format_things, join_clauses

# An axis with this part of its length in one column is named after it.
_MOSTLY = 0.5
# What is shown around a box, as a share of its width.
_AIR = 0.06


class SynopsisPicture(GridPicture):
    """Signed noisy counts; over the axes of a view, the first two of them, from the middle of the rows."""

    called = "grid"

    step: SynopsisStep

    def view(self, view: View) -> View:
        if self.step.frame is None:
            return view.boxes()
        half = self.step.grid.half
        return view.with_space(
            Region(half, float(np.linalg.norm(half))), format_axis_names(self.step.frame, view.domain)
        )

    def grid_step(self) -> SynopsisStep:
        """With a grid around 0, where it lies over a view: its pictures then range over the grid and no more."""
        step = self.step
        return step if step.frame is None else replace(step, grid=replace(step.grid, middle=None))

    def rows(self, context: RenderContext) -> Array | None:
        """Revealed rows as the algorithm saw them, from the middle of the grid, shape (n, p)."""
        rows = super().rows(context)
        if rows is None or self.step.frame is None:
            return rows
        return self.project_points(rows, Region.ball(len(self.step.frame), context.view.domain.region.radius))

    def project_points(self, points: Array, space: Region | None = None) -> Array:
        """Points (m, d) of a step with a frame, from the middle of the grid along its axes; clipped to ``space``.

        ``points`` (m, d), unit coordinates. Returns (m, p), along the axes of the grid.
        """
        assert self.step.frame is not None
        projected: Array = points @ self.step.frame.T
        projected = projected if space is None else space.clip(projected)
        return projected if self.step.grid.middle is None else projected - self.step.grid.middle

    def table(self, domain: Domain) -> pd.DataFrame:
        step = self.step
        top = find_largest(self.step.noisy_counts)
        table = tabulate_points(step.grid.centers(step.codes[top]), domain, projected=step.frame is not None)
        if step.frame is not None:
            table.columns = pd.Index(format_axis_names(step.frame, domain))
        kept = np.zeros(len(step.codes))
        kept[step.kept] = step.weights
        table["noisy count"], table["count kept"], table["noise sd"] = step.noisy_counts[top], kept[top], step.sd
        return table

    def words(self, domain: Domain) -> str:
        return f"{super().words(domain)} {DenoisedCells(self.step).words(domain)}"

    def describe_over(self, domain: Domain) -> str:
        """What the histogram is of: columns, or axes of the view."""
        axes = format_things(len(self.step.grid.half), "axis", "axes")
        return super().describe_over(domain) if self.step.frame is None else f"over {axes} of the view"

    def companions(self, context: RenderContext, steps: Sequence[Step]) -> Iterator[Companion]:
        yield Companion("What is kept", DenoisedCells(self.step))
        if self.step.details is not None:
            yield Companion("Details", BlockSides(self.step, self.grid_step(), self.view(context.view)))
            yield Companion("Tree of details", DetailTree(self.step))
        if self.step.around is not None:
            yield Companion("In the box", DenoisedCells(self.step, in_its_box=True))
        yield from super().companions(context, steps)


@dataclass(frozen=True, eq=False)
class DenoisedCells(Drawing[SynopsisStep]):
    """The denoised counts of the cells that were kept, in the axes of the picture, or in those of its box."""

    in_its_box: bool = False
    legend_lines = 3

    def view(self, view: View) -> View:
        return SynopsisPicture(self.step).view(view)

    def finding(self, domain: Domain) -> str:
        step = self.step
        kept, cells = step.cells_kept, len(step.codes)
        if step.cutoff is not None:
            return f"{kept:,} of {describe_cells(step.grid.n_cells)} stand out enough to be kept"
        everything = cells + (len(step.around.codes) if step.around is not None else 0)
        if kept == everything:
            why = "smoothed, each stands out" if step.details is None else "none is told to be empty"
            return f"Denoising keeps all {kept:,} cells: {why}"
        return f"Denoising keeps {kept:,} of {everything:,} cells"

    def note(self, context: RenderContext) -> str:
        return join_clauses(
            "blank: what noise alone would show"
            if self.step.details is None
            else "blank: empty, as far as noise tells",
            f"kept: {format_number(self.step.rows_kept)} rows in all",
            context.view.about,
        )

    def paint(self, canvas: PlotCanvas, context: RenderContext) -> None:
        plot = canvas.plot
        step = SynopsisPicture(self.step).grid_step()
        layers = [CellCounts(step.grid, step.codes[step.kept], step.weights)]
        if step.around is not None:
            coarse = step.around.grid
            layers.insert(0, CellCounts(coarse, coarse.assign(step.outside), step.outside_weights))
        plot.update_layout(showlegend=False)
        if canvas.view.flat:
            add_kept_bars(canvas, step, layers)
        else:
            add_count_maps(canvas, layers, "rows kept", "released")
            canvas.plane()
        if step.around is not None:
            canvas.frame(find_box(step.grid))
        if self.in_its_box:
            low, high = canvas.view.plane(find_box(step.grid))
            around = np.column_stack([low, high]) + np.outer(high - low, [-_AIR, _AIR])
            plot.update_xaxes(range=list(around[0]))
            if not canvas.view.flat:
                plot.update_yaxes(range=list(around[1]))

    def words(self, domain: Domain) -> str:
        return f"{self.finding(domain)}; together they weigh {format_number(self.step.rows_kept)} rows."


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


# How strong the parts of a bar are: what stood out, what is believed in part, what is shared evenly.
_BARS = (("kept", 1.0), ("believed in part", 0.55), ("shared evenly", 0.18))
# How wide bars are that lie 1 apart, and the room above them as a share of their height.
_WIDTH, _AIR_ABOVE = 0.8, 0.04


@dataclass(frozen=True, eq=False)
class BlockSides(Drawing[SynopsisStep]):
    """The side of the block around each cell that shares its rows evenly: the darker, the finer rows are told apart.

    ``shown`` is the view of the step's picture, ``grid_step`` the step in its coordinates.
    """

    grid_step: SynopsisStep
    shown: View
    legend_lines = 3

    def view(self, view: View) -> View:
        return self.shown

    def finding(self, domain: Domain) -> str:
        alone = float(np.mean(self.step.told_apart.blocks == 1))
        return f"{format_number(100 * alone)} % of the cells stand out one by one"

    def note(self, context: RenderContext) -> str:
        hidden = len(self.step.grid.half) > (1 if self.shown.flat else 2)
        finest = "the finest along what is not shown" if hidden else ""
        return join_clauses("pale: large blocks, shared evenly", "first of several trees", finest, context.view.about)

    def paint(self, canvas: PlotCanvas, context: RenderContext) -> None:
        step, blocks = self.grid_step, self.step.told_apart.blocks.ravel()
        shown = find_shown_grid(step.grid, step.codes, np.zeros(len(blocks)), canvas.view)
        place = (step.grid.places(step.codes, list(shown.axes)) // shown.block).T
        sides = np.full(shown.values.size, np.inf)
        np.minimum.at(sides, np.ravel_multi_index(tuple(place), shown.values.shape), blocks)
        canvas.plot.update_layout(showlegend=False)
        add_blocks(canvas, shown, sides.reshape(shown.values.shape), max(2, int(blocks.max())))

    def table(self, domain: Domain) -> pd.DataFrame:
        return tabulate_details(self.step)

    def words(self, domain: Domain) -> str:
        return (
            f"{self.finding(domain)}; the largest block that shares its rows evenly is "
            f"{self.step.told_apart.blocks.max():,} cells wide."
        )


@dataclass(frozen=True, eq=False)
class DetailTree(Drawing[SynopsisStep]):
    """Of all blocks of each size, how many tell their parts apart and how many share their rows among them."""

    legend_lines = 3

    def finding(self, domain: Domain) -> str:
        details = self.step.told_apart
        out, of = int((details.kept + details.shrunk).sum()), int(details.all.sum())
        return f"{out:,} of {of:,} details stand out of the noise"

    def note(self, context: RenderContext) -> str:
        return "one tree of several: each block is cut in halves along all axes"

    def paint(self, canvas: PlotCanvas, context: RenderContext) -> None:
        plot, details = canvas.plot, self.step.told_apart
        below = np.zeros(len(details.sides))
        places, whole = np.arange(len(below)), np.maximum(details.all, 1)
        for (name, strength), blocks in zip(_BARS, (details.kept, details.shrunk, details.shared), strict=True):
            share = blocks / whole
            canvas.bars(
                places.astype(SCREEN),
                share.astype(SCREEN),
                np.full(len(places), _WIDTH, dtype=SCREEN),
                name,
                "released",
                strength=strength,
                hover="%{customdata}",
                notes=[f"{number_of:,} of {of:,} blocks: {name}" for number_of, of in zip(blocks, whole, strict=True)],
                trace={"base": below.astype(SCREEN)},
            )
            below = below + share
        words = [f"{side:,}" for side in details.sides]
        plot.update_xaxes(title_text="side of the parts, in cells", tickvals=places, ticktext=words)
        plot.update_xaxes(showgrid=False, zeroline=False)
        plot.update_yaxes(title_text="share of the blocks", tickformat=".0%", range=[0, 1 + _AIR_ABOVE])
        plot.update_layout(barmode="overlay", legend={"traceorder": "normal"})

    def table(self, domain: Domain) -> pd.DataFrame:
        return tabulate_details(self.step)

    def words(self, domain: Domain) -> str:
        details = self.step.told_apart
        listed = ", ".join(
            f"{kept + shrunk:,} of {of:,} at a side of {side:,}"
            for side, kept, shrunk, of in zip(details.sides, details.kept, details.shrunk, details.all, strict=True)
        )
        return f"{self.finding(domain)}: {listed}."


def tabulate_details(step: SynopsisStep) -> pd.DataFrame:
    """What became of the details, a line for each size of block."""
    details = step.told_apart
    return pd.DataFrame(
        {
            "side of the parts (cells)": details.sides,
            "kept": details.kept,
            "believed in part": details.shrunk,
            "shared evenly": details.shared,
        }
    )
