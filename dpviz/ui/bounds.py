"""Bounds while they are being declared: one line a column, each with its origin. No Streamlit here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from dpviz.table.declaration import Declaration
from dpviz.table.loaded_table import IntakeError, listed
from dpviz.table.sidecar import stated_in


@dataclass(frozen=True)
class ColumnBounds:
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


def pasted(text: str, columns: Sequence[str]) -> BoundsByColumn:
    """Bounds from pasted JSON, in any of the forms of a sidecar.

    Raises
    ------
    IntakeError
        If it is not JSON, or none of it concerns ``columns``.
    """
    declared = Declaration(**stated_in(text))
    concerned = [name for name in columns if not declared.columns or name in declared.columns]
    if not concerned:
        raise IntakeError(
            f"The text declares bounds for {listed(declared.columns)}; the chosen columns are {listed(columns)}; "
            "name some of these."
        )
    chosen = declared.choosing(concerned)
    low, high = chosen.bounds_for(concerned)
    origins = chosen.origins or ("",) * len(concerned)
    pairs = zip(concerned, low, high, origins, strict=True)
    return {name: ColumnBounds(float(lower), float(upper), origin) for name, lower, upper, origin in pairs}


def open_columns(columns: Sequence[str], bounds: Mapping[str, ColumnBounds]) -> list[str]:
    """The columns that still lack a bound."""
    known = ((name, bounds.get(name, NO_BOUNDS)) for name in columns)
    return [name for name, one in known if one.lower is None or one.upper is None]


def _number(value: object) -> float | None:
    return None if value is None or pd.isna(value) else float(value)  # type: ignore[call-overload, arg-type]
