"""The lattice that rows and released points lie on, so that products and sums of them are exact.

Coordinates of rows are whole multiples of 2^-20, those of released points of 2^-17 (unit coordinates), rounded towards
0. Why sums then know no order, and which operations may come before a rounding, is in ``docs/proofs/exact-sums.md``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import ceil, floor, log2
from threading import local
from typing import Any, ClassVar

import numpy as np

from dpviz.core import check
from dpviz.core.arrays import Array, Codes

# Coordinates of rows are multiples of 2^-ROW_BITS, or coarser where the region is long; those of released points, of
# planes and of frames are multiples of 2^-POINT_BITS.
ROW_BITS, POINT_BITS = 20, 17
# Vectors that are multiplied with each other are rounded to this part of their greatest length.
FACTOR_BITS = 15
# Losses of a row are rounded down to multiples of 2^-LOSS_BITS, or coarser where the region is long.
LOSS_BITS = 20
# Whole numbers up to 2^53 are exact as floats, up to 2^24 as floats of half the size.
_WHOLE, WHOLE_SHORT = 53, 24
# Totals are 64-bit whole numbers: what a row adds is bounded so that so many rows fit.
MOST_ROWS = 2**30
# A vector that was shortened must not exceed its length by rounding.
SHRINK = 1.0 - 1e-13

_SCRATCH = local()


@dataclass(frozen=True, eq=False)
class ExactRows:
    """Some rows on the lattice, for questions: only a row source makes them, so that no other rows get in.

    Parameters
    ----------
    stored : array of shape (rows, d)
        As the source holds them, dense in either size of floats, or sparse. Not to be written to.
    padded : array of shape (rows, d + 1) or None
        Dense rows as floats, with a column of ones behind them; in use until the source's next chunk.
    bits : int
        Coordinates are multiples of 2^-bits.
    radius : float
        No row is longer.
    shared : dict
        What several questions about these rows need, computed once.
    """

    stored: Any
    padded: Array | None
    bits: int
    radius: float
    shared: dict[Any, Any] = field(default_factory=dict)

    @classmethod
    def dense(cls, rows: Array, bits: int, radius: float) -> ExactRows:
        """Rows (n, d), unit coordinates, just rounded to multiples of 2^-``bits``, none longer than ``radius``.

        Parameters
        ----------
        rows
        bits
        radius

        Returns
        -------
        ExactRows
        """
        return cls(rows, np.concatenate([rows, np.ones((len(rows), 1))], axis=1), bits, radius)

    def __len__(self) -> int:
        return int(self.stored.shape[0])

    def select(self, some: Codes | slice) -> ExactRows:
        """Some of these rows, by their places."""
        padded = None if self.padded is None else self.padded[some]
        return ExactRows(self.stored[some], padded, self.bits, self.radius)

    @property
    def values(self) -> Any:
        """The rows as floats (rows, d), or sparse."""
        return self.stored if self.padded is None else self.padded[:, :-1]


def round_inward(values: Any, bits: int) -> Array:
    """``values`` of any shape rounded towards 0 to multiples of 2^-bits, none larger in magnitude; there is one 0.

    Parameters
    ----------
    values
    bits

    Returns
    -------
    array
        Shape as the values.
    """
    rounded: Array = np.multiply(values, 2.0**bits)
    np.trunc(rounded, out=rounded)
    rounded *= 2.0**-bits
    rounded += 0.0  # -0.0 becomes 0.0: equal rows are equal bytes
    return rounded


def round_points(values: Any) -> Array:
    """Released or public points, planes or axes on their lattice; the very array where it lies there already."""
    given = np.asarray(values, dtype=np.float64)
    rounded = round_inward(given, POINT_BITS)
    return given if np.array_equal(given, rounded) else rounded


class OnLattice:
    """A public value whose arrays of released or public points, the fields ``rounded``, lie on their lattice."""

    _rounded: ClassVar[tuple[str, ...]]

    def __init_subclass__(cls, *, rounded: tuple[str, ...] = ()) -> None:
        cls._rounded = (*getattr(cls, "_rounded", ()), *rounded)

    def __post_init__(self) -> None:
        for name in self._rounded:
            if (given := getattr(self, name)) is not None:
                object.__setattr__(self, name, round_points(given))


def shorten(vectors: Array, squared: Array, length: float, bits: int) -> Array:
    """``vectors`` (n, d) of these ``squared`` lengths (n,) shortened to that length, rounded to the lattice again.

    Parameters
    ----------
    vectors : array of shape (n, d)
        None shorter than ``length``.
    squared : array of shape (n,)
        Their squared lengths, exact.
    length : float
        Unit coordinates.
    bits : int
        Coordinates are multiples of 2^-bits.

    Returns
    -------
    array of shape (n, d)
        None longer than ``length``.
    """
    return round_inward(vectors * (length * SHRINK / np.sqrt(squared))[:, None], bits)


def count_quanta(values: Array, bits: int) -> Codes:
    """Sums of multiples of 2^-bits as whole numbers of that quantum.

    Parameters
    ----------
    values : array
        Whole multiples of the quantum, of any shape.
    bits

    Returns
    -------
    int array
        Shape as the values.
    """
    return (values * 2.0**bits).astype(np.int64)


def count_row_bits(radius: float) -> int:
    """The bits of rows of at most that length: their products with points, and their squared distances, are exact.

    >>> count_row_bits(1.0), count_row_bits(28.0), count_row_bits(300.0)
    (20, 20, 17)

    Raises
    ------
    RequestError
        If no bits are enough.
    """
    squared = 2 * log2(max(radius, 1.0))
    of_products = _WHOLE - POINT_BITS - ceil(squared + log2(3))
    of_distances = floor((_WHOLE - 2 - squared) / 2)
    bits = min(ROW_BITS, of_products, of_distances)
    if bits < POINT_BITS:
        raise check.RequestError(
            f"Rows may be {radius:.3g} half-widths long, too long for exact sums: declare a radius, or fewer columns."
        )
    return bits


def count_loss_bits(radius: float) -> int:
    """The bits of losses of rows and centres in a region of that radius.

    >>> count_loss_bits(1.0), count_loss_bits(300.0)
    (20, 13)
    """
    return min(LOSS_BITS, floor(62 - log2(MOST_ROWS) - 2 - 2 * log2(max(radius, 1.0))))


def make_mark(centers: int) -> int:
    """The lowest bits, all set, that hold the number of one of so many ``centers``.

    >>> [make_mark(k) for k in (1, 2, 3, 16, 17)]
    [1, 1, 3, 15, 31]
    """
    return (1 << max(1, (centers - 1).bit_length())) - 1


def count_mark_bits(centers: Array, radius: float, bits: int) -> int | None:
    """Empty bits below all 2 x·c - |c|² for a mark of each of ``centers`` (k, d); None where there is no room.

    Parameters
    ----------
    centers : array of shape (k, d)
        Unit coordinates, on the lattice of points.
    radius
        Largest length of a row, unit coordinates, which are multiples of 2^-bits.
    bits

    Returns
    -------
    int or None
    """
    marks = make_mark(len(centers)).bit_length()
    longest = float(np.sqrt(np.einsum("kd,kd->k", centers, centers).max()))
    largest = (2 * max(radius, longest) + longest) * longest + 1e-300
    return marks if log2(largest) + bits + POINT_BITS + marks + 1 <= _WHOLE else None


def borrow_scratch(rows: int, columns: int, use: str = "answers", kind: type = np.float64) -> Any:
    """An array that this thread uses again and again: fresh memory for every chunk would cost more than the arithmetic.

    The next call for the same use and kind of number overwrites it.

    Parameters
    ----------
    rows, columns
        Its shape.
    use : str
        A name; two uses never share an array.
    kind : type
        Of a number.

    Returns
    -------
    array of shape (rows, columns)
        Not initialised.
    """
    name = f"{use} {kind.__name__}"
    kept: Any = getattr(_SCRATCH, name, np.empty(0, kind))
    if kept.size < rows * columns:
        kept = np.empty(rows * columns, kind)
        setattr(_SCRATCH, name, kept)
    return kept[: rows * columns].reshape(rows, columns)


def multiply(points: Array, rows: ExactRows, *, plus: Array | None = None, out: Array | None = None) -> Array:
    """``points @ rows.T`` (and ``plus``, a number for each point), shape (points, rows).

    Exact where the points lie on their lattice and ``plus`` on that of the products.

    Parameters
    ----------
    points : array of shape (points, d)
        Unit coordinates.
    rows
    plus : array of shape (points,) or None
    out : array or None
        Where the result goes; None: scratch memory.

    Returns
    -------
    array of shape (points, rows)
    """
    if plus is not None:
        return multiply_plus(np.concatenate([points, plus[:, None]], axis=1), rows, out=out)
    if rows.padded is None:
        return np.asarray((rows.values @ points.T).T)
    return np.matmul(points, rows.values.T, out=out)


def multiply_plus(points: Array, rows: ExactRows, *, out: Array | None = None) -> Array:
    """Products with ``points`` (k, d + 1) that carry the number to add to theirs behind them, shape (k, rows).

    Parameters
    ----------
    points : array of shape (k, d + 1)
        Unit coordinates, and what is added.
    rows
    out : array or None
        Where the result goes; None: scratch memory.

    Returns
    -------
    array of shape (k, rows)
        Exact.
    """
    if rows.padded is None:
        return np.asarray((rows.values @ points[:, :-1].T).T) + points[:, -1:]
    # The column of ones behind the rows adds it within the product, for next to nothing.
    return np.matmul(points, rows.padded.T, out=out)
