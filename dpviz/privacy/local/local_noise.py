"""Noise on every single row: the local model's baseline, in which nobody has to be trusted and little can be seen."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import ClassVar

import numpy as np

from dpviz.arrays import Array, Codes
from dpviz.privacy.accounting import Accounting, Budget
from dpviz.privacy.loss_kinds import LossKind
from dpviz.privacy.mechanisms import KNorm, NoDensity, pure_share
from dpviz.privacy.noise import NoiseSource
from dpviz.privacy.partitions import Everything
from dpviz.privacy.queries import Relation, Sensitivity
from dpviz.privacy.tuples.tuples import TupleTable
from dpviz.table.domain import Region


@dataclass(frozen=True, eq=False)
class EachRow:
    """The rows themselves, for a mechanism that fills a public number of places with them."""

    @property
    def over(self) -> Everything:
        return Everything()

    @property
    def width(self) -> int:
        return 1

    def tally(self, chunk: Array, cell: Codes) -> TupleTable:
        """The rows of a chunk, as tuples of one point."""
        return TupleTable(chunk[:, None, :])

    def sensitivity(self, relation: Relation, region: Region) -> Sensitivity:
        """One place changes its point, by the diameter at most, whether its row is exchanged, comes or goes."""
        return Sensitivity(l1=inf, l2=inf, block=region.diameter)


@dataclass(frozen=True)
class LocalNoise:
    """K-norm noise on each of ``number`` places, which hold rows in a random order; pure ε = sensitivity / scale.

    Where there are fewer rows than places the middle of the domain fills the others; where there are more, rows are
    left out. So the number of rows does not show, and one row changes one place.
    """

    name: ClassVar[str] = "k-norm on each row"
    loss: ClassVar[LossKind] = LossKind.PURE
    # The random order makes the density a sum over all orders.
    exact: ClassVar[bool] = False
    sensitivity: float
    scale: float
    number: int

    @classmethod
    def bought(cls, share: Budget, sensitivity: Sensitivity, *, number: int) -> LocalNoise:
        return cls(sensitivity.block, sensitivity.block / pure_share(share), number)

    def sd_in(self, width: int) -> float:
        """Standard deviation of one entry of a row of ``width`` numbers."""
        return KNorm(self.sensitivity, self.scale).sd_in(width)

    def cost(self, accounting: Accounting) -> float:
        return KNorm(self.sensitivity, self.scale).cost(accounting)

    def draw(self, truth: TupleTable, noise: NoiseSource) -> Array:
        rows = truth.values[:, 0]
        places = np.zeros((self.number, rows.shape[1]))
        # By content first: the order of the file has no say in a study's draw.
        rows = rows[np.lexsort(rows.T[::-1])]
        chosen = rows[np.argsort(noise.uniform((len(rows),)))[: self.number]]
        places[: len(chosen)] = chosen
        places = places[np.argsort(noise.uniform((self.number,)))]
        return KNorm(self.sensitivity, self.scale).draw(places, noise)

    def log_density(self, released: Array, truth: TupleTable) -> float:
        raise NoDensity("It is a sum over all orders of rows.")
