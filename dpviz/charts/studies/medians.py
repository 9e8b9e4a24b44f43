"""Lines of medians with bands from 25 % to 75 %: what every chart of many runs is drawn from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import log10
from textwrap import wrap
from typing import NamedTuple

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dpviz.arrays import Array
from dpviz.charts.canvas import NUMBER_SIZE
from dpviz.charts.studies.contenders import Measure, Style, name_column, names_in, narrow, quartiles
from dpviz.charts.theme import Palette, log_axis

PLOT, LABELS = 390, 132
"""Pixels of a plot's height, and of the room for names to its right."""
_LOG_FROM = 5.0
# A line of direct labels in pixels, and the most characters in it.
_LABEL_LINE, _LABEL_WIDTH, _LABEL_SIZE = 14.0, 18, 10
_FADED_BAND, _FADED_BAND_OF_MANY, _MANY = 0.16, 0.07, 6


class Span(NamedTuple):
    """What an axis shows: its ends, in powers of ten where it is logarithmic."""

    low: float
    high: float
    logarithmic: bool


class Line(NamedTuple):
    """One algorithm: ε, or what else is varied (m,), quartiles (m, 3) of its runs, and how many runs each rests on."""

    at: Array
    quartiles: Array
    runs: list[int]


def lines_of(table: pd.DataFrame, measure: str, *, over: str = "epsilon") -> dict[str, Line]:
    """A line for each algorithm, over a column of a study; those without a finite value have none."""
    column, lines = name_column(table), {}
    for name in names_in(table):
        of = table[(table[column] == name) & np.isfinite(table[over].to_numpy(np.float64))]
        groups = {float(e): g.to_numpy(np.float64) for e, g in of.groupby(over)[measure]}
        groups = {e: values for e, values in groups.items() if np.isfinite(values).any()}
        if groups:
            found = np.stack([quartiles(values) for values in groups.values()])
            lines[name] = Line(np.array(list(groups)), found, [len(values) for values in groups.values()])
    return lines


def draw_line(
    figure: go.Figure, name: str, line: Line, style: Style, palette: Palette, *, of: int, letter: str = "ε"
) -> None:
    """The median of one algorithm of so many, over its band; ``letter`` is what is varied."""
    faded = _FADED_BAND if of <= _MANY else _FADED_BAND_OF_MANY
    low, middle, high = line.quartiles.T
    figure.add_trace(
        go.Scatter(
            x=np.r_[line.at, line.at[::-1]],
            y=np.r_[high, low[::-1]],
            **{"mode": "lines", "line": {"width": 0}, "fill": "toself", "fillcolor": palette.faded(style.color, faded)},
            **{"hoverinfo": "skip", "showlegend": False, "meta": "band"},
        )
    )
    figure.add_trace(
        go.Scatter(
            **{"x": line.at, "y": middle, "mode": "lines+markers", "name": name, "meta": "median"},
            line={"color": style.color, "width": 2.2, "dash": style.dash},
            marker={"symbol": style.marker, "size": 8, "color": style.color},
            customdata=np.column_stack([low, high, line.runs]),
            hovertemplate=f"<b>{name}</b> at {letter} = %{{x:,g}}<br>median %{{y:.3g}}, "
            "middle half %{customdata[0]:.3g} to %{customdata[1]:.3g}<br>%{customdata[2]} runs<extra></extra>",
            showlegend=False,
        )
    )


def set_range(figure: go.Figure, lines: Mapping[str, Line], baselines: Mapping[str, float]) -> Span:
    """A range that holds the bands and the baselines; logarithmic where they span much."""
    values = np.concatenate(
        [np.zeros(0), *(line.quartiles.ravel() for line in lines.values()), list(baselines.values())]
    )
    values = values[np.isfinite(values)]
    low, high = (float(values.min()), float(values.max())) if len(values) else (0.0, 1.0)
    logarithmic = low > 0 and high > _LOG_FROM * low
    if logarithmic:
        low, high = log10(low), log10(high)
        figure.update_yaxes(log_axis(low, high))
    air = 0.08 * ((high - low) or abs(high) or 1.0)
    figure.update_yaxes(range=[low - air, high + air])
    return Span(low - air, high + air, logarithmic)


def draw_baselines(
    figure: go.Figure, baselines: Mapping[str, float], span: Span, words: Measure, palette: Palette
) -> None:
    """What can be had for nothing, and k-means++, as horizontal lines with their values."""
    finite = {label: value for label, value in baselines.items() if np.isfinite(value)}
    upwards = sorted(finite, key=lambda label: finite[label])
    for label, above in zip(upwards, [*upwards, None][1:], strict=True):
        value, text = finite[label], narrow(f"{label}: {words.text(finite[label])}", _LABEL_WIDTH)
        gap = _shown(finite[above], span) - _shown(value, span) if above is not None else 1.0
        figure.add_hline(y=value, line={"color": palette.public, "width": 1.3, "dash": "dot"})
        figure.add_annotation(
            **{"xref": "paper", "x": 0.99, "yref": "paper", "y": _shown(value, span), "xanchor": "right"},
            **{"text": text, "showarrow": False, "align": "right"},
            # Nothing lies below the least of them, and much above the others is empty but for the next line.
            yanchor="top" if label == upwards[0] or gap < _room(figure) * len(text.split("<br>")) else "bottom",
            font={"size": NUMBER_SIZE, "color": palette.muted},
        )


def label_ends(
    figure: go.Figure,
    lines: Mapping[str, Line],
    styles: Mapping[str, Style],
    span: Span,
    palette: Palette,
) -> None:
    """Each line's name at its right end in as many rows as it takes, moved apart where ends meet."""
    labels = {name: wrap(name, _LABEL_WIDTH) for name in lines}
    ends = [_shown(float(line.quartiles[-1, 1]), span) for line in lines.values()]
    heights = _apart(ends, [len(rows) * _room(figure) for rows in labels.values()])
    for name, height in zip(lines, heights, strict=True):
        # Further rows begin under the name, not under its sign.
        text = "<br>\u2003".join(labels[name])
        figure.add_annotation(
            **{"xref": "paper", "x": 1.0, "xshift": 6, "yref": "paper", "y": height, "xanchor": "left"},
            **{"yanchor": "middle", "text": f"{styles[name].sign} {text}"},
            **{"showarrow": False, "align": "left", "font": {"size": _LABEL_SIZE, "color": palette.text}},
            hovertext=name,
        )


def more_for_labels(names: Iterable[str]) -> int:
    """Pixels that the labels of all lines take beyond those of the plot."""
    rows = sum(len(wrap(name, _LABEL_WIDTH)) for name in names)
    return max(0, round(rows * _LABEL_LINE) - PLOT)


def _shown(value: float, span: Span) -> float:
    """Height of a value as a share of the plot."""
    low, high, logarithmic = span
    return ((log10(value) if logarithmic else value) - low) / (high - low)


def _room(figure: go.Figure) -> float:
    """A line of text as a share of the plot's height."""
    margin = figure.layout.margin
    return float(_LABEL_LINE / (figure.layout.height - margin.t - margin.b))


def _apart(heights: Sequence[float], sizes: Sequence[float]) -> list[float]:
    """Middles in [0, 1] moved as little as needed for labels of these sizes not to overlap; order is kept."""
    if not heights:
        return []
    order = np.argsort(heights, kind="stable")
    tall = np.asarray(sizes, dtype=np.float64)[order]
    # Half of one label and half of the next; the first begins, and the last ends, within the plot if they all fit.
    steps = np.r_[0.0, np.cumsum((tall[1:] + tall[:-1]) / 2)]
    lowest, highest = tall[0] / 2, max(tall[0] / 2, 1 - tall[-1] / 2 - steps[-1])
    # Subtracting the steps turns "at least a step apart" into "not decreasing": pool neighbours that violate it.
    pools: list[tuple[float, int]] = []
    for wanted in np.asarray(heights)[order] - steps:
        pools.append((float(wanted), 1))
        while len(pools) > 1 and pools[-2][0] > pools[-1][0]:
            (b, nb), (a, na) = pools.pop(), pools.pop()
            pools.append(((a * na + b * nb) / (na + nb), na + nb))
    placed = np.clip(np.repeat([p for p, _ in pools], [n for _, n in pools]), lowest, highest) + steps
    found = np.empty(len(order))
    found[order] = placed
    return [float(height) for height in found]
