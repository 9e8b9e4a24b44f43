"""How the bytes of a CSV file are to be read: encoding, delimiter, header. Looks at the first lines only."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from dpviz.table.loaded_table import IntakeError, quoted

MAX_COLUMNS = 2_000
WHITESPACE = r"\s+"

_DELIMITERS = (",", ";", "\t", "|")
_SAMPLE_LINES = 50
_SAMPLE_CHARACTERS = 1_000_000
_NUMBER = re.compile(r"[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?")
_WHOLE_DECIMAL_COMMA = re.compile(r"\s*[+-]?\d+,\d+\s*")
_UNDEFINED_IN_CP1252 = tuple(bytes([code]) for code in (0x81, 0x8D, 0x8F, 0x90, 0x9D))
_BYTE_ORDER_MARKS = {  # UTF-32 first: its mark begins with that of UTF-16
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
    codecs.BOM_UTF8: "utf-8-sig",
}
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
}
_OTHER_TEXT = {
    "<": "a web page or XML",
    "{": "JSON",
    "[": "JSON",
    "%PDF": "a PDF",
}


@dataclass(frozen=True)
class Dialect:
    """What the first lines of a file say about the rest.

    Attributes
    ----------
    encoding : str
    delimiter : str
        One character, or ``WHITESPACE`` for columns set apart by blanks.
    names : tuple of str
        One clean, distinct name a column.
    has_header : bool
        Whether the first line holds names rather than a row.
    notes : tuple of str
    """

    encoding: str
    delimiter: str
    names: tuple[str, ...]
    has_header: bool
    notes: tuple[str, ...]

    def open_body(self, raw: bytes) -> io.TextIOBase:
        """The text below the header, behind a plain header line ``0, 1, ...`` of our own.

        Our header is two columns wider than the table, so that the parser keeps lines that are too long and
        they can be counted.
        """
        text = io.TextIOWrapper(io.BytesIO(raw), encoding=self.encoding, errors="replace", newline="")
        if self.has_header:
            _skip_header(text, self.delimiter)
        delimiter = " " if self.delimiter == WHITESPACE else self.delimiter
        return _Prefixed(delimiter.join(map(str, range(len(self.names) + 2))) + "\n", text)


def sniff(raw: bytes) -> Dialect:
    """Work out how ``raw`` is to be read.

    Raises
    ------
    IntakeError
        If the bytes are not delimited text, hold nothing, or have too many or too few column names.
    """
    encoding = find_encoding(raw)
    sample = _sample(raw, encoding)
    if not sample.strip("\ufeff \t\r\n,;|"):
        raise IntakeError("The file is empty; a CSV has a header line and one row a line; choose another file.")
    for start, what in _OTHER_TEXT.items():
        if sample.lstrip("\ufeff \t\r\n").startswith(start):
            raise IntakeError(f"The file looks like {what}, not a CSV; export the table as CSV and load that.")
    delimiter = find_delimiter(sample)
    try:
        records = list(islice(_records(sample, delimiter), _SAMPLE_LINES))
    except csv.Error:
        raise IntakeError(
            "A cell of the first lines is longer than 100 kB; a CSV has short cells; mend its quotes."
        ) from None
    names, has_header, notes = _find_header(records, delimiter)
    if len(names) > MAX_COLUMNS:
        raise IntakeError(f"The file has more than {MAX_COLUMNS:,} columns, the most allowed; keep those you need.")
    clean, renamed = _clean_names(names)
    if encoding in ("cp1252", "latin-1"):
        notes.append(f"The file is not UTF-8; its text was read as {encoding}.")
    return Dialect(encoding, delimiter, clean, has_header, tuple(notes + renamed))


def find_encoding(raw: bytes) -> str:
    """Byte order mark first, then UTF-8, Windows-1252, Latin-1.

    Raises
    ------
    IntakeError
        If the bytes are those of another format, or binary.
    """
    for mark, encoding in _BYTE_ORDER_MARKS.items():
        if raw.startswith(mark):
            return encoding
    for magic, what in _OTHER_FORMATS.items():
        if raw.startswith(magic):
            raise IntakeError(f"The file is {what}, not a CSV; export the table as CSV and load that.")
    if b"\0" in raw[:4096]:
        raise IntakeError("The file is binary or UTF-16 without a mark, not a CSV; save it as CSV in UTF-8.")
    if _is_utf8(raw):
        return "utf-8"
    return "latin-1" if any(byte in raw for byte in _UNDEFINED_IN_CP1252) else "cp1252"


def find_delimiter(sample: str) -> str:
    """The delimiter under which the first lines have the most consistent number of fields.

    Ties go to the one that leaves more numbers: ``1,5;2,5`` is two decimal commas, not three columns.
    """
    if stated := re.match(r"\ufeff?\s*sep=([^\w\s\"'=]|\t)\r?\n", sample, flags=re.IGNORECASE):
        return stated[1]
    scores = {delimiter: _score(sample, delimiter) for delimiter in _DELIMITERS}
    best = max(_DELIMITERS, key=lambda delimiter: scores[delimiter])
    if scores[best] > _NO_COLUMNS:
        return ";" if best == "," and _is_one_column_of_decimal_commas(sample) else best
    consistent, numeric, _ = _score(sample, WHITESPACE)
    return WHITESPACE if consistent >= 0.9 and numeric >= 0.5 else ","


_NO_COLUMNS = (0.0, 0.0, 0)


def _score(sample: str, delimiter: str) -> tuple[float, float, int]:
    """(share of lines with the usual field count, share of numeric fields, field count); larger is better."""
    try:
        records = list(islice(_records(sample, delimiter), _SAMPLE_LINES))
    except csv.Error:
        return _NO_COLUMNS
    width, lines = Counter(map(len, records)).most_common(1)[0] if records else (0, 0)
    if width < 2 or lines / len(records) < 0.5:
        return _NO_COLUMNS
    fields = [field for record in records for field in record]
    numeric = sum(is_number(field, decimal_comma=delimiter != ",") for field in fields)
    return round(lines / len(records), 2), round(numeric / len(fields), 2), width


def _is_one_column_of_decimal_commas(sample: str) -> bool:
    lines = [line for line in sample.splitlines()[:_SAMPLE_LINES] if line.strip()]
    return len(lines) > 1 and "," not in lines[0] and all(map(_WHOLE_DECIMAL_COMMA.fullmatch, lines[1:]))


def is_number(field: str, *, decimal_comma: bool) -> bool:
    """Whether a cell of the first lines reads as a number."""
    match = _NUMBER.fullmatch(field.strip())
    return match is not None and (decimal_comma or "," not in field)


def _find_header(records: list[list[str]], delimiter: str) -> tuple[list[str], bool, list[str]]:
    """Names as they stand in the file, whether they are a header, and notes."""
    first, body = records[0], records[1:]
    width = Counter(map(len, body or records)).most_common(1)[0][0]
    if _is_a_row(first, decimal_comma=delimiter != ","):
        names = [f"column_{place}" for place in range(1, max(width, len(first)) + 1)]
        note = "The first line holds numbers, so it is a row and the columns were named column_1, column_2, ..."
        return names, False, [f"{note}; add a line of names on top if that is wrong."]
    if len(first) >= width:
        return first, True, []
    if len(first) == width - 1 and all(not record[-1] for record in body if len(record) == width):
        return first, True, []  # a delimiter at the end of each line
    if len(first) == width - 1 and len(first) > 1:
        return (
            ["row", *first],
            True,
            ['The header is one name short, so the first column is "row", the row names.'],
        )
    raise IntakeError(
        f"The first line names {len(first)} column(s) and the lines below hold {width} fields; a CSV names "
        "each column once in its first line; remove lines above the header or complete it."
    )


def _is_a_row(first: list[str], *, decimal_comma: bool) -> bool:
    """Whether the first line is data. In doubt it is: a row taken for names would show a person's values."""
    numbers = [field.strip() for field in first if is_number(field, decimal_comma=decimal_comma)]
    if not numbers:
        return False
    if len(numbers) >= 3 and numbers in ([str(i + start) for i in range(len(numbers))] for start in (0, 1)):
        return False  # 0, 1, 2, ...: the names pandas gives
    is_year = all(re.fullmatch(r"(18|19|20)\d\d", number) for number in numbers)
    return not (is_year and len(numbers) >= 2 and numbers == sorted(set(numbers)))


def _clean_names(names: list[str]) -> tuple[tuple[str, ...], list[str]]:
    """Distinct printable names of at most 80 characters: ``column_3`` for a blank, ``a_2`` for a repeat."""
    clean: list[str] = []
    taken: set[str] = set()
    notes: list[str] = []
    for place, name in enumerate(names, start=1):
        plain = "".join(character if character.isprintable() else " " for character in name.lstrip("\ufeff#"))
        stem = " ".join(plain.split())[:80] or f"column_{place}"
        new, number = stem, 2
        while new in taken:
            new, number = f"{stem}_{number}", number + 1
        taken.add(new)
        clean.append(new)
        if new != stem:
            notes.append(f"Column name {quoted(stem)} repeats; column {place} was renamed to {quoted(new)}.")
        elif new != name:
            notes.append(f"Column {place} was renamed to {quoted(new)}.")
    return tuple(clean), notes


def _records(text: str, delimiter: str) -> Iterator[list[str]]:
    """Non-blank records of ``text``; a first line ``sep=;`` is left out."""
    lines: Iterator[str] = io.StringIO(text, newline="")
    if delimiter == WHITESPACE:
        found: Iterator[list[str]] = (line.lstrip("\ufeff#").split() for line in lines)
    else:
        found = csv.reader(lines, delimiter=delimiter, skipinitialspace=True)
    for record in found:
        if any(field.strip("\ufeff") for field in record) and not _states_delimiter(record):
            yield record


def _skip_header(text: io.TextIOBase, delimiter: str) -> None:
    if delimiter == WHITESPACE:
        found: Iterator[list[str]] = (line.lstrip("\ufeff#").split() for line in text)
    else:
        found = csv.reader(text, delimiter=delimiter, skipinitialspace=True)
    for record in found:
        if any(field.strip("\ufeff") for field in record) and not _states_delimiter(record):
            return


def _states_delimiter(record: list[str]) -> bool:
    return record[0].lower().lstrip("\ufeff") == "sep="


def _sample(raw: bytes, encoding: str) -> str:
    """The first lines as text, cut at the end of a line where the file goes on."""
    text = io.TextIOWrapper(io.BytesIO(raw), encoding=encoding, errors="replace", newline="")
    sample = text.read(_SAMPLE_CHARACTERS)
    if not text.read(1):
        return sample
    end = max(sample.rfind("\n"), sample.rfind("\r"))
    if end < 0:
        raise IntakeError("The file has no line ends in its first million characters; a CSV has one row a line.")
    return sample[: end + 1]


def _is_utf8(raw: bytes) -> bool:
    if raw.isascii():
        return True
    decoder, piece = codecs.getincrementaldecoder("utf-8")(), 1 << 20
    try:
        for start in range(0, len(raw), piece):
            decoder.decode(raw[start : start + piece], final=start + piece >= len(raw))
    except UnicodeDecodeError:
        return False
    return True


class _Prefixed(io.TextIOBase):
    """``head``, then the rest of ``body``, without a copy of either."""

    def __init__(self, head: str, body: io.TextIOBase) -> None:
        self._head, self._body = head, body

    def readable(self) -> bool:
        return True

    def read(self, size: int | None = -1, /) -> str:
        if self._head:
            head, self._head = self._head, ""
            return head
        return self._body.read(-1 if size is None else size)
