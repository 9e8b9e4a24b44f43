"""How likely a cube of m rows is to wake up: the curve f(m) behind every decision of a private partition."""

from __future__ import annotations

from math import sqrt

import numpy as np
import plotly.graph_objects as go

from dpviz import check
from dpviz.algorithms.balcan2017.candidate_centers import TreeStep
from dpviz.arrays import Array
from dpviz.charts.canvas import NUMBER_SIZE, canvas
from dpviz.charts.theme import Palette
from dpviz.charts.wording import clauses, number
from dpviz.privacy.mechanisms import Gaussian, Laplace

_SURE = 0.9


def draw_activation(step: TreeStep, *, palette: Palette) -> go.Figure:
    """f(m) = Pr[m + noise > threshold] against the rows m of a cube."""
    top = step.threshold + 8 * step.noise_scale
    rows = np.linspace(0, top, 241)
    needed = _rows_for(step, _SURE)
    figure = canvas(
        palette,
        title=f"A cube needs about {number(np.ceil(needed))} rows to wake up nine times in ten",
        subtitle=clauses(
            f"an empty cube wakes up with probability {number(float(activation(step, np.zeros(1))[0]))}",
            f"of all cubes asked, noise alone wakes about {number(expected_empty(step))}",
        ),
        legend_lines=0,
    )
    figure.add_vrect(
        **{"x0": step.threshold - _sd(step), "x1": step.threshold + _sd(step), "line_width": 0, "layer": "below"},
        fillcolor=palette.faded(palette.public, 0.15),
    )
    figure.add_vline(x=step.threshold, line={"color": palette.public, "width": 1.5, "dash": "dash"})
    figure.add_trace(
        go.Scatter(
            x=rows,
            y=activation(step, rows),
            mode="lines",
            line={"color": palette.text, "width": 2.5},
            hovertemplate="%{x:.0f} rows: %{y:.3g}<extra></extra>",
            showlegend=False,
            meta="public",
        )
    )
    low_half = step.threshold > top / 2
    figure.add_annotation(
        x=step.threshold,
        y=0.08 if not low_half else 0.92,
        text=f"threshold {number(step.threshold)}<br>band: noise ±1 sd ({number(_sd(step))})",
        xanchor="right" if low_half else "left",
        align="right" if low_half else "left",
        xshift=-8 if low_half else 8,
        showarrow=False,
        font={"size": NUMBER_SIZE, "color": palette.muted},
        bgcolor=palette.surface,
        opacity=0.9,
    )
    figure.update_xaxes(range=[0, top], title_text="rows in the cube", zeroline=False)
    figure.update_yaxes(range=[-0.02, 1.04], title_text="probability to wake up", tickformat=".0%", zeroline=False)
    return figure


def activation(step: TreeStep, rows: Array) -> Array:
    """Probability that a cube of ``rows`` rows wakes up."""
    return np.exp(_noise(step).log_above(step.threshold - rows))


def expected_empty(step: TreeStep) -> float:
    """How many cubes of the last level noise alone would wake, if all that were asked were empty."""
    above = len(step.tree.levels[-2]) if step.tree.depth > 1 else 1
    return float(activation(step, np.zeros(1))[0]) * (above << step.tree.dim)


def _rows_for(step: TreeStep, probability: float) -> float:
    """The fewest rows that wake a cube with ``probability``, by bisection over a fine range."""
    rows = np.linspace(0, step.threshold + 40 * step.noise_scale, 4001)
    return float(rows[np.searchsorted(activation(step, rows), probability)])


def _noise(step: TreeStep) -> Laplace | Gaussian:
    check.one_of((Laplace.name, Gaussian.name), noise=step.noise_name)
    kind = Laplace if step.noise_name == Laplace.name else Gaussian
    return kind(1.0, step.noise_scale)


def _sd(step: TreeStep) -> float:
    return step.noise_scale * (sqrt(2) if step.noise_name == Laplace.name else 1.0)
