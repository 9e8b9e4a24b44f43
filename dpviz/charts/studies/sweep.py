"""How the loss moves with the number of clusters or of rows, at one ε."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log10
from typing import Literal

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dpviz.charts.canvas import NUMBER_SIZE, canvas
from dpviz.charts.studies.contenders import Measure, measure_of, names_in, runs_text, styles_of
from dpviz.charts.studies.medians import LABELS, Line, draw_line, label_ends, lines_of, more_for_labels, set_range
from dpviz.charts.theme import Palette, log_axis
from dpviz.charts.wording import clauses

Over = Literal["k", "n"]
_HEIGHT = 540
_AXES: dict[Over, str] = {"k": "k, the number of clusters", "n": "n, the number of rows"}


def draw_sweep(
    table: pd.DataFrame,
    over: Over,
    measure: str = "ratio",
    *,
    palette: Palette,
    epsilon: float,
    own: float | None = None,
    values: Sequence[float] | None = None,
) -> go.Figure:
    """Medians with bands from 25 % to 75 % against k or n; each k and n is measured against its own k-means++.

    Parameters
    ----------
    own : float
        The k or n that the user has: marked.
    values : sequence of float
        All that the study will reach, so that the axis does not move while it fills.
    """
    words, lines = measure_of(measure), lines_of(table, measure, over=over)
    every = list(values) if values else [float(at) for line in lines.values() for at in line.at] or [1.0, 10.0]
    figure = canvas(
        palette,
        title=_finding(lines, words, over, epsilon),
        subtitle=clauses(
            f"ε = {epsilon:g}",
            "line: median, band: 25–75 %",
            runs_text([n for line in lines.values() for n in line.runs]),
        ),
        height=_HEIGHT + more_for_labels(lines),
        legend_lines=0,
    )
    figure.update_layout(margin={"r": LABELS})
    air = 0.04 * max(log10(max(every) / min(every)), 0.1)
    low, high = log10(min(every)) - air, log10(max(every)) + air
    figure.update_xaxes(log_axis(low, high), range=[low, high], title_text=_AXES[over])
    if over == "k":
        figure.update_xaxes(tickvals=every, ticktext=[f"{value:g}" for value in every])
    styles = styles_of(names_in(table))
    for name, line in lines.items():
        draw_line(figure, name, line, styles[name], palette, of=len(lines), letter=over)
    label_ends(figure, lines, styles, set_range(figure, lines, {}), palette)
    if own is not None:
        mark_own(figure, own, over, palette)
    figure.update_yaxes(title_text=words.axis, zeroline=False)
    return figure


def mark_own(figure: go.Figure, own: float, over: Over, palette: Palette) -> None:
    """The k or n that the user has, as a line from top to bottom."""
    figure.add_vline(x=own, line={"color": palette.text, "width": 1.3, "dash": "dot"})
    figure.add_annotation(
        **{"x": log10(own), "yref": "paper", "y": 1.0, "yanchor": "bottom", "xanchor": "right"},
        **{"text": f"yours: {over} = {own:,g}", "showarrow": False},
        font={"size": NUMBER_SIZE, "color": palette.text},
    )


def describe_sweep(table: pd.DataFrame, over: Over, measure: str = "ratio", *, epsilon: float) -> str:
    """The picture in words."""
    words, lines = measure_of(measure), lines_of(table, measure, over=over)
    ends = [
        f"{name} goes from {words.text(float(line.quartiles[0, 1]))} at {over} = {line.at[0]:,g} to "
        f"{words.text(float(line.quartiles[-1, 1]))} at {over} = {line.at[-1]:,g}"
        for name, line in lines.items()
    ]
    return f"Median {words.name} against {_AXES[over]}. {_finding(lines, words, over, epsilon)}. " + "; ".join(ends)


def sweep_table(table: pd.DataFrame, over: Over, measure: str = "ratio") -> pd.DataFrame:
    """The numbers behind the picture: a line for each algorithm and each k or n."""
    rows = [
        {"algorithm": name, over: int(at), "median": median, "25 %": low, "75 %": high, "runs": runs}
        for name, line in lines_of(table, measure, over=over).items()
        for at, (low, median, high), runs in zip(line.at.tolist(), line.quartiles.tolist(), line.runs, strict=True)
    ]
    return pd.DataFrame(rows, columns=["algorithm", over, "median", "25 %", "75 %", "runs"])


def _finding(lines: Mapping[str, Line], words: Measure, over: Over, epsilon: float) -> str:
    """Who is best where it is hardest: most clusters, or fewest rows."""
    if not lines:
        return "No run yet"
    places = np.concatenate([line.at for line in lines.values()])
    hardest = float(places.max() if over == "k" else places.min())
    at = {name: float(line.quartiles[line.at == hardest, 1][0]) for name, line in lines.items() if hardest in line.at}
    best = (min if words.lower_is_better else max)(at, key=lambda name: at[name])
    of = " k-means++" if words.ratio else ""
    return (
        f"With {over} = {hardest:,g} at ε = {epsilon:g}, {best} comes first: {words.short} {words.text(at[best])}{of}"
    )
