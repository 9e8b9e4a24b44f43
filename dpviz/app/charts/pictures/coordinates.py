"""Chosen coordinates: for each cluster which columns it kept, and the noisy means there."""

from __future__ import annotations

from math import floor, log10

import numpy as np
import pandas as pd

from dpviz.algorithms import CoordinatesStep
from dpviz.app.charts.canvas import NUMBER_SIZE, spell_name
from dpviz.app.charts.picture import Chart, RenderContext
from dpviz.app.charts.plot_canvas import PlotCanvas
from dpviz.core import Codes
from dpviz.words import capitalize_first, format_count, format_number, join_clauses, shorten

# Lines and columns of the map that a phone shows.
_MOST_COLUMNS, _MOST_CLUSTERS = 20, 16
# The most characters of a column's name.
_NAME = 18


def draw_coordinates(step: CoordinatesStep, context: RenderContext) -> Chart:
    """A heat map, the columns of largest mean by clusters; what lies within its noise stays blank."""
    columns, (k, kept) = context.view.domain.columns, step.coordinates.shape
    standing = int((step.noisy_means != 0).sum(axis=1).mean().round())
    verb = "stands" if standing == 1 else "stand"
    title = capitalize_first(f"{format_count(standing)} of {kept} chosen coordinates {verb} out of the noise")
    # The largest clusters, in their own order.
    clusters = np.sort(np.argsort(-step.noisy_counts, kind="stable")[:_MOST_CLUSTERS])
    left = k - len(clusters)
    some = f"the {_MOST_CLUSTERS} largest clusters; {left} more in the table" if left else ""
    largest = int(np.argmax(step.noisy_counts))
    best = int(np.argmax(np.abs(step.noisy_means[largest])))
    name, mean = columns[step.coordinates[largest, best]], format_number(float(step.noisy_means[largest, best]))

    def paint(canvas: PlotCanvas) -> None:
        plot, foremost = canvas.plot, _choose_columns(step, clusters)
        means = np.full((len(foremost), len(clusters)), np.nan)
        for x, j in enumerate(clusters):
            place = {int(c): i for i, c in enumerate(step.coordinates[j])}
            for y, i in [(y, place[int(c)]) for y, c in enumerate(foremost) if int(c) in place]:
                means[y, x] = step.noisy_means[j, i] if step.noisy_means[j, i] != 0 else np.nan
        reach = round_up_range(float(np.nanmax(np.abs(means)))) if np.isfinite(means).any() else 1.0
        across, down = np.arange(len(clusters)), np.arange(len(foremost))
        plot.update_layout(showlegend=False)
        canvas.cells(
            means,
            "released",
            hover="%{text}: %{z:.3g}",
            bar=canvas.color_bar("mean (unit coordinates)"),
            text=[[f"cluster {j + 1}, {spell_name(columns[c])}" for j in clusters] for c in foremost],
            **{"x": across, "y": down, "xgap": 1, "ygap": 1, "zmin": -reach, "zmax": reach},
            colorscale=canvas.palette.diverging,
        )
        names = [spell_name(shorten(columns[c], _NAME)) for c in foremost]
        plot.update_xaxes(tickvals=across, ticktext=[str(j + 1) for j in clusters], showgrid=False)
        plot.update_xaxes(title_text="cluster")
        plot.update_yaxes(tickvals=down, ticktext=names, autorange="reversed", showgrid=False)
        plot.update_yaxes(tickfont={"size": NUMBER_SIZE - 1})

    def tabulate() -> pd.DataFrame:
        """Every chosen coordinate with its noisy mean, largest first within a cluster."""
        frame = pd.DataFrame(
            {
                "cluster": np.repeat(np.arange(1, k + 1), kept),
                "column": [columns[c] for c in step.coordinates.ravel()],
                "mean (unit coordinates)": step.noisy_means.ravel(),
                "noise (sd)": np.repeat(step.noise_sd, kept),
            }
        )
        order = np.lexsort((-np.abs(step.noisy_means.ravel()), frame["cluster"]))
        return frame.iloc[order].reset_index(drop=True)

    note = join_clauses(step.title, "blank: within its noise", some)
    words = f"{title}. The largest cluster is strongest in {name}, with a noisy mean of {mean}."
    return Chart(context, title, note, words, paint, legend_lines=3, table=tabulate)  # a colour bar takes their place


def _choose_columns(step: CoordinatesStep, clusters: Codes) -> Codes:
    """Columns in the order of their largest mean in any of the drawn ``clusters``."""
    flat, size = step.coordinates[clusters].ravel(), np.abs(step.noisy_means[clusters]).ravel()
    order = np.argsort(-size, kind="stable")
    order = order[size[order] > 0]
    return np.array(list(dict.fromkeys(flat[order].tolist()))[:_MOST_COLUMNS], dtype=np.int64)


def round_up_range(value: float) -> float:
    """``value`` up to 1, 2 or 5 times a power of ten, so that a scale changes seldom from one step to the next.

    >>> round_up_range(0.55), round_up_range(0.89), round_up_range(2.0), round_up_range(0.013)
    (1.0, 1.0, 2.0, 0.02)
    """
    unit = 10.0 ** floor(log10(value))
    return float(f"{next(step * unit for step in (1, 2, 5, 10) if value <= step * unit * (1 + 1e-9)):.0e}")
