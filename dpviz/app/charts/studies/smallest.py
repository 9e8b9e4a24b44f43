"""Which ε to choose: the target among the curves against ε, each algorithm's answer on it, and the recommendation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd

from dpviz.app.charts.canvas import TitledPlot
from dpviz.app.charts.studies.contenders import name_column
from dpviz.app.charts.studies.curves import Curves
from dpviz.app.charts.studies.medians import add_note
from dpviz.core import Array
from dpviz.runs import Recommendation, SmallestEpsilon, Target, find_reached_loss
from dpviz.words import Palette, join_clauses


@dataclass(frozen=True, eq=False)
class Smallest:
    """The answer of each algorithm to a target, among the curves of loss against ε that it was read off."""

    stem: ClassVar[str] = "smallest-epsilon"
    curves: Curves
    answers: Sequence[SmallestEpsilon]
    recommendation: Recommendation

    @property
    def target(self) -> Target:
        """What is good enough."""
        return self.recommendation.target

    @property
    def finding(self) -> str:
        """The recommendation."""
        return self.recommendation.finding

    def draw(self, palette: Palette) -> TitledPlot:
        """The target as a line across the curves, with each answer on it in the colour of its line.

        Of the recommended algorithm also the loss that the wanted share of runs does not exceed: it is below the target
        from the answer on.
        """
        target, who = self.target, self.recommendation.who
        below = f"{target.describe_often(self.curves.noun)} lie below"
        about = join_clauses("line: median", f"{who}: band 25–75 %, dotted: {below}" if who else "")
        drawn = self.curves.draw(palette, title=self.finding, about=about)
        plot = drawn.plot
        # Bands of all would hide each other; each stands before its line.
        plot.traces = [
            trace
            for trace, line in zip(plot.traces, [*plot.traces[1:], {}], strict=True)
            if trace["meta"] != "band" or line.get("name") == who
        ]
        plot.add_hline(y=target.loss, line={"color": palette.text, "width": 1.5, "dash": "longdash"})
        # At small ε and below the line, where losses seldom are.
        at = {"x": 0.01, "y": self.curves.span.to_axis(target.loss), "xanchor": "left", "yanchor": "top"}
        behind = palette.fade(palette.surface, 0.7)
        add_note(plot, f"target: {target.loss:.4g}×", palette.text, {"xref": "paper", "bgcolor": behind, **at})
        if who in self.curves.styles:
            color = self.curves.styles[who].color
            upper = self.upper(who)
            plot.add_trace(
                {
                    **{"type": "scatter", "x": [e for e, _ in upper], "y": [loss for _, loss in upper]},
                    **{"mode": "lines", "line": {"color": color, "width": 1.3, "dash": "dot"}, "name": below},
                    "hovertemplate": f"<b>{who}</b> at ε = %{{x:g}}<br>{below} %{{y:.3g}}<extra></extra>",
                    **{"showlegend": False, "meta": "upper"},
                }
            )
        reached = [answer for answer in self.answers if answer.reached]
        colors = [self.curves.styles[answer.contender].color for answer in reached]
        rim = {"width": 2, "color": palette.text}
        plot.add_trace(
            {
                **{"type": "scatter", "x": [answer.epsilon for answer in reached], "y": [target.loss] * len(reached)},
                **{"mode": "markers", "marker": {"symbol": "diamond-tall", "size": 15, "color": colors, "line": rim}},
                "customdata": [(answer.contender, answer.text) for answer in reached],
                "hovertemplate": "<b>%{customdata[0]}</b><br>%{customdata[1]}<extra></extra>",
                **{"showlegend": False, "meta": "answer"},
            }
        )
        return drawn

    def upper(self, who: str) -> list[tuple[float, float]]:
        """For each ε the loss that the wanted share of the runs of ``who`` does not exceed, where it is finite."""
        runs = self.curves.runs
        runs = runs[runs[name_column(runs)] == who]
        losses: list[tuple[float, float]] = []
        for epsilon, group in runs.groupby("epsilon"):
            weights: Array | None = group["weight"].to_numpy(np.float64) if "weight" in group else None
            loss = find_reached_loss(group["ratio"].to_numpy(np.float64), self.target.share, weights)
            losses.append((float(str(epsilon)), loss))
        return [(epsilon, loss) for epsilon, loss in losses if np.isfinite(loss)]

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
