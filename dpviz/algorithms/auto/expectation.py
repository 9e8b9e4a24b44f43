"""What a run of ``auto`` is to be expected to lose, from public quantities alone: a table that a bench was fitted to.

The loss hardly depends on more than one number: the noise of a mean of n/k rows, with all of the polishing budget, over
the radius of a cluster. The table gives the median and the upper decile of the ratio to k-means++, by that noise, on
three families of generated tables: ``expectation.csv``, which ``benchmarks/expectation.py`` makes (and says how it did
on families that it was not made from). Two of them have clusters of one size; the sizes of the third fall like 1/rank.
"""

from __future__ import annotations

import csv
from dataclasses import replace
from functools import cache
from importlib.resources import files
from itertools import islice
from math import log10, sqrt

import numpy as np

from dpviz.algorithms.auto.auto_plan import AutoPlan, Zoom, make_plan
from dpviz.algorithms.card import Setting
from dpviz.algorithms.regime import Expectation
from dpviz.arrays import Array

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


@cache
def stored_table() -> dict[str, Array]:
    """For each part of the table: decimal logarithm of the noise of a mean, median, upper decile, a line each (m, 3).

    The first line of each is the limit without noise.
    """
    lines: dict[str, list[list[float]]] = {}
    with (files("dpviz.algorithms.auto") / "expectation.csv").open(encoding="utf-8") as file:
        for part, *numbers in islice(csv.reader(file), 1, None):
            lines.setdefault(part, []).append([float(number) for number in numbers])
    return {part: np.array(those) for part, those in lines.items()}


def expected(setting: Setting) -> Expectation:
    """The table at a setting, between its lines; beyond its ends the nearest line."""
    noise, median, decile = stored_table()[regime_of(setting)].T
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
