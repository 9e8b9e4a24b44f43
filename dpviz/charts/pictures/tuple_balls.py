"""What the test of tuples asks: an illustration of balls around one tuple's points, with made-up tuples."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from dpviz.algorithms.cohen2021.tested_tuples import TupleTestStep
from dpviz.arrays import Array
from dpviz.charts.canvas import LEGEND_LINE, canvas, legend_name, line_xy, marks_xy, name_kinds
from dpviz.charts.cells import circles, joined
from dpviz.charts.theme import Palette
from dpviz.charts.wording import clauses, number

# Made-up tuples of the illustration: balls on a circle, five tuples that fit and one that does not.
_FITTING, _SHOWN_BALLS, _RADIUS = 5, 4, 0.2


def draw_made_up_balls(step: TupleTestStep, *, palette: Palette) -> go.Figure:
    """An illustration of what the test asks, with made-up tuples and its public numbers."""
    k = min(max(2, len(step.anchors)), _SHOWN_BALLS)
    rng = np.random.default_rng(0)
    angle = 2 * np.pi * np.arange(k) / k + 0.4
    middles = 1.2 * np.column_stack([np.cos(angle), np.sin(angle)])
    limit = number(step.misfit_limit) if step.sampled else "so many"
    figure = canvas(
        palette,
        title=f"One point in every ball? Up to {limit} noisy misfits pass",
        subtitle=clauses(
            "an illustration with made-up tuples, not to scale",
            f"true balls lie Δ = {number(step.far)} radii apart",
            f"{step.sampled} of {step.number:,} tuples are tried" if step.sampled else f"{step.needed:,} tuples needed",
        ),
        legend_lines=4,
    )
    _line(figure, circles(middles, np.full(k, _RADIUS), np.ones(2)), palette, "balls around one tuple", "solid")
    spread = rng.uniform(-0.09, 0.09, (_FITTING, k, 2))
    _line(figure, joined([middles[_around(k)] + one[_around(k)] for one in spread]), palette, "tuples that fit", "dot")
    stray = middles + rng.uniform(-0.09, 0.09, (k, 2))
    stray[0] *= 0.35
    _line(figure, joined([stray[_around(k)]]), palette, "a misfit", "dash")
    figure.add_trace(
        go.Scatter(
            **marks_xy(np.concatenate([(middles + spread).reshape(-1, 2), stray])),
            mode="markers",
            marker={"size": 7, "color": palette.public},
            hoverinfo="skip",
            showlegend=False,
            meta="public",
        )
    )
    for axis in (figure.update_xaxes, figure.update_yaxes):
        axis(visible=False, range=[-1.6, 1.6])
    figure.update_yaxes(scaleanchor="x", scaleratio=1)
    figure.update_layout(margin={"b": LEGEND_LINE * 4})
    return name_kinds(figure, palette)


def _around(k: int) -> list[int]:
    return [*range(k), 0] if k > 2 else [0, 1]


def _line(figure: go.Figure, outline: Array, palette: Palette, name: str, dash: str) -> None:
    color = palette.public if dash == "solid" else palette.faded(palette.public, 0.9 if dash == "dash" else 0.5)
    figure.add_trace(
        go.Scatter(
            **line_xy(outline),
            mode="lines",
            name=legend_name(name, "public"),
            line={"color": color, "width": 2 if dash != "dot" else 1, "dash": dash},
            hoverinfo="skip",
            meta="public",
        )
    )
