"""The smallest ε that is good enough: marked among the curves against ε, said in a sentence, written as a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import ClassVar

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dpviz.charts.canvas import NUMBER_SIZE
from dpviz.charts.studies.curves import Curves
from dpviz.charts.theme import Palette
from dpviz.charts.wording import percent
from dpviz.runs.smallest_epsilon import SmallestEpsilon


@dataclass(frozen=True, eq=False)
class Smallest:
    """The answer of each algorithm for a target, among the curves of loss against ε that it was read off.

    Parameters
    ----------
    answers : sequence of SmallestEpsilon
        The smallest ε first.
    target : float
        The most that the loss may be, in units of that of k-means++.
    share : float
        The part of all runs that must meet it.
    """

    stem: ClassVar[str] = "smallest-epsilon"
    curves: Curves
    answers: Sequence[SmallestEpsilon]
    target: float
    share: float

    @property
    def finding(self) -> str:
        """The answer in a sentence, of the algorithm that needs the least."""
        wanted = f"at most {percent(self.target - 1)} above k-means++ in {share_words(self.share)}"
        if not self.answers:
            return "No run yet"
        best = self.answers[0]
        if not best.reached:
            return f"No algorithm that was tried is {wanted}, up to ε = {best.highest:g}"
        return f"{best.contender}: {best.text}, for {wanted}"

    def draw(self, palette: Palette) -> go.Figure:
        """The target as a line across the curves, each answer on it in the colour of its line, the band of the best."""
        figure = self.curves.draw(palette, title=self.finding)
        figure.add_hline(y=self.target, line={"color": palette.text, "width": 1.5, "dash": "longdash"})
        figure.add_annotation(
            # At large ε, where few answers lie.
            **{"xref": "paper", "x": 0.99, "y": self.curves.span.at(self.target), "yref": "y"},
            **{"xanchor": "right", "yanchor": "bottom", "showarrow": False},
            bgcolor=palette.faded(palette.surface, 0.7),
            text=f"target: {percent(self.target - 1)} above k-means++",
            font={"size": NUMBER_SIZE, "color": palette.text},
        )
        reached = [answer for answer in self.answers if answer.reached]
        for best in reached[:1]:
            high = best.high if isfinite(best.high) else best.highest
            shade = palette.faded(palette.muted, 0.16)
            figure.add_vrect(x0=best.low, x1=high, fillcolor=shade, line={"width": 0}, layer="below")
        colors = [self.curves.styles[answer.contender].color for answer in reached]
        rim = {"width": 2, "color": palette.text}
        figure.add_trace(
            go.Scatter(
                **{"x": [answer.epsilon for answer in reached], "y": [self.target] * len(reached), "mode": "markers"},
                marker={"symbol": "diamond-tall", "size": 15, "color": colors, "line": rim},
                customdata=[(answer.contender, answer.text) for answer in reached],
                hovertemplate="<b>%{customdata[0]}</b><br>%{customdata[1]}<extra></extra>",
                **{"showlegend": False, "meta": "answer"},
            )
        )
        return figure

    def words(self) -> str:
        """The picture in words."""
        return f"Loss against ε with the target. {self.finding}"

    def table(self) -> pd.DataFrame:
        """A line an algorithm, the smallest ε first; empty where the target is not reached."""
        rows = [(one.contender, one.epsilon, one.low, one.high, one.text, one.runs) for one in self.answers]
        table = pd.DataFrame(rows, columns=["algorithm", "smallest ε", "from", "to", "in words", "runs"])
        numbers = ["smallest ε", "from", "to"]
        table[numbers] = table[numbers].astype(float).replace(np.inf, np.nan)
        return table


def share_words(share: float) -> str:
    """The part of all runs in words.

    >>> share_words(0.5), share_words(0.9)
    ('half of all runs', '9 of 10 runs')
    """
    return "half of all runs" if share == 0.5 else f"{round(10 * share)} of 10 runs"
