"""Many starts solved on one synopsis: their losses in order, the chosen one marked. Nothing here costs privacy."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dpviz.algorithms.steps import StartsStep
from dpviz.charts.canvas import canvas
from dpviz.charts.theme import Palette
from dpviz.charts.wording import clauses, count, number, opening, percent, things

# Starts whose losses differ by less than this part came to the same solution.
_AGREE = 1e-3


def draw_starts(step: StartsStep, *, palette: Palette) -> go.Figure:
    """Synopsis losses from the best start to the worst."""
    figure = canvas(palette, title=_finding(step), subtitle=clauses(step.title, _SUBTITLE), legend_lines=0)
    order = np.argsort(step.losses, kind="stable")
    rank = np.arange(1, len(order) + 1)
    chosen = int(np.flatnonzero(order == step.chosen)[0])
    figure.add_trace(
        go.Scatter(
            x=rank,
            y=step.losses[order],
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
            y=[step.losses[step.chosen]],
            mode="markers+text",
            name="chosen",
            text=[f" start {step.chosen + 1} chosen"],
            textposition="top right",
            marker={"color": palette.released, "size": 15, "line": {"width": 2, "color": palette.text}},
            meta="released",
        )
    )
    low, high = float(step.losses.min()), float(step.losses.max())
    air = 0.08 * ((high - low) or max(abs(high), 1.0))
    figure.update_xaxes(title_text="starts, best first", range=[0, len(order) + 1])
    figure.update_yaxes(title_text="loss on the synopsis (unit coordinates²)", range=[low - air, high + air])
    return figure


_SUBTITLE = "post-processing of what was released: no further privacy is spent"


def starts_table(step: StartsStep) -> pd.DataFrame:
    """Every start with its loss on the synopsis."""
    table = pd.DataFrame({"start": np.arange(1, len(step.losses) + 1), "synopsis loss": step.losses})
    table["chosen"] = table.index == step.chosen
    return table


def describe_starts(step: StartsStep) -> str:
    """The picture in words."""
    return f"{_finding(step)}. The chosen start has a synopsis loss of {number(float(step.losses[step.chosen]))}."


def _finding(step: StartsStep) -> str:
    typical, best = float(np.median(step.losses)), float(step.losses[step.chosen])
    if len(step.losses) == 1 or typical <= 0:
        return f"{things(len(step.losses), 'start')} on the synopsis"
    agree = int((step.losses <= (1 + _AGREE) * best).sum())
    if agree > len(step.losses) / 2:
        return opening(f"{count(agree)} of {things(len(step.losses), 'start')} agree on the best solution")
    return (
        f"The best of {things(len(step.losses), 'start')} loses {percent(1 - best / typical)} less than a typical one"
    )
