"""Noisy histograms as signed maps: blue above zero, plum below, pale where noise alone would do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil, sqrt

import numpy as np
import pandas as pd

from dpviz.algorithms.auto.view_synopsis import ZoomStep
from dpviz.algorithms.steps import GridStep, Step
from dpviz.arrays import Array, Codes
from dpviz.charts.canvas import SCREEN
from dpviz.charts.picture import Companion, Drawing, Look, Picture, columns_of, points_table
from dpviz.charts.pictures.grid_cells import (
    add_count_maps,
    add_noisy_bars,
    add_signed_maps,
    shown_grid,
    signed_colors,
    true_counts,
)
from dpviz.charts.sheet import Sheet
from dpviz.charts.view import View
from dpviz.charts.wording import clauses, number, percent, things
from dpviz.privacy.partitions import Grid
from dpviz.table.domain import Domain

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

    def rows(self, look: Look) -> Array | None:
        """Revealed rows in the coordinates of that grid."""
        return look.rows_in(look.view.domain.region)

    def finding(self, domain: Domain) -> str:
        if self.step.grid.n_cells == 1:
            return "A grid of one cell says nothing of where rows lie"
        return f"{standing_out(self.step):,} of {cells_in_words(self.step.grid.n_cells)} stand out from the noise"

    def note(self, look: Look) -> str:
        step, view = self.step, look.view
        most = int(shown_grid(step.grid, step.codes, step.noisy_counts, view).summed.max(initial=1))
        return clauses(
            f"standing out: over {number(_STANDS_OUT * step.sd)} rows, {_STANDS_OUT:g} sd of the noise",
            view.about,
            f"up to {most:,} cells added up: sd {number(step.sd * sqrt(most))}" if most > 1 else "",
            f"grey: not released (within ±{number(step.cutoff)})" if step.cutoff is not None else "",
        )

    def paint(self, sheet: Sheet, look: Look) -> None:
        step = self.grid_step()
        if sheet.view.flat:
            add_noisy_bars(sheet, step, self.rows(look))
        else:
            sheet.plot.update_layout(showlegend=False)
            add_signed_maps(sheet, step)
            sheet.plane(fill=None if step.cutoff is None else sheet.color("public", 0.16))
        if step.around is not None:
            sheet.frame(box_of(step.grid))

    def table(self, domain: Domain) -> pd.DataFrame:
        step = self.step
        top = largest(self.step.noisy_counts)
        table = points_table(step.grid.centers(step.codes[top]), domain)
        table["noisy count"], table["noise sd"] = step.noisy_counts[top], step.sd
        return table

    def words(self, domain: Domain) -> str:
        step = self.step
        text = f"Noisy histogram {self.over(domain)}. {self.finding(domain)}. Noise sd of a cell: {number(step.sd)}."
        if step.cutoff is None:
            return text
        others = f"All others of {cells_in_words(step.grid.n_cells)}, within ±{number(step.cutoff)}, were not released."
        return f"{text} {others}"

    def over(self, domain: Domain) -> str:
        """What the histogram is of."""
        return f"of {columns_of(domain)}"

    def companions(self, look: Look, steps: Sequence[Step]) -> Iterator[Companion]:
        rows = self.rows(look)
        view = self.view(look.view)
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
        truth = true_counts(self.step, self.rows)
        cells = cells_in_words(sum(layer.grid.n_cells for layer in truth))
        return f"{sum(len(layer.codes) for layer in truth):,} of {cells} hold a row"

    def note(self, look: Look) -> str:
        return clauses("true rows per cell: revealed, never a release", look.view.about)

    def paint(self, sheet: Sheet, look: Look) -> None:
        sheet.plot.update_layout(showlegend=False)
        add_count_maps(sheet, true_counts(self.step, self.rows), "true rows", "revealed")
        sheet.plane()
        if self.step.around is not None:
            sheet.frame(box_of(self.step.grid))

    def words(self, domain: Domain) -> str:
        return f"True rows in every cell of the grid. {self.finding(domain)}."


@dataclass(frozen=True, eq=False)
class Counts(Drawing[GridStep]):
    """All noisy counts, the fullest first, over a band of ±3 sd: what rises above it are rows."""

    legend_lines = 0

    def finding(self, domain: Domain) -> str:
        counts = self.step.noisy_counts
        return f"{standing_out(self.step):,} of {things(len(counts), 'count')} stand out; the others may be noise alone"

    def note(self, look: Look) -> str:
        counts = len(self.step.noisy_counts)
        some = f"every {ceil(counts / _SORTED)}th bar" if counts > _SORTED else ""
        return clauses(f"grey band: ±{_STANDS_OUT:g} sd, {number(_STANDS_OUT * self.step.sd)} rows", some)

    def paint(self, sheet: Sheet, look: Look) -> None:
        counts, plot = self.step.noisy_counts, sheet.plot
        order = np.argsort(-counts, kind="stable")
        picked = order[:: ceil(len(order) / _SORTED)]
        shown = counts[picked]
        wide = ceil(len(order) / _SORTED)
        ranks = np.arange(len(picked)) * wide + wide / 2
        marker = {"color": signed_colors(sheet, shown, self.step.sd)}
        hover = "%{y:.4g} rows (released)"
        sheet.band(-_STANDS_OUT * self.step.sd, _STANDS_OUT * self.step.sd, strength=0.18)
        x, y = ranks.astype(SCREEN), shown.astype(SCREEN)
        sheet.bars(x, y, np.full(len(x), wide, dtype=SCREEN), "noisy counts", "released", marker, hover=hover)
        plot.update_xaxes(title_text="cells, fullest first", range=[0, len(order)], showgrid=False, nticks=5)
        plot.update_yaxes(title_text="rows (noisy)", zeroline=True, zerolinecolor=sheet.palette.muted)
        plot.update_layout(bargap=0)

    def words(self, domain: Domain) -> str:
        return f"All noisy counts, sorted. {self.finding(domain)}."


def standing_out(step: GridStep) -> int:
    """How many cells are said to stand out: one word, one count, whoever says it."""
    return int((step.noisy_counts > _STANDS_OUT * step.sd).sum())


class ZoomPicture(GridPicture):
    """A coarse noisy histogram of the whole domain, and a frame around the box that holds nearly all rows, if any."""

    step: ZoomStep

    def title(self, look: Look) -> str:
        return self._box()

    def paint(self, sheet: Sheet, look: Look) -> None:
        super().paint(sheet, look)
        if self.step.box is not None:
            sheet.frame(self.step.box)

    def words(self, domain: Domain) -> str:
        return f"{self._box()}. {super().words(domain)}"

    def _box(self) -> str:
        if self.step.box is None:
            return "No small box holds nearly all rows"
        part = float(np.prod(np.ptp(self.step.box, axis=0) / (2 * self.step.grid.half)))
        return f"Nearly all rows lie in {percent(part)} of the domain"


def box_of(grid: Grid) -> Array:
    """Lower and upper corner of what a grid lies over, unit coordinates, shape (2, d)."""
    middle = 0.0 if grid.middle is None else grid.middle
    return np.stack([middle - grid.half, middle + grid.half])


def largest(counts: Array) -> Codes:
    """Positions of the largest counts, as many as a table shows, in their order."""
    few = min(_TABLE_ROWS, len(counts))
    top = np.sort(np.argpartition(-counts, few - 1)[:few]) if few else np.zeros(0, dtype=np.int64)
    ordered: Codes = top[np.argsort(-counts[top], kind="stable")]
    return ordered


def cells_in_words(cells: int) -> str:
    """A number of cells, rounded where it is longer than a reader takes in."""
    return f"{cells:,} cells" if cells < _COUNTABLE else f"{number(cells)} cells"
