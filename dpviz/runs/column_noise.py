"""What the bounds cost: the noise on a centre, column by column, before any run and from what is declared alone."""

from __future__ import annotations

from math import sqrt
from typing import Any

from dpviz.core import Array, Domain, Relation, check
from dpviz.words import format_plus_minus

ASSUMED_ROWS = 1_000
"""Rows taken to be in a cluster where the number of rows is private."""


# Noise of a share beyond which it says little.
_MUCH_NOISE = 0.1


def list_noisy_shares(domain: Domain, *, n: int | None, k: int, epsilon: float, **declared: Any) -> tuple[str, ...]:
    """A sentence about each column of categories whose shares would mostly be noise, from public quantities alone.

    By the simplest mechanism (see ``compute_column_noise``) over ``k`` clusters of like size; of a private n nothing
    is said.
    """
    wide = [column for column in domain.declared if column.coding.values and column.coding.shape is not None]
    if n is None or not wide:
        return ()
    noise = compute_column_noise(domain, rows=count_cluster_rows(n, k), epsilon=epsilon, **declared)
    shares = {
        column.name: float(noise[place.start]) for column, place in zip(domain.declared, domain.places, strict=True)
    }
    return tuple(
        f"Shares of {column.name!r} carry {format_plus_minus(100 * shares[column.name])} %, nine in ten: declare fewer "
        "values, or a larger weight."
        for column in wide
        if shares[column.name] > _MUCH_NOISE
    )


def count_cluster_rows(n: int | None, k: int) -> float:
    """Rows in each of ``k`` clusters of like size; ``ASSUMED_ROWS`` where n is private (None).

    Parameters
    ----------
    n : int or None
        Rows, where their number is public.
    k : int

    Returns
    -------
    float
    """
    check.at_least(1, k=k)
    return ASSUMED_ROWS if n is None else n / k


def compute_column_noise(
    domain: Domain,
    *,
    rows: float,
    epsilon: float,
    relation: Relation | str = Relation.ADD_REMOVE,
    rows_per_person: int = 1,
) -> Array:
    """Standard deviation of the noise on each coordinate of a cluster's centre, shape (d,), data units.

    By the simplest mechanism: the sums and the size of a cluster of ``rows`` rows are measured once, with all of ε, by
    the same Laplace noise on each of them (one round of Su et al.'s DPLloyd), and divided. One row moves the sums by
    at most the l1 radius of the domain and the size by 1, so that the noise on a sum has the scale (l1 radius + 1)/ε.
    Noise of the size itself is left out: it is small beside it. Nothing is read from rows.

    Algorithms that measure several times have more noise in each measurement, and may mend some of it.

    Parameters
    ----------
    domain : Domain
    rows : float
        Of a cluster.
    epsilon : float
    relation : Relation or str
    rows_per_person : int
        Most rows of a person.

    Returns
    -------
    array of shape (d,)
        Data units.

    >>> compute_column_noise(Domain.of(["age"], 0, 100), rows=1000, epsilon=1.0).round(3).tolist()
    [0.141]
    """
    rows, epsilon = check.positive(rows=rows), check.positive(epsilon=epsilon)
    rows_per_person = check.at_least(1, rows_per_person=rows_per_person)
    scale = (domain.region.l1_radius + 1) * Relation(relation).rows * rows_per_person / epsilon
    return sqrt(2) * scale / rows * domain.scale
