"""A lower bound on ε from what came of many draws, and the verdict that it settles.

References
----------
Jagielski, Ullman & Oprea 2020 (auditing by Clopper-Pearson intervals).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from scipy import stats

from dpviz.core.arrays import Array

SIZES = (125, 250, 500, 1000, 2000, 4000, 8000)
"""How many draws are tried, one after another."""


class Audit(NamedTuple):
    """What is audited, as it is and as a twin that has too little noise: both take a number of draws.

    They return by how much the ε that frequencies refute exceeds the one that is claimed, at best: a claim that holds
    has nothing above 0. There is no twin where frequencies have too little power to find one out.
    """

    honest: Callable[[int], float]
    thinned: Callable[[int], float] | None


class Settled(NamedTuple):
    """With how many draws the twin was found out, and what as many draws say of the honest one."""

    draws: int
    excess: float


def settled(audit: Audit, sizes: Sequence[int] = SIZES) -> Settled | None:
    """The verdict of the least number of draws that finds the twin out; None if none of them does."""
    if audit.thinned is not None:
        for draws in sizes:
            if audit.thinned(draws) > 0:
                return Settled(draws, audit.honest(draws))
    return None


def lower_bound(on_one: Array, on_other: Array, delta: float, *, confidence: float = 0.975) -> float:
    """ε at ``delta`` that the frequencies of one event refute; the event is chosen on the first third.

    ``confidence`` is one-sided, for each of two frequencies: together 95 %, if it is not said.
    """
    third = len(on_one) // 3
    first, second = slice(None, third), slice(third, None)

    def refuted(part: slice, level: float) -> float:
        hits, trials = int((on_one[part] > level).sum()), len(on_one[part])
        misses = int((on_other[part] > level).sum())
        least = stats.beta.ppf(1 - confidence, hits, trials - hits + 1) if hits else 0.0
        most = stats.beta.ppf(confidence, misses + 1, trials - misses) if misses < trials else 1.0
        return float(np.log((least - delta) / most)) if least > delta else -np.inf

    levels = np.quantile(np.r_[on_one[first], on_other[first]], np.linspace(0.02, 0.995, 80))
    return refuted(second, max(levels, key=lambda level: refuted(first, level)))
