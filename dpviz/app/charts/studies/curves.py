"""Scores of algorithms against ε, k or n: medians and middle halves of many runs, and the best at each place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from math import inf, isfinite, log10
from typing import Any, ClassVar, Literal

import numpy as np
import pandas as pd

from dpviz.app.charts.canvas import LEGEND_LINE, new_plot
from dpviz.app.charts.diagram import Diagram, add_note
from dpviz.app.charts.layout import make_axis_title, make_epsilon_axis, make_log_axis
from dpviz.app.charts.plot import Plot
from dpviz.app.charts.studies.contenders import (
    Style,
    choose_styles,
    describe_runs,
    find_measure,
    list_names,
    name_column,
)
from dpviz.app.charts.studies.medians import (
    LABELS,
    Span,
    compute_label_room,
    compute_quartiles,
    draw_band,
    draw_baselines,
    draw_median_line,
    label_ends,
)
from dpviz.runs import Target
from dpviz.words import Palette, join_clauses

Over = Literal["epsilon", "k", "n"]
Curve = Sequence[tuple[float, float]]

_HEIGHT = 478
# What is said to be close to k-means++.
_CLOSE = Target()
# Bands of many lines would hide each other.
_FADED, _FADED_OF_MANY, _MANY = 0.16, 0.07, 6
_LETTERS: dict[Over, str] = {"epsilon": "ε", "k": "k", "n": "n"}
_AXES: dict[Over, str] = {
    "epsilon": make_axis_title("ε", "smaller: more private"),
    "k": "k, the number of clusters",
    "n": "n, the number of rows",
}


@dataclass(frozen=True, eq=False)
class Curves:
    """Medians and middle halves of many runs against ε, k or n."""

    noun: ClassVar[str] = "runs"
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
        whole = at_place.transform("size") == at_place.size().max()
        best = whole & (medians["median"] == first)
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
    def span_is_cut(self) -> bool:
        """Whether some median or quartile lies beyond the end of the axis."""
        return bool((self.medians["high"] > self.most).any())

    @property
    def styles(self) -> dict[str, Style]:
        """The looks of each algorithm."""
        return choose_styles(list(dict.fromkeys([*list_names(self.runs), *self.predictions])))

    @property
    def basis(self) -> str:
        """What each point rests on."""
        return describe_runs(self.medians["runs"].tolist())

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
        close = self._find_close() if score.ratio else {}
        if close:
            name = min(close, key=lambda n: (close[n], self._compute_medians(close[n])[n]))
            return (
                f"From ε = {close[name]:g} on, {name} stays within {_CLOSE.above} of k-means++ in "
                f"{_CLOSE.describe_often()}"
            )
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

    ends = [(name, line.iloc[0], line.iloc[-1]) for name, line in curves.lines.items()]
    ways = [
        f"{name} goes from {score.format(first['median'])} at {letter} = {first['at']:,g} to "
        f"{score.format(last['median'])} at {letter} = {last['at']:,g}"
        for name, first, last in ends
    ]
    words = f"Median {score.name} against {_AXES[curves.over]}. {curves.finding}. {'; '.join(ways)}"
    hull = f"wide grey path: the best median at each {letter}" if len(curves.lines) > 1 else ""
    note = describe_curves(curves, "line: median, band: 25–75 %", hull)
    stem = f"trade-off-{curves.measure}" if curves.over == "epsilon" else f"sweep-{curves.over}-{curves.measure}"
    return Diagram(stem, curves.finding, note, words, partial(paint_curves, curves), tabulate)


def describe_curves(curves: Curves, *look: str) -> str:
    """What has to be known to read the curves: their ``look``, and what they rest on."""
    return join_clauses(
        f"ε = {curves.epsilon:g}" if curves.epsilon is not None else "",
        *look,
        curves.basis,
        f"what lies above {curves.most:g}× is outside" if curves.span_is_cut else "",
        "dashed: predicted before any run" if curves.predictions else "",
    )


def paint_curves(curves: Curves, palette: Palette, *, hull: bool = True) -> Plot:
    """The curves, with the ``hull`` of the best or without."""
    predicted = _predict_together(curves.predictions)
    # Predictions stand in the legend below the plot, which keeps its size unless labels need more.
    in_legend = len(predicted) + bool(curves.floor)
    height = _HEIGHT + LEGEND_LINE * in_legend + compute_label_room(curves.lines)
    plot = new_plot(palette, height=height, legend_lines=in_legend)
    # Dashes are seen in the legend only at the width that lines have in the plot.
    plot.update_layout(margin={"r": LABELS}, legend={"itemsizing": "trace"})
    plot.update_xaxes(**_make_axis(curves), title_text=_AXES[curves.over])
    if hull and len(curves.lines) > 1:
        _add_hull(plot, curves, palette)
    if curves.floor:
        _draw_floor(plot, curves.floor, palette)
    for name, line in curves.lines.items():
        _add_line(plot, curves, name, line, palette)
    for names, points in predicted:
        _draw_prediction(plot, names, points, curves.styles[names[0]].color)
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
    at, low, middle, high = line[["at", "low", "median", "high"]].to_numpy(np.float64).T
    hover = (
        f"<b>{name}</b> at {_LETTERS[curves.over]} = %{{x:,g}}<br>median %{{y:.3g}}, "
        "middle half %{customdata[0]:.3g} to %{customdata[1]:.3g}<br>%{customdata[2]} runs<extra></extra>"
    )
    told = {"customdata": line[["low", "high", "runs"]].to_numpy(), "hovertemplate": hover}
    fill = palette.fade(style.color, faded)
    plot.add_traces([draw_band(at, low, high, fill), draw_median_line(name, at, middle, style, **told)])


def _add_hull(plot: Plot, curves: Curves, palette: Palette) -> None:
    """A wide path under the lines along the best medians."""
    best, color = curves.medians[curves.medians["best"]].sort_values("at"), palette.fade(palette.muted, 0.28)
    look = {"line": {"color": color, "width": 13}, "marker": {"symbol": "circle", "size": 19, "color": color}}
    plot.add_scatter(best["at"].to_numpy(), best["median"].to_numpy(), "lines+markers", meta="hull", **look)


def _predict_together(predictions: Mapping[str, Curve]) -> list[tuple[list[str], Curve]]:
    """Each predicted curve once, with all the algorithms that it is predicted for."""
    names: dict[tuple[tuple[float, float], ...], list[str]] = {}
    for name, points in predictions.items():
        names.setdefault(tuple(points), []).append(name)
    return [(together, points) for points, together in names.items()]


def _draw_floor(plot: Plot, points: Curve, palette: Palette) -> None:
    """The noise of one perfect step, under all lines."""
    x, y = [epsilon for epsilon, _ in points], [loss for _, loss in points]
    look = {"line": {"color": palette.muted, "width": 2.5, "dash": "dot"}, "showlegend": True, "meta": "floor"}
    name = "floor: one perfect step, which none beats by much"
    plot.add_scatter(x, y, "lines", hover="floor at ε = %{x:g}: %{y:.4g}", name=name, **look)


def _draw_prediction(plot: Plot, names: Sequence[str], points: Curve, color: str) -> None:
    who = ", ".join(names)
    x, y = [epsilon for epsilon, _ in points], [loss for _, loss in points]
    look = {"line": {"color": color, "width": 1.5, "dash": "dash"}, "showlegend": True, "meta": "prediction"}
    plot.add_scatter(x, y, "lines", hover=f"predicted for {who}: %{{y:.3g}}", name=f"predicted: {who}", **look)
