"""The first line of a file: column names and the delimiter between them. No row is read."""

from __future__ import annotations

import codecs
import csv
import re
from collections.abc import Iterable
from dataclasses import dataclass

from dpviz.table.file_format import MAX_COLUMNS, WHITESPACE, FileFormat, can_delimit
from dpviz.table.loaded_table import IntakeError, listed, quoted

_LONGEST = 1_000_000
_DELIMITERS = (",", ";", "\t", "|")
_STATES_DELIMITER = re.compile(r"\s*sep=([^\n\r]*)", flags=re.IGNORECASE)
_LONGEST_NAME = 80

_SIGNS = r"[%‰$€£¥₹₽₩₺฿¢°]"
_CODES = "usd|eur|gbp|chf|jpy|cny|inr|rub|brl|mxn|krw|try|pln|czk|huf|sek|nok|dkk|cad|aud|nzd|zar|kr|rs"
_UNIT = rf"({_SIGNS}|{_CODES})"
_NUMBER = rf"[(]?\s*{_UNIT}?\s*[-+−–]?\s*{_UNIT}?\s*(\d[\d.,'’\s]*|[.,]\d+)([eE][-+−]?\d+)?\s*{_UNIT}?\s*[)]?"
_MONTH = r"(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_READS_LIKE_A_ROW = re.compile(
    "|".join(
        (
            _NUMBER,
            r"[-+−]?(inf|infinity|nan)",
            r"\d{1,4}\s*[-/.]\s*\d{1,2}\s*[-/.]\s*\d{1,4}\.?([T\s]\s*\d{1,2}:\d{2}.*)?",
            r"\d{1,2}:\d{2}(:\d{2}([.,]\d+)?)?\s*([ap]\.?m\.?)?",
            rf"\d{{1,2}}\.?[-\s]{_MONTH}[-\s,]*(\d{{2,4}})?",
            rf"{_MONTH}\s+\d{{1,2}}(st|nd|rd|th)?,?(\s+\d{{2,4}})?",
        )
    ),
    flags=re.IGNORECASE,
)
_OTHER_FORMATS = {
    b"PK\x03\x04": "a zip archive or an Excel workbook",
    b"\xd0\xcf\x11\xe0": "an old Excel or Word file",
    b"%PDF": "a PDF",
    b"PAR1": "a Parquet file",
    b"BZh": "a bzip2 archive",
    b"\xfd7zXZ": "an xz archive",
    b"7z\xbc\xaf": "a 7-zip archive",
    b"\x89PNG": "a picture",
    b"\xff\xd8\xff": "a picture",
    b"SQLite format": "a database",
    b"<": "a web page or XML",
    b"{": "JSON",
    b"[": "JSON",
}
_HOW_TO_SAY = 'declare "header": true, or "header": false with "names" ("dpviz declare FILE" proposes one of them)'


@dataclass(frozen=True)
class Header:
    """What the first line says, or what is declared in its place; public either way.

    Attributes
    ----------
    names : tuple of str
        One clean, distinct name a column.
    delimiter : str
        One character, or ``WHITESPACE``.
    body : int
        Where the rows begin, in bytes.
    notes : tuple of str
        Names that were changed.
    """

    names: tuple[str, ...]
    delimiter: str
    body: int
    notes: tuple[str, ...] = ()


def read_header(lines: bytes, declared: FileFormat) -> Header:
    """The header of ``lines`` (see ``FileFormat.as_lines``); where none is declared, the declared names.

    Raises
    ------
    IntakeError
        If the first line cannot be a header, or is too long, or names too many columns.
    """
    if declared.header is False:
        return Header(declared.names, declared.delimiter or ",", 0)
    line, end, stated = _first_line(lines, declared)
    delimiter = declared.delimiter or stated or _delimiter_of(line)
    cells = header_cells(line, delimiter)
    if declared.header is None and any(map(reads_like_a_row, pieces_of(cells))):
        raise IntakeError(
            "The first line holds a number, a date or an amount, so it may be a row; a header holds names only; "
            f"{_HOW_TO_SAY}."
        )
    if len(cells) > MAX_COLUMNS:
        raise IntakeError(f"The file has more than {MAX_COLUMNS:,} columns, the most allowed; keep those you need.")
    if declared.names:
        return Header(declared.names, delimiter, end)
    names, notes = clean_names(cells)
    missing = [name for name in declared.styles if name not in names]
    if missing:
        raise IntakeError(f"Number styles are declared for {listed(missing)}; columns are {listed(names)}; mend one.")
    return Header(names, delimiter, end, notes)


def header_cells(line: str, delimiter: str) -> list[str]:
    """The cells of a header line.

    Raises
    ------
    IntakeError
        If a quotation mark of it is never closed, or it breaks off in the middle: rows must not become names.
    """
    if line.count(delimiter) > MAX_COLUMNS:
        raise IntakeError(f"The file has more than {MAX_COLUMNS:,} columns, the most allowed; keep those you need.")
    try:
        if delimiter == WHITESPACE:
            cells = line.removeprefix("#").split()
        else:
            cells = next(csv.reader([line], delimiter=delimiter, skipinitialspace=True, strict=True), [])
    except (csv.Error, ValueError):
        raise IntakeError(
            "The header is not one whole line: a quotation mark in it is not closed, or it holds another line end; a "
            "header closes each quotation mark on the first line; mend it, or declare the names."
        ) from None
    if not any(cell.strip() for cell in cells):
        raise IntakeError("The first line is empty; a CSV has column names there, then one row a line; add the names.")
    return cells


def reads_like_a_row(cell: str) -> bool:
    """Whether a cell is a number, an amount, a percentage, a date or a time rather than a name.

    >>> [reads_like_a_row(cell) for cell in ("12%", "$73519.44", "1987-03-12", "inf", "−5", "x1", "age")]
    [True, True, True, True, True, False, False]
    """
    return _READS_LIKE_A_ROW.fullmatch(cell.strip().strip('"').strip()) is not None


def pieces_of(cells: Iterable[str]) -> list[str]:
    """Cells, and what they would be if another delimiter was meant: ``1.5,2`` in a ``;`` file is no name either."""
    split = ((cell, re.split(r"[,;\t|]", cell)) for cell in cells)
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
            notes.append(f"Column name {quoted(stem)} repeats; column {place} was renamed to {quoted(new)}.")
        elif new != name:
            notes.append(f"Column {place} was renamed to {quoted(new)}.")
    return tuple(clean), tuple(notes)


def delimiter_above(lines: str) -> str:
    """The delimiter that a first line ``sep=;`` states, else "".

    Raises
    ------
    IntakeError
        If it states something that cannot be one.
    """
    stated = _STATES_DELIMITER.match(lines)
    if stated is None:
        return ""
    delimiter = stated[1].strip(" ") or ","
    if not can_delimit(delimiter):
        raise IntakeError("The first line states a delimiter that is none; write sep= and one of , ; | or a tab.")
    return delimiter


def _first_line(lines: bytes, declared: FileFormat) -> tuple[str, int, str]:
    """The header line as text, where it ends, and the delimiter that a line ``sep=;`` above it states."""
    line, end = _line_at(lines, 0)
    stated = delimiter_above(line.decode(declared.byte_encoding, errors="replace"))
    if stated:
        line, end = _line_at(lines, end)
    refuse_other_formats(line)
    try:
        return line.removesuffix(b"\r").decode(declared.byte_encoding), end, stated
    except UnicodeDecodeError:
        raise IntakeError(
            f"The header is not {declared.encoding}; files that are not UTF-8 need their encoding declared, such as "
            "cp1252 (Windows) or iso8859-1; declare it, or save the file as UTF-8."
        ) from None


def _line_at(lines: bytes, start: int) -> tuple[bytes, int]:
    end = lines.find(b"\n", start, start + _LONGEST)
    if end < 0 and len(lines) - start >= _LONGEST:
        raise IntakeError("The first line is longer than a million bytes; a CSV has one row a line; save it again.")
    return (lines[start:], len(lines)) if end < 0 else (lines[start:end], end + 1)


def _delimiter_of(line: str) -> str:
    """The delimiter that stands most often outside quotation marks in the header line."""
    outside = re.sub(r'"[^"]*"', "", line)
    return max(_DELIMITERS, key=outside.count)


def refuse_other_formats(line: bytes) -> None:
    """Refuse a file whose first line is that of something else than a CSV in UTF-8."""
    for magic, what in _OTHER_FORMATS.items():
        if line.lstrip().startswith(magic):
            raise IntakeError(f"The file looks like {what}, not a CSV; export the table as CSV and load that.")
    if line.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise IntakeError('The file is UTF-16, not UTF-8; declare "encoding": "utf-16", or save it as UTF-8.')
    if b"\0" in line:
        raise IntakeError("The file is binary, or UTF-16 without a mark; save it as CSV in UTF-8.")
