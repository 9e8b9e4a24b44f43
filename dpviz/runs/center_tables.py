"""Released centres in the words of the declaration: amounts, dates, hours, and shares of categories with their noise.

Everything here is post-processing. What noise alone could make is not said: a share below twice its standard deviation
reads "under", and a category is the most frequent one only where it leads by as much.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import tau
from typing import Any, NamedTuple

import numpy as np

from dpviz.core import Array, CodedColumn, Domain
from dpviz.tables import codings
from dpviz.words import format_percent

# Standard deviations within which a released number is not told from another.
_TOLD_APART = 2.0
# Shares of one column that a line has room for.
_MOST_SHARES = 3
_LEAST_PART = 0.01


class CoordinateEnds(NamedTuple):
    """Ends of what a coordinate may be, data units: (k, d) each. Not even around the centre on an uneven scale."""

    low: Array
    high: Array


def compute_interval(domain: Domain, centers: Array, sd: Array) -> CoordinateEnds:
    """Two standard deviations ``sd`` (k,) on either side of ``centers`` (k, d), unit coordinates, in data units."""
    away = _TOLD_APART * sd[:, None]
    ends = (domain.from_unit(domain.region.settle_points(centers + side * away)) for side in (-1, 1))
    return CoordinateEnds(*ends)


def list_profile_rows(domain: Domain, centers: Array, sd: Array | None) -> list[dict[str, str]]:
    """What ``centers`` (k, d), unit coordinates, say of each declared column, as texts; ``sd`` (k,) is their noise."""
    noise = [None] * len(centers) if sd is None else sd.tolist()
    pairs = list(zip(centers, noise, strict=True))
    return [{column.name: _describe_column(domain, column, *pair) for column in domain.declared} for pair in pairs]


def read_shares(domain: Domain, centers: Array) -> dict[str, dict[str, Array]]:
    """Of each column with declared values, the share (k,) that each of them has in ``centers`` (k, d), data units.

    Returns arrays of shape (k,) by column and value.
    """
    told = [domain.describe(center) for center in centers]
    return {
        name: {value: np.array([one[name][value] for one in told]) for value in said}
        for name, said in told[0].items()
        if isinstance(said, dict)
    }


class NoisyShares(NamedTuple):
    """Shares of declared values, (k,) by column and value, and their standard deviations, (k,) by column."""

    shares: dict[str, dict[str, Array]]
    noise: dict[str, Array]


def read_noisy_shares(domain: Domain, centers: Array, sd: Array | None) -> NoisyShares:
    """Shares in ``centers`` (k, d), data units, and their noise where ``sd`` (k,), that of the centres, is known."""
    shares = read_shares(domain, centers)
    declared = {column.name: column for column in domain.declared}
    noise = {} if sd is None else {name: compute_share_noise(declared[name], sd) for name in shares}
    return NoisyShares(shares, noise)


def compute_share_noise(column: CodedColumn, sd: Array) -> Array:
    """Standard deviation of shares (k,), of that of a unit coordinate of each centre."""
    return sd * float(column.scale[0])


def describe_shares(shares: Mapping[str, float], sd: float | None) -> str:
    """The largest shares, as far as noise lets them be told.

    >>> describe_shares({"N": 0.85, "S": 0.11, "E": 0.04}, 0.03)
    'N 85 %, S 11 %, others under 6 %'
    >>> describe_shares({"N": 0.5, "S": 0.48, "E": 0.02}, 0.02)
    'N or S: 50 %, 48 %, others under 4 %'
    >>> describe_shares({"N": 0.3, "S": 0.3, "E": 0.4}, 0.3), describe_shares({"F": 0.25, "M": 0.75}, None)
    ('each under 60 %', 'M 75 %, F 25 %')
    """
    order = sorted(shares, key=lambda value: -shares[value])
    least = max(_TOLD_APART * (sd or 0.0), _LEAST_PART)
    clear = [value for value in order if shares[value] >= least][:_MOST_SHARES]
    if not clear:
        return f"each under {_format_share(min(least, 1.0))}"
    rest = order[len(clear) :]
    most = max((shares[value] for value in rest), default=0.0)
    bound = f"up to {_format_share(most)}" if most >= least else f"under {_format_share(least)}"
    others = [f"others {bound}"] if rest else []
    if len(clear) > 1 and shares[clear[0]] - shares[clear[1]] < _TOLD_APART * (sd or 0.0):
        parts = ", ".join([*(_format_share(shares[value]) for value in clear[:2])])
        more = [f"{value} {_format_share(shares[value])}" for value in clear[2:]]
        return ", ".join([f"{clear[0]} or {clear[1]}: {parts}", *more, *others])
    return ", ".join([*(f"{value} {_format_share(shares[value])}" for value in clear), *others])


def _describe_column(domain: Domain, column: CodedColumn, center: Array, sd: float | None) -> str:
    place = domain.places[domain.names.index(column.name)]
    said: Any = column.describe(column.decode(center[None, place])[0])
    if isinstance(said, dict):
        return describe_shares(said, None if sd is None else float(compute_share_noise(column, np.array(sd))))
    if isinstance(said, str):
        return said
    if isinstance(column.coding, codings.Stretched) and sd is not None:
        low, high = (end[0, place][0] for end in compute_interval(domain, center[None], np.array([sd])))
        return f"{_format_amount(said)} ({_format_amount(low)} to {_format_amount(high)})"
    return f"{said:.3g}" if isinstance(column.coding, codings.Cycle) else f"{said:.6g}"


def describe_center(column: CodedColumn, center: Array, sd: float) -> str:
    """What a released centre says of a column that holds no numbers: shares, a date, a rank or an hour, with its noise.

    Parameters
    ----------
    column : CodedColumn
        Of values, dates or a cycle.
    center : array of shape (dim,)
        Its coordinates, data units.
    sd : float
        Standard deviation of the noise on a coordinate, data units; NaN: not known.

    Returns
    -------
    str
    """
    said, known = column.describe(center), np.isfinite(sd)
    if isinstance(said, dict):
        return describe_shares(said, sd if known else None)
    if isinstance(column.coding, codings.Cycle):
        away = float(np.hypot(*center))
        if known and away < _TOLD_APART * sd:
            return "spread over the cycle"
        turned = f" ± {sd / away / tau * column.coding.period:.2g}" if known else ""
        return f"{said:.3g}{turned}"
    unit = " days" if isinstance(column.coding, codings.Dates) else " ranks"
    return f"{said} ± {sd:.2g}{unit}" if known else f"{said}"


def _format_amount(value: float) -> str:
    """Three digits of an amount, which is never written with an exponent below a million.

    >>> _format_amount(2975.1), _format_amount(0.0123), _format_amount(41.96)
    ('2,980', '0.0123', '42')
    """
    rounded = float(f"{value:.3g}")
    return f"{rounded:,.0f}" if abs(rounded) >= 100 else f"{rounded:.3g}"


def _format_share(share: float) -> str:
    """In whole percent."""
    return format_percent(round(share, 2))
