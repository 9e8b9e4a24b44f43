"""A private partition: its cubes on the plane, the tree of them, and the chance that a cube of m rows wakes up."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import sqrt

import numpy as np
import pandas as pd

from dpviz import check
from dpviz.algorithms.balcan2017.candidate_centers import TreeStep
from dpviz.algorithms.steps import Step
from dpviz.arrays import Array
from dpviz.charts.canvas import NUMBER_SIZE
from dpviz.charts.labels import Crowd
from dpviz.charts.picture import Companion, Drawing, Look, Picture
from dpviz.charts.pictures.icicle import diagram_of
from dpviz.charts.pictures.nested_cubes import add_asleep, add_nest, drawn_boxes, level_sizes, truly_held
from dpviz.charts.sheet import Sheet
from dpviz.charts.view import View
from dpviz.charts.wording import clauses, number
from dpviz.privacy.mechanisms import Gaussian, Laplace
from dpviz.privacy.partitions import CubeTree
from dpviz.table.domain import Domain

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
        return view.boxes() if self.step.frame is None else view.within(self.step.region)

    def finding(self, domain: Domain) -> str:
        tree = self.step.tree
        sizes = level_sizes(self.step.tree)
        if tree.depth == 0:
            return "The root cube holds every row"
        children = sizes[-2] << tree.dim
        if children == 0:
            return f"Level {tree.depth} asks no cube: the tree has stopped growing"
        asked = f"{children:,}" if children < _COUNTABLE else number(children)
        return f"At level {tree.depth}, {sizes[-1]:,} of {asked} cubes woke up"

    def note(self, look: Look) -> str:
        step = self.step
        return clauses(
            f"awake: noisy count over {number(step.threshold)} rows",
            f"noise ±{number(_sd(step))}",
            f"shift {step.shift}" if step.shift > 1 else "",
            look.view.about,
        )

    def paint(self, sheet: Sheet, look: Look) -> None:
        step, tree = self.step, self.step.tree
        sheet.rows(look.reveal, step.region, step.frame)
        add_asleep(sheet, tree)
        add_nest(sheet, tree)
        held = truly_held(look, step)
        if held is not None and tree.depth > 0:
            _add_truth(sheet, tree, held[-1])
        sheet.plane()

    def table(self, domain: Domain) -> pd.DataFrame:
        tree = self.step.tree
        sizes = level_sizes(self.step.tree)
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
        sizes = ", ".join(f"{size:,}" for size in level_sizes(self.step.tree))
        return (
            f"Private partition over {len(step.region.half)} axes. {self.finding(domain)}. Active cubes by level from "
            f"the root: {sizes}. The {step.noise_name} noise on a count has scale {number(step.noise_scale)}."
        )

    def companions(self, look: Look, steps: Sequence[Step]) -> Iterator[Companion]:
        yield Companion("Tree", diagram_of(self.step, steps))
        yield Companion("Activation", ActivationCurve(self.step), "public")


class ActivationCurve(Drawing[TreeStep]):
    """f(m) = Pr[m + noise > threshold] against the rows m of a cube: the curve behind every decision of the tree."""

    legend_lines = 0

    def finding(self, domain: Domain) -> str:
        # By a fine grid of m, to well over where any noise could matter.
        rows = np.linspace(0, self.step.threshold + 40 * self.step.noise_scale, 4001)
        needed = float(rows[np.searchsorted(activation(self.step, rows), _SURE)])
        return f"A cube needs about {number(np.ceil(needed))} rows to wake up nine times in ten"

    def note(self, look: Look) -> str:
        empty = float(activation(self.step, np.zeros(1))[0])
        return clauses(
            f"an empty cube wakes up with probability {number(empty)}",
            f"of all cubes asked, noise alone wakes about {number(expected_empty(self.step))}",
        )

    def paint(self, sheet: Sheet, look: Look) -> None:
        step, plot = self.step, sheet.plot
        top = step.threshold + 8 * step.noise_scale
        sd = _sd(step)
        rows = np.linspace(0, top, 241)
        sheet.band(step.threshold - sd, step.threshold + sd, strength=0.15, upright=True)
        plot.add_vline(x=step.threshold, line={"color": sheet.palette.public, "width": 1.5, "dash": "dash"})
        hover = "%{x:.0f} rows: %{y:.3g}"
        curve = np.column_stack([rows, activation(step, rows)])
        sheet.lines(curve, "", "public", color=sheet.palette.text, width=2.5, hover=hover)
        height, side, shift = (0.92, "right", -8) if step.threshold > top / 2 else (0.08, "left", 8)
        beside = {"xanchor": side, "align": side, "xshift": shift, "bgcolor": sheet.palette.surface, "opacity": 0.9}
        words = f"threshold {number(step.threshold)}<br>band: noise ±1 sd ({number(sd)})"
        sheet.note(words, step.threshold, height, beside)
        plot.update_xaxes(range=[0, top], title_text="rows in the cube", zeroline=False)
        plot.update_yaxes(range=[-0.02, 1.04], title_text="probability to wake up", tickformat=".0%", zeroline=False)

    def words(self, domain: Domain) -> str:
        return f"How many rows wake a cube. {self.finding(domain)}."


def _add_truth(sheet: Sheet, tree: CubeTree, held: Array) -> None:
    """What the newest cubes truly hold, where there is room for the number; a cross where that is nothing."""
    low, high = drawn_boxes(tree, tree.depth, sheet.view)
    middle, empty = (low + high) / 2, held == 0
    if empty.any():
        cross = {"symbol": "x-thin", "size": 9, "line": {"width": 2.2, "color": sheet.palette.revealed}}
        hover = "no row in this cube: noise woke it (revealed)"
        sheet.marks(middle[empty], f"{int(empty.sum()):,} empty, awake", "revealed", cross, hover=hover)
    crowd = Crowd(*np.array(sheet.view.range).T)
    wide, tall = (crowd.pixels(high) - crowd.pixels(low)).T
    room = np.flatnonzero((wide >= _ROOM[0]) & (tall >= _ROOM[1]) & ~empty)
    # Cubes of more than two axes may lie behind each other.
    single = np.unique(middle[room].round(9), axis=0, return_counts=True)[1]
    if not 0 < len(room) <= _COUNTS or (single > 1).any():
        return
    font = {"size": NUMBER_SIZE, "color": sheet.palette.revealed, "weight": 700, "shadow": sheet.palette.halo}
    text = {"mode": "text", "text": [f"{int(count):,}" for count in held[room]], "textfont": font}
    sheet.marks(middle[room], "", "revealed", {}, trace=text)


def activation(step: TreeStep, rows: Array) -> Array:
    """Probability that a cube of ``rows`` rows wakes up."""
    check.one_of((Laplace.name, Gaussian.name), noise=step.noise_name)
    kind = Laplace if step.noise_name == Laplace.name else Gaussian
    return np.exp(kind(1.0, step.noise_scale).log_above(step.threshold - rows))


def expected_empty(step: TreeStep) -> float:
    """How many cubes of the last level noise alone would wake, if all that were asked were empty."""
    above = len(step.tree.levels[-2]) if step.tree.depth > 1 else 1
    return float(activation(step, np.zeros(1))[0]) * (above << step.tree.dim)


def _sd(step: TreeStep) -> float:
    return step.noise_scale * (sqrt(2) if step.noise_name == Laplace.name else 1.0)
