"""What algorithms over secret blocks of rows emit: public and released values only, in unit coordinates."""

from __future__ import annotations

from dataclasses import dataclass

from dpviz.algorithms.steps import Step
from dpviz.arrays import Array


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


@dataclass(frozen=True, eq=False, kw_only=True)
class RangesStep(Step):
    """Where the centres of blocks lie: a box from ``lower`` to ``upper`` (k, d) for each centre.

    The boxes are released where they are ``estimated``, else they are the public domain. ``noise_sd`` (k, d) is the
    standard deviation of the noise that averages over the blocks will carry.
    """

    blocks: BlocksStep
    lower: Array
    upper: Array
    noise_sd: Array
    estimated: bool

    @property
    def public(self) -> bool:
        """Whether the boxes are the domain, which everybody knows."""
        return not self.estimated


@dataclass(frozen=True, eq=False, kw_only=True)
class MedianLawStep(Step):
    """What a private median can tell of ``number`` blocks, before it is asked: public numbers only.

    Each of ``medians`` coordinates has ``epsilon_each``; ``smooth`` medians carry noise by smooth sensitivity, others
    are places drawn by the exponential mechanism.
    """

    number: int
    medians: int
    epsilon_each: float
    smooth: bool

    @property
    def public(self) -> bool:
        """Always: the number of blocks follows from the number of rows that is declared or was bought."""
        return True
