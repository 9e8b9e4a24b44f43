"""How a file seems to be written: a proposal to its owner, worked out from its first rows. Nothing reads a file by it.

To look at rows in order to declare how rows are read is a look like any other: on a private file it is counted, and the
owner declares what was proposed, or something else.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from dpviz import foreign
from dpviz.table.csv_intake import (
    NO_CSV,
    TOO_MANY_COLUMNS,
    CsvFile,
    clean_names,
    delimiter_above,
    header_cells,
    pieces_of,
    reads_like_a_row,
    refuse_other_formats,
)
from dpviz.table.declaration import NO_BOUNDS, Declaration
from dpviz.table.file_format import MAX_COLUMNS, PLAIN_STYLE, WHITESPACE, FileFormat, NumberStyle, refuse_garbled
from dpviz.table.loaded_table import FloatArray, IntakeError, listed
from dpviz.table.records import MISSING, fields_of, numbers_of

# How far a look goes.
_ROWS, _CHARACTERS = 1_000, 1_000_000
_DELIMITERS = (",", ";", "\t", "|")
_UNDEFINED_IN_CP1252 = tuple(bytes([code]) for code in (0x81, 0x8D, 0x8F, 0x90, 0x9D))
_UTF_16, _UTF_32 = (b"\xff\xfe", b"\xfe\xff"), (b"\xff\xfe\0\0", b"\0\0\xfe\xff")
_NUMBER = re.compile(r"[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?")
_WHOLE_DECIMAL_COMMA = re.compile(r"\s*[+-]?\d+,\d+\s*")
_LONG_INTEGER = re.compile(r"\s*[+-]?\d{16,}\s*")
# Only these are proposed as signs: anything else beside a number could be somebody's.
_MONEY = "USD|EUR|GBP|CHF|JPY|CNY|INR|kr|zł|Kč|Ft|[$€£¥₹₽₩₺]"
_MEASURES = "min|°C|°F|kg|mg|lb|cm|mm|km|mi|ft|ms|ml|[%‰°gtmhsl]"
_BESIDE = f"{_MONEY}|{_MEASURES}"
_SIGNED = re.compile(rf"(?P<before>{_BESIDE})?\s*[+-]?[\d.,][\d.,'\u2019\s]*(?P<behind>{_BESIDE})?")
_NO_COLUMNS = (0.0, 0.0, 0)
_LINES_COMPARED = 50
# Columns of these names are no first guess at what to cluster; nor are any where there are more than a page shows.
_NO_MEASURES = frozenset({"id", "ids", "label", "labels", "class", "cluster", "target", "segment", "index", "key"})
# Numbers by their letters only: a mean of two postcodes is no place.
_CODES = frozenset(
    (
        *("code", "codes", "zip", "zipcode", "plz", "postcode", "postalcode", "postal", "pin", "pincode", "fips"),
        *("ags", "nuts", "isbn", "ean", "iban", "ssn", "phone", "tel", "telephone", "mobile", "fax", "uuid", "hash"),
    )
)
_DIGITS = re.compile(r"\d{4,15}")
# Whole numbers of so many digits each, so many of them different, are taken for a code.
_CODE_DIGITS, _CODE_KINDS, _CODE_SHARE = 5, 20, 0.05
_MOST_CHOSEN = 12


@dataclass(frozen=True)
class Proposal:
    """What the first rows look like.

    Attributes
    ----------
    file : FileFormat
    names : tuple of str
        All columns.
    numbers, text : tuple of str
        Which of them hold numbers, and which anything else: ids, labels.
    notes : tuple of str
        What was found, in sentences; no cell is quoted.
    codes : tuple of str
        Number columns that look like codes: they are not proposed to be clustered.
    """

    file: FileFormat
    names: tuple[str, ...]
    numbers: tuple[str, ...]
    text: tuple[str, ...]
    notes: tuple[str, ...]
    codes: tuple[str, ...] = ()

    def joined_to(self, declaration: Declaration) -> Declaration:
        """``declaration`` with the file read as proposed; columns that were chosen stay where they hold numbers.

        Where none was, those that sound like measurements are, if they are few.
        """
        others = (declaration.id_column, declaration.label_column, *self.codes)
        measures = [name for name in self.numbers if name not in others and not is_no_measure(name)]
        chosen = [name for name in declaration.columns if name in self.numbers]
        if not chosen and len(measures) <= _MOST_CHOSEN:
            chosen = measures
        bounded = declaration.with_bounds(chosen, [declaration.bounds.get(name, NO_BOUNDS) for name in chosen])
        known_id = declaration.id_column in self.names
        return replace(
            bounded,
            file=self.file,
            numbers=self.numbers if self.text else (),
            id_column=declaration.id_column if known_id else None,
            rows_per_person=declaration.rows_per_person if known_id else 1,
            label_column=declaration.label_column if declaration.label_column in self.names else None,
            proposed=True,
        )


def propose(file: CsvFile) -> Proposal:
    """How ``file`` seems to be written, from its first thousand rows.

    Raises
    ------
    IntakeError
        If its bytes are not lines of text with fields.
    """
    with foreign.refused_as(IntakeError(NO_CSV)):
        return _proposed(file)


def _proposed(file: CsvFile) -> Proposal:
    encoded = FileFormat(_encoding(file.raw))
    sample = _sample(file.lines(encoded), encoded.byte_encoding)
    stated = delimiter_above(sample)
    lines = sample.partition("\n")[2] if stated else sample
    delimiter = stated or _delimiter(lines)
    header = lines.partition("\n")[0].removesuffix("\r")
    refuse_garbled(header, encoded)
    header_cells(header, delimiter)  # refuses half of a record
    records = _records(lines, delimiter)
    if not records:
        raise IntakeError("The file is empty; a CSV has a header line and one row a line; choose another file.")
    top = _top(records, delimiter)
    if len(top.names) > MAX_COLUMNS:
        raise IntakeError(TOO_MANY_COLUMNS)
    body = records[1:] if top.header else records
    cells = {name: [record[at] for record in body if len(record) > at] for at, name in enumerate(top.names)}
    styles = {name: style for name in top.names if (style := _style(cells[name], delimiter)) is not None}
    usual = Counter(styles.values()).most_common(1)[0][0] if styles else PLAIN_STYLE
    styles = {name: _usual_if_it_reads(cells[name], style, usual) for name, style in styles.items()}
    declared = FileFormat(
        encoding=encoded.encoding,
        delimiter=delimiter,
        header=top.header,
        names=() if top.as_they_stand else top.names,
        style=usual,
        styles={name: style for name, style in styles.items() if style != usual},
    )
    text = tuple(name for name in top.names if name not in styles)
    codes = tuple(name for name in styles if _sounds_like_a_code(name) or _are_codes(cells[name]))
    constant = [name for name in styles if len(set(cells[name])) == 1]
    notes = (*top.notes, *_notes(declared, styles, constant, codes))
    return Proposal(declared, top.names, tuple(styles), text, notes, codes)


def is_no_measure(name: str) -> bool:
    """Whether a column sounds like an id, a known grouping or a code rather than a measurement.

    >>> [is_no_measure(name) for name in ("person_id", "PLZ", "zip code", "postCode", "age", "hours")]
    [True, True, True, True, False, False]
    """
    return _last_word(name) in _NO_MEASURES or _sounds_like_a_code(name)


def _last_word(name: str) -> str:
    return re.split(r"[\W_]+", name.lower().strip(" _-.#"))[-1]


def _sounds_like_a_code(name: str) -> bool:
    return _last_word(name) in _CODES


def _are_codes(cells: Sequence[str]) -> bool:
    """Whether cells are digits of one width that begin with 0, or long ones of one width with many kinds."""
    present = [cell.strip() for cell in cells if cell.strip() not in MISSING]
    if not present or not all(map(_DIGITS.fullmatch, present)) or len({*map(len, present)}) > 1:
        return False
    kinds = len({*present})
    many = kinds >= max(_CODE_KINDS, _CODE_SHARE * len(present))
    return any(cell.startswith("0") for cell in present) or (len(present[0]) >= _CODE_DIGITS and many)


class _Top(NamedTuple):
    """The first line: whether it is a header, and the names, which may not be those that stand there."""

    header: bool
    names: tuple[str, ...]
    as_they_stand: bool
    notes: tuple[str, ...] = ()


def _encoding(raw: bytes) -> str:
    """Byte order mark first, then UTF-8, Windows-1252, Latin-1."""
    if raw.startswith(_UTF_32):  # it begins with the mark of UTF-16
        raise IntakeError(
            'The file looks like UTF-32, which is not proposed; save it as UTF-8, or declare "encoding": "utf-32".'
        )
    if raw.startswith(_UTF_16):
        return "utf-16"
    refuse_other_formats(raw.partition(b"\n")[0])
    try:
        raw.decode()
    except UnicodeDecodeError:
        return "iso8859-1" if any(byte in raw for byte in _UNDEFINED_IN_CP1252) else "cp1252"
    return "utf-8"


def _sample(lines: bytes, encoding: str) -> str:
    """The first lines as text, cut at the end of a line where the file goes on."""
    piece = lines[:_CHARACTERS]
    if len(piece) < len(lines):
        end = piece.rfind(b"\n")
        if end < 0:
            raise IntakeError("The file has no line ends in its first million bytes; a CSV has one row a line.")
        piece = piece[: end + 1]
    return piece.decode(encoding, errors="replace").removeprefix("\ufeff")


def _records(text: str, delimiter: str) -> list[list[str]]:
    """The first records that are not blank, one a line; a line whose quotation marks do not close is left out."""
    records = []
    for line in islice(text.split("\n"), _ROWS):
        record = _fields(line.removesuffix("\r"), delimiter)
        if any(field.strip() for field in record):
            records.append(record)
    return records


def _fields(line: str, delimiter: str) -> list[str]:
    if delimiter == WHITESPACE:
        return line.lstrip("#").split()
    try:
        return fields_of(line, delimiter)
    except csv.Error:
        return []


def _delimiter(sample: str) -> str:
    """The delimiter under which the first lines have the most consistent number of fields.

    Ties go to the one that leaves more numbers: ``1,5;2,5`` is two decimal commas, not three columns.
    """
    scores = {delimiter: _score(sample, delimiter) for delimiter in _DELIMITERS}
    best = max(_DELIMITERS, key=lambda delimiter: scores[delimiter])
    if scores[best] > _NO_COLUMNS:
        return ";" if best == "," and _is_one_column_of_decimal_commas(sample) else best
    consistent, numeric, _ = _score(sample, WHITESPACE)
    return WHITESPACE if consistent >= 0.9 and numeric >= 0.5 else ","


def _score(sample: str, delimiter: str) -> tuple[float, float, int]:
    """(share of lines with the usual field count, share of numeric fields, field count); larger is better."""
    records = _records(sample, delimiter)[:_LINES_COMPARED]
    width, lines = Counter(map(len, records)).most_common(1)[0] if records else (0, 0)
    if width < 2 or lines / len(records) < 0.5:
        return _NO_COLUMNS
    fields = [field.strip() for record in records for field in record]
    numeric = sum(_is_number(field, decimal_comma=delimiter != ",") for field in fields)
    return round(lines / len(records), 2), round(numeric / len(fields), 2), width


def _is_one_column_of_decimal_commas(sample: str) -> bool:
    lines = [line for line in sample.splitlines()[:_LINES_COMPARED] if line.strip()]
    return len(lines) > 1 and "," not in lines[0] and all(map(_WHOLE_DECIMAL_COMMA.fullmatch, lines[1:]))


def _is_number(field: str, *, decimal_comma: bool) -> bool:
    return _NUMBER.fullmatch(field) is not None and (decimal_comma or "," not in field)


def _top(records: Sequence[Sequence[str]], delimiter: str) -> _Top:
    """What the first line is. In doubt a row: a row taken for names would show a person's values."""
    first, body = list(records[0]), records[1:]
    width = Counter(map(len, body or records)).most_common(1)[0][0]
    if _is_a_row(first):
        names = tuple(f"column_{place}" for place in range(1, max(width, len(first)) + 1))
        return _Top(False, names, False, ("The first line holds values, so the columns get names of their own.",))
    names, _ = clean_names(first)
    if len(first) == width - 1 and all(not record[-1].strip() for record in body if len(record) == width):
        return _Top(True, (*names, _unused(names)), False, ("A delimiter ends each line but the header.",))
    if len(first) == width - 1:
        return _Top(True, ("row", *names), False, ('The header is one name short: the first column is called "row".',))
    return _Top(True, names, True)


def _unused(names: Sequence[str]) -> str:
    name = f"column_{len(names) + 1}"
    return name if name not in names else f"{name}_"


def _is_a_row(first: Sequence[str]) -> bool:
    values = [field.strip() for field in pieces_of(first) if reads_like_a_row(field)]
    if not values:
        return False
    if len(values) >= 3 and values in ([str(i + start) for i in range(len(values))] for start in (0, 1)):
        return False  # 0, 1, 2, ...: the names that data frames give
    is_year = all(re.fullmatch(r"(18|19|20)\d\d", value) for value in values)
    return not (is_year and len(values) >= 2 and values == sorted(set(values)))


def _style(cells: Sequence[str], delimiter: str) -> NumberStyle | None:
    """The style that reads most of ``cells``, or None if fewer than half of those that are not empty are numbers.

    Ties go to the plain style; between the two that use commas, a comma-delimited file is taken to group thousands and
    any other file to have decimal commas.
    """
    present = [cell for cell in cells if cell.strip() not in MISSING]
    if not present:
        return None
    if 2 * sum(_LONG_INTEGER.fullmatch(cell) is not None for cell in present) > len(present):
        return None  # an id
    if _reads(present, PLAIN_STYLE) == len(present):
        return PLAIN_STYLE
    sign = _sign(present)
    best = max((NumberStyle(*marks, sign) for marks in _marks(delimiter)), key=partial(_reads, present))
    return best if 2 * _reads(present, best) >= len(present) else None


def _usual_if_it_reads(cells: Sequence[str], own: NumberStyle, usual: NumberStyle) -> NumberStyle:
    """The style of most columns where it says the same of this one: whole numbers fit many styles."""
    return usual if _values(cells, own).tobytes() == _values(cells, usual).tobytes() else own


def _reads(cells: Sequence[str], style: NumberStyle) -> int:
    return int(np.count_nonzero(~np.isnan(_values(cells, style))))


def _values(cells: Sequence[str], style: NumberStyle) -> FloatArray:
    return numbers_of(pa.array([cell.encode() for cell in cells], pa.binary()), style, "utf-8")


def _marks(delimiter: str) -> list[tuple[str, str]]:
    """Decimal and grouping marks, the likelier ones first."""
    with_commas = [(".", ","), (",", ""), (",", ".")] if delimiter == "," else [(",", ""), (",", "."), (".", ",")]
    return [(".", ""), *with_commas, (",", " "), (".", " "), (".", "'"), (",", "'")]


def _sign(cells: Sequence[str]) -> str:
    """What stands beside the number in at least half of the cells: %, $, €, kg; else nothing."""
    matches = (_SIGNED.fullmatch(cell.strip()) for cell in cells)
    signs = Counter(sign for match in matches if match and (sign := match["before"] or match["behind"]))
    sign, times = signs.most_common(1)[0] if signs else ("", 0)
    return sign if 2 * times >= len(cells) else ""


def _notes(
    declared: FileFormat, styles: Mapping[str, NumberStyle], constant: Sequence[str], codes: Sequence[str]
) -> list[str]:
    """What was found besides, for the owner's eyes."""
    notes = []
    if declared.encoding in ("cp1252", "iso8859-1"):
        notes.append(f"The file is not UTF-8; it reads as {declared.encoding}.")
    for style in dict.fromkeys(styles.values()):
        if style != PLAIN_STYLE:
            written = [name for name, one in styles.items() if one == style]
            notes.append(f"Written like {style}: {listed(written)}.")
    if constant:
        notes.append(f"The same in every row looked at, so of no use to tell groups apart: {listed(constant)}.")
    if codes:
        notes.append(f"Codes rather than numbers, so not chosen: {listed(codes)}.")
    return notes
