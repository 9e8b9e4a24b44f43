"""Questions about ranks: whole columns of clipped rows, whose mechanisms release quantiles and never a value.

References
----------
Smith 2011, §3 (quantiles by the exponential mechanism). Nissim, Raskhodnikova & Smith 2007, §3 (medians).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import inf, sqrt

import numpy as np

from dpviz import check
from dpviz.arrays import Array
from dpviz.privacy.partitions import Everything
from dpviz.privacy.queries import Relation, Sensitivity
from dpviz.table.domain import Region


@dataclass(frozen=True, eq=False)
class Columns:
    """Rows clipped to a public box, asked for quantiles; those of two chunks add up to those of both.

    Parameters
    ----------
    values : array of shape (n, d)
        In any order: only ranks are looked at.
    lower, upper : arrays of shape (d,)
        The box, unit coordinates; public.
    levels : tuple of float
        The quantiles that are asked for, 1/2 for the median.
    """

    values: Array
    lower: Array
    upper: Array
    levels: tuple[float, ...]

    def __add__(self, other: Columns) -> Columns:
        return Columns(np.concatenate([self.values, other.values]), self.lower, self.upper, self.levels)

    @cached_property
    def edges(self) -> Array:
        """Each column in ascending order between its two bounds, shape (n + 2, d)."""
        return np.concatenate([self.lower[None], np.sort(self.values, axis=0), self.upper[None]])

    def rank_scores(self, ranks: Array) -> Array:
        """Distance of ``ranks`` (rows on the left of a place) from what each level asks for, shape (levels, *ranks)."""
        wanted = np.array(self.levels) * len(self.values)
        scores: Array = np.abs(ranks - wanted.reshape(-1, *[1] * np.ndim(ranks)))
        return scores


@dataclass(frozen=True, eq=False)
class Quantiles:
    """The quantiles of every column of the rows, clipped to the box ``lower`` (d,) to ``upper`` (d,).

    A place is scored by |rows on its left - level · rows|; the score's change between neighbouring tables is what the
    sensitivity bounds: one range for each column and level, added up in the l1 and the Euclidean norm.
    """

    levels: tuple[float, ...]
    lower: Array
    upper: Array

    def __post_init__(self) -> None:
        _refuse_empty(self.lower, self.upper)
        for level in self.levels:
            check.within(0.0, 1.0, level=level)

    @property
    def over(self) -> Everything:
        return Everything()

    @property
    def width(self) -> int:
        return 2 * len(self.lower)

    def tally(self, chunk: Array, cell: object) -> Columns:
        """The answer on a chunk."""
        return Columns(np.clip(chunk, self.lower, self.upper), self.lower, self.upper, self.levels)

    def sensitivity(self, relation: Relation, region: Region) -> Sensitivity:
        """Replaced, a row moves the score of a place by up to 1 one way, of another the other way: range 2.

        Added, it moves rows-on-the-left by 1 and level · rows by the level: range 2 max(level, 1 - level).
        """
        replaced = relation is Relation.REPLACE
        ranges = [2.0 if replaced else 2 * max(level, 1 - level) for level in self.levels]
        columns = len(self.lower)
        return Sensitivity(columns * sum(ranges), sqrt(columns * sum(r * r for r in ranges)), range=max(ranges))


@dataclass(frozen=True, eq=False)
class Medians:
    """The median of every column of rows whose number is fixed, clipped to the box ``lower`` to ``upper`` (d,).

    The sensitivity says how many values of each column change, added up over columns: what a mechanism with noise by
    smooth sensitivity is calibrated to.
    """

    lower: Array
    upper: Array

    def __post_init__(self) -> None:
        _refuse_empty(self.lower, self.upper)

    @property
    def over(self) -> Everything:
        return Everything()

    @property
    def width(self) -> int:
        return 2 * len(self.lower)

    def tally(self, chunk: Array, cell: object) -> Columns:
        """The answer on a chunk."""
        return Columns(np.clip(chunk, self.lower, self.upper), self.lower, self.upper, (0.5,))

    def sensitivity(self, relation: Relation, region: Region) -> Sensitivity:
        """One value of each column is replaced; nothing is proved where a row may come or go."""
        if relation is Relation.ADD_REMOVE:
            return Sensitivity(inf, inf)
        return Sensitivity(l1=len(self.lower), l2=sqrt(len(self.lower)), range=1.0)


def _refuse_empty(lower: Array, upper: Array) -> None:
    if not (np.isfinite(lower).all() and np.isfinite(upper).all() and (lower < upper).all()):
        raise check.RequestError("A quantile needs room: give a finite lower bound below each upper bound.")
