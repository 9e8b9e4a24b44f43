"""The stages of ``auto``: what each of them buys, with which noise, and what its parts may spend."""

from __future__ import annotations

from collections.abc import Mapping
from math import sqrt
from typing import Literal, NamedTuple

from dpviz.core import Accounting, Array, Budget, NoiseDraws, mechanisms, queries

Noise = Literal["Laplace", "K-norm", "Gaussian", "exponential"]
# Of noise that is added.
_KINDS: dict[Noise, mechanisms.Kind[Array, mechanisms.Laplace | mechanisms.KNorm | mechanisms.Gaussian]]
_KINDS = {"Laplace": mechanisms.Laplace, "K-norm": mechanisms.KNorm, "Gaussian": mechanisms.Gaussian}


class StagePart(NamedTuple):
    """What a ``stage`` buys with some ``noise``; ``round`` is 0 before the rounds.

    ``weight`` is ε for pure noise and μ² for Gaussian noise, before all parts are calibrated together.
    """

    stage: str
    what: str
    noise: Noise
    weight: float
    round: int = 0

    @property
    def name(self) -> str:
        """A word for each part of a plan."""
        return ("swap_" if self.stage == "swap" else "") + self.what + (f"_{self.round}" if self.round else "")

    def asks(self, query: queries.Query, shares: Paid) -> mechanisms.Question:
        """The question that its share pays for."""
        return mechanisms.Question(query, _KINDS[self.noise], shares[self])

    def draws(self, share: Budget | None = None) -> NoiseDraws:
        """Its noise beside what one person changes: by its weight, or as ``share`` buys it."""
        gaussian = self.noise == "Gaussian"
        if share is None:
            return NoiseDraws(gaussian, 1 / (sqrt(self.weight) if gaussian else self.weight))
        # ρ is 1 / (2 · the multiplier squared), and ε of pure noise is 1 over it.
        return NoiseDraws(
            gaussian, 1 / (sqrt(2 * share.amount) if share.accounting is Accounting.PLD else share.amount)
        )


# What each part may spend.
Paid = Mapping[StagePart, Budget]


class Zoom(NamedTuple):
    """Over few columns: coarse cells of the whole domain."""

    zoom: StagePart


class ProjectionStage(NamedTuple):
    """Over many columns: the middle of the rows, the axes along which they spread (None: public coins), how far.

    ``near`` is the middle of the rows that are not far away, for a grid that follows a tail; None where none is made.
    """

    middle: StagePart
    near: StagePart | None
    axes: StagePart | None
    radii: StagePart


class Cells(NamedTuple):
    """One grid, after tests: in a view with many clusters whether fine cells would do, over few columns finer ones.

    Its noise is smoothed, or read through ``trees`` of details; in a view these come beside smoothing.
    """

    fine_test: StagePart | None
    finer_test: StagePart | None
    finest_test: StagePart | None
    grid: StagePart
    trees: bool


class SolutionChoice(NamedTuple):
    """Which of several solutions on the histogram is polished, by the rows' losses."""

    losses: StagePart


class Swap(NamedTuple):
    """Counts and spreads of all clusters before a round: some are split, as many centres dropped."""

    counts: StagePart
    spread: StagePart


class Round(NamedTuple):
    """A round of polishing: lengths of residuals where the clipping radius follows them, counts, sums."""

    radii: StagePart | None
    counts: StagePart
    sums: StagePart


Stage = Zoom | ProjectionStage | Cells | SolutionChoice | Swap | Round
