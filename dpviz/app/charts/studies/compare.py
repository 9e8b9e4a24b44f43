"""Centres of several algorithms side by side: small pictures with the same axes, each against k-means++."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import NamedTuple

import numpy as np
import pandas as pd

from dpviz.app.charts.canvas import NUMBER_SIZE, new_plot
from dpviz.app.charts.cells import outline_segments
from dpviz.app.charts.diagram import Diagram, add_note
from dpviz.app.charts.layout import make_center_marker, make_layout, make_reference_marker
from dpviz.app.charts.picture import RenderContext
from dpviz.app.charts.plot import Plot
from dpviz.app.charts.plot_canvas import PlotCanvas
from dpviz.app.charts.studies.contenders import (
    Style,
    choose_styles,
    describe_runs,
    find_measure,
    list_names,
    name_column,
    narrow,
)
from dpviz.app.charts.studies.medians import Span, compute_quartiles
from dpviz.core import Array
from dpviz.runs import MEASURES, evaluation, summarise
from dpviz.words import Palette, format_ratio, format_things, join_clauses

# Up to so many pictures, the least width of each and the height of its plane in pixels: many pictures stand in fours
# on a desktop, in twos on a phone.
_SIZES = ((4, 320, 310), (9, 230, 200), (1000, 165, 165))
# Room for ticks below and to the left of a small plane, and air on its other sides.
_MARGIN = {"l": 30, "b": 20, "r": 6, "t": 6}
_TICK_SIZE = 9
# Rows in each small picture: more would hide the centres.
_MOST_ROWS = 1000
# Of so few each is to be seen.
_FEW_ROWS = 500
_HOVER = "%{x:.4g}, %{y:.4g}"


class Typical(NamedTuple):
    """A typical release of one algorithm: centres (k, d), unit coordinates; its median loss over that of k-means++."""

    centers: Array
    loss: float


class AlgorithmPanel(NamedTuple):
    """The picture of one algorithm, and its score in words."""

    name: str
    score: str
    plot: Plot


class SideBySide(NamedTuple):
    """Small pictures, what they show together, and the least width of each in pixels."""

    title: str
    about: str
    panels: list[AlgorithmPanel]
    least_width: int


def draw_compare(releases: Mapping[str, Typical], context: RenderContext) -> SideBySide:
    """A picture for each algorithm, the best first; centres are tied to those of k-means++ where these are given."""
    names, view = sorted(releases, key=lambda name: releases[name].loss), context.view
    width, height = next((width, height) for most, width, height in _SIZES if len(names) <= most)
    panels = [
        AlgorithmPanel(name, format_ratio(releases[name].loss), _draw_picture(releases[name].centers, context, height))
        for name in names
    ]
    title = f"Centres of {format_things(len(names), 'algorithm')} on the same axes"
    if len(names) > 1:
        title = f"{names[0]} comes closest to k-means++"
    across, up = view.name
    axes = f"across: {across}" if view.flat else f"across: {across}, up: {up}"
    return SideBySide(title, join_clauses("number: median loss / loss of k-means++", axes, view.about), panels, width)


def _draw_picture(centers: Array, context: RenderContext, height: int) -> Plot:
    """A plane without any title: what the axes are is the same in all pictures, and stands above them once."""
    view, palette = context.view, context.palette
    plot = Plot(make_layout(palette, height=height + _MARGIN["t"] + _MARGIN["b"]))
    plot.update_layout(margin=_MARGIN, showlegend=False)
    canvas, drawn = PlotCanvas(plot, palette, view), view.plane(centers)
    if context.reveal is not None:
        rows = view.plane(context.reveal.points[:_MOST_ROWS], "rows")
        dots = {"size": 3, "opacity": 0.6} if len(context.reveal.points) <= _FEW_ROWS else {"size": 2, "opacity": 0.3}
        canvas.marks(rows, "rows", "revealed", dots, hover=_HOVER)
    if context.reference is not None:
        partner = view.plane(context.reference.centers, "reference")
        if len(context.reference.centers) == len(centers):
            links = outline_segments(partner[evaluation.match(centers, context.reference.centers)], drawn)
            canvas.lines(links, "", None, color=palette.muted, width=1.1)
        mark = make_reference_marker(palette, 9) | {"line": {"width": 1.5}}
        canvas.marks(partner, "k-means++", "revealed", mark, hover=_HOVER)
    size = 9 if len(centers) <= 20 else 7
    mark = make_center_marker(palette, palette.released, size) | {"line": {"width": 1, "color": palette.surface}}
    canvas.marks(drawn, "centres", "released", mark, hover=_HOVER)
    canvas.plane()
    plot.update_xaxes(title_text="", nticks=4, tickfont_size=_TICK_SIZE)
    plot.update_yaxes(title_text="", nticks=4, tickfont_size=_TICK_SIZE)
    return plot


# Pixels of a row of scores, and of what stands above and below all of them.
_ROW, _AROUND = 50, 118


def draw_scores(runs: pd.DataFrame, measure: str = "ratio") -> Diagram:
    """Distributions of a measure over the runs of each algorithm, a row each, the best on top."""
    column, score = name_column(runs), find_measure(measure)
    # Low, median, high and runs of each algorithm that has a finite score, by name.
    medians = compute_quartiles(runs, measure, [column]).set_index(column)
    medians = medians.sort_values("median", ascending=score.lower_is_better, kind="stable")
    finding = "No run yet"
    if not medians.empty:
        epsilons = sorted(set(runs["epsilon"].dropna())) if "epsilon" in runs.columns else []
        at = f"At ε = {epsilons[0]:g}, " if len(epsilons) == 1 else ""
        finding = at + score.describe_first(medians["median"])

    def paint(palette: Palette) -> Plot:
        rows = max(3, len(medians))
        plot = new_plot(palette, height=_AROUND + _ROW * rows, legend_lines=0)
        styles = choose_styles(list_names(runs))
        for place, (name, low, middle, high, _) in enumerate(medians.itertuples()):
            scores = runs[measure][runs[column] == name].to_numpy(np.float64)
            _add_row(plot, -float(place), (low, middle, high), scores[np.isfinite(scores)], styles[name], palette)
        # k-means++ itself is always in the picture of a ratio.
        drawn = runs[measure][runs[column].isin(medians.index)]
        span = Span.of([*drawn, *[1.0] * score.ratio], air=0.05)
        if score.ratio:
            plot.add_vline(x=1, line={"color": palette.text, "width": 1.2, "dash": "dot"})
            at = {"x": span.to_axis(1), "y": 0.72, "xanchor": "left", "xshift": 4}
            add_note(plot, "◇ k-means++ = 1", palette.muted, at)
        plot.update_xaxes(**span.axis, title_text=score.axis)
        plot.update_yaxes(
            tickvals=[-place for place in range(len(medians))],
            ticktext=[
                f"{narrow(name)}<br><b>{score.format(median)}</b> ({score.format(low)} to {score.format(high)})"
                for name, low, median, high in medians[["low", "median", "high"]].itertuples()
            ],
            tickfont={"color": palette.text, "size": NUMBER_SIZE},
            **{"range": [-rows + 0.4, 0.9], "showgrid": False, "zeroline": False},
        )
        return plot

    note = join_clauses("dots: runs, bar: middle half, line: median", describe_runs(medians["runs"].tolist()))
    listed = ", ".join(f"{name} {score.format(median)}" for name, median in medians["median"].items())
    words = f"Median {score.name} by algorithm: {listed or 'no run yet'}."
    return Diagram(f"compare-{measure}", finding, note, words, paint, partial(_tabulate_scores, runs, measure))


def _tabulate_scores(runs: pd.DataFrame, measure: str) -> pd.DataFrame:
    """Medians of every measure in words, of the chosen one with quartiles; an algorithm a line, the best first."""
    known = [measure, *(name for name in MEASURES if name != measure and runs[name].notna().any())]
    lines = {name: summarise(runs, name) for name in {"ratio", *known}}
    table = pd.DataFrame({"algorithm": lines["ratio"]["contender"], "runs": lines["ratio"]["runs"]})
    for name in known:
        score = find_measure(name)
        table[name] = [
            score.format(median) + (f" [{score.format(low)}, {score.format(high)}]" if name == measure else "")
            for median, low, high in lines[name][["median", "q25", "q75"]].to_numpy(dtype=float)
        ]
    return table.iloc[lines["ratio"]["median"].to_numpy().argsort(kind="stable")]


def _add_row(
    plot: Plot, y: float, parts: tuple[float, float, float], scores: Array, style: Style, palette: Palette
) -> None:
    """All scores of an algorithm as dots, its middle half as a bar, its median as a line."""
    low, middle, high = parts
    # Spread the dots evenly over the row in the order of the runs: no random jitter, nothing hides.
    heights = y + 0.26 * (np.arange(len(scores)) % 5 - 2) / 2
    marker = {"color": style.color, "size": 6, "symbol": style.marker}
    plot.add_scatter(scores, heights, "markers", hover="%{x:.3g}", marker=marker, meta="run")
    inside = {"fillcolor": palette.fade(style.color, 0.3), "line": {"width": 0}, "layer": "below"}
    plot.add_shape(type="rect", x0=low, x1=high, y0=y - 0.17, y1=y + 0.17, **inside)
    line = {"color": palette.text, "width": 2.5}
    plot.add_shape(type="line", x0=middle, x1=middle, y0=y - 0.3, y1=y + 0.3, layer="above", line=line)
