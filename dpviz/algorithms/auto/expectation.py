"""What a run of ``auto`` is to be expected to lose, from public quantities alone: a table that a bench was fitted to.

The loss hardly depends on more than one number: the noise of a mean of n/k rows, with all of the polishing budget, over
the radius of a cluster. The table gives the median and the upper decile of the ratio to k-means++, by that noise, on
three families of generated tables (``benchmarks/expectation.py`` makes it, and says how it did on families that it was
not made from). Two of them have clusters of one size; the sizes of the third fall like 1/rank.
"""

from __future__ import annotations

from dataclasses import replace
from math import log10, sqrt

import numpy as np

from dpviz.algorithms.auto.auto_plan import AutoPlan, Zoom, make_plan
from dpviz.algorithms.card import Setting
from dpviz.algorithms.regime import Expectation

# Decimal logarithm of the noise of a mean, median, upper decile. The first line of each is the limit without noise.
TABLE: dict[str, tuple[tuple[float, float, float], ...]] = {
    "flat": (
        (-4.00, 1.000, 1.050),
        (-2.75, 1.001, 1.053),
        (-2.25, 1.002, 1.053),
        (-1.75, 1.014, 1.053),
        (-1.25, 1.019, 1.399),
        (-0.75, 1.371, 1.793),
        (-0.25, 1.797, 5.806),
        (0.25, 3.776, 582.206),
        (0.75, 39.358, 582.206),
    ),
    "few": (
        (-4.00, 1.000, 1.050),
        (-2.25, 1.000, 1.001),
        (-1.75, 1.001, 1.002),
        (-1.25, 1.002, 1.004),
        (-0.75, 1.023, 1.315),
        (-0.25, 2.019, 4.573),
    ),
    "many": (
        (-4.00, 1.000, 1.050),
        (-1.25, 1.008, 1.375),
        (-0.75, 1.109, 4.646),
        (-0.25, 21.910, 97.186),
        (0.25, 21.910, 199.622),
    ),
    "few, pure": (
        (-4.00, 1.000, 1.050),
        (-2.25, 1.001, 1.184),
        (-1.75, 1.009, 1.566),
        (-1.25, 1.056, 1.566),
        (-0.75, 1.493, 2.373),
        (-0.25, 3.895, 32.469),
    ),
    "many, pure": (
        (-4.00, 1.000, 1.050),
        (-1.25, 1.415, 23.256),
        (-0.75, 3.601, 23.256),
        (-0.25, 20.556, 68.054),
        (0.25, 23.564, 368.390),
    ),
}


# Of 1 to 1e12 on a log scale: to a thousandth, of which two digits are said.
_HALVINGS = 16


def regime_of(setting: Setting) -> str:
    """Which part of the table a setting belongs to."""
    plan = _plan(setting)
    if isinstance(plan.first, Zoom):
        return "flat"
    return ("few" if plan.cells.fine_test is None else "many") + (", pure" if setting.delta <= 0 else "")


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
    for _ in range(_HALVINGS):
        middle = sqrt(low * high)
        at = replace(setting, n=max(1, round(middle)))
        low, high = (low, middle) if expected(at).median <= median else (middle, high)
    return high


def _plan(setting: Setting) -> AutoPlan:
    return make_plan(replace(setting, n=setting.n or 10_000), n_public=setting.n is not None)
