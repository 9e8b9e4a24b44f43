"""Arithmetic on cells that rounds the same on every machine and in every place: what may come before a rounding.

A library's logarithm or cosine differs in the last bit from machine to machine, and within an array from place to
place. Sums, products, quotients and square roots do not (IEEE 754).
"""

from __future__ import annotations

from functools import lru_cache
from math import cos, sin, sqrt, tau
from typing import Any

import numpy as np
import pandas as pd

from dpviz.core import CIRCLE, Array, lattice
from dpviz.tables.text_type import TEXT

# A whole number of lattice steps may come out of a cosine a little smaller.
_NUDGE = 1e-6
_LN_2 = 0.6931471805599453
_DIGITS = r"^\s*(\d{1,4})[-./](\d{1,2})[-./](\d{1,4})(?:[T\s].*)?$"
_EIGHT_DIGITS = r"^\s*(\d{4})(\d{2})(\d{2})\s*$"
DATE_ORDERS = {"ymd": (0, 1, 2), "dmy": (2, 1, 0), "mdy": (2, 0, 1)}
"""Where year, month and day stand in a date, by how it is written."""


def compute_exact_log(values: Array) -> Array:
    """Natural logarithms of numbers above 0 (n,), the same to the last bit on every machine and in every place.

    ln x = e ln 2 + 2 artanh z with z = (m - 1) / (m + 1), x = m 2^e and m in [√½, √2): eleven terms of its series.

    >>> float(compute_exact_log(np.array([1.0]))[0])
    0.0
    """
    part, octave = np.frexp(values)
    low = part < sqrt(0.5)
    part, octave = np.where(low, part * 2, part), octave - low
    z = (part - 1) / (part + 1)
    square, series = z * z, np.zeros_like(z)
    for term in range(10, -1, -1):
        series = series * square + 1.0 / (2 * term + 1)
    logarithms: Array = octave * _LN_2 + 2 * z * series
    return logarithms


@lru_cache(maxsize=16)
def make_circle(radius: float) -> Array:
    """Points of the circle of that ``radius``, no longer than it, on the lattice of rows, shape (10,080, 2)."""
    angles = [tau * place / CIRCLE for place in range(CIRCLE)]
    points = np.array([[radius * cos(angle), radius * sin(angle)] for angle in angles])
    steps = np.trunc(points * 2.0**lattice.ROW_BITS + _NUDGE * np.sign(points))
    circle: Array = steps * 2.0**-lattice.ROW_BITS + 0.0
    circle.flags.writeable = False
    return circle


def count_days(cells: pd.Series[Any], written: str) -> Array:
    """Days since 1970 of dates in the order ``written``; NaN for a cell that is none. Each cell by itself.

    Parameters
    ----------
    cells : Series
        Text of shape (n,).
    written : str
        Which of day, month and year comes first.

    Returns
    -------
    array of shape (n,)
        Days.
    """
    if pd.api.types.is_datetime64_any_dtype(cells.dtype):
        bare = cells.dt.tz_localize(None) if cells.dt.tz is not None else cells
        days = bare.to_numpy(dtype="datetime64[s]").astype("datetime64[D]")
        return np.where(np.isnat(days), np.nan, days.astype(np.int64))
    text = cells.astype(TEXT)
    found = text.str.extract(_DIGITS)
    if written == "ymd":
        found = found.where(found.notna().all(axis=1), text.str.extract(_EIGHT_DIGITS))
    parts = found.apply(pd.to_numeric).to_numpy(dtype=np.float64)
    year, month, day = (parts[:, place] for place in DATE_ORDERS[written])
    known = np.isfinite(parts).all(axis=1) & (year >= 1000) & (month >= 1) & (month <= 12) & (day >= 1) & (day <= 31)
    year, month, day = (
        np.where(known, part, 1970 if part is year else 1).astype(np.int64) for part in (year, month, day)
    )
    months = (year - 1970) * 12 + (month - 1)
    days = months.astype("datetime64[M]").astype("datetime64[D]").astype(np.int64) + (day - 1)
    same_month = days.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64) == months
    return np.where(known & same_month, days, np.nan)
