"""Rules that turn the cells of a column into codes of public bins: what histograms of columns are made of.

A rule turns each cell into a whole number by looking at that cell alone, so that who else is in the table has no say in
it. A code then becomes a unit coordinate, the middle of its bin, so that it can lie in a row beside others.

Where nobody knows the range of a column, bins are those of magnitudes: wide where numbers are large, so that some
hundred of them hold whatever a column may hold; and because they end at 1, 2 or 5 times a power of ten, bounds that are
read off them need no rounding.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from dpviz.core import Array, Codes, check, lattice
from dpviz.releases.release_sentences import make_refusal
from dpviz.tables import codings

_SMALLEST, _LARGEST = -6, 15
# Parsed, not multiplied: 2e-6 is the float nearest to it.
_ENDS = np.array([float(f"{m}e{power}") for power in range(_SMALLEST, _LARGEST) for m in (1, 2, 5)])


class CodingRule(Protocol):
    """A public rule from one cell to one of ``number`` bins."""

    @property
    def number(self) -> int:
        """Bins in all; codes are 0, 1, ... below it."""
        ...

    def codes(self, column: Any) -> Codes:
        """The bin of each cell of a column of shape (n,)."""
        ...


@dataclass(frozen=True)
class EqualBins:
    """``bins`` equal parts of the bounds ``lower`` to ``upper``, data units, and a last bin for missing cells.

    A number outside the bounds is moved to the nearer one; what is no finite number is missing.
    """

    lower: float
    upper: float
    bins: int

    def __post_init__(self) -> None:
        if not (np.isfinite([self.lower, self.upper, self.upper - self.lower]).all() and self.lower < self.upper):
            raise make_refusal("bin_bounds", lower=self.lower, upper=self.upper)
        check.within(1, codings.MOST_BINS - 1, bins=self.bins)

    @property
    def number(self) -> int:
        return self.bins + 1

    @property
    def edges(self) -> Array:
        """Where bins begin and end, data units, shape (bins + 1,)."""
        return np.linspace(self.lower, self.upper, self.bins + 1)

    def codes(self, column: npt.ArrayLike) -> Codes:
        """The bin of each number of shape (n,)."""
        values = np.asarray(column, dtype=np.float64)
        known = np.isfinite(values)
        part = (np.clip(np.where(known, values, self.lower), self.lower, self.upper) - self.lower) / (
            self.upper - self.lower
        )
        codes: Codes = np.minimum((part * self.bins).astype(np.int64), self.bins - 1)
        return np.where(known, codes, self.bins)


class Ends(NamedTuple):
    """Where a range of bins begins and ends, data units."""

    lower: float
    upper: float


@dataclass(frozen=True)
class Magnitudes:
    """Bins (1, 2], (2, 5], (5, 10], ... from a millionth to 5·10^14, mirrored below 0; then one for missing cells.

    The bin in the middle holds what is no larger than a millionth; those at the ends hold all that is larger. A number
    is compared with public constants alone: nothing is rounded, and no other record has a say.
    """

    ends: ClassVar[Array] = _ENDS
    middle: ClassVar[int] = len(_ENDS)

    @property
    def number(self) -> int:
        return 2 * self.middle + 2

    def codes(self, column: npt.ArrayLike) -> Codes:
        """The bin of each number of shape (n,)."""
        values = np.asarray(column, dtype=np.float64)
        known = np.isfinite(values)
        values = np.where(known, values, 0.0)
        size = np.searchsorted(self.ends, np.abs(values), side="left").astype(np.int64)
        codes: Codes = self.middle + np.where(values < 0, -size, size)
        return np.where(known, codes, self.number - 1)

    def find_range(self, first: int, last: int) -> Ends:
        """From where bin ``first`` begins to where bin ``last`` ends, round numbers, data units; the middle one is 0.

        What lies in the bins at the very ends has no end: it is given that of a bin ten times as far.

        >>> Magnitudes().find_range(Magnitudes.middle, Magnitudes.middle + 20)
        Ends(lower=0.0, upper=5.0)
        """
        beyond = np.r_[self.ends, self.ends[-1] * 10]
        low, high = first - self.middle, last - self.middle
        lower = beyond[low - 1] if low > 0 else -beyond[-low] if low < 0 else 0.0
        upper = beyond[high] if high > 0 else -beyond[-high - 1] if high < 0 else 0.0
        return Ends(float(lower), float(upper))


def code_rows(codes: Codes, numbers: Codes, *, bits: int = lattice.ROW_BITS) -> Array:
    """Unit coordinates (n, q) of codes (n, q) from 0, out of ``numbers`` (q,): the middles of their bins.

    Bin c of m has its middle at (2c + 1) / m - 1, rounded towards 0 to the lattice of rows, 2^-``bits``; no bin is so
    narrow that rounding leads out of it.

    >>> code_rows(np.array([[0, 2], [1, 0]]), np.array([2, 4])).tolist()
    [[-0.5, 0.25], [0.5, -0.75]]
    """
    most = min(codings.MOST_BINS, 2 ** (bits - 1))
    check.within(1, most, number_of_bins=int(np.max(numbers, initial=1)))
    return lattice.round_inward((2 * np.asarray(codes) + 1) / np.asarray(numbers) - 1, bits)
