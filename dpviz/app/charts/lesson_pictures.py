"""What a lesson shows beside animations: its rows, a guessed curve with the true one, and what many draws came to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pandas as pd

from dpviz.app.charts.animation import TitleNumber
from dpviz.app.charts.canvas import TitledPlot, name_kinds, new_plot
from dpviz.app.charts.diagram import Diagram
from dpviz.app.charts.layout import make_axis_title, make_epsilon_axis, make_layout, make_log_axis
from dpviz.app.charts.picture import RenderContext
from dpviz.app.charts.plot import Plot
from dpviz.app.charts.plot_canvas import PlotCanvas
from dpviz.app.charts.revealed import RevealedView
from dpviz.app.charts.studies.contenders import choose_styles
from dpviz.app.charts.studies.medians import compute_quartiles, draw_band, draw_median_line
from dpviz.app.charts.view import make_view
from dpviz.app.lessons.computed import Computed
from dpviz.app.lessons.lesson import Scene
from dpviz.core import Array
from dpviz.runs import Request, Row, Run, StudyGrid
from dpviz.tables import FileKind
from dpviz.words import Palette, capitalize_first, format_ratio, format_things

_HEIGHT, _STRIP_HEIGHT = 460, 230
# A jot beyond what can be guessed.
_LEAST_LOSS, _MOST_LOSS = 0.9, 24.0


class Walk(NamedTuple):
    """A run of a lesson, how it is looked at, and the numbers beside its title."""

    run: Run
    context: RenderContext
    numbers: list[TitleNumber]


def make_context(computed: Computed, palette: Palette) -> RenderContext:
    """The rows of a public sample, for all to see."""
    return RenderContext(
        make_view(computed.table.domain),
        palette,
        reveal=RevealedView.of(computed.rows.points, "a lesson on a public sample"),
    )


def make_walk(computed: Computed, request: Request, palette: Palette, *, whole: bool) -> Walk:
    """A run; if not ``whole``, without how good it is, which would give an answer away."""
    run = computed.run(request)
    context = replace(make_context(computed, palette), epsilon=run.epsilon if run.private else None)
    if not run.private:
        return Walk(run, context, [])
    numbers = [TitleNumber("released", f"ε {run.spent_epsilon:.3g}", f"spent, {len(run.entries)} charges")]
    if not whole:
        return Walk(run, context, numbers)
    loss = computed.compute_loss_ratio(run.unit_centers)

    def of_run(centers: Array) -> float | None:
        return loss if np.array_equal(centers, run.unit_centers) else None

    reference = computed.compute_reference(run.k)
    context = replace(context, reference=reference, found=computed.measure_recovery, ratio=of_run)
    return Walk(run, context, [*numbers, TitleNumber("revealed", format_ratio(loss), "the loss of k-means++")])


def describe_sample(computed: Computed, request: Request) -> str:
    """Whose rows an animation shows, and why it is the same for everybody."""
    return (
        f"{_of(computed)}. Seed {request.seed:d}: the same noise for everybody, so that a "
        "lesson can be repeated. A release has no seed."
    )


def describe_seeds(computed: Computed, number: int, grid: StudyGrid) -> str:
    """The same of many runs."""
    return f"{_of(computed)}; {number:d} runs, whose seeds follow from {grid.seed:d}: the same for everybody."


def _of(computed: Computed) -> str:
    simulated = computed.table.kind == FileKind.SIMULATED
    return f"{computed.table.title}, {'simulated points' if simulated else 'a public sample'}"


def draw_sample(context: RenderContext, title: str) -> TitledPlot:
    """The rows of a public sample, and nothing else."""
    palette, view = context.palette, context.view
    canvas = PlotCanvas(new_plot(palette, legend_lines=1), palette, view)
    canvas.rows(context.reveal)
    canvas.plane()
    return TitledPlot(title, view.about, name_kinds(canvas.plot, palette))


def draw_guessed_curve(epsilons: Sequence[float], guess: Sequence[float] | None, runs: pd.DataFrame | None) -> Diagram:
    """The ``guess`` of the loss at each ε, if there is one, and once there are ``runs``, their medians and band.

    >>> draw_guessed_curve([0.1, 1.0], None, None).finding
    'The curve that you expect'
    """
    middle = None if runs is None else compute_quartiles(runs, "ratio", ["epsilon"])
    finding = "The curve that you expect"
    words = f"Loss against ε, from {min(epsilons):g} to {max(epsilons):g}; the true curve is not shown yet."
    if middle is not None:
        first, last = (format_ratio(float(middle["median"].iloc[place])) for place in (0, -1))
        low, high = middle["epsilon"].iloc[0], middle["epsilon"].iloc[-1]
        finding = f"{first} the loss of k-means++ at ε = {low:g}, {last} at ε = {high:g}"
        words = f"The median loss goes from {first} to {last} that of k-means++."
    if guess is not None:
        words = f"Your guess goes from {format_ratio(guess[0])} to {format_ratio(guess[-1])}. {words}"

    def paint(palette: Palette) -> Plot:
        plot = Plot(make_layout(palette, height=_HEIGHT))
        if runs is not None and middle is not None:
            name = str(runs["contender"].iloc[0])
            style = choose_styles([name])[name]
            x, low, median, high = middle[["epsilon", "low", "median", "high"]].to_numpy(dtype=np.float64).T
            plot.add_trace(draw_band(x, low, high, palette.fade(style.color, 0.18)))
            told = {"text": [format_ratio(value) for value in median], "hovertemplate": "ε = %{x}: %{text}"}
            plot.add_trace(draw_median_line(name, x, median, style, showlegend=True, **told))
        if guess is not None:
            plot.add_trace(
                {
                    **{"type": "scatter", "x": list(epsilons), "y": list(guess), "name": "your guess"},
                    **{"mode": "lines+markers", "line": {"color": palette.text, "width": 2.2, "dash": "dash"}},
                    "marker": {"symbol": "circle-open", "size": 10, "color": palette.text, "line": {"width": 2}},
                    "hovertemplate": "your guess at ε = %{x}: %{y}×",
                }
            )
        plot.update_xaxes(**make_epsilon_axis(min(epsilons), max(epsilons)))
        up = make_log_axis(0, 1.4) | {"range": [np.log10(_LEAST_LOSS), np.log10(_MOST_LOSS)]}
        plot.update_yaxes(**up, title_text=make_axis_title("loss", "× that of k-means++"))
        return plot.update_layout(legend={"y": -0.22}, margin={"t": 16})

    return Diagram("curve", finding, "", words, paint)


def draw_strip(scene: Scene, rows: Sequence[Row], computed: Computed, guess: float | None = None) -> Diagram:
    """A dot for each draw over what a scene asks of it, piled up where values are alike; ``guess`` is a line."""
    values, what = [float(row["ratio"]) for row in rows], "loss, × that of k-means++"
    if any("found" in say.what for say in scene.says.values()):
        values, what = [float(computed.measure_recovery(row["centers"]).found) for row in rows], "clusters found"
    finding = f"{capitalize_first(format_things(len(values), 'draw'))}: {min(values):.3g} to {max(values):.3g} {what}"

    def paint(palette: Palette) -> Plot:
        piles, heights = Counter[float](), list[int]()
        for value in values:
            piles[value] += 1
            heights.append(piles[value])
        plot, algorithm = Plot(make_layout(palette, height=_STRIP_HEIGHT)), str(rows[0]["contender"])
        marker = {"size": 11, "color": choose_styles([algorithm])[algorithm].color}
        dots = {"type": "scatter", "mode": "markers", "marker": marker, "x": values, "y": heights}
        plot.add_trace({**dots, "hovertemplate": "%{x}<extra></extra>"})
        if guess is not None:
            plot.add_vline(guess, line={"color": palette.text, "dash": "dash", "width": 2})
            above = {"x": guess, "y": 1, "yref": "paper", "yanchor": "bottom"}
            plot.add_annotation({"text": "your guess", "showarrow": False, **above})
        plot.update_xaxes(title_text=what)
        plot.update_yaxes(visible=False, range=[0, max(4, *heights) + 1])
        return plot.update_layout(margin={"t": 24, "l": 16}, showlegend=False)

    return Diagram("strip", finding, "", finding, paint)
