"""Scores of several algorithms at one ε: every run a dot, the middle half a bar, the median a line."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

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
from dpviz.charts.studies.medians import Span
from dpviz.charts.theme import Palette
from dpviz.charts.wording import clauses
from dpviz.runs.study.study import MEASURES, summarise

_ROW = 50


@dataclass(frozen=True, eq=False)
class Scores:
    """Distributions of a measure over the runs of each algorithm, the best on top.

    Parameters
    ----------
    runs : DataFrame
        One row a run, with the columns of a study: contender (or algorithm), epsilon and the measure.
    """

    runs: pd.DataFrame
    measure: str = "ratio"

    @cached_property
    def by_name(self) -> dict[str, Array]:
        """The scores of all runs of each algorithm that has a finite one, the best median first."""
        column, of = name_column(self.runs), self.runs[self.measure]
        scores = {name: of[self.runs[column] == name].to_numpy(np.float64) for name in names_in(self.runs)}
        finite = {name: values for name, values in scores.items() if np.isfinite(values).any()}
        medians = {name: float(quartiles(values)[1]) for name, values in finite.items()}
        return {name: finite[name] for name in measure_of(self.measure).ranked(medians)}

    @property
    def medians(self) -> dict[str, float]:
        """The median of each algorithm, the best first."""
        return {name: float(quartiles(values)[1]) for name, values in self.by_name.items()}

    @property
    def finding(self) -> str:
        """Who comes first."""
        if not self.by_name:
            return "No run yet"
        epsilons = sorted(set(self.runs["epsilon"].dropna())) if "epsilon" in self.runs.columns else []
        at = f"At ε = {epsilons[0]:g}, " if len(epsilons) == 1 else ""
        return at + measure_of(self.measure).first(self.medians)

    def draw(self, palette: Palette) -> go.Figure:
        """The figure: a row an algorithm."""
        score, rows = measure_of(self.measure), max(3, len(self.by_name))
        numbers = runs_text([len(values) for values in self.by_name.values()])
        figure = canvas(
            palette,
            title=self.finding,
            subtitle=clauses("dots: runs, bar: middle half, line: median", numbers),
            height=200 + _ROW * rows,
            legend_lines=0,
        )
        styles = styles_of(names_in(self.runs))
        for place, (name, values) in enumerate(self.by_name.items()):
            _draw_row(figure, -float(place), values, styles[name], palette)
        # k-means++ itself is always in the picture of a ratio.
        span = Span.holding(np.concatenate([*self.by_name.values(), [1.0] * score.ratio]), air=0.05)
        if score.ratio:
            figure.add_vline(x=1, line={"color": palette.text, "width": 1.2, "dash": "dot"})
            figure.add_annotation(
                **{"x": span.at(1), "y": 0.72, "text": "◇ k-means++ = 1", "showarrow": False},
                **{"xanchor": "left", "xshift": 4, "font": {"size": NUMBER_SIZE, "color": palette.muted}},
            )
        figure.update_xaxes(span.axis, title_text=score.axis)
        figure.update_yaxes(
            tickvals=[-place for place in range(len(self.by_name))],
            ticktext=[_row_label(name, values, score) for name, values in self.by_name.items()],
            tickfont={"color": palette.text, "size": NUMBER_SIZE},
            range=[-rows + 0.4, 0.9],
            showgrid=False,
            zeroline=False,
        )
        return figure

    def words(self) -> str:
        """The picture in words."""
        score = measure_of(self.measure)
        medians = ", ".join(f"{name} {score.text(median)}" for name, median in self.medians.items())
        return f"Median {score.name} by algorithm: {medians or 'no run yet'}."

    def table(self) -> pd.DataFrame:
        """Medians of every measure in words, of the chosen one with quartiles; an algorithm a line, the best first."""
        known = [self.measure, *(name for name in MEASURES if name != self.measure and self.runs[name].notna().any())]
        lines = {name: summarise(self.runs, name) for name in {"ratio", *known}}
        table = pd.DataFrame({"algorithm": lines["ratio"]["contender"], "runs": lines["ratio"]["runs"]})
        for name in known:
            score = measure_of(name)
            table[name] = [
                score.text(median) + (f" [{score.text(low)}, {score.text(high)}]" if name == self.measure else "")
                for median, low, high in lines[name][["median", "q25", "q75"]].to_numpy(dtype=float)
            ]
        return table.iloc[lines["ratio"]["median"].to_numpy().argsort(kind="stable")]


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


def _row_label(name: str, values: Array, score: Measure) -> str:
    low, middle, high = (float(part) for part in quartiles(values))
    return f"{narrow(name)}<br><b>{score.text(middle)}</b> ({score.text(low)} to {score.text(high)})"
