"""Bounds while they are being declared: one line a column, each with its origin. No Streamlit here."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from dpviz.table.loaded_table import IntakeError, listed
from dpviz.table.sidecar import from_json_value

ORIGINS = (
    "documentation",
    "law or physics",
    "earlier release",
    "public data",
    "a guess",
    "these rows (leaks!)",
)
"""Where a bound can come from; the last one is honest, and no release should rest on it."""

FROM_ROWS = ORIGINS[-1]


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
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        raise IntakeError(
            'The text is not JSON; write {"bounds": {"x": [0, 1]}} or {"lower": 0, "upper": 1}; mend it.'
        ) from None
    sidecar = from_json_value(found)
    concerned = [name for name in columns if not sidecar.columns or name in sidecar.columns]
    if not concerned:
        raise IntakeError(
            f"The text declares bounds for {listed(sidecar.columns)}; the chosen columns are {listed(columns)}; "
            "name some of these."
        )
    low, high = sidecar.bounds_for(concerned)
    origin = sidecar.bounds_origin
    pairs = zip(concerned, low, high, strict=True)
    return {name: ColumnBounds(float(lower), float(upper), origin) for name, lower, upper in pairs}


def open_columns(columns: Sequence[str], bounds: Mapping[str, ColumnBounds]) -> list[str]:
    """The columns that still lack a bound."""
    known = ((name, bounds.get(name, NO_BOUNDS)) for name in columns)
    return [name for name, one in known if one.lower is None or one.upper is None]


def origin_text(columns: Sequence[str], bounds: Mapping[str, ColumnBounds], detail: str = "") -> str:
    """Where the bounds of ``columns`` come from, in one line.

    >>> origin_text(["a", "b"], {"a": ColumnBounds(0, 1, "a guess"), "b": ColumnBounds(0, 1, "a guess")}, "census")
    'a guess: census'
    >>> origin_text(["a", "b"], {"a": ColumnBounds(0, 1, "a guess")})
    'a guess (a); not stated (b)'
    """
    by_origin: dict[str, list[str]] = {}
    for name in columns:
        by_origin.setdefault(bounds.get(name, NO_BOUNDS).origin or "not stated", []).append(name)
    if len(by_origin) == 1:
        text = next(iter(by_origin))
    else:
        text = "; ".join(f"{origin} ({', '.join(names)})" for origin, names in by_origin.items())
    return f"{text}: {detail.strip()}" if detail.strip() else text


def _number(value: object) -> float | None:
    return None if value is None or pd.isna(value) else float(value)  # type: ignore[call-overload, arg-type]
