"""The domain of columns some of which are more than numbers between bounds: categories, dates, scales, weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from dpviz.core import Domain, RequestError, Scaling
from dpviz.tables.codings import NUMBER, Coding, DeclaredColumn


def make_coded_domain(
    columns: Sequence[str],
    lower: npt.ArrayLike,
    upper: npt.ArrayLike,
    *,
    codings: Mapping[str, Coding],
    weights: Mapping[str, float],
    radius: float | None = None,
    scaling: Scaling | str = Scaling.UNIT,
    units: Mapping[str, str] | None = None,
) -> Domain:
    """As ``Domain.of``, of columns some of which have a coding or a weight; bounds are those of the numbers of cells.

    Parameters
    ----------
    columns : sequence of str
        Names of the columns.
    lower, upper : number or array of shape (d,)
        Declared bounds, data units.
    codings : mapping of str to Coding
        Coding of each column that has one.
    weights : mapping of str to float
        How much columns count.
    radius : float or None
        Largest distance from the middle of the bounds; None: the box alone.
    scaling : "unit" or "common"
        Each column to [-1, 1], or one scale for all.
    units : mapping of str to str or None
        What the numbers of a column count; for eyes only.

    Returns
    -------
    Domain
        Public: nothing in it comes from rows.

    Raises
    ------
    RequestError
        Also if a coordinate would have the name of another one.
    """
    names = tuple(str(name) for name in columns)
    if not any(name in codings or name in weights for name in names):
        return Domain.of(names, lower, upper, radius=radius, scaling=scaling, units=units)
    plain = Domain.of(names, lower, upper, scaling=scaling, radius=radius)
    numbers = [name not in codings for name in names]
    wide = (plain.upper - plain.lower) / 2
    # One scale for all that are numbers; a category counts in half-widths of the widest of them.
    shared = plain.scaling is Scaling.COMMON and any(numbers)
    parts = np.where(numbers, wide / wide[numbers].max(), 1.0) if shared else np.ones(len(names))
    declared = tuple(
        DeclaredColumn(name, coding := codings.get(name, NUMBER), low, high, coding.half(weights.get(name), part))
        for name, low, high, part in zip(names, plain.lower.tolist(), plain.upper.tolist(), parts.tolist(), strict=True)
    )
    labels = tuple(label for column in declared for label in column.labels)
    if twice := [label for place, label in enumerate(labels) if label in labels[:place]]:
        raise RequestError(f"Two coordinates would be called {twice[0]!r}: rename a column, or a category.")
    spans = np.array([column.span for column in declared for _ in column.labels])
    stated = tuple(
        (units or {}).get(column.name, column.coding.unit) * (column.dim == 1)
        for column in declared
        for _ in column.labels
    )
    ends = spans.T
    domain = Domain(labels, ends[0], ends[1], plain.radius, plain.scaling, stated if any(stated) else (), declared)
    domain.refuse_short_radius()
    return domain
