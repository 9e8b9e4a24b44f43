"""What the test of tuples counts: misfits of the tried tuples and votes, against the limits and the noise on both."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from dpviz.algorithms.cohen2021.tested_tuples import TupleTestStep
from dpviz.charts.canvas import canvas, legend_name, name_kinds
from dpviz.charts.pictures.revealed_tuples import RevealedTuples
from dpviz.charts.theme import Palette
from dpviz.charts.wording import clauses, number

# Standard deviations of a Laplace number of scale 1.
_SD = float(np.sqrt(2))


def draw_votes(step: TupleTestStep, revealed: RevealedTuples, *, palette: Palette) -> go.Figure:
    """The misfits of each tried tuple with the noise that hides them, and the limit up to which it passes: revealed."""
    misfits, limit = np.sort(revealed.misfits), step.misfit_limit
    sd = _SD * step.misfit_scale
    figure = canvas(
        palette,
        title=_finding(step, misfits),
        subtitle=clauses(
            revealed.about,
            f"one vote for each tuple below the line; noise on votes ±{number(_SD * step.vote_scale)}",
        ),
        legend_lines=2,
    )
    place = np.arange(1, len(misfits) + 1)
    figure.add_trace(
        go.Scatter(
            **{"x": place, "y": misfits, "mode": "markers", "meta": "revealed"},
            name=legend_name("misfits of a tried tuple, ± the noise on them", "revealed"),
            marker={"color": palette.revealed, "size": 8},
            error_y={"type": "constant", "value": sd, "color": palette.faded(palette.revealed, 0.5), "width": 0},
            hovertemplate="%{y:,.0f} misfits<extra></extra>",
        )
    )
    figure.add_trace(
        go.Scatter(
            **{"x": [0.5, len(misfits) + 0.5], "y": [limit, limit], "mode": "lines", "meta": "public"},
            name=legend_name(f"limit: {number(limit)} noisy misfits", "public"),
            line={"color": palette.public, "width": 2, "dash": "dash"},
            hoverinfo="skip",
        )
    )
    top = 1.08 * max(limit, float(misfits.max()) + sd)
    figure.update_xaxes(title_text="tried tuples, fewest misfits first", range=[0.5, len(misfits) + 0.5])
    figure.update_yaxes(title_text=f"misfits among {step.number:,} tuples", range=[min(0.0, -1.1 * sd), top])
    return name_kinds(figure, palette)


def _finding(step: TupleTestStep, misfits: np.ndarray) -> str:
    votes = int((misfits <= step.misfit_limit).sum())
    return f"{votes} of {len(misfits)} tried tuples pass but for noise; {number(step.vote_limit)} noisy votes needed"
