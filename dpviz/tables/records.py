"""Lines of a file as columns: what a line becomes depends on that line and on declarations only.

One physical line is one record. A line that is broken, has too many or too few fields, or is longer than 64 MB, is a
record without a value; a cell that is no number in the declared style is missing. Which lines are whole and simply
quoted is found out first; those are read together by Arrow's reader, which then has nothing left to decide. A line that
quotes in another way, or has a carriage return inside, is read by itself. What a column lost on the way is counted
beside it, for the owner of the file.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import csv as arrow_csv

from dpviz.tables.cell_values import MISSING
from dpviz.tables.file_format import WHITESPACE, NumberStyle
from dpviz.tables.loaded_table import TEXT, FloatArray, Unread
from dpviz.tables.number_cells import CellNumbers, convert_numbers, count_numbers, drop_codes, read_text
from dpviz.words import doorways

# Lines are read in blocks of about this many bytes: temporary arrays of a block take some ten times as much.
BLOCK_BYTES = 1 << 21
LONGEST_LINE = 1 << 26  # in bytes, without its end
_RECORDS_AT_ONCE = 10_000

_NEWLINE, _RETURN, _BLANK = 10, 13, 32
_MARK = b"\xef\xbb\xbf"

Column: TypeAlias = FloatArray | pd.Series
_Places: TypeAlias = NDArray[np.int64]
_Mask: TypeAlias = NDArray[np.bool_]
# Cells of one column, as they stand in the file, or numbers already.
_Cells: TypeAlias = Any


@dataclass(frozen=True)
class Wanted:
    """What is to be read."""

    width: int
    delimiter: str
    encoding: str
    numbers: Mapping[int, NumberStyle]
    text: Sequence[int]
    quote: str = '"'
    missing: Mapping[int, frozenset[str]] = field(default_factory=dict)

    @property
    def weight(self) -> int:
        """What a line of it takes in memory, in numbers."""
        return len(self.numbers) + doorways.OF_TEXT * len(self.text)


class Read(NamedTuple):
    """Columns by place, and what was lost of those that hold numbers.

    ``columns`` are float64 with NaN for missing, or text with NA; ``unread`` has an entry for each number column.
    """

    columns: dict[int, Column]
    unread: dict[int, Unread]


def read_lines(raw: bytes, wanted: Wanted, *, first: int = 0, block_bytes: int = BLOCK_BYTES) -> Read:
    """The wanted columns by place, one value a line of ``raw`` from byte ``first`` on.

    ``block_bytes`` bounds memory; any size gives the same columns to the last bit.
    """
    columns = _Columns(raw.count(b"\n", first) + (len(raw) > first and not raw.endswith(b"\n")), wanted)
    start = 0
    for block in map(partial(_cut_long_lines, wanted.quote.encode()), _split_blocks(raw, first, block_bytes)):
        lines = _Lines(_squeeze_blanks(block) if wanted.delimiter == WHITESPACE else block, wanted)
        columns.put(start + np.flatnonzero(lines.together), lines.read_together())
        columns.put_records(start + np.flatnonzero(lines.alone), lines.read_alone())
        start += len(lines.ends)
    return columns.finish()


def read_records(text: str, wanted: Wanted) -> Read:
    """The wanted columns of text in which a quoted cell may go on over several lines: for public files only."""
    delimiter = " " if wanted.delimiter == WHITESPACE else wanted.delimiter
    reader = csv.reader(
        io.StringIO(text, newline=""), delimiter=delimiter, quotechar=wanted.quote, skipinitialspace=True
    )
    parts = [_Columns(0, wanted).finish()]
    all_records = _read_until_end(reader)
    while records := list(islice(all_records, _RECORDS_AT_ONCE)):
        encoded = [[cell.encode(wanted.encoding, errors="replace") for cell in record] for record in records]
        columns = _Columns(len(records), wanted)
        columns.put_records(np.arange(len(records)), encoded)
        parts.append(columns.finish())
    return join_parts(parts)


def join_parts(parts: Sequence[Read]) -> Read:
    """What was read in several pieces, one below the other."""
    first = parts[0]
    columns = {place: _join_columns([part.columns[place] for part in parts]) for place in first.columns}
    return Read(columns, {place: Unread.combine([part.unread[place] for part in parts]) for place in first.unread})


def _read_until_end(reader: Iterator[list[str]]) -> Iterator[list[str]]:
    """All records; one that cannot be taken apart is empty."""
    while True:
        try:
            yield next(reader)
        except StopIteration:
            return
        except csv.Error:
            yield []


def _join_columns(parts: Sequence[Any]) -> Column:
    if isinstance(parts[0], np.ndarray):
        return np.concatenate(parts)
    joined: pd.Series[Any] = pd.concat(parts, ignore_index=True)
    return joined


class _Columns:
    """The wanted columns while they fill up; whatever is not put stays missing."""

    def __init__(self, n: int, wanted: Wanted) -> None:
        self._wanted, self._rows_put = wanted, 0
        self._numbers = {place: np.full(n, np.nan) for place in wanted.numbers}
        self._text: dict[int, NDArray[np.object_]] = {place: np.full(n, None) for place in wanted.text}
        self._unread: dict[int, list[Unread]] = {place: [] for place in wanted.numbers}
        self._n = n

    def put(self, at: _Places, cells: Mapping[int, _Cells]) -> None:
        """Cells of whole lines, by place, that stand at ``at``; numbers may come with what was lost of them."""
        if len(at) == 0:
            return
        self._rows_put += len(at)
        in_a_row = int(at[-1] - at[0]) + 1 == len(at)
        where: Any = slice(int(at[0]), int(at[-1]) + 1) if in_a_row else at
        for place, values in self._numbers.items():
            found = cells[place]
            if not isinstance(found, CellNumbers):
                found = count_numbers(found, self._wanted.numbers[place], self._wanted.encoding)
            if self._wanted.numbers[place].missing:
                found = drop_codes(found, self._wanted.numbers[place])
            values[where] = found.values
            self._unread[place].append(found.unread)
        for place, words in self._text.items():
            missing = self._wanted.missing.get(place, frozenset())
            words[where] = read_text(cells[place], self._wanted.encoding, missing)

    def put_records(self, at: _Places, records: Sequence[list[bytes] | None]) -> None:
        """Lines that were taken apart one by one; None and those of another width are records without a value."""
        whole = [number for number, record in enumerate(records) if record and len(record) == self._wanted.width]
        taken: list[Any] = [records[number] for number in whole]
        places = (*self._numbers, *self._text)
        self.put(at[whole], {place: pa.array([record[place] for record in taken], pa.binary()) for place in places})

    def finish(self) -> Read:
        text = {place: pd.Series(words, dtype=TEXT) for place, words in self._text.items()}
        broken = Unread(broken=self._n - self._rows_put)
        unread = {place: Unread.combine([*parts, broken]) for place, parts in self._unread.items()}
        return Read({**self._numbers, **text}, unread)


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
        self.alone = self._find_broken_by_returns()
        self.alone[0] |= block.startswith(_MARK)  # Arrow would take it for a mark of the file
        separates = self._bytes == ord(self._delimiter)
        self._dropped: _Places | None = None
        self._quote = wanted.quote.encode()
        if self._quote in block:
            inside = self._find_within_quotes()
            self._protected = bool((separates & inside).any())
            separates &= ~inside
            self.alone |= self._find_quoted_inside(separates)
        delimiters = np.flatnonzero(separates)
        fields = np.diff(np.searchsorted(delimiters, self.ends), prepend=0) + 1
        self.together = ~self.alone & (fields == wanted.width)

    def read_together(self) -> Mapping[int, _Cells]:
        """Cells of the lines that are whole, and quote whole fields only or none: numbers where all of them are."""
        wanted, block = self._wanted, self._block
        if not self.together.any():
            return {}
        kept = None
        if self._dropped is not None:
            kept = np.ones(len(block), dtype=bool) if self._protected else ~self._quotes
            kept[self._dropped] = False
        if not self.together.all():
            whole = np.repeat(self.together, np.diff(np.minimum(self.ends + 1, len(block)), prepend=0))
            kept = whole if kept is None else kept & whole
        if kept is not None:
            block = self._bytes[kept].tobytes()
        decimal = "," if any(style.decimal == "," for style in wanted.numbers.values()) else "."
        directly = {place: pa.float64() for place, style in wanted.numbers.items() if style.decimal == decimal}
        try:
            return self._read(block, directly, decimal)
        except pa.ArrowInvalid:  # some cell is no plain number
            return self._read(block, {}, decimal)

    def _read(self, block: bytes, numbers: Mapping[int, Any], decimal: str) -> Mapping[int, _Cells]:
        places = (*self._wanted.numbers, *self._wanted.text)
        names = {str(place): numbers.get(place, pa.binary()) for place in places}
        table = arrow_csv.read_csv(
            pa.BufferReader(block),
            arrow_csv.ReadOptions(
                use_threads=False,
                block_size=len(block) + 1,
                column_names=[str(place) for place in range(self._wanted.width)],
            ),
            arrow_csv.ParseOptions(
                delimiter=self._delimiter,
                quote_char=self._wanted.quote if self._quote in block else False,
                double_quote=False,
                ignore_empty_lines=False,
            ),
            arrow_csv.ConvertOptions(
                check_utf8=False,
                column_types=names,
                include_columns=list(names),
                null_values=sorted(MISSING),
                strings_can_be_null=False,
                decimal_point=decimal,
            ),
        )
        columns = {place: table.column(str(place)).combine_chunks() for place in places}
        return {place: convert_numbers(cells) if place in numbers else cells for place, cells in columns.items()}

    def read_alone(self) -> list[list[bytes] | None]:
        """The fields of each line that quotes or breaks off inside, None where it does so wrongly."""
        spans = zip(self._starts[self.alone].tolist(), self.ends[self.alone].tolist(), strict=True)
        lines = [self._block[start:end] for start, end in spans]
        fields = {line: self._fields(line) for line in set(lines)}  # a packed file may repeat one millions of times
        return [fields[line] for line in lines]

    def _fields(self, line: bytes) -> list[bytes] | None:
        text = line.removesuffix(b"\r").decode("latin-1")  # a character a byte: taken back below
        try:
            fields = split_fields(text, self._delimiter, self._wanted.quote)
        except csv.Error:
            return None
        return [field.encode("latin-1") for field in fields]

    def _find_broken_by_returns(self) -> _Mask:
        """Lines with a carriage return that is not part of their end."""
        broken: _Mask = np.zeros(len(self.ends), dtype=bool)
        if b"\r" in self._block:
            returns = np.flatnonzero(self._bytes == _RETURN)
            line = np.searchsorted(self.ends, returns)
            broken[line[returns + 1 != self.ends[line]]] = True
        return broken

    def _find_within_quotes(self) -> _Mask:
        """Bytes behind an odd number of quotation marks of their line; lines with an odd number are read alone."""
        self._quotes = self._bytes == ord(self._quote)
        inside = np.bitwise_xor.accumulate(self._quotes.view(np.uint8))
        at_ends = inside[np.minimum(self.ends, len(inside) - 1)]  # a last line without an end ends in its last byte
        before = np.r_[np.uint8(0), at_ends[:-1]]
        self.alone |= before != at_ends
        if before.any():  # every line begins outside
            lengths = np.diff(np.minimum(self.ends + 1, len(inside)), prepend=0)
            inside ^= np.repeat(before, lengths)
        self._inside: _Mask = inside.view(bool)
        return self._inside

    def _find_quoted_inside(self, separates: _Mask) -> _Mask:
        """Lines with a quotation mark that neither opens nor closes a whole field.

        Blanks before a mark that opens one are noted: they are dropped.
        """
        irregular: _Mask = np.zeros(len(self.ends), dtype=bool)
        size = len(self._bytes)
        borders = np.ones(size + 2, dtype=bool)  # by place + 1: there is one before the first byte and behind the last
        np.bitwise_or(separates, self._bytes == _NEWLINE, out=borders[1:-1])
        # Nearly all marks stand at borders: the others alone are looked at one by one.
        opening = np.flatnonzero(self._quotes & self._inside & ~borders[:-2])
        closing = np.flatnonzero(self._quotes & ~self._inside & ~borders[2:])
        blank = (self._bytes[opening - 1] == _BLANK) & borders[opening - 1]
        returns = (self._bytes[closing + 1] == _RETURN) & borders[np.minimum(closing + 3, size + 1)]
        if blank.any():
            self._dropped = opening[blank] - 1
        for wrong in (opening[~blank], closing[~returns]):
            if len(wrong):
                irregular[np.searchsorted(self.ends, wrong)] = True
        return irregular


def split_fields(line: str, delimiter: str, quote: str = '"') -> list[str]:
    """The fields of one line; csv.Error if a quotation mark of it is never closed, or closes inside a field.

    What stands before names that blanks set apart, a #, is none of them.
    """
    if delimiter == WHITESPACE:
        return line.lstrip("#").split()
    return next(csv.reader((line,), delimiter=delimiter, quotechar=quote, skipinitialspace=True, strict=True), [])


def _split_blocks(raw: bytes, first: int, size: int) -> Iterator[bytes]:
    """``raw`` from ``first`` on in pieces that end where a line ends, each of about ``size`` bytes."""
    start = first
    while start < len(raw):
        end = raw.find(b"\n", start + size - 1) + 1 or len(raw)
        yield raw[start:end]
        start = end


def _cut_long_lines(quote: bytes, block: bytes) -> bytes:
    """The block with a broken line in the place of each that is too long: what follows from a line bounds memory."""
    if len(block) <= LONGEST_LINE:
        return block
    return b"\n".join(line if len(line) <= LONGEST_LINE else quote for line in block.split(b"\n"))


def _squeeze_blanks(block: bytes) -> bytes:
    """Lines with a single blank between fields, whatever blanks and tabs stood there and around them."""
    return re.sub(rb"(?m)^ | (?=\r?$)", b"", re.sub(rb"[ \t]+", b" ", block))
