"""What follows from a row's content alone, on any machine: a hash, an order, coins; which rows of a person count.

No row's numbers depend on another row, on its place or on the chunk that it lies in.
"""

from __future__ import annotations

from collections.abc import Iterable
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
    """Persons numbered by what their rows are.

    Parameters
    ----------
    rows : array of shape (n, d)
        Unit coordinates, on the lattice; dense or sparse.
    persons : int array of shape (n, 2) or (n,)
        Whose each row is, as ``draw_lots`` takes them.

    Returns
    -------
    whose : int array of shape (n,)
        A number for the person of each row.
    place : int array of shape (persons,)
        The position of each person in that order.
    """
    whose, sums = _add_by_person(_mix(hash_content(rows)), persons)
    return whose, np.argsort(np.argsort(sums, kind="stable"))


def _add_by_person(hashes: Hashes, persons: Codes) -> tuple[Codes, Hashes]:
    """A number for each row's person, and the sum of the hashes of each person's rows."""
    order, person, _ = _group(np.atleast_2d(persons.T))
    whose = np.empty_like(person)
    whose[order] = person
    return whose, _add_between(hashes[order], np.searchsorted(person, np.arange(person.max(initial=-1) + 2)))


def _group(columns: Iterable[Codes | Hashes], *within: Hashes) -> tuple[Codes, Codes, Codes]:
    """An order in which entries with the same ``columns`` stand together, in that of ``within``; of each entry then the
    group, from 0, and how many of that group stand before it.
    """
    order = np.lexsort((*within, *columns))
    changes = [(there := column[order])[1:] != there[:-1] for column in columns]
    group = np.cumsum(np.r_[0, np.logical_or.reduce(changes)])[: len(order)]
    return order, group, np.arange(len(group)) - np.searchsorted(group, group)


def draw_content_uniforms(rows: Array, salt: int) -> Array:
    """A number in (0, 1) for each row, from its content and ``salt`` alone: no row's number depends on another row.

    Parameters
    ----------
    rows : array of shape (n, d)
        Unit coordinates, on the lattice; dense or sparse.
    salt : int
        Other numbers for each.

    Returns
    -------
    array of shape (n,)
    """
    mixed = _mix(hash_content(rows) ^ np.uint64((salt + 1) * 0xBF58476D1CE4E5B9 % 2**64))
    return ((mixed >> np.uint64(12)).astype(np.float64) + 0.5) * 2.0**-52


def draw_content_waits(rows: Array, salt: int) -> Array:
    """A positive draw of the exponential law for each row, as ``draw_content_uniforms``.

    Of rows with weights w, the one with the largest w / wait is one drawn in proportion to w.

    Parameters
    ----------
    rows : array of shape (n, d)
    salt : int

    Returns
    -------
    array of shape (n,)
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


def draw_lots(rows: Any, persons: Codes) -> Hashes:
    """A lot for each row, by which it stands among its person's rows: by a rule that sees that person's rows only.

    It follows from what stands in the row, how many equal ones that person has before it, and whose it is. By content
    alone the same values would win for everybody, and shares of rows that count would lean. Another person's rows
    change no lot; file order only says which of equal rows has which.

    Parameters
    ----------
    rows : array of shape (n, d)
        Unit coordinates, on the lattice; dense or sparse. All that are equal, of a person, have to be among them.
    persons : int array of shape (n, 2) or (n,)
        Whose each row is: hashes of that person's id alone. One column may hang on others, such as numbers by first
        sight, so it only tells persons apart: then all that a person's rows hold says whose they are.

    Returns
    -------
    array of shape (n,)
    """
    content = _mix(hash_content(rows))
    if persons.ndim > 1:
        whose = persons[:, -1].astype(np.uint64)
    else:
        person, sums = _add_by_person(content, persons)
        whose = sums[person]
    content = _mix(content ^ whose)
    order, _, again = _group([content, *np.atleast_2d(persons.T)])
    lots = np.empty_like(content)
    lots[order] = _mix(content[order] + again.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15))
    return lots


def keep_rows_per_person(lots: Hashes, persons: Codes, most: int) -> Codes:
    """Indices of at most ``most`` rows of each person: those with the smallest lots.

    **Guarantee.** Whoever comes or goes brings or takes at most ``most`` rows and changes none of others: lots, and
    their order within a person, follow from that person's rows and id alone.

    Parameters
    ----------
    lots : array of shape (n,)
        As ``draw_lots`` makes them of all rows of a person, or of all that are equal.
    persons : int array of shape (n, 2) or (n,)
        Whose each row is, as ``draw_lots`` takes them.
    most : int
        Rows of a person.

    Returns
    -------
    int array
        Ascending.
    """
    order, _, before = _group(np.atleast_2d(persons.T), lots)
    return np.sort(order[before < most])
