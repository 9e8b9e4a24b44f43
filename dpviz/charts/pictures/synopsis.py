"""A noisy histogram in a view of the rows, and beside it what denoising kept of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from dpviz.algorithms.auto.view_synopsis import SynopsisStep
from dpviz.algorithms.steps import Step
from dpviz.arrays import Array
from dpviz.charts.picture import Companion, Drawing, Look, points_table
from dpviz.charts.pictures.details import Blocks, DetailTree
from dpviz.charts.pictures.grid_cells import Counted, add_count_maps, add_kept_bars
from dpviz.charts.pictures.histogram import GridPicture, box_of, cells_in_words, largest
from dpviz.charts.sheet import Sheet
from dpviz.charts.view import View
from dpviz.charts.wording import clauses, number, things
from dpviz.table.domain import Domain, Region

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
        return view.within(Region(half, float(np.linalg.norm(half))), axis_names(self.step.frame, view.domain))

    def grid_step(self) -> SynopsisStep:
        """With a grid around 0, where it lies over a view: its pictures then range over the grid and no more."""
        step = self.step
        return step if step.frame is None else replace(step, grid=replace(step.grid, middle=None))

    def rows(self, look: Look) -> Array | None:
        """Revealed rows as the algorithm saw them, from the middle of the grid, shape (n, p)."""
        rows = super().rows(look)
        if rows is None or self.step.frame is None:
            return rows
        return self.seen(rows, Region.ball(len(self.step.frame), look.view.domain.region.radius))

    def seen(self, points: Array, space: Region | None = None) -> Array:
        """Points (m, d) of a step with a frame, from the middle of the grid along its axes; clipped to ``space``."""
        assert self.step.frame is not None
        projected: Array = points @ self.step.frame.T
        projected = projected if space is None else space.clip(projected)
        return projected if self.step.grid.middle is None else projected - self.step.grid.middle

    def table(self, domain: Domain) -> pd.DataFrame:
        step = self.step
        top = largest(self.step.noisy_counts)
        table = points_table(step.grid.centers(step.codes[top]), domain, projected=step.frame is not None)
        if step.frame is not None:
            table.columns = pd.Index(axis_names(step.frame, domain))
        kept = np.zeros(len(step.codes))
        kept[step.kept] = step.weights
        table["noisy count"], table["count kept"], table["noise sd"] = step.noisy_counts[top], kept[top], step.sd
        return table

    def words(self, domain: Domain) -> str:
        return f"{super().words(domain)} {Kept(self.step).words(domain)}"

    def over(self, domain: Domain) -> str:
        """What the histogram is of: columns, or axes of the view."""
        axes = things(len(self.step.grid.half), "axis", "axes")
        return super().over(domain) if self.step.frame is None else f"over {axes} of the view"

    def companions(self, look: Look, steps: Sequence[Step]) -> Iterator[Companion]:
        yield Companion("What is kept", Kept(self.step))
        if self.step.details is not None:
            yield Companion("Details", Blocks(self.step, self.grid_step(), self.view(look.view)))
            yield Companion("Tree of details", DetailTree(self.step))
        if self.step.around is not None:
            yield Companion("In the box", Kept(self.step, in_its_box=True))
        yield from super().companions(look, steps)


@dataclass(frozen=True, eq=False)
class Kept(Drawing[SynopsisStep]):
    """The denoised counts of the cells that were kept, in the axes of the picture, or in those of its box."""

    in_its_box: bool = False
    legend_lines = 3

    def view(self, view: View) -> View:
        return SynopsisPicture(self.step).view(view)

    def finding(self, domain: Domain) -> str:
        step = self.step
        kept, cells = step.cells_kept, len(step.codes)
        if step.cutoff is not None:
            return f"{kept:,} of {cells_in_words(step.grid.n_cells)} stand out enough to be kept"
        everything = cells + (len(step.around.codes) if step.around is not None else 0)
        if kept == everything:
            why = "smoothed, each stands out" if step.details is None else "none is told to be empty"
            return f"Denoising keeps all {kept:,} cells: {why}"
        return f"Denoising keeps {kept:,} of {everything:,} cells"

    def note(self, look: Look) -> str:
        return clauses(
            "blank: what noise alone would show"
            if self.step.details is None
            else "blank: empty, as far as noise tells",
            f"kept: {number(self.step.rows_kept)} rows in all",
            look.view.about,
        )

    def paint(self, sheet: Sheet, look: Look) -> None:
        plot = sheet.plot
        step = SynopsisPicture(self.step).grid_step()
        layers = [Counted(step.grid, step.codes[step.kept], step.weights)]
        if step.around is not None:
            coarse = step.around.grid
            layers.insert(0, Counted(coarse, coarse.assign(step.outside), step.outside_weights))
        plot.update_layout(showlegend=False)
        if sheet.view.flat:
            add_kept_bars(sheet, step, layers)
        else:
            add_count_maps(sheet, layers, "rows kept", "released")
            sheet.plane()
        if step.around is not None:
            sheet.frame(box_of(step.grid))
        if self.in_its_box:
            low, high = sheet.view.plane(box_of(step.grid))
            around = np.column_stack([low, high]) + np.outer(high - low, [-_AIR, _AIR])
            plot.update_xaxes(range=list(around[0]))
            if not sheet.view.flat:
                plot.update_yaxes(range=list(around[1]))

    def words(self, domain: Domain) -> str:
        return f"{self.finding(domain)}; together they weigh {number(self.step.rows_kept)} rows."


def axis_names(frame: Array, domain: Domain) -> tuple[str, ...]:
    """What the axes of a view are called: after a column, if they are mostly that column."""
    foremost = [int((axis**2).argmax()) for axis in frame]
    mostly = [
        f", mostly {domain.columns[j]}" if axis[j] ** 2 >= _MOSTLY else ""
        for axis, j in zip(frame, foremost, strict=True)
    ]
    return tuple(f"axis {number_of} of the view{part}" for number_of, part in enumerate(mostly, start=1))
