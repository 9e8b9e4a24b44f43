"""Where a file differs from the one that it should be: words to the letter, numbers to nine digits.

Two machines may differ in the last bits of what is computed from released numbers. What is published with few digits
shows none of that, and has to be the same.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from math import isclose

# A decimal number that stands alone; only one of more digits than these may differ behind them.
_DECIMAL = re.compile(r"(?<![\w.])([-−]?\d+\.\d+(?:e[-+]?\d+)?)(?![\w.])")
_DIGITS, _CLOSE = 9, 1e-9
_MOST_DIFFERENCES, _AROUND, _LONGEST = 20, 24, 80
# Bytes beyond twice as many as there should be: what is longer is not looked into.
_ROOM = 4_096


def list_differences(here: bytes, due: bytes, *, table: bool) -> Iterator[str]:
    """What is wrong with ``here``, a phrase each that says where; nothing where it is ``due``.

    Parameters
    ----------
    here, due : bytes
    table : bool
        Whether it is a CSV file, whose cells are compared by their columns.

    Yields
    ------
    str
        As many phrases as are worth reading.
    """
    if here == due:
        return
    if len(here) > 2 * len(due) + _ROOM:
        yield f"it is {len(here):,} bytes long, and the transcript comes to {len(due):,}."
        return
    try:
        text = here.decode("utf-8")
    except UnicodeDecodeError:
        yield "it is not text in UTF-8."
        return
    wanted = due.decode("utf-8")
    if _is_same(text, wanted):
        return
    found = list(_compare_cells(text, wanted)) if table else []
    yield from found[:_MOST_DIFFERENCES]
    if len(found) > _MOST_DIFFERENCES:
        yield f"and {len(found) - _MOST_DIFFERENCES} more differences."
    if not found:
        yield _compare_lines(text, wanted)


def _compare_cells(text: str, wanted: str) -> Iterator[str]:
    try:
        rows = list(csv.reader(io.StringIO(text, newline="")))
    except csv.Error:
        yield "it is not CSV as a release writes it."
        return
    head, *expected = csv.reader(io.StringIO(wanted, newline=""))
    if rows[:1] != [head]:
        yield "its columns are not those of the release."
        return
    for place, (row, one) in enumerate(zip(rows[1:], expected, strict=False), start=2):
        wrong = [name for name, cell, should in zip(head, row, one, strict=False) if not _is_same(cell, should)]
        if wrong or len(row) != len(one):
            about = _make_printable(", ".join(filter(None, one[:3])))
            what = _make_printable(", ".join(wrong)) or "its length"
            yield f"line {place} ({about}): {what} is not what was released."
    if len(rows) != len(expected) + 1:
        yield f"it has {len(rows)} lines, and the transcript comes to {len(expected) + 1}."


def _compare_lines(text: str, wanted: str) -> str:
    """The first place that differs, with what should stand there; of the file, nothing is printed."""
    lines, due = text.split("\n"), wanted.split("\n")
    for place, (line, one) in enumerate(zip(lines, due, strict=False), start=1):
        if not _is_same(line, one):
            at = next(
                (at for at, (a, b) in enumerate(zip(line, one, strict=False)) if a != b), min(len(line), len(one))
            )
            around = one[max(0, at - _AROUND) : at + _AROUND].strip()
            return f"line {place} is not what the transcript comes to: “{around}” should stand in it."
    return f"it has {len(lines)} lines, and the transcript comes to {len(due)}."


def _make_printable(text: str) -> str:
    """On one line, and nothing in it that a terminal would obey: it comes from whoever made the file."""
    short = text.strip()[:_LONGEST]
    return "".join(letter if letter.isprintable() else " " for letter in short)


def _is_same(text: str, wanted: str) -> bool:
    """Whether they are the same but for digits behind the ninth of a long decimal number."""
    if text == wanted:
        return True
    here, due = _DECIMAL.split(text), _DECIMAL.split(wanted)
    return len(here) == len(due) and all(
        one == other or (place % 2 == 1 and _is_close(one, other))
        for place, (one, other) in enumerate(zip(here, due, strict=True))
    )


def _is_close(text: str, wanted: str) -> bool:
    digits = re.sub(r"e.*|\D", "", wanted).lstrip("0")
    if len(digits) <= _DIGITS:
        return False
    return isclose(float(text.replace("−", "-")), float(wanted.replace("−", "-")), rel_tol=_CLOSE, abs_tol=0.0)
