"""A released mixture on the plane: weights as sizes, covariances as ellipses of two standard deviations."""

from __future__ import annotations

import numpy as np
import pandas as pd

from dpviz.algorithms import MixtureStep
from dpviz.app.charts.cells import join_outlines
from dpviz.app.charts.picture import Picture, RenderContext, describe_step, format_columns
from dpviz.app.charts.pictures.center_marks import add_centers
from dpviz.app.charts.plot_canvas import PlotCanvas
from dpviz.app.charts.view import View
from dpviz.core import Array, Domain
from dpviz.words import capitalize_first, format_number, format_percent, format_things, join_clauses

# Standard deviations that an ellipse reaches.
_SDS = 2.0
# Ellipses whose largest half-axis is below this part of the picture are enlarged to it.
_SMALLEST_PART = 0.08
# Points of an ellipse.
_AROUND = 64
# Diameters in pixels of the lightest and the heaviest part.
_SMALLEST, _LARGEST = 8.0, 15.0


class MixturePicture(Picture[MixtureStep]):
    """Means with their numbers, ellipses around them; tiny ellipses enlarged, all alike, and said so."""

    called = "mixture"

    def finding(self, domain: Domain) -> str:
        weights = self.step.weights
        heaviest = int(np.argmax(self.step.weights))
        parts = format_things(len(weights), "part")
        return capitalize_first(
            f"{parts}: number {heaviest + 1} holds {format_percent(float(weights[heaviest]))} of the weight"
        )

    def note(self, context: RenderContext) -> str:
        radius = self.step.clip_radius
        times = _enlarge(self._half_axes(context.view), context.view)
        return join_clauses(
            self.step.title,
            f"ellipses: ±{_SDS:g} sd" + (f", drawn {format_number(times)} times as large" if times > 1 else ""),
            f"residuals clipped to {format_number(radius)} (unit coordinates)" if radius is not None else "",
            context.view.about,
        )

    def paint(self, canvas: PlotCanvas, context: RenderContext) -> None:
        step = self.step
        half = self._half_axes(canvas.view)
        canvas.rows(context.reveal)
        angle = np.linspace(0, 2 * np.pi, _AROUND)
        ring = _enlarge(half, canvas.view) * np.column_stack([np.cos(angle), np.sin(angle)])
        outlines = [middle + ring @ axes.T for middle, axes in zip(canvas.view.plane(step.centers), half, strict=True)]
        canvas.lines(join_outlines(outlines), "covariances", "released", width=1.5, fill=canvas.color("released", 0.14))
        sizes = _SMALLEST + (_LARGEST - _SMALLEST) * np.sqrt(step.weights / max(float(step.weights.max()), 1e-9))
        notes = describe_step(step.centers, canvas.view.domain, "part", {"weight (%)": 100 * step.weights})
        add_centers(canvas, step.centers, final=context.final, sizes=sizes, notes=notes)
        canvas.plane()

    def table(self, domain: Domain) -> pd.DataFrame:
        """Weights, means and standard deviations in data units, and the correlation of the first two columns."""
        step = self.step
        table = pd.DataFrame(domain.from_unit(step.centers), columns=[f"{name}, mean" for name in domain.columns])
        table.insert(0, "part", np.arange(1, len(table) + 1))
        table.insert(1, "noisy weight", step.weights)
        sd = np.sqrt(np.diagonal(step.covariances, axis1=1, axis2=2))
        for j, name in enumerate(domain.columns):
            table[f"{name}, sd"] = sd[:, j] * domain.scale[j]
        if domain.dim > 1:
            table["correlation of the first two"] = step.covariances[:, 0, 1] / np.maximum(sd[:, 0] * sd[:, 1], 1e-300)
        return table

    def words(self, domain: Domain) -> str:
        sd = np.sqrt(np.diagonal(self.step.covariances, axis1=1, axis2=2)) * domain.scale
        spread = f"{format_number(float(sd.min()))} to {format_number(float(sd.max()))}"
        return f"{self.finding(domain)}. Standard deviations over {format_columns(domain)} run from {spread}."

    def _half_axes(self, view: View) -> Array:
        """Drawn matrices (k, 2, 2) that turn a unit circle into the ellipse of ``_SDS`` standard deviations."""
        dim = self.step.centers.shape[1]
        map_ = (view.plane(np.eye(dim)) - view.plane(np.zeros((1, dim)))).T
        spread = map_ @ self.step.covariances @ map_.T
        values, vectors = np.linalg.eigh((spread + spread.transpose(0, 2, 1)) / 2)
        half: Array = _SDS * vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :]
        return half


def _enlarge(half: Array, view: View) -> float:
    """How many times as large as they are ellipses are drawn."""
    reach = np.abs(half).sum(axis=2).max(axis=0)
    part = float((reach / np.ptp(np.array(view.extent), axis=1)).max())
    return max(1.0, float(f"{_SMALLEST_PART / part:.2g}")) if part > 0 else 1.0
