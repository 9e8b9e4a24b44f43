"""Studies beside curves: algorithms beside each other, and the draws of one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import ClassVar, NamedTuple

import numpy as np
import pandas as pd

from dpviz.algorithms import CentersStep
from dpviz.app.charts.animation import Animation, Shot
from dpviz.app.charts.canvas import NUMBER_SIZE, Diagram, PlotCanvas, add_note, new_plot
from dpviz.app.charts.cells import outline_segments
from dpviz.app.charts.picture import Chart, Companion, RenderContext
from dpviz.app.charts.plot import Plot, make_center_marker, make_layout, make_reference_marker
from dpviz.app.charts.studies import curves
from dpviz.core import Array
from dpviz.runs import MEASURES, Row, evaluation, summarise
from dpviz.words import Palette, format_number, format_ratio, format_things, join_clauses

# Up to so many pictures, the least width of each and the height of its plane in pixels: many pictures stand in fours
# on a desktop, in twos on a phone.
_SIZES = ((4, 320, 310), (9, 230, 200), (1000, 165, 165))
# Room for ticks below and to the left of a small plane, and air on its other sides.
_MARGIN = {"l": 30, "b": 20, "r": 6, "t": 6}
_TICK_SIZE = 9
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
    plots = {name: _draw_picture(releases[name].centers, context, height) for name in names}
    panels = [AlgorithmPanel(name, format_ratio(releases[name].loss), plots[name]) for name in names]
    title = f"Centres of {format_things(len(names), 'algorithm')} on the same axes"
    across, up = view.titles
    axes = f"across: {across}" if view.flat else f"across: {across}, up: {up}"
    return SideBySide(title, join_clauses("number: median loss / loss of k-means++", axes, view.about), panels, width)


def _draw_picture(centers: Array, context: RenderContext, height: int) -> Plot:
    """A plane without any title: what the axes are is the same in all pictures, and stands above them once."""
    view, palette = context.view, context.palette
    plot = Plot(make_layout(palette, height=height + _MARGIN["t"] + _MARGIN["b"]))
    plot.update_layout(margin=_MARGIN, showlegend=False)
    canvas, drawn = PlotCanvas(plot, palette, view), view.plane(centers)
    if context.reveal is not None:
        # Rows in each small picture: more would hide the centres.
        # Of so few each is to be seen.
        dots = {"size": 3, "opacity": 0.6} if len(context.reveal.points) <= 500 else {"size": 2, "opacity": 0.3}
        canvas.marks(view.plane(context.reveal.points[:1000], "rows"), "rows", "revealed", dots, hover=_HOVER)
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


def draw_scores(runs: pd.DataFrame, measure: str = "ratio") -> Diagram:
    """Distributions of a measure over the runs of each algorithm, a row each, the best on top."""
    column, score = curves.name_column(runs), curves.find_measure(measure)
    # Low, median, high and runs of each algorithm that has a finite score, by name.
    medians = curves.compute_quartiles(runs, measure, [column]).set_index(column)
    medians = medians.sort_values("median", ascending=score.lower_is_better, kind="stable")
    finding = "No run yet"
    if not medians.empty:
        epsilons = sorted(set(runs["epsilon"].dropna())) if "epsilon" in runs.columns else []
        at = f"At ε = {epsilons[0]:g}, " if len(epsilons) == 1 else ""
        finding = at + score.describe_first(medians["median"])

    def paint(palette: Palette) -> Plot:
        rows = max(3, len(medians))
        # Pixels of a row of scores, and of what stands above and below all of them.
        plot = new_plot(palette, height=118 + 50 * rows, legend_lines=0)
        styles = curves.choose_styles(curves.list_names(runs))
        for place, (name, low, middle, high, _) in enumerate(medians.itertuples()):
            scores = runs[measure][runs[column] == name].to_numpy(np.float64)
            scores, y, style = scores[np.isfinite(scores)], -float(place), styles[name]
            # Spread the dots evenly over the row in the order of the runs: no random jitter, nothing hides.
            heights = y + 0.26 * (np.arange(len(scores)) % 5 - 2) / 2
            marker = {"color": style.color, "size": 6, "symbol": style.marker}
            plot.add_scatter(scores, heights, "markers", hover="%{x:.3g}", marker=marker, meta="run")
            inside = {"fillcolor": palette.fade(style.color, 0.3), "line": {"width": 0}, "layer": "below"}
            plot.add_shape(type="rect", x0=low, x1=high, y0=y - 0.17, y1=y + 0.17, **inside)
            line = {"color": palette.text, "width": 2.5}
            plot.add_shape(type="line", x0=middle, x1=middle, y0=y - 0.3, y1=y + 0.3, layer="above", line=line)
        # k-means++ itself is always in the picture of a ratio.
        span = curves.Span.of([*runs[measure][runs[column].isin(medians.index)], *[1.0] * score.ratio], air=0.05)
        if score.ratio:
            plot.add_vline(x=1, line={"color": palette.text, "width": 1.2, "dash": "dot"})
            at = {"x": span.to_axis(1), "y": 0.72, "xanchor": "left", "xshift": 4}
            add_note(plot, "◇ k-means++ = 1", palette.muted, at)
        plot.update_xaxes(**span.axis, title_text=score.axis)
        names, font = [], {"color": palette.text, "size": NUMBER_SIZE}
        for name, *quartiles in medians[["low", "median", "high"]].itertuples():
            low, median, high = map(score.format, quartiles)
            names.append(f"{curves.narrow(name)}<br><b>{median}</b> ({low} to {high})")
        plot.update_yaxes(tickvals=[-place for place in range(len(medians))], ticktext=names, tickfont=font)
        plot.update_yaxes(range=[-rows + 0.4, 0.9], showgrid=False, zeroline=False)
        return plot

    note = join_clauses("dots: runs, bar: middle half, line: median", curves.describe_runs(medians["runs"].tolist()))
    listed = ", ".join(f"{name} {score.format(median)}" for name, median in medians["median"].items())
    words = f"Median {score.name} by algorithm: {listed or 'no run yet'}."
    return Diagram(f"compare-{measure}", finding, note, words, paint, partial(_tabulate_scores, runs, measure))


def _tabulate_scores(runs: pd.DataFrame, measure: str) -> pd.DataFrame:
    """Medians of every measure in words, of the chosen one with quartiles; an algorithm a line, the best first."""
    known = [measure, *(name for name in MEASURES if name != measure and runs[name].notna().any())]
    lines = {name: summarise(runs, name) for name in {"ratio", *known}}
    table = pd.DataFrame({"algorithm": lines["ratio"]["contender"], "runs": lines["ratio"]["runs"]})
    for name in known:
        score = curves.find_measure(name)
        table[name] = [
            score.format(median) + (f" [{score.format(low)}, {score.format(high)}]" if name == measure else "")
            for median, low, high in lines[name][["median", "q25", "q75"]].to_numpy(dtype=float)
        ]
    return table.iloc[lines["ratio"]["median"].to_numpy().argsort(kind="stable")]


@dataclass(frozen=True, eq=False)
class CenterDraws:
    """All centres of several draws as see-through dots: where a single release may put them.

    ``centers`` (r, k, d), of r runs at one setting, unit coordinates; ``losses`` (r,), over that of k-means++.
    """

    stem: ClassVar[str] = "repeated-draws"
    centers: Array
    losses: Array
    context: RenderContext

    @classmethod
    def of(cls, rows: Sequence[Row], context: RenderContext) -> CenterDraws:
        """Of the runs of a study, with their centres."""
        return cls(np.stack([row["centers"] for row in rows]), np.array([row["ratio"] for row in rows]), context)

    @cached_property
    def distances(self) -> Array | None:
        """Distance of every centre of k-means++ to its match in every draw, shape (r, k); None without a reference."""
        reference = self.context.reference
        if reference is None or len(reference.centers) != self.centers.shape[1]:
            return None
        away = np.empty(self.centers.shape[:2])
        for row, centers in zip(away, self.centers, strict=True):
            pairs = evaluation.match(centers, reference.centers)
            row[pairs] = np.linalg.norm(centers - reference.centers[pairs], axis=1)
        return away

    @property
    def finding(self) -> str:
        """Which centre typically lies farthest from its own of k-means++, and how far."""
        if self.distances is None:
            return f"Centres of {format_things(len(self.centers), 'draw')}"
        typical = np.median(self.distances, axis=0)
        return f"Centre {typical.argmax() + 1} strays most from k-means++: {format_number(float(typical.max()))}"

    def animate(self) -> Animation:
        """The draws one after the other, each as a release would look, beside the cloud of all."""
        beside, epsilon = [Companion("All draws", self.cloud)], self.context.epsilon
        spent = "" if epsilon is None else f"ε {epsilon:g} for each draw"
        shots = [Shot(self.step(place), "draw", epsilon or 0.0, spent) for place in range(len(self.centers))]
        losses = {centers.tobytes(): float(loss) for centers, loss in zip(self.centers, self.losses, strict=True)}
        context = replace(self.context, ratio=lambda centers: losses.get(centers.tobytes()), known={})
        return Animation(shots, context, lambda _: beside)

    @cached_property
    def cloud(self) -> Chart:
        """Every centre of every draw on the plane."""
        context, away, typical = self.context, self.distances, "distances in unit coordinates"
        if away is not None:
            typical = f"typically {format_number(float(np.median(away)))} from k-means++ (unit coordinates)"

        def paint(canvas: PlotCanvas) -> None:
            view = canvas.view
            canvas.rows(context.reveal)
            faint = {"size": 7, "opacity": max(0.18, min(0.7, 6 / len(self.centers)))}
            places = view.plane(self.centers.reshape(-1, self.centers.shape[2]))
            canvas.marks(places, "centres of all draws", "released", faint, hover=_HOVER)
            if context.reference is not None:
                partners = view.plane(context.reference.centers, "reference")
                mark = make_reference_marker(canvas.palette)
                canvas.marks(partners, "k-means++", "revealed", mark, hover=f"k-means++: {_HOVER}")
            canvas.plane()

        about = f"{format_things(len(self.centers), 'draw')}, every centre a dot"
        return Chart(context, self.finding, (about, typical, context.view.about), self.words(), paint)

    def step(self, place: int) -> CentersStep:
        """One of the draws, counted from 0, as a release would look."""
        loss = format_ratio(float(self.losses[place]))
        title = f"Draw {place + 1} of {len(self.centers)}: {loss} the loss of k-means++"
        return CentersStep(title=title, centers=self.centers[place], released=True)

    def words(self) -> str:
        """The cloud in words."""
        low, high = float(self.losses.min()), float(self.losses.max())
        return f"{self.finding}. Losses from {format_ratio(low)} to {format_ratio(high)} that of k-means++."

    def table(self) -> pd.DataFrame:
        """How far the centre matched to each k-means++ centre lies from it over the draws, unit coordinates."""
        away = np.empty((1, 0)) if self.distances is None else self.distances
        table = pd.DataFrame({"k-means++ centre": np.arange(1, away.shape[1] + 1)})
        table["typical distance"], table["farthest"] = np.median(away, axis=0), away.max(axis=0)
        table.insert(2, "90 % of draws within", np.quantile(away, 0.9, axis=0))
        return table
