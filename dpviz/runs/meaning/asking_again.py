"""Asking again: the average of several releases comes nearer to the truth, and every one of them is paid."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from dpviz.core import Accounting, Array, Entry
from dpviz.runs.evaluation import match
from dpviz.runs.meaning.independent_accounting import compute_independent_epsilon
from dpviz.runs.meaning.membership import AttackTrial, collect_scores
from dpviz.runs.request import Request

TIMES = (1, 4, 16, 64)
"""How many releases are averaged."""
# Averages whose spread is measured: of two or three it would be off by a third and more.
_AVERAGES = 8
USUAL_DELTA = 1e-6
"""At which the sharper composition of pure releases is told."""


class RepeatedCost(NamedTuple):
    """What ``times`` equal releases cost together: simply added, and by composing their privacy losses at ``delta``."""

    times: int
    added: float
    composed: float
    delta: float


def price_together(entries: Sequence[Entry], times: int, *, epsilon: float, delta: float) -> RepeatedCost:
    """The price of asking ``times`` times, from the ledger of one release.

    The composed ε is at ``times`` δ, or at ``USUAL_DELTA`` where releases are pure; it is never above the sum.
    """
    if entries[0].accounting is Accounting.PURE:
        at, composed = USUAL_DELTA, compose_repeated_epsilon(epsilon, times, USUAL_DELTA)
    else:
        at = times * delta
        composed = compute_independent_epsilon([entry for entry in entries for _ in range(times)], delta=at) or np.inf
    return RepeatedCost(times, times * epsilon, min(times * epsilon, float(composed)), at)


@lru_cache(maxsize=256)
def compose_repeated_epsilon(epsilon: float, times: int, delta: float) -> float:
    """The smallest ε for which ``times`` pure releases of ``epsilon`` each, one after the other, are (ε, δ)-DP."""
    # No ε-DP release is worse than a randomised response, so that the composition of these is exact (Kairouz, Oh &
    # Viswanath 2015, Theorem 3.3).
    from dp_accounting.pld import common, privacy_loss_distribution  # slow to import

    pure = common.DifferentialPrivacyParameters(epsilon, 0.0)
    single = privacy_loss_distribution.from_privacy_parameters(pure, value_discretization_interval=epsilon)
    return float(single.self_compose(times).get_epsilon_for_delta(delta))


def match_releases(releases: Sequence[Array], target: Array) -> Array:
    """Released centres (k, d), each release in the order of ``target`` (k, d) that it fits best; shape (m, k, d)."""
    # Which centre is which is read off for the drawing; nothing else is learned from ``target``.
    return np.stack([release[match(target, release)] for release in releases])


def measure_noise_left(releases: Array, times: int) -> float:
    """The spread of averages of ``times`` matched releases (m, k, d) around their own mean; of two averages or more."""
    groups = len(releases) // times
    means = releases[: groups * times].reshape(groups, times, *releases.shape[1:]).mean(axis=1)
    return float(np.sqrt(means.var(axis=0, ddof=1).sum(axis=-1).mean()))


def measure_gain(present: Sequence[float], absent: Sequence[float], times: int, rng: np.random.Generator) -> float:
    """How many more hits than false alarms an attacker has who reads ``times`` releases at once, as a share."""
    # Log ratios of independent releases add up, and whoever minds both mistakes alike says "in" where the sum is above
    # 0. Sums are drawn with replacement from the log ratios of single releases, with the person and without.
    said = [rng.choice(np.asarray(side), size=(4_000, times)).sum(axis=1) > 0 for side in (present, absent)]
    return max(0.0, float(said[0].mean() - said[1].mean()))


@dataclass(frozen=True)
class AskingAgain:
    """What asking again buys and costs, by the number of releases that are averaged.

    * ``noise``: what is left of the noise.
    * ``gains``: the share by which hits exceed false alarms, for the attacker with all answers; empty where it is not
      known.
    * ``epsilon``: of one release.
    """

    noise: Mapping[int, float]
    prices: Sequence[RepeatedCost]
    gains: Mapping[int, float]
    epsilon: float

    @classmethod
    def of(cls, trials: Sequence[AttackTrial], entries: Sequence[Entry], asked: Request) -> AskingAgain:
        """Of runs of what was ``asked`` for, and the ledger of one of them."""
        prices = [price_together(entries, times, epsilon=asked.epsilon, delta=asked.delta) for times in TIMES]
        centers = [trial.centers for trial in trials if trial.present]
        ordered = match_releases(centers, centers[0])
        noise = {times: measure_noise_left(ordered, times) for times in TIMES if len(ordered) >= _AVERAGES * times}
        known = collect_scores(trials, "log_ratio")
        rng = np.random.default_rng(asked.seed)
        gains = {} if known is None else {times: measure_gain(*known, times, rng) for times in TIMES}
        return cls(noise, prices, gains, asked.epsilon)
