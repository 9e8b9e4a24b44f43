"""k-means on secret disjoint blocks of rows, shared by every algorithm that aggregates the models of blocks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from dpviz.algorithms.card import Params, Setting, param_field
from dpviz.algorithms.steps import Step
from dpviz.algorithms.tools.solvers import pack_spheres
from dpviz.core import Array, BlockKMeans, PrivateSession

# Rows of a block for each cluster that it has to find (GkM-3K; GUPT).
ROWS_FOR_A_CLUSTER = 3
# A public coin of k-means' seeding is below this.
_COINS = 2**31
# Numbers in the largest array over all blocks: k-means in them takes seconds, and 32 MiB an array.
_MOST_NUMBERS = 2**22
# Elementary operations that k-means takes in its block for a row, a centre and a column.
_PASSES = 25.0


@dataclass(frozen=True, eq=False, kw_only=True)
class BlocksStep(Step):
    """Rows are dealt to ``number`` secret blocks of about ``rows_each`` rows, and k-means runs in each: public values.

    ``anchors`` (k, d) are the public points that the centres of a block are put in order by; ``matched`` says whether
    by matching, or else by sorting, and the anchors only stand in where a block has too few rows. Of ``salt`` the
    seeding of k-means is made.
    """

    anchors: Array
    number: int
    rows_each: float
    matched: bool
    salt: int

    @property
    def public(self) -> bool:
        """Always: what the blocks find is secret."""
        return True


class Blocking(NamedTuple):
    """How many blocks there are: as many as hold ``rows`` rows each, or n to a ``power``."""

    rows: int
    power: float | None = None

    def choose_number(self, n: int) -> int:
        """Blocks of n rows."""
        return max(1, n // self.rows if self.power is None else round(n**self.power))

    def smallest_n(self, number: float) -> float:
        """Rows that make so many blocks, none of which is too small."""
        if self.power is None:
            return max(number, 1.0) * self.rows
        return float(max(number ** (1 / self.power), self.rows ** (1 / (1 - self.power))))


def align_field() -> Any:
    """How the centres of blocks are put in order, as a parameter."""
    return param_field("anchors", choices=("anchors", "sorted"))


class Box(NamedTuple):
    """Bounds of a block's k centres, flattened, shape (k * d,) each, unit coordinates."""

    lower: Array
    upper: Array


def deal(session: PrivateSession, k: int, number: int, rng: np.random.Generator, *, align: str) -> BlocksStep:
    """The plan of ``number`` blocks, from public values and coins alone; no row is read."""
    number = min(number, count_most_blocks(k, session.dim))
    rows_each = session.n / number
    return BlocksStep(
        title=f"{number:,} secret blocks of about {rows_each:,.0f} rows, k-means in each",
        anchors=pack_spheres(k, session.region, rng),
        number=number,
        rows_each=rows_each,
        matched=align == "anchors",
        salt=int(rng.integers(_COINS)),
    )


def count_most_blocks(k: int, dim: int) -> int:
    """As many blocks as there is memory for: a public or noisy number of records may be far above the table's."""
    return max(1, _MOST_NUMBERS // (k * max(k, dim)))


def fit_models(session: PrivateSession, blocks: BlocksStep) -> PrivateSession:
    """A session over the blocks' models, each the flattened centres of k-means on its own rows. O(n k d)."""
    # Whoever comes, goes or is exchanged changes one of the models, with all of that person's rows.
    return session.blocks(BlockKMeans(blocks.anchors, match=blocks.matched, salt=blocks.salt), blocks.number)


def make_domain_box(models: PrivateSession) -> Box:
    """The public box that models lie in."""
    half = np.minimum(models.region.half, models.region.radius)
    return Box(-half, half)


def count_block_operations(setting: Setting, params: Params) -> float:
    """Rough number of elementary operations of k-means in all blocks."""
    return _PASSES * setting.rows * setting.k * setting.dim
