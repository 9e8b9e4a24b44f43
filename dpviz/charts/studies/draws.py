"""The same release drawn again and again: where its centres fall, and how far from those of k-means++."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dpviz.algorithms.steps import CentersStep
from dpviz.arrays import Array
from dpviz.charts.album import picture_of
from dpviz.charts.canvas import canvas, legend_name, marks_xy, name_kinds, show_plane
from dpviz.charts.picture import Look
from dpviz.charts.revealed import RevealedView, draw_rows
from dpviz.charts.theme import Palette, reference_marker
from dpviz.charts.view import View
from dpviz.charts.wording import clauses, number, ratio, things
from dpviz.runs.evaluation import Reference, match
from dpviz.runs.found import Found


class Draws(NamedTuple):
    """Centres (r, k, d) of r runs at one setting, unit coordinates, and their losses (r,) over that of k-means++."""

    centers: Array
    losses: Array


def draw_cloud(
    draws: Draws,
    *,
    view: View,
    palette: Palette,
    reference: Reference | None = None,
    reveal: RevealedView | None = None,
) -> go.Figure:
    """All centres of all draws as see-through dots: where a single release may put them."""
    figure = canvas(
        palette,
        title=_finding(draws, reference),
        subtitle=clauses(
            f"{things(len(draws.centers), 'draw')}, every centre a dot", "distances in unit coordinates", view.about
        ),
    )
    if reveal is not None:
        draw_rows(figure, reveal.points, view, palette)
    dots = draws.centers.reshape(-1, draws.centers.shape[2])
    figure.add_trace(
        go.Scatter(
            **marks_xy(view.plane(dots)),
            **{"mode": "markers", "name": legend_name("centres of all draws", "released"), "meta": "released"},
            marker={"color": palette.released, "size": 7, "opacity": max(0.18, min(0.7, 6 / len(draws.centers)))},
            hovertemplate="%{x:.4g}, %{y:.4g}<extra></extra>",
        )
    )
    if reference is not None:
        figure.add_trace(
            go.Scatter(
                **marks_xy(view.plane(reference.centers, "reference")),
                **{"mode": "markers", "name": legend_name("k-means++", "revealed"), "meta": "revealed"},
                marker=reference_marker(palette),
                hovertemplate="k-means++: %{x:.4g}, %{y:.4g}<extra></extra>",
            )
        )
    show_plane(figure, view, palette)
    return name_kinds(figure, palette)


def draw_one(
    draws: Draws,
    place: int,
    *,
    view: View,
    palette: Palette,
    reference: Reference | None = None,
    found: Found | None = None,
    reveal: RevealedView | None = None,
) -> go.Figure:
    """One of the draws, counted from 0, as a release would look."""
    title = f"Draw {place + 1} of {len(draws.centers)}: {ratio(float(draws.losses[place]))} the loss of k-means++"
    step = CentersStep(title=title, centers=draws.centers[place], released=True)
    return picture_of(step).draw(Look(view, palette, reveal, reference, found=lambda _: found))


def describe_cloud(draws: Draws, reference: Reference | None = None) -> str:
    """The cloud in words."""
    low, high = float(draws.losses.min()), float(draws.losses.max())
    return f"{_finding(draws, reference)}. Losses from {ratio(low)} to {ratio(high)} that of k-means++."


def cloud_table(draws: Draws, reference: Reference) -> pd.DataFrame:
    """How far the centre matched to each k-means++ centre lies from it over the draws, unit coordinates."""
    away = distances(draws, reference)
    return pd.DataFrame(
        {
            "k-means++ centre": np.arange(1, away.shape[1] + 1),
            "typical distance": np.median(away, axis=0),
            "90 % of draws within": np.quantile(away, 0.9, axis=0),
            "farthest": away.max(axis=0),
        }
    )


def distances(draws: Draws, reference: Reference) -> Array:
    """Distance of every centre of k-means++ to its match in every draw, shape (r, k)."""
    found = np.empty(draws.centers.shape[:2])
    for row, centers in zip(found, draws.centers, strict=True):
        pairs = match(centers, reference.centers)
        row[pairs] = np.linalg.norm(centers - reference.centers[pairs], axis=1)
    return found


def _finding(draws: Draws, reference: Reference | None) -> str:
    if reference is None or len(reference.centers) != draws.centers.shape[1]:
        return f"Centres of {things(len(draws.centers), 'draw')}"
    typical = np.median(distances(draws, reference), axis=0)
    worst = int(typical.argmax())
    return (
        f"A centre typically lies {number(float(np.median(typical)))} from k-means++, centre {worst + 1} farthest: "
        f"{number(float(typical[worst]))}"
    )
