"""Rounds of polishing: centres with the reach that rows pull them from, and what the rounds did to noise and moves."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dpviz.algorithms.auto.polishing import PolishStep
from dpviz.arrays import Array
from dpviz.charts.canvas import canvas, legend_name, line_xy, name_kinds
from dpviz.charts.cells import circles, segments
from dpviz.charts.pictures.centers import centers_table, describe_centers, draw_centers, marks_of
from dpviz.charts.revealed import RevealedView
from dpviz.charts.theme import Palette, log_axis
from dpviz.charts.view import View
from dpviz.charts.wording import clauses, number, things
from dpviz.runs.evaluation import Reference
from dpviz.runs.found import Found
from dpviz.table.domain import Domain

# Values of 0 stand this far below the least other one on a logarithmic axis.
_BELOW = 3.0


def draw_polish(
    step: PolishStep,
    *,
    view: View,
    palette: Palette,
    reveal: RevealedView | None = None,
    reference: Reference | None = None,
    found: Found | None = None,
    epsilon: float | None = None,
) -> go.Figure:
    """The centres after the round; around where they were, the reach beyond which a row pulls no harder.

    In a crowd, whose circles would be one grey sheet, only the largest cluster has its circle.
    """
    figure = draw_centers(
        step, view=view, palette=palette, reveal=reveal, reference=reference, found=found, epsilon=epsilon
    )
    assert step.previous is not None and step.noisy_counts is not None
    crowd = marks_of(len(step.centers)).number is None
    around = step.previous[[int(step.noisy_counts.argmax())]] if crowd else step.previous
    figure.add_trace(
        go.Scatter(
            **line_xy(_reaches(around, step.reach, view)),
            mode="lines",
            line={"color": palette.faded(palette.released, 0.5), "width": 5.0 if view.flat else 1.0, "dash": "dash"},
            name=legend_name("reach of the largest" if crowd else "reach", "released"),
            hoverinfo="skip",
            meta="released",
        )
    )
    # Under everything else that was drawn.
    figure.data = (figure.data[-1], *figure.data[:-1])
    return figure


def draw_rounds(steps: Sequence[PolishStep], *, rounds: int, palette: Palette) -> go.Figure:
    """Round by round up to now, of ``rounds``: the reach, how far a typical centre moved, and the noise of a mean."""
    at = np.arange(1, len(steps) + 1)
    reach = np.array([step.reach for step in steps])
    moved, noise = np.array([_typical_move(step) for step in steps]), np.array([_typical_noise(step) for step in steps])
    figure = canvas(
        palette,
        title=_rounds_finding(moved, noise),
        subtitle=clauses(
            "a typical centre: the median",
            "noise: the length of a vector of 1 sd",
            "on the floor: not moved at all" if (moved == 0).any() else "",
        ),
    )
    floor = _floor(reach, moved, noise)
    for what, values, dash, symbol in (
        ("reach", reach, "dash", "line-ew-open"),
        ("move", moved, "solid", "circle"),
        ("noise of its mean", noise, "dot", "triangle-down"),
    ):
        figure.add_trace(
            go.Scatter(
                **{"x": at, "y": np.maximum(values, floor), "mode": "lines+markers", "customdata": values},
                name=legend_name(what, "released"),
                line={"color": palette.faded(palette.released, 0.5 if what == "reach" else 0.95), "dash": dash},
                marker={"symbol": symbol, "size": 9, "color": palette.released},
                hovertemplate=f"round %{{x}}: {what} %{{customdata:.3g}} (released)<extra></extra>",
                meta="released",
            )
        )
    low, high = np.log10(floor), np.log10(float(max(reach.max(), moved.max(), noise.max())))
    figure.update_xaxes(range=[0.5, rounds + 0.5], title_text="round", tickmode="linear", tick0=1, dtick=1)
    figure.update_yaxes(title_text="length (unit coordinates)", **log_axis(low, high))
    figure.update_yaxes(range=[low - 0.1, high + 0.15])
    return name_kinds(figure, palette)


def polish_table(step: PolishStep, *, domain: Domain) -> pd.DataFrame:
    """Centres in data units, how far each moved, and the reach."""
    table = centers_table(step, domain=domain)
    table["moved (unit coordinates)"] = _moves(step)
    table["reach (unit coordinates)"] = step.reach
    return table


def describe_polish(step: PolishStep, *, domain: Domain) -> str:
    """The picture in words."""
    return (
        f"{describe_centers(step, domain=domain)} Rows pulled from at most {number(step.reach)} (unit coordinates); "
        f"a typical centre moved {number(_typical_move(step))}."
    )


def describe_rounds(steps: Sequence[PolishStep]) -> str:
    """The picture of ``draw_rounds`` in words."""
    last = steps[-1]
    return (
        f"After {things(len(steps), 'round')}: the reach is {number(last.reach)}, a typical centre moved "
        f"{number(_typical_move(last))}, the noise of its mean has a length of {number(_typical_noise(last))}."
    )


def _reaches(around: Array, reach: float, view: View) -> Array:
    """Circles in unit coordinates, which are ellipses where columns have unlike units; stretches of a line."""
    drawn = view.plane(around, "previous")
    if view.flat:
        along = np.array([reach * view.scale[0], 0.0])
        return segments(drawn - along, drawn + along)
    return circles(drawn, np.full(len(drawn), reach), view.scale)


def _moves(step: PolishStep) -> Array:
    assert step.previous is not None
    moves: Array = np.linalg.norm(step.centers - step.previous, axis=1)
    return moves


def _typical_move(step: PolishStep) -> float:
    return float(np.median(_moves(step)))


def _typical_noise(step: PolishStep) -> float:
    assert step.center_noise_sd is not None
    return float(np.median(step.center_noise_sd)) * sqrt(step.centers.shape[1])


def _floor(*values: Array) -> float:
    """Where 0 is drawn on a logarithmic axis."""
    together = np.concatenate(values)
    return float(together[together > 0].min(initial=1.0)) / (_BELOW if (together == 0).any() else 1.0)


def _rounds_finding(moved: Array, noise: Array) -> str:
    last = len(moved)
    if moved[-1] > noise[-1]:
        return f"Round {last} moved a typical centre {number(moved[-1] / max(noise[-1], 1e-300))} times its noise"
    return f"Round {last} moved a typical centre no farther than its noise"
