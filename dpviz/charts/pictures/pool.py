"""A pool of candidate sets: all of them faint, the selected parents stronger, the one selected first in front."""

from __future__ import annotations

import numpy as np
import pandas as pd

from dpviz.algorithms.su2016.pgkm import PoolStep
from dpviz.arrays import Array
from dpviz.charts.picture import Look, Picture, points_table
from dpviz.charts.pictures.center_marks import add_cells, add_centers
from dpviz.charts.sheet import Sheet
from dpviz.charts.wording import clauses, number, opening, percent, things
from dpviz.table.domain import Domain

# Centres of candidate sets that a picture can carry.
_POINTS_SHOWN = 4000


class PoolPicture(Picture[PoolStep]):
    """The centres of every candidate set; those of the selected ones stand out."""

    called = "candidate sets"

    def finding(self, domain: Domain) -> str:
        step = self.step
        selected = f"{things(len(step.chosen), 'set')} of {len(step.sets)} selected"
        return opening(f"{selected} from a pool of spread {number(step.spread)}")

    def note(self, look: Look) -> str:
        chosen = self.step.sets[self.step.chosen]
        apart = np.linalg.norm(chosen - chosen.mean(axis=0), axis=2).mean() / max(look.view.region.diameter, 1e-300)
        alike = f"the selected differ by {percent(float(apart))} of the diameter" if len(chosen) > 1 else ""
        return clauses(self.step.title, "spread in unit coordinates", alike, look.view.about)

    def paint(self, sheet: Sheet, look: Look) -> None:
        step = self.step
        first = self.step.sets[self.step.chosen[0]]
        sheet.rows(look.reveal)
        add_cells(sheet, first, tinted=False)
        sheet.marks(_some_of(step.sets, sheet), "candidate sets", "released", {"size": 3.5}, strength=0.3)
        if len(step.chosen) > 1:
            others = _some_of(step.sets[step.chosen[1:]], sheet)
            marker = {"size": 7, "line": {"width": 0.5, "color": sheet.palette.surface}}
            sheet.marks(others, "selected", "released", marker, strength=0.8)
        add_centers(sheet, first)
        sheet.plane()

    def table(self, domain: Domain) -> pd.DataFrame:
        """The centres of the selected sets, data units, in the order of selection."""
        chosen = self.step.sets[self.step.chosen]
        draws, k, dim = chosen.shape
        table = points_table(chosen.reshape(draws * k, dim), domain)
        table.insert(0, "selected as", np.repeat(np.arange(1, draws + 1), k))
        table.insert(1, "candidate", np.repeat(self.step.chosen + 1, k))
        table.insert(2, "centre", np.tile(np.arange(1, k + 1), draws))
        return table

    def words(self, domain: Domain) -> str:
        sets = self.step.sets
        k = self.step.sets.shape[1]
        return f"{self.finding(domain)}. Each of {things(len(sets), 'candidate set')} has {things(k, 'centre')}."


def _some_of(sets: Array, sheet: Sheet) -> Array:
    """Where the centres of sets (m, k, d) are drawn, evenly picked ones where there are too many."""
    points = sets.reshape(-1, sets.shape[-1])
    picked = np.linspace(0, len(points) - 1, min(len(points), _POINTS_SHOWN)).astype(np.int64)
    return sheet.view.plane(points[picked])
