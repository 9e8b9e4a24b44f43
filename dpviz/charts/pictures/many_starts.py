"""Many starts solved on one synopsis: their losses in order, the chosen one marked. Nothing here costs privacy."""

from __future__ import annotations

import numpy as np
import pandas as pd

from dpviz.algorithms.tools.solvers import StartsStep
from dpviz.arrays import Array
from dpviz.charts.picture import Look, Picture
from dpviz.charts.sheet import Sheet
from dpviz.charts.wording import clauses, number, opening, percent, things
from dpviz.table.domain import Domain

# Losses below this are 0, and gains below this are none.
_ROUNDING, _SAME = 1e-9, 5e-4


class StartsPicture(Picture[StartsStep]):
    """Synopsis losses from the best start to the worst."""

    called = "starts"

    legend_lines = 0

    def finding(self, domain: Domain) -> str:
        losses = self._losses()
        starts = things(len(self.step.losses), "start")
        typical, best = float(np.median(losses)), float(losses[self.step.chosen])
        if len(losses) == 1:
            return "One start on the synopsis" + (": all points of it are centres" if best == 0 else "")
        if typical <= 0:
            return opening(f"{starts} on the synopsis")
        gain = 1 - best / typical
        if gain < _SAME:
            return f"At least half of {starts} end as well as the best"
        return f"The best of {starts} loses {percent(gain)} less than a typical one"

    def note(self, look: Look) -> str:
        free = "post-processing of what was released: no further privacy is spent"
        return clauses(self.step.title, free)

    def paint(self, sheet: Sheet, look: Look) -> None:
        chosen, plot = self.step.chosen, sheet.plot
        losses = self._losses()
        order = np.argsort(losses, kind="stable")
        starts = len(losses)
        places = np.column_stack([np.arange(1, starts + 1), losses[order]])
        hover = "start %{customdata}: loss %{y:.4g}"
        sheet.marks(places, "", "released", {"size": 9}, strength=0.6, hover=hover, notes=order + 1)
        here = places[order == chosen]
        ringed = {"size": 15, "line": {"width": 2, "color": sheet.palette.text}}
        sheet.marks(here, "", "released", ringed, hover=hover, notes=[chosen + 1])
        # Above its mark: others stand beside it, often at the same height.
        above = {"xanchor": "left", "yanchor": "bottom", "xshift": -8, "yshift": 10}
        x, y = here[0].tolist()
        sheet.note(f"start {chosen + 1} is chosen", x, y, above, color=sheet.palette.text)
        low, high = float(losses.min()), float(losses.max())
        air = 0.1 * (high - low) or 0.5 * abs(high) or 1.0
        ticks = {"tick0": 1, "dtick": max(1, round(starts / 5))}
        plot.update_xaxes(title_text="starts, best first", range=[0.4, starts + 0.6], **ticks)
        plot.update_yaxes(title_text="loss on the synopsis (unit coordinates²)", range=[low - air, high + air])
        if low == high == 0:
            plot.update_yaxes(tickvals=[0])

    def table(self, domain: Domain) -> pd.DataFrame:
        table = pd.DataFrame({"start": np.arange(1, len(self.step.losses) + 1), "synopsis loss": self.step.losses})
        table["chosen"] = table.index == self.step.chosen
        return table

    def words(self, domain: Domain) -> str:
        loss = number(float(self.step.losses[self.step.chosen]))
        return f"{self.finding(domain)}. The chosen start has a synopsis loss of {loss}."

    def _losses(self) -> Array:
        """Losses without what rounding makes of 0."""
        losses: Array = np.where(np.abs(self.step.losses) < _ROUNDING, 0.0, self.step.losses)
        return losses
