"""Sizes of clusters as a finished run tells them, from everything that it released, to whoever has no rows.

Rounds count the same clusters again, as long as their centres stay. Where centres still move, earlier counts are off by
more than their noise. How much is seen in how far they lie from the last count, over all clusters.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, sqrt
from typing import NamedTuple

import numpy as np
from scipy.spatial import cKDTree

from dpviz.algorithms.steps import CentersStep, GridStep, Step
from dpviz.core import Array, Codes, Flags
from dpviz.words import NINE_IN_TEN, format_noisy

CLEAR = 3.0
"""A size below so many standard deviations may be nobody's."""


# When sizes of several steps are one estimate.
# Chosen by hand; ``benchmarks/cluster_sizes.py`` says what they are worth.

_FAR_MOVE = 0.5  # a centre that moves farther than this part of the way to its neighbour counts another cluster
_MOVED_PART = 0.7  # of a cluster's rows that pass a border as its centre moves the whole way to its neighbour
_SD_MARGIN = 1.3  # what is estimated of how far a source is off rests on k clusters: sds are so much wider


_TINY = 1e-12


class Sizes(NamedTuple):
    """Estimates of how many ``rows`` (k,) are nearest to each centre, and what they are off by, as two sds (k,).

    ``sd`` is that of noise; NaN where nobody can tell. ``moved`` is that of rows on borders: of those that came or went
    as centres moved after they had been counted.
    """

    rows: Array
    sd: Array
    moved: Array | float = 0.0

    @classmethod
    def publish(cls, rows: Array, sd: Array, moved: Array | float = 0.0) -> Sizes:
        """What leaves of estimates: whole rows, and none below 0."""
        return cls(np.rint(np.maximum(rows, 0.0)), sd, moved)

    def select(self, which: Codes) -> Sizes:
        """Those of some clusters (m,), in that order."""
        return Sizes(self.rows[which], self.sd[which], np.broadcast_to(self.moved, self.sd.shape)[which])

    @property
    def known(self) -> bool:
        """Whether their noise is."""
        return bool(np.isfinite(self.sd).all())

    @property
    def error(self) -> Array:
        """The sd of all that they are off by, (k,)."""
        return np.asarray(np.hypot(self.sd, self.moved))

    @property
    def reach(self) -> Array:
        """What stands behind a ±, (k,)."""
        return NINE_IN_TEN * self.error

    @property
    def low(self) -> Array:
        """Lower ends of intervals that hold nine sizes in ten, at least 0; (k,)."""
        return (self.rows - self.reach).clip(min=0.0)

    @property
    def high(self) -> Array:
        """Upper ends of intervals that hold nine sizes in ten, (k,)."""
        return self.rows + self.reach

    @property
    def words(self) -> list[str]:
        """Each of them as it is written everywhere."""
        told = zip(self.rows.tolist(), self.reach.tolist(), strict=True)
        return [format_noisy(*one, whole=True, within=(0.0 if one[0] >= 0 else -inf, inf)) for one in told]

    @property
    def total(self) -> Sizes:
        """Of all clusters together, (1,)."""
        return Sizes(self.rows.sum(keepdims=True), np.sqrt((self.sd**2).sum(keepdims=True)))

    @property
    def unclear(self) -> Flags:
        """Which of them may be noise alone, (k,)."""
        return self.rows < CLEAR * self.sd

    def widen(self, noise: Array) -> Array:
        """The ``noise`` of means, (k,) or (k, d), over the fewest rows that are plausible; infinite where it is nobody.

        It is said over noisy sizes, and ``CLEAR`` sds below one of them it is so much larger. Beside sizes whose noise
        is not known it stays as it is.
        """
        if not self.known:
            return noise
        least = self.rows - CLEAR * self.sd
        kept = least > 0
        factor = np.where(kept, self.rows / np.where(kept, least, 1.0), 1.0)
        each = (-1, *[1] * (noise.ndim - 1))
        return np.where(kept.reshape(each), noise * factor.reshape(each), np.inf)


def combine_sizes(counts: Sequence[Array], variances: Sequence[Array]) -> Sizes:
    """Several counts (k,) of the same clusters together, weighed by the inverse of the ``variances`` of their noise.

    The first is the one that is not off: the others are taken to be off by how far they lie from it.
    """
    first, of_first = counts[0], variances[0]
    # The variance of each beyond its own, by how far it lies from the first, over all clusters.
    beyond = [((rows - first) ** 2 - own - of_first).mean() for rows, own in zip(counts, variances, strict=True)]
    off = [0.0, *(max(0.0, float(more)) for more in beyond[1:])]
    weights = 1 / np.maximum([own + more for own, more in zip(variances, off, strict=True)], _TINY)
    whole = weights.sum(axis=0)
    return Sizes((weights * np.array(counts)).sum(axis=0) / whole, _SD_MARGIN / np.sqrt(whole))


def estimate_sizes(steps: Sequence[Step]) -> Sizes | None:
    """Sizes of the clusters of a finished run, by its last rounds or by the grid that it was solved on.

    None where the noise on them is not known.

    **Guarantee.** Post-processing of released values.
    """
    last = steps[-1] if steps else None
    if not isinstance(last, CentersStep) or last.noisy_counts is None:
        return None
    if last.count_noise_sd is None:
        # By the noise of the cells next to each centre, and by cells on a border: of rows in one that lies right on it
        # half may be the other's, of rows farther from it fewer.
        grid = next((step for step in reversed(steps) if type(step) is GridStep), None)
        if grid is None or len(grid.grid.half) != last.centers.shape[1]:
            return None
        k, side = len(last.centers), sqrt(12 * grid.grid.spread_in_cell / len(grid.grid.half))
        apart, nearest = map(np.asarray, cKDTree(last.centers).query(grid.grid.centers(grid.codes), k=[1, 2]))
        either = grid.noisy_counts * np.maximum(1 - (apart[:, 1] - apart[:, 0]) / side, 0.0) / 2
        noise = float(grid.sd) ** 2 * np.maximum(np.bincount(nearest[:, 0], minlength=k), 1)
        either = np.sqrt(np.bincount(nearest.ravel(), np.repeat(either**2, 2), k)[:k])
        return Sizes(last.noisy_counts, np.sqrt(noise), either)
    rounds = _find_last_rounds(steps, last)
    counts = [step.noisy_counts for step in rounds if step.noisy_counts is not None]
    variances = [np.full(len(last.centers), float(step.count_noise_sd or 0.0) ** 2) for step in rounds]
    found = Sizes(counts[0], np.sqrt(variances[0])) if len(rounds) == 1 else combine_sizes(counts, variances)
    if last.previous is None:
        return found
    # The last count is of the rows nearest to where centres were before the last step.
    far = np.linalg.norm(last.centers - last.previous, axis=1) / np.maximum(measure_neighbour_gaps(last.centers), _TINY)
    return found._replace(moved=_MOVED_PART * np.maximum(found.rows, 0.0) * np.minimum(far, 1.0))


def _find_last_rounds(steps: Sequence[Step], last: CentersStep) -> list[CentersStep]:
    """The rounds from the end back that counted about the same cells: centres that stayed nearer than half-way."""
    gaps, rounds = measure_neighbour_gaps(last.centers), [last]
    for step in reversed(steps[:-1]):
        if not isinstance(step, CentersStep) or type(step) is not type(last):
            break
        if step.noisy_counts is None or not step.count_noise_sd or step.centers.shape != last.centers.shape:
            break
        if (np.linalg.norm(step.centers - last.centers, axis=1) > _FAR_MOVE * gaps).any():
            break
        rounds.append(step)
    return rounds


def measure_neighbour_gaps(centers: Array) -> Array:
    """Distance of each of the centres (k, d) to its nearest neighbour, shape (k,); infinite for a lone one."""
    squared = ((centers[:, None, :] - centers[None, :, :]) ** 2).sum(axis=2)
    np.fill_diagonal(squared, np.inf)
    return np.asarray(np.sqrt(squared.min(axis=1)))
