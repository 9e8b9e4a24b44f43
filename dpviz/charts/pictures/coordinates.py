"""Chosen coordinates: for each cluster which columns it kept, and the noisy means there."""

from __future__ import annotations

from math import floor, log10

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dpviz.algorithms.balcan2017.balcan_sparse import CoordinatesStep
from dpviz.arrays import Codes
from dpviz.charts.canvas import NUMBER_SIZE, below_plot, canvas
from dpviz.charts.names import spelled
from dpviz.charts.theme import Palette
from dpviz.charts.wording import clauses, count, number, opening
from dpviz.table.domain import Domain

_MOST_COLUMNS, _MOST_CLUSTERS = 20, 16
# Lines of a legend that the colour bar takes the place of, and the most characters of a column's name.
_BAR_LINES, _NAME = 3, 18


def draw_coordinates(step: CoordinatesStep, *, palette: Palette, domain: Domain) -> go.Figure:
    """A heat map, the columns of largest mean by clusters; what lies within its noise stays blank."""
    clusters = np.sort(np.argsort(-step.noisy_counts, kind="stable")[:_MOST_CLUSTERS])
    columns = _foremost(step, clusters)
    table = np.full((len(columns), len(clusters)), np.nan)
    for x, j in enumerate(clusters):
        place = {int(c): i for i, c in enumerate(step.coordinates[j])}
        for y, i in [(y, place[int(c)]) for y, c in enumerate(columns) if int(c) in place]:
            table[y, x] = step.noisy_means[j, i] if step.noisy_means[j, i] != 0 else np.nan
    figure = canvas(
        palette, title=_finding(step), subtitle=clauses(step.title, _shown(step, clusters)), legend_lines=_BAR_LINES
    )
    reach = round_reach(float(np.nanmax(np.abs(table)))) if np.isfinite(table).any() else 1.0
    figure.add_trace(
        go.Heatmap(
            z=table,
            x=np.arange(len(clusters)),
            y=np.arange(len(columns)),
            text=[[f"cluster {j + 1}, {spelled(domain.columns[c])}" for j in clusters] for c in columns],
            zmin=-reach,
            zmax=reach,
            colorscale=palette.diverging,
            xgap=1,
            ygap=1,
            colorbar={
                **below_plot(figure),
                "title": {"text": "mean (unit coordinates)", "side": "top", "font": {"size": NUMBER_SIZE}},
                **{"thickness": 10, "outlinewidth": 0, "tickfont": {"size": NUMBER_SIZE, "color": palette.muted}},
            },
            hovertemplate="%{text}: %{z:.3g}<extra></extra>",
            meta="released",
        )
    )
    figure.update_xaxes(tickvals=np.arange(len(clusters)), ticktext=[str(j + 1) for j in clusters], showgrid=False)
    figure.update_xaxes(title_text="cluster")
    names = [spelled(_short(domain.columns[c])) for c in columns]
    figure.update_yaxes(tickvals=np.arange(len(columns)), ticktext=names)
    figure.update_yaxes(autorange="reversed", showgrid=False, tickfont={"size": NUMBER_SIZE - 1})
    return figure


def coordinates_table(step: CoordinatesStep, *, domain: Domain) -> pd.DataFrame:
    """Every chosen coordinate with its noisy mean, largest first within a cluster."""
    k, kept = step.coordinates.shape
    frame = pd.DataFrame(
        {
            "cluster": np.repeat(np.arange(1, k + 1), kept),
            "column": [domain.columns[c] for c in step.coordinates.ravel()],
            "mean (unit coordinates)": step.noisy_means.ravel(),
            "noise (sd)": np.repeat(step.noise_sd, kept),
        }
    )
    order = np.lexsort((-np.abs(step.noisy_means.ravel()), frame["cluster"]))
    return frame.iloc[order].reset_index(drop=True)


def describe_coordinates(step: CoordinatesStep, *, domain: Domain) -> str:
    """The picture in words."""
    j = int(np.argmax(step.noisy_counts))
    best = int(np.argmax(np.abs(step.noisy_means[j])))
    name, mean = domain.columns[step.coordinates[j, best]], number(float(step.noisy_means[j, best]))
    return f"{_finding(step)}. The largest cluster is strongest in {name}, with a noisy mean of {mean}."


def _foremost(step: CoordinatesStep, clusters: Codes) -> Codes:
    """Columns in the order of their largest mean in any of the drawn clusters."""
    flat, size = step.coordinates[clusters].ravel(), np.abs(step.noisy_means[clusters]).ravel()
    order = np.argsort(-size, kind="stable")
    order = order[size[order] > 0]
    return np.array(list(dict.fromkeys(flat[order].tolist()))[:_MOST_COLUMNS], dtype=np.int64)


def _shown(step: CoordinatesStep, clusters: Codes) -> str:
    left = len(step.coordinates) - len(clusters)
    more = f"the {_MOST_CLUSTERS} largest clusters; {left} more in the table" if left else ""
    return clauses("blank: within its noise", more)


def _short(name: str) -> str:
    return name if len(name) <= _NAME else name[: _NAME - 1] + "…"


def round_reach(value: float) -> float:
    """``value`` up to 1, 2 or 5 times a power of ten, so that a scale changes seldom from one step to the next.

    >>> round_reach(0.55), round_reach(0.89), round_reach(2.0), round_reach(0.013)
    (1.0, 1.0, 2.0, 0.02)
    """
    unit = 10.0 ** floor(log10(value))
    return float(f"{next(step * unit for step in (1, 2, 5, 10) if value <= step * unit * (1 + 1e-9)):.0e}")


def _finding(step: CoordinatesStep) -> str:
    standing = int((step.noisy_means != 0).sum(axis=1).mean().round())
    kept = step.coordinates.shape[1]
    verb = "stands" if standing == 1 else "stand"
    return opening(f"{count(standing)} of {kept} chosen coordinates {verb} out of the noise")
