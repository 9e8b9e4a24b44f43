"""What follows from a row's content alone, on any machine: a hash, an order, coins; which rows of a person count.

No row's numbers depend on another row, on its place or on the chunk that it lies in.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dpviz.core.arrays import Array, Codes, Hashes
from dpviz.core.stored_rows import is_sparse

_LN_2 = 0.6931471805599453
# Terms of the series of a logarithm: waits of earlier releases rest on one more than cells do, in their last bits.
_TERMS_OF_WAITS = 12


def hash_content(rows: Any) -> Hashes:
    """64 bits for each of ``rows`` (n, d), dense in either size of floats, or sparse; equal rows have equal ones."""
    if is_sparse(rows):  # the entries that are not 0, each mixed with its column, are added up
        place = (rows.indices.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        return _add_between(_mix(place ^ rows.data.view(np.uint64)) * (rows.data != 0), rows.indptr)
    mixed = np.zeros(len(rows), dtype=np.uint64)
    for column in rows.T:
        number = np.ascontiguousarray(column, dtype=np.float64) + 0.0
        mixed = (mixed ^ number.view(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
    return mixed


def _add_between(numbers: Hashes, borders: Any) -> Hashes:
    """Sums, modulo 2^64, of the numbers between neighbouring ``borders``."""
    running = np.r_[np.uint64(0), np.cumsum(numbers, dtype=np.uint64)]
    return np.asarray(running[borders[1:]] - running[borders[:-1]])


def order_by_content(rows: Any) -> Codes:
    """An order of ``rows`` (n, d) in which only equal rows can change places."""
    return np.argsort(hash_content(rows), kind="stable")


def order_persons_by_content(rows: Any, persons: Codes) -> tuple[Codes, Codes]:
    """Persons numbered by what their rows are: a number for each row, and the position of each person in that order.

    ``rows`` (n, d), unit coordinates, on the lattice; dense or sparse; ``persons`` (n,), whose each row is.
    """
    known, whose = np.unique(persons, return_inverse=True)
    by_person = np.argsort(whose, kind="stable")
    borders = np.searchsorted(whose[by_person], np.arange(len(known) + 1))
    sums = _add_between(_mix(hash_content(rows))[by_person], borders)
    place = np.empty(len(known), dtype=np.int64)
    place[np.argsort(sums, kind="stable")] = np.arange(len(known))
    return whose, place


def draw_content_uniforms(rows: Array, salt: int) -> Array:
    """A number in (0, 1) for each row, from its content and ``salt`` alone: no row's number depends on another row.

    ``rows`` (n, d), unit coordinates, on the lattice; dense or sparse.
    """
    mixed = _mix(hash_content(rows) ^ np.uint64((salt + 1) * 0xBF58476D1CE4E5B9 % 2**64))
    return ((mixed >> np.uint64(12)).astype(np.float64) + 0.5) * 2.0**-52


def draw_content_waits(rows: Array, salt: int) -> Array:
    """A positive draw of the exponential law for each row, as ``draw_content_uniforms``.

    Of rows with weights w, the one with the largest w / wait is one drawn in proportion to w.
    """
    return -compute_exact_log(draw_content_uniforms(rows, salt), _TERMS_OF_WAITS)


def compute_exact_log(values: Array, terms: int = 11) -> Array:
    """Natural logarithms, the same to the last bit on every machine and in every place.

    ln x = e ln 2 + 2 artanh z with z = (m - 1) / (m + 1), x = m 2^e and m in [√½, √2). A library's logarithm differs in
    the last bits from machine to machine; sums, products and quotients do not.

    Parameters
    ----------
    values : array of shape (n,)
        Above 0.
    terms : int
        Of the series of artanh.

    Returns
    -------
    array of shape (n,)

    >>> float(compute_exact_log(np.array([1.0]))[0]), (compute_exact_log(np.array([0.5, 0.25])) / _LN_2).tolist()
    (0.0, [-1.0, -2.0])
    """
    part, octave = np.frexp(values)
    low = part < 0.7071067811865476
    part, octave = np.where(low, part * 2, part), octave - low
    z = (part - 1) / (part + 1)
    square, series = z * z, np.zeros_like(z)
    for term in reversed(range(terms)):
        series = series * square + 1.0 / (2 * term + 1)
    return np.asarray(octave * _LN_2 + 2 * z * series)


def _mix(hashes: Hashes) -> Hashes:
    for shift in (30, 27, 31):
        hashes = (hashes ^ (hashes >> np.uint64(shift))) * np.uint64(0x94D049BB133111EB)
    return hashes


def keep_rows_per_person(rows: Array, persons: Codes, most: int) -> Codes:
    """Indices of at most ``most`` rows of each person, by a rule that sees that person's rows only.

    The kept rows are those with the smallest hash of their content: neither file order nor another person's
    rows can change the choice.

    Parameters
    ----------
    rows : array of shape (n, d)
        Unit coordinates, on the lattice; dense or sparse.
    persons : int array of shape (n,)
        Whose each row is.
    most : int
        Rows of a person.

    Returns
    -------
    int array
        Ascending.
    """
    order = np.lexsort((hash_content(rows), persons))
    person = persons[order]
    first_of_person = np.r_[True, person[1:] != person[:-1]] if len(person) else np.zeros(0, dtype=bool)
    start = np.maximum.accumulate(np.where(first_of_person, np.arange(len(person)), 0))
    rank = np.arange(len(person)) - start
    return np.sort(order[rank < most])
