"""Bytes of a CSV file to a table, as declared: the first line gives names, every line below it is a row.

Nothing is worked out from rows, and no cell is ever quoted. What a line becomes depends on that line and on
declarations only.

One physical line is one record. A line that is broken, has too many or too few fields, or is longer than 64 MB, is a
record without a value; a cell that is no number in the declared style is missing. Which lines are whole and simply
quoted is found out first; those are read together by Arrow's reader, which then has nothing left to decide. A line that
quotes in another way, or has a carriage return inside, is read by itself. What a column lost on the way is counted
beside it, for the owner of the file.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import hashlib
import io
import os
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice, pairwise
from pathlib import Path
from typing import IO, Any, NamedTuple, TypeAlias, TypeVar

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import csv as arrow_csv

from dpviz.tables.file_format import (
    DELIMITERS,
    MAX_COLUMNS,
    NAMED_DELIMITERS,
    PLAIN_FORMAT,
    TOLD,
    WHITESPACE,
    CellNumbers,
    FileFormat,
    NumberStyle,
    can_delimit,
    convert_numbers,
    count_numbers,
    drop_codes,
    match,
    read_text,
    refuse_garbled,
)
from dpviz.tables.loaded_table import (
    MISSING,
    NO_CODINGS,
    TEXT,
    USUAL_LABEL,
    CellCoding,
    FloatArray,
    IntakeError,
    LoadedTable,
    StoredTable,
    Unread,
    demand,
    make_table,
    refuse_unknown,
    split_by_coding,
    stack_columns,
)
from dpviz.tables.prepared_rows import Batch
from dpviz.words import foreign, quote_name

# Lines are read in blocks of about this many bytes: temporary arrays of a block take some ten times as much.
BLOCK_BYTES = 1 << 21
LONGEST_LINE = 1 << 26  # in bytes, without its end
_RECORDS_AT_ONCE = 10_000

_NEWLINE, _RETURN, _BLANK = 10, 13, 32

Column: TypeAlias = FloatArray | pd.Series
_Places: TypeAlias = NDArray[np.int64]
_Mask: TypeAlias = NDArray[np.bool_]
# Cells of one column, as they stand in the file, or numbers already.
_Cells: TypeAlias = Any


@dataclass(frozen=True)
class LineLayout:
    """How a line is laid out, and which of its columns are to be read."""

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
        return len(self.numbers) + foreign.OF_TEXT * len(self.text)


class ReadColumns(NamedTuple):
    """Columns by place, and what was lost of those that hold numbers.

    ``columns`` are float64 with NaN for missing, or text with NA; ``unread`` has an entry for each number column.
    """

    columns: dict[int, Column]
    unread: dict[int, Unread]


def read_lines(raw: bytes, layout: LineLayout, *, first: int = 0, block_bytes: int = BLOCK_BYTES) -> ReadColumns:
    """The wanted columns by place, one value a line of ``raw`` from byte ``first`` on.

    ``block_bytes`` bounds memory; any size gives the same columns to the last bit.
    """
    columns = _Columns(raw.count(b"\n", first) + (len(raw) > first and not raw.endswith(b"\n")), layout)
    start = 0
    for block in _split_blocks(raw, first, block_bytes):
        if len(block) > LONGEST_LINE:  # a broken line in the place of each that is too long: what follows bounds memory
            short = (line if len(line) <= LONGEST_LINE else layout.quote.encode() for line in block.split(b"\n"))
            block = b"\n".join(short)
        if layout.delimiter == WHITESPACE:  # a single blank between fields, whatever stood there and around them
            block = re.sub(rb"(?m)^ | (?=\r?$)", b"", re.sub(rb"[ \t]+", b" ", block))
        lines = _Lines(block, layout)
        columns.put(start + np.flatnonzero(lines.together), lines.read_together())
        columns.put_records(start + np.flatnonzero(lines.alone), lines.read_alone())
        start += len(lines.ends)
    return columns.finish()


def read_records(text: str, layout: LineLayout) -> ReadColumns:
    """The wanted columns of text in which a quoted cell may go on over several lines: for public files only."""
    delimiter = " " if layout.delimiter == WHITESPACE else layout.delimiter
    lines = io.StringIO(text, newline="")
    parts = [_Columns(0, layout).finish()]
    all_records = _read_until_end(csv.reader(lines, delimiter=delimiter, quotechar=layout.quote, skipinitialspace=True))
    while records := list(islice(all_records, _RECORDS_AT_ONCE)):
        encoded = [[cell.encode(layout.encoding, errors="replace") for cell in record] for record in records]
        part = _Columns(len(records), layout)
        part.put_records(np.arange(len(records)), encoded)
        parts.append(part.finish())
    first = parts[0]
    columns = {place: _join_columns([part.columns[place] for part in parts]) for place in first.columns}
    unread = {place: Unread.combine([part.unread[place] for part in parts]) for place in first.unread}
    return ReadColumns(columns, unread)


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

    def __init__(self, n: int, layout: LineLayout) -> None:
        self._layout, self._rows_put = layout, 0
        self._numbers = {place: np.full(n, np.nan) for place in layout.numbers}
        self._text: dict[int, NDArray[np.object_]] = {place: np.full(n, None) for place in layout.text}
        self._unread: dict[int, list[Unread]] = {place: [] for place in layout.numbers}
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
                found = count_numbers(found, self._layout.numbers[place], self._layout.encoding)
            if self._layout.numbers[place].missing:
                found = drop_codes(found, self._layout.numbers[place])
            values[where] = found.values
            self._unread[place].append(found.unread)
        for place, words in self._text.items():
            words[where] = read_text(cells[place], self._layout.encoding, self._layout.missing.get(place, frozenset()))

    def put_records(self, at: _Places, records: Sequence[list[bytes] | None]) -> None:
        """Lines that were taken apart one by one; None and those of another width are records without a value."""
        whole = [number for number, record in enumerate(records) if record and len(record) == self._layout.width]
        taken: list[Any] = [records[number] for number in whole]
        places = (*self._numbers, *self._text)
        self.put(at[whole], {place: pa.array([record[place] for record in taken], pa.binary()) for place in places})

    def finish(self) -> ReadColumns:
        text = {place: pd.Series(words, dtype=TEXT) for place, words in self._text.items()}
        broken = Unread(broken=self._n - self._rows_put)
        unread = {place: Unread.combine([*parts, broken]) for place, parts in self._unread.items()}
        return ReadColumns({**self._numbers, **text}, unread)


class _Lines:
    """The lines of a block: which can be read together, and which have to be read alone.

    ``ends`` are the places of their line ends. Lines that are in neither mask have too many or too few fields.
    """

    def __init__(self, block: bytes, layout: LineLayout) -> None:
        self._block, self._layout = block, layout
        self._delimiter = " " if layout.delimiter == WHITESPACE else layout.delimiter
        self._bytes = np.frombuffer(block, np.uint8)
        ends = np.flatnonzero(self._bytes == _NEWLINE)
        self.ends = ends if block.endswith(b"\n") else np.r_[ends, len(block)]
        self._starts = np.r_[0, self.ends[:-1] + 1]
        # A carriage return that is no part of its end breaks a line.
        broken: _Mask = np.zeros(len(self.ends), dtype=bool)
        if b"\r" in self._block:
            returns = np.flatnonzero(self._bytes == _RETURN)
            line = np.searchsorted(self.ends, returns)
            broken[line[returns + 1 != self.ends[line]]] = True
        self.alone = broken
        self.alone[0] |= block.startswith(codecs.BOM_UTF8)  # Arrow would take it for a mark of the file
        separates = self._bytes == ord(self._delimiter)
        self._dropped: _Places | None = None
        self._quote = layout.quote.encode()
        if self._quote in block:
            inside = self._find_within_quotes()
            self._protected = bool((separates & inside).any())
            separates &= ~inside
            self.alone |= self._find_quoted_inside(separates)
        fields = np.diff(np.searchsorted(np.flatnonzero(separates), self.ends), prepend=0) + 1
        self.together = ~self.alone & (fields == layout.width)

    def read_together(self) -> Mapping[int, _Cells]:
        """Cells of the lines that are whole, and quote whole fields only or none: numbers where all of them are."""
        layout, block = self._layout, self._block
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
        decimal = "," if any(style.decimal == "," for style in layout.numbers.values()) else "."
        directly = {place: pa.float64() for place, style in layout.numbers.items() if style.decimal == decimal}
        try:
            return self._read(block, directly, decimal)
        except pa.ArrowInvalid:  # some cell is no plain number
            return self._read(block, {}, decimal)

    def _read(self, block: bytes, numbers: Mapping[int, Any], decimal: str) -> Mapping[int, _Cells]:
        places = (*self._layout.numbers, *self._layout.text)
        names = {str(place): numbers.get(place, pa.binary()) for place in places}
        every = [str(place) for place in range(self._layout.width)]
        read = arrow_csv.ReadOptions(use_threads=False, block_size=len(block) + 1, column_names=every)
        quote = self._layout.quote if self._quote in block else False
        lines = {"double_quote": False, "ignore_empty_lines": False}
        parse = arrow_csv.ParseOptions(delimiter=self._delimiter, quote_char=quote, **lines)
        nulls = {"null_values": sorted(MISSING), "strings_can_be_null": False, "decimal_point": decimal}
        convert = arrow_csv.ConvertOptions(check_utf8=False, column_types=names, include_columns=list(names), **nulls)
        table = arrow_csv.read_csv(pa.BufferReader(block), read, parse, convert)
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
            fields = split_fields(text, self._delimiter, self._layout.quote)
        except csv.Error:
            return None
        return [field.encode("latin-1") for field in fields]

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
    """The fields of one line; csv.Error if a quotation mark of it is never closed, or closes inside a field."""
    # What stands before names that blanks set apart, a #, is none of them.
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


Value = TypeVar("Value")

MAX_BYTES = foreign.CSV.most_bytes
_MOST_SEVERAL_LINES = 20_000_000  # here every cell is a Python object for a while, of some 60 bytes and more

_GZIP = b"\x1f\x8b"

_LONGEST = 1_000_000  # of a first line: 2,000 names of 80 characters, in any encoding
_ANY_DELIMITER = re.compile(f"[{re.escape(''.join(DELIMITERS))}]")
_STATES_DELIMITER = re.compile(r"\s*sep=([^\n\r]*)", flags=re.IGNORECASE)
_LONGEST_NAME, _MOST_REPEATED = 80, 2


class TooLarge(IntakeError):
    """A file that is not held in memory: by its path it can be read all the same."""


@dataclass(frozen=True)
class Header:
    """What the first line says, or what is declared in its place; public either way.

    * ``names``: one clean, distinct name a column.
    * ``delimiter``: one character, or ``WHITESPACE``.
    * ``body``: where the rows begin, in bytes.
    * ``notes``: names that were changed.
    """

    names: tuple[str, ...]
    delimiter: str
    body: int
    notes: tuple[str, ...] = ()

    def make_layout(self, declared: FileFormat, numbers: Sequence[str], text: Sequence[str]) -> LineLayout:
        """What to read for those columns, as the file is declared."""
        place = {name: number for number, name in enumerate(self.names)}
        refuse_unknown((*numbers, *text), self.names)
        if both := [name for name in numbers if name in text]:
            raise IntakeError.of("numbers_and_text", columns=both)
        styles = {place[name]: declared.get_style(name) for name in numbers}
        missing = {place[name]: frozenset(declared.get_style(name).missing) for name in text}
        encoding, quote = declared.byte_encoding, declared.quote
        return LineLayout(len(self.names), self.delimiter, encoding, styles, [*missing], quote, missing)

    def key_by_name(self, by_place: Mapping[int, Value]) -> dict[str, Value]:
        """By name what was read by place."""
        return {name: by_place[place] for place, name in enumerate(self.names) if place in by_place}


@dataclass(frozen=True, eq=False)
class CsvFile:
    """The bytes of a file in hand, unpacked; nothing of its rows has been looked at.

    * ``name``: what the table is called on screen.
    * ``packed``: how many bytes they came as, where they were packed.
    """

    name: str
    raw: bytes = field(repr=False)
    packed: int | None = None

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the bytes: it tells files apart, however they are read."""
        return hashlib.sha256(self.raw).hexdigest()

    def lines(self, declared: FileFormat = PLAIN_FORMAT) -> bytes:
        """The bytes in an encoding in which a line ends with one byte, without a byte order mark."""
        raw = self.raw
        if declared.encoding != declared.byte_encoding:
            text = raw.decode(declared.encoding, errors="replace")
            raw = text.removeprefix("\ufeff").encode("utf-8", errors="replace")
        return raw.removeprefix(codecs.BOM_UTF8) if declared.byte_encoding == "utf-8" else raw

    def header(self, declared: FileFormat = PLAIN_FORMAT) -> Header:
        """Column names and delimiter, from the first line and the declaration."""
        with foreign.refuse_as(IntakeError.of("no_csv"), foreign.CSV):
            return read_header(self.lines(declared), declared)

    def read(
        self, declared: FileFormat = PLAIN_FORMAT, *, numbers: Sequence[str] | None = None, text: Sequence[str] = ()
    ) -> LoadedTable:
        """The declared columns; every line below the header is a row, whatever stands in it.

        A cell of a number column that is no number in the declared style is missing, and so is every cell of a line
        that is broken, too long or too short: it concerns that row only.

        Returns data units; NaN where a number is missing.
        """
        with foreign.refuse_as(IntakeError.of("no_csv"), foreign.CSV):
            lines = self.lines(declared)
            header = read_header(lines, declared)
            if numbers is None:
                numbers = [name for name in header.names if name not in text]
            layout = header.make_layout(declared, numbers, text)
            n_lines = lines.count(b"\n", header.body) + 1
            given = len(self.raw) if self.packed is None else self.packed
            if n_lines > foreign.CSV.most_lines or not foreign.CSV.holds_cells(given, n_lines * layout.weight):
                raise TooLarge.of("csv_cells", most=foreign.CSV.most_lines)
            demand(not declared.several_lines or len(lines) <= _MOST_SEVERAL_LINES, "several_lines_large")
            if declared.several_lines:
                read = read_records(lines[header.body :].decode(layout.encoding, errors="replace"), layout)
            else:
                read = read_lines(lines, layout, first=header.body)
            columns, unread = header.key_by_name(read.columns), header.key_by_name(read.unread)
            return make_table(columns, name=self.name, notes=header.notes, unread=unread)


def open_csv(source: bytes | str | os.PathLike[str], *, name: str | None = None) -> CsvFile:
    """A CSV file in hand, as bytes or by its path; gzip is unpacked.

    Parameters
    ----------
    source : bytes or path
    name : str, optional
        What to call the table; the file name without its ending by default.

    Returns
    -------
    CsvFile
        None of its rows are read yet.

    Raises
    ------
    IntakeError
        If the file is not there, cannot be unpacked, or is larger than 200 MB.
    """
    given = source if isinstance(source, bytes) else _read_file(Path(source))
    raw = _unpack(given)
    called = "table" if isinstance(source, bytes) else strip_endings(Path(source))
    return CsvFile(name or called, raw, None if raw is given else len(given))


def load_csv(
    source: bytes | str | os.PathLike[str],
    *,
    declared: FileFormat = PLAIN_FORMAT,
    numbers: Sequence[str] | None = None,
    text: Sequence[str] | None = None,
    name: str | None = None,
) -> LoadedTable:
    """Read a CSV file as it is declared: by default UTF-8, a header line, decimal points.

    All columns are numbers by default, but for ``text``, which is a column named ``label`` where there is one. How a
    record is read depends on that record and on the declaration only. See ``CsvFile.read``.

    Parameters
    ----------
    source : bytes or str or PathLike
        Bytes, or a path.
    declared : FileFormat
    numbers : sequence of str or None
        Columns to read as numbers; None: all that are not text.
    text : sequence of str or None
        Columns to read as text; None: one named ``label``, if there is one.
    name : str or None
        What to call the table; None: the file's name without its ending.

    Returns
    -------
    LoadedTable
        Data units; NaN where a number is missing.

    Raises
    ------
    IntakeError
        If the file is not there, larger than 200 MB, or not as declared.
    """
    file = open_csv(source, name=name)
    if text is None:
        text = [column for column in file.header(declared).names if column == USUAL_LABEL]
    return file.read(declared, numbers=numbers, text=text)


load_csv.__module__ = "dpviz"


def _read_file(path: Path) -> bytes:
    with refuse_unreadable(path):
        raw = foreign.read_bytes(path, MAX_BYTES)
    if len(raw) > MAX_BYTES:
        raise TooLarge.of("csv_large")
    return raw


def refuse_unreadable(path: Path) -> AbstractContextManager[None]:
    """Errors of whatever reads the CSV file as sentences that name it."""
    missing, damaged = (IntakeError.of(key, name=path.name) for key in ("no_file", "csv_unreadable"))
    return foreign.refuse_as(damaged, foreign.CSV, missing=missing, called=f"The file {quote_name(path.name)}")


def _unpack(raw: bytes) -> bytes:
    if raw.startswith(_GZIP):
        with foreign.refuse_as(IntakeError.of("gzip_damaged"), foreign.GZIP):
            raw = gzip.GzipFile(fileobj=io.BytesIO(raw)).read(MAX_BYTES + 1)
    if len(raw) > MAX_BYTES:
        raise TooLarge.of("csv_large")
    return raw


def strip_endings(path: Path) -> str:
    """The name of a table that lies in a file, without the endings."""
    return Path(foreign.format_name(path).removesuffix(".gz")).stem


def read_header(lines: bytes, declared: FileFormat) -> Header:
    """The header of ``lines`` (see ``CsvFile.lines``); where none is declared, the declared names."""
    above = _find_end_of_lines(lines, declared.skip)
    if declared.header is False:
        return Header(declared.names, declared.delimiter or ",", above)
    line, end, stated = _read_first_line(lines, declared, above)
    if declared.units_line:
        end = _find_end_of_lines(lines, 1, end)
    # Else what stands most often outside quotation marks.
    delimiter = declared.delimiter or stated or max(DELIMITERS, key=re.sub(r'"[^"]*"', "", line).count)
    cells = split_header(line, delimiter, declared.quote)
    # A line that nothing divides may be divided by blanks.
    parts = cells[0].split() if len(cells) == 1 else ()
    pieces = list_pieces((*cells, *parts, *_split_in_utf_8(line, declared)))
    demand(declared.header is not None or not any(map(reads_like_a_row, pieces)), "header_has_values")
    # It repeats itself more than a header with two names that were given twice does, as votes do.
    words = [cell.strip().casefold() for cell in cells if cell.strip()]
    demand(declared.header is not None or len(words) - len(set(words)) <= _MOST_REPEATED, "header_repeats")
    if declared.names:
        return Header(declared.names, delimiter, end)
    names, notes = clean_names(cells)
    strangers = [name for name in declared.styles if name not in names]
    demand(not strangers, "styles_of_strangers", strangers=strangers, names=names)
    return Header(names, delimiter, end, notes)


def split_header(line: str, delimiter: str, quote: str = '"') -> list[str]:
    """The cells of a header line."""
    try:
        cells = split_fields(line, delimiter, quote)
    except (csv.Error, ValueError):
        raise IntakeError.of("header_not_whole") from None
    demand(len(cells) <= MAX_COLUMNS, "too_many_columns", most=MAX_COLUMNS)
    demand(any(cell.strip() for cell in cells), "header_empty")
    return cells


def reads_like_a_row(cell: str) -> bool:
    """Whether a cell is a number, an amount, a percentage, a date or a time rather than a name."""
    # One blank for many: the pattern tries every way to share them out among its parts.
    return match("row_cell", " ".join(cell.strip().strip("\"'").split())) is not None


def _split_in_utf_8(line: str, declared: FileFormat) -> list[str]:
    """The pieces of a line in UTF-8, where another encoding is declared: in that, an amount may look like a name."""
    try:
        text = line.encode(declared.byte_encoding).decode()
    except (UnicodeError, LookupError):
        return []
    return [] if text == line else _ANY_DELIMITER.split(text)


def list_pieces(cells: Iterable[str]) -> list[str]:
    """Cells, and what they would be if another delimiter was meant: ``1.5,2`` in a ``;`` file is no name either."""
    split = ((cell, _ANY_DELIMITER.split(cell)) for cell in cells)
    return [piece for cell, pieces in split for piece in ([cell] if len(pieces) == 1 else [cell, *pieces])]


def clean_names(names: list[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Distinct printable names of at most 80 characters, and what was changed: ``column_3`` for a blank, ``a_2``."""
    clean: list[str] = []
    taken: set[str] = set()
    notes: list[str] = []
    for place, name in enumerate(names, start=1):
        plain = "".join(letter if letter.isprintable() else " " for letter in name.lstrip("\ufeff#"))
        stem = " ".join(plain.split())[:_LONGEST_NAME] or f"column_{place}"
        new, number = stem, 2
        while new in taken:
            new, number = f"{stem}_{number}", number + 1
        taken.add(new)
        clean.append(new)
        if new != stem:
            notes.append(f"Column name {quote_name(stem)} repeats; column {place} was renamed to {quote_name(new)}.")
        elif new != name:
            notes.append(f"Column {place} was renamed to {quote_name(new)}.")
    return tuple(clean), tuple(notes)


def find_delimiter_above(lines: str) -> str:
    """The delimiter that a first line ``sep=;`` states, else ""."""
    stated = _STATES_DELIMITER.match(lines)
    if stated is None:
        return ""
    delimiter = stated[1].strip(" ") or ","
    demand(can_delimit(delimiter), "states_no_delimiter", delimiters=NAMED_DELIMITERS)
    return delimiter


def _find_end_of_lines(lines: bytes, number: int, start: int = 0) -> int:
    """Where so many lines from ``start`` on end."""
    for _ in range(number):
        _, start = _read_line(lines, start)
    return start


def _read_first_line(lines: bytes, declared: FileFormat, start: int) -> tuple[str, int, str]:
    """The header line as text, where it ends, and the delimiter that a line ``sep=;`` above it states."""
    line, end = _read_line(lines, start)
    if b"\r" in line.removesuffix(b"\r") and b'"' not in line:
        raise IntakeError.of("returns_alone")
    stated = find_delimiter_above(line.decode(declared.byte_encoding, errors="replace"))
    if stated:
        line, end = _read_line(lines, end)
    refuse_other_formats(line)
    try:
        header = line.removesuffix(b"\r").decode(declared.byte_encoding)
    except UnicodeDecodeError:
        raise IntakeError.of("header_encoding", encoding=declared.encoding) from None
    refuse_garbled(header, declared)
    return header, end, stated


def _read_line(lines: bytes, start: int) -> tuple[bytes, int]:
    end = lines.find(b"\n", start, start + _LONGEST)
    if end < 0 and len(lines) - start >= _LONGEST:
        raise IntakeError.of("header_long")
    return (lines[start:], len(lines)) if end < 0 else (lines[start:end], end + 1)


def refuse_other_formats(line: bytes) -> None:
    """Refuse a file whose first line is that of something else than a CSV in UTF-8."""
    demand(not line.startswith(b"PAR1"), "is_parquet")
    for magic, what in TOLD["other_formats"].items():
        demand(not line.lstrip().startswith(magic.encode("latin-1")), "other_format", what=what)
    demand(not line.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)), "is_utf_16")
    demand(b"\0" not in line, "is_binary")


_BYTES_AT_ONCE, _NUMBERS_AT_ONCE = 2**23, 2**23
# Of the middle and of the end of a file that a form shows; how far a packed one is unpacked for them.
_BYTES_LATER, _MOST_UNPACKED = 2**20, 2**28


@dataclass(frozen=True, eq=False)
class CsvOnDisk(StoredTable):
    """A CSV file by its path; nothing of its rows has been looked at.

    * ``path``: gzip is unpacked on the way.
    """

    path: Path
    changed = "csv_changed"

    @property
    def name(self) -> str:
        """What the table is called on screen."""
        return strip_endings(self.path)

    def _list_files(self) -> tuple[Path, ...]:
        return (self.path,)

    @contextmanager
    def _refuse_damaged(self) -> Iterator[None]:
        with refuse_unreadable(self.path):
            try:
                yield
            except (EOFError, zlib.error, gzip.BadGzipFile):
                raise IntakeError.of("gzip_damaged") from None

    def header(self, declared: FileFormat = PLAIN_FORMAT) -> Header:
        """Column names and delimiter, from the first line and the declaration."""
        first, _ = next(self._read_pieces(declared), (b"", 1.0))
        return read_header(first, declared)

    def read_beginning(self) -> CsvFile:
        """The first lines in memory, some of the middle and of the end: what a form shows, and a proposal looks at."""
        with self._open() as (file, size, packed):
            raw = file.read(_BYTES_AT_ONCE)
            raw = raw[: raw.rfind(b"\n") + 1] or raw
            size = size if file is packed else min(size, _MOST_UNPACKED)
            for place in (size // 2, size - _BYTES_LATER) if b"\0" not in raw[:4] else ():
                file.seek(max(place, file.tell()))
                raw += file.read(_BYTES_LATER).partition(b"\n")[2].rpartition(b"\n")[0] + b"\n"
        return CsvFile(self.name, raw.rstrip(b"\n") + b"\n")

    def read_batches(
        self,
        numbers: Sequence[str],
        declared: FileFormat = PLAIN_FORMAT,
        *,
        id_column: str | None = None,
        codings: Mapping[str, CellCoding] = NO_CODINGS,
    ) -> Iterator[Batch]:
        """All rows, a bounded number at a time, columns with a coding as the numbers that it makes.

        Yields columns in data units, NaN where a number is missing, and ids as text.
        """
        demand(not declared.several_lines, "several_lines_on_disk")
        plain, textual = split_by_coding(numbers, codings)
        header: Header | None = None
        with self._refuse_damaged():
            for piece, read in self._read_pieces(declared):
                first = 0
                if header is None:
                    header = read_header(piece, declared)
                    first = header.body
                layout = header.make_layout(declared, plain, [*textual, *([] if id_column is None else [id_column])])
                for lines in _split_lines(piece[first:], max(1, _NUMBERS_AT_ONCE // layout.weight)):
                    columns = header.key_by_name(read_lines(lines, layout).columns)
                    values = stack_columns(columns, numbers, codings)
                    yield Batch(values, None if id_column is None else pd.Series(columns[id_column]), read)
        self.check_unchanged()

    def _read_pieces(self, declared: FileFormat) -> Iterator[tuple[bytes, float]]:
        """Whole lines in an encoding in which a line ends with one byte, and the part of the file read by then.

        Of a line that is too long to be read there is as much as shows that.
        """
        rest = b""
        for raw, read in self._decode(declared):
            rest += raw
            end = rest.rfind(b"\n") + 1
            if end:
                yield rest[:end], read
                rest = rest[end:]
            rest = rest[: LONGEST_LINE + 1]
        if rest:
            yield rest, 1.0

    @contextmanager
    def _open(self) -> Iterator[tuple[IO[bytes], int, IO[bytes]]]:
        """The bytes of the file, unpacked; how many there are as it lies there, and these."""
        with self._refuse_damaged(), foreign.open_file(self.path) as packed:
            is_gzip = packed.read(2) == _GZIP
            packed.seek(0)
            file: IO[bytes] = gzip.GzipFile(fileobj=packed) if is_gzip else packed  # type: ignore[assignment]
            yield file, self.path.stat().st_size, packed

    def _decode(self, declared: FileFormat) -> Iterator[tuple[bytes, float]]:
        """Bytes of the file in the encoding that lines are read in, without a byte order mark."""
        as_it_is = declared.encoding == declared.byte_encoding
        _ = self.states  # before anything is read
        decoder = None if as_it_is else codecs.getincrementaldecoder(declared.encoding)(errors="replace")
        with self._open() as (file, size, packed):
            start = True
            while raw := file.read(_BYTES_AT_ONCE):
                if decoder is not None:
                    raw = decoder.decode(raw).encode("utf-8", errors="replace")
                if start and declared.byte_encoding == "utf-8":
                    raw = raw.removeprefix(codecs.BOM_UTF8)
                start = False
                yield raw, packed.tell() / max(1, size)
            if decoder is not None:
                yield decoder.decode(b"", final=True).encode("utf-8", errors="replace"), 1.0


def _split_lines(lines: bytes, most: int) -> Iterator[bytes]:
    """The same in parts of so many lines: short lines under a long header take more memory than their bytes."""
    if lines.count(b"\n") < most:
        yield lines
        return
    ends = np.flatnonzero(np.frombuffer(lines, np.uint8) == ord("\n"))[most - 1 :: most] + 1
    for start, end in pairwise((0, *ends.tolist(), len(lines))):
        if start < end:
            yield lines[start:end]
