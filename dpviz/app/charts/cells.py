"""Where things lie on a drawn plane: outlines of cells, tints by which neighbours differ, free places of numbers."""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from scipy.spatial import Voronoi

from dpviz.core import Array, Codes


def compute_voronoi_polygons(centers: Array, half: Array) -> list[Array]:
    """The cell of each centre (k, 2) within the box ``[-half, half]``, as closed polygons; copies share one cell.

    Mirror images of all centres behind the four walls make the walls themselves cell borders.
    """
    # A centre on a wall would coincide with its own image.
    inside = np.clip(centers, -half * (1 - 1e-6), half * (1 - 1e-6))
    sites, which = np.unique(inside.round(12), axis=0, return_inverse=True)
    left, down = np.array([-1.0, 1.0]), np.array([1.0, -1.0])
    wall = 2 * half * np.array([[1.0, 0.0], [0.0, 1.0]])
    images = [sites * left - wall[0], sites * left + wall[0], sites * down - wall[1], sites * down + wall[1]]
    diagram = Voronoi(np.concatenate([sites, *images]))
    polygons = [diagram.vertices[diagram.regions[diagram.point_region[i]]] for i in range(len(sites))]
    closed = []
    for polygon in polygons:
        order = np.argsort(np.arctan2(*(polygon - polygon.mean(axis=0)).T[::-1]))
        closed.append(np.clip(polygon[np.r_[order, order[:1]]], -half, half))
    return [closed[i] for i in which.ravel()]


def outline_boxes(low: Array, high: Array) -> Array:
    """Outlines of m boxes with corners ``low`` and ``high`` (m, 2), one polyline with gaps, shape (6 m, 2)."""
    x0, y0, x1, y1 = low[:, 0], low[:, 1], high[:, 0], high[:, 1]
    gap = np.full(len(low), np.nan)
    x = np.stack([x0, x1, x1, x0, x0, gap], axis=1)
    y = np.stack([y0, y0, y1, y1, y0, gap], axis=1)
    return np.column_stack([x.ravel(), y.ravel()])


def outline_circles(middles: Array, radii: Array, scale: Array) -> Array:
    """Outlines of ellipses around ``middles`` (m, 2): half-axes are ``radii`` (m,) or (m, 2) times ``scale`` (2,)."""
    angle = np.linspace(0, 2 * np.pi, 48)
    round_ = np.stack([np.cos(angle), np.sin(angle)], axis=1) * scale
    return join_outlines(list(middles[:, None, :] + radii.reshape(len(middles), 1, -1) * round_))


def outline_segments(start: Array, end: Array) -> Array:
    """Straight lines from ``start`` to ``end`` (m, d), one polyline with gaps, shape (3 m, d)."""
    return np.stack([start, end, np.full_like(start, np.nan)], axis=1).reshape(-1, start.shape[1])


def join_outlines(outlines: list[Array]) -> Array:
    """Several polylines as one, with a gap after each."""
    gap = np.full((1, 2), np.nan)
    return np.concatenate([part for outline in outlines for part in (outline, gap)]) if outlines else np.empty((0, 2))


COLORS = 4


def choose_hues(places: Array) -> Codes:
    """The colour (0 to 3) of each cell around ``places`` (k, 2), true to scale; copies of a place share one."""
    places = np.ascontiguousarray(places, dtype=np.float64)
    return np.array(_compute_hues(places.tobytes(), len(places)), dtype=np.int64)


def find_neighbours(places: Array) -> list[set[int]]:
    """The cells that each cell of different ``places`` (k, 2) shares a wall with."""
    near: list[set[int]] = [set() for _ in places]
    if len(places) < COLORS:
        walls = [(i, j) for i in range(len(places)) for j in range(i)]
    else:
        # Far corners keep the places from lying on one line, for which there is no diagram of the plane.
        far = 1e3 * np.array([[-1.0, -1.1], [1.2, -1.0], [1.0, 1.3], [-1.1, 1.0]])
        ridges = Voronoi(np.concatenate([places, far])).ridge_points
        walls = [(int(i), int(j)) for i, j in ridges if max(i, j) < len(places)]
    for i, j in walls:
        near[i].add(j)
        near[j].add(i)
    return near


def color_map(near: Sequence[set[int]]) -> list[int]:
    """A colour for each node of a planar graph, given by its neighbours, so that neighbours differ.

    The node with the most colours around it is next (DSATUR). Where all four are around it, one of them is driven away
    by exchanging two colours along a chain (Kempe 1879); where that fails, too, all begins anew in another order.
    """
    rng = np.random.default_rng(0)
    # How often the order in which cells are coloured is drawn anew where one has led nowhere.
    for _ in range(200):
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
    # Places closer than this part of the map are one place.
    sites, which = np.unique(scaled.round(9), axis=0, return_inverse=True)
    return tuple(map(color_map(find_neighbours(sites)).__getitem__, which.ravel()))


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
            edge = [i for i in near[node] if colors[i] == gone and other != gone]
            chain = set(edge)
            while edge:
                joined = {j for j in near[edge.pop()] if colors[j] in (gone, other)} - chain
                chain |= joined
                edge += joined
            if chain and not any(i in chain and colors[i] == other for i in near[node]):
                for i in chain:
                    colors[i] = gone + other - colors[i]
                return gone
    return None


# The eight places beside a mark, by their direction, up is positive.
_SIDES = {
    **{"top right": (1, 1), "top left": (-1, 1), "bottom right": (1, -1), "bottom left": (-1, -1)},
    **{"middle right": (1, 0), "middle left": (-1, 0), "top center": (0, 1), "bottom center": (0, -1)},
}


# Pixels that a usual picture has along an axis; and how many times as many the smallest, one more and the largest have.
_PIXELS, _TIMES = 420.0, np.array([1.0, 0.33, 0.55, 1.6])


class LabelBoxes:
    """What stands on a picture of drawn ranges ``low`` to ``high`` (2,) already: boxes in pixels around drawn places.

    A picture is as large as its window lets it be: what is apart in one may lie on each other in another.
    """

    def __init__(self, low: Array, high: Array) -> None:
        self._low, self._scale = low, _PIXELS / np.where(high > low, high - low, 1.0)
        self._places: list[Array] = []
        self._boxes: list[Array] = []

    def pixels(self, places: Array) -> Array:
        """Drawn places (m, 2) in pixels of a usual picture, up is positive."""
        return (places - self._low) * self._scale

    def takes(self, places: Array, size: float) -> None:
        """Marks of a diameter at drawn places (m, 2): no number may cover them."""
        self._places += [*self.pixels(places)]
        self._boxes += [np.array([-1, -1, 1, 1]) * size / 2] * len(places)

    def places(self, texts: list[str], places: Array, away: Array, *, size: float, font: float) -> list[str]:
        """Where at its mark each text stands, best towards ``away`` (m, 2), drawn units; "" where there is no room."""
        marks = zip(texts, self.pixels(places), away * self._scale, strict=True)
        return [self._place(text, at, to, size=size, font=font) for text, at, to in marks]

    def is_free(self, at: Array, box: Array, times: Array = _TIMES) -> bool:
        """Whether a box (left, bottom, right, top) around a place covers nothing in pictures of so many sizes."""
        if not self._boxes:
            return True
        taken = np.array(self._boxes)
        near = times[:, None, None] * (np.array(self._places) - at)
        return not ((near + taken[:, :2] < box[2:]) & (near + taken[:, 2:] > box[:2])).all(axis=2).any()

    def _place(self, text: str, at: Array, away: Array, *, size: float, font: float) -> str:
        # A digit is this part of the font size wide.
        reach, half = size / 1.6 + 1, np.array([0.6 * font * len(text), font]) / 2
        length = float(np.hypot(*away))
        toward = away / length if length > 0 else np.array([1.0, 1.0])
        order = sorted(_SIDES, key=lambda side: -float(np.dot(toward, _SIDES[side]) / np.hypot(*_SIDES[side])))
        middles = {side: np.array(_SIDES[side]) * (reach + half) for side in order}
        boxes = {side: np.r_[middle - half, middle + half] for side, middle in middles.items()}
        # Where no side is free in all sizes, one that is in a usual picture.
        for times in (_TIMES, _TIMES[:1]):
            for side, box in boxes.items():
                if self.is_free(at, box, times):
                    self._places.append(at)
                    self._boxes.append(box)
                    return side
        return ""
