"""Scores of algorithms against ε, k or n: medians and middle halves of many runs, and the best at each place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import inf, isfinite, log10
from typing import ClassVar, Literal

import numpy as np
import pandas as pd

from dpviz.app.charts.canvas import LEGEND_LINE, TitledPlot, new_plot
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
    add_note,
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
    """Medians with bands from 25 % to 75 % against ε, k or n, labelled at their right end,
    over the hull of the best.
    """

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
    def stem(self) -> str:
        """What a file of it is called."""
        return f"trade-off-{self.measure}" if self.over == "epsilon" else f"sweep-{self.over}-{self.measure}"

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

    def draw(self, palette: Palette, *, title: str = "", about: str = "") -> TitledPlot:
        """The plot, under its finding, or without the hull of the best, under another ``title`` and ``about``."""
        score, predicted = find_measure(self.measure), self._predicted_together()
        # Predictions stand in the legend below the plot, which keeps its size unless labels need more.
        in_legend = len(predicted) + bool(self.floor)
        height = _HEIGHT + LEGEND_LINE * in_legend + compute_label_room(self.lines)
        plot = new_plot(palette, height=height, legend_lines=in_legend)
        # Dashes are seen in the legend only at the width that lines have in the plot.
        plot.update_layout(margin={"r": LABELS}, legend={"itemsizing": "trace"})
        self._set_axis(plot)
        if not about:
            self._draw_hull(plot, palette)
        if self.floor:
            _draw_floor(plot, self.floor, palette)
        for name, line in self.lines.items():
            self._draw_line(plot, name, line, palette)
        for names, points in predicted:
            _draw_prediction(plot, names, points, self.styles[names[0]].color)
        draw_baselines(plot, self.baselines, self.span, score, palette)
        ends = {name: float(line["median"].iloc[-1]) for name, line in self.lines.items()}
        label_ends(plot, ends, self.styles, self.span, palette)
        if self.own is not None:
            self._mark_own(plot, palette)
        plot.update_yaxes(**self.span.axis, title_text=score.axis, zeroline=False)
        subtitle = join_clauses(
            f"ε = {self.epsilon:g}" if self.epsilon is not None else "",
            *([about] if about else ["line: median, band: 25–75 %", self._hull_words]),
            self.basis,
            f"what lies above {self.most:g}× is outside" if self.span_is_cut else "",
            "dashed: predicted before any run" if predicted else "",
        )
        return TitledPlot(title or self.finding, subtitle, plot)

    def words(self) -> str:
        """The picture in words."""
        score, letter = find_measure(self.measure), _LETTERS[self.over]
        ends = [(name, line.iloc[0], line.iloc[-1]) for name, line in self.lines.items()]
        ways = [
            f"{name} goes from {score.format(first['median'])} at {letter} = {first['at']:,g} to "
            f"{score.format(last['median'])} at {letter} = {last['at']:,g}"
            for name, first, last in ends
        ]
        return f"Median {score.name} against {_AXES[self.over]}. {self.finding}. {'; '.join(ways)}"

    def table(self) -> pd.DataFrame:
        """The numbers behind the picture: a line for each algorithm and place, and which of them are the best there."""
        letter = _LETTERS[self.over]
        table = self.medians[["algorithm", "at", "median", "low", "high", "runs", "best"]]
        names = {"at": letter, "low": "25 %", "high": "75 %", "best": f"best at this {letter}"}
        return table.astype({"at": float if self.over == "epsilon" else int}).rename(columns=names)

    def _find_close(self) -> dict[str, float]:
        """The least ε from which on enough runs of an algorithm are close to k-means++; of those that get there."""
        found = {}
        for name, runs in self.runs.groupby(name_column(self.runs), observed=True):
            losses = {float(str(at)): group.to_numpy(np.float64) for at, group in runs.groupby("epsilon")[self.measure]}
            found[str(name)] = _CLOSE.find_least(losses)
        return {name: epsilon for name, epsilon in found.items() if isfinite(epsilon)}

    @property
    def _hull_words(self) -> str:
        return f"wide grey path: the best median at each {_LETTERS[self.over]}" if len(self.lines) > 1 else ""

    def _compute_medians(self, place: float) -> pd.Series[float]:
        return self.medians[self.medians["at"] == place].set_index("algorithm")["median"]

    def _set_axis(self, plot: Plot) -> None:
        places = list(self.places) or self.medians["at"].tolist() or [0.1, 10.0]
        if self.over == "epsilon":
            axis = make_epsilon_axis(min(places), max(places))
        else:
            air = 0.04 * max(log10(max(places) / min(places)), 0.1)
            low, high = log10(min(places)) - air, log10(max(places)) + air
            axis = make_log_axis(low, high) | {"range": [low, high]}
        if self.over == "k":
            axis |= {"tickvals": places, "ticktext": [f"{k:g}" for k in places]}
        plot.update_xaxes(**axis, title_text=_AXES[self.over])

    def _draw_line(self, plot: Plot, name: str, line: pd.DataFrame, palette: Palette) -> None:
        """The median of one algorithm over its band."""
        style, faded = self.styles[name], _FADED if len(self.lines) <= _MANY else _FADED_OF_MANY
        at, low, middle, high = line[["at", "low", "median", "high"]].to_numpy(np.float64).T
        hover = (
            f"<b>{name}</b> at {_LETTERS[self.over]} = %{{x:,g}}<br>median %{{y:.3g}}, "
            "middle half %{customdata[0]:.3g} to %{customdata[1]:.3g}<br>%{customdata[2]} runs<extra></extra>"
        )
        told = {"customdata": line[["low", "high", "runs"]].to_numpy(), "hovertemplate": hover}
        fill = palette.fade(style.color, faded)
        plot.add_traces([draw_band(at, low, high, fill), draw_median_line(name, at, middle, style, **told)])

    def _draw_hull(self, plot: Plot, palette: Palette) -> None:
        """A wide path under the lines along the best medians; nothing where there is no choice."""
        best = self.medians[self.medians["best"]].sort_values("at")
        if len(self.lines) < 2:
            return
        color = palette.fade(palette.muted, 0.28)
        plot.add_trace(
            {
                **{"type": "scatter", "x": best["at"].to_numpy(), "y": best["median"].to_numpy()},
                **{"mode": "lines+markers", "line": {"color": color, "width": 13}},
                "marker": {"symbol": "circle", "size": 19, "color": color},
                **{"hoverinfo": "skip", "showlegend": False, "meta": "hull"},
            }
        )

    def _predicted_together(self) -> list[tuple[list[str], Curve]]:
        """Each predicted curve once, with all the algorithms that it is predicted for."""
        names: dict[tuple[tuple[float, float], ...], list[str]] = {}
        for name, points in self.predictions.items():
            names.setdefault(tuple(points), []).append(name)
        return [(together, points) for points, together in names.items()]

    def _mark_own(self, plot: Plot, palette: Palette) -> None:
        """The k or n that the user has, as a line from top to bottom."""
        assert self.own is not None
        plot.add_vline(x=self.own, line={"color": palette.text, "width": 1.3, "dash": "dot"})
        text = f"yours: {_LETTERS[self.over]} = {self.own:,g}"
        at = {"x": log10(self.own), "y": 1, "yref": "paper", "xanchor": "right", "yanchor": "bottom"}
        add_note(plot, text, palette.text, at)


def _draw_floor(plot: Plot, points: Curve, palette: Palette) -> None:
    """The noise of one perfect step, under all lines."""
    plot.add_trace(
        {
            **{"type": "scatter", "x": [e for e, _ in points], "y": [v for _, v in points], "mode": "lines"},
            **{"line": {"color": palette.muted, "width": 2.5, "dash": "dot"}, "meta": "floor", "showlegend": True},
            **{"name": "floor: one perfect step, which none beats by much"},
            **{"hovertemplate": "floor at ε = %{x:g}: %{y:.4g}<extra></extra>"},
        }
    )


def _draw_prediction(plot: Plot, names: Sequence[str], points: Curve, color: str) -> None:
    who = ", ".join(names)
    plot.add_trace(
        {
            **{"type": "scatter", "x": [e for e, _ in points], "y": [v for _, v in points], "mode": "lines"},
            **{"line": {"color": color, "width": 1.5, "dash": "dash"}, "meta": "prediction"},
            **{"showlegend": True, "name": f"predicted: {who}"},
            **{"hovertemplate": f"predicted for {who}: %{{y:.3g}}<extra></extra>"},
        }
    )
