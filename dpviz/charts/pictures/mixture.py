"""A released mixture on the plane: weights as sizes, covariances as ellipses of two standard deviations."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dpviz.algorithms.cohen2021.gaussian_mixture import MixtureStep
from dpviz.arrays import Array
from dpviz.charts.canvas import canvas, line_xy, name_kinds, show_plane
from dpviz.charts.cells import joined
from dpviz.charts.names import spelled
from dpviz.charts.pictures.centers import draw_center_marks, marks_of
from dpviz.charts.revealed import RevealedView, draw_rows
from dpviz.charts.theme import Palette
from dpviz.charts.view import View
from dpviz.charts.wording import clauses, number, opening, percent, things
from dpviz.table.domain import Domain

_SDS = 2.0
# Ellipses whose largest half-axis is below this part of the picture are enlarged to it.
_SMALLEST_PART = 0.08


def draw_mixture(step: MixtureStep, *, view: View, palette: Palette, reveal: RevealedView | None = None) -> go.Figure:
    """Means with their numbers, ellipses around them; tiny ellipses enlarged, all alike, and said so."""
    half = _half_axes(step, view)
    times = _enlarged(half, view)
    clip = f"residuals clipped to {number(step.clip_radius)} (unit coordinates)" if step.clip_radius is not None else ""
    drawn = f"ellipses: ±{_SDS:g} sd" + (f", drawn {number(times)} times as large" if times > 1 else "")
    figure = canvas(palette, title=_finding(step), subtitle=clauses(step.title, drawn, clip, view.about))
    if reveal is not None:
        draw_rows(figure, reveal.points, view, palette)
    angle = np.linspace(0, 2 * np.pi, 64)
    ring = np.column_stack([np.cos(angle), np.sin(angle)])
    middles = view.plane(step.centers)
    outlines = [middle + times * ring @ axes.T for middle, axes in zip(middles, half, strict=True)]
    figure.add_trace(
        go.Scatter(
            **line_xy(joined(outlines)),
            mode="lines",
            name="covariances",
            line={"color": palette.released, "width": 1.5},
            fill="toself",
            fillcolor=palette.faded(palette.released, 0.14),
            hoverinfo="skip",
            meta="released",
        )
    )
    draw_center_marks(figure, step.centers, _sizes(step), view, palette, hover=_hover(step, view.domain))
    show_plane(figure, view, palette)
    return name_kinds(figure, palette)


def mixture_table(step: MixtureStep, *, domain: Domain) -> pd.DataFrame:
    """Weights, means and standard deviations in data units, and the correlation of the first two columns."""
    table = pd.DataFrame(domain.from_unit(step.centers), columns=[f"{name}, mean" for name in domain.columns])
    table.insert(0, "part", np.arange(1, len(table) + 1))
    table.insert(1, "noisy weight", step.weights)
    sd = np.sqrt(np.diagonal(step.covariances, axis1=1, axis2=2))
    for j, name in enumerate(domain.columns):
        table[f"{name}, sd"] = sd[:, j] * domain.scale[j]
    if domain.dim > 1:
        table["correlation of the first two"] = step.covariances[:, 0, 1] / np.maximum(sd[:, 0] * sd[:, 1], 1e-300)
    return table


def describe_mixture(step: MixtureStep, *, domain: Domain) -> str:
    """The picture in words."""
    sd = np.sqrt(np.diagonal(step.covariances, axis1=1, axis2=2)) * domain.scale
    spread = f"{number(float(sd.min()))} to {number(float(sd.max()))}"
    return f"{_finding(step)}. Standard deviations over {', '.join(domain.columns[:4])} run from {spread}."


def _finding(step: MixtureStep) -> str:
    heaviest = int(np.argmax(step.weights))
    parts = things(len(step.weights), "part")
    return opening(f"{parts}: number {heaviest + 1} holds {percent(float(step.weights[heaviest]))} of the weight")


def _half_axes(step: MixtureStep, view: View) -> Array:
    """Drawn matrices (k, 2, 2) that turn a unit circle into the ellipse of ``_SDS`` standard deviations."""
    dim = step.centers.shape[1]
    origin = view.plane(np.zeros((1, dim)))
    map_ = (view.plane(np.eye(dim)) - origin).T
    spread = map_ @ step.covariances @ map_.T
    values, vectors = np.linalg.eigh((spread + spread.transpose(0, 2, 1)) / 2)
    half: Array = _SDS * vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :]
    return half


def _enlarged(half: Array, view: View) -> float:
    reach = np.abs(half).sum(axis=2).max(axis=0)
    width = np.ptp(np.array(view.extent), axis=1)
    part = float((reach / width).max())
    return max(1.0, float(f"{_SMALLEST_PART / part:.2g}")) if part > 0 else 1.0


def _sizes(step: MixtureStep) -> Array:
    low, high, *_ = marks_of(len(step.weights))
    sizes: Array = low + (high - low) * np.sqrt(step.weights / max(float(step.weights.max()), 1e-9))
    return sizes


def _hover(step: MixtureStep, domain: Domain) -> list[str]:
    means = domain.from_unit(step.centers)
    return [
        f"<b>part {i + 1}</b> (released)<br>weight: {percent(float(step.weights[i]))}"
        + "".join(
            f"<br>{spelled(name)}: {number(float(v))}" for name, v in zip(domain.columns[:6], mean[:6], strict=True)
        )
        for i, mean in enumerate(means)
    ]
