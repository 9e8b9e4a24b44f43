"""Which of four colours a cell has, so that neighbours differ: a colouring of the map, for any number of cells."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from scipy.spatial import Voronoi

from dpviz.core import Array, Codes

COLORS = 4
# How often the order in which cells are coloured is drawn anew where one has led nowhere.
_TRIES = 200
# Places closer than this part of the map are one place.
_SAME = 9


def choose_hues(places: Array) -> Codes:
    """The colour (0 to 3) of each cell around ``places`` (k, 2), true to scale; copies of a place share one."""
    places = np.ascontiguousarray(places, dtype=np.float64)
    return np.array(_compute_hues(places.tobytes(), len(places)), dtype=np.int64)


def find_neighbours(places: Array) -> list[set[int]]:
    """The cells that each cell of different ``places`` (k, 2) shares a wall with."""
    near: list[set[int]] = [set() for _ in places]
    for i, j in _find_walls(places):
        near[i].add(j)
        near[j].add(i)
    return near


def color_map(near: Sequence[set[int]]) -> list[int]:
    """A colour for each node of a planar graph, given by its neighbours, so that neighbours differ.

    The node with the most colours around it is next (DSATUR). Where all four are around it, one of them is driven away
    by exchanging two colours along a chain (Kempe 1879); where that fails, too, all begins anew in another order.
    """
    rng = np.random.default_rng(0)
    for _ in range(_TRIES):
        colors = _try_coloring(near, rng.permutation(len(near)).tolist())
        if colors is not None:
            return colors
    return [node % COLORS for node in range(len(near))]


@lru_cache(maxsize=64)
def _compute_hues(places: bytes, k: int) -> tuple[int, ...]:
    drawn = np.frombuffer(places).reshape(k, 2)
    if k == 0:
        return ()
    scaled = (drawn - drawn.min(axis=0)) / (float(np.ptp(drawn, axis=0).max()) or 1.0)
    sites, which = np.unique(scaled.round(_SAME), axis=0, return_inverse=True)
    colors = color_map(find_neighbours(sites))
    return tuple(colors[i] for i in which.ravel())


def _find_walls(places: Array) -> list[tuple[int, int]]:
    if len(places) < COLORS:
        return [(i, j) for i in range(len(places)) for j in range(i)]
    # Far corners keep the places from lying on one line, for which there is no diagram of the plane.
    far = 1e3 * np.array([[-1.0, -1.1], [1.2, -1.0], [1.0, 1.3], [-1.1, 1.0]])
    ridges = Voronoi(np.concatenate([places, far])).ridge_points
    return [(int(i), int(j)) for i, j in ridges if max(i, j) < len(places)]


def _try_coloring(near: Sequence[set[int]], order: list[int]) -> list[int] | None:
    colors = [-1] * len(near)
    around: list[set[int]] = [set() for _ in near]
    left = dict.fromkeys(order)
    used = [0] * COLORS
    while left:
        node = max(left, key=lambda i: (len(around[i]), len(near[i])))
        del left[node]
        free = set(range(COLORS)) - around[node]
        if not free:
            color = _drive_away(near, colors, node)
            if color is None:
                return None
            around = [{colors[j] for j in some if colors[j] >= 0} for some in near]
        else:
            # The rarest of them, so that no colour rules the map.
            color = min(free, key=lambda c: (used[c], c))
        colors[node] = color
        used[color] += 1
        for j in near[node]:
            around[j].add(color)
    return colors


def _drive_away(near: Sequence[set[int]], colors: list[int], node: int) -> int | None:
    """A colour that no neighbour of ``node`` has any longer, after two colours were exchanged along chains."""
    for gone in range(COLORS):
        for other in range(COLORS):
            starts = [i for i in near[node] if colors[i] == gone]
            chain = _find_chain(near, colors, starts, {gone, other}) if other != gone else set()
            if chain and not any(i in chain and colors[i] == other for i in near[node]):
                for i in chain:
                    colors[i] = gone + other - colors[i]
                return gone
    return None


def _find_chain(near: Sequence[set[int]], colors: list[int], starts: list[int], pair: set[int]) -> set[int]:
    chain, edge = set(starts), list(starts)
    while edge:
        for j in near[edge.pop()]:
            if colors[j] in pair and j not in chain:
                chain.add(j)
                edge.append(j)
    return chain
