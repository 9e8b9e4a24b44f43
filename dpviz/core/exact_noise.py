"""Release-grade noise: each mechanism that has an exact twin, drawn on whole numbers.

A session that is opened with ``ExactNoise`` answers as any other, from the same plans and for the same charges. What
differs is the draw: the truth is a tally in whole numbers of a public quantum (see ``table.lattice``), made finer by a
power of two, and ``exact_draws`` adds discrete noise to it. The ledger's rules are those of continuous noise. Why
they hold for what is drawn, wherever a quantum is at most 2^-24 of the sensitivity and of the scale, is proved in
``docs/proofs/discrete-noise.md``.

References
----------
Canonne, Kamath & Steinke 2020, Thm. 14 (the discrete Gaussian under zCDP).
"""

from __future__ import annotations

import secrets
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from math import ceil, floor, inf, ldexp, log2, nextafter
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from dpviz.core.accounting import Accounting
from dpviz.core.arrays import Array, Codes
from dpviz.core.check import RequestError
from dpviz.core.domain import Region
from dpviz.core.exact_draws import draw_discrete_gaussian, draw_discrete_laplace, draw_noisy_least
from dpviz.core.mechanisms import (
    Exponential,
    Gaussian,
    Laplace,
    Mechanism,
    NoisyExcess,
    NoisyThreshold,
    PathCounts,
    SparseLaplace,
)
from dpviz.core.noise import StudyNoise
from dpviz.core.queries import InQuanta, Query, SparseCounts

EPSILON_SLACK, DELTA_PART = 1e-7, 1 - 1e-6
"""What a session keeps back of ε, and leaves of δ, for the difference between discrete and continuous Gaussian
noise."""

MOST_CELLS = 2**20
"""The cells of a universe that noise is drawn on one by one: some seconds."""

MOST_GAUSSIAN = 2**20
"""Numbers with Gaussian noise in one release."""

# A quantum is at most this part of sensitivity and scale; noise is wider by this than the ledger says, which pays for
# rounding sensitivities up to whole quanta.
_FINE_BITS, _WIDER = 24, 1 + 2.0**-16
# Finer truths are cut off here, where no tally of a table gets; a cut moves no two truths farther apart.
_LARGEST_BITS, _FINEST_BITS = 62, 40

INSTEAD = "release with auto, dplloyd, eugkm, lsh-coreset or balcan"


@dataclass(frozen=True, eq=False)
class WholeTruth:
    """A true answer in whole numbers of ``quantum``, unit coordinates; a quantum may differ from entry to entry.

    ``query`` and ``region`` are what was asked, of rows that lie where: both are public.
    """

    total: Any
    quantum: float | Array
    query: Query | None = None
    region: Region | None = None

    @classmethod
    def of(cls, query: Query, total: Any, region: Region) -> WholeTruth:
        """The tallies of ``query`` over rows in ``region``.

        Parameters
        ----------
        query : Query
        total : object
            Its tallies, added up over all rows.
        region : Region

        Returns
        -------
        WholeTruth
            The same in whole numbers of the query's quantum.

        Raises
        ------
        RequestError
            If they are no whole numbers.
        """
        if not isinstance(query, InQuanta):
            raise RequestError(f"{type(query).__name__} is no question in whole numbers: {INSTEAD}.")
        return cls(total, query.quantum(region), query, region)


class _Finer(NamedTuple):
    """A quantum of 2^-bits of the tally's, and scale and sensitivity in it."""

    bits: int
    scale: float
    sensitivity: float

    @classmethod
    def of(cls, mechanism: Laplace | Gaussian | Exponential, quantum: float) -> _Finer:
        least = min(mechanism.scale, mechanism.sensitivity) / quantum
        bits = max(0, _FINE_BITS - floor(log2(least)))
        if bits > _FINEST_BITS:
            raise RequestError("There is too little noise to be drawn exactly: release with a smaller epsilon.")
        scale = nextafter(ldexp(mechanism.scale / quantum, bits) * _WIDER, inf)
        return cls(bits, scale, ldexp(mechanism.sensitivity / quantum, bits))

    @property
    def whole_sensitivity(self) -> int:
        """Rounded up, and one more: what the trade-off function of discrete Laplace noise needs."""
        return ceil(self.sensitivity) + 1

    def truth(self, total: Codes) -> Codes:
        """The tally in the finer quantum."""
        most = 1 << _LARGEST_BITS - self.bits
        return np.clip(total, -most, most) << self.bits


class ExactSource(ABC):
    """What answers in a session whose noise is release-grade; ``coins`` are the public coins of the algorithm."""

    hardened: ClassVar[Literal[True]] = True
    coins: int

    @abstractmethod
    def answer(self, mechanism: Mechanism[Any], truth: WholeTruth, accounting: Accounting) -> Any:
        """What ``mechanism`` releases.

        Parameters
        ----------
        mechanism : Mechanism
        truth : WholeTruth
        accounting : Accounting

        Returns
        -------
        object
            What the mechanism's own ``draw`` returns, in unit coordinates.
        """


AnySource = StudyNoise | ExactSource
"""Study noise, or release-grade noise."""


@dataclass(eq=False)
class ExactNoise(ExactSource):
    """Draws what is released, and keeps it: ``released`` is the transcript of a run, in the order of its questions."""

    coins: int = field(default_factory=partial(secrets.randbits, 128))
    released: list[Any] = field(default_factory=list)
    _gaussian: int = 0

    def answer(self, mechanism: Mechanism[Any], truth: WholeTruth, accounting: Accounting) -> Any:
        """The release of ``mechanism``, by its exact twin.

        Raises ``RequestError`` if it has none.
        """
        refuse_without_twin(mechanism)
        released = _TWINS[type(mechanism)](self, mechanism, truth, accounting)
        self.released.append(released)
        return released

    def add_noise(self, mechanism: Laplace | Gaussian, truth: WholeTruth) -> Array:
        """Noise on every entry, shape as the truth, unit coordinates.

        Parameters
        ----------
        mechanism : Laplace or Gaussian
        truth : WholeTruth

        Returns
        -------
        array
            On a public grid, which is fine beside the noise.
        """
        total = np.asarray(truth.total)
        quanta = np.broadcast_to(np.asarray(truth.quantum, dtype=np.float64), total.shape)
        released = np.empty(total.shape)
        for quantum in np.unique(quanta).tolist():
            at, finer = quanta == quantum, _Finer.of(mechanism, quantum)
            noisy = self._draw_discrete(mechanism, finer, finer.truth(total[at]))
            released[at] = np.ldexp(noisy.astype(np.float64), -finer.bits) * quantum
        return released

    def _draw_discrete(self, mechanism: Laplace | Gaussian, finer: _Finer, truth: Codes) -> Codes:
        ratio = mechanism.sensitivity / mechanism.scale
        if isinstance(mechanism, Laplace):
            return draw_discrete_laplace(truth, sensitivity=finer.whole_sensitivity, scale=finer.scale, most=ratio)
        self._gaussian += truth.size
        if self._gaussian > MOST_GAUSSIAN:
            raise RequestError(
                f"A release draws Gaussian noise on at most {MOST_GAUSSIAN:,} numbers: ask for fewer clusters, columns "
                "or rounds."
            )
        return draw_discrete_gaussian(truth, sensitivity=finer.sensitivity, scale=finer.scale, most=ratio**2 / 2)


def refuse_without_twin(mechanism: Mechanism[Any]) -> None:
    """Refuse a mechanism whose release-grade twin is not exact, or draws noise on more cells than can be."""
    if type(mechanism) not in _TWINS:
        raise RequestError(f"There is no release-grade {mechanism.name} noise: {INSTEAD}.")


def _add_noise(source: ExactNoise, mechanism: Any, truth: WholeTruth, accounting: Accounting) -> Array:
    return source.add_noise(mechanism, truth)


def _choose(source: ExactNoise, mechanism: Exponential, truth: WholeTruth, accounting: Accounting) -> int:
    """A choice; a public prior is a public handicap, and what it excludes takes no part."""
    assert isinstance(truth.quantum, float)
    finer = _Finer.of(mechanism, truth.quantum)
    losses, places = finer.truth(np.asarray(truth.total).ravel()), None
    if mechanism.log_prior is not None:
        prior = mechanism.log_prior.ravel()
        places = np.flatnonzero(np.isfinite(prior))
        handicap = np.rint(-prior[places] * finer.scale).astype(np.int64)
        losses = losses[places] + handicap
    concentrated = accounting is not Accounting.PURE
    ratio = mechanism.sensitivity / mechanism.scale
    # The limit is in OpenDP's own price of that ratio: its ρ of a choice is ε²/8, a little more than the exact one.
    place = draw_noisy_least(
        losses,
        sensitivity=ceil(finer.sensitivity / 2),
        scale=finer.scale,
        most=ratio**2 / 8 if concentrated else ratio,
        concentrated=concentrated,
    )
    return place if places is None else int(places[place])


def _draw_dense(source: ExactNoise, once: Laplace | Gaussian, truth: WholeTruth) -> Array:
    """Noisy counts of every cell of the universe."""
    listed: SparseCounts = truth.total
    if listed.universe > MOST_CELLS:
        raise RequestError(
            f"Release-grade noise is drawn on every cell, and there are {listed.universe:.3g}; at most {MOST_CELLS:,} "
            "are allowed: choose another algorithm, or coarser parameters."
        )
    counts = np.zeros(listed.universe, dtype=np.int64)
    counts[listed.codes] = listed.values.astype(np.int64)
    return source.add_noise(once, WholeTruth(counts, 1.0))


def _draw_above(source: ExactNoise, mechanism: NoisyThreshold, truth: WholeTruth, accounting: Accounting) -> Codes:
    return np.flatnonzero(_draw_dense(source, mechanism.once, truth) > mechanism.threshold)


def _draw_sparse(
    source: ExactNoise, mechanism: SparseLaplace, truth: WholeTruth, accounting: Accounting
) -> SparseCounts:
    noisy = _draw_dense(source, mechanism.once, truth)
    codes = np.flatnonzero(np.abs(noisy) > mechanism.cutoff)
    return SparseCounts(codes, noisy[codes], truth.total.universe)


def _draw_excess(source: ExactNoise, mechanism: NoisyExcess, truth: WholeTruth, accounting: Accounting) -> Array:
    """The threshold is rounded up to a whole quantum: it is public."""
    bits = _Finer.of(mechanism.once, 1.0).bits
    counts = truth.total.values.astype(np.int64) << bits
    over = np.maximum(counts - ceil(ldexp(mechanism.threshold, bits)), 0).sum(keepdims=True)
    return source.add_noise(mechanism.once, WholeTruth(over, ldexp(1.0, -bits)))


def _draw_paths(source: ExactNoise, mechanism: PathCounts, truth: WholeTruth, accounting: Accounting) -> SparseCounts:
    listed: SparseCounts = truth.total
    whole = SparseCounts(listed.codes, listed.values.astype(np.int64), listed.universe)
    return mechanism.walk(whole, lambda counts: source.add_noise(mechanism.once, WholeTruth(counts, 1.0)))


_TWINS: dict[type, Callable[[ExactNoise, Any, WholeTruth, Accounting], Any]] = {
    Laplace: _add_noise,
    Gaussian: _add_noise,
    Exponential: _choose,
    NoisyThreshold: _draw_above,
    SparseLaplace: _draw_sparse,
    NoisyExcess: _draw_excess,
    PathCounts: _draw_paths,
}
