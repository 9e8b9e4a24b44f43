"""A private partition: its cubes on the plane, the tree of them, and the chance that a cube of m rows wakes up."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import sqrt

import numpy as np
import pandas as pd

from dpviz.algorithms import Step, TreeStep
from dpviz.app.charts.canvas import NUMBER_SIZE
from dpviz.app.charts.labels import LabelBoxes
from dpviz.app.charts.picture import Companion, Drawing, Picture, RenderContext
from dpviz.app.charts.pictures.icicle import make_diagram
from dpviz.app.charts.pictures.nested_cubes import (
    add_asleep,
    add_nest,
    count_levels,
    count_truly_held,
    find_drawn_boxes,
)
from dpviz.app.charts.plot_canvas import PlotCanvas
from dpviz.app.charts.view import View
from dpviz.core import Array, CubeTree, Domain, Gaussian, Laplace, check
from dpviz.words import format_number, join_clauses

# Up to so many cubes, digits are as long as a reader takes them in.
_COUNTABLE = 1e6
# A cube has room for its count from this width and height in pixels on.
_ROOM = (30.0, 17.0)
# Counts beyond this many are a grey of digits.
_COUNTS = 150
# A cube surely wakes up, as the title of the curve has it, at this chance.
_SURE = 0.9


class TreePicture(Picture[TreeStep]):
    """Active cubes, the last three levels veiled, the newest rimmed; those that were asked and stayed asleep hatched.

    Empty ones look like all others. With revealed rows, those that woke up are marked, and cubes tell what they hold.
    """

    called = "tree level"

    legend_lines = 3

    def view(self, view: View) -> View:
        return view.boxes() if self.step.frame is None else view.with_space(self.step.region)

    def finding(self, domain: Domain) -> str:
        tree = self.step.tree
        sizes = count_levels(self.step.tree)
        if tree.depth == 0:
            return "The root cube holds every row"
        children = sizes[-2] << tree.dim
        if children == 0:
            return f"Level {tree.depth} asks no cube: the tree has stopped growing"
        asked = f"{children:,}" if children < _COUNTABLE else format_number(children)
        return f"At level {tree.depth}, {sizes[-1]:,} of {asked} cubes woke up"

    def note(self, context: RenderContext) -> str:
        step = self.step
        return join_clauses(
            f"awake: noisy count over {format_number(step.threshold)} rows",
            f"noise ±{format_number(_compute_sd(step))}",
            f"shift {step.shift}" if step.shift > 1 else "",
            context.view.about,
        )

    def paint(self, canvas: PlotCanvas, context: RenderContext) -> None:
        step, tree = self.step, self.step.tree
        canvas.rows(context.reveal, step.region, step.frame)
        add_asleep(canvas, tree)
        add_nest(canvas, tree)
        held = count_truly_held(context, step)
        if held is not None and tree.depth > 0:
            _add_truth(canvas, tree, held[-1])
        canvas.plane()

    def table(self, domain: Domain) -> pd.DataFrame:
        tree = self.step.tree
        sizes = count_levels(self.step.tree)
        return pd.DataFrame(
            {
                "level": np.arange(len(sizes)),
                "cubes asked": [1, *(size << tree.dim for size in sizes[:-1])],
                "cubes active": sizes,
                "edge (unit coordinates)": [tree.edge(level) for level in range(len(sizes))],
            }
        )

    def words(self, domain: Domain) -> str:
        step = self.step
        sizes = ", ".join(f"{size:,}" for size in count_levels(self.step.tree))
        return (
            f"Private partition over {len(step.region.half)} axes. {self.finding(domain)}. Active cubes by level from "
            f"the root: {sizes}. The {step.noise_name} noise on a count has scale {format_number(step.noise_scale)}."
        )

    def companions(self, context: RenderContext, steps: Sequence[Step]) -> Iterator[Companion]:
        yield Companion("Tree", make_diagram(self.step, steps))
        yield Companion("Activation", ActivationCurve(self.step), "public")


class ActivationCurve(Drawing[TreeStep]):
    """f(m) = Pr[m + noise > threshold] against the rows m of a cube: the curve behind every decision of the tree."""

    legend_lines = 0

    def finding(self, domain: Domain) -> str:
        # By a fine grid of m, to well over where any noise could matter.
        rows = np.linspace(0, self.step.threshold + 40 * self.step.noise_scale, 4001)
        needed = float(rows[np.searchsorted(compute_activation(self.step, rows), _SURE)])
        return f"A cube needs about {format_number(np.ceil(needed))} rows to wake up nine times in ten"

    def note(self, context: RenderContext) -> str:
        empty = float(compute_activation(self.step, np.zeros(1))[0])
        return join_clauses(
            f"an empty cube wakes up with probability {format_number(empty)}",
            f"of all cubes asked, noise alone wakes about {format_number(expect_empty(self.step))}",
        )

    def paint(self, canvas: PlotCanvas, context: RenderContext) -> None:
        step, plot = self.step, canvas.plot
        top = step.threshold + 8 * step.noise_scale
        sd = _compute_sd(step)
        rows = np.linspace(0, top, 241)
        canvas.band(step.threshold - sd, step.threshold + sd, strength=0.15, upright=True)
        plot.add_vline(x=step.threshold, line={"color": canvas.palette.public, "width": 1.5, "dash": "dash"})
        hover = "%{x:.0f} rows: %{y:.3g}"
        curve = np.column_stack([rows, compute_activation(step, rows)])
        canvas.lines(curve, "", "public", color=canvas.palette.text, width=2.5, hover=hover)
        height, side, shift = (0.92, "right", -8) if step.threshold > top / 2 else (0.08, "left", 8)
        beside = {"xanchor": side, "align": side, "xshift": shift, "bgcolor": canvas.palette.surface, "opacity": 0.9}
        words = f"threshold {format_number(step.threshold)}<br>band: noise ±1 sd ({format_number(sd)})"
        canvas.note(words, step.threshold, height, beside)
        plot.update_xaxes(range=[0, top], title_text="rows in the cube", zeroline=False)
        plot.update_yaxes(range=[-0.02, 1.04], title_text="probability to wake up", tickformat=".0%", zeroline=False)

    def words(self, domain: Domain) -> str:
        return f"How many rows wake a cube. {self.finding(domain)}."


def _add_truth(canvas: PlotCanvas, tree: CubeTree, held: Array) -> None:
    """What the newest cubes truly hold, where there is room for the number; a cross where that is nothing."""
    low, high = find_drawn_boxes(tree, tree.depth, canvas.view)
    middle, empty = (low + high) / 2, held == 0
    if empty.any():
        cross = {"symbol": "x-thin", "size": 9, "line": {"width": 2.2, "color": canvas.palette.revealed}}
        hover = "no row in this cube: noise woke it (revealed)"
        canvas.marks(middle[empty], f"{int(empty.sum()):,} empty, awake", "revealed", cross, hover=hover)
    crowd = LabelBoxes(*np.array(canvas.view.range).T)
    wide, tall = (crowd.pixels(high) - crowd.pixels(low)).T
    room = np.flatnonzero((wide >= _ROOM[0]) & (tall >= _ROOM[1]) & ~empty)
    # Cubes of more than two axes may lie behind each other.
    single = np.unique(middle[room].round(9), axis=0, return_counts=True)[1]
    if not 0 < len(room) <= _COUNTS or (single > 1).any():
        return
    font = {"size": NUMBER_SIZE, "color": canvas.palette.revealed, "weight": 700, "shadow": canvas.palette.halo}
    text = {"mode": "text", "text": [f"{int(count):,}" for count in held[room]], "textfont": font}
    canvas.marks(middle[room], "", "revealed", {}, trace=text)


def compute_activation(step: TreeStep, rows: Array) -> Array:
    """Probability that a cube of ``rows`` rows wakes up.

    Parameters
    ----------
    step : TreeStep
        The step that is shown.
    rows : array
        Numbers of rows, any shape.

    Returns
    -------
    array
        Shape as ``rows``, between 0 and 1.
    """
    check.one_of((Laplace.name, Gaussian.name), noise=step.noise_name)
    kind = Laplace if step.noise_name == Laplace.name else Gaussian
    return np.exp(kind(1.0, step.noise_scale).log_above(step.threshold - rows))


def expect_empty(step: TreeStep) -> float:
    """How many cubes of the last level noise alone would wake, if all that were asked were empty."""
    above = len(step.tree.levels[-2]) if step.tree.depth > 1 else 1
    return float(compute_activation(step, np.zeros(1))[0]) * (above << step.tree.dim)


def _compute_sd(step: TreeStep) -> float:
    return step.noise_scale * (sqrt(2) if step.noise_name == Laplace.name else 1.0)
