"""What charts of many runs are made of: medians over bands from 25 % to 75 %, their axis, and names at their ends."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import log10
from textwrap import wrap
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.optimize import isotonic_regression

from dpviz.app.charts.diagram import add_note
from dpviz.app.charts.layout import make_log_axis
from dpviz.app.charts.plot import Data, Plot
from dpviz.app.charts.studies.contenders import Measure, Style, narrow
from dpviz.core import Array
from dpviz.words import Palette

PLOT, LABELS = 390, 132
"""Pixels of a plot's height, and of the room for names to its right."""
# Values that differ by more than this factor are drawn on a logarithmic axis: on a plain one the small ones lie flat.
_LOG_FROM = 5.0
# A line of direct labels in pixels, and the most characters in it.
_LABEL_LINE, _LABEL_WIDTH, _LABEL_SIZE = 14.0, 18, 10
# How far right of the plot a name stands that had to make way, and how far up or down it may be tied, in pixels.
_THREAD, _LONGEST_THREAD = 12, 45


class Span(NamedTuple):
    """What an axis shows: its ends, in powers of ten where it is logarithmic."""

    low: float
    high: float
    logarithmic: bool

    @classmethod
    def of(cls, values: Iterable[float], *, air: float = 0.08) -> Span:
        """The finite ``values`` with a share of ``air`` on both sides; logarithmic where they span much."""
        finite = np.array([value for value in values if np.isfinite(value)])
        low, high = (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 1.0)
        logarithmic = low > 0 and high > _LOG_FROM * low
        if logarithmic:
            low, high = log10(low), log10(high)
        room = air * ((high - low) or abs(high) or 1.0)
        return cls(low - room, high + room, logarithmic)

    @property
    def axis(self) -> dict[str, Any]:
        """The axis itself."""
        ends = {"range": [self.low, self.high]}
        return make_log_axis(self.low, self.high) | ends if self.logarithmic else ends

    def to_axis(self, value: float) -> float:
        """Where an annotation of ``value`` stands: on a logarithmic axis at its logarithm."""
        return log10(value) if self.logarithmic else value

    def height(self, value: float) -> float:
        """Of a ``value``, as a share of the plot."""
        return (self.to_axis(value) - self.low) / (self.high - self.low)


def compute_quartiles(runs: pd.DataFrame, score: str, by: Sequence[str]) -> pd.DataFrame:
    """25 %, 50 % and 75 % of the finite scores of each group of runs, in order, and how many runs there are at all."""
    groups = runs[np.isfinite(runs[score])].groupby(list(by))[score]
    parts = {0.25: "low", 0.5: "median", 0.75: "high"}
    table: pd.DataFrame = groups.quantile(list(parts)).unstack().reindex(columns=list(parts)).rename(columns=parts)
    return table.assign(runs=runs.groupby(list(by)).size()).reset_index()


def draw_band(x: Array, low: Array, high: Array, fill: str, **options: Any) -> Data:
    """The area between two curves.

    **options
        Other settings of the trace.

    ``x`` (m,), across; ``low`` (m,), lower curve; ``high`` (m,), upper curve.
    """
    around = {"x": np.r_[x, x[::-1]], "y": np.r_[high, low[::-1]], "fill": "toself", "fillcolor": fill}
    return {
        **around,
        **{"type": "scatter", "mode": "lines", "line": {"width": 0}, "hoverinfo": "skip"},
        **{"showlegend": False, "meta": "band"} | options,
    }


def draw_median_line(name: str, x: Array, y: Array, style: Style, **options: Any) -> Data:
    """The curve of one algorithm, with a marker wherever something was run.

    **options
        Other settings of the trace.

    ``x`` (m,), across; ``y`` (m,), up.
    """
    return {
        **{"type": "scatter", "x": x, "y": y, "mode": "lines+markers", "name": name},
        "line": {"color": style.color, "width": 2.2, "dash": style.dash},
        "marker": {"symbol": style.marker, "size": 8, "color": style.color},
        **{"showlegend": False, "meta": "median"} | options,
    }


def draw_baselines(plot: Plot, baselines: Mapping[str, float], span: Span, words: Measure, palette: Palette) -> None:
    """What can be had for nothing, and k-means++, as horizontal lines with their values."""
    finite = {label: value for label, value in baselines.items() if np.isfinite(value)}
    upwards = sorted(finite, key=lambda label: finite[label])
    for label, above in zip(upwards, [*upwards, None][1:], strict=True):
        value, text = finite[label], narrow(f"{label}: {words.format(finite[label])}", _LABEL_WIDTH)
        gap = span.height(finite[above]) - span.height(value) if above is not None else 1.0
        plot.add_hline(y=value, line={"color": palette.public, "width": 1.3, "dash": "dot"})
        # Nothing lies below the least of them, and much above the others is empty but for the next line.
        beneath = label == upwards[0] or gap < _measure_room(plot) * len(text.split("<br>"))
        at = {"x": 0.99, "y": span.height(value), "xanchor": "right", "yanchor": "top" if beneath else "bottom"}
        add_note(plot, text, palette.muted, {"xref": "paper", "yref": "paper", "align": "right", **at})


def label_ends(
    plot: Plot, ends: Mapping[str, float], styles: Mapping[str, Style], span: Span, palette: Palette
) -> None:
    """Each line's name at its right end in as many rows as it takes; where ``ends`` meet, apart and tied to them."""
    labels = {name: wrap(name, _LABEL_WIDTH) for name in ends}
    wanted = [span.height(end) for end in ends.values()]
    heights = _spread_apart(wanted, [len(rows) * _measure_room(plot) for rows in labels.values()])
    high = _LABEL_LINE / _measure_room(plot)
    for name, end, height in zip(ends, wanted, heights, strict=True):
        # Further rows begin under the name, not under its sign.
        text = "<br>\u2003".join(labels[name])
        at = {"xref": "paper", "x": 1.0, "xanchor": "left", "align": "left", "hovertext": name}
        at |= {"yref": "paper", "y": height, "yanchor": "middle"}
        away = (end - height) * high
        if not _LABEL_LINE / 2 <= abs(away) <= _LONGEST_THREAD:
            at |= {"xshift": 6}
        else:  # a thread from the end of the line to its name
            at |= {"y": end, "showarrow": True, "arrowhead": 0, "arrowwidth": 1, "arrowcolor": styles[name].color}
            at |= {"ax": _THREAD, "ay": away, "standoff": 0}
        add_note(plot, f"{styles[name].sign} {text}", palette.text, at, size=_LABEL_SIZE)


def compute_label_room(names: Iterable[str]) -> int:
    """Pixels that the labels of all lines take beyond those of the plot."""
    rows = sum(len(wrap(name, _LABEL_WIDTH)) for name in names)
    return max(0, round(rows * _LABEL_LINE) - PLOT)


def _measure_room(plot: Plot) -> float:
    """A line of text as a share of the plot's height."""
    margin = plot.layout["margin"]
    return float(_LABEL_LINE / (plot.layout["height"] - margin["t"] - margin["b"]))


def _spread_apart(heights: Sequence[float], sizes: Sequence[float]) -> list[float]:
    """Middles in [0, 1] moved as little as needed for labels of these sizes not to overlap; order is kept."""
    if not heights:
        return []
    order = np.argsort(heights, kind="stable")
    tall = np.asarray(sizes, dtype=np.float64)[order]
    # Half of one label and half of the next; the first begins, and the last ends, within the plot if they all fit.
    steps = np.r_[0.0, np.cumsum((tall[1:] + tall[:-1]) / 2)]
    lowest, highest = tall[0] / 2, max(tall[0] / 2, 1 - tall[-1] / 2 - steps[-1])
    # Subtracting the steps turns "at least a step apart" into "not decreasing".
    apart = isotonic_regression(np.asarray(heights)[order] - steps).x
    moved = np.empty(len(order))
    moved[order] = np.clip(apart, lowest, highest) + steps
    return [float(height) for height in moved]
