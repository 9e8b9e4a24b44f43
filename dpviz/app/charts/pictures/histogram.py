"""Noisy histograms as signed maps: blue above zero, plum below, pale where noise alone would do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil, sqrt

import numpy as np
import pandas as pd

from dpviz.algorithms import GridStep, Step, ZoomStep
from dpviz.app.charts.canvas import SCREEN
from dpviz.app.charts.picture import Companion, Drawing, Picture, RenderContext, format_columns, tabulate_points
from dpviz.app.charts.pictures.grid_cells import (
    add_count_maps,
    add_noisy_bars,
    add_signed_maps,
    choose_signed_colors,
    count_truth,
    find_shown_grid,
)
from dpviz.app.charts.plot_canvas import PlotCanvas
from dpviz.app.charts.view import View
from dpviz.core import Array, Codes, Domain, partitions
from dpviz.words import format_number, format_percent, format_things, join_clauses

# Beyond this many noise sd a cell is said to stand out.
_STANDS_OUT = 3.0
# As many cells as anybody reads.
_TABLE_ROWS = 1000
# As many bars as a narrow picture has pixels for.
_SORTED = 500
# Up to so many cells, digits are as long as a reader takes them in.
_COUNTABLE = 1e9


class GridPicture(Picture[GridStep]):
    """Signed noisy counts of the shown columns; over the bars of one column the true counts, if rows are revealed."""

    called = "grid"

    legend_lines = 3

    def view(self, view: View) -> View:
        return view.boxes()

    def grid_step(self) -> GridStep:
        """The step with its grid in the coordinates of the view."""
        return self.step

    def rows(self, context: RenderContext) -> Array | None:
        """Revealed rows in the coordinates of that grid."""
        return context.find_rows(context.view.domain.region)

    def finding(self, domain: Domain) -> str:
        if self.step.grid.n_cells == 1:
            return "A grid of one cell says nothing of where rows lie"
        return f"{find_outstanding(self.step):,} of {describe_cells(self.step.grid.n_cells)} stand out from the noise"

    def note(self, context: RenderContext) -> str:
        step, view = self.step, context.view
        most = int(find_shown_grid(step.grid, step.codes, step.noisy_counts, view).summed.max(initial=1))
        return join_clauses(
            f"standing out: over {format_number(_STANDS_OUT * step.sd)} rows, {_STANDS_OUT:g} sd of the noise",
            view.about,
            f"up to {most:,} cells added up: sd {format_number(step.sd * sqrt(most))}" if most > 1 else "",
            f"grey: not released (within ±{format_number(step.cutoff)})" if step.cutoff is not None else "",
        )

    def paint(self, canvas: PlotCanvas, context: RenderContext) -> None:
        step = self.grid_step()
        if canvas.view.flat:
            add_noisy_bars(canvas, step, self.rows(context))
        else:
            canvas.plot.update_layout(showlegend=False)
            add_signed_maps(canvas, step)
            canvas.plane(fill=None if step.cutoff is None else canvas.color("public", 0.16))
        if step.around is not None:
            canvas.frame(find_box(step.grid))

    def table(self, domain: Domain) -> pd.DataFrame:
        step = self.step
        top = find_largest(self.step.noisy_counts)
        table = tabulate_points(step.grid.centers(step.codes[top]), domain)
        table["noisy count"], table["noise sd"] = step.noisy_counts[top], step.sd
        return table

    def words(self, domain: Domain) -> str:
        step = self.step
        text = (
            f"Noisy histogram {self.describe_over(domain)}. {self.finding(domain)}. Noise sd of a cell: "
            f"{format_number(step.sd)}."
        )
        if step.cutoff is None:
            return text
        others = (
            f"All others of {describe_cells(step.grid.n_cells)}, within ±{format_number(step.cutoff)}, "
            f"were not released."
        )
        return f"{text} {others}"

    def describe_over(self, domain: Domain) -> str:
        """What the histogram is of."""
        return f"of {format_columns(domain)}"

    def companions(self, context: RenderContext, steps: Sequence[Step]) -> Iterator[Companion]:
        rows = self.rows(context)
        view = self.view(context.view)
        yield Companion("All counts", Counts(self.grid_step()))
        if rows is not None and not view.flat:
            yield Companion("True counts", TrueCounts(self.grid_step(), rows, view), "revealed")


@dataclass(frozen=True, eq=False)
class TrueCounts(Drawing[GridStep]):
    """What the cells of a grid truly hold of revealed ``rows`` (n, d), in the coordinates and axes of its picture."""

    rows: Array
    shown: View
    legend_lines = 3

    def view(self, view: View) -> View:
        return self.shown

    def finding(self, domain: Domain) -> str:
        truth = count_truth(self.step, self.rows)
        cells = describe_cells(sum(layer.grid.n_cells for layer in truth))
        return f"{sum(len(layer.codes) for layer in truth):,} of {cells} hold a row"

    def note(self, context: RenderContext) -> str:
        return join_clauses("true rows per cell: revealed, never a release", context.view.about)

    def paint(self, canvas: PlotCanvas, context: RenderContext) -> None:
        canvas.plot.update_layout(showlegend=False)
        add_count_maps(canvas, count_truth(self.step, self.rows), "true rows", "revealed")
        canvas.plane()
        if self.step.around is not None:
            canvas.frame(find_box(self.step.grid))

    def words(self, domain: Domain) -> str:
        return f"True rows in every cell of the grid. {self.finding(domain)}."


@dataclass(frozen=True, eq=False)
class Counts(Drawing[GridStep]):
    """All noisy counts, the fullest first, over a band of ±3 sd: what rises above it are rows."""

    legend_lines = 0

    def finding(self, domain: Domain) -> str:
        counts = self.step.noisy_counts
        return (
            f"{find_outstanding(self.step):,} of {format_things(len(counts), 'count')} stand out; the "
            f"others may be noise alone"
        )

    def note(self, context: RenderContext) -> str:
        counts = len(self.step.noisy_counts)
        some = f"every {ceil(counts / _SORTED)}th bar" if counts > _SORTED else ""
        return join_clauses(f"grey band: ±{_STANDS_OUT:g} sd, {format_number(_STANDS_OUT * self.step.sd)} rows", some)

    def paint(self, canvas: PlotCanvas, context: RenderContext) -> None:
        counts, plot = self.step.noisy_counts, canvas.plot
        order = np.argsort(-counts, kind="stable")
        picked = order[:: ceil(len(order) / _SORTED)]
        shown = counts[picked]
        wide = ceil(len(order) / _SORTED)
        ranks = np.arange(len(picked)) * wide + wide / 2
        marker = {"color": choose_signed_colors(canvas, shown, self.step.sd)}
        hover = "%{y:.4g} rows (released)"
        canvas.band(-_STANDS_OUT * self.step.sd, _STANDS_OUT * self.step.sd, strength=0.18)
        x, y = ranks.astype(SCREEN), shown.astype(SCREEN)
        canvas.bars(x, y, np.full(len(x), wide, dtype=SCREEN), "noisy counts", "released", marker, hover=hover)
        plot.update_xaxes(title_text="cells, fullest first", range=[0, len(order)], showgrid=False, nticks=5)
        plot.update_yaxes(title_text="rows (noisy)", zeroline=True, zerolinecolor=canvas.palette.muted)
        plot.update_layout(bargap=0)

    def words(self, domain: Domain) -> str:
        return f"All noisy counts, sorted. {self.finding(domain)}."


def find_outstanding(step: GridStep) -> int:
    """How many cells are said to stand out: one word, one count, whoever says it."""
    return int((step.noisy_counts > _STANDS_OUT * step.sd).sum())


class ZoomPicture(GridPicture):
    """A coarse noisy histogram of the whole domain, and a frame around the box that holds nearly all rows, or most."""

    step: ZoomStep

    def title(self, context: RenderContext) -> str:
        return self._box()

    def paint(self, canvas: PlotCanvas, context: RenderContext) -> None:
        super().paint(canvas, context)
        block = self.step.core if self.step.box is None else self.step.box
        if block is not None:
            canvas.frame(block)

    def words(self, domain: Domain) -> str:
        return f"{self._box()}. {super().words(domain)}"

    def _box(self) -> str:
        box, core = self.step.box, self.step.core
        block, rows = (core, "Most rows") if box is None else (box, "Nearly all rows")
        if block is None:
            return "No small box holds nearly all rows"
        part = float(np.prod(np.ptp(block, axis=0) / (2 * self.step.grid.half)))
        return f"{rows} lie in {format_percent(part)} of the domain"


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
