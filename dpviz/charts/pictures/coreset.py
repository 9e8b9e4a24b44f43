"""A coreset on the plane: weighted points that stand for all rows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dpviz.algorithms.hashes.lsh_coreset import CoresetStep
from dpviz.arrays import Array
from dpviz.charts.canvas import canvas, legend_name, line_xy, marks_xy, name_kinds, show_plane
from dpviz.charts.cells import circles, segments
from dpviz.charts.names import spelled
from dpviz.charts.revealed import RevealedView, draw_rows
from dpviz.charts.theme import Palette
from dpviz.charts.view import View
from dpviz.charts.wording import clauses, number, opening, things
from dpviz.table.domain import Domain

# Diameters in pixels of a point without weight and of the heaviest one.
_SMALLEST, _LARGEST = 4.0, 26.0
# Beyond this many points their halos would be one grey sheet.
_HALOS_UP_TO = 60


def draw_coreset(step: CoresetStep, *, view: View, palette: Palette, reveal: RevealedView | None = None) -> go.Figure:
    """Points as bubbles whose area is their weight, heavy ones first so that light ones stay visible."""
    figure = canvas(palette, title=coreset_finding(step), subtitle=_subtitle(step, view))
    if reveal is not None:
        draw_rows(figure, reveal.points, view, palette)
    drawn = view.plane(step.points)
    if len(drawn) <= _HALOS_UP_TO:
        _draw_halos(figure, step, drawn, view, palette)
    order = np.argsort(-step.weights, kind="stable")
    figure.add_trace(
        go.Scatter(
            **marks_xy(drawn[order]),
            mode="markers",
            name=legend_name("coreset points", "released"),
            marker={
                "size": bubble_sizes(step.weights)[order],
                "color": palette.faded(palette.released, 0.6),
                "line": {"width": 1, "color": palette.surface},
                "opacity": 1.0,
            },
            customdata=[_hover(step, int(i), view.domain) for i in order],
            hovertemplate="%{customdata}<extra></extra>",
            cliponaxis=False,
            meta="released",
        )
    )
    show_plane(figure, view, palette)
    return name_kinds(figure, palette)


def bubble_sizes(weights: Array) -> Array:
    """Marker diameters in pixels: the area grows with the weight."""
    part = np.sqrt(np.maximum(weights, 0.0) / max(float(weights.max(initial=0.0)), 1e-9))
    sizes: Array = _SMALLEST + (_LARGEST - _SMALLEST) * part
    return sizes


def coreset_table(step: CoresetStep, *, domain: Domain) -> pd.DataFrame:
    """Points in data units with their weights and noise."""
    table = pd.DataFrame(domain.from_unit(step.points), columns=list(domain.columns))
    table.insert(0, "point", np.arange(1, len(table) + 1))
    table["weight"] = step.weights
    table["noise sd (unit coordinates)"] = step.point_noise_sd
    return table


def describe_coreset(step: CoresetStep, *, domain: Domain) -> str:
    """The picture in words."""
    where = ", ".join(domain.columns[:4]) + (" …" if domain.dim > 4 else "")
    low, high = float(step.weights.min()), float(step.weights.max())
    return (
        f"{opening(things(len(step.points), 'released coreset point'))} over {where}. {coreset_finding(step)}. "
        f"In all they weigh {number(float(step.weights.sum()))} rows, each from {number(low)} to {number(high)}."
    )


def coreset_finding(step: CoresetStep) -> str:
    """How many points there are, and how far noise moved a typical one."""
    typical = number(float(np.median(step.point_noise_sd)) / 2 * 100)
    return opening(f"{things(len(step.points), 'point')} for all rows, with noise of {typical} % of the width")


def _subtitle(step: CoresetStep, view: View) -> str:
    beyond = view.beyond(step.points)
    outside = f"{things(beyond, 'point')} outside the picture" if beyond else ""
    return clauses("noisy means of the leaves, their area the noisy weight", view.about, outside)


def _hover(step: CoresetStep, i: int, domain: Domain) -> str:
    values = domain.from_unit(step.points[i : i + 1])[0]
    lines = [f"<b>point {i + 1}</b> (released)", f"weight: {number(float(step.weights[i]))}"]
    lines += [f"{spelled(name)}: {number(float(v))}" for name, v in zip(domain.columns[:6], values, strict=False)]
    return "<br>".join(lines)


def _draw_halos(figure: go.Figure, step: CoresetStep, drawn: Array, view: View, palette: Palette) -> None:
    """One standard deviation of the noise on a coordinate, around each point."""
    radii = np.minimum(step.point_noise_sd, view.region.diameter)
    if view.flat:
        reach = np.column_stack([radii * view.scale[0], np.zeros(len(radii))])
        outline = segments(drawn - reach, drawn + reach)
    else:
        outline = circles(drawn, radii, view.scale)
    figure.add_trace(
        go.Scatter(
            **line_xy(outline),
            mode="lines",
            line={"color": palette.faded(palette.released, 0.3), "width": 5.0 if view.flat else 0.8},
            name="noise ±1 sd",
            hoverinfo="skip",
            meta="released",
        )
    )
