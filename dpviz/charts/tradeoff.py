"""What every ε buys: medians and middle halves of many runs, between what is free and what k-means++ reaches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import log10
from textwrap import wrap
from typing import NamedTuple

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dpviz.charts.canvas import LEGEND_LINE, NUMBER_SIZE, canvas
from dpviz.charts.contenders import (
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
from dpviz.charts.theme import Palette, epsilon_axis, log_axis
from dpviz.charts.wording import clauses, percent
from dpviz.table.domain import Array

_HEIGHT, _PLOT, _LABELS = 560, 390, 132
_LOG_FROM = 5.0
# A loss within this factor of k-means++ is said to be close.
_CLOSE = 1.1
# A line of direct labels in pixels, and the most characters in it.
_LABEL_LINE, _LABEL_WIDTH, _LABEL_SIZE = 14.0, 18, 10
_FADED_BAND, _FADED_BAND_OF_MANY, _MANY = 0.16, 0.07, 6


Curve = Sequence[tuple[float, float]]


class Line(NamedTuple):
    """One algorithm: ε (m,), quartiles (m, 3) of its runs, and how many runs each point rests on."""

    epsilons: Array
    quartiles: Array
    runs: list[int]


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
    words, lines = measure_of(measure), _lines(table, measure)
    reached = [float(e) for line in lines.values() for e in line.epsilons]
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
        height=_HEIGHT + LEGEND_LINE * len(predicted) + _more_for_labels(lines),
        legend_lines=len(predicted),
    )
    # Dashes are seen in the legend only at the width that lines have in the plot.
    figure.update_layout(margin={"r": _LABELS}, legend={"itemsizing": "trace"})
    figure.update_xaxes(epsilon_axis(min(every), max(every)), title_text="ε (smaller: more private)")
    styles = styles_of(list(dict.fromkeys([*names_in(table), *(prediction or {})])))
    _draw_hull(figure, lines, words, palette)
    faded = _FADED_BAND if len(lines) <= _MANY else _FADED_BAND_OF_MANY
    for name, line in lines.items():
        _draw_line(figure, name, line, styles[name], words, palette, faded)
    for names, points in predicted:
        _draw_prediction(figure, names, points, styles[names[0]].color)
    span = _set_range(figure, lines, baselines or {})
    _draw_baselines(figure, baselines or {}, span, words, palette)
    _label_ends(figure, lines, styles, span, palette)
    figure.update_yaxes(title_text=words.axis, zeroline=False)
    return figure


def describe_tradeoff(table: pd.DataFrame, measure: str = "ratio") -> str:
    """The picture in words."""
    words, lines = measure_of(measure), _lines(table, measure)
    ends = [
        f"{name} goes from {words.text(float(line.quartiles[0, 1]))} at ε = {line.epsilons[0]:g} to "
        f"{words.text(float(line.quartiles[-1, 1]))} at ε = {line.epsilons[-1]:g}"
        for name, line in lines.items()
    ]
    return f"Median {words.name} against ε. {_finding(lines, words)}. " + "; ".join(ends)


def _lines(table: pd.DataFrame, measure: str) -> dict[str, Line]:
    column, lines = name_column(table), {}
    for name in names_in(table):
        of = table[(table[column] == name) & np.isfinite(table["epsilon"].to_numpy(np.float64))]
        groups = {float(e): g.to_numpy(np.float64) for e, g in of.groupby("epsilon")[measure]}
        groups = {e: values for e, values in groups.items() if np.isfinite(values).any()}
        if groups:
            found = np.stack([quartiles(values) for values in groups.values()])
            lines[name] = Line(np.array(list(groups)), found, [len(values) for values in groups.values()])
    return lines


def best_at_each(lines: Mapping[str, Line], *, lower_is_better: bool) -> list[Best]:
    """The lower hull (upper, where more is better): whose median is best at each ε, by increasing ε.

    An ε at which only some algorithms have run says nothing about the best, and is left out.
    """
    entrants = Counter(epsilon for line in lines.values() for epsilon in line.epsilons.tolist())
    most = max(entrants.values(), default=0)
    found: dict[float, Best] = {}
    for name, line in lines.items():
        for epsilon, median in zip(line.epsilons.tolist(), line.quartiles[:, 1].tolist(), strict=True):
            before = found.get(epsilon)
            if before is None or (median < before.median if lower_is_better else median > before.median):
                found[epsilon] = Best(epsilon, name, median)
    return [found[epsilon] for epsilon in sorted(found) if entrants[epsilon] == most]


def frontier_table(table: pd.DataFrame, measure: str = "ratio") -> pd.DataFrame:
    """The numbers behind the picture: a line for each algorithm and ε, and which of them lie on the hull."""
    lines = _lines(table, measure)
    best = {
        (each.name, each.epsilon) for each in best_at_each(lines, lower_is_better=measure_of(measure).lower_is_better)
    }
    rows = [
        {
            **{"algorithm": name, "ε": epsilon, "median": median, "25 %": low, "75 %": high, "runs": runs},
            "best at this ε": (name, epsilon) in best,
        }
        for name, line in lines.items()
        for epsilon, (low, median, high), runs in zip(
            line.epsilons.tolist(), line.quartiles.tolist(), line.runs, strict=True
        )
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
    epsilon = min((float(e) for line in lines.values() for e in line.epsilons), key=lambda e: abs(log10(e)))
    at = {
        n: float(line.quartiles[line.epsilons == epsilon, 1][0])
        for n, line in lines.items()
        if epsilon in line.epsilons
    }
    best = (min if words.lower_is_better else max)(at, key=lambda n: at[n])
    of = " k-means++" if words.ratio else ""
    return f"At ε = {epsilon:g}, {best} comes first: {words.short} {words.text(at[best])}{of}"


def _close_from(line: Line) -> float | None:
    """The least ε from which on all medians are close to k-means++."""
    close = np.logical_and.accumulate((line.quartiles[:, 1] <= _CLOSE)[::-1])[::-1]
    return float(line.epsilons[close.argmax()]) if close.any() else None


def _draw_line(
    figure: go.Figure, name: str, line: Line, style: Style, words: Measure, palette: Palette, faded: float
) -> None:
    low, middle, high = line.quartiles.T
    figure.add_trace(
        go.Scatter(
            x=np.r_[line.epsilons, line.epsilons[::-1]],
            y=np.r_[high, low[::-1]],
            **{"mode": "lines", "line": {"width": 0}, "fill": "toself", "fillcolor": palette.faded(style.color, faded)},
            **{"hoverinfo": "skip", "showlegend": False, "meta": "band"},
        )
    )
    figure.add_trace(
        go.Scatter(
            **{"x": line.epsilons, "y": middle, "mode": "lines+markers", "name": name, "meta": "median"},
            line={"color": style.color, "width": 2.2, "dash": style.dash},
            marker={"symbol": style.marker, "size": 8, "color": style.color},
            customdata=np.column_stack([low, high, line.runs]),
            hovertemplate=f"<b>{name}</b> at ε = %{{x:g}}<br>median %{{y:.3g}}, middle half %{{customdata[0]:.3g}} to "
            "%{customdata[1]:.3g}<br>%{customdata[2]} runs<extra></extra>",
            showlegend=False,
        )
    )


def _together(prediction: Mapping[str, Curve]) -> list[tuple[list[str], Curve]]:
    """Each predicted curve once, with all the algorithms that it is predicted for."""
    found: dict[tuple[tuple[float, float], ...], list[str]] = {}
    for name, points in prediction.items():
        found.setdefault(tuple(points), []).append(name)
    return [(names, points) for points, names in found.items()]


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


def _set_range(
    figure: go.Figure, lines: Mapping[str, Line], baselines: Mapping[str, float]
) -> tuple[float, float, bool]:
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
    return low - air, high + air, logarithmic


def _draw_baselines(
    figure: go.Figure, baselines: Mapping[str, float], span: tuple[float, float, bool], words: Measure, palette: Palette
) -> None:
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


def _label_ends(
    figure: go.Figure,
    lines: Mapping[str, Line],
    styles: Mapping[str, Style],
    span: tuple[float, float, bool],
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


def _more_for_labels(names: Iterable[str]) -> int:
    """Pixels that the labels of all lines take beyond those of the plot."""
    rows = sum(len(wrap(name, _LABEL_WIDTH)) for name in names)
    return max(0, round(rows * _LABEL_LINE) - _PLOT)


def _shown(value: float, span: tuple[float, float, bool]) -> float:
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
