"""A private partition: its cubes on the plane, the tree of them, and the chance that a cube of m rows wakes up."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import sqrt
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from dpviz import check
from dpviz.algorithms.balcan2017.candidate_centers import TreeStep
from dpviz.algorithms.steps import Step
from dpviz.arrays import Array
from dpviz.charts.canvas import NUMBER_SIZE, hidden_axis
from dpviz.charts.cells import boxes
from dpviz.charts.picture import Companion, Drawing, Look, Picture
from dpviz.charts.sheet import Sheet
from dpviz.charts.view import View
from dpviz.charts.wording import clauses, number, things
from dpviz.privacy.mechanisms import Gaussian, Laplace
from dpviz.privacy.partitions import CubeTree
from dpviz.table.domain import Domain

# Outlines of one level that a picture can carry.
_DRAWN_AT_MOST = 3000
# In one dimension levels lie below each other; these many rows are kept free for them.
_ROWS_OF_LEVELS = 12
# Of the height of a level in the tree, this part is filled.
_BAND = 0.72
# More slices than this in a band are thinner than a pixel: the band is drawn in runs of neighbours.
_SLICES = 1500
# A cube surely wakes up, as the title of the curve has it, at this chance.
_SURE = 0.9


class TreePicture(Picture[TreeStep]):
    """Active cubes of all levels so far, deeper ones darker; empty ones look like all others.

    With revealed rows, the empty cubes that woke up are marked.
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
        return f"At level {tree.depth}, {sizes[-1]:,} of {children:,} cubes woke up"

    def note(self, look: Look) -> str:
        step = self.step
        return clauses(
            f"awake: noisy count over {number(step.threshold)} rows",
            f"{step.noise_name} noise of scale {number(step.noise_scale)}",
            f"shift {step.shift}" if step.shift > 1 else "",
            look.view.about,
        )

    def paint(self, sheet: Sheet, look: Look) -> None:
        step, tree = self.step, self.step.tree
        sheet.rows(look.reveal, step.region, step.frame)
        for level in range(tree.depth + 1):
            deepest = level == tree.depth
            low, high = _drawn_boxes(tree, level, sheet.view)
            fill = sheet.color("released", 0.10 if deepest else 0.05) if level else ""
            name = "active cubes, darker is deeper" if deepest else ""
            strength = 0.25 + 0.6 * level / max(1, tree.depth)
            width = 1.6 if deepest else 1.0
            sheet.lines(boxes(low, high), name, "released", strength=strength, width=width, fill=fill)
        rows = look.rows_in(step.region, step.frame)
        if rows is not None and tree.depth > 0:
            hover = "no row in this cube: noise woke it (revealed)"
            empty = empty_cubes(tree, rows)
            places = sheet.view.plane(tree.centers(tree.depth)[empty])
            name = f"{int(empty.sum()):,} empty, awake"
            cross = {"symbol": "x-thin", "size": 11, "line": {"width": 2.5, "color": sheet.palette.revealed}}
            sheet.marks(places, name, "revealed", cross, hover=hover)
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
        yield Companion("Tree", TreeDiagram(self.step))
        yield Companion("Activation", ActivationCurve(self.step), "public")


def level_sizes(tree: CubeTree) -> list[int]:
    """Active cubes of levels 0, 1, ..., as many as the tree is deep."""
    return [1, *(len(keys) for keys in tree.levels)]


def empty_cubes(tree: CubeTree, rows: Array) -> npt.NDArray[np.bool_]:
    """Which active cubes of the deepest level hold none of the (revealed) ``rows``."""
    above = CubeTree(tree.origin, tree.side, tree.levels[:-1])
    empty: npt.NDArray[np.bool_] = ~np.isin(tree.levels[-1], above.assign(rows))
    return empty


def _drawn_boxes(tree: CubeTree, level: int, view: View) -> tuple[Array, Array]:
    """Corners of the cubes of a level on the plane, each outline once; evenly picked ones where there are too many."""
    corner = tree.corners(level)
    low, high = view.plane(corner), view.plane(corner + tree.edge(level))
    if view.flat:
        rows = max(_ROWS_OF_LEVELS, tree.depth + 1)
        low[:, 1], high[:, 1] = 1 - (2 * level + 1.4) / rows, 1 - 2 * level / rows
    first = np.unique(low.round(9), axis=0, return_index=True)[1]
    if len(first) > _DRAWN_AT_MOST:
        first = first[np.linspace(0, len(first) - 1, _DRAWN_AT_MOST).astype(np.int64)]
    return low[first], high[first]


class TreeDiagram(Drawing[TreeStep]):
    """Bands of active cubes by level, as wide as the number of ends below them; children hang below their parent."""

    legend_lines = 0

    def finding(self, domain: Domain) -> str:
        sizes = level_sizes(self.step.tree)
        widest = int(np.argmax(sizes))
        if len(sizes) > 1 and sizes[-1] == 0:
            last = int(np.flatnonzero(sizes)[-1])
            return f"Widest at level {widest} with {sizes[widest]:,} cubes, the tree ends at level {last}"
        return f"After {things(len(sizes) - 1, 'level')}: {things(sizes[-1], 'active cube')}"

    def note(self, look: Look) -> str:
        return clauses(
            f"last threshold {number(self.step.threshold)} rows",
            f"{self.step.noise_name} noise of scale {number(self.step.noise_scale)}",
            "a band's width counts the branches below it",
        )

    def paint(self, sheet: Sheet, look: Look) -> None:
        tree, plot = self.step.tree, sheet.plot
        sizes = level_sizes(self.step.tree)
        for level, spans in enumerate(band_spans(tree)):
            left, right = _runs(spans)
            low = np.column_stack([left, np.full(len(left), -level - _BAND)])
            high = np.column_stack([right, np.full(len(right), -float(level))])
            fill = sheet.color("released", 0.2 + 0.6 * level / max(1, tree.depth))
            width = 1 if len(left) < 200 else 0.3
            sheet.lines(boxes(low, high), "", "released", color=sheet.palette.surface, width=width, fill=fill)
        levels = {
            "tickvals": [-level - _BAND / 2 for level in range(len(sizes))],
            "ticktext": [f"level {level}<br>{size:,} cube{'s' * (size != 1)}" for level, size in enumerate(sizes)],
            "tickfont": {"size": NUMBER_SIZE, "color": sheet.palette.text},
        }
        plot.update_xaxes(**hidden_axis(), range=[0, 1])
        plot.update_yaxes(**levels, range=[-len(sizes) + 1 - _BAND - 0.1, 0.1])
        plot.update_yaxes(showgrid=False, zeroline=False, fixedrange=True)
        plot.update_layout(margin={"b": 12, "l": 78})

    def words(self, domain: Domain) -> str:
        return f"The partition tree by level. {self.finding(domain)}."


class Spans(NamedTuple):
    """Where the cubes of a level stand: from ``start`` to ``end`` (m,) within [0, 1]."""

    start: Array
    end: Array


def band_spans(tree: CubeTree) -> list[Spans]:
    """The interval of [0, 1] above which each cube stands, by level: a parent spans its children exactly."""
    sizes = level_sizes(tree)
    leaves: list[Array] = [np.ones(size) for size in sizes]
    for level in range(tree.depth, 0, -1):
        below = np.bincount(tree.parents(level), leaves[level], sizes[level - 1])
        leaves[level - 1] = np.maximum(below, 1)
    starts = [np.zeros(1)]
    for level in range(1, tree.depth + 1):
        parent = tree.parents(level)
        width = leaves[level]
        # Keys are sorted, so siblings are neighbours: a cube's place is what the siblings before it take.
        before = np.cumsum(width) - width
        starts.append(starts[level - 1][parent] + before - before[np.searchsorted(parent, parent)])
    whole = float(leaves[0][0])
    return [Spans(start / whole, (start + width) / whole) for start, width in zip(starts, leaves, strict=True)]


def _runs(spans: Spans) -> Spans:
    """Intervals, or runs of touching ones where there are too many to tell apart."""
    start, end = spans
    if len(start) <= _SLICES:
        return spans
    first = np.flatnonzero(np.r_[True, start[1:] > end[:-1] + 1e-12])
    return Spans(start[first], end[np.r_[first[1:] - 1, len(end) - 1]])


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
