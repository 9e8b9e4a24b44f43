"""Seeds drawn one by one: where a row would pull the next one, and how far noise throws it from its row."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy import stats

from dpviz.algorithms import SeedStep
from dpviz.app.charts.canvas import SCREEN
from dpviz.app.charts.picture import Picture, RenderContext, tabulate_points
from dpviz.app.charts.pictures.center_marks import add_centers
from dpviz.app.charts.plot_canvas import PlotCanvas
from dpviz.app.charts.view import View
from dpviz.core import Domain
from dpviz.words import format_number, format_things, join_clauses

# Cells of the map of pull along an axis, and points of the cloud of where a row may lie.
_FIELD, _CLOUD = 56, 500


class SeedPicture(Picture[SeedStep]):
    """Seeds so far over the pull that a row has by its place, and a cloud of where the last seed's row may lie."""

    called = "seeds"

    def finding(self, domain: Domain) -> str:
        far = format_number(self._typical_throw / domain.region.diameter)
        return f"Noise throws seed {len(self.step.centers)} some {far} diameters from its row"

    def note(self, context: RenderContext) -> str:
        pull = "the darker, the more a row there weighs" if self._has_pull(context.view) else ""
        near = "row, or from a public point" if self.step.floored else "row"
        noise = f"half of all noise is within {format_number(self._typical_throw)} unit coordinates of its {near}"
        return join_clauses(self.step.title, noise, pull, context.view.about)

    def paint(self, canvas: PlotCanvas, context: RenderContext) -> None:
        seeds = self.step.centers
        if self._has_pull(canvas.view):
            self._add_pull(canvas)
        canvas.rows(context.reveal)
        self._add_cloud(canvas)
        add_centers(canvas, seeds)
        canvas.plane()

    def table(self, domain: Domain) -> pd.DataFrame:
        """Seeds in data units, and the noise that the last one was drawn with."""
        table = tabulate_points(self.step.centers, domain, "seed")
        table["drawn now"] = np.where(table.index == len(table) - 1, "yes", "")
        table["noise scale now"] = self.step.kernel_scale
        return table

    def words(self, domain: Domain) -> str:
        return f"{self.finding(domain)}. {format_things(len(self.step.centers), 'seed').capitalize()} so far."

    @property
    def _typical_throw(self) -> float:
        """The median length of the noise, unit coordinates."""
        return float(stats.gamma(self.step.centers.shape[1], scale=self.step.kernel_scale).median())

    def _has_pull(self, view: View) -> bool:
        return len(self.step.centers) > 1 and view.whole and not view.flat

    def _add_pull(self, canvas: PlotCanvas) -> None:
        """Squared distance to the nearest seed before: how much a row at that place would weigh in the draw."""
        across, up = (np.linspace(-reach, reach, _FIELD) for reach in canvas.view.region.half)
        places = np.stack(np.meshgrid(across, up), axis=2)
        pull = ((places[:, :, None, :] - self.step.centers[:-1]) ** 2).sum(axis=3).min(axis=2)
        x, y = canvas.view.to_axis_units(np.column_stack([across, up])).astype(SCREEN).T
        hover = "squared distance to the seeds before: %{z:.3g}"
        scale = [[0, canvas.color("public", 0.0)], [1, canvas.color("public", 0.35)]]
        canvas.cells(pull, "public", hover=hover, x=x, y=y, colorscale=scale)

    def _add_cloud(self, canvas: PlotCanvas) -> None:
        """Points around the last seed at the distances of the noise: any could be its row. Chosen without data."""
        region = canvas.view.region
        dim = self.step.centers.shape[1]
        rng = np.random.default_rng(0)
        direction = rng.normal(size=(_CLOUD, dim))
        direction /= np.linalg.norm(direction, axis=1, keepdims=True)
        cloud = self.step.centers[-1] + direction * rng.gamma(dim, self.step.kernel_scale, (_CLOUD, 1))
        # Rows lie in the domain.
        inside = np.abs(region.clip(cloud) - cloud).max(axis=1) <= 1e-9 * region.radius
        places = canvas.view.plane(cloud[inside], "previous")
        canvas.marks(places, "where its row may lie", "released", {"size": 3.5}, strength=0.45)
