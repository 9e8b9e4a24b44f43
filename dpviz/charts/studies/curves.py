"""Scores of algorithms against ε, k or n: medians and middle halves of many runs, and the best at each place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from math import log10
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dpviz.charts.canvas import LEGEND_LINE, NUMBER_SIZE, canvas
from dpviz.charts.studies.contenders import Style, measure_of, names_in, runs_text, styles_of
from dpviz.charts.studies.medians import (
    LABELS,
    Line,
    Span,
    band,
    draw_baselines,
    label_ends,
    lines_of,
    median_line,
    more_for_labels,
)
from dpviz.charts.theme import Palette, epsilon_axis, log_axis
from dpviz.charts.wording import clauses, percent

Over = Literal["epsilon", "k", "n"]
Curve = Sequence[tuple[float, float]]

_HEIGHT = 560
# A loss within this factor of k-means++ is said to be close.
_CLOSE = 1.1
# Bands of many lines would hide each other.
_FADED, _FADED_OF_MANY, _MANY = 0.16, 0.07, 6
_LETTERS: dict[Over, str] = {"epsilon": "ε", "k": "k", "n": "n"}
_AXES: dict[Over, str] = {
    "epsilon": "ε (smaller: more private)",
    "k": "k, the number of clusters",
    "n": "n, the number of rows",
}


class Best(NamedTuple):
    """The best median at one ε, k or n, and whose it is."""

    at: float
    name: str
    median: float


@dataclass(frozen=True, eq=False)
class Curves:
    """Medians with bands from 25 % to 75 % against ε, k or n, labelled at their right end, over the hull of the best.

    Parameters
    ----------
    runs : DataFrame
        One row a run, with the columns of a study: contender (or algorithm), epsilon and the measure; may still grow.
    over : {"epsilon", "k", "n"}
        What is varied; each k and each n is measured against a k-means++ of its own.
    places : sequence of float
        All values of it that the study will reach, so that the axis does not move while it fills.
    epsilon : float, optional
        The one ε of a sweep over k or n.
    own : float, optional
        The k or n that the user has: marked.
    baselines : mapping of label to value
        Horizontal lines: what can be had for nothing, and k-means++.
    predictions : mapping of algorithm to (ε, value) pairs
        Closed-form predictions, dashed, and named in the legend.
    """

    runs: pd.DataFrame
    measure: str = "ratio"
    over: Over = "epsilon"
    places: Sequence[float] = ()
    epsilon: float | None = None
    own: float | None = None
    baselines: Mapping[str, float] = field(default_factory=dict)
    predictions: Mapping[str, Curve] = field(default_factory=dict)

    @cached_property
    def lines(self) -> dict[str, Line]:
        """A line for each algorithm that has a finite score."""
        return lines_of(self.runs, self.measure, over=self.over)

    @cached_property
    def span(self) -> Span:
        """What the axis of scores shows."""
        scores = [line.quartiles.ravel() for line in self.lines.values()]
        return Span.holding(chain(*scores, self.baselines.values()))

    @property
    def styles(self) -> dict[str, Style]:
        """The looks of each algorithm."""
        return styles_of(list(dict.fromkeys([*names_in(self.runs), *self.predictions])))

    @property
    def finding(self) -> str:
        """From which ε on somebody is close to k-means++, or who is best at ε = 1, at most clusters, or fewest rows."""
        score, letter = measure_of(self.measure), _LETTERS[self.over]
        places = [float(at) for line in self.lines.values() for at in line.at]
        if not places:
            return "No run yet"
        if self.over != "epsilon":
            hardest = max(places) if self.over == "k" else min(places)
            at_epsilon = f" at ε = {self.epsilon:g}" if self.epsilon is not None else ""
            return f"With {letter} = {hardest:,g}{at_epsilon}, {score.first(self._medians_at(hardest))}"
        close = {name: _close_from(line) for name, line in self.lines.items()} if score.ratio else {}
        reached = {name: epsilon for name, epsilon in close.items() if epsilon is not None}
        if reached:
            name = min(reached, key=lambda n: reached[n])
            return f"From ε = {reached[name]:g} on, {name} stays within {percent(_CLOSE - 1)} of k-means++"
        middle = min(places, key=lambda epsilon: abs(log10(epsilon)))
        return f"At ε = {middle:g}, {score.first(self._medians_at(middle))}"

    def draw(self, palette: Palette) -> go.Figure:
        """The figure."""
        score, predicted = measure_of(self.measure), self._predicted_together()
        figure = canvas(
            palette,
            title=self.finding,
            subtitle=clauses(
                f"ε = {self.epsilon:g}" if self.epsilon is not None else "",
                "line: median, band: 25–75 %",
                f"wide grey path: the best median at each {_LETTERS[self.over]}" if len(self.lines) > 1 else "",
                runs_text([number for line in self.lines.values() for number in line.runs]),
                "dashed: predicted before any run" if predicted else "",
            ),
            # Predictions stand in the legend below the plot, which keeps its size unless labels need more.
            height=_HEIGHT + LEGEND_LINE * len(predicted) + more_for_labels(self.lines),
            legend_lines=len(predicted),
        )
        # Dashes are seen in the legend only at the width that lines have in the plot.
        figure.update_layout(margin={"r": LABELS}, legend={"itemsizing": "trace"})
        self._set_axis(figure)
        self._draw_hull(figure, palette)
        for name, line in self.lines.items():
            self._draw_line(figure, name, line, palette)
        for names, points in predicted:
            _draw_prediction(figure, names, points, self.styles[names[0]].color)
        draw_baselines(figure, self.baselines, self.span, score, palette)
        label_ends(figure, self.lines, self.styles, self.span, palette)
        if self.own is not None:
            self._mark_own(figure, palette)
        figure.update_yaxes(self.span.axis, title_text=score.axis, zeroline=False)
        return figure

    def words(self) -> str:
        """The picture in words."""
        score, letter = measure_of(self.measure), _LETTERS[self.over]
        ends = [
            f"{name} goes from {score.text(float(line.quartiles[0, 1]))} at {letter} = {line.at[0]:,g} to "
            f"{score.text(float(line.quartiles[-1, 1]))} at {letter} = {line.at[-1]:,g}"
            for name, line in self.lines.items()
        ]
        return f"Median {score.name} against {_AXES[self.over]}. {self.finding}. " + "; ".join(ends)

    def table(self) -> pd.DataFrame:
        """The numbers behind the picture: a line for each algorithm and place, and which of them are the best there."""
        letter, best = _LETTERS[self.over], {(one.name, one.at) for one in self.best_at_each()}
        rows = [
            (name, at if self.over == "epsilon" else int(at), median, low, high, runs, (name, at) in best)
            for name, line in self.lines.items()
            for at, (low, median, high), runs in zip(line.at.tolist(), line.quartiles.tolist(), line.runs, strict=True)
        ]
        columns = ["algorithm", letter, "median", "25 %", "75 %", "runs", f"best at this {letter}"]
        return pd.DataFrame(rows, columns=columns)

    def best_at_each(self) -> list[Best]:
        """Whose median is best at each place, by increasing ε, k or n.

        A place at which only some algorithms have run says nothing about the best, and is left out.
        """
        entrants = Counter(at for line in self.lines.values() for at in line.at.tolist())
        whole = sorted(at for at, number in entrants.items() if number == max(entrants.values()))
        medians = {at: self._medians_at(at) for at in whole}
        first = {at: measure_of(self.measure).ranked(medians[at])[0] for at in whole}
        return [Best(at, first[at], medians[at][first[at]]) for at in whole]

    def _medians_at(self, place: float) -> dict[str, float]:
        known = {name: line.medians for name, line in self.lines.items()}
        return {name: medians[place] for name, medians in known.items() if place in medians}

    def _set_axis(self, figure: go.Figure) -> None:
        reached = [float(at) for line in self.lines.values() for at in line.at]
        places = list(self.places) or reached or [0.1, 10.0]
        if self.over == "epsilon":
            axis = epsilon_axis(min(places), max(places))
        else:
            air = 0.04 * max(log10(max(places) / min(places)), 0.1)
            low, high = log10(min(places)) - air, log10(max(places)) + air
            axis = log_axis(low, high) | {"range": [low, high]}
        if self.over == "k":
            axis |= {"tickvals": places, "ticktext": [f"{k:g}" for k in places]}
        figure.update_xaxes(axis, title_text=_AXES[self.over])

    def _draw_line(self, figure: go.Figure, name: str, line: Line, palette: Palette) -> None:
        """The median of one algorithm over its band."""
        style, faded = self.styles[name], _FADED if len(self.lines) <= _MANY else _FADED_OF_MANY
        low, middle, high = line.quartiles.T
        hover = (
            f"<b>{name}</b> at {_LETTERS[self.over]} = %{{x:,g}}<br>median %{{y:.3g}}, "
            "middle half %{customdata[0]:.3g} to %{customdata[1]:.3g}<br>%{customdata[2]} runs<extra></extra>"
        )
        told = {"customdata": np.column_stack([low, high, line.runs]), "hovertemplate": hover}
        figure.add_traces(
            [
                band(line.at, low, high, palette.faded(style.color, faded)),
                median_line(name, line.at, middle, style, **told),
            ]
        )

    def _draw_hull(self, figure: go.Figure, palette: Palette) -> None:
        """A wide path under the lines along the best medians; nothing where there is no choice."""
        best = self.best_at_each()
        if len(self.lines) < 2 or not best:
            return
        color = palette.faded(palette.muted, 0.28)
        figure.add_trace(
            go.Scatter(
                **{"x": [one.at for one in best], "y": [one.median for one in best], "mode": "lines+markers"},
                **{"line": {"color": color, "width": 13}, "marker": {"symbol": "circle", "size": 19, "color": color}},
                **{"hoverinfo": "skip", "showlegend": False, "meta": "hull"},
            )
        )

    def _predicted_together(self) -> list[tuple[list[str], Curve]]:
        """Each predicted curve once, with all the algorithms that it is predicted for."""
        names: dict[tuple[tuple[float, float], ...], list[str]] = {}
        for name, points in self.predictions.items():
            names.setdefault(tuple(points), []).append(name)
        return [(together, points) for points, together in names.items()]

    def _mark_own(self, figure: go.Figure, palette: Palette) -> None:
        """The k or n that the user has, as a line from top to bottom."""
        assert self.own is not None
        figure.add_vline(x=self.own, line={"color": palette.text, "width": 1.3, "dash": "dot"})
        figure.add_annotation(
            **{"x": log10(self.own), "yref": "paper", "y": 1.0, "yanchor": "bottom", "xanchor": "right"},
            **{"text": f"yours: {_LETTERS[self.over]} = {self.own:,g}", "showarrow": False},
            font={"size": NUMBER_SIZE, "color": palette.text},
        )


def _close_from(line: Line) -> float | None:
    """The least ε from which on all medians are close to k-means++."""
    close = np.logical_and.accumulate((line.quartiles[:, 1] <= _CLOSE)[::-1])[::-1]
    return float(line.at[close.argmax()]) if close.any() else None


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
