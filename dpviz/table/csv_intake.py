"""Bytes to table: reads a CSV file, says in plain sentences what it decided, never quotes a cell."""

from __future__ import annotations

import csv
import os
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
import pandas as pd
from pandas.io.parsers import TextFileReader

from dpviz.table.csv_dialect import Dialect, sniff
from dpviz.table.loaded_table import (
    EXACT_INTEGERS,
    FloatArray,
    IntakeError,
    LoadedTable,
    is_constant,
    listed,
    numeric_table,
    quoted,
    table_of,
)
from dpviz.table.number_styles import NumberStyle, parse_numbers

__all__ = ["IntakeError", "LoadedTable", "load_csv", "numeric_table"]

MAX_BYTES = 200_000_000
_TOO_LARGE = "The file is larger than 200 MB, the most allowed; keep only the columns you need, or fewer rows."
_PREVIEW_ROWS = 1_000
_CELLS_AT_ONCE = 1_000_000
_LONG_INTEGER = r"\s*[+-]?\d{16,}\s*"

Column = FloatArray | pd.Series


def load_csv(source: bytes | str | os.PathLike[str], *, name: str | None = None) -> LoadedTable:
    """Read a CSV file, as bytes or by its path; gzip is unpacked.

    Encoding, delimiter, header and decimal mark are worked out; what is unusual is said in ``notes``. A
    column is numeric if at least half of its non-empty cells are numbers, its other cells then are missing;
    every other column is kept as text, to serve as label or id. Lines with too many fields are left out.

    Parameters
    ----------
    source : bytes or path
    name : str, optional
        What to call the table; the file name without its ending by default.

    Raises
    ------
    IntakeError
        If the file is not there, larger than 200 MB, not a CSV, or empty, or no column holds numbers.
    """
    raw = _unpacked(source if isinstance(source, bytes) else _read_file(Path(source)))
    dialect = sniff(raw)
    notes = list(dialect.notes)
    try:
        cells = _read_cells(raw, dialect, csv.QUOTE_MINIMAL)
        quotes_protect = True
    except pd.errors.ParserError:  # a quotation mark opens and never closes
        cells = _read_unquoted(raw, dialect)
        notes.append("A quotation mark is never closed, so quotation marks do not protect delimiters.")
        quotes_protect = False
    columns, column_notes = _decide_kinds(cells, dialect, strip_quotes=not quotes_protect)
    if not any(isinstance(column, np.ndarray) for column in columns.values()):
        raise IntakeError(
            "No column of the file holds numbers; clustering needs a column of which at least half the cells "
            "are numbers; check the delimiter, the decimal mark and the header."
        )
    title = name or ("table" if isinstance(source, bytes) else _stem(Path(source)))
    return table_of(columns, name=title, skipped_lines=cells.too_long, notes=(*notes, *column_notes))


class Cells(NamedTuple):
    """Columns as they were parsed: float64 where every cell is a number or empty, else text; by place."""

    columns: list[Column]
    too_long: int


def _read_file(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise IntakeError(f"There is no file {quoted(path.name)} at that path; check the path.") from None
    except (OSError, ValueError):
        raise IntakeError(f"The file {quoted(path.name)} cannot be read; give a CSV file you may open.") from None
    if len(raw) > MAX_BYTES:
        raise IntakeError(_TOO_LARGE)
    return raw


def _unpacked(raw: bytes) -> bytes:
    if raw.startswith(b"\x1f\x8b"):
        raw = _gunzip(raw)
    if len(raw) > MAX_BYTES:
        raise IntakeError(_TOO_LARGE)
    return raw


def _gunzip(packed: bytes) -> bytes:
    """All members of a gzip file, and never much more than the size allowed, whatever it would unpack to."""
    pieces: list[bytes] = []
    room = MAX_BYTES + 1
    while packed and room > 0:
        member = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
        try:
            pieces.append(member.decompress(packed, room))
        except zlib.error:
            raise IntakeError("The gzip file is damaged; pack it again, or load the CSV itself.") from None
        room -= len(pieces[-1])
        if room > 0 and not member.eof:
            raise IntakeError("The gzip file ends too early; pack it again, or load the CSV itself.")
        packed = member.unused_data.lstrip(b"\0")
    return b"".join(pieces)


def _read_cells(raw: bytes, dialect: Dialect, quoting: int) -> Cells:
    """Every column; where text stands in the first rows it is read as text, where it comes later, again."""
    places = range(len(dialect.names))
    reader = _Reader(raw, dialect, quoting)
    preview = reader.read(text=(), rows=_PREVIEW_ROWS)
    text = [place for place in places if not _holds_numbers(preview[str(place)])]
    columns, too_long = reader.columns(places, text=text)
    late = [place for place in places if place not in columns]
    columns |= reader.columns(late, text=late).columns if late else {}
    return Cells([columns[place] for place in places], too_long)


def _read_unquoted(raw: bytes, dialect: Dialect) -> Cells:
    try:
        return _read_cells(raw, dialect, csv.QUOTE_NONE)
    except pd.errors.ParserError:
        raise IntakeError("The lines cannot be told apart as a CSV; save the table again as CSV in UTF-8.") from None


def _stem(path: Path) -> str:
    return Path(path.name.removesuffix(".gz")).stem


class _Pass(NamedTuple):
    columns: dict[int, Column]
    too_long: int


class _Reader:
    """One file, read in chunks of rows as often as needed."""

    def __init__(self, raw: bytes, dialect: Dialect, quoting: int) -> None:
        self._raw, self._dialect, self._quoting = raw, dialect, quoting
        self._width = len(dialect.names)

    def read(self, *, text: Sequence[int], rows: int) -> pd.DataFrame:
        """The first ``rows`` rows, columns named by their place."""
        return next(iter(self._chunks(text, rows)))

    def columns(self, places: Sequence[int], *, text: Sequence[int]) -> _Pass:
        """The columns at ``places``: those in ``text`` as text, of the others those that are all numbers."""
        parts: dict[int, list[Any]] = {place: [] for place in places}
        as_text, too_long = set(text), 0
        for chunk in self._chunks(text, max(1_000, _CELLS_AT_ONCE // (self._width + 2))):
            overflow = chunk[[str(self._width), str(self._width + 1)]].notna().any(axis=1).to_numpy()
            too_long += int(np.count_nonzero(overflow))
            kept = chunk[~overflow] if overflow.any() else chunk
            for place in list(parts):
                column = kept[str(place)]
                if place in as_text:
                    parts[place].append(column)
                elif _holds_numbers(column):
                    parts[place].append(column.to_numpy(dtype=np.float64))
                else:
                    del parts[place]
        return _Pass({place: _joined(parts.pop(place)) for place in list(parts)}, too_long)

    def _chunks(self, text: Sequence[int], rows: int) -> TextFileReader:
        return pd.read_csv(
            cast("Any", self._dialect.open_body(self._raw)),
            sep=self._dialect.delimiter,
            header=0,
            usecols=range(self._width + 2),
            index_col=False,
            dtype={str(place): "str" for place in text},
            chunksize=rows,
            low_memory=False,
            engine="c",
            quoting=cast("Any", self._quoting),
            skipinitialspace=True,
        )


def _joined(parts: list[Any]) -> Column:
    if isinstance(parts[0], np.ndarray):
        return np.concatenate(parts)
    text: pd.Series[Any] = pd.concat(parts, ignore_index=True)
    return text


def _holds_numbers(column: pd.Series[Any]) -> bool:
    """Whether the parser found nothing but numbers, exact as float64, and empty cells."""
    if column.dtype.kind in "iu":
        return len(column) == 0 or max(abs(int(column.min())), abs(int(column.max()))) <= EXACT_INTEGERS
    return column.dtype.kind == "f" or bool(column.isna().all())


class _Decision(NamedTuple):
    """What becomes of a column (None: it is left out), and the sentence that says so."""

    column: Column | None
    note: str | None


def _decide_kinds(cells: Cells, dialect: Dialect, *, strip_quotes: bool) -> tuple[dict[str, Any], list[str]]:
    columns: dict[str, Column] = {}
    notes: list[str] = []
    if len(cells.columns[0]) == 0:
        notes.append("There is no row below the header, so every column counts as numeric.")
        return {name: np.empty(0) for name in dialect.names}, notes
    for name, column in zip(dialect.names, cells.columns, strict=True):
        if isinstance(column, np.ndarray) and np.isnan(column).all():
            decision = _Decision(None, f"Column {quoted(name)} is empty and was left out.")
        elif isinstance(column, np.ndarray):
            decision = _Decision(column, None)
        else:
            text = column.str.strip('" ') if strip_quotes else column
            decision = _decide_text(text, name, dialect.delimiter)
        if decision.column is not None:
            columns[name] = decision.column
        if decision.note:
            notes.append(decision.note)
    constant = [name for name, values in columns.items() if isinstance(values, np.ndarray) and is_constant(values)]
    if constant:
        notes.append(f"Constant, so of no use to tell groups apart: {listed(constant)}.")
    return columns, notes


def _decide_text(text: pd.Series[Any], name: str, delimiter: str) -> _Decision:
    n_present = int(text.notna().sum())
    if 2 * int(text.str.fullmatch(_LONG_INTEGER, na=False).sum()) >= n_present:
        return _Decision(
            text,
            f"Column {quoted(name)} holds whole numbers of 16 or more digits; it is kept as text, an id.",
        )
    values, style = parse_numbers(text, delimiter)
    n_numbers = int(np.count_nonzero(~np.isnan(values)))
    if 2 * n_numbers < n_present:
        return _Decision(text, f"Column {quoted(name)} holds text; it can serve as label or id.")
    note = f"Column {quoted(name)} is read as numbers"
    if style is not NumberStyle.PLAIN:
        note += f" written like {style.value}"
    if n_numbers < n_present:
        note += "; its other cells are text and count as missing"
    return _Decision(values, note + ".")
