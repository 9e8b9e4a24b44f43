"""The smallest ε for a target, marked in the frontier and written as a table."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite, log10

import pandas as pd
import plotly.graph_objects as go

from dpviz.charts.canvas import NUMBER_SIZE
from dpviz.charts.studies.contenders import styles_of
from dpviz.charts.theme import Palette
from dpviz.charts.wording import percent
from dpviz.runs.smallest_epsilon import SmallestEpsilon


def mark_smallest(
    figure: go.Figure, answers: Sequence[SmallestEpsilon], target: float, *, names: Sequence[str], palette: Palette
) -> go.Figure:
    """The target as a line across a frontier of ratios, each answer on it, and the band of the smallest one.

    ``names`` are those of the frontier, in its order: an answer has the colour of its line.
    """
    # Annotations at a value of a logarithmic axis stand at its logarithm.
    logarithmic = figure.layout.yaxis.type == "log"
    figure.add_hline(y=target, line={"color": palette.text, "width": 1.5, "dash": "longdash"})
    figure.add_annotation(
        **{
            "xref": "paper",
            "x": 0.01,
            "y": log10(target) if logarithmic else target,
            "yref": "y",
            "yanchor": "bottom",
            "xanchor": "left",
        },
        **{"text": f"target: {percent(target - 1)} above k-means++", "showarrow": False},
        font={"size": NUMBER_SIZE, "color": palette.text},
    )
    reached = [answer for answer in answers if answer.reached]
    if reached:
        best = reached[0]
        high = best.high if isfinite(best.high) else best.highest
        figure.add_vrect(
            x0=best.low, x1=high, fillcolor=palette.faded(palette.muted, 0.16), line={"width": 0}, layer="below"
        )
    styles = styles_of(names)
    figure.add_trace(
        go.Scatter(
            **{"x": [answer.epsilon for answer in reached], "y": [target] * len(reached), "mode": "markers"},
            marker={
                "symbol": "diamond-tall",
                "size": 15,
                "color": [styles[answer.contender].color for answer in reached],
                "line": {"width": 2, "color": palette.text},
            },
            customdata=[(answer.contender, answer.text) for answer in reached],
            hovertemplate="<b>%{customdata[0]}</b><br>%{customdata[1]}<extra></extra>",
            **{"showlegend": False, "meta": "answer"},
        )
    )
    return figure


def answer_table(answers: Sequence[SmallestEpsilon]) -> pd.DataFrame:
    """A line an algorithm, the smallest ε first; empty where the target is not reached."""
    rows = [
        {
            **{"algorithm": each.contender, "smallest ε": each.epsilon, "from": each.low, "to": each.high},
            **{"in words": each.text, "runs": each.runs},
        }
        for each in answers
    ]
    table = pd.DataFrame(rows, columns=["algorithm", "smallest ε", "from", "to", "in words", "runs"])
    numbers = ["smallest ε", "from", "to"]
    table[numbers] = table[numbers].astype(float).where(table[numbers].astype(float) < float("inf"))
    return table


def finding_of(answers: Sequence[SmallestEpsilon], target: float, *, share: float) -> str:
    """The answer in a sentence, of the algorithm that needs the least."""
    wanted = f"at most {percent(target - 1)} above k-means++ in {share_words(share)}"
    if not answers:
        return "No run yet"
    best = answers[0]
    if not best.reached:
        return f"No algorithm that was tried is {wanted}, up to ε = {best.highest:g}"
    return f"{best.contender}: {best.text}, for {wanted}"


def share_words(share: float) -> str:
    """The part of all runs in words.

    >>> share_words(0.5), share_words(0.9)
    ('half of all runs', '9 of 10 runs')
    """
    return "half of all runs" if share == 0.5 else f"{round(10 * share)} of 10 runs"
