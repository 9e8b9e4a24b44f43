"""A pool of candidate sets: all of them faint, the selected parents stronger, the one selected first in front."""

from __future__ import annotations

import numpy as np
import pandas as pd

from dpviz.algorithms import PoolStep
from dpviz.app.charts.picture import Picture, RenderContext, tabulate_points
from dpviz.app.charts.pictures.center_marks import add_cells, add_centers
from dpviz.app.charts.plot_canvas import PlotCanvas
from dpviz.core import Array, Domain
from dpviz.words import capitalize_first, format_number, format_percent, format_things, join_clauses

# Centres of candidate sets that a picture can carry.
_POINTS_SHOWN = 4000


class PoolPicture(Picture[PoolStep]):
    """The centres of every candidate set; those of the selected ones stand out."""

    called = "candidate sets"

    def finding(self, domain: Domain) -> str:
        step = self.step
        selected = f"{format_things(len(step.chosen), 'set')} of {len(step.sets)} selected"
        return capitalize_first(f"{selected} from a pool of spread {format_number(step.spread)}")

    def note(self, context: RenderContext) -> str:
        chosen = self.step.sets[self.step.chosen]
        apart = np.linalg.norm(chosen - chosen.mean(axis=0), axis=2).mean() / max(context.view.region.diameter, 1e-300)
        alike = f"the selected differ by {format_percent(float(apart))} of the diameter" if len(chosen) > 1 else ""
        return join_clauses(self.step.title, "spread in unit coordinates", alike, context.view.about)

    def paint(self, canvas: PlotCanvas, context: RenderContext) -> None:
        step = self.step
        first = self.step.sets[self.step.chosen[0]]
        canvas.rows(context.reveal)
        add_cells(canvas, first, tinted=False)
        canvas.marks(_choose_some(step.sets, canvas), "candidate sets", "released", {"size": 3.5}, strength=0.3)
        if len(step.chosen) > 1:
            others = _choose_some(step.sets[step.chosen[1:]], canvas)
            marker = {"size": 7, "line": {"width": 0.5, "color": canvas.palette.surface}}
            canvas.marks(others, "selected", "released", marker, strength=0.8)
        add_centers(canvas, first)
        canvas.plane()

    def table(self, domain: Domain) -> pd.DataFrame:
        """The centres of the selected sets, data units, in the order of selection."""
        chosen = self.step.sets[self.step.chosen]
        draws, k, dim = chosen.shape
        table = tabulate_points(chosen.reshape(draws * k, dim), domain)
        table.insert(0, "selected as", np.repeat(np.arange(1, draws + 1), k))
        table.insert(1, "candidate", np.repeat(self.step.chosen + 1, k))
        table.insert(2, "centre", np.tile(np.arange(1, k + 1), draws))
        return table

    def words(self, domain: Domain) -> str:
        sets = self.step.sets
        k = self.step.sets.shape[1]
        return (
            f"{self.finding(domain)}. Each of {format_things(len(sets), 'candidate set')} has "
            f"{format_things(k, 'centre')}."
        )


def _choose_some(sets: Array, canvas: PlotCanvas) -> Array:
    """Where the centres of sets (m, k, d) are drawn, evenly picked ones where there are too many."""
    points = sets.reshape(-1, sets.shape[-1])
    picked = np.linspace(0, len(points) - 1, min(len(points), _POINTS_SHOWN)).astype(np.int64)
    return canvas.view.plane(points[picked])
