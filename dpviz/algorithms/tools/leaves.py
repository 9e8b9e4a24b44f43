"""Points in boxes of equally many that lie close together: most centres are ruled out for a whole box at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dpviz.core import Array, Codes

Single = npt.NDArray[np.float32]

# Numbers that are compared at a time: they stay in the cache.
_CACHED = 2**17
# Groups of centres, of which the two nearest say how far centres matter.
_GROUPS = 8
# Far more than the rounding of a square root and of a sum in double precision.
_ROUNDED_UP = 1 + 1e-9
# Half of the last bit of a float in single precision.
_HALF_BIT = 2.0**-24


class Nearest(NamedTuple):
    """For each point of some leaves, (m,) each: its number, its nearest centre, and its affinity to that and the next.

    The affinity of x to c is x·c - |c|²/2: the larger, the nearer.
    """

    points: Codes
    labels: Codes
    best: Single
    second: Single


@dataclass(frozen=True, eq=False)
class Leaves:
    """Leaves of a tree that halves the points (m, d) along the widest axis of each box, again and again.

    ``members`` (leaves, size) are the points of each leaf, some in two leaves where they do not suffice, and
    ``points`` (leaves, size, d) their unit coordinates; none lies farther than ``radii`` (leaves,) from ``middles``
    (leaves, d), the middle of the box around its leaf.
    """

    members: Codes
    points: Single
    middles: Array
    radii: Array
    longest: float

    @classmethod
    def of(cls, columns: Single, size: int) -> Leaves:
        """Of points given as ``columns`` (d, m), unit coordinates, about ``size`` in a leaf."""
        members = split_into_leaves(columns, size)
        points = np.ascontiguousarray(columns.T[members])
        middles = (points.min(axis=1).astype(np.float64) + points.max(axis=1)) / 2
        radii = np.sqrt(((points - middles[:, None]) ** 2).sum(axis=2).max(axis=1)) * _ROUNDED_UP
        return cls(members, points, middles, radii, float(np.sqrt((columns.astype(np.float64) ** 2).sum(axis=0).max())))

    def find_nearest(self, centers: Single, half_norms: Single, which: Codes) -> Iterator[Nearest]:
        """The two nearest of all ``centers`` (k, d), 8 or more, for the points of the leaves ``which``, some at a time.

        A centre is left out where two others are nearer to every point of the leaf, by more than single precision may
        be wrong: what is found is what comparing all centres finds, the first of equals included.
        """
        kept = self._keep_candidates(centers, half_norms, which)
        counts = np.add.reduce(kept, axis=1, dtype=np.int64)
        leaf, center = np.divmod(np.flatnonzero(kept), len(centers))
        # One more centre, which is nearest to nothing, fills up the shorter lists.
        candidates = np.full((len(which), int(counts.max())), len(centers))
        candidates[leaf, np.arange(len(leaf)) - (np.cumsum(counts) - counts)[leaf]] = center
        every = np.concatenate([centers, np.zeros_like(centers[:1])])
        norms = np.append(half_norms, np.float32(np.inf))
        by_length, size = np.argsort(counts, kind="stable"), self.members.shape[1]
        while len(by_length):
            longest = int(counts[by_length[-1]])
            some = by_length[-max(1, _CACHED // (size * longest)) :]
            by_length = by_length[: -len(some)]
            names = candidates[some, :longest]
            affinity = np.matmul(self.points[which[some]], every[names].transpose(0, 2, 1))
            affinity -= norms[names][:, None]
            flat = affinity.reshape(-1, longest)
            first, each = flat.argmax(axis=1), np.arange(len(flat))
            best = flat[each, first]
            flat[each, first] = -np.inf
            labels = names[each // size, first]
            yield Nearest(self.members[which[some]].ravel(), labels, best, flat[each, flat.argmax(axis=1)])

    def _keep_candidates(self, centers: Single, half_norms: Single, which: Codes) -> npt.NDArray[np.bool_]:
        """Which centres may be among the two nearest to a point of each of the leaves; (leaves, k)."""
        middles, radii = self.middles[which], self.radii[which]
        # Half a squared distance to the middle of a leaf, but for the part that is the same for all centres.
        far = np.matmul(middles.astype(np.float32), -centers.T)
        far += half_norms
        # The nearest centres of two groups are two centres.
        groups = far[:, : len(centers) // _GROUPS * _GROUPS].reshape(len(far), _GROUPS, -1)
        two = np.partition(np.minimum.reduce(groups, axis=2), 1, axis=1)[:, 1].astype(np.float64)
        dim, longest = centers.shape[1], max(self.longest, float(np.sqrt(2 * half_norms.max())))
        # No affinity is wrong by more; nor are these numbers, whose leaves' middles are rounded, too.
        error = (dim + 8) * _HALF_BIT * (2 * longest**2)
        norms = (middles**2).sum(axis=1)
        reach = np.sqrt(np.maximum(2 * (two + error) + norms, 0)) + radii
        reach = np.sqrt(reach**2 + 4 * error) * _ROUNDED_UP + radii
        limit = (reach**2 - norms) / 2 + error
        return np.asarray(far <= np.nextafter(limit.astype(np.float32), np.float32(np.inf))[:, None])


def split_into_leaves(columns: npt.NDArray[np.floating], size: int) -> Codes:
    """Points, ``columns`` (d, m), in leaves of half of ``size`` to ``size``; some stand twice so that all are full."""
    m, leaves = columns.shape[1], 1
    while leaves * size < m:
        leaves *= 2
    members = np.resize(np.arange(m), (1, -(-m // leaves) * leaves))
    while len(members) < leaves:
        inside = columns[:, members]
        along = inside[np.ptp(inside, axis=2).argmax(axis=0), np.arange(len(members))]
        members = np.take_along_axis(members, along.argsort(axis=1, kind="stable"), axis=1)
        members = members.reshape(2 * len(members), -1)
    return members
