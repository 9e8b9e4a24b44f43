"""k-means++: seeds that are drawn by their weighted squared distance to those before, from one start or from many.

All of it is free post-processing: what is seen here has been released, or is public.
"""

from __future__ import annotations

from math import log, sqrt

import numpy as np

from dpviz.algorithms.tools.leaves import split_into_leaves
from dpviz.core import Array, Codes

# From so many distances on it pays to list the points near a proposal, if that leaves out three in four.
_WORTH_A_LIST, _SHORT, _TILE = 2**18, 4, 2**15
# Far more than the rounding of a difference, of a square and of their sums.
_ROUNDING = 1e-9
# Half of the last bit of a number.
_HALF_BIT = 2.0**-53
# Starts advance together where there are so many clusters over few columns: most points lie in boxes, of so many
# points, that a proposal cannot reach.
_FEW_COLUMNS, _MANY_CLUSTERS, _LEAF = 3, 64, 64
# Masses are added up by parts of so many points.
_PART = 64
# Distances of points to boxes that are kept; and the part of all boxes from which on it pays to measure all points.
_MOST_APART, _MANY_BOXES = 2**23, 0.25


def draw_kmeans_pp_seeds(points: Array, weights: Array, k: int, rng: np.random.Generator) -> Codes:
    """Indices (k,) into ``points`` (m, d) of seeds drawn by greedy k-means++ with ``weights`` (m,).

    Negative weights count as 0; if none is positive, all points weigh the same. Of 2 + ln k proposals each seed takes
    the one that lowers the weighted loss most. Seeds are distinct points as long as there are k of positive weight.

    References
    ----------
    Arthur & Vassilvitskii 2007, §2.2 and §5 (the greedy variant).
    """
    weights = np.maximum(weights, 0.0)
    if not weights.any():
        weights = np.ones(len(points))
    trials = 2 + int(log(k))
    seeds = np.empty(k, dtype=np.int64)
    seeds[0] = _draw(weights, 1, rng)[0]
    field = _SeedField(points, seeds[0], trials)
    for i in range(1, k):
        proposals = _draw(weights * field.nearest, trials, rng)
        best = int(np.einsum("tm,m->t", field.propose(proposals), weights).argmin())
        field.accept(best)
        seeds[i] = proposals[best]
    return seeds


class _SeedField:
    """Squared distances of all points to the nearest seed, ``nearest`` (m,), while seeds are drawn.

    A proposal changes nothing for points farther along one axis than any point lies from its seed. With many seeds
    these are nearly all: only the others are measured, and the numbers are those that measuring all would give.
    """

    def __init__(self, points: Array, seed: int, trials: int) -> None:
        self._columns = np.ascontiguousarray(points.T)
        self._widest = int(np.ptp(self._columns, axis=1).argmax())
        line = self._columns[self._widest]
        self._order: Codes | None = None if (line[1:] >= line[:-1]).all() else np.argsort(line)
        self._line = line if self._order is None else line[self._order]
        self._rounding = _ROUNDING * float(np.abs(line).max())
        self.nearest: Array = _compute_squared_distances(self._columns, points[[seed]])[0]
        self._under: Array = np.empty((trials, len(points)))
        self._scratch: Array = np.empty((trials, max(1, _TILE // trials)))
        self._near: list[slice | Codes] = []
        self._in_step = False

    def propose(self, proposals: Codes) -> Array:
        """What ``nearest`` would be with each of ``proposals`` (t,); (t, m), overwritten by the next call."""
        at = self._columns.T[proposals]
        self._near = self._find_near(at[:, self._widest])
        if not self._near:
            self._measure_all(at)
            self._in_step = False
            return self._under
        if not self._in_step:
            self._under[:] = self.nearest
            self._in_step = True
        for under, some, point in zip(self._under, self._near, at, strict=True):
            (squared,) = _compute_squared_distances(self._columns[:, some], point[None])
            under[some] = np.minimum(squared, self.nearest[some])
        return self._under

    def _measure_all(self, at: Array) -> None:
        """Distances to points ``at`` (t, d), in memory that is there already: fresh one for each would take longer."""
        size = self._scratch.shape[1]
        for begin in range(0, len(self.nearest), size):
            part = slice(begin, begin + size)
            under = self._under[:, part]
            along = self._scratch[:, : under.shape[1]]
            for axis, (column, value) in enumerate(zip(self._columns, at.T, strict=True)):
                squared = along if axis else under
                np.subtract(column[part], value[:, None], out=squared)
                squared *= squared
                if axis:
                    under += squared
            np.minimum(under, self.nearest[part], out=under)

    def accept(self, best: int) -> None:
        """Take the proposal with this index."""
        if not self._near:
            self.nearest[:] = self._under[best]
            return
        changed = self._near[best]
        self.nearest[changed] = self._under[best, changed]
        self._under[:, changed] = self.nearest[changed]
        for under, some in zip(self._under, self._near, strict=True):
            under[some] = self.nearest[some]

    def _find_near(self, at: Array) -> list[slice | Codes]:
        """For each proposal, which lie ``at`` (t,) on the widest axis, the points that may lie nearer to it than to
        their seed; nothing where that is no short list."""
        if self._under.size < _WORTH_A_LIST:
            return []
        # Farther than that along one axis, rounding included, a squared distance is not below any of ``nearest``.
        reach = sqrt(float(self.nearest.max())) * (1 + _ROUNDING) + self._rounding
        first, last = np.searchsorted(self._line, at - reach), np.searchsorted(self._line, at + reach, side="right")
        if _SHORT * (last - first).sum() > self._under.size:
            return []
        ranges = [slice(*ends) for ends in zip(first.tolist(), last.tolist(), strict=True)]
        return [some if self._order is None else self._order[some] for some in ranges]


def _draw(mass: Array, size: int, rng: np.random.Generator) -> Codes:
    """Indices drawn in proportion to ``mass``, uniformly if there is none (fewer distinct points than seeds)."""
    cumulative = np.cumsum(mass)
    if cumulative[-1] <= 0:
        return rng.integers(0, len(mass), size)
    return _find_drawn(cumulative, rng.random(size))


def _find_drawn(cumulative: Array, coins: Array) -> Codes:
    """The places where ``coins``, uniform in [0, 1), fall among masses that add up to ``cumulative`` (m,)."""
    drawn: Codes = np.searchsorted(cumulative, coins * cumulative[-1], side="right")
    return np.minimum(drawn, len(cumulative) - 1)


def _compute_squared_distances(columns: Array, at: Array) -> Array:
    """Squared Euclidean distances of the points whose ``columns`` are (d, m) to those ``at`` (t, d); (t, m).

    Axis by axis: over few columns that is ten times as fast as a sum over the coordinates of each point.
    """
    squared: Array = columns[0] - at[:, :1]
    squared *= squared
    for column, value in zip(columns[1:], at.T[1:], strict=True):
        difference = column - value[:, None]
        difference *= difference
        squared += difference
    return squared


def draw_many_kmeans_pp_seeds(
    points: Array, weights: Array, k: int, starts: int, rng: np.random.Generator
) -> list[Codes]:
    """What ``draw_kmeans_pp_seeds`` draws, ``starts`` times over, from the same coins.

    Many clusters over few columns are drawn for all starts side by side: the same seeds, sooner.
    """
    if starts > 1 and k >= _MANY_CLUSTERS and points.shape[1] <= _FEW_COLUMNS:
        before = rng.bit_generator.state
        together = _SideBySide(points, weights, k, starts).draw(rng)
        if together is not None:
            return list(together)
        rng.bit_generator.state = before
    return [draw_kmeans_pp_seeds(points, weights, k, rng) for _ in range(starts)]


class _SideBySide:
    """Seeds of several starts, drawn one for each start at a time.

    What a proposal would save is added up over the boxes that it can reach. Where that leaves open which proposal
    saves most, since sums in another order are rounded otherwise, all points are measured as for a single start.
    """

    def __init__(self, points: Array, weights: Array, k: int, starts: int) -> None:
        weights = np.maximum(weights, 0.0)
        self._weights = weights if weights.any() else np.ones(len(points))
        self._k, self._starts, self._trials = k, starts, 2 + int(log(k))
        self._columns = np.ascontiguousarray(points.T)
        self._members = split_into_leaves(points.T, max(_LEAF, len(points) ** 2 // _MOST_APART))
        inside = self._columns[:, self._members]
        self._inside = np.ascontiguousarray(inside)
        # A point that fills up a second leaf saves nothing there.
        once = np.zeros(self._members.size)
        once[np.unique(self._members, return_index=True)[1]] = 1.0
        self._weights_inside = self._weights[self._members] * once.reshape(self._members.shape)
        self._apart = _measure_boxes(self._columns, inside.min(axis=2), inside.max(axis=2))

    def draw(self, rng: np.random.Generator) -> Codes | None:
        """Seeds of all starts, (starts, k); None where points ran out, as coins are then used otherwise."""
        m, starts, trials = len(self._weights), self._starts, self._trials
        coins = rng.random((starts, 1 + (self._k - 1) * trials))
        seeds = np.empty((starts, self._k), dtype=np.int64)
        seeds[:, 0] = _find_drawn(np.cumsum(self._weights), coins[:, 0])
        nearest = _compute_squared_distances(self._columns, self._columns.T[seeds[:, 0]])
        self._nearest: Array = nearest[:, self._members]
        self._farthest: Array = self._nearest.max(axis=2)
        # Zeros fill up the last part.
        self._mass: Array = np.zeros((starts, m + -m % _PART))
        self._mass[:, :m] = nearest * self._weights
        for i in range(1, self._k):
            sums = np.cumsum(self._mass.reshape(starts, -1, _PART) @ np.ones(_PART), axis=1)
            if not sums[:, -1].all():
                return None
            proposals = self._draw_proposals(sums, coins[:, 1 + (i - 1) * trials : 1 + i * trials])
            seeds[:, i] = self._take_best(proposals, sums[:, -1])
        return seeds

    def _draw_proposals(self, sums: Array, coins: Array) -> Codes:
        """Where ``coins`` (starts, trials) fall among masses, whose parts add up to ``sums`` (starts, parts).

        Where the rounding of sums in another order than that of one start might decide, they are added up in that.
        """
        each = np.arange(len(sums))[:, None]
        level = coins * sums[:, -1:]
        part = np.count_nonzero(sums[:, None] <= level[..., None], axis=2)
        np.minimum(part, sums.shape[1] - 1, out=part)
        # Sums before each point of the part, and after the last one.
        steps = np.empty((*part.shape, _PART + 1))
        steps[..., 0] = np.where(part > 0, sums[each, part - 1], 0.0)
        steps[..., 1:] = self._mass.reshape(len(sums), -1, _PART)[each, part]
        np.cumsum(steps, axis=2, out=steps)
        away = np.abs(steps - level[..., None]).min(axis=2)
        drawn: Codes = part * _PART + np.count_nonzero(steps <= level[..., None], axis=2) - 1
        for s in np.flatnonzero((away <= self._bound_rounding(sums[:, -1:])).any(axis=1)):
            drawn[s] = _find_drawn(np.cumsum(self._mass[s, : len(self._weights)]), coins[s])
        return drawn

    def _bound_rounding(self, totals: Array) -> Array:
        """More than the rounding of two sums of masses that add up to ``totals``, and of what is compared with them."""
        # A sum of m numbers, none negative, is wrong by at most m half bits of it (Higham 2002, §4.2).
        return 4 * (len(self._weights) + 8) * _HALF_BIT * totals

    def _take_best(self, proposals: Codes, totals: Array) -> Codes:
        """Of the ``proposals`` (starts, trials) those that save most, (starts,), which are seeds from now on."""
        starts, trials = proposals.shape
        reached = self._apart[proposals] < self._farthest[:, None]
        many = np.count_nonzero(reached.reshape(starts, -1), axis=1) > _MANY_BOXES * trials * len(self._members)
        reached[many] = False
        flat, box = np.divmod(np.flatnonzero(reached), len(self._members))
        start, at = flat // trials, self._columns[:, proposals.ravel()[flat]]
        squared = self._measure_inside(box, at)
        before = self._nearest[start, box]
        np.minimum(squared, before, out=squared)
        saved = np.einsum("pm,pm->p", np.subtract(before, squared, out=before), self._weights_inside[box])
        savings = np.bincount(flat, saved, proposals.size).reshape(starts, trials)
        best, each = savings.argmax(axis=1), np.arange(starts)
        taken: Codes = proposals[each, best]
        clear = savings[each, best] - self._bound_rounding(totals)
        open_ = many | ((savings >= clear[:, None]) & (proposals != taken[:, None])).any(axis=1)
        chosen = ~open_[start] & (flat % trials == best[start])
        self._update(start[chosen], box[chosen], squared[chosen])
        for s in np.flatnonzero(open_).tolist():
            taken[s] = self._take_best_of_one(s, proposals[s])
        return taken

    def _measure_inside(self, box: Codes, at: Array) -> Array:
        """Squared distances of the points of each ``box`` (p,) to a point ``at`` (d, p) each; (p, points in a box)."""
        squared: Array = self._inside[0][box]
        squared -= at[0][:, None]
        squared *= squared
        for inside, value in zip(self._inside[1:], at[1:], strict=True):
            difference = inside[box]
            difference -= value[:, None]
            difference *= difference
            squared += difference
        return squared

    def _update(self, start: Codes, box: Codes, nearest: Array) -> None:
        self._nearest[start, box] = nearest
        self._farthest[start, box] = nearest.max(axis=1)
        members = self._members[box]
        self._mass[start[:, None], members] = nearest * self._weights[members]

    def _take_best_of_one(self, start: int, proposals: Codes) -> int:
        """The same of one start, with all points measured and added up in their order."""
        nearest = np.empty(len(self._weights))
        nearest[self._members] = self._nearest[start]
        under = np.minimum(_compute_squared_distances(self._columns, self._columns.T[proposals]), nearest)
        best = int(np.einsum("tm,m->t", under, self._weights).argmin())
        self._nearest[start] = under[best][self._members]
        self._farthest[start] = self._nearest[start].max(axis=1)
        self._mass[start, : len(self._weights)] = under[best] * self._weights
        return int(proposals[best])


def _measure_boxes(columns: Array, low: Array, high: Array) -> Array:
    """At most the squared distance of each point to each box between corners ``low`` and ``high`` (d, b); (m, b)."""
    apart: Array = np.empty((columns.shape[1], low.shape[1]))
    for begin in range(0, len(apart), _TILE // 64):  # few points at a time, so that temporary numbers stay in the cache
        some = apart[begin : begin + _TILE // 64]
        some[:] = 0.0
        for column, least, most in zip(columns[:, begin : begin + len(some), None], low, high, strict=True):
            beyond = np.maximum(least - column, column - most)
            np.maximum(beyond, 0.0, out=beyond)
            beyond *= beyond
            some += beyond
        some *= 1 - _ROUNDING
    return apart
