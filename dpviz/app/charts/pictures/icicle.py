"""A partition tree from its root down: every cube a bar below its parent, which lights its cube up on the map."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.spatial import cKDTree

from dpviz.algorithms import Step, TreeStep
from dpviz.app.charts.canvas import NUMBER_SIZE, SCREEN, make_hidden_axis
from dpviz.app.charts.cells import outline_boxes
from dpviz.app.charts.picture import Drawing, RenderContext
from dpviz.app.charts.pictures.nested_cubes import count_levels, count_truly_held, find_asleep_boxes, find_drawn_boxes
from dpviz.app.charts.plot_canvas import LINKED, PlotCanvas
from dpviz.app.charts.view import View
from dpviz.core import Array, CubeTree, Domain
from dpviz.words import capitalize_first, format_number, format_things, join_clauses

# Of the height of a level, this part is filled.
_BAND = 0.8
# Bars that are linked to the map, in all; levels beyond are drawn as runs of neighbours.
_LINKED_AT_MOST = 500
# More slices than this in a level are thinner than a pixel.
_SLICES = 1500
# What a cube truly holds, for the owner.
_TRULY = ", truly {:,} (revealed)"
# How strong a bar is where others are marked.
_UNMARKED = 0.3


@dataclass(frozen=True, eq=False)
class TreeDiagram(Drawing[TreeStep]):
    """Levels of active cubes, each bar as wide as the ends below it; children hang below their parent.

    Parameters
    ----------
    step : TreeStep
    whole : CubeTree or None
        The tree as it ends: bars then stand where they will stay, and the diagram grows downwards.
    thresholds : tuple of float
        Of levels 1, 2, ..., as far as they are known.
    marked : array of shape (k, p) or None
        Today's centres: the bars of their cubes stand out.
    linked_at_most : int
        Cubes that answer to pointing at them.
    """

    whole: CubeTree | None = None
    thresholds: Sequence[float] = field(default=())
    marked: Array | None = None
    linked_at_most: int = _LINKED_AT_MOST
    legend_lines = 0

    def view(self, view: View) -> View:
        return view.boxes() if self.step.frame is None else view.with_space(self.step.region)

    def finding(self, domain: Domain) -> str:
        sizes = count_levels(self.step.tree)
        if self.marked is not None:
            chosen = len(self._chosen)
            return capitalize_first(
                f"{format_things(chosen, 'cube')} of {sum(sizes):,} {'carries' if chosen == 1 else 'carry'} a centre"
            )
        if len(sizes) > 1 and sizes[-1] == 0:
            last = int(np.flatnonzero(sizes)[-1])
            return f"The tree ends at level {last}: {format_things(sum(sizes), 'cube')} in all"
        return f"The tree so far: {format_things(sum(sizes), 'cube')}, {format_things(sizes[-1], 'new one')}"

    def note(self, context: RenderContext) -> str:
        return join_clauses(
            "strong bars: cubes of today's centres" if self.marked is not None else "each bar is a cube: point at it",
            "as wide as the branches below it",
        )

    def paint(self, canvas: PlotCanvas, context: RenderContext) -> None:
        tree, plot = self.step.tree, canvas.plot
        sizes, depth = count_levels(tree), max(tree.depth, 1)
        spans = find_band_spans(self.whole or tree)[: tree.depth + 1]
        final = (self.whole or tree).depth
        linked = int((np.cumsum(sizes) <= self.linked_at_most).sum())
        if linked:
            self._add_bars(canvas, context, spans[:linked], final)
        for level in range(linked, tree.depth + 1):
            left, right = _find_runs(spans[level])
            low = np.column_stack([left, np.full(len(left), -level - _BAND)])
            high = np.column_stack([right, np.full(len(right), -float(level))])
            fill = canvas.color("released", 0.2 + 0.65 * level / depth)
            width = 1 if len(left) < 200 else 0.3
            canvas.lines(outline_boxes(low, high), "", "released", color=canvas.palette.surface, width=width, fill=fill)
        levels = {
            "tickvals": [-level - _BAND / 2 for level in range(len(sizes))],
            "ticktext": [f"{size:,} cube{'s' * (size != 1)}" for size in sizes],
            "tickfont": {"size": NUMBER_SIZE, "color": canvas.palette.muted},
        }
        plot.update_xaxes(**make_hidden_axis(), range=[0, 1])
        plot.update_yaxes(**levels, range=[-final - _BAND - 0.1, 0.1], title_text="awake, level by level")
        plot.update_yaxes(showgrid=False, zeroline=False, fixedrange=True)
        plot.update_layout(margin={"b": 12, "l": 78}, bargap=0, barmode="overlay")

    def words(self, domain: Domain) -> str:
        return f"The partition tree by level. {self.finding(domain)}."

    def _add_bars(self, canvas: PlotCanvas, context: RenderContext, spans: Sequence[Spans], final: int) -> None:
        tree, view, palette = self.step.tree, context.view, canvas.palette
        held = count_truly_held(context, self.step) if self.marked is None else None
        start, end = (np.concatenate(ends) for ends in zip(*spans, strict=True))
        level = np.repeat(np.arange(len(spans)), [len(span.start) for span in spans])
        drawn = [np.column_stack(find_drawn_boxes(tree, at, view)) for at in range(len(spans))]
        told: list[str] = []
        for at, span in enumerate(spans):
            line = self._describe_node(at)
            truly = [""] * len(span.start) if held is None else [_TRULY.format(int(count)) for count in held[at]]
            told += [line + more for more in truly]
        if len(spans) == tree.depth + 1 and tree.depth:
            # Cubes that stayed asleep have no bar, but the map knows them.
            asleep = np.column_stack(find_asleep_boxes(tree, view))[: self.linked_at_most]
            nothing = np.zeros(len(asleep))
            start, end = np.r_[start, nothing], np.r_[end, nothing]
            level = np.r_[level, np.full(len(asleep), tree.depth)]
            drawn, told = [*drawn, asleep], [*told, *[self._describe_node(tree.depth, awake=False)] * len(asleep)]
        shades = [[0, canvas.color("released", 0.2)], [1, canvas.color("released", 0.85)]]
        marker = {
            **{"color": level.astype(np.int16), "cmin": 0, "cmax": max(final, 1), "colorscale": shades},
            "line": {"width": 1 if len(level) < 400 else 0.3, "color": palette.surface},
        }
        if self.marked is not None:
            chosen = np.isin(np.arange(len(level)), self._chosen)
            marker["color"] = np.where(chosen, 1, 0).astype(np.int8)
            marker |= {"cmax": 1, "colorscale": [[0, canvas.color("released", _UNMARKED)], [1, palette.released]]}
        linked = LINKED if canvas.bare else {"uid": LINKED["uid"]}
        canvas.bars(
            ((start + end) / 2).astype(SCREEN),
            np.full(len(level), _BAND, dtype=SCREEN),
            (end - start).astype(SCREEN),
            "cubes",
            "released",
            marker,
            hover="%{text}",
            notes=np.concatenate(drawn).astype(SCREEN),
            trace={"base": (-level - _BAND).astype(SCREEN), "text": told, "textposition": "none", **linked},
        )

    def _describe_node(self, level: int, *, awake: bool = True) -> str:
        if level == 0:
            return "level 0: the whole, always awake"
        known = list(self.thresholds) or [self.step.threshold] * (level == self.step.tree.depth)
        over = (
            f"noisy count {'over' if awake else 'at most'} {format_number(known[level - 1])}"
            if level <= len(known)
            else ""
        )
        return f"level {level} {'woke up' if awake else 'stayed asleep'}" + (f": {over} rows" if over else "")

    @cached_property
    def _chosen(self) -> list[int]:
        """Which cubes, counted from the root on, carry a marked centre: those whose middle it is."""
        assert self.marked is not None
        tree, region = self.step.tree, self.step.region
        middles = np.concatenate([region.clip(tree.centers(level)) for level in range(tree.depth + 1)])
        away, nearest = cKDTree(middles).query(self.marked, p=np.inf)
        return sorted({int(place) for place in np.atleast_1d(nearest)[np.atleast_1d(away) <= 1e-9]})


def make_diagram(
    step: TreeStep, steps: Sequence[Step], *, marked: Array | None = None, linked_at_most: int = _LINKED_AT_MOST
) -> TreeDiagram:
    """The diagram of a tree after ``step``, in the places of the tree that the run ends with.

    Parameters
    ----------
    step : TreeStep
        The step that is shown.
    steps : sequence of Step
        Those of the whole run.
    marked : int array or None
        Cubes that are marked.
    linked_at_most : int
        Cubes beyond which none is linked.

    Returns
    -------
    TreeDiagram
        Places of all cubes.
    """
    alike = [other for other in steps if type(other).__name__ == type(step).__name__]
    own = [other for other in alike if isinstance(other, TreeStep) and other.shift == step.shift] or [step]
    so_far = own[: next((i for i, other in enumerate(own) if other is step), 0) + 1]
    known = tuple(other.threshold for other in so_far) if len(so_far) == step.tree.depth else ()
    return TreeDiagram(step, own[-1].tree, known, marked, linked_at_most)


class Spans(NamedTuple):
    """Where the cubes of a level stand: from ``start`` to ``end`` (m,) within [0, 1]."""

    start: Array
    end: Array


def find_band_spans(tree: CubeTree) -> list[Spans]:
    """The interval of [0, 1] above which each cube stands, by level: a parent spans its children exactly."""
    sizes = count_levels(tree)
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


def _find_runs(spans: Spans) -> Spans:
    """Intervals, or runs of touching ones where there are too many to tell apart."""
    start, end = spans
    if len(start) <= _SLICES:
        return spans
    first = np.flatnonzero(np.r_[True, start[1:] > end[:-1] + 1e-12])
    return Spans(start[first], end[np.r_[first[1:] - 1, len(end) - 1]])
