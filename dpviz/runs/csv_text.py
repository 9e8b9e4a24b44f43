"""How every CSV file that leaves is written: no cell of it is a formula to a spreadsheet."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
"""A cell that begins with one of these would be a formula to a spreadsheet."""


def csv_text(lines: Iterable[Sequence[object]]) -> str:
    """The lines as a CSV file; a text that could be a formula is marked as text, a number stays as it is.

    >>> csv_text([["=1+1", "-2.5", 3]])
    "'=1+1,-2.5,3\\r\\n"
    """
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\r\n").writerows([harmless(cell) for cell in line] for line in lines)
    return text.getvalue()


def harmless(cell: object) -> object:
    """The cell, with a mark before it if a spreadsheet would take it for a formula."""
    if isinstance(cell, str) and cell.startswith(FORMULA_STARTS) and not _is_number(cell):
        return f"'{cell}"
    return cell


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
