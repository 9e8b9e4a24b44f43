"""What a release says of the segments that it published: one estimate, by least squares over all tallies.

A release asks several tallies of the same segments: their sizes, how far rows lie from their centres, and a histogram
of every described column. Each adds up to the size. Least squares makes them agree: one size for each segment, weighed
by inverse variance, and what a tally lacks of it is spread evenly over its bins. Which intervals follow from such
counts is in ``docs/proofs/intervals.md``.

Means are told by two: the histogram, whose bins leave open where in them rows lie, and the published centre, which is a
mean over the cells of the step before and carries what its algorithm cut or rounded. Its noise is that of a sum over
the noisy count by which the sum was divided: what the size is found to be later has no say in it. How far off centres
may be besides is not known: they count with the largest slack that the histograms do not refute (a Q profile), unless
the noise that the algorithm tells was found to say it all.

Draws that agree are versions of what is true of the segments, made from a release's transcript alone.

1. Noise of the very law that the ledger names is drawn anew for every released count, and taken off it: so many draws,
and their mirror images, so that their middle is what was released.

2. The tallies are made to agree by least squares, as above.

3. A size below 0 becomes 0. Bins keep what they are: a share is cut to between 0 and 1 where it is written. Where it is
asked for, no draw is cut but the interval moved, lest it have no width where all draws lie beyond.

Steps 1 and 2 are linear and the laws are symmetric: the middle nine tenths of any sum of counts hold the true sum in
nine of ten releases, for whatever rows. That is a confidence distribution. A prior that cut every bin at 0 would add
rows for each empty bin.

Bits come from SHAKE-256 of the transcript's hash: everybody who has it makes the same draws, with any version of NumPy.

Intervals around what noisy histograms say are found by inverting tests, which costs nothing. Each covers the true value
in nine of ten releases and a little more, for whatever rows; several together all do so less often. How each test is
inverted is in ``docs/proofs/intervals.md`` (quantiles of a sum by its cumulants: Cornish & Fisher 1938). Released
centres are rounded to a public grid by the same noise: that takes away digits that say nothing.

**Guarantee.** Post-processing: nothing here reads a row.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import shake_256
from math import floor, isfinite, log10, prod, sqrt, tau
from typing import NamedTuple

import numpy as np
from scipy.optimize import isotonic_regression
from scipy.special import chdtri, ndtr, ndtri

from dpviz.algorithms import PolishStep, size_estimates
from dpviz.core import Array, Codes, Flags
from dpviz.releases.described_table import SegmentColumn
from dpviz.releases.release_sentences import make_refusal
from dpviz.runs import Run, profiles
from dpviz.tables import codings, format_csv
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

    def mark_wide(self, edges: Array) -> Interval:
        """The same, marked where it is too wide to name a value between the ends of ``edges`` (m + 1,)."""
        return replace(self, range_only=self.high - self.low > WIDE * float(edges[-1] - edges[0]))


def format_finite(value: float) -> str:
    """A number as a table of a release writes it; nothing where it is none."""
    return f"{value:.6g}" if isfinite(value) else ""


def find_sum_sd(sd: float, squares: Array, sums: Array, bins: Array | float, whole_sd: Array | float) -> Array:
    """Standard deviation of the noise on weighted sums of counts in ``bins`` that were made to add up to a size."""
    # ``squares`` and ``sums`` are those of the weights. What a bin differs by from the mean bin has noise of ``sd``,
    # the noise of each bin alone; the mean bin has that of the size, ``whole_sd``, independent of it.
    return np.sqrt(sd**2 * np.maximum(squares - sums**2 / bins, 0.0) + (sums / bins * whole_sd) ** 2)


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
    reach = NINE_IN_TEN * find_sum_sd(sd, squares, below - level * m, len(counts), whole_sd)
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


def bound_share(counts: Array, place: int, sd: float, whole_sd: float | None = None) -> Interval:
    """The share of bin ``place`` among all bins (m,), each counted with noise of standard deviation ``sd``.

    At the true share p the number count - p · all is 0, and its noise has variance sd² (1 - 1/m) + (1/m - p)² times
    that of all: those p stay for which its noisy value is within reach, the solutions of a quadratic inequality.

    ``counts`` (m,), noisy, rows. ``whole_sd`` is that of their sum where they were made to add up to a size; None: each
    has noise of its own alone.
    """
    counts = np.asarray(counts, dtype=np.float64)
    m, total = len(counts), float(counts.sum())
    # The true number is none below 0 and no more than all: brought there, the noisy one is no farther from it.
    mine = float(np.clip(counts[place], 0.0, max(total, 0.0)))
    share = mine / total if total > 0 else 0.5
    if m == 1:
        return Interval(1.0, 1.0, 1.0)
    own = (NINE_IN_TEN * sd) ** 2 * (1 - 1 / m)
    whole = own / (1 - 1 / m) * m if whole_sd is None else (NINE_IN_TEN * whole_sd) ** 2
    a, b, c = total**2 - whole, -2 * mine * total + 2 * whole / m, mine**2 - own - whole / m**2
    if a <= 0:
        return Interval(share, 0.0, 1.0)
    root = sqrt(max(b * b - 4 * a * c, 0.0))
    low, high = ((-b + sign * root) / (2 * a) for sign in (-1, 1))
    return Interval(share, float(np.clip(low, 0.0, share)), float(np.clip(high, share, 1.0)))


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

    @classmethod
    def of(cls, run: Run) -> Rounded:
        """The centres of a run on a decimal grid of at most half their noise; a centre at a bound stays inside."""
        digits = np.array([[-floor(log10(one)) for one in row] for row in _find_widest_grids(run).tolist()])
        columns = zip(run.centers.T, digits.T, run.domain.lower.tolist(), run.domain.upper.tolist(), strict=True)
        return cls(digits, np.column_stack([_round_column(*column) for column in columns]))

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


def _find_widest_grids(run: Run) -> Array:
    """How wide the grid may be at each coordinate, data units, shape (k, d)."""
    domain, said = run.domain, run.center_noise_sd
    # The median over the centres of what the last step says of their noise, unit coordinates.
    noise = None if said is None or not np.isfinite(said).all() else float(np.median(said))
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


def _round_column(values: Array, digits: Codes, lower: float, upper: float) -> Array:
    rounded = np.array(values, dtype=np.float64)
    for one in np.unique(digits).tolist():
        step, nearest = 10.0**-one, np.round(values[digits == one], one)
        nearest = np.where(nearest > upper, np.round(nearest - step, one), nearest)
        nearest = np.where(nearest < lower, np.round(nearest + step, one), nearest) + 0.0
        rounded[digits == one] = np.clip(nearest, lower, upper)
    return rounded


# Chosen by hand; ``benchmarks/draws.py`` says how often what follows holds the truth.
_CLEAR = 3.0  # sizes below so many standard deviations say nothing of how far centres are off
_REFUTED = 0.1  # slack so large that the histograms would agree better in nine of ten
# The same of algorithms whose noise is most of what their centres are off by, and of one that tells next to nothing.
_REFUTED_OF = {"lsh-coreset": 0.3, "dplloyd": 0.2, "eugkm": 0.07}
_SLACKS = np.r_[0.0, np.geomspace(1e-9, 4.0, 90)]  # variances, unit coordinates squared
NOISE_TELLS_ALL = {"auto"}
"""Algorithms whose centres are off from the means of their segments by no more than their noise."""
# Of the last round of ``auto``: the part of the variance of its noise that a centre which stays is off by.
_STAYED = 0.6
_TINY = 1e-12
_COVERED = 2 * float(ndtr(NINE_IN_TEN)) - 1
_HALVINGS = 50
_PLACES_OF_ARC = 9  # at which the ends of an arc are looked for


@dataclass(frozen=True, eq=False)
class Tally:
    """Noisy counts (k, m) of the rows of each segment in m bins, with Laplace noise of that ``sd`` on each.

    ``possible`` (k, m) are the bins that a row can be in: in the others nobody is. ``edges`` (v + 1,) are those of v
    bins of numbers, on the scale on which they are even; behind these may be one for missing cells. A tally that
    describes no column has no ``column``: its bins are of squared distances. One of sizes or categories has no
    ``edges``.
    """

    counts: Array
    sd: float
    possible: Flags
    column: SegmentColumn | None = None
    edges: Array = field(default_factory=lambda: np.zeros(0))

    @property
    def bins(self) -> Array:
        """In how many bins a row of each segment can be, (k,)."""
        bins: Array = np.maximum(self.possible.sum(axis=1), 1).astype(np.float64)
        return bins

    @property
    def values(self) -> int:
        """Bins of values; behind them may be one for missing cells, and unused ones."""
        return len(self.edges) - 1 if len(self.edges) else self.counts.shape[1]

    @property
    def variance(self) -> Array:
        """Of the noise on the sum of all bins, (k,)."""
        return self.sd**2 * self.bins


class Agreed(NamedTuple):
    """Sizes (..., k), and the counts (..., k, m) of every tally, which add up to them."""

    sizes: Array
    counts: tuple[Array, ...]


@dataclass(frozen=True, eq=False)
class SegmentTallies:
    """All that a release counted of its segments."""

    every: tuple[Tally, ...]

    @cached_property
    def released(self) -> Agreed:
        """What was released, made to agree."""
        return self.agree([one.counts for one in self.every])

    @cached_property
    def size_sd(self) -> Array:
        """Standard deviation of the noise on each agreed size, (k,)."""
        return 1 / np.sqrt(sum(1 / one.variance for one in self.every))

    @cached_property
    def published(self) -> size_estimates.Sizes:
        """The agreed sizes as they are published, with how far off they are."""
        return size_estimates.Sizes.publish(self.released.sizes, self.size_sd)

    @property
    def clear(self) -> Flags:
        """Which segments are somebody's, (k,)."""
        clear: Flags = self.released.sizes > _CLEAR * self.size_sd
        return clear

    @property
    def described(self) -> tuple[tuple[int, Tally, SegmentColumn], ...]:
        """The tallies that describe a column, each with its place."""
        told = ((place, one, one.column) for place, one in enumerate(self.every))
        return tuple((place, one, column) for place, one, column in told if column is not None)

    def find_shortening(self, radii: Array) -> Array:
        """How much of its residual a row loses where it is shortened to each of ``radii`` (k,), on average over the
        rows of all segments, unit coordinates: by the likely counts of distances that rows can have."""
        for one in self.every:
            if one.column is None and len(one.edges):
                there = one.possible.any(axis=0)
                counts = np.where(one.possible, one.counts, 0.0).sum(axis=0)[there]
                rows = max(float(np.maximum(self.released.sizes, 0.0).sum()), 1.0)
                distances = np.sqrt((one.edges[:-1] + one.edges[1:]) / 2)[there]
                lost: Array = np.maximum(distances - radii[:, None], 0.0) @ _find_likely_counts(counts, rows) / rows
                return lost
        return np.zeros(len(radii))

    def list_bin_ends(self, dim: int) -> Iterator[tuple[int, Tally, int, tuple[Array, Array]]]:
        """For each of ``dim`` coordinates whose column a tally describes: the place of the tally, it, the coordinate,
        and between which values of it the rows of each bin lie, (v,) each, even scale."""
        for place, tally, column in self.described:
            for nth in range(len(column.coding.labels(column.name)) if column.place < dim else 0):
                yield place, tally, column.place + nth, find_bin_ends(tally, column, nth)

    def agree(self, counts: Sequence[Array]) -> Agreed:
        """``counts`` (..., k, m) of every tally, made to agree by least squares: nothing is cut."""
        kept = [np.where(one.possible, noisy, 0.0) for one, noisy in zip(self.every, counts, strict=True)]
        sums = [one.sum(axis=-1) for one in kept]
        sizes: Array = sum(one / tally.variance for one, tally in zip(sums, self.every, strict=True)) * self.size_sd**2
        lacking = zip(kept, sums, self.every, strict=True)
        spread = tuple(one + ((sizes - own) / tally.bins)[..., None] * tally.possible for one, own, tally in lacking)
        return Agreed(sizes, spread)


def find_bin_ends(tally: Tally, column: SegmentColumn, nth: int) -> tuple[Array, Array]:
    """Between which values of the ``nth`` coordinate of its column the rows of each bin lie, (v,) each, even scale."""
    if len(tally.edges):
        return tally.edges[:-1], tally.edges[1:]
    number, coding = tally.values, column.coding
    if isinstance(coding, codings.Cycle):
        turns = (np.arange(number)[:, None] + np.linspace(0.0, 1.0, _PLACES_OF_ARC)) * tau / number
        places = (np.cos, np.sin)[nth](turns)
        return places.min(axis=1), places.max(axis=1)
    if isinstance(coding, codings.Nominal):
        corner: Array = np.eye(number)[nth]
        return corner, corner
    ranks: Array = np.arange(float(number)) + (1.0 if isinstance(coding, codings.Ordinal) else 0.0)
    return ranks, ranks


class Means(NamedTuple):
    """What a release tells of the mean of the rows of each segment, (k, d) each, on the scale on which it is even.

    ``by_bins`` and its ``bins_sd`` are what histograms say, ``centers`` are the published ones, off by ``centers_sd``.
    An infinite sd says that one of both says nothing.
    """

    by_bins: Array
    bins_sd: Array
    centers: Array
    centers_sd: Array

    @property
    def trust(self) -> Array:
        """The weight of the published centre, from 0 to 1."""
        coarse, fine = 1 / np.maximum(self.bins_sd, _TINY) ** 2, 1 / np.maximum(self.centers_sd, _TINY) ** 2
        return fine / np.maximum(coarse + fine, _TINY)

    def join(self, by_bins: Array, centers: Array) -> Array:
        """Both together, of any versions (..., k, d) of them: each with its weight."""
        joined: Array = by_bins + self.trust * (centers - by_bins)
        return joined

    @property
    def values(self) -> Array:
        """What was released, both together."""
        return self.join(self.by_bins, self.centers)

    @property
    def sd(self) -> Array:
        """How far off these are; infinite where nothing tells."""
        with np.errstate(divide="ignore"):
            return 1 / np.sqrt(self.bins_sd**-2.0 + self.centers_sd**-2.0)

    @property
    def error(self) -> Array:
        """How far the published centre is off, told like a standard deviation: ± holds nine in ten."""
        with np.errstate(invalid="ignore"):
            return _find_reach(np.abs(self.centers - self.values), self.sd) / NINE_IN_TEN


def estimate_means(
    tallies: SegmentTallies, made: profiles.Profile, algorithm: str, center_noise_sd: Array | None
) -> Means:
    """The means of the segments of a release. Its ``algorithm`` tells of noise of ``center_noise_sd`` (k,), unit
    coordinates, on each coordinate of a centre; None: of none."""
    even, noise = made.even, np.zeros(made.centers.shape)
    half = even.width / 2
    if center_noise_sd is not None:  # where a segment may be nobody's, its mean may lie anywhere
        noise = np.where(tallies.clear[:, None], np.reshape(center_noise_sd, (-1, 1)) * made.scale, half)
    by_bins, (bins_sd, counted_sd) = even.centers.copy(), np.full((2, *even.centers.shape), np.inf)
    for place, tally, at, ends in tallies.list_bin_ends(even.dim):
        averaged = _average(tally, tallies.released.counts[place], tallies.size_sd, ends)
        by_bins[:, at], counted_sd[:, at], bins_sd[:, at] = averaged
    apart = (even.centers - by_bins) / half  # before anything is cut, which would hide how far off bins are
    by_bins = np.clip(by_bins, even.lower, even.upper)
    bins_sd = np.where(np.isfinite(bins_sd), np.minimum(bins_sd, half), np.inf)
    if algorithm in NOISE_TELLS_ALL and center_noise_sd is not None:
        return Means(by_bins, bins_sd, even.centers, np.minimum(noise, half))
    known = noise / half  # of noise that nobody tells slack is all there is
    used = tallies.clear[:, None] & np.isfinite(bins_sd)
    variances = known**2 + (counted_sd / half) ** 2
    slack = _find_slack(apart[used] ** 2, variances[used], _REFUTED_OF.get(algorithm, _REFUTED))
    return Means(by_bins, bins_sd, even.centers, np.minimum(np.sqrt(known**2 + slack), 1.0) * half)


def measure_polish_error(tallies: SegmentTallies, step: PolishStep) -> Array:
    """How far off the last round of ``auto`` leaves each centre (k,): a standard deviation a coordinate, or inf."""
    assert step.center_noise_sd is not None
    radii = np.full(len(step.centers), step.clipping_radius) if step.clipping_radii is None else step.clipping_radii
    # What residuals are shortened by is lost, perhaps all in one direction: where rows are of two kinds, the rarer ones
    # lose it.
    lost = tallies.find_shortening(radii)
    noise = step.center_noise_sd**2 * (_STAYED + (1 - _STAYED) * step.kept_part)
    # A centre that takes its mean residual for noise stays, and is off by what it might have moved; one that takes the
    # count of its rows for noise may never have moved, and how far off it is nobody can tell.
    return np.where(step.stays, np.inf, np.sqrt(noise + lost**2 / step.centers.shape[1]))


def _find_likely_counts(noisy: Array, rows: float) -> Array:
    """The counts (m,) of ``rows`` together, none below 0, near ``noisy`` ones, that rise to one peak and fall."""
    fits = [np.r_[_make_rise(noisy[:peak]), _make_rise(noisy[peak:][::-1])[::-1]] for peak in range(1, len(noisy))]
    peaked = min(fits, key=lambda fit: float(((fit - noisy) ** 2).sum()))
    ordered = np.sort(peaked)[::-1]
    levels = (ordered.cumsum() - rows) / np.arange(1.0, len(noisy) + 1)
    counts: Array = np.maximum(peaked - levels[ordered > levels][-1], 0.0)
    return counts


def _make_rise(numbers: Array) -> Array:
    """The numbers (m,) that never fall and are nearest to ``numbers`` by least squares."""
    return np.asarray(isotonic_regression(numbers).x)


def _average(tally: Tally, counts: Array, size_sd: Array, ends: tuple[Array, Array]) -> tuple[Array, Array, Array]:
    """The mean of what is counted (k, m) in bins with these ``ends``, how far off it is by noise alone, and by where in
    their bins rows lie, too, (k,) each."""
    values, (low, high) = counts[:, : tally.values], ends
    middles, rows = (low + high) / 2, values.sum(axis=1)
    there = np.maximum(rows, tally.sd)
    mean = np.where(rows > 0, values @ middles / there, (low.min() + high.max()) / 2)
    weights = np.zeros(tally.counts.shape)
    weights[:, : tally.values] = (middles - mean[:, None]) / there[:, None]
    inside = (((np.maximum(values, 0.0) / there[:, None]) * (high - low)) ** 2).sum(axis=1) / 12
    noise = find_sum_sd(tally.sd, (weights**2).sum(axis=1), weights.sum(axis=1), tally.bins, size_sd)
    sd = np.where(rows > 0, noise, np.inf)
    return mean, sd, np.sqrt(sd**2 + inside)


def _find_slack(squares: Array, variances: Array, refuted: float) -> float:
    """The largest slack variance at which the differences are not too small to be true, ``refuted`` at that level."""
    if not squares.size:
        return float(_SLACKS[-1])
    misfit = (squares / (variances + _SLACKS[:, None])).sum(axis=1)
    possible = np.flatnonzero(misfit >= chdtri(squares.size, 1 - refuted))
    return float(_SLACKS[possible[-1]]) if possible.size else 0.0


def _find_reach(off: Array, sd: Array) -> Array:
    """How far from 0 a Gaussian that lies ``off`` with that ``sd`` is no more, as often as a ± says; (k, d)."""
    low, high = np.zeros(off.shape), off + NINE_IN_TEN * sd
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        holds = ndtr((middle - off) / np.maximum(sd, _TINY)) - ndtr((-middle - off) / np.maximum(sd, _TINY)) >= _COVERED
        low, high = np.where(holds, low, middle), np.where(holds, middle, high)
    return np.where(np.isfinite(sd), high, np.nan)


DRAWS = 200
# Numbers are written on a grid that is at most this part of their spread, and one of these, of any power of ten.
_PART_OF_SPREAD, _STEPS = 0.2, np.array([1.0, 2.0, 5.0])


class Bits:
    """Even numbers between 0 and 1 that follow from a seed alone."""

    def __init__(self, seed: str) -> None:
        self._seed, self._asked = seed, 0

    def draw_even(self, *shape: int) -> Array:
        """Numbers, and below them along the first axis their mirror image around ½."""
        self._asked += 1
        bits = shake_256(f"{self._seed} {self._asked}".encode()).digest(8 * prod(shape))
        numbers = ((np.frombuffer(bits, dtype="<u8") >> np.uint64(11)) + 0.5) / 2.0**53
        one = numbers.astype(np.float64).reshape(shape)
        return np.concatenate([one, 1 - one])

    def draw_laplace(self, sd: float, *shape: int) -> Array:
        """Laplace noise with that standard deviation."""
        half = 2 * self.draw_even(*shape) - 1
        return -sd / sqrt(2) * np.sign(half) * np.log1p(-np.abs(half))


@dataclass(frozen=True, eq=False)
class Draws:
    """Versions of what is true of each segment.

    Attributes
    ----------
    sizes : array of shape (D, k)
        Rows; none below 0.
    counts : tuple of arrays of shape (D, k, m)
        Of every tally.
    means : array of shape (D, k, d)
        Of the rows of each segment, data units where a column is even; NaN where nothing tells.
    tallies : SegmentTallies
    made : Profile
        What centres have coordinates in.
    """

    sizes: Array
    counts: tuple[Array, ...]
    means: Array
    tallies: SegmentTallies
    made: profiles.Profile

    @property
    def k(self) -> int:
        """Segments."""
        return len(self.sizes.T)

    @property
    def averaged(self) -> dict[str, int]:
        """The coordinates that are means of a column of numbers, by its name: even ones, whose means are told."""
        return {
            one.name: place
            for place, one in enumerate(self.made.columns)
            if one.kind == "number" and type(one.declared) in (codings.Coding, codings.Dates)
            if np.isfinite(self.means[:, :, place]).all()
        }

    def find_tally(self, name: str) -> tuple[Tally, SegmentColumn, Array]:
        """What describes a column, and its counts in every draw."""
        found = {column.name: (tally, column, self.counts[place]) for place, tally, column in self.tallies.described}
        if name not in found:
            raise make_refusal("not_described", name=name, columns=[*found])
        return found[name]


def draw_versions(tallies: SegmentTallies, means: Means, made: profiles.Profile, *, seed: str) -> Draws:
    """So many versions of the segments of a release, the same for everybody who has the ``seed``: the hash of its
    transcript."""
    bits, half = Bits(seed), DRAWS // 2
    noisy = [one.counts - bits.draw_laplace(one.sd, half, *one.counts.shape) for one in tallies.every]
    sizes, counts = tallies.agree(noisy)
    even = made.even
    by_bins = np.broadcast_to(means.by_bins, (DRAWS, *means.by_bins.shape)).copy()
    for place, tally, at, ends in tallies.list_bin_ends(even.dim):
        by_bins[:, :, at] = _average_draws(counts[place][:, :, : tally.values], *ends, bits)
    off = np.where(np.isfinite(means.centers_sd), means.centers_sd, 0.0)
    published = means.centers - ndtri(bits.draw_even(half, *means.centers.shape)) * off
    joined = np.clip(means.join(by_bins, published), even.lower, even.upper)
    return Draws(np.maximum(sizes, 0.0), counts, np.where(np.isfinite(means.sd), joined, np.nan), tallies, made)


def _average_draws(counts: Array, low: Array, high: Array, bits: Bits) -> Array:
    """Means (D, k) of what is counted in bins (D, k, v): each bin's rows lie somewhere in it, all the same in one draw;
    anywhere between the ends where nobody is there."""
    number, k, values = counts.shape
    places = low + bits.draw_even(number // 2, k, values) * (high - low)
    rows, (least, most) = counts.sum(axis=2), (low.min(), high.max())
    anywhere, there = least + (most - least) * bits.draw_even(number // 2, k), rows > 0
    found = (counts * places).sum(axis=2) / np.where(there, rows, 1.0)
    means: Array = np.clip(np.where(there, found, anywhere), least, most)
    return means


def divide(over: Array, under: Array, *, most: float = 1.0) -> Array:
    """A part of a whole in each draw, from 1 - ``most`` to ``most``; anywhere from 0 to 1, evenly, where nobody is."""
    there = under > _TINY
    anywhere = ((np.arange(len(under)) + 0.5) / len(under)).reshape(-1, *[1] * (under.ndim - 1))
    return np.where(there, np.clip(over / np.where(there, under, 1.0), 1.0 - most, most), anywhere)


def format_draws(draws: Draws) -> str:
    """``draws.csv``: a line for each segment of each draw; rows, means of columns of numbers, shares of categories.

    Sizes are whole rows; other numbers lie on a grid of a fifth of their spread over the draws at most.
    """
    columns = [*_list_columns(draws)]
    told = [_write(values, whole=name == "rows") for name, values in columns]
    lines = [
        [f"{draw + 1}", f"{segment + 1}", *(texts[segment][draw] for texts in told)]
        for draw in range(len(draws.sizes))
        for segment in range(draws.k)
    ]
    return format_csv([["draw", "segment", *(name for name, _ in columns)], *lines])


def _list_columns(draws: Draws) -> Iterator[tuple[str, Array]]:
    """What a column is called, and its numbers (D, k)."""
    yield "rows", draws.sizes
    for name, place in draws.averaged.items():
        yield f"mean of {name}", draws.means[:, :, place]
    for place, _, column in draws.tallies.described:
        for at, label in enumerate(column.labels):
            counts = draws.counts[place]
            yield f"share of {label} in {column.name}", divide(counts[:, :, at], counts.sum(axis=2))


def _write(values: Array, *, whole: bool) -> list[list[str]]:
    """Numbers (D, k) as they are written, a list for each segment: digits that are noise alone take most of the zip."""
    told = []
    for column, spread in zip(values.T, values.std(axis=0).tolist(), strict=True):
        widest = spread * _PART_OF_SPREAD if spread > 0 and not whole else 1.0
        digits = floor(log10(widest))
        step = max(one for one in _STEPS * 10.0**digits if one <= widest)
        told.append([f"{one + 0.0:.{max(0, -digits)}f}" for one in (np.rint(column / step) * step).tolist()])
    return told
