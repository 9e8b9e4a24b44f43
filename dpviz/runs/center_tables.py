"""Shares of categories in released centres, and the largest of them in words.

Everything here is post-processing. What noise alone could make is not said: a share below what stands behind a ± reads
"under", and a category is the most frequent one only where it leads by as much.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite

import numpy as np

from dpviz.core import Array, Domain
from dpviz.words import format_reach, format_value

# Shares of one column that a line has room for.
_MOST_SHARES = 3
_LEAST_PART = 0.01


def read_shares(domain: Domain, centers: Array) -> dict[str, dict[str, Array]]:
    """By column with declared values and by value the share (k,) that it has in ``centers`` (k, d), data units."""
    told = [domain.describe(center) for center in centers]
    return {
        name: {value: np.array([one[name][value] for one in told]) for value in said}
        for name, said in told[0].items()
        if isinstance(said, dict)
    }


def describe_shares(shares: Mapping[str, float], reach: float) -> str:
    """The largest shares, as far as their noise lets them be told, which is ``reach``; NaN where nobody can tell.

    >>> describe_shares({"N": 0.853, "S": 0.112, "E": 0.035}, 0.05)
    'N 85.3 %, S 11.2 %, others under 5 %; each ± 5 %'
    >>> describe_shares({"N": 0.5, "S": 0.48, "E": 0.02}, 0.04)
    'N or S: 50 %, 48 %, others under 4 %; each ± 4 %'
    >>> describe_shares({"N": 0.3, "S": 0.3, "E": 0.4}, 0.6), describe_shares({"F": 0.25, "M": 0.75}, float("nan"))
    ('each under 60 %', 'M 75 %, F 25 %')
    """
    order = sorted(shares, key=lambda value: -shares[value])
    known = isfinite(reach) and reach > 0
    told = {value: f"{format_value(100 * share, 100 * reach)} %" for value, share in shares.items()}
    least = max(reach, _LEAST_PART) if known else _LEAST_PART
    under = f"under {format_reach(100 * min(least, 1.0))} %"
    clear = [value for value in order if shares[value] >= least][:_MOST_SHARES]
    if not clear:
        return f"each {under}"
    rest = order[len(clear) :]
    most = max(rest, key=lambda value: shares[value], default="")
    others = [f"others {f'up to {told[most]}' if shares[most] >= least else under}"] if rest else []
    parts = [f"{value} {told[value]}" for value in clear]
    if known and len(clear) > 1 and shares[clear[0]] - shares[clear[1]] < reach:
        parts[:2] = [f"{clear[0]} or {clear[1]}: {told[clear[0]]}", told[clear[1]]]
    noise = f"; each ± {format_reach(100 * reach)} %" if known else ""
    return ", ".join([*parts, *others]) + noise
