"""Where k-tuples come from: secret blocks of rows, each of which makes one, or rows that are tuples themselves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpviz.algorithms.card import Params, knob
from dpviz.algorithms.steps import CentersStep
from dpviz.algorithms.tools.public_points import sphere_packing
from dpviz.algorithms.tools.secret_blocks import most_blocks
from dpviz.arrays import Array
from dpviz.privacy.block_models import BlockKMeans
from dpviz.privacy.queries import Relation
from dpviz.privacy.room import DataRoom

# Rows of a block for each cluster, in the paper's runs.
_ROWS_PER_CLUSTER = 15
_RECORDS, _TUPLES = "records", "tuples"


@dataclass(frozen=True)
class TupleParams(Params):
    """Parameters of algorithms on tuples."""

    preset: str = knob(
        "practical",
        help="paper: constants as printed (with the corrected λ). practical: one exactly calibrated Gaussian for all "
        "centres, Δ for noise of a twentieth of their distance, ⊥ where averages would be noise.",
        choices=("practical", "paper"),
    )
    beta: float = knob(0.05, help="β: chance of the answer ⊥ for tuples that fit.", low=1e-6, high=0.5)
    rows_per_tuple: int | None = knob(
        None, help="Fewest rows of a block, which makes one tuple; empty: 15 for each cluster.", low=2, high=100_000
    )

    @property
    def printed(self) -> bool:
        """Whether constants are the paper's."""
        return self.preset == "paper"

    @property
    def given(self) -> bool:
        """Whether each row is a tuple already."""
        return False

    def rows_of_tuple(self, k: int) -> int:
        """Fewest rows that make a tuple."""
        return 1 if self.given else self.rows_per_tuple or _ROWS_PER_CLUSTER * k


@dataclass(frozen=True)
class GivenTupleParams(TupleParams):
    """Parameters of algorithms that serve tables of tuples, too."""

    rows: str = knob(
        _RECORDS,
        help="What a row is. records: one point; secret blocks of rows make the tuples. tuples: k points in any order, "
        "such as k centres that one hospital reports; its columns are those of one point, then those of the next, with "
        "the same bounds for every point, and the table's relation is replace.",
        choices=(_RECORDS, _TUPLES),
    )

    @property
    def given(self) -> bool:
        return self.rows == _TUPLES

    def points_per_row(self, k: int) -> int:
        """k in a table of tuples."""
        return k if self.given else 1

    def refusal(self, relation: Relation) -> str | None:
        """A table of tuples is served under replace only."""
        if not self.given or relation is Relation.REPLACE:
            return None
        return (
            "With rows = tuples the number of tuples is public, and one of them may be replaced by another: declare "
            "the relation replace, or choose rows = records."
        )


@dataclass(frozen=True, eq=False)
class TupleSource:
    """A room whose rows are tuples, or make them.

    Parameters
    ----------
    room : DataRoom
        Over the rows of the table.
    points : DataRoom
        Over the points that rows stand for: what the centres live in.
    params : TupleParams
    anchors : array of shape (k, d)
        Public: what a block with fewer than k distinct rows answers, and what stands in for ⊥.
    salt : int
        Public coin of the models of blocks.
    """

    room: DataRoom
    points: DataRoom
    params: TupleParams
    anchors: Array
    salt: int

    @classmethod
    def of(cls, room: DataRoom, k: int, params: TupleParams, rng: np.random.Generator) -> TupleSource:
        """The source that ``params`` ask for; no row is read."""
        points = room.unfolded(params.points_per_row(k))
        return cls(room, points, params, sphere_packing(k, points.region, rng), int(rng.integers(2**20)))

    @property
    def k(self) -> int:
        return len(self.anchors)

    @property
    def most(self) -> int:
        """As many tuples as there can be."""
        number = max(1, self.room.n // self.params.rows_of_tuple(self.k))
        return number if self.params.given else min(number, most_blocks(self.k, self.room.dim))

    def enough(self, needed: int) -> int:
        """``needed`` tuples if blocks can make them and the fewest rows do not go short; given ones are all taken."""
        return self.most if self.params.given else min(needed, self.most)

    def tuples(self, number: int) -> DataRoom:
        """A room over ``number`` tuples, of which one unit of privacy replaces one."""
        if self.params.given:
            return self.room
        return self.room.blocks(BlockKMeans(self.anchors, match=False, salt=self.salt), number)

    def stand_in(self) -> CentersStep:
        """The first step: centres that know no data."""
        title = "Sphere packing, which stands in for ⊥: no row has been read"
        return CentersStep(title=title, centers=self.anchors)
