"""What the first lines of a file look like, for its owner: encoding, delimiter, titles above, names or a row."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice

from dpviz.tables.cell_values import MISSING
from dpviz.tables.csv_intake import (
    RETURNS_ALONE,
    CsvFile,
    clean_names,
    find_delimiter_above,
    list_pieces,
    reads_like_a_row,
    refuse_other_formats,
    split_header,
)
from dpviz.tables.file_format import DELIMITERS, MAX_COLUMNS, TOO_MANY_COLUMNS, WHITESPACE, FileFormat, refuse_garbled
from dpviz.tables.loaded_table import IntakeError
from dpviz.tables.records import split_fields

# How far a look goes, at the beginning and at the end.
_ROWS, _CHARACTERS, _TAIL = 1_000, 1_000_000, 2_000
_DELIMITERS = (*DELIMITERS, "~", "^")
_UNDEFINED_IN_CP1252 = tuple(bytes([code]) for code in (0x81, 0x8D, 0x8F, 0x90, 0x9D))
_UTF_16, _UTF_32 = (b"\xff\xfe", b"\xfe\xff"), (b"\xff\xfe\0\0", b"\0\0\xfe\xff")
_NUMBER = re.compile(r"[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?")
_WHOLE_DECIMAL_COMMA = re.compile(r"\s*[+-]?\d+,\d+\s*")
_LINES_COMPARED, _MOST_TITLES = 60, 20
_NO_COLUMNS = (0.0, 0.0, 0)
# Of the lines looked at, and of those from the first such line to the last, so many have the usual number of fields.
_OF_ALL, _OF_THOSE_BETWEEN = 0.4, 0.5
_LIBSVM = re.compile(r"[+-]?\d+(\.\d+)?(\s+\d+:[^\s:]+)+\s*")
_YEAR = re.compile(r"(18|19|20|21)\d\d")
_UNITS = """
    y yr yrs year years month months week weeks d day days h hr hrs hour hours min mins minute minutes s sec secs
    second seconds ms mm cm m km mi mile miles ft feet in inch inches g kg mg µg ug lb lbs oz t ton tons tonnes l ml
    dl m² m³ km² qm qkm ha acre acres % ‰ percent pct ppm ppb usd eur euro euros gbp chf jpy $ € £ ¥ k$ k€ m$ tsd mio
    c f k °c °f ° deg degree degrees bpm mmhg mol mmol kw w wh kwh mwh mw v a hz khz mhz pa kpa hpa bar mbar psi j kj
    cal kcal db px number count counts persons people person n points units jahr jahre monat monate woche wochen tag
    tage stunde stunden minuten sekunden anzahl personen einwohner prozent an ans mois jours heures nombre años meses
    días horas anni
"""
_TOTALS = re.compile(
    r"(grand\s+)?(sub)?total\w*|sum(me)?|gesamt(summe)?|insgesamt|zusammen|ensemble|somme|suma|totale|in\s*all|all",
    re.IGNORECASE,
)
_NO_ANSWER = re.compile(
    r"\W*|n[/.]a\.?|nil|missing|unknown|unk|not\s.*|no\s(answer|response|data|value)|don.?t\s.*|declined?|refus\w*|"
    r"suppressed|withheld|confidential|undisclosed|#.*",
    re.IGNORECASE,
)
# What repeats gives nothing back (``*+``): else each way to share a million digits out would be tried.
_KINDS = (
    ("date", re.compile(r"\d{1,4}\s*[-/.]\s*\d{1,2}\s*[-/.]\s*\d{1,4}.*")),
    ("time", re.compile(r"\d{1,2}:\d{2}.*")),
    ("signed", re.compile(r"[-+(]?(\s*+[%‰$€£¥₹₽₩₺฿¢°][^\d\n]*+\d.*+|[\d.,'\s]++[%‰$€£¥₹₽₩₺฿¢°])\)?")),
    (
        "number",
        re.compile(r"[-+−(]?(?=[.,'’\s]*\d)[\d.,'’\s]++([eEdD][-+]?\d++)?\s*+[-)]?|[-+]?(inf|infinity|nan)", re.I),
    ),
)

CANNOT_TELL = (
    "Whether the first line holds names or is a row cannot be told from it and the lines below. It is read as a row, "
    'so that no row becomes a name; if it holds names, say so ("header": true).'
)


NO_RECORD = (
    "Some lines are no records, because a quotation mark in them does not close: one line is one row, so a cell that "
    "goes on in the next line spoils both; write one record a line, and double the marks inside a cell."
)


@dataclass(frozen=True)
class FirstLines:
    """What the first lines look like."""

    file: FileFormat
    names: tuple[str, ...]
    body: list[list[str]]
    other: FileFormat | None
    units: dict[str, str]
    notes: tuple[str, ...]


def read_first_lines(file: CsvFile) -> FirstLines:
    """What the first lines of ``file`` look like."""
    encoded = FileFormat(_guess_encoding(file.raw))
    lines = file.lines(encoded)
    if b"\r" in lines[:_CHARACTERS] and b"\n" not in lines:
        raise IntakeError(RETURNS_ALONE)
    sample = _read_sample(lines, encoded.byte_encoding)
    _refuse_other_tables(sample)
    stated = find_delimiter_above(sample)
    rest = sample.partition("\n")[2] if stated else sample
    delimiter = stated or _guess_delimiter(rest)
    records = [_split_fields(line, delimiter) for line in _split_lines(rest)]
    skip, notes = (0, []) if stated else _find_above(records, _split_lines(rest), delimiter)
    kept = list(islice(rest.split("\n"), skip, skip + 1))
    header = kept[0].removesuffix("\r") if kept else ""
    refuse_garbled(header, encoded)
    split_header(header, delimiter)  # refuses half of a record
    if any(line.strip() and not record for line, record in zip(_split_lines(rest)[skip:], records[skip:], strict=True)):
        notes = [*notes, NO_RECORD]
    records = [record for record in records[skip:] if any(field.strip() for field in record)]
    if not records:
        raise IntakeError("The file is empty; a CSV has a header line and one row a line; choose another file.")
    top = _read_top(records, replace(encoded, delimiter=delimiter, skip=skip))
    if len(top.names) > MAX_COLUMNS:
        raise IntakeError(TOO_MANY_COLUMNS)
    return replace(
        top, notes=(*notes, *top.notes, *_find_below(lines, encoded.byte_encoding, delimiter, len(top.names)))
    )


def _refuse_other_tables(sample: str) -> None:
    first = sample.lstrip().partition("\n")[0].strip()
    if first.lower().startswith(("@relation", "@attribute")):
        raise IntakeError("The file looks like ARFF, the format of Weka; export the table as CSV and load that.")
    if _LIBSVM.fullmatch(first):
        raise IntakeError(
            "The file looks like LIBSVM (place:number pairs); write it as CSV, or as a sparse matrix (.npz)."
        )


def _guess_encoding(raw: bytes) -> str:
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


def _read_sample(lines: bytes, encoding: str) -> str:
    """The first lines as text, cut at the end of a line where the file goes on."""
    piece = lines[:_CHARACTERS]
    if len(piece) < len(lines):
        end = piece.rfind(b"\n")
        if end < 0:
            raise IntakeError("The file has no line ends in its first million bytes; a CSV has one row a line.")
        piece = piece[: end + 1]
    return piece.decode(encoding, errors="replace").removeprefix("\ufeff")


def _split_lines(text: str) -> list[str]:
    return [line.removesuffix("\r") for line in islice(text.split("\n"), _ROWS)]


def _split_fields(line: str, delimiter: str) -> list[str]:
    """The fields of a line; none of one whose quotation marks do not close."""
    if delimiter == WHITESPACE:
        return line.lstrip("#").split()
    try:
        return split_fields(line, delimiter)
    except csv.Error:
        return []


def _guess_delimiter(sample: str) -> str:
    """The delimiter under which the most lines have the same number of fields.

    Ties go to the one that leaves more numbers: ``1,5;2,5`` is two decimal commas, not three columns.
    """
    lines = [line for line in _split_lines(sample) if line.strip()][:_LINES_COMPARED]
    scores = {delimiter: _score(lines, delimiter) for delimiter in _DELIMITERS}
    best = max(_DELIMITERS, key=lambda delimiter: scores[delimiter])
    if scores[best] > _NO_COLUMNS:
        return ";" if best == "," and _is_one_column_of_decimal_commas(lines) else best
    consistent, numeric, _ = _score(lines, WHITESPACE)
    return WHITESPACE if consistent >= 0.8 and numeric >= 0.5 else ","


def _score(lines: Sequence[str], delimiter: str) -> tuple[float, float, int]:
    """(how usual a field count is, share of numeric fields, field count); larger is better.

    It is the share of lines that have it, once among all and once between the first and the last of them: titles above
    the table and notes below it count less than what breaks a table.
    """
    records = [_split_fields(line, delimiter) for line in lines]
    records = [record for record in records if any(field.strip() for field in record)]
    width, many = _find_usual_width(records)
    if width < 2 or many < _OF_ALL * len(records):
        return _NO_COLUMNS
    widths = list(map(len, records))
    first, last = widths.index(width), len(widths) - 1 - widths[::-1].index(width)
    consistent = many / (last + 1 - first)
    if consistent < _OF_THOSE_BETWEEN:
        return _NO_COLUMNS
    fields = [field.strip() for record in records[first : last + 1] for field in record]
    numeric = sum(_is_number(field, decimal_comma=delimiter != ",") for field in fields)
    return round(consistent * many / len(records), 2), round(numeric / len(fields), 2), width


def _find_usual_width(records: Sequence[Sequence[str]]) -> tuple[int, int]:
    """The most frequent number of fields, of several where there are, and on how many lines it is found."""
    widths = Counter(len(record) for record in records if any(field.strip() for field in record))
    several = Counter({width: many for width, many in widths.items() if width > 1})
    return (several or widths or Counter({0: 0})).most_common(1)[0]


def _is_one_column_of_decimal_commas(lines: Sequence[str]) -> bool:
    return len(lines) > 1 and "," not in lines[0] and all(map(_WHOLE_DECIMAL_COMMA.fullmatch, lines[1:]))


def _is_number(field: str, *, decimal_comma: bool) -> bool:
    return _NUMBER.fullmatch(field) is not None and (decimal_comma or "," not in field)


def _find_above(records: Sequence[Sequence[str]], lines: Sequence[str], delimiter: str) -> tuple[int, list[str]]:
    """How many lines stand above the header: blank ones, comments, titles."""
    usual, many = _find_usual_width(records)
    if many < _OF_ALL * len(records):
        usual = 1
    skip = 0
    for skip, (record, line) in enumerate(zip(records, lines, strict=True)):
        if line.strip() and not record:
            break  # a quotation mark that does not close
        below = next((other for other in records[skip + 1 :] if any(field.strip() for field in other)), [])
        if not line.strip() or (line.lstrip().startswith("#") and _goes_on_above(lines, skip, delimiter)):
            continue
        is_title = len(record) < usual and len(record) < max(2, usual - 1)
        if (is_title or (len(record) == 1 < usual and len(below) == usual)) and _is_followed_by_names(below, usual):
            continue
        break
    blank = next((place for place, line in enumerate(lines) if line.strip()), 0)
    if skip > max(blank, _MOST_TITLES) or (skip > blank and not _are_names(records[skip:], usual)):
        skip = blank  # in doubt the first line: a row taken for names would show a person's values
    if skip == 0:
        return 0, []
    return skip, [f"{skip} line{'' if skip == 1 else 's'} above the names: titles, comments or blanks, to be skipped."]


def _goes_on_above(lines: Sequence[str], at: int, delimiter: str) -> bool:
    """Whether a comment line is one, and not the header that NumPy writes with a # in front."""
    below = next((line for line in lines[at + 1 :] if line.strip()), "")
    if below.lstrip().startswith("#"):
        return True
    return bool(below) and not any(map(reads_like_a_row, list_pieces(_split_fields(below, delimiter))))


def _are_names(records: Sequence[Sequence[str]], usual: int) -> bool:
    """Whether the first of these lines surely holds names: no values, and words above columns of numbers."""
    first, *below = records
    whole = [record for record in below if len(record) == len(first)]
    if len(first) != usual or len(whole) < 2 or any(map(reads_like_a_row, list_pieces(first))):
        return False
    usual_kinds = [_guess_usual_kind([record[at].strip() for record in whole]) for at in range(len(first))]
    return any(
        kind == "number" and name.strip() and _guess_kind(name.strip()) == "text"
        for name, kind in zip(first, usual_kinds, strict=True)
    )


def _is_followed_by_names(below: Sequence[str], usual: int) -> bool:
    return bool(below) and (len(below) < usual or not all(map(reads_like_a_row, below)))


def _read_top(records: Sequence[Sequence[str]], declared: FileFormat) -> FirstLines:
    """What the first line is. In doubt a row: a row taken for names would show a person's values."""
    first, body = list(records[0]), [list(record) for record in records[1:]]
    width = Counter(map(len, body or records)).most_common(1)[0][0]
    names, _ = clean_names(first)
    own_names = tuple(f"column_{place}" for place in range(1, max(width, len(first)) + 1))
    as_names = replace(declared, header=True)
    told = _holds_names(first, body)
    if told is not True:
        as_row = replace(declared, header=False, names=own_names)
        note = CANNOT_TELL if told is None else "The first line holds values, so the columns get names of their own."
        return FirstLines(as_row, own_names, [first, *body], as_names if told is None else None, {}, (note,))
    if len(first) == width - 1 and all(not record[-1].strip() for record in body if len(record) == width):
        names = (*names, _choose_unused(names))
        return FirstLines(
            replace(as_names, names=names), names, body, None, {}, ("A delimiter ends each line but the header.",)
        )
    if len(first) == width - 1:
        names = ("row", *names)
        note = 'The header is one name short: the first column is called "row".'
        return FirstLines(replace(as_names, names=names), names, body, None, {}, (note,))
    units = _read_units(names, body)
    if units:
        note = "The line below the names holds units, so it is no row."
        return FirstLines(replace(as_names, units_line=True), names, body[1:], None, units, (note,))
    return FirstLines(as_names, names, body, None, {}, ())


def _choose_unused(names: Sequence[str]) -> str:
    name = f"column_{len(names) + 1}"
    return name if name not in names else f"{name}_"


def _holds_names(first: Sequence[str], body: Sequence[Sequence[str]]) -> bool | None:
    """Whether the first line holds names; None where that is for its owner to say.

    A cell that occurs again below, in its own column, is a value there: then the line is no sure header. Nor is one
    that stands above words alone, however it reads: nobody but its owner knows a name from the rarest word.
    """
    cells = [cell.strip() for cell in first]
    below = [[record[at].strip() for record in body if len(record) > at] for at in range(len(first))]
    again = any(cell and cell in column for cell, column in zip(cells, below, strict=True))
    kinds = [(_guess_kind(cell), _guess_usual_kind(column)) for cell, column in zip(cells, below, strict=True)]
    named = [_names_figures(cell, column) for cell, column in zip(cells, below, strict=True)]
    values = [field.strip() for field in list_pieces(first) if reads_like_a_row(field)]
    if not values:
        return True if any(named) and not again else None
    if not again and len(values) >= 3 and values in ([str(i + start) for i in range(len(values))] for start in (0, 1)):
        return True  # 0, 1, 2, ...: the names that data frames give
    if _are_years(values):
        alike = again or any(_YEAR.fullmatch(cell) for column in below for cell in column)
        return None if alike else True
    differ = [
        own != usual and usual != "text"
        for (own, usual), cell in zip(kinds, cells, strict=True)
        if reads_like_a_row(cell)
    ]
    if differ and all(differ) and not again:
        return True
    return None if any(differ) or any(named) else False


def _names_figures(cell: str, below: Sequence[str]) -> bool:
    """Whether a cell of the first line is a word above numbers, and none that says that a person has no number."""
    if cell in MISSING or _NO_ANSWER.fullmatch(cell) or reads_like_a_row(cell):
        return False
    own, usual = _guess_kind(cell), _guess_usual_kind(below)
    present = [one for one in below if one not in MISSING]
    figures = sum(any(map(str.isdigit, one)) for one in present)
    return usual not in ("text", own) or (not any(map(str.isdigit, cell)) and 10 * figures > 9 * len(present))


def _guess_kind(cell: str) -> str:
    return next((kind for kind, pattern in _KINDS if pattern.fullmatch(cell)), "text")


def _guess_usual_kind(cells: Sequence[str]) -> str:
    present = [cell for cell in cells if cell not in MISSING]
    kinds = Counter(map(_guess_kind, present))
    return kinds.most_common(1)[0][0] if kinds else "text"


def _are_years(values: Sequence[str]) -> bool:
    """Whether values are several different years in order, rising or falling."""
    if len(values) < 2 or not all(map(_YEAR.fullmatch, values)):
        return False
    return values in (sorted(set(values)), sorted(set(values), reverse=True))


def _read_units(names: Sequence[str], body: Sequence[Sequence[str]]) -> dict[str, str]:
    """What the line below the names says of columns of numbers, if it holds nothing but known units."""
    if len(body) < 2 or len(body[0]) != len(names) or not all(map(_is_a_unit, filter(None, map(str.strip, body[0])))):
        return {}
    units = {}
    for at, name in enumerate(names):
        cells = [record[at].strip() for record in body[1:] if len(record) == len(names)]
        present = [cell for cell in cells if cell not in MISSING]
        numbers = sum(_guess_kind(cell) in ("number", "signed") for cell in present)
        unit = body[0][at].strip().strip("()[]")
        if unit and present and 10 * numbers >= 9 * len(present):
            units[name] = unit
    return units


def _is_a_unit(cell: str) -> bool:
    """Whether a cell is made of words of ``_UNITS``, perhaps one per another, with powers.

    >>> [_is_a_unit(cell) for cell in ("kg", "[m/s²]", "5 kg", "unknown", "")]
    [True, True, False, False, False]
    """
    parts = re.split(r"[\s/·*]+", cell.strip("()[]").casefold())
    return all(re.sub(r"(?<=\D)[\d²³^-]+$", "", part) in _UNITS.split() for part in parts)


def _find_below(lines: bytes, encoding: str, delimiter: str, width: int) -> list[str]:
    """What stands at the end of the file and is no row of the table: totals, notes."""
    tail = [line.removesuffix("\r") for line in lines[-_TAIL:].decode(encoding, errors="replace").split("\n")]
    last = [line for line in (tail[1:] if len(lines) > _TAIL else tail) if line.strip()][-4:]
    records = [record for line in last if (record := _split_fields(line, delimiter))]
    notes = []
    if any(len(record) == width > 1 and any(map(_is_a_total, record)) for record in records[1:]):
        notes.append(
            "One of the last lines is named like a total: it is read as a row like others; take it out of the file."
        )
    if records and len(records[-1]) == 1 < width:
        notes.append("The last line is no row but a note below the table: it is read as a row without values.")
    return notes


def _is_a_total(cell: str) -> bool:
    return _TOTALS.fullmatch(cell.strip(" :*")) is not None
