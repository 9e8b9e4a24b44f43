"""The balls around one revealed tuple, magnified, and how far the tuples lie from them."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from dpviz.algorithms.cohen2021.tested_tuples import TupleTestStep
from dpviz.arrays import Array
from dpviz.charts.canvas import NUMBER_SIZE, canvas, legend_name, line_xy, marks_xy, name_kinds, panels
from dpviz.charts.cells import circles
from dpviz.charts.pictures.revealed_tuples import FARTHEST, RevealedTuples
from dpviz.charts.theme import Palette
from dpviz.charts.wording import clauses, number, opening, things

# As many balls as stand side by side on a phone, as many points in each, and half the width of a plot in radii.
_MOST_BALLS, _MOST_POINTS, _REACH = 3, 1_500, 1.5
_BARS, _MOST_TICKS = 40, 6
# Nearer to a ball's middle than this, in radii, a tuple is drawn at the edge.
_NEAREST = 1e-3
_NOTE = {"showarrow": False, "yanchor": "top", "y": 1}


def draw_revealed_balls(step: TupleTestStep, revealed: RevealedTuples, *, palette: Palette) -> go.Figure:
    """Above: the points of all tuples in the balls around one tuple. Below: how far the tuples lie from these balls."""
    shown = min(len(revealed.one), _MOST_BALLS)
    figure = canvas(
        palette,
        title=_finding(step, revealed),
        subtitle=clauses(
            revealed.about,
            f"Δ = {number(step.far)} radii between centres",
            f"{shown} of {things(len(revealed.one), 'ball')}" if shown < len(revealed.one) else "",
        ),
        legend_lines=3,
    )
    below = [{"colspan": shown}, *[None] * (shown - 1)]
    panels(figure, palette, 2, shown, specs=[[{}] * shown, below], horizontal_spacing=0.06, vertical_spacing=0.22)
    offsets = revealed.offsets
    for ball in range(shown):
        _draw_ball(figure, _plane(offsets[:_MOST_POINTS, ball]), palette, ball)
    _draw_distances(figure, np.linalg.norm(offsets, axis=2).max(axis=1), palette)
    return name_kinds(figure, palette)


def _draw_ball(figure: go.Figure, points: Array, palette: Palette, ball: int) -> None:
    at = {"row": 1, "col": ball + 1}
    inside = (np.abs(points) <= _REACH).all(axis=1)
    figure.add_trace(
        go.Scatter(
            **marks_xy(points[inside]),
            **{"mode": "markers", "name": legend_name("points of tuples", "revealed"), "showlegend": ball == 0},
            marker={"color": palette.revealed, "size": 4, "opacity": 0.45},
            hoverinfo="skip",
            meta="revealed",
        ),
        **at,
    )
    figure.add_trace(
        go.Scatter(
            **line_xy(circles(np.zeros((1, 2)), np.ones(1), np.ones(2))),
            **{"mode": "lines", "name": legend_name("balls around one tuple", "revealed"), "showlegend": ball == 0},
            line={"color": palette.text, "width": 1.5},
            hoverinfo="skip",
            meta="revealed",
        ),
        **at,
    )
    plot = figure.get_subplot(**at)
    x, y = (axis.plotly_name.replace("axis", "") for axis in (plot.xaxis, plot.yaxis))
    span = {"range": [-_REACH, _REACH], "tickvals": [-1, 0, 1], "zeroline": False, "constrain": "domain"}
    figure.update_xaxes(**span, title_text=f"ball {ball + 1} (radii)", **at)
    figure.update_yaxes(**span, scaleanchor=x, constraintoward="top", showticklabels=ball == 0, **at)
    beyond = int((~inside).sum())
    if beyond:
        figure.add_annotation(
            **_NOTE,
            **{"text": f"{beyond:,} beyond", "x": 1, "xanchor": "right", "xref": f"{x} domain", "yref": f"{y} domain"},
            font={"size": NUMBER_SIZE, "color": palette.revealed},
        )


def _draw_distances(figure: go.Figure, farthest: Array, palette: Palette) -> None:
    at = {"row": 2, "col": 1}
    heights, edges = np.histogram(np.log10(np.clip(farthest, _NEAREST, FARTHEST)), bins=_BARS)
    figure.add_trace(
        go.Bar(
            x=(edges[1:] + edges[:-1]) / 2,
            y=heights,
            width=np.diff(edges),
            name=legend_name("tuples", "revealed"),
            marker={"color": palette.revealed},
            hovertemplate="%{y} tuples<extra></extra>",
            showlegend=False,
            meta="revealed",
        ),
        **at,
    )
    line = {"color": palette.text, "dash": "dash"}
    aside = "left" if np.median(farthest) < 1 else "right"  # where fewer bars are
    figure.add_vline(x=0, line=line, annotation_text=" rim ", annotation_xanchor=aside, **at)
    low, high = min(-1.0, float(edges[0])), max(1.0, float(edges[-1]))
    ticks = np.arange(np.floor(low), np.ceil(high) + 1)
    ticks = ticks[ticks % 2 == 0] if len(ticks) > _MOST_TICKS else ticks
    figure.update_xaxes(
        title_text="a tuple's farthest point (radii)",
        range=[low - 0.1, high + 0.1],
        tickvals=ticks,
        ticktext=[f"{10.0**tick:,.10g}" for tick in ticks],
        tickangle=0,
        **at,
    )
    figure.update_yaxes(title_text="tuples", nticks=4, **at)


def _plane(offsets: Array) -> Array:
    """Two coordinates that keep the distance from the middle: the first, and the length of all others."""
    if offsets.shape[1] == 2:
        return offsets
    rest = np.linalg.norm(offsets[:, 1:], axis=1)
    # Half of the points below, so that a plot is filled evenly; a place in the table says nothing.
    return np.column_stack([offsets[:, 0], rest * np.where(np.arange(len(rest)) % 2, 1.0, -1.0)])


def _finding(step: TupleTestStep, revealed: RevealedTuples) -> str:
    about = "" if len(revealed.tuples) == step.number else "about "
    if revealed.unfit:
        return opening(
            f"{about}{things(revealed.unfit, 'tuple')} of {step.number:,} not in the balls around one of them"
        )
    return f"All {step.number:,} tuples fit into the balls around one of them"
