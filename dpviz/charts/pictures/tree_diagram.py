"""The partition tree as a tree: one band a level, each cube above its children."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from dpviz.algorithms.balcan2017.candidate_centers import TreeStep
from dpviz.arrays import Array
from dpviz.charts.canvas import NUMBER_SIZE, canvas, hidden_axis, line_xy
from dpviz.charts.cells import boxes
from dpviz.charts.pictures.tree import level_sizes
from dpviz.charts.theme import Palette
from dpviz.charts.wording import clauses, number, things
from dpviz.privacy.partitions import CubeTree

_BAND = 0.72
# More slices than this in a band are thinner than a pixel: the band is drawn in runs of neighbours.
_SLICES = 1500


def draw_tree_diagram(step: TreeStep, *, palette: Palette) -> go.Figure:
    """Bands of active cubes by level, as wide as the number of ends below them; children hang below their parent."""
    tree, sizes = step.tree, level_sizes(step.tree)
    subtitle = clauses(
        f"last threshold {number(step.threshold)} rows",
        f"{step.noise_name} noise of scale {number(step.noise_scale)}",
        "a band's width counts the branches below it",
    )
    figure = canvas(palette, title=_finding(sizes), subtitle=subtitle, legend_lines=0)
    starts, ends = _intervals(tree)
    for level, (start, end) in enumerate(zip(starts, ends, strict=True)):
        left, right = _runs(start, end)
        low = np.column_stack([left, np.full(len(left), -level - _BAND)])
        high = np.column_stack([right, np.full(len(right), -float(level))])
        figure.add_trace(
            go.Scatter(
                **line_xy(boxes(low, high)),
                mode="lines",
                fill="toself",
                fillcolor=palette.faded(palette.released, 0.2 + 0.6 * level / max(1, tree.depth)),
                line={"color": palette.surface, "width": 1 if len(left) < 200 else 0.3},
                hoverinfo="skip",
                showlegend=False,
                meta="released",
            )
        )
    figure.update_xaxes(**hidden_axis(), range=[0, 1])
    figure.update_yaxes(
        range=[-len(sizes) + 1 - _BAND - 0.1, 0.1],
        tickvals=[-level - _BAND / 2 for level in range(len(sizes))],
        ticktext=[f"level {level}<br>{size:,} cube{'s' * (size != 1)}" for level, size in enumerate(sizes)],
        tickfont={"size": NUMBER_SIZE, "color": palette.text},
        showgrid=False,
        zeroline=False,
        fixedrange=True,
    )
    figure.update_layout(margin={"b": 12, "l": 78})
    return figure


def _finding(sizes: list[int]) -> str:
    widest = int(np.argmax(sizes))
    if len(sizes) > 1 and sizes[-1] == 0:
        return f"Widest at level {widest} with {sizes[widest]:,} cubes, the tree ends at level {_last(sizes)}"
    return f"After {things(len(sizes) - 1, 'level')}: {things(sizes[-1], 'active cube')}"


def _last(sizes: list[int]) -> int:
    return int(np.flatnonzero(sizes)[-1])


def _intervals(tree: CubeTree) -> tuple[list[Array], list[Array]]:
    """The interval of [0, 1] above which each cube stands, by level: a parent spans its children exactly."""
    sizes = level_sizes(tree)
    leaves: list[Array] = [np.ones(size) for size in sizes]
    for level in range(tree.depth, 0, -1):
        below = np.bincount(tree.parents(level), leaves[level], sizes[level - 1])
        leaves[level - 1] = np.maximum(below, 1)
    starts = [np.zeros(1)]
    for level in range(1, tree.depth + 1):
        parent, width = tree.parents(level), leaves[level]
        # Keys are sorted, so siblings are neighbours: a cube's place is what the siblings before it take.
        before = np.cumsum(width) - width
        starts.append(starts[level - 1][parent] + before - before[np.searchsorted(parent, parent)])
    whole = float(leaves[0][0])
    return [s / whole for s in starts], [(s + w) / whole for s, w in zip(starts, leaves, strict=True)]


def _runs(start: Array, end: Array) -> tuple[Array, Array]:
    """Intervals, or runs of touching ones where there are too many to tell apart."""
    if len(start) <= _SLICES:
        return start, end
    new = np.r_[True, start[1:] > end[:-1] + 1e-12]
    first = np.flatnonzero(new)
    return start[first], end[np.r_[first[1:] - 1, len(end) - 1]]
