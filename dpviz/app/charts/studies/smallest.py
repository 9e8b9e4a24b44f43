"""Which ε to choose: the target among the curves against ε, each algorithm's answer on it, and the recommendation."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from dpviz.app.charts.diagram import Diagram, add_note
from dpviz.app.charts.plot import Plot
from dpviz.app.charts.studies.contenders import name_column
from dpviz.app.charts.studies.curves import Curves, describe_curves, paint_curves
from dpviz.core import Array
from dpviz.runs import Recommendation, SmallestEpsilon, find_reached_loss
from dpviz.words import Palette, join_clauses


def draw_smallest(curves: Curves, answers: Sequence[SmallestEpsilon], recommendation: Recommendation) -> Diagram:
    """The target as a line across the curves, with each answer on it in the colour of its line.

    Of the recommended algorithm also the loss that the wanted share of runs does not exceed: it is below the target
    from the answer on.
    """
    target, who, finding = recommendation.target, recommendation.who, recommendation.finding
    below = f"{target.describe_often(curves.noun)} lie below"
    about = join_clauses("line: median", f"{who}: band 25–75 %, dotted: {below}" if who else "")

    def paint(palette: Palette) -> Plot:
        plot = paint_curves(curves, palette, hull=False)
        # Bands of all would hide each other; each stands before its line.
        plot.traces = [
            trace
            for trace, line in zip(plot.traces, [*plot.traces[1:], {}], strict=True)
            if trace["meta"] != "band" or line.get("name") == who
        ]
        plot.add_hline(y=target.loss, line={"color": palette.text, "width": 1.5, "dash": "longdash"})
        # At small ε and below the line, where losses seldom are.
        at = {"x": 0.01, "y": curves.span.to_axis(target.loss), "xanchor": "left", "yanchor": "top"}
        behind = palette.fade(palette.surface, 0.7)
        add_note(plot, f"target: {target.loss:.4g}×", palette.text, {"xref": "paper", "bgcolor": behind, **at})
        if who in curves.styles:
            upper = list_reached_losses(curves.runs, who, target.share)
            x, y = [epsilon for epsilon, _ in upper], [loss for _, loss in upper]
            line = {"color": curves.styles[who].color, "width": 1.3, "dash": "dot"}
            hover = f"<b>{who}</b> at ε = %{{x:g}}<br>{below} %{{y:.3g}}"
            plot.add_scatter(x, y, "lines", hover=hover, line=line, name=below, meta="upper")
        reached = [answer for answer in answers if answer.reached]
        colors = [curves.styles[answer.contender].color for answer in reached]
        rim = {"width": 2, "color": palette.text}
        marker = {"symbol": "diamond-tall", "size": 15, "color": colors, "line": rim}
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


def list_reached_losses(runs: pd.DataFrame, who: str, share: float) -> list[tuple[float, float]]:
    """For each ε the loss that this ``share`` of the runs of ``who`` does not exceed, where it is finite."""
    losses: list[tuple[float, float]] = []
    for epsilon, group in runs[runs[name_column(runs)] == who].groupby("epsilon"):
        weights: Array | None = group["weight"].to_numpy(np.float64) if "weight" in group else None
        losses.append((float(str(epsilon)), find_reached_loss(group["ratio"].to_numpy(np.float64), share, weights)))
    return [(epsilon, loss) for epsilon, loss in losses if np.isfinite(loss)]
