"""What every ε buys: medians and middle halves of many runs, between what is free and what k-means++ reaches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from math import log10
from typing import NamedTuple

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dpviz.charts.canvas import LEGEND_LINE, canvas
from dpviz.charts.studies.contenders import Measure, measure_of, names_in, runs_text, styles_of
from dpviz.charts.studies.medians import (
    LABELS,
    Line,
    draw_baselines,
    draw_line,
    label_ends,
    lines_of,
    more_for_labels,
    set_range,
)
from dpviz.charts.theme import Palette, epsilon_axis
from dpviz.charts.wording import clauses, percent

_HEIGHT = 560
# A loss within this factor of k-means++ is said to be close.
_CLOSE = 1.1


Curve = Sequence[tuple[float, float]]


class Best(NamedTuple):
    """The best median at one ε, and whose it is."""

    epsilon: float
    name: str
    median: float


def draw_tradeoff(
    table: pd.DataFrame,
    measure: str = "ratio",
    *,
    palette: Palette,
    baselines: Mapping[str, float] | None = None,
    prediction: Mapping[str, Curve] | None = None,
    epsilons: Sequence[float] | None = None,
) -> go.Figure:
    """Medians with bands from 25 % to 75 % against ε, labelled at their right end, over the hull of the best ones.

    Parameters
    ----------
    table : DataFrame
        One row a run, with the columns of a study: contender (or algorithm), epsilon and the measure; may still grow.
    baselines : mapping of label to value
        Horizontal lines: what can be had for nothing, and k-means++.
    prediction : mapping of algorithm to (ε, value) pairs
        Closed-form predictions, dashed, and named in the legend.
    epsilons : sequence of float
        All ε that the study will reach, so that the axis does not move while it fills.
    """
    words, lines = measure_of(measure), lines_of(table, measure)
    reached = [float(e) for line in lines.values() for e in line.at]
    every = list(epsilons) if epsilons is not None else reached or [0.1, 10.0]
    predicted = _together(prediction or {})
    figure = canvas(
        palette,
        title=_finding(lines, words),
        subtitle=clauses(
            "line: median, band: 25–75 %",
            "wide grey path: the best median at each ε" if len(lines) > 1 else "",
            runs_text([n for line in lines.values() for n in line.runs]),
            "dashed: predicted before any run" if prediction else "",
        ),
        # A line of the legend for each prediction lies below the plot, which keeps its size unless labels need more.
        height=_HEIGHT + LEGEND_LINE * len(predicted) + more_for_labels(lines),
        legend_lines=len(predicted),
    )
    # Dashes are seen in the legend only at the width that lines have in the plot.
    figure.update_layout(margin={"r": LABELS}, legend={"itemsizing": "trace"})
    figure.update_xaxes(epsilon_axis(min(every), max(every)), title_text="ε (smaller: more private)")
    styles = styles_of(list(dict.fromkeys([*names_in(table), *(prediction or {})])))
    _draw_hull(figure, lines, words, palette)
    for name, line in lines.items():
        draw_line(figure, name, line, styles[name], palette, of=len(lines))
    for names, points in predicted:
        _draw_prediction(figure, names, points, styles[names[0]].color)
    span = set_range(figure, lines, baselines or {})
    draw_baselines(figure, baselines or {}, span, words, palette)
    label_ends(figure, lines, styles, span, palette)
    figure.update_yaxes(title_text=words.axis, zeroline=False)
    return figure


def describe_tradeoff(table: pd.DataFrame, measure: str = "ratio") -> str:
    """The picture in words."""
    words, lines = measure_of(measure), lines_of(table, measure)
    ends = [
        f"{name} goes from {words.text(float(line.quartiles[0, 1]))} at ε = {line.at[0]:g} to "
        f"{words.text(float(line.quartiles[-1, 1]))} at ε = {line.at[-1]:g}"
        for name, line in lines.items()
    ]
    return f"Median {words.name} against ε. {_finding(lines, words)}. " + "; ".join(ends)


def best_at_each(lines: Mapping[str, Line], *, lower_is_better: bool) -> list[Best]:
    """The lower hull (upper, where more is better): whose median is best at each ε, by increasing ε.

    An ε at which only some algorithms have run says nothing about the best, and is left out.
    """
    entrants = Counter(epsilon for line in lines.values() for epsilon in line.at.tolist())
    most = max(entrants.values(), default=0)
    found: dict[float, Best] = {}
    for name, line in lines.items():
        for epsilon, median in zip(line.at.tolist(), line.quartiles[:, 1].tolist(), strict=True):
            before = found.get(epsilon)
            if before is None or (median < before.median if lower_is_better else median > before.median):
                found[epsilon] = Best(epsilon, name, median)
    return [found[epsilon] for epsilon in sorted(found) if entrants[epsilon] == most]


def frontier_table(table: pd.DataFrame, measure: str = "ratio") -> pd.DataFrame:
    """The numbers behind the picture: a line for each algorithm and ε, and which of them lie on the hull."""
    lines = lines_of(table, measure)
    best = {
        (each.name, each.epsilon) for each in best_at_each(lines, lower_is_better=measure_of(measure).lower_is_better)
    }
    rows = [
        {
            **{"algorithm": name, "ε": epsilon, "median": median, "25 %": low, "75 %": high, "runs": runs},
            "best at this ε": (name, epsilon) in best,
        }
        for name, line in lines.items()
        for epsilon, (low, median, high), runs in zip(line.at.tolist(), line.quartiles.tolist(), line.runs, strict=True)
    ]
    return pd.DataFrame(rows, columns=["algorithm", "ε", "median", "25 %", "75 %", "runs", "best at this ε"])


def _finding(lines: Mapping[str, Line], words: Measure) -> str:
    if not lines:
        return "No run yet"
    if words.ratio:
        close = {name: _close_from(line) for name, line in lines.items()}
        reached = {name: epsilon for name, epsilon in close.items() if epsilon is not None}
        if reached:
            name = min(reached, key=lambda n: reached[n])
            return f"From ε = {reached[name]:g} on, {name} stays within {percent(_CLOSE - 1)} of k-means++"
    epsilon = min((float(e) for line in lines.values() for e in line.at), key=lambda e: abs(log10(e)))
    at = {n: float(line.quartiles[line.at == epsilon, 1][0]) for n, line in lines.items() if epsilon in line.at}
    best = (min if words.lower_is_better else max)(at, key=lambda n: at[n])
    of = " k-means++" if words.ratio else ""
    return f"At ε = {epsilon:g}, {best} comes first: {words.short} {words.text(at[best])}{of}"


def _close_from(line: Line) -> float | None:
    """The least ε from which on all medians are close to k-means++."""
    close = np.logical_and.accumulate((line.quartiles[:, 1] <= _CLOSE)[::-1])[::-1]
    return float(line.at[close.argmax()]) if close.any() else None


def _draw_hull(figure: go.Figure, lines: Mapping[str, Line], words: Measure, palette: Palette) -> None:
    """A wide path under the lines along the best median at each ε; nothing where there is no choice."""
    best = best_at_each(lines, lower_is_better=words.lower_is_better)
    if len(lines) < 2 or not best:
        return
    figure.add_trace(
        go.Scatter(
            **{"x": [each.epsilon for each in best], "y": [each.median for each in best], "mode": "lines+markers"},
            line={"color": palette.faded(palette.muted, 0.28), "width": 13},
            marker={"symbol": "circle", "size": 19, "color": palette.faded(palette.muted, 0.28)},
            **{"hoverinfo": "skip", "showlegend": False, "meta": "hull"},
        )
    )


def _together(prediction: Mapping[str, Curve]) -> list[tuple[list[str], Curve]]:
    """Each predicted curve once, with all the algorithms that it is predicted for."""
    found: dict[tuple[tuple[float, float], ...], list[str]] = {}
    for name, points in prediction.items():
        found.setdefault(tuple(points), []).append(name)
    return [(names, points) for points, names in found.items()]


def _draw_prediction(figure: go.Figure, names: Sequence[str], points: Curve, color: str) -> None:
    who = ", ".join(names)
    figure.add_trace(
        go.Scatter(
            **{"x": [e for e, _ in points], "y": [v for _, v in points], "mode": "lines", "meta": "prediction"},
            line={"color": color, "width": 1.5, "dash": "dash"},
            name=f"predicted: {who}",
            hovertemplate=f"predicted for {who}: %{{y:.3g}}<extra></extra>",
            showlegend=True,
        )
    )
