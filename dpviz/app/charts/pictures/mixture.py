"""A released mixture on the plane: weights as sizes, covariances as ellipses of two standard deviations."""

from __future__ import annotations

import numpy as np
import pandas as pd

from dpviz.algorithms import MixtureStep
from dpviz.app.charts.cells import join_outlines
from dpviz.app.charts.picture import Chart, RenderContext, describe_step, format_columns
from dpviz.app.charts.pictures.center_marks import add_centers
from dpviz.app.charts.plot_canvas import PlotCanvas
from dpviz.app.charts.view import View
from dpviz.core import Array
from dpviz.words import capitalize_first, format_number, format_percent, format_things, join_clauses

# Standard deviations that an ellipse reaches.
_SDS = 2.0
# Ellipses whose largest half-axis is below this part of the picture are enlarged to it.
_SMALLEST_PART = 0.08
# Points of an ellipse.
_AROUND = 64
# Diameters in pixels of the lightest and the heaviest part.
_SMALLEST, _LARGEST = 8.0, 15.0


def draw_mixture(step: MixtureStep, context: RenderContext) -> Chart:
    """Means with their numbers, ellipses around them; tiny ellipses enlarged, all alike, and said so."""
    view, domain, weights = context.view, context.view.domain, step.weights
    heaviest, parts = int(np.argmax(weights)), format_things(len(weights), "part")
    most = format_percent(float(weights[heaviest]))
    title = capitalize_first(f"{parts}: number {heaviest + 1} holds {most} of the weight")
    half = _compute_half_axes(step, view)
    times = _enlarge(half, view)
    enlarged = f", drawn {format_number(times)} times as large" if times > 1 else ""
    clipped = ""
    if step.clip_radius is not None:
        clipped = f"residuals clipped to {format_number(step.clip_radius)} (unit coordinates)"
    note = join_clauses(step.title, f"ellipses: ±{_SDS:g} sd{enlarged}", clipped, view.about)
    sd = np.sqrt(np.diagonal(step.covariances, axis1=1, axis2=2))
    spread = f"{format_number(float((sd * domain.scale).min()))} to {format_number(float((sd * domain.scale).max()))}"

    def paint(canvas: PlotCanvas) -> None:
        canvas.rows(context.reveal)
        angle = np.linspace(0, 2 * np.pi, _AROUND)
        ring = times * np.column_stack([np.cos(angle), np.sin(angle)])
        outlines = [middle + ring @ axes.T for middle, axes in zip(view.plane(step.centers), half, strict=True)]
        canvas.lines(join_outlines(outlines), "covariances", "released", width=1.5, fill=canvas.color("released", 0.14))
        sizes = _SMALLEST + (_LARGEST - _SMALLEST) * np.sqrt(weights / max(float(weights.max()), 1e-9))
        notes = describe_step(step.centers, domain, "part", {"weight (%)": 100 * weights})
        add_centers(canvas, step.centers, final=context.final, sizes=sizes, notes=notes)
        canvas.plane()

    def tabulate() -> pd.DataFrame:
        """Weights, means and standard deviations in data units, and the correlation of the first two columns."""
        table = pd.DataFrame(domain.from_unit(step.centers), columns=[f"{name}, mean" for name in domain.columns])
        table.insert(0, "part", np.arange(1, len(table) + 1))
        table.insert(1, "noisy weight", weights)
        for j, name in enumerate(domain.columns):
            table[f"{name}, sd"] = sd[:, j] * domain.scale[j]
        if domain.dim > 1:
            table["correlation of the first two"] = step.covariances[:, 0, 1] / np.maximum(sd[:, 0] * sd[:, 1], 1e-300)
        return table

    words = f"{title}. Standard deviations over {format_columns(domain)} run from {spread}."
    return Chart(context, title, note, words, paint, table=tabulate)


def _compute_half_axes(step: MixtureStep, view: View) -> Array:
    """Drawn matrices (k, 2, 2) that turn a unit circle into the ellipse of ``_SDS`` standard deviations."""
    dim = step.centers.shape[1]
    map_ = (view.plane(np.eye(dim)) - view.plane(np.zeros((1, dim)))).T
    spread = map_ @ step.covariances @ map_.T
    values, vectors = np.linalg.eigh((spread + spread.transpose(0, 2, 1)) / 2)
    half: Array = _SDS * vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :]
    return half


def _enlarge(half: Array, view: View) -> float:
    """How many times as large as they are ellipses are drawn."""
    reach = np.abs(half).sum(axis=2).max(axis=0)
    part = float((reach / np.ptp(np.array(view.extent), axis=1)).max())
    return max(1.0, float(f"{_SMALLEST_PART / part:.2g}")) if part > 0 else 1.0
