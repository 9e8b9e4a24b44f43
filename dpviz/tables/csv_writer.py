"""The one writer of CSV files that leave: text in them is text to a spreadsheet, never a formula; numbers stay numbers.

Names of columns, labels and categories may come from anybody. One that begins like a formula gets an apostrophe in
front, which is how people tell a spreadsheet that a cell is text.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd

_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


def format_cell(cell: Any) -> Any:
    """A cell that no spreadsheet takes for a formula; a number stays one, in a text too.

    >>> [format_cell(cell) for cell in ("age", "=1+1", "-1.5", "-x", "@sum")]
    ['age', "'=1+1", '-1.5', "'-x", "'@sum"]
    """
    is_formula = isinstance(cell, str) and cell.startswith(_FORMULA_STARTS) and not _NUMBER.fullmatch(cell)
    return f"'{cell}" if is_formula else cell


def format_csv(lines: Iterable[Iterable[object]]) -> str:
    """Lines of cells as the text of a CSV file; what is no text is written as Python does.

    Parameters
    ----------
    lines : iterable of iterable of object
        Rows of cells.

    Returns
    -------
    str
        Text that no spreadsheet takes for a formula.
    """
    text = io.StringIO(newline="")
    safe = ([*map(format_cell, line)] for line in lines)
    csv.writer(text).writerows(safe)
    return text.getvalue()


def format_frame(frame: pd.DataFrame, *, end: str = "\r\n", float_format: str | None = None) -> str:
    """A data frame, without its index, as the text of a CSV file.

    Parameters
    ----------
    frame : DataFrame
        A table.
    end : str
        Of a line.
    float_format : str or None
        How floats are written; None: as Python does.

    Returns
    -------
    str
        Text that no spreadsheet takes for a formula.
    """
    safe = frame.copy()
    for name in (name for name in frame if not pd.api.types.is_numeric_dtype(frame[name])):
        safe[name] = frame[name].map(format_cell, na_action="ignore")
    safe.columns = pd.Index([format_cell(str(name)) for name in frame])
    return safe.to_csv(index=False, lineterminator=end, float_format=float_format)


def format_names(names: Sequence[str]) -> str:
    """Names with commas between them, as they are: for a field of a form, not for a file."""
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="").writerow(names)
    return text.getvalue()
