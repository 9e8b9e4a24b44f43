"""A cell as a number or as text, by itself: what every door ends in, whatever library holds the rows.

A program that makes a data frame chooses the type of a column by all of its cells: whole numbers beside a missing one
become floats, truths become objects, midnights are printed without an hour. Such a type is made of rows. So nothing
here depends on it: what a cell says follows from its value, which is the same in all types that can hold it
(``docs/proofs/doors.md``).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from math import isfinite, nan
from typing import Any
from uuid import UUID

import numpy as np
import pandas as pd
from numpy.typing import NDArray

MISSING = frozenset(("", "NA", "N/A", "n/a", "#N/A", "NULL", "null", "nan", "NaN", "None"))
"""What people write for a missing cell, besides nothing."""

_FLOATS = NDArray[np.float64]

# From here on different whole numbers are one float, and which of them a frame holds depends on its other rows.
_FIRST_INEXACT = 2**53
_MOST_DIGITS = 400
# A whole number as spreadsheets and data frames write it where a cell of its column is empty.
_POINT_NOUGHT = re.compile(r"([+-]?\d+)\.0+")
_NUMBER = re.compile(r"[+\u2212-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
# To Python a truth is 1, and a column of categories keeps whichever of both came first.
_TRUTHS = {"True": "1", "true": "1", "TRUE": "1", "False": "0", "false": "0", "FALSE": "0"}
_NUMBERS = (int, float, np.number, np.bool_, Decimal, Fraction)


def find_text(cell: Any) -> str | None:
    """What a cell is called; None where it is missing, or holds something else than one value.

    Blanks around it are dropped, letters composed; a whole number has no point, a truth is 1 or 0, midnight no hour.

    >>> [find_text(cell) for cell in (" 7.0 ", 7, 7.0, 2.5, True, datetime(2024, 1, 2), "NA", [7], 2**53)]
    ['7', '7', '7', '2.5', '1', '2024-01-02', None, None, None]
    """
    text = _write_out(cell)
    if text is None:
        return None
    text = (text if text.isascii() else unicodedata.normalize("NFC", text)).strip()
    if text in MISSING:
        return None
    if text.endswith("0") and (whole := _POINT_NOUGHT.fullmatch(text)):
        return whole[1]
    return _TRUTHS.get(text, text)


def find_number(cell: Any) -> float:
    """The number that a cell holds, or writes with a decimal point; NaN for anything else.

    >>> [find_number(cell) for cell in (True, "True", 7, "7.0", Decimal("1.5"), "1e3", "1,5", 10**400, None)]
    [1.0, 1.0, 7.0, 7.0, 1.5, 1000.0, nan, nan, nan]
    """
    if isinstance(cell, bytes):
        cell = cell.decode(errors="replace")
    if isinstance(cell, str):
        text = cell.strip()
        value = float(text.replace("\u2212", "-")) if _NUMBER.fullmatch(text) else float(_TRUTHS.get(text, nan))
    elif isinstance(cell, complex | np.complexfloating):
        value = float(cell.real) if cell.imag == 0 else nan
    elif isinstance(cell, _NUMBERS) and not isinstance(cell, np.timedelta64):
        try:
            value = float(cell)
        except (OverflowError, ValueError):  # beyond all floats, or a signalling NaN
            value = nan
    else:
        value = nan
    return value if isfinite(value) else nan


def _write_out(cell: Any) -> str | None:
    """The text of a value, whichever of its types holds it."""
    if isinstance(cell, str):
        return str(cell)
    if cell is None or cell is pd.NA or cell is pd.NaT:
        return None
    if isinstance(cell, np.bool_):
        return str(int(cell))
    if isinstance(cell, timedelta | np.timedelta64):  # which NumPy counts among the whole numbers
        return _write_out_span(cell)
    if isinstance(cell, int | np.integer):
        return str(int(cell)) if abs(int(cell)) < _FIRST_INEXACT else None
    if isinstance(cell, float | np.floating):
        value = float(cell)
        if not abs(value) < _FIRST_INEXACT:
            return None
        return str(int(value)) if value.is_integer() else repr(value)
    if isinstance(cell, complex | np.complexfloating):
        return _write_out(float(cell.real)) if cell.imag == 0 else None
    if isinstance(cell, bytes):
        return cell.decode(errors="replace")
    if isinstance(cell, date | np.datetime64):
        return _write_out_time(cell)
    if isinstance(cell, time):
        return cell.isoformat()
    if isinstance(cell, Decimal):
        return None if cell.is_nan() or abs(cell) >= _FIRST_INEXACT else _write_out_decimal(cell)
    return str(cell) if isinstance(cell, UUID | pd.Period | pd.Interval) else None


def _write_out_decimal(cell: Decimal) -> str | None:
    if not cell.is_finite() or abs(cell.adjusted()) > _MOST_DIGITS:
        return None
    text = format(cell, "f")
    return (text.rstrip("0").rstrip(".") if "." in text else text) if cell else "0"


def _write_out_time(cell: Any) -> str | None:
    moment = find_moment(cell)
    if not isinstance(moment, datetime):
        return None if moment is None else moment.isoformat()
    if moment.tzinfo is not None:  # two clocks may show one moment
        try:
            moment = moment.astimezone(UTC)
        except (OverflowError, ValueError):  # at the ends of the calendar
            return None
    text = moment.replace(tzinfo=None).isoformat(sep=" ")
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return text.removesuffix(" 00:00:00") if moment.tzinfo is None else text + "+00:00"


def find_moment(cell: Any) -> date | None:
    """The date, or date and time, that a cell holds; None where it is of another type, or beyond the calendar."""
    if isinstance(cell, np.datetime64):
        cell = pd.Timestamp(cell)
    known = isinstance(cell, date) and cell is not pd.NaT and 1 <= cell.year <= 9999
    return cell if known else None


def _write_out_span(cell: Any) -> str | None:
    try:
        span: Any = pd.Timedelta(cell)
    except (OverflowError, ValueError):  # longer than a computer counts
        return None
    return None if pd.isna(span) else str(span)


def map_cells(cells: Any, convert: Callable[[Any], Any], kind: Any) -> NDArray[Any]:
    """What ``convert`` makes of each cell of a column of shape (n,), as an array of that ``kind`` of shape (n,).

    Equal cells of a column of one type are asked about once.
    """
    column = cells if isinstance(cells, pd.Series) else pd.Series(cells)
    if isinstance(column.dtype, pd.SparseDtype):
        column = column.astype(column.dtype.subtype)
    if _may_hold_anything(column.dtype):
        return _collect([convert(cell) for cell in column.tolist()], kind)
    if isinstance(column.dtype, pd.CategoricalDtype):
        codes, different = column.cat.codes.to_numpy(), column.cat.categories.to_series()
        made = map_cells(different, convert, kind)
    else:
        codes, values = pd.factorize(column)
        exact = _is_exact(column.dtype)
        made = _collect([convert(str(cell) if exact else cell) for cell in values.tolist()], kind)
    # The last one is that of missing cells, whose code is -1.
    return np.concatenate([made, _collect([convert(None)], kind)])[codes]


def _is_exact(kind: Any) -> bool:
    """Whether a type keeps whole numbers whole beside a missing cell: floats never come between."""
    if isinstance(kind, pd.ArrowDtype) and kind.type is Decimal:
        return True
    return pd.api.types.is_integer_dtype(kind) and pd.api.types.is_extension_array_dtype(kind)


def _may_hold_anything(kind: Any) -> bool:
    """Whether cells of a column may be of several types, so that equal ones may differ, or of one that has parts."""
    if isinstance(kind, pd.ArrowDtype):
        return kind.kind == "O" and kind.type not in (bytes, Decimal)
    return bool(kind == np.dtype(object))


def _collect(values: list[Any], kind: Any) -> NDArray[Any]:
    column = np.empty(len(values), dtype=kind)
    column[:] = values
    return column


def list_texts(cells: Any) -> NDArray[np.object_]:
    """``find_text`` of each cell of a column of shape (n,)."""
    return map_cells(cells, find_text, object)


def list_numbers(cells: Any) -> _FLOATS:
    """``find_number`` of each cell of a column of shape (n,), data units."""
    column = cells if isinstance(cells, pd.Series) else pd.Series(cells)
    kind = column.dtype
    if isinstance(kind, pd.SparseDtype):
        kind = kind.subtype
    if kind.kind not in "biuf":
        return map_cells(column, find_number, np.float64)
    # Numbers become floats one by one in any case.
    values = column.to_numpy(dtype=np.float64, na_value=np.nan)
    return np.where(np.isfinite(values), values, np.nan)


def take_frame(values: Any) -> Any:
    """A table or series of Arrow or Polars as one of pandas that keeps the types of its columns; all else as it is."""
    if hasattr(values, "to_arrow"):  # Polars
        values = values.to_arrow()
    if hasattr(values, "to_pandas") and not hasattr(values, "__dask_graph__"):
        values = values.to_pandas(types_mapper=pd.ArrowDtype)
    return values
