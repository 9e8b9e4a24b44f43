"""Lines of a file as columns: what a line becomes depends on that line and on declarations only.

One physical line is one record. A line that is broken, has too many or too few fields, or is longer than 64 MB, is a
record without a value; a cell that is no number in the declared style is missing. Plain lines are read together, column
by column; a line with a quotation mark whose fields are not simply quoted, or with a carriage return inside, is read by
itself.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from dpviz.table.file_format import PLAIN_STYLE, WHITESPACE, NumberStyle
from dpviz.table.loaded_table import FloatArray

# Lines are read in blocks of about this many bytes: temporary arrays of a block take some ten times as much.
BLOCK_BYTES = 1 << 20
LONGEST_LINE = 1 << 26  # in bytes, without its end
_RECORDS_AT_ONCE = 10_000

_NEWLINE, _RETURN, _QUOTE = 10, 13, 34
# What people write for a missing cell, besides nothing.
MISSING = frozenset(("", "NA", "N/A", "n/a", "#N/A", "NULL", "null", "nan", "NaN", "None"))

Column: TypeAlias = FloatArray | pd.Series
_Places: TypeAlias = NDArray[np.int64]
_Mask: TypeAlias = NDArray[np.bool_]
# Cells of one column, as they stand in the file, or numbers already.
_Cells: TypeAlias = Any


@dataclass(frozen=True)
class Wanted:
    """What is to be read.

    Parameters
    ----------
    width : int
        Fields of a whole line.
    delimiter : str
    encoding : str
        Of text; numbers are ASCII in every encoding allowed.
    numbers : mapping of int to NumberStyle
        Places of columns that hold numbers, and how these are written.
    text : sequence of int
        Places of columns that are kept as text.
    """

    width: int
    delimiter: str
    encoding: str
    numbers: Mapping[int, NumberStyle]
    text: Sequence[int]


def read_lines(raw: bytes, wanted: Wanted, *, first: int = 0, block_bytes: int = BLOCK_BYTES) -> dict[int, Column]:
    """The wanted columns by place, one value a line of ``raw`` from byte ``first`` on: float64 with NaN for missing,
    or text with NA.

    ``block_bytes`` bounds memory; any size gives the same columns to the last bit.
    """
    columns = _Columns(raw.count(b"\n", first) + (len(raw) > first and not raw.endswith(b"\n")), wanted)
    start = 0
    for block in map(_without_long_lines, _blocks(raw, first, block_bytes)):
        lines = _Lines(_set_apart_once(block) if wanted.delimiter == WHITESPACE else block, wanted)
        columns.put(start + np.flatnonzero(lines.together), lines.read_together())
        columns.put_records(start + np.flatnonzero(lines.alone), lines.read_alone())
        start += len(lines.ends)
    return columns.finished()


def read_records(text: str, wanted: Wanted) -> dict[int, Column]:
    """The wanted columns of text in which a quoted cell may go on over several lines: for public files only."""
    delimiter = " " if wanted.delimiter == WHITESPACE else wanted.delimiter
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=True)
    parts = []
    all_records = _until_the_end(reader)
    while records := list(islice(all_records, _RECORDS_AT_ONCE)):
        encoded = [[cell.encode(wanted.encoding, errors="replace") for cell in record] for record in records]
        columns = _Columns(len(records), wanted)
        columns.put_records(np.arange(len(records)), encoded)
        parts.append(columns.finished())
    empty = _Columns(0, wanted).finished()
    return {place: _joined([empty[place], *(part[place] for part in parts)]) for place in empty}


def _until_the_end(reader: Iterator[list[str]]) -> Iterator[list[str]]:
    """All records; one that cannot be taken apart is empty."""
    while True:
        try:
            yield next(reader)
        except StopIteration:
            return
        except csv.Error:
            yield []


def _joined(parts: Sequence[Any]) -> Column:
    if isinstance(parts[0], np.ndarray):
        return np.concatenate(parts)
    joined: pd.Series[Any] = pd.concat(parts, ignore_index=True)
    return joined


class _Columns:
    """The wanted columns while they fill up; whatever is not put stays missing."""

    def __init__(self, n: int, wanted: Wanted) -> None:
        self._wanted = wanted
        self._numbers = {place: np.full(n, np.nan) for place in wanted.numbers}
        self._text: dict[int, NDArray[np.object_]] = {place: np.full(n, None) for place in wanted.text}

    def put(self, at: _Places, cells: Mapping[int, _Cells]) -> None:
        """Cells of whole lines, by place, that stand at ``at``."""
        if len(at) == 0:
            return
        for place, values in self._numbers.items():
            values[at] = numbers_of(cells[place], self._wanted.numbers[place], self._wanted.encoding)
        for place, words in self._text.items():
            words[at] = _text_of(cells[place], self._wanted.encoding)

    def put_records(self, at: _Places, records: Sequence[list[bytes] | None]) -> None:
        """Lines that were taken apart one by one; None and those of another width are records without a value."""
        whole = [number for number, record in enumerate(records) if record and len(record) == self._wanted.width]
        taken: list[Any] = [records[number] for number in whole]
        places = (*self._numbers, *self._text)
        self.put(at[whole], {place: _array(record[place] for record in taken) for place in places})

    def finished(self) -> dict[int, Column]:
        text = {place: pd.Series(words, dtype="str") for place, words in self._text.items()}
        return {**self._numbers, **text}


class _Lines:
    """The lines of a block: which can be read together, and which have to be read alone.

    ``ends`` are the places of their line ends. Lines that are in neither mask have too many or too few fields.
    """

    def __init__(self, block: bytes, wanted: Wanted) -> None:
        self._block, self._wanted = block, wanted
        self._delimiter = " " if wanted.delimiter == WHITESPACE else wanted.delimiter
        self._bytes = np.frombuffer(block, np.uint8)
        ends = np.flatnonzero(self._bytes == _NEWLINE)
        self.ends = ends if block.endswith(b"\n") else np.r_[ends, len(block)]
        self._starts = np.r_[0, self.ends[:-1] + 1]
        delimiters = np.flatnonzero(self._bytes == ord(self._delimiter))
        self.alone = self._broken_by_returns() | self._quoted_inside(delimiters)
        fields = np.searchsorted(delimiters, self.ends) - np.searchsorted(delimiters, self._starts) + 1
        self.together = ~self.alone & (fields == wanted.width)

    def read_together(self) -> Mapping[int, _Cells]:
        """Cells of the lines that hold nothing to protect, and of those whose fields are simply quoted."""
        payload = self._bytes
        if not self.together.all() or b'"' in self._block:
            lengths = np.diff(np.minimum(self.ends + 1, len(payload)), prepend=0)
            payload = payload[np.repeat(self.together, lengths) & (payload != _QUOTE)]
        if b"\r" in self._block:
            payload = payload[payload != _RETURN]  # here they stand at line ends only
        separates = (payload == ord(self._delimiter)) | (payload == _NEWLINE)
        borders = np.flatnonzero(separates)
        if (len(payload) and not separates[-1]) or len(borders) < self.together.sum() * self._wanted.width:
            borders = np.r_[borders, len(payload)]
        # The bytes of all fields side by side, and where each of them ends.
        ends = (borders - np.arange(len(borders))).astype(np.int32)
        fields = pa.BinaryArray.from_buffers(
            pa.binary(), len(ends), [None, pa.py_buffer(np.r_[np.int32(0), ends]), pa.py_buffer(payload[~separates])]
        )
        return self._columns(fields)

    def _columns(self, fields: pa.BinaryArray) -> Mapping[int, _Cells]:
        """Fields of all lines, one line after the other, by column: numbers at once where all of them are plain."""
        wanted = self._wanted
        if len(wanted.numbers) == wanted.width and set(wanted.numbers.values()) == {PLAIN_STYLE}:
            with suppress(pa.ArrowInvalid):  # some cell is no number
                return dict(enumerate(_cast(fields).reshape(-1, wanted.width).T))
        number = len(fields) // wanted.width
        places = (*wanted.numbers, *wanted.text)
        return {place: fields.take(pa.array(np.arange(number) * wanted.width + place)) for place in places}

    def read_alone(self) -> list[list[bytes] | None]:
        """The fields of each line that quotes or breaks off inside, None where it does so wrongly."""
        spans = zip(self._starts[self.alone].tolist(), self.ends[self.alone].tolist(), strict=True)
        return [self._fields(self._block[start:end]) for start, end in spans]

    def _fields(self, line: bytes) -> list[bytes] | None:
        text = line.removesuffix(b"\r").decode("latin-1")  # a character a byte: taken back below
        try:
            fields = fields_of(text, self._delimiter)
        except csv.Error:
            return None
        return [field.encode("latin-1") for field in fields]

    def _broken_by_returns(self) -> _Mask:
        """Lines with a carriage return that is not part of their end."""
        broken: _Mask = np.zeros(len(self.ends), dtype=bool)
        if b"\r" in self._block:
            returns = np.flatnonzero(self._bytes == _RETURN)
            line = np.searchsorted(self.ends, returns)
            broken[line[returns + 1 != self.ends[line]]] = True
        return broken

    def _quoted_inside(self, delimiters: _Places) -> _Mask:
        """Lines with a quotation mark, but for those where marks stand in pairs around whole fields without delimiter.

        From the latter the marks can be taken off, and they are lines like others.
        """
        inside: _Mask = np.zeros(len(self.ends), dtype=bool)
        if b'"' not in self._block:
            return inside
        quotes = np.flatnonzero(self._bytes == _QUOTE)
        line = np.searchsorted(self.ends, quotes)
        first = np.asarray(np.searchsorted(quotes, self._starts))
        closes = (np.arange(len(quotes)) - first[line]) % 2 == 1
        borders = np.zeros(len(self._bytes) + 2, dtype=bool)  # by place + 1: there is one before the first byte
        borders[0] = borders[-1] = True
        borders[delimiters + 1] = borders[self.ends + 1] = True
        before = borders[quotes]
        returns = self.ends[line] - 1
        after = borders[quotes + 2] | ((quotes + 1 == returns) & (self._bytes[np.maximum(returns, 0)] == _RETURN))
        passed = np.searchsorted(delimiters, quotes)
        protects = closes & (passed != np.r_[0, passed[:-1]])
        inside[line[np.where(closes, ~after | protects, ~before)]] = True
        inside[np.diff(np.r_[first, len(quotes)]) % 2 == 1] = True
        return inside


def fields_of(line: str, delimiter: str) -> list[str]:
    """The fields of one line; csv.Error if a quotation mark of it is never closed, or closes inside a field."""
    return next(csv.reader((line,), delimiter=delimiter, skipinitialspace=True, strict=True), [])


def numbers_of(cells: _Cells, style: NumberStyle, encoding: str) -> FloatArray:
    """Cells of shape (n,) as numbers written in ``style``; whatever is none, or not finite, is NaN."""
    if isinstance(cells, np.ndarray):
        values: FloatArray = cells
    else:
        try:
            values = _cast(cells if style == PLAIN_STYLE else _bare(cells, style, encoding))
        except pa.ArrowInvalid:  # some cell is no number
            values = _cast(_bare(cells, style, encoding))
    return np.where(np.isfinite(values), values, np.nan)


def _cast(cells: pa.BinaryArray) -> FloatArray:
    """Cells that hold a number or nothing, without blanks, as numbers."""
    empty = pc.equal(pc.binary_length(cells), 0)
    if pc.any(empty).as_py():
        cells = pc.if_else(empty, pa.scalar(None, cells.type), cells)
    numbers = pc.cast(cells.view(pa.string()), pa.float64())
    values: FloatArray = numbers.to_numpy(zero_copy_only=numbers.null_count == 0)
    return values


def _bare(cells: _Cells, style: NumberStyle, encoding: str) -> _Cells:
    """The numbers among ``cells`` without their signs and marks, with a decimal point; null for the others."""
    is_number = pc.match_substring_regex(cells, _pattern(style, encoding))
    bare = pc.if_else(is_number, cells, pa.scalar(None, cells.type))
    for mark in (style.sign, *style.grouping_marks, " ", "\t"):
        if _encoded(mark, encoding):
            bare = pc.replace_substring(bare, _encoded(mark, encoding), b"")
    for mark, plain in ((_MINUS, b"-"), (style.decimal, b".")):
        if mark != "." and _encoded(mark, encoding):
            bare = pc.replace_substring(bare, _encoded(mark, encoding), plain)
    # Marks that stand within each other could leave something else behind.
    is_plain = pc.match_substring_regex(bare, _pattern(PLAIN_STYLE, encoding))
    return pc.if_else(is_plain, bare, pa.scalar(None, bare.type))


_MINUS = "\u2212"


@lru_cache(maxsize=64)
def _pattern(style: NumberStyle, encoding: str) -> str:
    """A cell that is a number in ``style``, over its bytes."""
    marks = "|".join(_escaped(mark, encoding) for mark in style.grouping_marks if _encoded(mark, encoding))
    digits = rf"(?:[0-9]{{1,3}}(?:(?:{marks})[0-9]{{3}})+|[0-9]+)" if marks else "[0-9]+"
    decimal = _escaped(style.decimal, encoding)
    minus = f"(?:[+-]|{_escaped(_MINUS, encoding)})?" if _encoded(_MINUS, encoding) else "[+-]?"
    sign = rf"(?:{_escaped(style.sign, encoding)}[ \t]*)?" if _encoded(style.sign, encoding) else ""
    behind = rf"(?:[ \t]*{_escaped(style.sign, encoding)})?" if sign else ""
    number = rf"(?:{digits}(?:{decimal}[0-9]*)?|{decimal}[0-9]+)(?:[eE][+-]?[0-9]+)?"
    return rf"\A[ \t]*{sign}{minus}{sign}{number}{behind}[ \t]*\z"


def _escaped(mark: str, encoding: str) -> str:
    return "".join(rf"\x{{{byte:02x}}}" for byte in _encoded(mark, encoding))


def _encoded(mark: str, encoding: str) -> bytes:
    """The bytes of a mark; none where the encoding does not have it."""
    return mark.encode(encoding, errors="ignore")


def _text_of(cells: _Cells, encoding: str) -> NDArray[np.object_]:
    words = np.full(len(cells), None)
    words[:] = [_word(cell, encoding) for cell in cells.to_pylist()]
    return words


def _word(cell: bytes, encoding: str) -> str | None:
    word = cell.decode(encoding, errors="replace").strip()
    return None if word in MISSING else word


def _array(cells: Iterable[bytes]) -> Any:
    return pa.array(list(cells), pa.binary())


def _blocks(raw: bytes, first: int, size: int) -> Iterator[bytes]:
    """``raw`` from ``first`` on in pieces that end where a line ends, each of about ``size`` bytes."""
    start = first
    while start < len(raw):
        end = raw.find(b"\n", start + size - 1) + 1 or len(raw)
        yield raw[start:end]
        start = end


def _without_long_lines(block: bytes) -> bytes:
    """The block with a broken line in the place of each that is too long: what follows from a line bounds memory."""
    if len(block) <= LONGEST_LINE:
        return block
    return b"\n".join(line if len(line) <= LONGEST_LINE else b'"' for line in block.split(b"\n"))


def _set_apart_once(block: bytes) -> bytes:
    """Lines with a single blank between fields, whatever blanks and tabs stood there and around them."""
    return re.sub(rb"(?m)^ | (?=\r?$)", b"", re.sub(rb"[ \t]+", b" ", block))
