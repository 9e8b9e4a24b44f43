"""Scores of several algorithms at one ε: every run a dot, the middle half a bar, the median a line."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dpviz.arrays import Array
from dpviz.charts.canvas import NUMBER_SIZE, canvas
from dpviz.charts.studies.contenders import (
    Measure,
    Style,
    measure_of,
    name_column,
    names_in,
    narrow,
    quartiles,
    runs_text,
    styles_of,
)
from dpviz.charts.theme import Palette, log_axis
from dpviz.charts.wording import clauses

_ROW = 50
# Scores that differ by more than this factor are drawn on a logarithmic axis.
_LOG_FROM = 8.0


def draw_scores(table: pd.DataFrame, measure: str = "ratio", *, palette: Palette) -> go.Figure:
    """Distributions of ``measure`` over the runs of each algorithm, the best on top.

    Parameters
    ----------
    table : DataFrame
        One row a run, with the columns of a study: contender (or algorithm), epsilon and the measure.
    """
    words, runs = measure_of(measure), _runs(table, measure)
    order = sorted(runs, key=lambda name: float(quartiles(runs[name])[1]) * (1 if words.lower_is_better else -1))
    figure = canvas(
        palette,
        title=_finding(table, runs, order, words),
        subtitle=clauses("dots: runs, bar: middle half, line: median", runs_text([len(v) for v in runs.values()])),
        height=200 + _ROW * max(3, len(order)),
        legend_lines=0,
    )
    styles = styles_of(names_in(table))
    for place, name in enumerate(order):
        _draw_row(figure, -float(place), runs[name], styles[name], palette)
    every = np.concatenate(list(runs.values())) if runs else np.zeros(0)
    logarithmic = _set_range(figure, every[np.isfinite(every)], words)
    if words.ratio:
        figure.add_vline(x=1, line={"color": palette.text, "width": 1.2, "dash": "dot"})
        figure.add_annotation(
            **{"x": 0 if logarithmic else 1, "y": 0.72, "text": "◇ k-means++ = 1", "showarrow": False},
            **{"xanchor": "left", "xshift": 4, "font": {"size": NUMBER_SIZE, "color": palette.muted}},
        )
    figure.update_xaxes(title_text=words.axis)
    figure.update_yaxes(
        tickvals=[-place for place in range(len(order))],
        ticktext=[_row_label(name, runs[name], words) for name in order],
        tickfont={"color": palette.text, "size": NUMBER_SIZE},
        range=[-max(3, len(order)) + 0.4, 0.9],
        showgrid=False,
        zeroline=False,
    )
    return figure


def describe_scores(table: pd.DataFrame, measure: str = "ratio") -> str:
    """The picture in words."""
    words, runs = measure_of(measure), _runs(table, measure)
    medians = ", ".join(f"{name} {words.text(float(quartiles(values)[1]))}" for name, values in runs.items())
    return f"Median {words.name} by algorithm: {medians or 'no run yet'}."


def _runs(table: pd.DataFrame, measure: str) -> dict[str, Array]:
    column = name_column(table)
    runs = {name: table.loc[table[column] == name, measure].to_numpy(np.float64) for name in names_in(table)}
    return {name: values for name, values in runs.items() if np.isfinite(values).any()}


def _finding(table: pd.DataFrame, runs: dict[str, Array], order: list[str], words: Measure) -> str:
    if not order:
        return "No run yet"
    epsilons = sorted(set(table["epsilon"].dropna())) if "epsilon" in table.columns else []
    at = f"At ε = {epsilons[0]:g}, " if len(epsilons) == 1 else ""
    best = words.text(float(quartiles(runs[order[0]])[1]))
    of = " k-means++" if words.ratio else ""
    return f"{at}{order[0]} comes first: {words.short} {best}{of}"


def _draw_row(figure: go.Figure, y: float, values: Array, style: Style, palette: Palette) -> None:
    finite = values[np.isfinite(values)]
    low, middle, high = quartiles(values)
    # Spread the dots evenly over the row in the order of the runs: no random jitter, nothing hides.
    heights = y + 0.26 * (np.arange(len(finite)) % 5 - 2) / 2
    figure.add_trace(
        go.Scatter(
            **{"x": finite, "y": heights, "mode": "markers", "showlegend": False, "meta": "run"},
            marker={"color": palette.faded(style.color, 0.8), "size": 6, "symbol": style.marker},
            hovertemplate="%{x:.3g}<extra></extra>",
        )
    )
    figure.add_shape(
        **{"type": "rect", "x0": low, "x1": high, "y0": y - 0.17, "y1": y + 0.17, "layer": "below"},
        **{"fillcolor": palette.faded(style.color, 0.3), "line": {"width": 0}},
    )
    figure.add_shape(
        **{"type": "line", "x0": middle, "x1": middle, "y0": y - 0.3, "y1": y + 0.3, "layer": "above"},
        line={"color": palette.text, "width": 2.5},
    )


def _row_label(name: str, values: Array, words: Measure) -> str:
    low, middle, high = (float(q) for q in quartiles(values))
    return f"{narrow(name)}<br><b>{words.text(middle)}</b> ({words.text(low)} to {words.text(high)})"


def _set_range(figure: go.Figure, values: Array, words: Measure) -> bool:
    """A range that holds all runs, and 1 for ratios; whether it is logarithmic."""
    if not len(values):
        return False
    low, high = float(values.min()), float(values.max())
    if words.ratio:
        low = min(low, 1.0)
    if low > 0 and high > _LOG_FROM * low:
        air = 0.05 * np.log10(high / low)
        span = [np.log10(low) - air, np.log10(high) + air]
        figure.update_xaxes(log_axis(*span), range=span)
        return True
    air = 0.06 * ((high - low) or max(abs(high), 1e-9))
    figure.update_xaxes(range=[low - air, high + air])
    return False
