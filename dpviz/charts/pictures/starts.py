"""Many starts solved on one synopsis: their losses in order, the chosen one marked. Nothing here costs privacy."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dpviz.algorithms.tools.starts import StartsStep
from dpviz.arrays import Array
from dpviz.charts.canvas import NUMBER_SIZE, canvas
from dpviz.charts.theme import Palette
from dpviz.charts.wording import clauses, number, opening, percent, things


def draw_starts(step: StartsStep, *, palette: Palette) -> go.Figure:
    """Synopsis losses from the best start to the worst."""
    figure = canvas(palette, title=_finding(step), subtitle=clauses(step.title, _SUBTITLE), legend_lines=0)
    losses = _losses(step)
    order = np.argsort(losses, kind="stable")
    rank = np.arange(1, len(order) + 1)
    chosen = int(np.flatnonzero(order == step.chosen)[0])
    figure.add_trace(
        go.Scatter(
            x=rank,
            y=losses[order],
            mode="markers",
            name="starts",
            customdata=order + 1,
            marker={"color": palette.faded(palette.released, 0.6), "size": 9},
            hovertemplate="start %{customdata}: loss %{y:.4g}<extra></extra>",
            meta="released",
        )
    )
    figure.add_trace(
        go.Scatter(
            x=[rank[chosen]],
            y=[losses[step.chosen]],
            mode="markers",
            name="chosen",
            marker={"color": palette.released, "size": 15, "line": {"width": 2, "color": palette.text}},
            meta="released",
        )
    )
    # Above its mark: others stand beside it, often at the same height.
    figure.add_annotation(
        **{"x": rank[chosen], "y": float(losses[step.chosen]), "text": f"start {step.chosen + 1} is chosen"},
        **{"xanchor": "left", "yanchor": "bottom", "xshift": -8, "yshift": 10, "showarrow": False},
        font={"size": NUMBER_SIZE, "color": palette.text},
    )
    low, high = float(losses.min()), float(losses.max())
    air = 0.1 * (high - low) or 0.5 * abs(high) or 1.0
    figure.update_xaxes(
        title_text="starts, best first", range=[0.4, len(order) + 0.6], tick0=1, dtick=_ticks(len(order))
    )
    figure.update_yaxes(title_text="loss on the synopsis (unit coordinates²)", range=[low - air, high + air])
    if low == high == 0:
        figure.update_yaxes(tickvals=[0])
    return figure


# Losses below this are 0, and gains below this are none.
_ROUNDING, _SAME = 1e-9, 5e-4
_SUBTITLE = "post-processing of what was released: no further privacy is spent"


def starts_table(step: StartsStep) -> pd.DataFrame:
    """Every start with its loss on the synopsis."""
    table = pd.DataFrame({"start": np.arange(1, len(step.losses) + 1), "synopsis loss": step.losses})
    table["chosen"] = table.index == step.chosen
    return table


def describe_starts(step: StartsStep) -> str:
    """The picture in words."""
    return f"{_finding(step)}. The chosen start has a synopsis loss of {number(float(step.losses[step.chosen]))}."


def _ticks(starts: int) -> int:
    """Starts from one tick to the next."""
    return max(1, round(starts / 5))


def _losses(step: StartsStep) -> Array:
    """Losses without what rounding makes of 0."""
    losses: Array = np.where(np.abs(step.losses) < _ROUNDING, 0.0, step.losses)
    return losses


def _finding(step: StartsStep) -> str:
    losses, starts = _losses(step), things(len(step.losses), "start")
    typical, best = float(np.median(losses)), float(losses[step.chosen])
    if len(losses) == 1:
        return "One start on the synopsis: all points of it are centres" if best == 0 else "One start on the synopsis"
    if typical <= 0:
        return opening(f"{starts} on the synopsis")
    gain = 1 - best / typical
    if gain < _SAME:
        return f"At least half of {starts} end as well as the best"
    return f"The best of {starts} loses {percent(gain)} less than a typical one"
