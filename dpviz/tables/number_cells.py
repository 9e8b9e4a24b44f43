"""Cells of one column as numbers, in a declared style, or as text: each cell by itself, whatever stands in others."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from dpviz.tables.file_format import BLANKS, INDIAN, MISSING, PLAIN_STYLE, NumberStyle
from dpviz.tables.loaded_table import CELLS_KEPT, FloatArray, Unread

# Cells of one column, as they stand in the file.
_Cells: TypeAlias = Any
_Mask: TypeAlias = NDArray[np.bool_]
_MINUS = "\u2212"


class CellNumbers(NamedTuple):
    """Numbers of cells, NaN where one is none, and what was lost."""

    values: FloatArray
    unread: Unread


def convert_numbers(cells: Any) -> CellNumbers:
    """Cells that Arrow has made numbers of, null where a cell was empty."""
    values = cells.to_numpy(zero_copy_only=False)
    finite = np.isfinite(values)
    if finite.all():
        return CellNumbers(values, Unread())
    empty = cells.null_count
    kept = np.where(finite, values, np.nan)
    return CellNumbers(kept, Unread(empty=empty, no_number=int(np.count_nonzero(~finite)) - empty))


def read_numbers(cells: _Cells, style: NumberStyle, encoding: str) -> FloatArray:
    """Cells of shape (n,) as numbers written in ``style``; whatever is none, or not finite, is NaN.

    Parameters
    ----------
    cells : _Cells
        Bytes or text, shape (n,).
    style : NumberStyle
        How numbers are written.
    encoding : str
        Of the file.

    Returns
    -------
    array of shape (n,)
        Each from its own cell alone.
    """
    if _list_group_marks(style, encoding):
        values = _read_marked(cells, style, encoding)
        return np.where(np.isfinite(values), values, np.nan)
    odd = _find_not_plain(cells, style)
    try:
        values = _cast(pc.if_else(pa.array(odd), pa.scalar(None, cells.type), cells) if odd.any() else cells, style)
    except pa.ArrowInvalid:  # digits, signs and marks in an order that makes no number
        odd[:] = True
        values = np.full(len(cells), np.nan)
    if odd.any():
        values = values.copy()
        values[odd] = _cast(_strip_marks(cells.filter(pa.array(odd)), style, encoding), PLAIN_STYLE)
    return np.where(np.isfinite(values), values, np.nan)


def count_numbers(cells: _Cells, style: NumberStyle, encoding: str) -> CellNumbers:
    """The same, with how many cells were empty and how many were no number.

    Parameters
    ----------
    cells : _Cells
        Bytes or text, shape (n,).
    style : NumberStyle
        How numbers are written.
    encoding : str
        Of the file.

    Returns
    -------
    CellNumbers
        With the numbers themselves.
    """
    values = read_numbers(cells, style, encoding)
    lost = np.isnan(values)
    if not lost.any():
        return CellNumbers(values, Unread())
    kinds = pc.value_counts(cells.filter(pa.array(lost)))
    words, times = kinds.field("values"), kinds.field("counts").to_pylist()
    wrong = [word for word in words.to_pylist() if _read_word(word, encoding) is not None]
    empty = sum(times) - sum(many for word, many in zip(words.to_pylist(), times, strict=True) if word in {*wrong})
    return CellNumbers(values, Unread(empty, sum(times) - empty, cells=tuple(wrong[:CELLS_KEPT])))


def _find_not_plain(cells: _Cells, style: NumberStyle) -> _Mask:
    """Which cells hold anything but digits, signs in front and the decimal mark, so that marks must be taken off."""
    ends, content = _read_buffers(cells)
    usual = np.zeros(256, dtype=bool)
    usual[list(b"0123456789+-" + style.decimal.encode())] = True
    odd: _Mask = np.zeros(len(cells), dtype=bool)
    unusual = np.flatnonzero(~usual[content])
    if len(unusual):
        odd[np.searchsorted(ends[1:] - ends[0], unusual, side="right")] = True
    return odd


def _read_buffers(cells: _Cells) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
    """Where cells begin, and the last one ends; and the bytes of all of them."""
    _, places, content = cells.buffers()
    ends = np.frombuffer(places, np.int32)[cells.offset : cells.offset + len(cells) + 1]
    if content is None or len(cells) == 0:
        return np.zeros(len(cells) + 1, np.int32), np.empty(0, np.uint8)
    return ends, np.frombuffer(content, np.uint8)[ends[0] : ends[-1]]


def _cast(cells: pa.BinaryArray, style: NumberStyle) -> FloatArray:
    """Cells that hold a number without blanks, signs and grouping marks, or nothing, as numbers."""
    empty = pc.equal(pc.binary_length(cells), 0)
    if pc.any(empty).as_py():
        cells = pc.if_else(empty, pa.scalar(None, cells.type), cells)
    if style.decimal != ".":
        cells = pc.replace_substring(cells, style.decimal.encode(), b".")
    numbers = pc.cast(cells.view(pa.string()), pa.float64())
    values: FloatArray = numbers.to_numpy(zero_copy_only=numbers.null_count == 0)
    return values


def _list_group_marks(style: NumberStyle, encoding: str) -> list[int]:
    """The bytes that may stand between groups of three digits; none where groups are of two, or there are no marks."""
    marks = [_encode(mark, encoding) for mark in style.grouping_marks]
    return [] if style.grouping == INDIAN else [mark[0] for mark in marks if len(mark) == 1]


def _read_marked(cells: _Cells, style: NumberStyle, encoding: str) -> FloatArray:
    """Cells at once where marks group thousands and nothing else stands in them, one pattern after the other else."""
    grouped, refused = _join_groups(cells, style, _list_group_marks(style, encoding))
    try:
        values = _cast(grouped if not refused.any() else grouped.filter(pa.array(~refused)), style)
    except pa.ArrowInvalid:
        refused[:], values = True, np.empty(0)
    if not refused.any():
        return values
    every = np.full(len(cells), np.nan)
    every[~refused] = values
    every[refused] = _cast(_strip_marks(cells.filter(pa.array(refused)), style, encoding), PLAIN_STYLE)
    return every


_DIGIT, _MARK, _POINT, _SIGN = 1, 2, 3, 4


def _join_groups(cells: _Cells, style: NumberStyle, marks: list[int]) -> tuple[_Cells, _Mask]:
    """Cells without the marks between their groups of three digits, and those that are written in another way."""
    ends, content = _read_buffers(cells)
    begins, stops = (ends[:-1] - ends[0]).astype(np.int64), (ends[1:] - ends[0]).astype(np.int64)
    table = np.zeros(256, dtype=np.uint8)
    table[ord("0") : ord("9") + 1] = _DIGIT
    table[[ord("+"), ord("-")]] = _SIGN
    table[marks], table[ord(style.decimal)] = _MARK, _POINT
    # Four more, so that what stands behind the last cell can be looked at.
    kinds = np.zeros(len(content) + 4, dtype=np.uint8)
    np.take(table, content, out=kinds[:-4])
    refused = np.zeros(len(cells), dtype=bool)
    rest = np.flatnonzero(kinds[:-4] != _DIGIT)
    cell, kind = np.repeat(np.arange(len(cells), dtype=np.int32), stops - begins)[rest], kinds[rest]
    refused[cell[kind == 0]] = True
    refused[cell[(kind == _SIGN) & ((rest != begins[cell]) | (rest + 1 == stops[cell]))]] = True
    with_point = cell[kind == _POINT]
    refused[with_point[1:][with_point[1:] == with_point[:-1]]] = True
    point = np.full(len(cells), len(content))
    point[with_point] = rest[kind == _POINT]
    at, own = rest[kind == _MARK], cell[kind == _MARK]
    lead = at - begins[own] - (kinds[begins[own]] == _SIGN)
    # Up to three digits before the first mark, three behind each, and no mark behind the decimal one.
    good = (lead >= 1) & (at < point[own]) & (at + 3 < stops[own])
    for behind in (1, 2, 3):
        good &= kinds[at + behind] == _DIGIT
    good &= (at + 4 >= stops[own]) | (kinds[at + 4] != _DIGIT)
    good &= (np.diff(own, prepend=-1) == 0) | (lead <= 3)
    refused[own[~good]] = True
    places = np.r_[0, stops - np.cumsum(np.bincount(own, minlength=len(cells)))]
    kept = content[kinds[:-4] != _MARK]
    buffers = [None, pa.py_buffer(places.astype(np.int32)), pa.py_buffer(np.ascontiguousarray(kept))]
    return pa.Array.from_buffers(cells.type, len(cells), buffers), refused


def _strip_marks(cells: _Cells, style: NumberStyle, encoding: str) -> _Cells:
    """The numbers among ``cells`` without their signs and marks, with a decimal point; null for the others."""
    is_number = pc.match_substring_regex(cells, _make_pattern(style, encoding))
    negative = None
    if style.negative:
        negative = pc.match_substring_regex(cells, _make_negative_pattern(style, encoding))
        is_number = pc.or_(is_number, negative)
    bare = pc.if_else(is_number, cells, pa.scalar(None, cells.type))
    for mark in (style.sign, *style.grouping_marks, *BLANKS, "\t"):
        if _encode(mark, encoding):
            bare = pc.replace_substring(bare, _encode(mark, encoding), b"")
    for mark, plain in ((_MINUS, b"-"), (style.decimal, b".")):
        if mark != "." and _encode(mark, encoding):
            bare = pc.replace_substring(bare, _encode(mark, encoding), plain)
    if negative is not None:
        minus, between = pa.scalar(b"-", bare.type), pa.scalar(b"", bare.type)
        amounts = pc.binary_join_element_wise(minus, _remove_marks(bare, b"(", b")", b"-"), between)
        bare = pc.if_else(negative, amounts, bare)
    # Marks that stand within each other could leave something else behind.
    is_plain = pc.match_substring_regex(bare, _make_pattern(PLAIN_STYLE, encoding))
    return pc.if_else(is_plain, bare, pa.scalar(None, bare.type))


def _remove_marks(cells: _Cells, *marks: bytes) -> _Cells:
    for mark in marks:
        cells = pc.replace_substring(cells, mark, b"")
    return cells


@lru_cache(maxsize=64)
def _make_pattern(style: NumberStyle, encoding: str) -> str:
    """A cell that is a number in ``style`` with its sign in front, over its bytes."""
    amount, pad, sign, behind = _list_parts(style, encoding)
    minus = f"(?:[+-]|{_escape(_MINUS, encoding)})?" if _encode(_MINUS, encoding) else "[+-]?"
    return rf"\A{pad}{sign}{minus}{sign}{amount}{behind}{pad}\z"


@lru_cache(maxsize=64)
def _make_negative_pattern(style: NumberStyle, encoding: str) -> str:
    """A cell that is a negative number as ``style`` declares it: between parentheses, or with its minus behind."""
    amount, pad, sign, behind = _list_parts(style, encoding)
    if style.negative == "()":
        return rf"\A{pad}{sign}\({pad}{sign}{amount}{behind}{pad}\){behind}{pad}\z"
    return rf"\A{pad}{sign}{amount}{behind}{pad}-{behind}{pad}\z"


class _Parts(NamedTuple):
    """Parts of a pattern: a number without sign, blanks, and a sign before and behind it."""

    amount: str
    pad: str
    sign: str
    behind: str


def _list_parts(style: NumberStyle, encoding: str) -> _Parts:
    blanks = "|".join(_escape(blank, encoding) for blank in (*BLANKS, "\t") if _encode(blank, encoding))
    pad = f"(?:{blanks})*"
    marks = "|".join(_escape(mark, encoding) for mark in style.grouping_marks if _encode(mark, encoding))
    groups = (
        rf"[0-9]{{1,2}}(?:(?:{marks})[0-9]{{2}})*"
        if style.grouping == INDIAN
        else rf"[0-9]{{1,3}}(?:(?:{marks})[0-9]{{3}})*"
    )
    digits = rf"(?:{groups}(?:{marks})[0-9]{{3}}|[0-9]+)" if marks else "[0-9]+"
    decimal = _escape(style.decimal, encoding)
    number = rf"(?:{digits}(?:{decimal}[0-9]*)?|{decimal}[0-9]+)(?:[eE][+-]?[0-9]+)?"
    sign = rf"(?:{_escape(style.sign, encoding)}{pad})?" if _encode(style.sign, encoding) else ""
    behind = rf"(?:{pad}{_escape(style.sign, encoding)})?" if sign else ""
    return _Parts(number, pad, sign, behind)


def _escape(mark: str, encoding: str) -> str:
    return "".join(rf"\x{{{byte:02x}}}" for byte in _encode(mark, encoding))


def _encode(mark: str, encoding: str) -> bytes:
    """The bytes of a mark; none where the encoding does not have it."""
    return mark.encode(encoding, errors="ignore")


def read_text(cells: _Cells, encoding: str) -> NDArray[np.object_]:
    """Cells of shape (n,) as text without blanks around it, None where a cell is empty.

    Parameters
    ----------
    cells : _Cells
        Bytes or text, shape (n,).
    encoding : str
        Of the file.

    Returns
    -------
    array of shape (n,)
        Text or None.
    """
    words = np.full(len(cells), None)
    words[:] = [_read_word(cell, encoding) for cell in cells.to_pylist()]
    return words


def _read_word(cell: bytes, encoding: str) -> str | None:
    word = cell.decode(encoding, errors="replace").strip()
    return None if word in MISSING else word
