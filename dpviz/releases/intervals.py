"""Intervals around what noisy histograms say, by inverting tests: post-processing, which costs nothing.

Each interval covers the true value in nine of ten releases and a little more, for whatever rows; several together all
do so less often. How each test is inverted is in ``docs/proofs/intervals.md``.

References
----------
Cornish & Fisher 1938: quantiles of a sum by its cumulants.

Released centres are rounded to a public grid by the same noise: that takes away digits that say nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import floor, isfinite, log10, sqrt
from typing import Any

import numpy as np
from scipy.special import ndtri

from dpviz.core import Array, Codes
from dpviz.runs import Run
from dpviz.tables import codings
from dpviz.words import NINE_IN_TEN

COVERED = 0.9
WIDE = 0.15
"""A quantile whose interval is wider than this part of the declared bounds is told as a range, without a value."""


@dataclass(frozen=True)
class Interval:
    """A released value and the interval that covers the true one in nine of ten releases.

    ``range_only`` says that no value inside is worth naming: the interval is wide, and that is all that was learned.
    """

    value: float
    low: float
    high: float
    range_only: bool = False

    def to_dict(self) -> dict[str, float]:
        """Plain values."""
        return {"value": self.value, "low": self.low, "high": self.high}


def format_finite(value: float) -> str:
    """A number as a table of a release writes it; nothing where it is none."""
    return f"{value:.6g}" if isfinite(value) else ""


def find_sum_sd(sd: float, squares: Array, sums: Array, bins: Array | float, whole_sd: Array | float) -> Array:
    """Standard deviation of the noise on weighted sums of counts in ``bins`` that were made to add up to a size."""
    # ``squares`` and ``sums`` are those of the weights. What a bin differs by from the mean bin has noise of ``sd``,
    # the noise of each bin alone; the mean bin has that of the size, ``whole_sd``, independent of it.
    own = sd**2 * np.maximum(squares - sums**2 / bins, 0.0)
    return np.sqrt(own + (sums / bins * whole_sd) ** 2)


def find_tail(scales: Array, terms: Array, level: float) -> Array:
    """What a sum of independent Laplace noise, ``terms`` (T,) draws of each of the ``scales`` (T, ...), exceeds with a
    chance of ``level``."""
    variance, fourth = terms @ (2 * scales**2), terms @ (12 * scales**4)
    normal = -ndtri(level)
    tail: Array = np.sqrt(variance) * (normal + (normal**3 - 3 * normal) * fourth / variance**2 / 24)
    return tail


def bound_sum(value: float, sd: float, *, least: float = 0.0) -> Interval:
    """A released sum with noise of that standard deviation; sums are at least ``least``."""
    reach = NINE_IN_TEN * sd
    return Interval(value, max(value - reach, least), max(value + reach, least))


def bound_ratio(over: float, over_sd: float, under: float, under_sd: float) -> Interval:
    """The ratio of two released sums of independent noise, none of them negative: Fieller's interval."""
    over, under = float(over), float(under)
    if under <= 0:
        return Interval(float("nan"), 0.0, float("inf"))
    z2 = NINE_IN_TEN**2
    a, b, c = under**2 - z2 * under_sd**2, -2 * over * under, over**2 - z2 * over_sd**2
    ratio = max(over, 0.0) / under
    if a <= 0:
        return Interval(ratio, 0.0, float("inf"))
    root = sqrt(max(b * b - 4 * a * c, 0.0))
    return Interval(ratio, max((-b - root) / (2 * a), 0.0), max((-b + root) / (2 * a), 0.0))


def bound_quantile(counts: Array, edges: Array, level: float, sd: float, whole_sd: float | None = None) -> Interval:
    """The ``level`` quantile of numbers counted in bins between ``edges`` (v + 1,), each with noise of sd ``sd``.

    At the true quantile x the number of those below x less ``level`` times all is 0. Its noisy value at an edge has
    noise of known standard deviation, a sum over all bins: a bin is left out where the statistic at its left edge is
    too large, or that at its right edge too small. The interval runs from the first bin that stays to the last one.

    ``counts`` (m,), noisy, rows: v bins of numbers, and behind them those of no number. ``whole_sd`` is that of their
    sum where they were made to add up to a size; None: each has noise of its own alone. Returns data units.
    """
    values, m = np.asarray(counts, dtype=np.float64)[: len(edges) - 1], len(edges) - 1
    below, whole_sd = np.arange(m + 1.0), sd * sqrt(len(counts)) if whole_sd is None else whole_sd
    statistic = np.r_[0.0, np.cumsum(values)] - level * values.sum()
    squares = (1 - level) ** 2 * below + level**2 * (m - below)
    sums = below - level * m
    reach = NINE_IN_TEN * find_sum_sd(sd, squares, sums, len(counts), whole_sd)
    # The ends are known: nothing lies below the first edge, and everything below the last one.
    too_far, too_near = statistic > reach, statistic < -reach
    too_far[0] = too_near[m] = False
    stays = np.flatnonzero(~(too_far[:-1] | too_near[1:]))
    first, last = (stays[0], stays[-1]) if len(stays) else (0, m - 1)
    # The point is where the statistic, made to grow, passes 0; between edges numbers are taken for evenly spread.
    growing = (np.maximum.accumulate(statistic) + np.minimum.accumulate(statistic[::-1])[::-1]) / 2
    place = int(np.clip(np.searchsorted(growing, 0.0, side="left") - 1, first, last))
    step = growing[place + 1] - growing[place]
    part = float(np.clip(-growing[place] / step, 0.0, 1.0)) if step > 0 else 0.5
    value = float(edges[place] + part * (edges[place + 1] - edges[place]))
    return Interval(value, float(edges[first]), float(edges[last + 1]))


def bound_by_range(interval: Interval, edges: Array) -> Interval:
    """The same interval, marked where it is too wide to name a value between the ends of ``edges`` (m + 1,)."""
    return replace(interval, range_only=interval.high - interval.low > WIDE * float(edges[-1] - edges[0]))


def bound_share(counts: Array, place: int, sd: float, whole_sd: float | None = None) -> Interval:
    """The share of bin ``place`` among all bins (m,), each counted with noise of standard deviation ``sd``.

    At the true share p the number count - p · all is 0, and its noise has variance sd² (1 - 1/m) + (1/m - p)² times
    that of all: those p stay for which its noisy value is within reach, the solutions of a quadratic inequality.

    ``counts`` (m,), noisy, rows. ``whole_sd`` is that of their sum where they were made to add up to a size; None: each
    has noise of its own alone.
    """
    counts = np.asarray(counts, dtype=np.float64)
    m, mine, total = len(counts), float(counts[place]), float(counts.sum())
    share = float(np.clip(mine / total, 0.0, 1.0)) if total > 0 else 0.5
    if m == 1:
        return Interval(1.0, 1.0, 1.0)
    own = (NINE_IN_TEN * sd) ** 2 * (1 - 1 / m)
    whole = own / (1 - 1 / m) * m if whole_sd is None else (NINE_IN_TEN * whole_sd) ** 2
    a, b, c = total**2 - whole, -2 * mine * total + 2 * whole / m, mine**2 - own - whole / m**2
    root = b * b - 4 * a * c
    if a <= 0 or root < 0:
        return Interval(share, 0.0, 1.0)
    low, high = ((-b + sign * sqrt(root)) / (2 * a) for sign in (-1, 1))
    low, high = (float(np.clip(end, 0.0, 1.0)) for end in (low, high))
    return Interval(float(np.clip(share, low, high)), low, high)


def to_plain(value: Any) -> Any:
    """Numbers as JSON has them: whatever is not finite becomes None."""
    if isinstance(value, dict):
        return {key: to_plain(one) for key, one in value.items()}
    if isinstance(value, tuple | list):
        return [to_plain(one) for one in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not np.isfinite(value) else value


# A grid is at most this part of the noise, or of a column's width where no noise is known.
_PART_OF_NOISE, _PART_OF_WIDTH = 0.5, 1e-4


@dataclass(frozen=True, eq=False)
class Rounded:
    """Centres on a grid.

    ``digits`` (k, d), decimals of each coordinate; below 0, zeros before the point. They are the same along a
    column, but on a log or root scale, where noise grows with the amount; ``centers`` (k, d), data units, inside
    the bounds.
    """

    digits: Codes
    centers: Array

    @property
    def step(self) -> Array:
        """The width of the grid at each coordinate, shape (k, d)."""
        return np.array([[10.0**-digits for digits in row] for row in self.digits.tolist()])

    @property
    def texts(self) -> list[list[str]]:
        """The centres as they are printed, a row each."""
        return [
            [f"{value:.{max(digits, 0)}f}" for value, digits in zip(center, row, strict=True)]
            for center, row in zip(self.centers.tolist(), self.digits.tolist(), strict=True)
        ]


def round_centers(run: Run) -> Rounded:
    """The centres of a run on a decimal grid of at most half their noise; a centre at a bound stays inside."""
    digits = np.array([[-floor(log10(one)) for one in row] for row in _find_widest_grids(run).tolist()])
    lower, upper = run.domain.lower.tolist(), run.domain.upper.tolist()
    columns = zip(run.centers.T, digits.T, lower, upper, strict=True)
    return Rounded(digits, np.column_stack([_round_column(*column) for column in columns]))


def _find_widest_grids(run: Run) -> Array:
    """How wide the grid may be at each coordinate, data units, shape (k, d)."""
    domain, noise = run.domain, _find_typical_noise(run)
    whole = domain.upper - domain.lower
    grids = np.tile(_PART_OF_WIDTH * whole, (run.k, 1))
    if noise is not None:
        grids = np.where(noise > 0, np.minimum(_PART_OF_NOISE * noise * domain.even_scale, whole), grids)
    for column, place in zip(domain.declared, domain.places, strict=False):
        if isinstance(column.coding, codings.Stretched):
            amounts = run.centers[:, place.start]
            sd = np.full(run.k, 2 * _PART_OF_WIDTH if not noise else noise * float(column.even_scale[0]))
            spread = column.coding.spread_around(amounts, sd)
            grids[:, place.start] = np.minimum(_PART_OF_NOISE * spread, whole[place.start])
    return grids


def _find_typical_noise(run: Run) -> float | None:
    """The median over the centres of what the last step says of their noise, unit coordinates."""
    said = run.center_noise_sd
    return None if said is None or not np.isfinite(said).all() else float(np.median(said))


def _round_column(values: Array, digits: Codes, lower: float, upper: float) -> Array:
    rounded = np.array(values, dtype=np.float64)
    for one in np.unique(digits).tolist():
        rounded[digits == one] = _round_inside(values[digits == one], one, lower, upper)
    return rounded


def _round_inside(values: Array, digits: int, lower: float, upper: float) -> Array:
    step = 10.0**-digits
    nearest = np.round(values, digits)
    nearest = np.where(nearest > upper, np.round(nearest - step, digits), nearest)
    inside: Array = np.where(nearest < lower, np.round(nearest + step, digits), nearest) + 0.0
    return np.clip(inside, lower, upper)
