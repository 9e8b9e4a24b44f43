"""Bounds bought from the rows with a part of ε, where their owner cannot declare them.

First a noisy histogram over magnitudes, which have round ends and no range to be known: bounds are the ends of the
bins that surely hold rows. A few rows beyond may be cut, but no range is opened by noise alone. Then a histogram over
equal bins in between, which finds the place of numbers that lie far from 0 (years, say): ends are moved in, to round
numbers again, as far as the noise allows to say that hardly a row is cut.

Why not a quantile at once: incomes are mostly 0 and rarely huge, and the rare ones are what a clustering turns on, so
that a range twice too wide costs less than one that cuts them. Constants were chosen by hand, on Adult and made-up
columns (``benchmarks/bought.py``, ``docs/findings.md``).

References
----------
Bounds from a histogram of magnitudes: Vadhan 2017, "The Complexity of Differential Privacy", and folklore since.
"""

from dataclasses import dataclass
from math import ceil, floor, log, log10
from typing import NamedTuple

import numpy as np

from dpviz.core import AnySource, Array, Entry, Relation, check
from dpviz.releases.described_table import Ends, EqualBins, Magnitudes, NoisyBins, count_histograms, spell_out_columns
from dpviz.releases.release_sentences import make_refusal
from dpviz.tables import Content, Declaration, codings, declarations
from dpviz.words import list_names

# How bounds are read from noisy bins.
# Chosen by hand, on Adult and made-up columns: ``benchmarks/bought.py`` says what they are worth.

_FEW_BINS = 3  # bins of magnitudes that nearly all rows of a column are taken to lie in
_MAGNITUDE_SHARE = 0.75  # of a column's ε for magnitudes; the rest is for equal bins
# A bin holds rows if its noisy count is beyond what noise reaches in any of the empty ones: so many scales above the
# logarithm of their number, which noise exceeds once in 300 columns.
_CERTAIN_SCALES = 5.0
_NEAR_SCALES = 6.0  # so many scales do in a bin beside one that holds rows
_NEAR_BINS = 3  # beside is so many bins away
# An end this much nearer to 0 than the other, in parts of that one, is as good as 0: which cuts nothing where both
# have one sign, and hardly anything where they have not.
_BELOW_NOUGHT = -0.001
_ABOVE_NOUGHT = 0.1
_EQUAL_BINS = 50  # equal bins between the ends of the magnitudes
_MOST_CUT = 0.001  # the part of the rows that may be cut
_MOST_UNSURE = 0.005  # the part of the rows that noise may leave unknown, if nothing is gained
_NOISE_SDS = 2.0  # noise of a sum is allowed for with so many of its standard deviations
_ROUND_STEPS = 10  # so many steps of round numbers make about the range


_LOG = codings.Stretched("log")


@dataclass(frozen=True)
class BoughtColumn:
    """The bounds that were bought for a column, data units; ``sure`` says whether any bin stood out of the noise."""

    name: str
    lower: float
    upper: float
    sure: bool


@dataclass(frozen=True, eq=False)
class BoughtBounds:
    """A declaration without open bounds, and what was paid: ``entries`` of pure ε, which add up to ``epsilon``."""

    declaration: Declaration
    columns: tuple[BoughtColumn, ...]
    entries: tuple[Entry, ...]
    epsilon: float

    @property
    def words(self) -> str:
        """What was bought, and at which price; or that nothing had to be."""
        if not self.columns:
            return "Every bound is declared: none was bought."
        unsure = [column.name for column in self.columns if not column.sure]
        doubt = f" Of {list_names(unsure)} noise hides the range: give more ε, or declare bounds." if unsure else ""
        names = list_names([column.name for column in self.columns])
        return f"The bounds of {names} were bought for ε = {self.epsilon:g} in all; a few rows beyond are cut.{doubt}"


def refuse_too_few(declaration: Declaration, *, epsilon: float) -> None:
    """Refuse to buy what noise would hide: ``epsilon`` a column, where the number of rows is public.

    A bin has to stand out of its noise; nearly all rows are taken to lie in a few.
    """
    scale = declaration.rows_per_person * Relation(declaration.relation).rows / (_MAGNITUDE_SHARE * epsilon)
    fewest = ceil(_FEW_BINS * (log(Magnitudes().number) + _CERTAIN_SCALES) * scale)
    if declaration.n_public is not None and declaration.n_public < fewest:
        raise make_refusal("too_few_rows", epsilon=epsilon, fewest=fewest, rows=declaration.n_public)


def buy_bounds(source: Content, declaration: Declaration, *, epsilon: float, noise: AnySource) -> BoughtBounds:
    """Bounds, data units, for every column that ``declaration`` leaves open, bought with ``epsilon`` each; O(n) each.

    A bound that is declared beside an open one is kept.

    **Guarantee.** Pure ε: ``epsilon`` times the number of such columns, for the declared relation and unit of privacy.
    Everything else follows from the two noisy histograms of each column and from what is declared.
    """
    declared = spell_out_columns(source, declaration)
    wanted = declared.open_columns
    if not wanted:
        return BoughtBounds(declared, (), (), 0.0)
    check.positive(epsilon=epsilon)
    sizes = {name: Magnitudes() for name in wanted}
    share = _MAGNITUDE_SHARE * epsilon
    coarse, paid = count_histograms(source, declared, sizes, epsilon=share, noise=noise, note="magnitudes of {}")
    on_log = {name for name in wanted if declared.codings.get(name) == _LOG}
    ranges = {
        bins.column: (_find_log_range if bins.column in on_log else _find_range)(bins, declared.bounds[bins.column])
        for bins in coarse
    }
    equal = {
        name: EqualBins(*found.outer, _EQUAL_BINS, _LOG if name in on_log else codings.NUMBER)
        for name, found in ranges.items()
    }
    rest = (1 - _MAGNITUDE_SHARE) * epsilon
    note = "where {} lies in its range"
    fine, also_paid = count_histograms(source, declared, equal, epsilon=rest, noise=noise, note=note)
    columns, entries = tuple(_narrow(ranges[bins.column], equal[bins.column], bins) for bins in fine), paid + also_paid
    origin = declarations.describe_bought_origin(epsilon)
    new = {column.name: declarations.ColumnBounds(column.lower, column.upper, origin) for column in columns}
    complete = declared.with_bounds(declared.columns, [new.get(name, old) for name, old in declared.bounds.items()])
    return BoughtBounds(complete, columns, entries, sum(entry.epsilon for entry in entries))


class _Range(NamedTuple):
    """``outer`` ends hold nearly all rows; the rows beyond the ``inner`` ones are known to be many."""

    outer: Ends
    inner: Ends
    sure: bool


def _find_range(bins: NoisyBins, declared: declarations.ColumnBounds) -> _Range:
    """From the first to the last magnitude that holds rows, with 0 for a bound that is as good as 0."""
    noisy = bins.noisy_counts[:-1]  # the last bin is that of missing cells
    first, last, sure = _find_held_bins(noisy, bins.scale)
    lower, upper = Magnitudes().find_range(first, last)
    if _BELOW_NOUGHT * upper <= lower <= _ABOVE_NOUGHT * upper:
        lower = 0.0
    if _ABOVE_NOUGHT * lower <= upper <= _BELOW_NOUGHT * lower:
        upper = 0.0
    outer = _keep_declared_end(Ends(lower, upper), declared)
    at_nought = first == last == Magnitudes.middle
    inner = outer if at_nought or not sure else _take_declared(_find_inner(first, last), declared)
    return _Range(outer, inner, sure)


def _find_log_range(bins: NoisyBins, declared: declarations.ColumnBounds) -> _Range:
    """The same of amounts on a log scale: what is not above 0 is moved to the lower bound, and says nothing of it."""
    noisy = bins.noisy_counts[:-1].copy()
    noisy[: Magnitudes.middle + 1] = -np.inf
    first, last, sure = _find_held_bins(noisy, bins.scale)
    lower, upper = _take_declared(Magnitudes().find_range(first, last), declared)
    if lower >= upper:  # what was found contradicts what is declared
        lower, upper = (lower, 10 * lower) if declared.upper is None else (upper / 10, upper)
    outer = Ends(lower, upper)
    if not sure:
        return _Range(outer, outer, sure)
    inner = _find_inner(first, last)
    within = Ends(min(max(inner.lower, lower), upper), max(min(inner.upper, upper), lower))
    return _Range(outer, _take_declared(within, declared), sure)


def _find_inner(first: int, last: int) -> Ends:
    """What no end may pass: a bin at one end of the range may be left by the other only where it is the only one."""
    return Ends(Magnitudes().find_range(first, first).upper, Magnitudes().find_range(last, last).lower)


def _find_held_bins(noisy: Array, scale: float) -> tuple[int, int, bool]:
    """The first and last bin that hold rows: beyond all noise, and the nearest ones beside them, again and again.

    Where none stands out, the fullest bin twice, which is not sure.
    """
    certain = np.flatnonzero(noisy > (log(len(noisy)) + _CERTAIN_SCALES) * scale)
    if len(certain) == 0:
        return int(noisy.argmax()), int(noisy.argmax()), False
    first, last = int(certain[0]), int(certain[-1])
    likely = np.flatnonzero(noisy > _NEAR_SCALES * scale)
    while len(near := likely[(likely >= first - _NEAR_BINS) & (likely < first)]):
        first = int(near[0])
    while len(near := likely[(likely <= last + _NEAR_BINS) & (likely > last)]):
        last = int(near[-1])
    return first, last, True


def _take_declared(found: Ends, declared: declarations.ColumnBounds) -> Ends:
    """What was found, with what is declared of an end in its place."""
    lower = found.lower if declared.lower is None else declared.lower
    return Ends(lower, found.upper if declared.upper is None else declared.upper)


def _keep_declared_end(found: Ends, declared: declarations.ColumnBounds) -> Ends:
    """What was found with what is declared of one end, which is kept; never an empty range."""
    lower, upper = _take_declared(found, declared)
    if lower < upper:
        return Ends(lower, upper)
    # All that is known is one number, or what was found contradicts what is declared.
    room = max(abs(lower), abs(upper), float(Magnitudes.ends[0]))
    return Ends(lower, lower + room) if declared.upper is None else Ends(upper - room, upper)


def _narrow(found: _Range, equal: EqualBins, bins: NoisyBins) -> BoughtColumn:
    """The narrowest part of the range that surely holds nearly all rows, out to round numbers.

    The estimate of what is cut must be a thousandth of the rows, but for its noise (two standard deviations); and that
    noise must be half a percent of the rows, or more in proportion where the range becomes narrower: what is then cut,
    perhaps, is little beside what a range far too wide would cost. A magnitude that is known to hold rows is never left
    out.
    """
    counts, edges = bins.noisy_counts[:-1], equal.edges
    rows = max(float(counts.sum()), 0.0)
    before, upto = np.r_[0.0, counts.cumsum()], np.arange(_EQUAL_BINS + 1)
    first, end = np.meshgrid(upto, upto, indexing="ij")
    cut, kept = rows - (before[end] - before[first]), end - first
    noise = _NOISE_SDS * bins.sd * np.sqrt(np.maximum(_EQUAL_BINS - kept, 0))
    allowed = (kept > 0) & (cut <= _MOST_CUT * rows + noise)
    allowed &= noise * np.maximum(kept, 1) <= _MOST_UNSURE * rows * _EQUAL_BINS
    allowed &= (edges[first] <= found.inner.lower) & (edges[end] >= found.inner.upper)
    if not allowed.any():
        return BoughtColumn(bins.column, *found.outer, found.sure)
    fewest = np.where(allowed, kept, _EQUAL_BINS + 1).ravel()
    # Of equally narrow parts that which cuts least.
    low, high = np.unravel_index(np.lexsort((cut.ravel(), fewest))[0], kept.shape)
    inner = Ends(float(edges[low]), float(edges[high]))
    rounded = (_round_amounts if equal.coding is _LOG else _round_outward)(inner, found.outer)
    return BoughtColumn(bins.column, *rounded, found.sure)


def _round_amounts(inner: Ends, outer: Ends) -> Ends:
    """``inner`` out to one digit, but not beyond ``outer``: on a log scale each end has its own size."""
    steps = [10.0 ** floor(log10(end)) for end in inner]
    lower = floor(inner.lower / steps[0] + 1e-9) * steps[0]
    upper = ceil(inner.upper / steps[1] - 1e-9) * steps[1]
    return Ends(max(lower, outer.lower), min(upper, outer.upper))


def _round_outward(inner: Ends, outer: Ends) -> Ends:
    """``inner`` out to multiples of 1, 2 or 5 times a power of ten, about a tenth of it, but not beyond ``outer``.

    >>> _round_outward(Ends(1975.0, 2031.0), Ends(1000.0, 5000.0))
    Ends(lower=1975.0, upper=2035.0)
    """
    tenth = (inner.upper - inner.lower) / _ROUND_STEPS
    power = floor(log10(tenth))
    digit = max(m for m in (1, 2, 5) if m * 10.0**power <= tenth * (1 + 1e-9) or m == 1)
    # Divided by a whole number where the step is a fraction, so that 0.3 is the float nearest to it.
    whole, parts = (digit * 10**power, 1) if power >= 0 else (digit, 10**-power)
    lower = np.floor(inner.lower * parts / whole + 1e-9) * whole / parts
    upper = np.ceil(inner.upper * parts / whole - 1e-9) * whole / parts
    # There is one 0.
    return Ends(max(float(lower), outer.lower) + 0.0, min(float(upper), outer.upper) + 0.0)
