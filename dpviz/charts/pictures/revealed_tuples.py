"""Tuples behind a test of them, from revealed rows: the rows themselves, or models of blocks that public coins deal."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpviz.algorithms.cohen2021.tested_tuples import TupleTestStep
from dpviz.arrays import Array
from dpviz.charts.wording import clauses
from dpviz.privacy.block_models import BlockKMeans
from dpviz.privacy.tuples.partition_test import count_misfits
from dpviz.table.domain import Region

# More given tuples than this are counted by a part of them.
_MOST = 200_000
# Beyond this many radii a distance is drawn at the edge.
FARTHEST = 1e4


@dataclass(frozen=True, eq=False)
class RevealedTuples:
    """Revealed tuples, and those of them that public coins try.

    Which tuples the test itself tried stays secret; of blocks, so does the split.

    Parameters
    ----------
    tuples : array of shape (n_t, k, d)
        Unit coordinates.
    misfits : array of shape (m,)
        Of the tried tuples, which are the first ones; scaled up where only a part of the tuples is here.
    one : array of shape (k, d)
        The tried tuple of median misfits.
    far : float
        Δ.
    about : str
        Where they come from, for a subtitle.
    """

    tuples: Array
    misfits: Array
    one: Array
    far: float
    about: str

    @classmethod
    def of(cls, step: TupleTestStep, points: Array, region: Region) -> RevealedTuples:
        """The tuples of revealed ``points`` (n, d), those that rows stand for, by public coins."""
        k, dim = step.anchors.shape
        rng, clipped = np.random.default_rng(step.salt), region.clip(points)
        if step.given:
            rows = clipped.reshape(-1, k, dim)
            tuples = rows[rng.permutation(len(rows))[:_MOST]]
            few = f"counted on {len(tuples):,} of {len(rows):,}" if len(tuples) < len(rows) else ""
            about = clauses("the revealed tuples; which of them were tried stays secret", few)
        else:
            block = rng.integers(0, step.number, len(points))
            model = BlockKMeans(step.anchors, match=False, salt=step.salt)
            tuples = model.fit(clipped, block, step.number).reshape(step.number, k, dim)
            about = "recomputed from the revealed rows: another split than the secret one"
        tried = tuples[: max(1, step.sampled)]
        misfits = np.array([count_misfits(one, tuples, step.far) for one in tried], dtype=np.float64)
        chosen = int(np.argsort(misfits, kind="stable")[len(misfits) // 2])
        return cls(tuples, misfits * (step.number / len(tuples)), tried[chosen], step.far, about)

    @property
    def radii(self) -> Array:
        """Of the balls around ``one``, shape (k,)."""
        gaps = np.linalg.norm(self.one[:, None] - self.one, axis=2)
        np.fill_diagonal(gaps, np.inf)
        radii: Array = np.maximum(gaps.min(axis=1) / self.far, 1e-300)
        return radii

    @property
    def offsets(self) -> Array:
        """For each tuple and ball, its nearest point from the ball's centre, in radii, shape (n_t, k, d)."""
        away = self.tuples[:, :, None, :] - self.one
        nearest = (away**2).sum(axis=3).argmin(axis=1)
        picked = np.take_along_axis(away, nearest[:, None, :, None], axis=1)[:, 0]
        scaled: Array = np.clip(picked / self.radii[:, None], -FARTHEST, FARTHEST)
        return scaled

    @property
    def unfit(self) -> int:
        """Tuples that do not have one point in each ball around ``one``."""
        return round(float(np.sort(self.misfits)[len(self.misfits) // 2]))
