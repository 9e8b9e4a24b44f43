"""Text cells as numbers, in the ways people write them: 1234.5, 1.234,5 and 1,234.5."""

from __future__ import annotations

from enum import Enum
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from dpviz.table.loaded_table import FloatArray

_DECIMAL_COMMA_CELL = r"\s*[+-]?(\d{1,3}([. \u00a0\u202f']\d{3})+|\d+)?(,\d+)?([eE][+-]?\d+)?\s*"
_COMMA_THOUSANDS_CELL = r"\s*[+-]?\d{1,3}(,\d{3})+(\.\d+)?\s*"
_GROUP_MARKS = "[. \u00a0\u202f']"


class NumberStyle(Enum):
    """How a column writes its numbers."""

    PLAIN = "1234.5"
    DECIMAL_COMMA = "1.234,5"
    COMMA_THOUSANDS = "1,234.5"


class Parsed(NamedTuple):
    """A text column read as numbers; cells that are none are NaN."""

    values: FloatArray
    style: NumberStyle


def parse_numbers(text: pd.Series[Any], delimiter: str) -> Parsed:
    """``text`` of shape (n,) under the style that reads most of its cells.

    Ties go to the plain style; between the two that use commas, a comma-delimited file is taken to group
    thousands and any other file to have decimal commas.
    """
    plain = Parsed(_to_numbers(text), NumberStyle.PLAIN)
    if not bool(text.str.contains(",", regex=False, na=False).any()):
        return plain
    decimal = Parsed(_decimal_comma(text), NumberStyle.DECIMAL_COMMA)
    grouped = Parsed(
        np.where(np.isnan(plain.values), _comma_thousands(text), plain.values), NumberStyle.COMMA_THOUSANDS
    )
    in_order = (plain, grouped, decimal) if delimiter == "," else (plain, decimal, grouped)
    return max(in_order, key=lambda parsed: np.count_nonzero(~np.isnan(parsed.values)))


def _to_numbers(text: pd.Series[Any]) -> FloatArray:
    return np.array(pd.to_numeric(text, errors="coerce"), dtype=np.float64)


def _decimal_comma(text: pd.Series[Any]) -> FloatArray:
    fits = text.str.fullmatch(_DECIMAL_COMMA_CELL, na=False)
    point = text.where(fits).str.replace(_GROUP_MARKS, "", regex=True).str.replace(",", ".", regex=False)
    return _to_numbers(point)


def _comma_thousands(text: pd.Series[Any]) -> FloatArray:
    fits = text.str.fullmatch(_COMMA_THOUSANDS_CELL, na=False)
    return _to_numbers(text.where(fits).str.replace(",", "", regex=False))
