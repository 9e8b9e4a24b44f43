"""Many starts solved on one synopsis: their losses in order, the chosen one marked. Nothing here costs privacy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from dpviz.algorithms import StartsStep, Step
from dpviz.app.charts.picture import Companion, Drawing, Picture, RenderContext
from dpviz.app.charts.pictures.center_marks import add_centers
from dpviz.app.charts.pictures.grid_cells import UNDER, add_signed_maps
from dpviz.app.charts.pictures.histogram import GridPicture
from dpviz.app.charts.pictures.synopsis import SynopsisPicture
from dpviz.app.charts.plot_canvas import PlotCanvas
from dpviz.app.charts.view import View
from dpviz.core import Array, Domain
from dpviz.words import capitalize_first, format_count, format_number, format_percent, format_things, join_clauses

# Losses below this are 0, and gains below this are none.
_ROUNDING, _SAME = 1e-9, 5e-4


class StartsPicture(Picture[StartsStep]):
    """The centres of the chosen start over the synopsis they were found on; without one, the losses of all starts."""

    called = "starts"

    def finding(self, domain: Domain) -> str:
        return StartLosses(self.step).finding(domain)

    def note(self, context: RenderContext) -> str:
        return join_clauses(self.step.title, "no further privacy is spent", self._below(context)[1].about)

    def paint(self, canvas: PlotCanvas, context: RenderContext) -> None:
        below, view = self._below(context)
        if below is None:
            StartLosses(self.step).paint(canvas, context)
            canvas.plot.update_layout(showlegend=False)
            return
        canvas = replace(canvas, view=view)
        centers, final = self.step.centers, context.final
        if getattr(below, "frame", None) is not None:
            step = SynopsisPicture(below)
            centers, below = step.project_points(centers), step.grid_step()
            final = None if final is None else step.project_points(final)
        if not view.flat:
            add_signed_maps(canvas, below, strength=UNDER)
        add_centers(canvas, centers, final=final)
        canvas.plane()

    def table(self, domain: Domain) -> pd.DataFrame:
        table = pd.DataFrame({"start": np.arange(1, len(self.step.losses) + 1), "synopsis loss": self.step.losses})
        table["chosen"] = table.index == self.step.chosen
        return table

    def words(self, domain: Domain) -> str:
        loss = format_number(float(self.step.losses[self.step.chosen]))
        return f"{self.finding(domain)}. The chosen start has a synopsis loss of {loss}."

    def companions(self, context: RenderContext, steps: Sequence[Step]) -> Iterator[Companion]:
        if self._below(replace(context, steps=steps))[0] is not None:
            yield Companion("Losses", StartLosses(self.step))

    def _below(self, context: RenderContext) -> tuple[Any, View]:
        """The grid that the starts were solved on, where it can be drawn, and the view that shows it."""
        grids = context.list_before(self.step, "GridStep", "SynopsisStep")
        if not grids or self.step.centers.shape[1] != context.view.domain.dim:
            return None, context.view
        picture = SynopsisPicture if type(grids[-1]).__name__ == "SynopsisStep" else GridPicture
        return grids[-1], picture(grids[-1]).view(context.view)


class StartLosses(Drawing[StartsStep]):
    """Synopsis losses from the best start to the worst."""

    legend_lines = 0

    def finding(self, domain: Domain) -> str:
        losses = self._losses()
        starts = format_things(len(self.step.losses), "start")
        typical, best = float(np.median(losses)), float(losses[self.step.chosen])
        if len(losses) == 1:
            return "One start on the synopsis" + (": all points of it are centres" if best == 0 else "")
        if typical <= 0:
            return capitalize_first(f"{starts} on the synopsis")
        gain = 1 - best / typical
        if gain < _SAME:
            alike = int((losses <= best / (1 - _SAME)).sum())
            return capitalize_first(f"{format_count(alike)} of {starts} end as well as the best")
        return f"The best of {starts} loses {format_percent(gain)} less than a typical one"

    def note(self, context: RenderContext) -> str:
        return "each mark is a start: the lower, the better it fits the noisy counts"

    def paint(self, canvas: PlotCanvas, context: RenderContext) -> None:
        chosen, plot = self.step.chosen, canvas.plot
        losses = self._losses()
        order = np.argsort(losses, kind="stable")
        starts = len(losses)
        places = np.column_stack([np.arange(1, starts + 1), losses[order]])
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
        ticks = {"tick0": 1, "dtick": max(1, round(starts / 5))}
        plot.update_xaxes(title_text="starts, best first", range=[0.4, starts + 0.6], **ticks)
        plot.update_yaxes(title_text="loss on the synopsis (unit coordinates²)", range=[low - air, high + air])
        if low == high == 0:
            plot.update_yaxes(tickvals=[0])

    def words(self, domain: Domain) -> str:
        return StartsPicture(self.step).words(domain)

    def _losses(self) -> Array:
        """Losses without what rounding makes of 0."""
        losses: Array = np.where(np.abs(self.step.losses) < _ROUNDING, 0.0, self.step.losses)
        return losses
