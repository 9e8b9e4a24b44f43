"""Bounds while they are being declared: one line a column, each with its origin. No Streamlit here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import pandas as pd


class ColumnBounds(NamedTuple):
    """Bounds of one column, data units, and where they come from; None and "" are still open."""

    lower: float | None = None
    upper: float | None = None
    origin: str = ""


NO_BOUNDS = ColumnBounds()
BoundsByColumn = dict[str, ColumnBounds]


def as_frame(columns: Sequence[str], bounds: Mapping[str, ColumnBounds]) -> pd.DataFrame:
    """The editor's table: one row a column."""
    known = [bounds.get(column, NO_BOUNDS) for column in columns]
    return pd.DataFrame(
        {
            "column": pd.Series(list(columns), dtype="str"),
            "lower": pd.Series([one.lower for one in known], dtype="float64"),
            "upper": pd.Series([one.upper for one in known], dtype="float64"),
            "origin": pd.Series([one.origin or None for one in known], dtype="object"),
        }
    )


def from_frame(frame: pd.DataFrame) -> BoundsByColumn:
    """What the editor's table says."""
    rows = zip(frame["column"], frame["lower"], frame["upper"], frame["origin"], strict=True)
    return {
        str(name): ColumnBounds(_number(low), _number(high), "" if pd.isna(origin) else str(origin))
        for name, low, high, origin in rows
    }


def _number(value: object) -> float | None:
    return None if value is None or pd.isna(value) else float(value)  # type: ignore[call-overload, arg-type]
