"""How the columns of a file write their numbers, from the evidence of all of them together; a guess for its owner.

One column of a file rarely says which of two marks is the decimal one: 247.548 is either. A sibling that writes 118,65
does. Where no column says, that is the answer.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from dpviz.tables.file_format import INDIAN, MISSING, PLAIN_STYLE, NumberStyle
from dpviz.tables.loaded_table import FloatArray
from dpviz.tables.number_cells import read_numbers

# Only these are proposed as signs: anything else beside a number could be somebody's.
_MONEY = (
    r"USD|EUR|GBP|CHF|JPY|CNY|INR|BRL|SEK|NOK|DKK|PLN|CZK|HUF|TRY|ZAR|MXN|AUD|CAD|NZD|"
    r"R\$|US\$|A\$|C\$|NZ\$|HK\$|Rs|kr|zł|Kč|Ft|[$€£¥₹₽₩₺₪₫฿]"
)
_MEASURES = "min|°C|°F|kg|mg|lb|cm|mm|km|mi|ft|ms|ml|[%‰°gtmhsl]"
_BESIDE = f"{_MONEY}|{_MEASURES}"
_SIGNED = re.compile(
    rf"\(?\s*-?(?P<before>{_BESIDE})?\s*[(+-]?\s*[\d.,][\d.,'\u2019\s]*-?\s*(?P<behind>{_BESIDE})?\s*[)-]?"
)
_PARENTHESES = re.compile(r"\s*\D{0,4}\(\D{0,4}[\d.,][\d.,'\u2019\s]*\D{0,4}\)\D{0,4}")
_MINUS_BEHIND = re.compile(r"\D{0,4}[\d.,][\d.,'\u2019\s]*\D{0,4}-\D{0,4}")
_LONG_INTEGER = re.compile(r"\s*[+-]?\d{16,}\s*")
_DIGITS_AND_MARKS = re.compile(r"[.,]?\d[\d.,]*")
# What makes one mark the decimal one for certain, and what leaves it open.
_DECIMAL = {
    mark: re.compile(
        rf"(\d*{own}(\d{{1,2}}|\d{{4,}})|0{own}\d+|\d{{4,}}{own}\d+|[\d{other}]*{other}\d{{3}}{own}\d*|{own}\d+)"
    )
    for mark, own, other in ((".", r"\.", ","), (",", ",", r"\."))
}
_GROUPS = {mark: re.compile(rf"\d{{1,3}}({own}\d{{2,3}})*{own}\d{{3}}") for mark, own in ((".", r"\."), (",", ","))}
_EITHER = re.compile(r"[1-9]\d{0,2}[.,]\d{3}")
_LOOKED_AT = 300
# Begins like a number, and reads as none in any style that is known.
_LIKE_A_NUMBER = re.compile(r"[^\w\s]{0,2}\s*\d[\d.,:°º'\"′″\s+/-]*[A-Za-z]{0,3}([+-]?\d+)?[.\"]?")


class Styles(NamedTuple):
    """How columns write their numbers.

    ``by_column`` holds the columns of numbers; ``doubtful`` are those of them in which a mark may be either; ``unread``
    others whose cells mostly begin like numbers.
    """

    by_column: dict[str, NumberStyle]
    usual: NumberStyle
    doubtful: tuple[str, ...]
    unread: tuple[str, ...]


def guess_styles(cells: Mapping[str, Sequence[str]], delimiter: str) -> Styles:
    """The style of each column that holds numbers, and the most frequent one.

    Parameters
    ----------
    cells : mapping of str to sequence of str
        By column, as they stand.
    delimiter : str
        Of the file.

    Returns
    -------
    Styles
        A proposal.
    """
    present = {name: [cell for cell in column if cell.strip() not in MISSING] for name, column in cells.items()}
    evidence = {name: _collect_evidence(column) for name, column in present.items()}
    for_table = {mark for one in evidence.values() for mark in one}
    styles, doubtful, unread = {}, [], []
    for name, column in present.items():
        decimals = evidence[name] or (for_table if len(for_table) == 1 else {".", ","})
        style = guess_style(column, delimiter, decimals)
        if style is not None:
            styles[name] = style
            if len(decimals) == 2 and delimiter != "," and _leaves_it_open(column):
                doubtful.append(name)
        elif column and 2 * sum(_LIKE_A_NUMBER.fullmatch(cell.strip()) is not None for cell in column) > len(column):
            unread.append(name)
    usual = Counter(styles.values()).most_common(1)[0][0] if styles else PLAIN_STYLE
    shared = {name: _choose_style(present[name], style, usual) for name, style in styles.items()}
    return Styles(shared, usual, tuple(doubtful), tuple(unread))


def guess_style(present: Sequence[str], delimiter: str, decimals: set[str]) -> NumberStyle | None:
    """The style that reads most of ``present``, or None if fewer than half of them are numbers in any.

    ``decimals`` are the marks that may be the decimal one.

    Parameters
    ----------
    present : sequence of str
        Cells that are not empty.
    delimiter : str
        Of the file.
    decimals : set of str
        Marks that may be the decimal one.

    Returns
    -------
    NumberStyle or None
        A proposal.
    """
    if not present or 2 * sum(_LONG_INTEGER.fullmatch(cell) is not None for cell in present) > len(present):
        return None  # nothing, or an id
    if "." in decimals and count_readable(present, PLAIN_STYLE) == len(present):
        return PLAIN_STYLE
    sign, negative = _find_sign(present), _find_negative(present)
    candidates = [NumberStyle(*marks, sign, negative) for marks in _list_marks(delimiter) if marks[0] in decimals]
    best = max(candidates, key=partial(count_readable, present))
    return best if 2 * count_readable(present, best) >= len(present) else None


def count_readable(cells: Sequence[str], style: NumberStyle) -> int:
    """How many cells are numbers in ``style``.

    Parameters
    ----------
    cells : sequence of str
        As they stand.
    style : NumberStyle
        How numbers are written.

    Returns
    -------
    int
        From 0 to their number.
    """
    return int(np.count_nonzero(~np.isnan(read_values(cells, style))))


def read_values(cells: Sequence[str], style: NumberStyle) -> FloatArray:
    """Cells as numbers, NaN where one is none.

    Parameters
    ----------
    cells : sequence of str
        As they stand.
    style : NumberStyle
        How numbers are written.

    Returns
    -------
    array of shape (n,)
        Each from its own cell alone.
    """
    return read_numbers(pa.array([cell.encode(errors="replace") for cell in cells], pa.binary()), style, "utf-8")


def find_mending_style(cells: Sequence[str], style: NumberStyle) -> NumberStyle | None:
    """Another style than ``style`` that reads most of these cells, which it does not read; None if none does.

    What the column's other cells are written like goes first.

    Parameters
    ----------
    cells : sequence of str
        As they stand.
    style : NumberStyle
        How numbers are written.

    Returns
    -------
    NumberStyle or None
        A proposal for their owner.
    """
    near = [style._replace(negative=negative) for negative in ("()", "-")]
    found = guess_style(cells, ";", {style.decimal}) or guess_style(cells, ";", {".", ","})
    candidates = [one for one in (*near, found) if one is not None]
    best = max(candidates, key=partial(count_readable, cells))
    return best if 2 * count_readable(cells, best) >= len(cells) > 0 else None


def _collect_evidence(present: Sequence[str]) -> set[str]:
    """The marks that some cell can only use as the decimal one."""
    decimals: set[str] = set()
    looked_at = present[:_LOOKED_AT]
    if 2 * sum(_SIGNED.fullmatch(cell.strip()) is not None for cell in looked_at) < len(looked_at):
        return decimals  # words: what stands among them is no number of this table
    for cell in looked_at:
        found = _DIGITS_AND_MARKS.search(cell)
        if found is None or not ("." in found[0] or "," in found[0]):
            continue
        number = found[0].rstrip(".,")
        for mark, other in ((".", ","), (",", ".")):
            if _DECIMAL[mark].fullmatch(number) or (number.count(other) > 1 and _GROUPS[other].fullmatch(number)):
                decimals.add(mark)
    return decimals


def _leaves_it_open(present: Sequence[str]) -> bool:
    marked = [cell for cell in present if "." in cell or "," in cell]
    return bool(marked) and all(_EITHER.search(cell) is not None for cell in marked)


def _choose_style(cells: Sequence[str], own: NumberStyle, usual: NumberStyle) -> NumberStyle:
    """The style of most columns where it says the same of this one: whole numbers fit many styles."""
    return usual if read_values(cells, own).tobytes() == read_values(cells, usual).tobytes() else own


def _list_marks(delimiter: str) -> list[tuple[str, str]]:
    """Decimal and grouping marks, the likelier ones first."""
    with_commas = [(".", ","), (",", ""), (",", ".")] if delimiter == "," else [(",", ""), (",", "."), (".", ",")]
    return [(".", ""), *with_commas, (",", " "), (".", " "), (".", "'"), (",", "'"), (".", INDIAN)]


def _find_sign(cells: Sequence[str]) -> str:
    """What stands beside the number in at least half of the cells: %, $, €, kg; else nothing."""
    matches = (_SIGNED.fullmatch(cell.strip()) for cell in cells)
    signs = Counter(sign for match in matches if match and (sign := match["before"] or match["behind"]))
    sign, times = signs.most_common(1)[0] if signs else ("", 0)
    return sign if 2 * times >= len(cells) else ""


def _find_negative(cells: Sequence[str]) -> str:
    """How some cells are made negative, if it is not by a minus in front."""
    for written, is_one in (("()", _PARENTHESES), ("-", _MINUS_BEHIND)):
        if any(is_one.fullmatch(cell.strip()) for cell in cells):
            return written
    return ""
