"""The cubes of a partition tree on the plane: cut at the domain, veiled where they are new, hatched where asleep."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dpviz.algorithms import Step, TreeStep
from dpviz.app.charts.cells import outline_boxes
from dpviz.app.charts.picture import RenderContext
from dpviz.app.charts.plot_canvas import PlotCanvas
from dpviz.app.charts.view import View
from dpviz.core import Array, Codes, CubeTree

# Outlines of one level that a picture can carry.
_DRAWN_AT_MOST = 3000
# In one dimension levels lie below each other; these many rows are kept free for them.
_ROWS_OF_LEVELS = 12
# How strong the newest level is veiled, and those before it.
_VEILS = (0.34, 0.13, 0.07)
# New cubes wider than this part of the picture are veiled less, so that rows under them keep their colour.
_SMALL = 0.12
# Rims of the newest level and of others, in pixels.
_RIM, _HAIRLINE = 1.8, 0.8


class Boxes(NamedTuple):
    """Lower and upper corners of boxes (m, 2), drawn units."""

    low: Array
    high: Array


def count_levels(tree: CubeTree) -> list[int]:
    """Active cubes of levels 0, 1, ..., as many as the tree is deep."""
    return [1, *(len(keys) for keys in tree.levels)]


def find_drawn_boxes(tree: CubeTree, level: int, view: View) -> Boxes:
    """The active cubes of a level on the plane, cut at the domain, in their order.

    Parameters
    ----------
    tree : CubeTree
        The released tree.
    level : int
        From the root.
    view : View
        The plane of the picture.

    Returns
    -------
    Boxes
        Drawn units.
    """
    return _make_boxes(tree.corners(level), tree.edge(level), level, tree.depth, view)


def assign_rows(tree: CubeTree, rows: Array) -> list[Array]:
    """How many ``rows`` (n, p) each active cube truly holds, by level from the root.

    Parameters
    ----------
    tree : CubeTree
        The released tree.
    rows : array of shape (n, p)
        Revealed, in the projection.

    Returns
    -------
    list of int arrays
        One for each level, rows.
    """
    held, node = [np.array([float(len(rows))])], np.zeros(len(rows), dtype=np.int64)
    bit = np.int64(1) << np.arange(tree.dim, dtype=np.int64)
    for level, keys in enumerate(tree.levels, start=1):
        edge = tree.edge(level)
        key = (node << tree.dim) | ((rows >= tree.corners(level - 1)[node] + edge) @ bit)
        place = np.minimum(np.searchsorted(keys, key), max(0, len(keys) - 1))
        alive = keys[place] == key if len(keys) else np.zeros(len(key), dtype=np.bool_)
        rows, node = rows[alive], place[alive]
        held.append(np.bincount(node, minlength=len(keys)).astype(np.float64))
    return held


def count_truly_held(context: RenderContext, step: TreeStep) -> list[Array] | None:
    """How many revealed rows each active cube holds, by level from the root; None unless rows are handed over.

    Parameters
    ----------
    context : RenderContext
        What all pictures of a run share.
    step : TreeStep
        The step that is shown.

    Returns
    -------
    list of int arrays or None
        One for each level, rows.
    """
    if context.reveal is None or context.reveal.everyone is None:
        return None
    # A tree only grows: the last one of a run answers for those before.
    grown = [other for other in context.steps if type(other).__name__ == "TreeStep" and _is_same(other, step)]
    last = grown[-1] if any(other is step for other in grown) else step
    assert isinstance(last, TreeStep)

    def count() -> list[Array]:
        rows = context.find_rows(step.region, step.frame)
        assert rows is not None
        return assign_rows(last.tree, rows)

    return context.once(("held", id(last)), count)[: step.tree.depth + 1]


def _is_same(other: Step, step: TreeStep) -> bool:
    return isinstance(other, TreeStep) and other.shift == step.shift


def add_nest(canvas: PlotCanvas, tree: CubeTree, *, strength: float = 1.0) -> None:
    """Active cubes of all levels: the last three veiled, older ones hairlines, the newest with a rim.

    At less than full ``strength`` they lie under something else, and the newest has no rim.

    Parameters
    ----------
    canvas : PlotCanvas
        Where marks are put.
    tree : CubeTree
        The released tree.
    strength : float
        Of the colour; 1 is full.
    """
    for level in range(tree.depth + 1):
        newest, age = level == tree.depth and strength == 1, tree.depth - level
        low, high = _drop_repeated(find_drawn_boxes(tree, level, canvas.view))
        if not len(low):
            continue
        veil = _VEILS[age] * strength if age < len(_VEILS) and level else 0.0
        if age == 0:
            widest = float((high - low)[:, 0].max() / np.ptp(canvas.view.extent[0]))
            veil *= min(1.0, _SMALL / widest)
        fill = canvas.color("released", round(veil, 4)) if veil else ""
        rim = 1.0 if newest else (0.16 + 0.34 * level / max(1, tree.depth)) * strength
        name = "" if level < tree.depth or not tree.depth else "awake: stronger is deeper"
        width = _RIM if newest else _HAIRLINE
        canvas.lines(outline_boxes(low, high), name, "released", strength=round(rim, 4), width=width, fill=fill)


def add_asleep(canvas: PlotCanvas, tree: CubeTree) -> None:
    """The cubes that the last level asked and that stayed asleep, where all of them did that lie behind each other.

    Parameters
    ----------
    canvas : PlotCanvas
        Where marks are put.
    tree : CubeTree
        The released tree.
    """
    asked = _drop_repeated(find_asleep_boxes(tree, canvas.view))
    if not len(asked.low):
        return
    hatch = {
        **{"shape": "/", "fillmode": "overlay", "size": 7, "solidity": 0.12},
        **{"fgcolor": canvas.palette.public, "fgopacity": 0.3, "bgcolor": canvas.palette.background},
    }
    name, rim = "asked, stayed asleep", canvas.color("public", 0.3)
    nothing, outlines = canvas.color("public", 0.02), outline_boxes(*asked)
    canvas.lines(outlines, name, "released", color=rim, width=0.6, fill=nothing, trace={"fillpattern": hatch})


def find_asleep_boxes(tree: CubeTree, view: View) -> Boxes:
    """Where the last level asked cubes and none woke up; each place of the plane once.

    Parameters
    ----------
    tree : CubeTree
        The released tree.
    view : View
        The plane of the picture.

    Returns
    -------
    Boxes
        Drawn units.
    """
    if tree.depth == 0:
        return Boxes(np.zeros((0, 2)), np.zeros((0, 2)))
    edge, axes = tree.edge(tree.depth), list(view.axes or (0,))
    parents = _find_first(tree.corners(tree.depth - 1)[:, axes])
    above = tree.corners(tree.depth - 1)[parents]
    children = []
    for bits in range(1 << len(axes)):
        corner = above.copy()
        corner[:, axes] += edge * np.array([bits >> j & 1 for j in range(len(axes))])
        children.append(corner)
    asked = np.concatenate(children)
    awake = {tuple(place) for place in tree.corners(tree.depth)[:, axes].round(9)}
    asleep = np.array([tuple(place) not in awake for place in asked[:, axes].round(9)], dtype=np.bool_)
    return _make_boxes(asked[asleep], edge, tree.depth, tree.depth, view)


def _make_boxes(corner: Array, edge: float, level: int, depth: int, view: View) -> Boxes:
    low, high = view.plane(corner), view.plane(corner + edge)
    first, last = np.array(view.extent).T
    low, high = np.clip(low, first, last), np.clip(high, first, last)
    if view.flat:
        rows = max(_ROWS_OF_LEVELS, depth + 1)
        low[:, 1], high[:, 1] = 1 - (2 * level + 1.4) / rows, 1 - 2 * level / rows
    return Boxes(low, high)


def _drop_repeated(found: Boxes) -> Boxes:
    """Each outline that is not cut away once; evenly picked ones where there are too many."""
    seen = (found.high > found.low).all(axis=1)
    low, high = found.low[seen], found.high[seen]
    first = _find_first(np.column_stack([low, high]))
    if len(first) > _DRAWN_AT_MOST:
        first = first[np.linspace(0, len(first) - 1, _DRAWN_AT_MOST).astype(np.int64)]
    return Boxes(low[first], high[first])


def _find_first(places: Array) -> Codes:
    first: Codes = np.unique(places.round(9), axis=0, return_index=True)[1].astype(np.int64)
    return first
