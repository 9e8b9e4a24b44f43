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
from dpviz.charts.canvas import canvas, name_kinds, show_plane
from dpviz.charts.revealed import RevealedView, draw_rows
from dpviz.charts.studies.compare import dots
from dpviz.charts.theme import Palette, reference_marker
from dpviz.charts.view import View
from dpviz.charts.wording import clauses, number, ratio, things
from dpviz.runs.evaluation import Reference, match


@dataclass(frozen=True, eq=False)
class Draws:
    """All centres of several draws as see-through dots: where a single release may put them.

    Parameters
    ----------
    centers : array of shape (r, k, d)
        Of r runs at one setting, unit coordinates.
    losses : array of shape (r,)
        Over that of k-means++.
    view : View
        The plane in which they are drawn, over revealed rows where these may be shown.
    """

    stem: ClassVar[str] = "repeated-draws"
    centers: Array
    losses: Array
    view: View
    reference: Reference | None = None
    reveal: RevealedView | None = None

    @cached_property
    def distances(self) -> Array | None:
        """Distance of every centre of k-means++ to its match in every draw, shape (r, k); None without a reference."""
        if self.reference is None or len(self.reference.centers) != self.centers.shape[1]:
            return None
        away = np.empty(self.centers.shape[:2])
        for row, centers in zip(away, self.centers, strict=True):
            pairs = match(centers, self.reference.centers)
            row[pairs] = np.linalg.norm(centers - self.reference.centers[pairs], axis=1)
        return away

    @property
    def finding(self) -> str:
        """How far centres typically lie from those of k-means++."""
        if self.distances is None:
            return f"Centres of {things(len(self.centers), 'draw')}"
        typical = np.median(self.distances, axis=0)
        worst = int(typical.argmax())
        return (
            f"A centre typically lies {number(float(np.median(typical)))} from k-means++, centre {worst + 1} farthest: "
            f"{number(float(typical[worst]))}"
        )

    def draw(self, palette: Palette) -> go.Figure:
        """The cloud."""
        view = self.view
        about = f"{things(len(self.centers), 'draw')}, every centre a dot"
        figure = canvas(
            palette, title=self.finding, subtitle=clauses(about, "distances in unit coordinates", view.about)
        )
        if self.reveal is not None:
            draw_rows(figure, self.reveal.points, view, palette)
        places = view.plane(self.centers.reshape(-1, self.centers.shape[2]))
        faint = {"color": palette.released, "size": 7, "opacity": max(0.18, min(0.7, 6 / len(self.centers)))}
        dots(figure, places, faint, "centres of all draws", "released")
        if self.reference is not None:
            partners = view.plane(self.reference.centers, "reference")
            dots(figure, partners, reference_marker(palette), "k-means++", "revealed")
        show_plane(figure, view, palette)
        return name_kinds(figure, palette)

    def step(self, place: int) -> CentersStep:
        """One of the draws, counted from 0, as a release would look."""
        title = f"Draw {place + 1} of {len(self.centers)}: {ratio(float(self.losses[place]))} the loss of k-means++"
        return CentersStep(title=title, centers=self.centers[place], released=True)

    def words(self) -> str:
        """The cloud in words."""
        low, high = float(self.losses.min()), float(self.losses.max())
        return f"{self.finding}. Losses from {ratio(low)} to {ratio(high)} that of k-means++."

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
