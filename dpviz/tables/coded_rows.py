"""Columns as codes of public bins: what histograms of columns that were not clustered are made of.

A rule turns each cell of a column into a whole number by looking at that cell alone, so that who else is in the table
has no say in it. A code then becomes a unit coordinate, the middle of its bin, so that it can lie in a row beside
others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pandas as pd

from dpviz.core import Array, Codes, check, lattice
from dpviz.tables.loaded_table import list_names, make_canonical_ids, quote_name
from dpviz.tables.text_type import TEXT

MOST_BINS = 2**12
"""Bins of one column, that of missing cells included: with more, a code would not survive the lattice of rows."""
OTHER, MISSING = "(any other)", "(missing)"


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
            raise check.RequestError(
                f"The bounds of bins are {self.lower:g} and {self.upper:g}: give two finite numbers, the lower one "
                "first."
            )
        check.within(1, MOST_BINS - 1, bins=self.bins)

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


@dataclass(frozen=True)
class Categories:
    """The declared ``names`` in their order, then a bin for any other text, then one for empty cells.

    Texts are compared as those of an id column: without blanks around them, letters composed, ``7.0`` as ``7``.
    """

    names: tuple[str, ...]

    def __post_init__(self) -> None:
        if not self.names:
            raise check.RequestError("No category is declared: name at least one, as cells of the column write it.")
        if len(self.names) > MOST_BINS - 2:
            raise check.RequestError(
                f"{len(self.names):,} categories are declared, and at most {MOST_BINS - 2:,} are allowed: name the "
                "common ones, all others share one bin."
            )
        written = _read_texts(list(self.names))
        if empty := [name for name, text in zip(self.names, written, strict=True) if text is None]:
            raise check.RequestError(f"Category {quote_name(empty[0])} is empty: empty cells have a bin of their own.")
        if len({*written}) < len(written):
            raise check.RequestError(f"Categories {list_names(self.names)} repeat: name each once.")

    @property
    def number(self) -> int:
        return len(self.names) + 2

    @property
    def labels(self) -> tuple[str, ...]:
        """What each bin is called."""
        return (*self.names, OTHER, MISSING)

    def codes(self, column: Any) -> Codes:
        """The bin of each text (or number, as text) of shape (n,)."""
        cells = pd.Series(column).reset_index(drop=True)
        texts = make_canonical_ids(cells)
        place = {text: code for code, text in enumerate(_read_texts(list(self.names)))}
        codes = texts.map(place).fillna(len(self.names)).to_numpy(dtype=np.int64)
        return np.where(texts.isna().to_numpy(), len(self.names) + 1, codes)


def code_rows(codes: Codes, numbers: Codes, *, bits: int = lattice.ROW_BITS) -> Array:
    """Unit coordinates (n, q) of codes (n, q) out of ``numbers`` (q,): the middles of their bins.

    Bin c of m has its middle at (2c + 1) / m - 1, rounded towards 0 to the lattice of rows, 2^-``bits``; no bin is so
    narrow that rounding leads out of it.

    Parameters
    ----------
    codes : int array of shape (n, q)
        From 0.
    numbers : int array of shape (q,)
        Bins of each column.
    bits : int
        Coordinates are multiples of 2^-bits.

    Returns
    -------
    array of shape (n, q)
        Unit coordinates, on the lattice.

    >>> code_rows(np.array([[0, 2], [1, 0]]), np.array([2, 4])).tolist()
    [[-0.5, 0.25], [0.5, -0.75]]

    Raises
    ------
    RequestError
        If a column has more bins than the lattice tells apart.
    """
    most = min(MOST_BINS, 2 ** (bits - 1))
    check.within(1, most, number_of_bins=int(np.max(numbers, initial=1)))
    return lattice.round_inward((2 * np.asarray(codes) + 1) / np.asarray(numbers) - 1, bits)


def _read_texts(names: list[str]) -> list[str | None]:
    written = make_canonical_ids(pd.Series(names, dtype=TEXT))
    return [None if missing else str(text) for text, missing in zip(written, written.isna(), strict=True)]
