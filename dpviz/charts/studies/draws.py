"""The same release drawn again and again: where its centres fall, and how far from those of k-means++."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dpviz.algorithms.steps import CentersStep
from dpviz.arrays import Array
from dpviz.charts.canvas import name_kinds, new_figure
from dpviz.charts.picture import RenderContext
from dpviz.charts.plot_canvas import PlotCanvas
from dpviz.charts.theme import make_reference_marker
from dpviz.charts.wording import format_number, format_ratio, format_things, join_clauses
from dpviz.runs.evaluation import match


@dataclass(frozen=True, eq=False)
class Draws:
    """All centres of several draws as see-through dots: where a single release may put them.

    Parameters
    ----------
    centers : array of shape (r, k, d)
        Of r runs at one setting, unit coordinates.
    losses : array of shape (r,)
        Over that of k-means++.
    context : RenderContext
        How they are looked at: the plane, k-means++, and rows where these may be shown.
    """

    stem: ClassVar[str] = "repeated-draws"
    centers: Array
    losses: Array
    context: RenderContext

    @cached_property
    def distances(self) -> Array | None:
        """Distance of every centre of k-means++ to its match in every draw, shape (r, k); None without a reference."""
        reference = self.context.reference
        if reference is None or len(reference.centers) != self.centers.shape[1]:
            return None
        away = np.empty(self.centers.shape[:2])
        for row, centers in zip(away, self.centers, strict=True):
            pairs = match(centers, reference.centers)
            row[pairs] = np.linalg.norm(centers - reference.centers[pairs], axis=1)
        return away

    @property
    def finding(self) -> str:
        """Which centre typically lies farthest from its own of k-means++, and how far."""
        if self.distances is None:
            return f"Centres of {format_things(len(self.centers), 'draw')}"
        typical = np.median(self.distances, axis=0)
        return f"Centre {typical.argmax() + 1} strays most from k-means++: {format_number(float(typical.max()))}"

    def draw(self) -> go.Figure:
        """The cloud."""
        view, palette = self.context.view, self.context.palette
        about, typical = (
            f"{format_things(len(self.centers), 'draw')}, every centre a dot",
            "distances in unit coordinates",
        )
        if self.distances is not None:
            typical = f"typically {format_number(float(np.median(self.distances)))} from k-means++ (unit coordinates)"
        subtitle = join_clauses(about, typical, view.about)
        canvas = PlotCanvas(new_figure(palette, title=self.finding, subtitle=subtitle), palette, view)
        canvas.rows(self.context.reveal)
        places = view.plane(self.centers.reshape(-1, self.centers.shape[2]))
        faint = {"size": 7, "opacity": max(0.18, min(0.7, 6 / len(self.centers)))}
        canvas.marks(places, "centres of all draws", "released", faint, hover="%{x:.4g}, %{y:.4g}")
        if self.context.reference is not None:
            partners, hover = view.plane(self.context.reference.centers, "reference"), "k-means++: %{x:.4g}, %{y:.4g}"
            canvas.marks(partners, "k-means++", "revealed", make_reference_marker(palette), hover=hover)
        canvas.plane()
        return name_kinds(canvas.plot, palette).figure()

    def step(self, place: int) -> CentersStep:
        """One of the draws, counted from 0, as a release would look."""
        title = (
            f"Draw {place + 1} of {len(self.centers)}: {format_ratio(float(self.losses[place]))} the loss of k-means++"
        )
        return CentersStep(title=title, centers=self.centers[place], released=True)

    def words(self) -> str:
        """The cloud in words."""
        low, high = float(self.losses.min()), float(self.losses.max())
        return f"{self.finding}. Losses from {format_ratio(low)} to {format_ratio(high)} that of k-means++."

    def table(self) -> pd.DataFrame:
        """How far the centre matched to each k-means++ centre lies from it over the draws, unit coordinates."""
        away = np.empty((1, 0)) if self.distances is None else self.distances
        return pd.DataFrame(
            {
                "k-means++ centre": np.arange(1, away.shape[1] + 1),
                "typical distance": np.median(away, axis=0),
                "90 % of draws within": np.quantile(away, 0.9, axis=0),
                "farthest": away.max(axis=0),
            }
        )
