"""The k-means loss of a pool of candidate sets, whose change has a smaller range where the sets are alike."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import inf

from scipy.spatial.distance import pdist

from dpviz.privacy.queries import Loss, Relation, Sensitivity
from dpviz.table.domain import Region

# A pool of equal sets has no range at all, but its losses are computed in floating point.
_LEAST = 1e-9


@dataclass(frozen=True, eq=False)
class PoolLoss(Loss):
    """k-means loss of each of several sets of centres, shape (n_sets,), with a range for how far the sets differ.

    The sets are public or released, so this range is too. Centre j of one set is compared with centre j of another:
    whoever matches them well gets the smaller range.
    """

    @cached_property
    def spread(self) -> float:
        """The farthest that centre j of one set lies from centre j of another, over all j."""
        if len(self.sets) < 2:
            return 0.0
        return max(float(pdist(self.sets[:, j]).max()) for j in range(self.sets.shape[1]))

    def sensitivity(self, relation: Relation, region: Region) -> Sensitivity:
        """A row's loss differs between two sets by at most h (2 D - h), with spread h and diameter D of the region.

        Let b_j be the centre of one set nearest to the row x, and a_j that of the other set. The row's loss under the
        other set is at most |x - a_j|², and |x - b_j| >= |x - a_j| - h. So the losses differ by at most u² - (u - h)²
        = h (2 u - h) with u = |x - a_j| <= D (where u < h, by u² < h²). Where h = D this is D², the range of
        ``Loss``. Distances themselves differ by at most h.
        """
        h = min(max(self.spread, _LEAST * region.diameter), region.diameter)
        once = h * (2 * region.diameter - h) if self.order == 2 else h
        return Sensitivity(l1=inf, l2=inf, range=once if relation is Relation.ADD_REMOVE else 2 * once)
