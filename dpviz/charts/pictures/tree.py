"""The cubes of a private partition on the plane, deeper levels darker. Empty ones look like all others."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dpviz.algorithms.balcan2017.candidate_centers import TreeStep
from dpviz.arrays import Array
from dpviz.charts.canvas import canvas, legend_name, line_xy, marks_xy, name_kinds, show_plane
from dpviz.charts.cells import boxes
from dpviz.charts.revealed import RevealedView, draw_rows
from dpviz.charts.theme import Palette
from dpviz.charts.view import View
from dpviz.charts.wording import clauses, number
from dpviz.privacy.partitions import CubeTree
from dpviz.table.domain import Domain

# Outlines of one level that a picture can carry.
_DRAWN_AT_MOST = 3000
# In one dimension levels lie below each other; these many rows are kept free for them.
_ROWS_OF_LEVELS = 12


def draw_tree(step: TreeStep, *, view: View, palette: Palette, reveal: RevealedView | None = None) -> go.Figure:
    """Active cubes of all levels so far; with revealed rows, the empty cubes that woke up are marked."""
    view = tree_view(step, view)
    tree = step.tree
    figure = canvas(palette, title=tree_finding(step), subtitle=_subtitle(step, view), legend_lines=3)
    if reveal is not None:
        draw_rows(figure, reveal.drawn_in(step.region, step.frame), view, palette)
    for level in range(tree.depth + 1):
        _draw_level(figure, tree, level, view, palette)
    rows = None if reveal is None else reveal.rows_in(step.region, step.frame)
    if rows is not None and tree.depth > 0:
        _draw_woken_empty(figure, tree, rows, view, palette)
    show_plane(figure, view, palette)
    return name_kinds(figure, palette)


def tree_view(step: TreeStep, view: View) -> View:
    """The plane for cubes: the projected space where there is one, else the chosen pair of columns."""
    return view.boxes() if step.frame is None else view.within(step.region)


def level_sizes(tree: CubeTree) -> list[int]:
    """Active cubes of levels 0, 1, ..., as many as the tree is deep."""
    return [1, *(len(keys) for keys in tree.levels)]


def tree_table(step: TreeStep, *, domain: Domain) -> pd.DataFrame:
    """Levels: cubes asked and active, the edge, and the threshold of the level that was asked last."""
    tree, sizes = step.tree, level_sizes(step.tree)
    asked = [1, *(size << tree.dim for size in sizes[:-1])]
    return pd.DataFrame(
        {
            "level": np.arange(len(sizes)),
            "cubes asked": asked,
            "cubes active": sizes,
            "edge (unit coordinates)": [tree.edge(level) for level in range(len(sizes))],
        }
    )


def describe_tree(step: TreeStep, *, domain: Domain) -> str:
    """The picture in words."""
    sizes = ", ".join(f"{size:,}" for size in level_sizes(step.tree))
    return (
        f"Private partition over {len(step.region.half)} axes. {tree_finding(step)}. Active cubes by level from the "
        f"root: {sizes}. The {step.noise_name} noise on a count has scale {number(step.noise_scale)}."
    )


def tree_finding(step: TreeStep) -> str:
    """How many of the asked cubes woke up, from released values."""
    tree = step.tree
    if tree.depth == 0:
        return "The root cube holds every row"
    sizes = level_sizes(tree)
    asked = sizes[-2] << tree.dim
    if asked == 0:
        return f"Level {tree.depth} asks no cube: the tree has stopped growing"
    return f"At level {tree.depth}, {sizes[-1]:,} of {asked:,} cubes woke up"


def empty_cubes(tree: CubeTree, rows: Array) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Which active cubes of the deepest level hold none of the (revealed) ``rows``."""
    above = CubeTree(tree.origin, tree.side, tree.levels[:-1])
    empty: np.ndarray[tuple[int], np.dtype[np.bool_]] = ~np.isin(tree.levels[-1], above.assign(rows))
    return empty


def _subtitle(step: TreeStep, view: View) -> str:
    return clauses(
        f"awake: noisy count over {number(step.threshold)} rows",
        f"{step.noise_name} noise of scale {number(step.noise_scale)}",
        f"shift {step.shift}" if step.shift > 1 else "",
        view.about,
    )


def _draw_level(figure: go.Figure, tree: CubeTree, level: int, view: View, palette: Palette) -> None:
    low, high = _drawn_boxes(tree, level, view)
    deepest = level == tree.depth
    strength = 0.25 + 0.6 * level / max(1, tree.depth)
    fill = palette.faded(palette.released, 0.10 if deepest else 0.05)
    figure.add_trace(
        go.Scatter(
            **line_xy(boxes(low, high)),
            mode="lines",
            line={"color": palette.faded(palette.released, strength), "width": 1.6 if deepest else 1.0},
            fill="toself" if level else "none",
            fillcolor=fill,
            name="active cubes, darker is deeper",
            showlegend=level == tree.depth,
            hoverinfo="skip",
            meta="released",
        )
    )


def _drawn_boxes(tree: CubeTree, level: int, view: View) -> tuple[Array, Array]:
    """Corners of the cubes of a level on the plane, each outline once; evenly picked ones where there are too many."""
    corner = tree.corners(level)
    low, high = view.plane(corner), view.plane(corner + tree.edge(level))
    if view.flat:
        top = 1 - 2 * level / max(_ROWS_OF_LEVELS, tree.depth + 1)
        low[:, 1], high[:, 1] = top - 1.4 / max(_ROWS_OF_LEVELS, tree.depth + 1), top
    first = np.unique(low.round(9), axis=0, return_index=True)[1]
    if len(first) > _DRAWN_AT_MOST:
        first = first[np.linspace(0, len(first) - 1, _DRAWN_AT_MOST).astype(np.int64)]
    return low[first], high[first]


def _draw_woken_empty(figure: go.Figure, tree: CubeTree, rows: Array, view: View, palette: Palette) -> None:
    empty = empty_cubes(tree, rows)
    figure.add_trace(
        go.Scatter(
            **marks_xy(view.plane(tree.centers(tree.depth)[empty])),
            mode="markers",
            name=legend_name(f"{int(empty.sum()):,} empty, awake", "revealed"),
            marker={
                "symbol": "x-thin",
                "size": 11,
                "color": palette.revealed,
                "line": {"width": 2.5, "color": palette.revealed},
            },
            hovertemplate="no row in this cube: noise woke it (revealed)<extra></extra>",
            meta="revealed",
        )
    )
