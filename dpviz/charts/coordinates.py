"""Chosen coordinates: for each cluster which columns it kept, and the noisy means there."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dpviz.algorithms.steps import CoordinatesStep
from dpviz.charts.canvas import NUMBER_SIZE, canvas
from dpviz.charts.theme import Palette
from dpviz.charts.wording import clauses, number, opening, things
from dpviz.table.domain import Codes, Domain

_MOST_COLUMNS, _MOST_CLUSTERS = 24, 16


def draw_coordinates(step: CoordinatesStep, *, palette: Palette, domain: Domain) -> go.Figure:
    """A heat map, clusters by the columns of largest mean; what lies within its noise stays blank."""
    clusters = np.argsort(-step.noisy_counts, kind="stable")[:_MOST_CLUSTERS]
    columns = _foremost(step, clusters)
    table = np.full((len(clusters), len(columns)), np.nan)
    for line, j in enumerate(clusters):
        place = {int(c): i for i, c in enumerate(step.coordinates[j])}
        found = [(x, place[int(c)]) for x, c in enumerate(columns) if int(c) in place]
        for x, i in found:
            table[line, x] = step.noisy_means[j, i] if step.noisy_means[j, i] != 0 else np.nan
    figure = canvas(palette, title=_finding(step), subtitle=clauses(step.title, _shown(step, clusters)), legend_lines=0)
    reach = float(np.nanmax(np.abs(table))) if np.isfinite(table).any() else 1.0
    figure.add_trace(
        go.Heatmap(
            z=table,
            x=np.arange(len(columns)),
            y=np.arange(len(clusters)),
            text=[[f"cluster {j + 1}, {domain.columns[c]}" for c in columns] for j in clusters],
            zmin=-reach,
            zmax=reach,
            colorscale=palette.diverging,
            xgap=1,
            ygap=1,
            colorbar={"title": {"text": "mean (unit coordinates)", "side": "right"}, "thickness": 12},
            hovertemplate="%{text}: %{z:.3g}<extra></extra>",
            meta="released",
        )
    )
    names = [domain.columns[c] for c in columns]
    figure.update_xaxes(tickvals=np.arange(len(names)), ticktext=names, tickangle=-90, showgrid=False, automargin=True)
    figure.update_yaxes(tickvals=np.arange(len(clusters)), ticktext=[f"cluster {j + 1}" for j in clusters])
    figure.update_yaxes(autorange="reversed", showgrid=False, tickfont={"size": NUMBER_SIZE})
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
    return f"the {_MOST_CLUSTERS} largest clusters; {left} more in the table" if left else "blank: within its noise"


def _finding(step: CoordinatesStep) -> str:
    standing = int((step.noisy_means != 0).sum(axis=1).mean().round())
    kept = step.coordinates.shape[1]
    verb = "stands" if standing == 1 else "stand"
    return opening(f"{things(standing, 'coordinate')} of {kept} chosen {verb} out of the noise in a typical cluster")
