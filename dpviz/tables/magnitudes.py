"""Magnitudes of numbers whose range nobody knows: public bins of either sign that end at round numbers.

Bins are wide where numbers are large, so that some hundred of them hold whatever a column may hold; and because they
end at 1, 2 or 5 times a power of ten, bounds that are read off them need no rounding.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from dpviz.core import Array, Codes

_SMALLEST, _LARGEST = -6, 15
# Parsed, not multiplied: 2e-6 is the float nearest to it.
_ENDS = np.array([float(f"{m}e{power}") for power in range(_SMALLEST, _LARGEST) for m in (1, 2, 5)])


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
        """From where bin ``first`` begins to where bin ``last`` ends, ``first`` <= ``last``; the middle one is 0.

        What lies in the bins at the very ends has no end: it is given that of a bin ten times as far.

        Parameters
        ----------
        first, last : int
            Index of a bin.

        Returns
        -------
        Ends
            Round numbers, data units.

        >>> Magnitudes().find_range(Magnitudes.middle, Magnitudes.middle + 20)
        Ends(lower=0.0, upper=5.0)
        """
        beyond = np.r_[self.ends, self.ends[-1] * 10]
        low, high = first - self.middle, last - self.middle
        lower = beyond[low - 1] if low > 0 else -beyond[-low] if low < 0 else 0.0
        upper = beyond[high] if high > 0 else -beyond[-high - 1] if high < 0 else 0.0
        return Ends(float(lower), float(upper))
