"""What a private median can see: how much a place counts by the share of blocks that lie on its left."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dpviz.algorithms.baselines.sample_aggregate import MedianLawStep
from dpviz.arrays import Array
from dpviz.charts.canvas import SCREEN, canvas, legend_name, name_kinds
from dpviz.charts.theme import Palette, axis_title
from dpviz.charts.wording import clauses, number, percent
from dpviz.table.domain import Domain

_PLACES = 201
# The textbook's smoothness: ε of a median over this.
_SMOOTHNESS_PART = 6.0


def draw_median_law(step: MedianLawStep, *, palette: Palette) -> go.Figure:
    """Weight of a place against its rank among the blocks; flat where a median is mostly noise."""
    ranks = np.linspace(0, 1, _PLACES)
    figure = canvas(palette, title=_finding(step), subtitle=_subtitle(step), legend_lines=2)
    figure.add_trace(
        go.Scatter(
            x=(100 * ranks).astype(SCREEN),
            y=_weight(step, ranks).astype(SCREEN),
            mode="lines",
            fill="tozeroy",
            fillcolor=palette.faded(palette.public, 0.15),
            line={"color": palette.public, "width": 2},
            name=legend_name("weight of a rank", "public"),
            hovertemplate="%{x:.3g} % of blocks on the left: weight %{y:.3g}<extra></extra>",
            meta="public",
        )
    )
    figure.update_xaxes(range=[0, 100], title_text=axis_title("blocks on the left", "%"))
    figure.update_yaxes(range=[0, 1.05], title_text="weight beside the middle's")
    return name_kinds(figure, palette)


def median_law_table(step: MedianLawStep) -> pd.DataFrame:
    """The curve at every fifth percent, and the public numbers that it follows from."""
    ranks = np.linspace(0, 1, 21)
    table = pd.DataFrame({"blocks on the left (%)": 100 * ranks, "weight": _weight(step, ranks)})
    table["blocks"], table["ε of a median"] = step.number, step.epsilon_each
    return table


def describe_median_law(step: MedianLawStep, *, domain: Domain) -> str:
    """The picture in words."""
    each = f"{step.medians:,} medians of {step.number:,} blocks, ε = {number(step.epsilon_each)} each"
    return f"{_finding(step)}. {each}, for {domain.dim} columns."


def _rate(step: MedianLawStep) -> float:
    """How fast the weight falls, for each block."""
    return step.epsilon_each / (_SMOOTHNESS_PART if step.smooth else 2.0)


def _weight(step: MedianLawStep, ranks: Array) -> Array:
    weight: Array = np.exp(-_rate(step) * step.number * np.abs(ranks - 0.5))
    return weight


def _finding(step: MedianLawStep) -> str:
    within = 1 / (_rate(step) * step.number)
    if within >= 0.5:
        return f"With {step.number:,} blocks a median cannot tell the middle from the ends"
    what = "Its noise follows jumps within" if step.smooth else "A median is drawn from"
    return f"{what} ±{percent(within)} around the middle of {step.number:,} blocks"


def _subtitle(step: MedianLawStep) -> str:
    how = "weight that a jump there has in the noise" if step.smooth else "how likely a place of that rank is"
    return clauses(
        how, f"ε = {number(step.epsilon_each)} for each of {step.medians:,} medians", "no row has a say in it"
    )
