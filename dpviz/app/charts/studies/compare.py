"""Studies beside curves: algorithms beside each other, draws of one, who pays, where the error is from, ε and n."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from math import inf, isfinite, log10
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pandas as pd

from dpviz.algorithms import CentersStep
from dpviz.app.charts.animation import Animation, Shot
from dpviz.app.charts.canvas import (
    NUMBER_SIZE,
    Diagram,
    PlotCanvas,
    TitledPlot,
    add_note,
    choose_ink,
    new_plot,
    place_below_plot,
    spell_name,
)
from dpviz.app.charts.cells import outline_segments
from dpviz.app.charts.picture import Chart, Companion, RenderContext
from dpviz.app.charts.plot import (
    WORDS,
    Data,
    Plot,
    make_center_marker,
    make_epsilon_axis,
    make_layout,
    make_log_axis,
    make_reference_marker,
)
from dpviz.app.charts.studies import curves
from dpviz.core import Array
from dpviz.runs import MEASURES, Row, error_parts, evaluation, find_crossing, summarise
from dpviz.words import (
    CLUSTER_MARKS,
    Palette,
    capitalize_first,
    format_number,
    format_percent,
    format_ratio,
    format_things,
    join_clauses,
    shorten,
)

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
        # Rows in each small picture: more would hide the centres.
        rows = view.plane(context.reveal.points[:1000], "rows")
        # Of so few each is to be seen.
        dots = {"size": 3, "opacity": 0.6} if len(context.reveal.points) <= 500 else {"size": 2, "opacity": 0.3}
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
            _add_row(plot, -float(place), (low, middle, high), scores[np.isfinite(scores)], styles[name], palette)
        # k-means++ itself is always in the picture of a ratio.
        drawn = runs[measure][runs[column].isin(medians.index)]
        span = curves.Span.of([*drawn, *[1.0] * score.ratio], air=0.05)
        if score.ratio:
            plot.add_vline(x=1, line={"color": palette.text, "width": 1.2, "dash": "dot"})
            at = {"x": span.to_axis(1), "y": 0.72, "xanchor": "left", "xshift": 4}
            add_note(plot, "◇ k-means++ = 1", palette.muted, at)
        plot.update_xaxes(**span.axis, title_text=score.axis)
        plot.update_yaxes(
            tickvals=[-place for place in range(len(medians))],
            ticktext=[
                f"{curves.narrow(name)}<br><b>{score.format(median)}</b> ({score.format(low)} to {score.format(high)})"
                for name, low, median, high in medians[["low", "median", "high"]].itertuples()
            ],
            tickfont={"color": palette.text, "size": NUMBER_SIZE},
            **{"range": [-rows + 0.4, 0.9], "showgrid": False, "zeroline": False},
        )
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


def _add_row(
    plot: Plot, y: float, parts: tuple[float, float, float], scores: Array, style: curves.Style, palette: Palette
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

    def draw(self) -> TitledPlot:
        """The cloud."""
        return self.cloud.draw()

    def animate(self) -> Animation:
        """The draws one after the other, each as a release would look, beside the cloud of all."""
        beside, epsilon = [Companion("All draws", self.cloud)], self.context.epsilon
        spent = "" if epsilon is None else f"ε {epsilon:g} for each draw"
        shots = [Shot(self.step(place), "draw", epsilon or 0.0, spent) for place in range(len(self.centers))]
        return Animation(shots, replace(self.context, ratio=self._find_loss, known={}), lambda _: beside)

    def _find_loss(self, centers: Array) -> float | None:
        """Of one of the draws."""
        same = (self.centers == centers).all(axis=(1, 2))
        return float(self.losses[same.argmax()]) if same.any() else None

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
            canvas.marks(places, "centres of all draws", "released", faint, hover="%{x:.4g}, %{y:.4g}")
            if context.reference is not None:
                partners, hover = view.plane(context.reference.centers, "reference"), "k-means++: %{x:.4g}, %{y:.4g}"
                canvas.marks(partners, "k-means++", "revealed", make_reference_marker(canvas.palette), hover=hover)
            canvas.plane()

        about = f"{format_things(len(self.centers), 'draw')}, every centre a dot"
        note = join_clauses(about, typical, context.view.about)
        return Chart(context, self.finding, note, self.words(), paint)

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


# Missed in more draws than these: hollow.
_MISSED = 0.2
_KINDS = (("cluster", "circle", "clusters of k-means++"), ("group", "square", "declared groups"))


def draw_payers(paid: error_parts.WhoPays, name: str, epsilon: float) -> Diagram:
    """Losses over sizes, both on logarithmic axes; a dotted line at the smallest group that the noise lets be seen."""
    small, large = paid.clusters[0], paid.clusters[-1]
    finding = f"At ε = {epsilon:g} the smallest cluster loses {format_ratio(small.loss)}"
    finding += f", the largest {format_ratio(large.loss)}"
    if small is large:
        finding = f"At ε = {epsilon:g} the only cluster loses {format_ratio(small.loss)}"
    smallest = ""
    if isfinite(paid.smallest):
        smallest = f"dotted: about {format_number(paid.smallest)} rows, below which noise hides a group"
    each = [f"{one.kind} {one.name} ({one.rows:,} rows) {format_ratio(one.loss)}" for one in paid.payers[:8]]

    def paint(palette: Palette) -> Plot:
        plot = new_plot(palette, height=378, legend_lines=1)
        shown = [one for one in paid.payers if isfinite(one.loss) and one.loss > 0]
        for kind, symbol, told in _KINDS:
            some = [one for one in shown if one.kind == kind]
            if some:
                named, rim = len(some) <= 14, {"width": 1.6, "color": palette.revealed}
                colors = [palette.surface if one.missed > _MISSED else palette.revealed for one in some]
                marker = {"symbol": symbol, "size": 11, "color": colors, "line": rim}
                words: dict[str, Any] = {"textposition": "top center", "textfont": {"size": 11, "color": palette.text}}
                words["text"] = [spell_name(shorten(one.name, 12)) for one in some] if named else None
                look = {
                    "customdata": [_describe_payer(one) for one in some],
                    "marker": marker,
                    "meta": "revealed",
                } | words
                x, y, mode = [one.rows for one in some], [one.loss for one in some], "markers" + "+text" * named
                plot.add_scatter(x, y, mode, listed=f"◉ {told}", hover="%{customdata}", **look)
        sizes = np.log10([one.rows for one in shown] or [1, 10])
        # The axis of losses goes at least so far: nearly the same loss should look nearly the same.
        losses = np.log10([*[one.loss for one in shown], 1.0, 2.0])
        if isfinite(paid.smallest) and paid.smallest > 0:
            sizes = np.r_[sizes, log10(paid.smallest)]
            plot.add_vline(paid.smallest, line={"color": palette.muted, "width": 1.2, "dash": "dot"})
        plot.add_hline(1.0, line={"color": palette.muted, "width": 1})
        plot.update_xaxes(**_make_axis(sizes), title_text="rows of the cluster or group (log scale)")
        plot.update_yaxes(**_make_axis(losses), title_text="loss over k-means++ (×)")
        return plot

    def tabulate() -> pd.DataFrame:
        names = ["kind", "name", "rows", "loss over k-means++", "missed", "size off by"]
        return pd.DataFrame([tuple(one) for one in paid.payers], columns=names)

    note = join_clauses(
        "loss over that of k-means++, medians",
        curves.describe_runs([paid.draws]),
        name,
        f"hollow: missed in more than {format_percent(_MISSED)} of the draws",
        smallest,
    )
    words = f"{finding}. {', '.join(each)}. {smallest}".rstrip(". ") + "."
    return Diagram("who-pays", finding, note, words, paint, tabulate)


def _describe_payer(one: error_parts.Payer) -> str:
    size = f"<br>size off by {format_percent(one.size_error)}" if isfinite(one.size_error) else ""
    head = f"{one.kind} {spell_name(one.name)}: {one.rows:,} rows"
    return f"{head}<br>loses {format_ratio(one.loss)}, missed {format_percent(one.missed)}{size}"


def _make_axis(values: Array) -> dict[str, Any]:
    """An axis of powers of ten, with room for marks and their names."""
    low, high = float(values.min()), float(values.max())
    air = 0.12 * max(float(np.ptp(values)), 0.5)
    return {**make_log_axis(low, high), "range": [low - air, high + air]}


_LESS = CLUSTER_MARKS[2].color


class _Bar(NamedTuple):
    """From ``base`` on, in units of the loss of k-means++ above it; the number beside it."""

    name: str
    base: float
    length: float
    text: str
    about: str = ""

    @property
    def tip(self) -> float:
        return self.base + self.length


def draw_waterfall(error: error_parts.ErrorParts, name: str, epsilon: float) -> Diagram:
    """Bars from top to bottom, each beginning where the one before ends; in percent of the loss of k-means++, above it.

    Where k-means++ loses nothing, the unit is the loss per row itself.
    """
    relative = error.kmeans > 0
    unit, scale = (error.kmeans, 100) if relative else (1.0, 1)
    finding, clipping = f"At ε = {epsilon:g}, {_describe_excess(error, name)}", _describe_clipping(error)
    bars = _list_bars(error, unit)

    def paint(palette: Palette) -> Plot:
        plot = new_plot(palette, height=358, legend_lines=0)
        inner = [palette.revealed if bar.length >= 0 else _LESS for bar in bars[1:-1]]
        colors, places = [palette.public, *inner, palette.public], list(range(len(bars)))
        drawn: Data = {"x": [scale * one.length for one in bars], "base": [scale * one.base for one in bars]}
        drawn["y"] = places
        drawn |= {"type": "bar", "orientation": "h", "width": 0.62, "marker": {"color": colors}, "meta": "bars"}
        hover = "<b>%{customdata[0]}</b>: %{x:.3g}<br>%{customdata[1]}"
        plot.add_drawn(drawn, hover=hover, customdata=[(bar.name, bar.about) for bar in bars])
        for place, bar in enumerate(bars):
            # The number stands right of the bar, whichever way the bar goes.
            right = scale * max(bar.base, bar.tip)
            add_note(plot, bar.text, palette.text, {"x": right, "y": place, "xanchor": "left", "xshift": 5})
        dotted = {"color": palette.muted, "width": 1, "dash": "dot"}
        for place, bar in enumerate(bars[:-1]):
            x = {"x0": scale * bar.tip, "x1": scale * bar.tip}
            plot.add_shape(type="line", **x, y0=place - 0.31, y1=place + 1.31, line=dotted, layer="below")
        ends = [scale * end for bar in bars for end in (bar.base, bar.tip)]
        span = (max(ends) - min(ends)) or 1.0
        axis = "loss above k-means++ (%)" if relative else "loss per row (unit coordinates²)"
        # Beside the longest bar, for its number.
        plot.update_xaxes(range=[min(ends) - 0.03 * span, max(ends) + 0.36 * span], title_text=axis)
        plot.update_xaxes(zeroline=True, zerolinecolor=palette.muted)
        plot.update_yaxes(range=[len(bars) - 0.5, -0.5], tickvals=places, ticktext=[bar.name for bar in bars])
        plot.update_yaxes(showgrid=False, zeroline=False)
        return plot

    def tabulate() -> pd.DataFrame:
        """Losses per row in unit coordinates squared, with what was switched off for each."""
        rows = [("k-means++", error.kmeans, error.kmeans, error.kmeans, "on the clipped rows, without privacy")]
        rows += [(part.name, part.value, part.q25, part.q75, part.about) for part in error.parts]
        rows.append(("private", error.private, error.private, error.private, f"median of {error.runs} runs"))
        if (clip := error.clip) is not None:
            rows.append((f"beside these: {clip.name}", clip.value, clip.q25, clip.q75, clip.about))
        names = ["part", "loss per row", "25 % of runs", "75 % of runs", "how it is measured"]
        table = pd.DataFrame(rows, columns=names)
        table.insert(2, "of k-means++", table["loss per row"] / unit)
        return table

    note = join_clauses(
        "bars: differences of median losses",
        curves.describe_runs([error.runs]),
        f"{name}, ε = {epsilon:g}",
        "" if error.quantised else "no synopsis: rows are read to the end, so quantising loses nothing",
        clipping,
    )
    first, *parts, last = bars
    steps = ", ".join(f"{bar.name} {bar.text}" for bar in parts)
    words = f"{finding}. Median loss from {first.text} to {last.text}: {steps}. {capitalize_first(clipping)}."
    return Diagram("where-the-error-comes-from", finding, note, words, paint, tabulate)


def _describe_excess(error: error_parts.ErrorParts, name: str) -> str:
    """How much is lost on top of k-means++, and to what most of it."""
    excess, relative = error.private - error.kmeans, error.kmeans > 0
    unit = error.kmeans if relative else 1.0
    # Parts below this share of the loss of k-means++ are not worth naming; below the other they are rounding.
    if abs(excess) <= 0.005 * unit:
        return f"{name} loses next to nothing against k-means++"
    lost = format_percent(abs(excess) / unit) if relative else format_number(abs(excess))
    if excess < 0:
        return f"{name} beats k-means++ by {lost}"
    largest = max(error.parts, key=lambda part: part.value)
    return f"{name} loses {lost} on top of k-means++, most of it to {WORDS.by_key[f'cause_{largest.name}']}"


def _list_bars(error: error_parts.ErrorParts, unit: float) -> list[_Bar]:
    """k-means++, what each part adds, and the private loss."""
    whole, part_of = (format_ratio, format_percent) if error.kmeans > 0 else (format_number, format_number)
    kmeans, private = error.kmeans / unit, error.private / unit
    bars = [_Bar("k-means++", 0.0, 0.0, whole(kmeans))]
    for part in error.parts:
        length = part.value / unit
        shown = 0.0 if abs(length) <= 1e-9 else length
        sign = "+" if shown > 0 else "−" if shown < 0 else "±"
        bars.append(_Bar(part.name, bars[-1].tip, length, sign + part_of(abs(shown)), part.about))
    return [*bars, _Bar("private", 0.0, private - kmeans, whole(private))]


def _describe_clipping(error: error_parts.ErrorParts) -> str:
    """What the bounds cost beside the bars."""
    if error.clip is None:
        return "judged on rows inside the bounds"
    if error.clip.value == 0:
        return "the bounds clip no row"
    moved = format_number(error.clip.value)
    return f"judged on clipped rows; clipping alone moves them by {moved} a row (unit coordinates²)"


# Lines of equal utility, as losses over that of k-means++; the first is what the title speaks of.
ISO = (1.1, 1.02, 1.5, 3.0)
# Seen on yellow and on blue, and not the orange of what was revealed.
_LINE = "#d4145a"
# Losses from here on look alike.
_WORST = 10.0


class Crossing(NamedTuple):
    """Where a line of equal utility crosses one n."""

    loss: float
    n: int
    epsilon: float


def draw_epsilon_n_map(
    runs: pd.DataFrame, name: str, epsilons: Sequence[float], ns: Sequence[int], own: int | None = None
) -> Diagram:
    """A cell for each ε and n with its median loss over that of k-means++; lines along which the loss is the same."""
    crossings = find_crossings(runs)
    n = min(ns, key=lambda one: abs(log10(one / (own or max(ns)))))
    finding = _describe_own(runs[runs["n"] == n], name, n, crossings)
    ten = [f"n = {one.n:,}: ε = {one.epsilon:.2g}" for one in crossings if one.loss == ISO[0]]
    line = f" Within {format_percent(ISO[0] - 1)}: {'; '.join(ten)}." if ten else ""

    def paint(palette: Palette) -> Plot:
        plot = new_plot(palette, height=478, legend_lines=2)
        cells = runs.pivot_table("ratio", index="n", columns="epsilon", aggfunc="median")
        # NaN where nothing has run yet.
        medians: Array = cells.reindex(index=list(ns), columns=list(epsilons)).to_numpy(np.float64)
        shades = np.log10(np.clip(medians, 1.0, _WORST))
        right, top = _find_edges(epsilons), _find_edges(ns)
        bar = {
            **{"tickvals": [log10(level) for level in (1, 1.5, 2, 3, 5, 10)], "thickness": 10},
            **{"ticktext": ["1×", "1.5×", "2×", "3×", "5×", "≥10×"], "tickfont": {"size": NUMBER_SIZE}},
            "ticklabeloverflow": "allow",
        }
        drawn: Data = {"type": "heatmap", "x": right, "y": top, "z": shades, "zmin": 0.0, "zmax": log10(_WORST)}
        drawn |= {"colorscale": palette.sequential, "reversescale": True, "xgap": 1, "ygap": 1, "meta": "cells"}
        drawn |= {"customdata": medians, "colorbar": place_below_plot(plot.layout) | bar}
        plot.add_drawn(drawn, hover="median loss %{customdata:.3g} × k-means++", showlegend=None)
        _add_equal_lines(plot, crossings, log10(max(epsilons) / min(epsilons)), palette)
        if len(epsilons) <= 9:  # over the lines, so that every number can be read
            row, column = np.nonzero(np.isfinite(medians))
            x, y = np.asarray(epsilons)[column], np.asarray(ns)[row]
            _write_losses(plot, x, y, medians[row, column], shades[row, column])
        across, up = np.log10(right), np.log10(top)
        plot.update_xaxes(**make_epsilon_axis(min(epsilons), max(epsilons)))
        plot.update_xaxes(range=[across[0], across[-1]], showgrid=False)
        plot.update_yaxes(**make_log_axis(up[0], up[-1]), range=[up[0], up[-1]], title_text="n, rows", showgrid=False)
        plot.update_yaxes(tickvals=list(ns), ticktext=[f"{n:,}" for n in ns])
        if own is not None and own <= max(ns):
            _mark_own(plot, ns, own, (right[0], right[-1]), palette)
        return plot

    def tabulate() -> pd.DataFrame:
        """A line for each n and ε."""
        medians = runs.astype({"n": int}).groupby(["n", "epsilon"])["ratio"].agg(["median", "size"]).reset_index()
        return medians.set_axis(["n", "ε", "median loss / k-means++", "runs"], axis=1)

    note = join_clauses(
        "number: median loss above k-means++, in %",
        "red lines: equal loss",
        curves.describe_runs([len(some) for _, some in runs.groupby(["epsilon", "n"])]),
    )
    words = f"Median loss over that of k-means++ by ε and n. {finding}.{line}"
    return Diagram("epsilon-n-map", finding, note, words, paint, tabulate)


def find_crossings(runs: pd.DataFrame) -> list[Crossing]:
    """The smallest ε for each loss of ``ISO`` and each n, where it lies within what was tried."""
    crossings = []
    for n, some in runs.groupby("n"):
        usual = some.groupby("epsilon")["ratio"].median()
        epsilons, losses = usual.index.to_numpy(np.float64), usual.to_numpy(np.float64)
        at = [Crossing(level, int(float(str(n))), find_crossing(epsilons, losses, level)) for level in ISO]
        crossings += [one for one in at if epsilons[0] < one.epsilon < inf]
    return crossings


def _describe_own(runs: pd.DataFrame, name: str, n: int, crossings: Sequence[Crossing]) -> str:
    """The ε for a loss of 10 % at this n."""
    at = [one.epsilon for one in crossings if one.n == n and one.loss == ISO[0]]
    near, within = f"With n = {n:,}, {name}", f"within {format_percent(ISO[0] - 1)} of k-means++"
    if at:
        return f"{near} comes {within} from ε = {at[0]:.2g} on"
    usual = runs.groupby("epsilon")["ratio"].median()
    if usual.empty:
        return f"No run with n = {n:,} yet"
    if usual.max() <= ISO[0]:
        return f"{near} stays {within} at every ε of this map"
    return f"{near} comes {within} at no ε of this map"


def _write_losses(plot: Plot, x: Array, y: Array, losses: Array, shades: Array) -> None:
    """How much of the loss of k-means++ each cell loses on top of it, in percent; in black or white."""
    # The ends of the scale: large losses, and small ones.
    inks = [choose_ink("#00204C" if shade > 0.5 else "#FFEA46") for shade in shades]
    font, text = {"size": 10, "color": inks}, [f"{100 * (loss - 1):.0f}" for loss in losses]
    # Lines of equal loss meet in the middles of cells.
    plot.add_scatter(x, y, "text", text=text, textposition="top center", textfont=font, meta="numbers")


def _add_equal_lines(plot: Plot, crossings: Sequence[Crossing], span: float, palette: Palette) -> None:
    """The lines along which the loss is the same, from the fewest rows on.

    A label goes to a row of its own below those that are taken nearby, on an axis that spans so many powers of ten.
    """
    taken: list[tuple[int, float, int]] = []  # n, log10 ε, and how many rows of text below the end of a line
    for level in sorted({one.loss for one in crossings}):
        line = sorted((one for one in crossings if one.loss == level), key=lambda one: one.n)
        above = f"{format_percent(level - 1)} above k-means++"
        stroke = {"color": _LINE, "width": 3.5 if level == ISO[0] else 1.8}
        look = {"name": above, "line": stroke, "marker": {"size": 4, "color": _LINE}, "meta": "iso"}
        epsilons, ns = [one.epsilon for one in line], [one.n for one in line]
        hover = f"{above}: ε = %{{x:.2g}} with n = %{{y:,}}"
        plot.add_scatter(epsilons, ns, "lines+markers", hover=hover, **look)
        # Lines of less loss lie further right: labels that grow away from each other do not meet.
        end, side = line[0], "right" if level >= ISO[0] else "left"
        at: dict[str, Any] = {"x": log10(end.epsilon), "y": log10(end.n), "xanchor": side, "yanchor": "top"}
        # A label's part of the width of a plot on a phone, twice as it may lie on either side, and its height
        # in pixels.
        near = {row for n, x, row in taken if n == end.n and abs(at["x"] - x) < 0.3 * span}
        row = next(row for row in range(len(ISO)) if row not in near)
        taken.append((end.n, at["x"], row))
        at |= {"yshift": -5 - 16 * row, "bgcolor": palette.surface, "opacity": 0.92}
        add_note(plot, f"+{format_percent(level - 1)}", palette.text, at)


def _mark_own(plot: Plot, ns: Sequence[int], own: int, ends: tuple[float, float], palette: Palette) -> None:
    """A frame around the row of cells with the user's n; a line where it lies between two that were tried."""
    border = _find_edges(ns)
    row = min(range(len(ns)), key=lambda place: abs(log10(ns[place] / own)))
    # An n that differs by this part is the same row of cells.
    near = abs(ns[row] / own - 1) <= 0.05
    low, high = (border[row], border[row + 1]) if near else (own, own)
    line = {"color": palette.text, "width": 2.5, "dash": "solid" if near else "dot"}
    plot.add_shape(type="rect", x0=ends[0], x1=ends[1], y0=low, y1=high, line=line)
    at = {"xref": "paper", "x": 1.0, "y": log10(high), "xanchor": "right", "yanchor": "bottom"}
    add_note(plot, f"yours: n = {own:,}", palette.text, at | {"bgcolor": palette.surface})


def _find_edges(places: Sequence[float]) -> Array:
    """Borders of cells around ``places`` on a logarithmic axis."""
    logs = np.log10(np.asarray(places, dtype=np.float64))
    if len(logs) == 1:
        return np.asarray(10 ** np.r_[logs - 0.15, logs + 0.15], dtype=np.float64)
    middle = (logs[1:] + logs[:-1]) / 2
    borders: Array = np.r_[2 * logs[0] - middle[0], middle, 2 * logs[-1] - middle[-1]]
    return np.asarray(10**borders, dtype=np.float64)
