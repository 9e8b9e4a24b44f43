"""Curves of many runs: how algorithms look, medians in bands, forecasts, the smallest ε, and the loss over k."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property, partial
from math import inf, isfinite, log10
from textwrap import wrap
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from scipy.optimize import isotonic_regression

from dpviz.algorithms import CARDS, synopsis_reading
from dpviz.app.charts.canvas import AIR, LEGEND_LINE, Diagram, add_note, new_plot, spell_name
from dpviz.app.charts.plot import Data, Plot, make_axis_title, make_epsilon_axis, make_log_axis
from dpviz.core import Array
from dpviz.runs import Recommendation, SmallestEpsilon, Target, find_reached_loss
from dpviz.words import Palette, format_number, format_ratio, join_clauses, read_toml, round_percent

_TOLD: dict[str, dict[str, Any]] = read_toml(__file__, "looks.toml")
LOOKS: dict[str, tuple[str, str]] = {name: (color, marker) for name, (color, marker) in _TOLD["looks"].items()}
"""The colour and the marker of each algorithm."""
_SIGNS = {
    **{"circle": "●○", "square": "■□", "diamond": "◆◇", "star": "★☆", "triangle-up": "▲△"},
    **{"triangle-down": "▼▽", "triangle-left": "◄◁", "triangle-right": "►▷"},
}
_DASHES = ["dash", "dot", "dashdot", "longdash", "longdashdot"]
_FILLS = ["-open", "-open-dot", "-dot"]


class Style(NamedTuple):
    """The looks of one algorithm."""

    color: str
    marker: str
    dash: str

    @property
    def sign(self) -> str:
        """The marker as a character in its colour."""
        shape, *_ = self.marker.split("-open")
        return f'<span style="color:{self.color}">{_SIGNS[shape.removesuffix("-dot")]["-open" in self.marker]}</span>'


class Measure(NamedTuple):
    """A score in words: what it is, in short, and with its unit on an axis that fits a phone."""

    name: str
    short: str
    on_axis: str = ""
    lower_is_better: bool = True
    ratio: bool = False

    @property
    def axis(self) -> str:
        return self.on_axis or self.name

    def format(self, value: float) -> str:
        """The value with three digits; ratios with their sign."""
        return format_ratio(value) if self.ratio else format_number(value)

    def describe_first(self, medians: pd.Series[float]) -> str:
        """Who comes first of those whose ``medians`` these are, by name, and with what."""
        best = str(medians.idxmin() if self.lower_is_better else medians.idxmax())
        of = " k-means++" if self.ratio else ""
        return f"{best} comes first: {self.short} {self.format(medians[best])}{of}"


MEASURES = {name: Measure(**words) for name, words in _TOLD["measures"].items()}


def find_measure(name: str) -> Measure:
    """The words for a measure; its own name where there are none."""
    words = name.replace("_", " ")
    return MEASURES.get(name, Measure(words, words))


def choose_styles(names: Sequence[str]) -> dict[str, Style]:
    """A style for each name: that of its algorithm, in every chart; variants differ by dash and by an open marker.

    What is no algorithm of the registry takes, in order, looks that none of the others has.
    """
    known = {name: algorithm for name in names if (algorithm := find_algorithm(name)) is not None}
    free = [look for algorithm, look in LOOKS.items() if algorithm not in known.values()] or list(LOOKS.values())
    strangers = [name for name in names if name not in known]
    styles = {name: _choose_style(free[i % len(free)], i // len(free)) for i, name in enumerate(strangers)}
    variants: Counter[str] = Counter()
    for name, algorithm in known.items():
        if name not in _list_titles():
            variants[algorithm] += 1
        styles[name] = _choose_style(LOOKS[algorithm], variants[algorithm] if name not in _list_titles() else 0)
    return {name: styles[name] for name in names}


def find_algorithm(name: str) -> str | None:
    """The id of the algorithm that a line is named after; None if it is none."""
    begun = [title for title in _list_titles() if name.startswith(title) and not name[len(title) :][:1].isalnum()]
    return _list_titles()[max(begun, key=len)] if begun else None


@cache
def _list_titles() -> dict[str, str]:
    """Ids of algorithms by what they are called here and in papers."""
    return {CARDS[algorithm].title: algorithm for algorithm in LOOKS} | _TOLD["aliases"]


def _choose_style(look: tuple[str, str], variant: int) -> Style:
    """The looks of an algorithm itself, or of its ``variant`` counted from 1."""
    color, marker = look
    if variant == 0:
        return Style(color, marker, "solid")
    again, place = divmod(variant - 1, len(_DASHES))
    return Style(color, marker + _FILLS[again % len(_FILLS)], _DASHES[place])


def list_names(runs: pd.DataFrame) -> list[str]:
    """Names of the algorithms: all that may come, where the column says so, else in order of first appearance."""
    names = runs[name_column(runs)]
    return list(map(str, names.cat.categories if isinstance(names.dtype, pd.CategoricalDtype) else names.unique()))


def name_column(runs: pd.DataFrame) -> str:
    """The column that names an algorithm: its label in a study, or its id."""
    return "contender" if "contender" in runs.columns else "algorithm"


def narrow(name: str, width: int = 16) -> str:
    """A name in lines of at most ``width`` characters."""
    return "<br>".join(map(spell_name, wrap(name, width)))


def describe_runs(numbers: Sequence[int]) -> str:
    """How many runs stand behind the lines of a chart."""
    if not numbers:
        return ""
    low, high = min(numbers), max(numbers)
    return f"{high} run{'s' * (high != 1)} each" if low == high else f"{low} to {high} runs each"


PLOT, LABELS = 390, 132
"""Pixels of a plot's height, and of the room for names to its right."""
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
        # Values that differ by more than this factor are drawn on a logarithmic axis: on a plain one the small ones
        # lie flat.
        logarithmic = low > 0 and high > 5.0 * low
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


def add_band(plot: Plot, x: Array, low: Array, high: Array, fill: str, **look: Any) -> None:
    """The area between two curves ``low`` and ``high`` (m,) over ``x`` (m,)."""
    area = {"fill": "toself", "fillcolor": fill, "line": {"width": 0}, "meta": "band"}
    plot.add_scatter(np.r_[x, x[::-1]], np.r_[high, low[::-1]], "lines", **area, **look)


def add_quartiles(
    plot: Plot, name: str, parts: Array, style: Style, fill: str, group: Data | None = None, /, **look: Any
) -> None:
    """The median of one algorithm over its middle half: ``parts`` are x, low, middle and high, (4, m).

    A marker stands wherever something was run; ``group`` is told of both.
    """
    x, low, middle, high = parts
    add_band(plot, x, low, high, fill, **(group or {}))
    line = {"color": style.color, "width": 2.2, "dash": style.dash}
    marker = {"symbol": style.marker, "size": 8, "color": style.color}
    told = {"name": name, "line": line, "marker": marker, "meta": "median", **look, **(group or {})}
    plot.add_scatter(x, middle, "lines+markers", **told)


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


def label_ends(plot: Plot, ends: Mapping[str, float], looks: Mapping[str, Style], span: Span, palette: Palette) -> None:
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
            at |= {"y": end, "showarrow": True, "arrowhead": 0, "arrowwidth": 1, "arrowcolor": looks[name].color}
            at |= {"ax": _THREAD, "ay": away, "standoff": 0}
        add_note(plot, f"{looks[name].sign} {text}", palette.text, at, size=_LABEL_SIZE)


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
    moved = np.empty(len(order))
    moved[order] = np.clip(isotonic_regression(np.asarray(heights)[order] - steps).x, lowest, highest) + steps
    return [float(height) for height in moved]


Over = Literal["epsilon", "k", "n"]
Curve = Sequence[tuple[float, float]]

# What is said to be close to k-means++.
_CLOSE = Target()
# Bands of many lines would hide each other.
_FADED, _FADED_OF_MANY, _MANY = 0.16, 0.07, 6
_LETTERS: dict[Over, str] = {"epsilon": "ε", "k": "k", "n": "n"}
_AXES: dict[Over, str] = {"k": "k, the number of clusters", "n": "n, the number of rows"}
_AXES["epsilon"] = make_axis_title("ε", "smaller: more private")


@dataclass(frozen=True, eq=False)
class Curves:
    """Medians and middle halves of many runs against ε, k or n."""

    runs: pd.DataFrame
    measure: str = "ratio"
    over: Over = "epsilon"
    places: Sequence[float] = ()
    epsilon: float | None = None
    own: float | None = None
    baselines: Mapping[str, float] = field(default_factory=dict)
    predictions: Mapping[str, Curve] = field(default_factory=dict)
    floor: Curve = ()
    most: float = inf

    @cached_property
    def medians(self) -> pd.DataFrame:
        """A row for each algorithm and place with a finite score: algorithm, at, low, median, high, runs, best.

        ``best`` is said only of places at which all algorithms have run that have run anywhere.
        """
        names = name_column(self.runs)
        medians = compute_quartiles(self.runs, self.measure, [names, self.over])
        medians.columns = pd.Index(["algorithm", "at", *medians.columns[2:]])
        order = {name: place for place, name in enumerate(list_names(self.runs))}
        medians = medians.sort_values("algorithm", key=lambda names: names.map(order), kind="stable")
        at_place = medians.groupby("at")["median"]
        first = at_place.transform("min" if find_measure(self.measure).lower_is_better else "max")
        best = (at_place.transform("size") == at_place.size().max()) & (medians["median"] == first)
        return medians.assign(best=best & ~medians["at"].where(best).duplicated())

    @cached_property
    def lines(self) -> dict[str, pd.DataFrame]:
        """The rows of ``medians`` by algorithm, in the order in which these appear in the study."""
        return {str(name): line for name, line in self.medians.groupby("algorithm", sort=False)}

    @cached_property
    def span(self) -> Span:
        """What the axis of scores shows."""
        values = self.medians[["low", "median", "high"]].to_numpy(np.float64).ravel()
        return Span.of([*np.minimum(values, self.most), *self.baselines.values()])

    @property
    def styles(self) -> dict[str, Style]:
        """The looks of each algorithm."""
        return choose_styles(list(dict.fromkeys([*list_names(self.runs), *self.predictions])))

    @property
    def finding(self) -> str:
        """From which ε on somebody is close to k-means++, or who is best at ε = 1, at most clusters, or fewest rows."""
        score, letter = find_measure(self.measure), _LETTERS[self.over]
        places = self.medians["at"]
        if places.empty:
            return "No run yet"
        if self.over != "epsilon":
            hardest = places.max() if self.over == "k" else places.min()
            at_epsilon = f" at ε = {self.epsilon:g}" if self.epsilon is not None else ""
            return f"With {letter} = {hardest:,g}{at_epsilon}, {score.describe_first(self._compute_medians(hardest))}"
        if score.ratio and (close := self._find_close()):
            name = min(close, key=lambda n: (close[n], self._compute_medians(close[n])[n]))
            within = f"within {_CLOSE.above} of k-means++ in {_CLOSE.describe_often()}"
            return f"From ε = {close[name]:g} on, {name} stays {within}"
        middle = min(places, key=lambda epsilon: abs(log10(epsilon)))
        return f"At ε = {middle:g}, {score.describe_first(self._compute_medians(middle))}"

    def _find_close(self) -> dict[str, float]:
        """The least ε from which on enough runs of an algorithm are close to k-means++; of those that get there."""
        found = {}
        for name, runs in self.runs.groupby(name_column(self.runs), observed=True):
            losses = {float(str(at)): group.to_numpy(np.float64) for at, group in runs.groupby("epsilon")[self.measure]}
            found[str(name)] = _CLOSE.find_least(losses)
        return {name: epsilon for name, epsilon in found.items() if isfinite(epsilon)}

    def _compute_medians(self, place: float) -> pd.Series[float]:
        return self.medians[self.medians["at"] == place].set_index("algorithm")["median"]


def draw_curves(curves: Curves) -> Diagram:
    """Medians with bands from 25 % to 75 %, labelled at their right end, over the hull of the best."""
    score, letter = find_measure(curves.measure), _LETTERS[curves.over]

    def tabulate() -> pd.DataFrame:
        """A line for each algorithm and place, and which of them are the best there."""
        table = curves.medians[["algorithm", "at", "median", "low", "high", "runs", "best"]]
        names = {"at": letter, "low": "25 %", "high": "75 %", "best": f"best at this {letter}"}
        return table.astype({"at": float if curves.over == "epsilon" else int}).rename(columns=names)

    ways = []
    for name, line in curves.lines.items():
        ends = zip(line["median"], line["at"], strict=True)
        first, *_, last = [f"{score.format(value)} at {letter} = {at:,g}" for value, at in ends] * 2
        ways.append(f"{name} goes from {first} to {last}")
    words = f"Median {score.name} against {_AXES[curves.over]}. {curves.finding}. {'; '.join(ways)}"
    hull = f"wide grey path: the best median at each {letter}" if len(curves.lines) > 1 else ""
    note = describe_curves(curves, "line: median, band: 25–75 %", hull)
    stem = f"trade-off-{curves.measure}" if curves.over == "epsilon" else f"sweep-{curves.over}-{curves.measure}"
    return Diagram(stem, curves.finding, note, words, partial(paint_curves, curves), tabulate)


def describe_curves(curves: Curves, *look: str) -> str:
    """What has to be known to read the curves: their ``look``, and what they rest on."""
    runs, at = describe_runs(curves.medians["runs"].tolist()), f"ε = {curves.epsilon:g}" if curves.epsilon else ""
    beyond = f"what lies above {curves.most:g}× is outside" if (curves.medians["high"] > curves.most).any() else ""
    return join_clauses(at, *look, runs, beyond, "dashed: predicted before any run" if curves.predictions else "")


def paint_curves(curves: Curves, palette: Palette, *, hull: bool = True) -> Plot:
    """The curves, with the ``hull`` of the best or without."""
    # Each predicted curve once, with all the algorithms that it is predicted for.
    predicted: dict[tuple[tuple[float, float], ...], list[str]] = {}
    for name, points in curves.predictions.items():
        predicted.setdefault(tuple(points), []).append(name)
    # Predictions stand in the legend below the plot, which keeps its size unless labels need more.
    in_legend = len(predicted) + bool(curves.floor)
    labels = round(sum(len(wrap(name, _LABEL_WIDTH)) for name in curves.lines) * _LABEL_LINE)
    plot = new_plot(palette, height=478 + LEGEND_LINE * in_legend + max(0, labels - PLOT), legend_lines=in_legend)
    # Dashes are seen in the legend only at the width that lines have in the plot.
    plot.update_layout(margin={"r": LABELS}, legend={"itemsizing": "trace"})
    plot.update_xaxes(**_make_axis(curves), title_text=_AXES[curves.over])
    if hull and len(curves.lines) > 1:  # a wide path under the lines along the best medians
        best, color = curves.medians[curves.medians["best"]].sort_values("at"), palette.fade(palette.muted, 0.28)
        wide = {"line": {"color": color, "width": 13}, "marker": {"symbol": "circle", "size": 19, "color": color}}
        plot.add_scatter(best["at"].to_numpy(), best["median"].to_numpy(), "lines+markers", meta="hull", **wide)
    if curves.floor:
        dotted = {"color": palette.muted, "width": 2.5, "dash": "dot"}
        name = "floor: one perfect step, which none beats by much"
        _add_told(plot, curves.floor, dotted, name, "floor at ε = %{x:g}: %{y:.4g}", "floor")
    for name, line in curves.lines.items():
        _add_line(plot, curves, name, line, palette)
    for points, names in predicted.items():
        who, dashed = ", ".join(names), {"color": curves.styles[names[0]].color, "width": 1.5, "dash": "dash"}
        _add_told(plot, points, dashed, f"predicted: {who}", f"predicted for {who}: %{{y:.3g}}", "prediction")
    score, span = find_measure(curves.measure), curves.span
    draw_baselines(plot, curves.baselines, span, score, palette)
    ends = {name: float(line["median"].iloc[-1]) for name, line in curves.lines.items()}
    label_ends(plot, ends, curves.styles, span, palette)
    if curves.own is not None:
        plot.add_vline(x=curves.own, line={"color": palette.text, "width": 1.3, "dash": "dot"})
        at = {"x": log10(curves.own), "y": 1, "yref": "paper", "xanchor": "right", "yanchor": "bottom"}
        add_note(plot, f"yours: {_LETTERS[curves.over]} = {curves.own:,g}", palette.text, at)
    plot.update_yaxes(**span.axis, title_text=score.axis, zeroline=False)
    return plot


def _make_axis(curves: Curves) -> dict[str, Any]:
    places = list(curves.places) or curves.medians["at"].tolist() or [0.1, 10.0]
    if curves.over == "epsilon":
        return make_epsilon_axis(min(places), max(places))
    air = 0.04 * max(log10(max(places) / min(places)), 0.1)
    low, high = log10(min(places)) - air, log10(max(places)) + air
    ticks = {"tickvals": places, "ticktext": [f"{k:g}" for k in places]} if curves.over == "k" else {}
    return make_log_axis(low, high) | {"range": [low, high]} | ticks


def _add_line(plot: Plot, curves: Curves, name: str, line: pd.DataFrame, palette: Palette) -> None:
    """The median of one algorithm over its band."""
    style, faded = curves.styles[name], _FADED if len(curves.lines) <= _MANY else _FADED_OF_MANY
    parts = line[["at", "low", "median", "high"]].to_numpy(np.float64).T
    hover = (
        f"<b>{name}</b> at {_LETTERS[curves.over]} = %{{x:,g}}<br>median %{{y:.3g}}, "
        "middle half %{customdata[0]:.3g} to %{customdata[1]:.3g}<br>%{customdata[2]} runs"
    )
    fill, behind = palette.fade(style.color, faded), line[["low", "high", "runs"]].to_numpy()
    add_quartiles(plot, name, parts, style, fill, hover=hover, customdata=behind)


def _add_told(plot: Plot, points: Curve, line: Data, name: str, hover: str, meta: str) -> None:
    """A curve that nothing was run for, in the legend."""
    x, y = zip(*points, strict=True)
    plot.add_scatter(x, y, "lines", hover=hover, name=name, line=line, showlegend=True, meta=meta)


def draw_smallest(curves: Curves, answers: Sequence[SmallestEpsilon], recommendation: Recommendation) -> Diagram:
    """The target as a line across the curves, with each answer on it in the colour of its line.

    Of the recommended algorithm also the loss that the wanted share of runs does not exceed: it is below the target
    from the answer on.
    """
    target, who, finding = recommendation.target, recommendation.who, recommendation.finding
    below = f"{target.describe_often()} lie below"
    about = join_clauses("line: median", f"{who}: band 25–75 %, dotted: {below}" if who else "")

    def paint(palette: Palette) -> Plot:
        plot = paint_curves(curves, palette, hull=False)
        # Bands of all would hide each other; each stands before its line.
        before = zip(plot.traces, [*plot.traces[1:], {}], strict=True)
        plot.traces = [trace for trace, line in before if trace["meta"] != "band" or line.get("name") == who]
        plot.add_hline(y=target.loss, line={"color": palette.text, "width": 1.5, "dash": "longdash"})
        # At small ε and below the line, where losses seldom are.
        at = {"x": 0.01, "y": curves.span.to_axis(target.loss), "xanchor": "left", "yanchor": "top"}
        behind = palette.fade(palette.surface, 0.7)
        add_note(plot, f"target: {target.loss:.4g}×", palette.text, {"xref": "paper", "bgcolor": behind, **at})
        if who in curves.styles:
            # By ε the loss that this share of the runs does not exceed.
            upper: dict[float, float] = {}
            for epsilon, group in curves.runs[curves.runs[name_column(curves.runs)] == who].groupby("epsilon"):
                weights: Array | None = group["weight"].to_numpy(np.float64) if "weight" in group else None
                reach = find_reached_loss(group["ratio"].to_numpy(np.float64), target.share, weights)
                upper |= {float(str(epsilon)): reach} if np.isfinite(reach) else {}
            line = {"color": curves.styles[who].color, "width": 1.3, "dash": "dot"}
            hover = f"<b>{who}</b> at ε = %{{x:g}}<br>{below} %{{y:.3g}}"
            plot.add_scatter([*upper], [*upper.values()], "lines", hover=hover, line=line, name=below, meta="upper")
        reached = [answer for answer in answers if answer.reached]
        colors = [curves.styles[answer.contender].color for answer in reached]
        marker = {"symbol": "diamond-tall", "size": 15, "color": colors, "line": {"width": 2, "color": palette.text}}
        told = {"hover": "<b>%{customdata[0]}</b><br>%{customdata[1]}", "meta": "answer"}
        notes = [(answer.contender, answer.text) for answer in reached]
        places = [answer.epsilon for answer in reached]
        plot.add_scatter(places, [target.loss] * len(reached), "markers", marker=marker, customdata=notes, **told)
        return plot

    def tabulate() -> pd.DataFrame:
        """A line an algorithm, the smallest ε first; empty where the target is not reached."""
        rows = [(one.contender, one.epsilon, one.low, one.high, one.text, one.runs) for one in answers]
        table = pd.DataFrame(rows, columns=["algorithm", "smallest ε", "from", "to", "in words", "runs"])
        numbers = ["smallest ε", "from", "to"]
        table[numbers] = table[numbers].astype(float).replace(np.inf, np.nan)
        return table

    words = f"Loss against ε with the target. {finding}"
    return Diagram("smallest-epsilon", finding, describe_curves(curves, about), words, paint, tabulate)


def draw_k_curve(read: synopsis_reading.SuggestedK) -> Diagram:
    """The loss on a synopsis against k, and the k that is suggested as a line; all of it is released."""
    last, suggested = read.ks[-1], read.suggested
    sure = "" if 2 * read.agreeing > read.redraws else ", but unsurely"
    finding = f"The loss bends at k = {suggested}{sure}"
    if suggested is None:
        finding = f"No number of clusters stands out up to {last}"

    def paint(palette: Palette) -> Plot:
        plot = new_plot(palette, height=AIR + PLOT + 40, legend_lines=0)
        span = Span.of([*read.losses[read.losses > 0], *read.highs, *read.lows[read.lows > 0]])
        # What lies below a logarithmic axis is drawn at its end.
        least = 10**span.low if span.logarithmic else 0.0
        losses, lows, highs = (np.maximum(values, least) for values in (read.losses, read.lows, read.highs))
        add_band(plot, read.ks.astype(np.float64), lows, highs, palette.fade(palette.released, 0.22))
        look = {"line": {"color": palette.released, "width": 2.2}, "marker": {"color": palette.released, "size": 7}}
        look["marker"]["symbol"] = np.where(read.kept < synopsis_reading.STABLE, "circle-open", "circle").tolist()
        between = "nine in ten redraws %{customdata[0]:.3g} to %{customdata[1]:.3g}<br>%{customdata[2]:.0%} stay"
        told = {"hover": f"k = %{{x}}: loss %{{y:.3g}}<br>{between}", "meta": "released"}
        ends = np.column_stack([read.lows, read.highs, read.kept])
        plot.add_scatter(read.ks, losses, "lines+markers", customdata=ends, **look, **told)
        # At most about so many numbers below the axis.
        every = -(-len(read.ks) // 12)
        ticks = read.ks[every - 1 :: every].tolist()
        plot.update_xaxes(title_text="number of clusters k", tickvals=ticks, range=[0.5, last + 0.5])
        plot.update_yaxes(**span.axis, title_text="loss on the synopsis", zeroline=False)
        if suggested is not None:
            plot.add_vline(x=suggested, line={"color": palette.text, "width": 1.3, "dash": "dot"})
            side, shift = ("left", 5) if suggested <= len(read.ks) / 2 else ("right", -5)
            at = {"x": suggested, "xshift": shift, "y": 1, "yref": "paper", "yanchor": "top", "xanchor": side}
            add_note(plot, f"k = {suggested}", palette.text, at)
        return plot

    def tabulate() -> pd.DataFrame:
        ends = {"low": read.lows, "high": read.highs, "bend": read.bends, "stay": read.kept}
        return pd.DataFrame({"k": read.ks, "loss": read.losses, **ends})

    how, agree = "line: least loss found on the synopsis", f"{read.agreeing} of {read.redraws} redraws agree"
    filled = f"filled: {round_percent(synopsis_reading.STABLE)} of rows or more stay in their segment"
    note = join_clauses(how, "band: nine in ten redraws of its noise", filled, agree, "free: nothing is charged")
    way = f"from {format_number(float(read.losses[0]))} at k = 1 to {format_number(float(read.losses[-1]))}"
    words = f"Loss on the synopsis against the number of clusters, {way} at k = {last}. {read.words}"
    return Diagram("clusters-on-the-synopsis", finding, note, words, paint, tabulate)
