"""The same release drawn again and again: where its centres fall, and how far from those of k-means++."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np
import pandas as pd

from dpviz.algorithms import CentersStep
from dpviz.app.charts.animation import Animation, Shot
from dpviz.app.charts.canvas import TitledPlot
from dpviz.app.charts.layout import make_reference_marker
from dpviz.app.charts.picture import Chart, Companion, RenderContext
from dpviz.app.charts.plot_canvas import PlotCanvas
from dpviz.core import Array
from dpviz.runs import evaluation
from dpviz.words import format_number, format_ratio, format_things, join_clauses


@dataclass(frozen=True, eq=False)
class CenterDraws:
    """All centres of several draws as see-through dots: where a single release may put them.

    ``centers`` (r, k, d), of r runs at one setting, unit coordinates; ``losses`` (r,), over that of k-means++.
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
            pairs = evaluation.match(centers, reference.centers)
            row[pairs] = np.linalg.norm(centers - reference.centers[pairs], axis=1)
        return away

    @property
    def finding(self) -> str:
        """Which centre typically lies farthest from its own of k-means++, and how far."""
        if self.distances is None:
            return f"Centres of {format_things(len(self.centers), 'draw')}"
        typical = np.median(self.distances, axis=0)
        return f"Centre {typical.argmax() + 1} strays most from k-means++: {format_number(float(typical.max()))}"

    def draw(self) -> TitledPlot:
        """The cloud."""
        return self.cloud.draw()

    def animate(self) -> Animation:
        """The draws one after the other, each as a release would look, beside the cloud of all."""
        beside, epsilon = [Companion("All draws", self.cloud)], self.context.epsilon
        spent = "" if epsilon is None else f"ε {epsilon:g} for each draw"
        shots = [Shot(self.step(place), "draw", epsilon or 0.0, spent) for place in range(len(self.centers))]
        return Animation(shots, replace(self.context, ratio=self._find_loss, known={}), lambda _: beside)

    def _find_loss(self, centers: Array) -> float | None:
        """Of one of the draws."""
        same = (self.centers == centers).all(axis=(1, 2))
        return float(self.losses[same.argmax()]) if same.any() else None

    @cached_property
    def cloud(self) -> Chart:
        """Every centre of every draw on the plane."""
        context, away, typical = self.context, self.distances, "distances in unit coordinates"
        if away is not None:
            typical = f"typically {format_number(float(np.median(away)))} from k-means++ (unit coordinates)"

        def paint(canvas: PlotCanvas) -> None:
            view = canvas.view
            canvas.rows(context.reveal)
            faint = {"size": 7, "opacity": max(0.18, min(0.7, 6 / len(self.centers)))}
            places = view.plane(self.centers.reshape(-1, self.centers.shape[2]))
            canvas.marks(places, "centres of all draws", "released", faint, hover="%{x:.4g}, %{y:.4g}")
            if context.reference is not None:
                partners, hover = view.plane(context.reference.centers, "reference"), "k-means++: %{x:.4g}, %{y:.4g}"
                canvas.marks(partners, "k-means++", "revealed", make_reference_marker(canvas.palette), hover=hover)
            canvas.plane()

        about = f"{format_things(len(self.centers), 'draw')}, every centre a dot"
        note = join_clauses(about, typical, context.view.about)
        return Chart(context, self.finding, note, self.words(), paint)

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
