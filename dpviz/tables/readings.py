"""How the lines of a file may be meant, for its owner: readings of a sample, scored by the cells that they explain.

A reading is a dialect (what sets cells apart, what they stand between) with the lines above the rows. Rows come
first: most of their columns keep one kind of cell; what stands above them may be names, lines that describe, or titles.
A record is never a name: in doubt the line is a row, and the other reading is offered.
"""

from __future__ import annotations

import codecs
import csv
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import product
from typing import NamedTuple

from dpviz.tables import csv_intake, file_format
from dpviz.tables.csv_intake import (
    CsvFile,
    clean_names,
    find_delimiter_above,
    list_pieces,
    reads_like_a_row,
    split_fields,
)
from dpviz.tables.file_format import (
    DELIMITERS,
    EAST_ASIAN,
    PATTERNS,
    QUOTES,
    TOLD,
    WHITESPACE,
    WORDS,
    FileFormat,
    match,
    refuse_garbled,
)
from dpviz.tables.loaded_table import MISSING, IntakeError, demand

# How much of a file is looked at: as many lines at its beginning, in its middle and at its end, in bytes at most.
_LINES, _BYTES, _CELLS = 1_000, 1_000_000, 200_000
_SCORED, _SCORED_LATER, _MOST_ABOVE, _GOES_ON = 60, 20, 40, 6
_DELIMITERS = (*DELIMITERS, "~", "^")
_UNDEFINED_IN_CP1252 = tuple(bytes([code]) for code in (0x81, 0x8D, 0x8F, 0x90, 0x9D))
_WESTERN = frozenset(("cp1250", "cp1252", "cp1254", "cp1257", "iso8859-1", "iso8859-15", "mac-roman"))
_OF_BYTES = re.compile(r"cp125\d|iso8859-(1|2|15)|koi8-r|mac-roman")
_OF_LETTERS = [one for one in file_format.ENCODINGS if one in EAST_ASIAN or _OF_BYTES.fullmatch(one)]
_UTF_16 = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}
_UTF_32 = (b"\xff\xfe\0\0", b"\0\0\xfe\xff")
# What a cell adds to the score of a reading: a value, a word, nothing, and text in which further marks stand.
_VALUE, _WORD, _NOTHING, _LEFT_OVER = 1.0, 0.8, 0.7, 0.3
_KINDS = {kind: re.compile(written) for kind, written in TOLD["kinds_of_cells"].items()}
_FIGURES = ("signed", "number")

NOTES = TOLD["notes"]


@dataclass(frozen=True)
class Reading:
    """One way to read a file: ``body``, the records of the sample that are rows; ``sample``, its lines for a run."""

    file: FileFormat
    names: tuple[str, ...]
    body: list[list[str]] = field(repr=False)
    notes: tuple[str, ...] = ()
    units: Mapping[str, str] = field(default_factory=dict, repr=False)
    sample: bytes = field(default=b"", repr=False)


def list_readings(file: CsvFile) -> tuple[Reading, ...]:
    """The likeliest reading of ``file``, and the second one where it is near."""
    encoded = FileFormat(_guess_encoding(file.raw))
    lines = file.lines(encoded)
    if b"\r" in lines[:_BYTES] and b"\n" not in lines:
        raise IntakeError.of("returns_alone")
    sample = _take_blocks(lines)
    text = [line.removesuffix("\r") for line in sample.decode(encoded.byte_encoding, errors="replace").split("\n")]
    full = [line.strip() for line in text[:_SCORED] if line.strip()]
    if full and full[0].lower().startswith(("@relation", "@attribute")):
        raise IntakeError.of("arff")
    for what, part in (("libsvm", 0.5), ("two_marks", 0.9), ("quoted_line", 0.9)):
        demand(sum(match(what, line) is not None for line in full) <= part * len(full), what)
    text[0] = text[0].removeprefix("\ufeff")
    stated = find_delimiter_above(text[0])
    ranked = [(1.0, stated, '"')] if stated else _rank_dialects(text[:-1] if text[-1] == "" else text)
    # Without a header a row would say which byte comes first.
    ordered = replace(encoded, encoding=_UTF_16.get(file.raw[:2], encoded.encoding))
    near = [dialect for score, *dialect in ranked[:2] if score >= 0.95 * ranked[0][0]]
    found = [_read_dialect(text, replace(ordered, delimiter=mark, quote=quote)) for mark, quote in near]
    readings = found[0]
    if len(found) > 1 and len(readings) == 1 and readings[0].names != found[1][0].names:
        readings = [replace(readings[0], notes=(*readings[0].notes, NOTES["near_dialect"])), found[1][0]]
    files = [replace(one.file, encoding=encoded.encoding) if one.file.header else one.file for one in readings]
    return tuple(replace(one, sample=sample, file=declared) for one, declared in zip(readings, files, strict=True))


def _take_blocks(lines: bytes) -> bytes:
    """Whole lines of the beginning, the middle and the end."""
    end = _find_stop(lines, 0)
    if end == 0 and len(lines) > _BYTES:
        raise IntakeError.of("no_ends")
    parts, start = [lines[: end or len(lines)]], end or len(lines)
    for place, stop in ((len(lines) - end) // 2, None), (len(lines) - end, len(lines)):
        first = lines.find(b"\n", max(start, place) - 1) + 1
        if 0 < first < len(lines):
            start = stop or _find_stop(lines, first) or len(lines)
            parts.append(lines[first:start])
    return b"".join(parts)


def _find_stop(lines: bytes, start: int) -> int:
    """Where a block of whole lines that begins at ``start`` ends."""
    *whole, rest = lines[start : start + _BYTES].split(b"\n", _LINES)
    ends = len(whole) < _LINES and start + _BYTES >= len(lines)
    return len(lines) if ends else min(len(lines), start + _BYTES) - len(rest)


def _guess_encoding(raw: bytes) -> str:
    """Byte order mark first, then UTF-8, else what the letters look most like, Western ones where that is open."""
    if raw.startswith(_UTF_32):  # it begins with the mark of UTF-16
        raise IntakeError.of("utf_32")
    if raw[:2] in _UTF_16:
        return "utf-16"
    csv_intake.refuse_other_formats(raw[:_BYTES].partition(b"\n")[0])
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for start in range(0, 0 if raw.isascii() else len(raw), _BYTES):
            decoder.decode(raw[start : start + _BYTES], final=start + _BYTES >= len(raw))
    except UnicodeDecodeError:
        from charset_normalizer import from_bytes  # slow to import

        western = "iso8859-1" if any(byte in raw for byte in _UNDEFINED_IN_CP1252) else "cp1252"
        # Each different line once: what repeats says nothing more of letters.
        odd = b"\n".join(dict.fromkeys(line for line in _take_blocks(raw).split(b"\n") if not line.isascii()))[:20_000]
        found = [*from_bytes(odd, cp_isolation=_OF_LETTERS)]
        if found and found[0].encoding in EAST_ASIAN:  # of those that fit as well, the most frequent one
            fits = [one for one in found if one.encoding in EAST_ASIAN and one.chaos <= found[0].chaos]
            found.insert(0, min(fits, key=lambda one: (-one.coherence, EAST_ASIAN.index(one.encoding))))
        names = {codecs.lookup(one.encoding).name for one in found if one.chaos <= found[0].chaos}
        word = rb"([\x80-\xff][\x40-\xff]){2}" if found and found[0].encoding in EAST_ASIAN else rb"[\x80-\xff]{3}"
        own_script = _WESTERN.isdisjoint(names) and re.search(word, odd) is not None
        return codecs.lookup(found[0].encoding).name if found and (own_script or found[0].coherence > 0.2) else western
    return "utf-8"


def _split(line: str, declared: FileFormat) -> list[str]:
    """The fields of a line; none of one whose quotation marks do not close."""
    try:
        return split_fields(line, declared.delimiter, declared.quote)
    except csv.Error:
        return []


def _rank_dialects(lines: Sequence[str]) -> list[tuple[float, str, str]]:
    """Scores with delimiter and quotation mark, the best first."""
    full = [line for line in lines if line.strip()]
    looked_at = [*full[:_SCORED], *full[_SCORED:][-_SCORED_LATER:]]
    tried = product(_DELIMITERS, QUOTES if any(PATTERNS["single_quoted"].search(line) for line in looked_at) else '"')
    scores = [(_score(looked_at, FileFormat(delimiter=mark, quote=quote)), mark, quote) for mark, quote in tried]
    ranked = sorted((one for one in scores if one[0] > 0), key=lambda one: -one[0])
    if not ranked:
        words = [split_fields(line, WHITESPACE) for line in looked_at]
        width, many = _find_usual_width(words)
        numbers = [match("number", word) is not None for line in words for word in line]
        blanks = width > 1 and 5 * many >= 4 * len(words) and 2 * sum(numbers) >= len(numbers)
        return [(1.0, WHITESPACE if blanks else ",", '"')]
    commas = len(full) > 1 and "," not in full[0] and all(match("decimal_comma", line) for line in full[1:])
    return [(1.0, ";", '"')] if commas and ranked[0][1] == "," else ranked


def _score(lines: Sequence[str], declared: FileFormat) -> float:
    """From 0 to 1: how regular lines are, times how much of their cells a reading explains.

    The share of lines with the usual number of fields counts once among all and once between the first and the last of
    them: titles above the table and notes below it count less than what breaks a table.
    """
    records = [record for line in lines if any(map(str.strip, record := _split(line, declared)))]
    width, many = _find_usual_width(records)
    if width < 2 or many < 0.4 * len(records):
        return 0.0
    widths = [len(record) for record in records]
    first, last = widths.index(width), len(widths) - 1 - widths[::-1].index(width)
    between = many / (last + 1 - first)
    if between < 0.5:
        return 0.0
    cells = [_explain(cell.strip(), declared) for record in records[first : last + 1] for cell in record]
    return between * many / len(records) * sum(cells) / len(cells)


def _explain(cell: str, declared: FileFormat) -> float:
    if not cell:
        return _NOTHING
    if "'" in (cell[0], cell[-1]) or cell[-1] == ",":
        return _LEFT_OVER
    if match("number", cell):
        return _VALUE if declared.delimiter != "," or "," not in cell else _LEFT_OVER + 0.5
    if _guess_kind(cell) in _FIGURES:
        return _VALUE
    if PATTERNS["marks"].search(cell):
        return _LEFT_OVER
    return _VALUE if _guess_kind(cell) != "text" else _WORD


def _find_usual_width(records: Sequence[Sequence[str]]) -> tuple[int, int]:
    """The most frequent number of fields, of several where there are, and on how many lines it is found."""
    widths = Counter(len(record) for record in records if any(field.strip() for field in record))
    several = Counter({width: many for width, many in widths.items() if width > 1})
    return max((several or widths or {0: 0}).items(), key=lambda one: (one[1], one[0]))


@lru_cache(maxsize=100_000)
def _guess_kind(cell: str) -> str:
    return next((kind for kind, pattern in _KINDS.items() if pattern.fullmatch(cell)), "text")


def _guess_usual_kind(cells: Sequence[str]) -> str:
    kinds = Counter(map(_guess_kind, [cell for cell in cells if cell not in MISSING]))
    return kinds.most_common(1)[0][0] if kinds else "text"


def _read_dialect(text: Sequence[str], declared: FileFormat) -> list[Reading]:
    """The reading under one dialect, and the one with the other answer to whether its first line holds names."""
    first = next((place for place, line in enumerate(text) if line.strip()), None)
    if first is None:
        raise IntakeError.of("empty")
    if find_delimiter_above(text[first]):
        first += 1 + next((place for place, line in enumerate(text[first + 1 :]) if line.strip()), 0)
    records = [_split(line, declared) for line in text]
    width, many = _find_usual_width(records[first:])
    width = width if many >= 0.4 * sum(any(map(str.strip, one)) for one in records[first:]) else 1
    above = _find_above(text, records, width, first)
    head = text[above.names if records[first] else first] if above.names < len(text) else ""
    refuse_garbled(head, declared)
    csv_intake.split_header(head, declared.delimiter, declared.quote)  # refuses half of a record
    rows = zip(text[above.body :], records[above.body :], strict=True)
    notes = [NOTES["no_record"]] if any(line.strip() and not record for line, record in rows) else []
    found = [*_read_top(records, declared, above, first, width)]
    demand(len(found[0].names) <= file_format.MAX_COLUMNS, "too_many_columns", most=file_format.MAX_COLUMNS)
    # What stands at the end of the file and is no row of the table: totals, notes.
    last = found[0].body[1:][-4:]
    if any(len(record) == width > 1 and any(match("total", cell.strip(" :*")) for cell in record) for record in last):
        notes.append(NOTES["total"])
    if last and len(last[-1]) == 1 < width:
        notes.append(NOTES["below"])
    return [replace(one, notes=(*one.notes, *notes)) for one in found]


class _Above(NamedTuple):
    """The line that may hold names, and where the rows begin if it does."""

    names: int
    body: int


def _find_above(text: Sequence[str], records: Sequence[list[str]], width: int, first: int) -> _Above:
    """Rows first: they begin where columns of figures hold figures, and go on to.

    Names are the first line above them that is as wide as they are and holds no figures; what stands over it are
    titles, comments or blanks, what stands below it describes.
    """
    figures = _find_figures(records[first:], width)
    filled = len({at for record in records[-_SCORED:] for at, cell in enumerate(record) if cell.strip()})
    fits = [_fit(record, figures, width) for record in records[first : first + _MOST_ABOVE + _GOES_ON]]
    most = min(len(fits), _MOST_ABOVE)

    def goes_on(at: int) -> bool:
        following = [fit for fit in fits[at + 1 : at + _GOES_ON] if fit is not None]
        return fits[at] == 1 and 2 * sum(fit >= 0 for fit in following) >= len(following)

    start = next((at for at in range(most) if goes_on(at)), 0)
    last = next((at for at in range(start - 1, -1, -1) if text[first + at].strip()), 0)

    def may_name(at: int) -> bool:
        record, line = records[first + at], text[first + at].lstrip()
        there = sum(bool(cell.strip()) for cell in record)
        full = width - (width > 2) <= len(record) <= width and there >= min(2, width) and 2 * there >= filled
        full = full or (2 <= len(record) == width == 2 * there and at == last and not record[0].strip())
        return full and fits[at] != 1 and not match("rule", line) and (at == last or not line.startswith("#"))

    def is_title(at: int) -> bool:
        line = text[first + at]
        whole = line.count('"') % 2 == 0 and len(records[first + at]) > 0
        return bool(line.strip()) and whole and fits[at] is None and not match("rule", line)

    # Names and what describes them stand together: a blank line parts them from titles.
    titles = max(
        (at + 1 for at in range(start) if is_title(at) or (at < last and not text[first + at].strip())), default=0
    )
    names = next((at for at in range(titles, start) if may_name(at)), None)
    start = start or next((at for at in range(most) if fits[at] is not None), 0)
    parted = start > 0 and not text[first + start - 1].strip()
    if names is None or (parted and _holds_names(records[first + start], _thin(records[first + start + 1 :], width))):
        return _Above(first + start, first + start + 1)
    opposed, body = 0, names + 1
    for at in range(names, start):
        # In doubt a line is a row: one without any word over figures, unless several lines of words stand above it.
        opposed += fits[at] == -1
        if fits[at] == -1 or (fits[at] == 0 and opposed > 1) or match("rule", text[first + at]):
            body = at + 1
        elif fits[at] is not None:
            break
    return _Above(first + names, first + body)


def _find_figures(records: Sequence[list[str]], width: int) -> dict[int, str]:
    """The columns most of whose cells are figures of one kind, without the lines that may stand above the rows."""
    whole = [record for record in records[len(records) // 3 :] if len(record) == width]
    whole = [*whole[:_SCORED], *whole[_SCORED:][-_SCORED_LATER:]]
    usual = {at: _guess_usual_kind([record[at].strip() for record in whole]) for at in range(width if whole else 0)}
    return {at: "number" if kind in _FIGURES else kind for at, kind in usual.items() if kind != "text"}


def _fit(record: Sequence[str], figures: Mapping[int, str], width: int) -> int | None:
    """1 where a line holds figures, -1 where it has words in their places, 0 where neither; None: too few cells."""
    if not width - (width > 2) <= len(record) <= width:
        return None
    found = 0
    for at, usual in figures.items():
        cell = record[at].strip() if at < len(record) else ""
        if cell in MISSING or match("no_answer", cell):
            continue
        kind = _guess_kind(cell)
        if ("number" if kind in _FIGURES else kind) == usual:
            return 1
        if not match("figure_first", cell):
            found = -1
    return found


def _read_top(
    records: Sequence[list[str]], declared: FileFormat, above: _Above, first: int, width: int
) -> Iterator[Reading]:
    """The readings of what stands above the rows. In doubt it is one: a row taken for names would show its values."""
    below = _thin(records[above.body :], width)
    told = _holds_names(records[above.names], below)
    # A line of more fields just above may be the names of columns that rows leave out; then this line is a row.
    below_names = told is True and above.names > first and len(records[above.names - 1]) > width
    as_names = _read_names(records, below, replace(declared, header=True), above)
    if told is True and not below_names:
        yield as_names
        return
    start = above.names if below_names else first
    rows = _thin(records[start:], width)
    own_names = tuple(f"column_{place}" for place in range(1, max(width, len(records[start])) + 1))
    notes = (NOTES["as_row" if told is False else "cannot_tell"], *_note_above(start - first))
    yield Reading(replace(declared, header=False, names=own_names, skip=start), own_names, rows, notes)
    if told is not False:
        yield replace(as_names, notes=(NOTES["as_names"], *as_names.notes))


def _read_names(records: Sequence[list[str]], below: list[list[str]], declared: FileFormat, above: _Above) -> Reading:
    """The reading of a line as names. No other line gives one: whatever stands there, it may be a record."""
    between = _thin(records[above.names + 1 : above.body], 1)
    names, _ = clean_names(records[above.names])
    stated: tuple[str, ...] = ()
    notes = _note_above(above.names)
    width = Counter(map(len, below or [[*names]])).most_common(1)[0][0]
    units = _read_units(names, [*between, *below]) if len(between) < 2 else {}
    if units:
        notes.append(NOTES["units"])
        below = below if between else below[1:]
    if len(names) == width - 1:
        at_ends = all(not record[-1].strip() for record in below if len(record) == width)
        new = f"column_{width}"
        stated = (*names, new if new not in names else f"{new}_") if at_ends else ("row", *names)
        notes.append(NOTES["ends" if at_ends else "row_names"])
    read = replace(declared, skip=above.names, units_line=bool(units), names=stated)
    if above.body > above.names + 1 and not units:
        notes.append(NOTES["between"].format(_format_lines(above.body - above.names - 1)))
        read = replace(read, header=False, skip=above.body, names=stated or names)
    return Reading(read, stated or names, below, tuple(notes), units)


def _note_above(many: int) -> list[str]:
    return [NOTES["above"].format(_format_lines(many))] if many else []


def _format_lines(many: int) -> str:
    return f"{many} line{'' if many == 1 else 's'}"


def _thin(records: Sequence[list[str]], width: int) -> list[list[str]]:
    """Rows that are looked at, cell by cell."""
    rows = [record for record in records if any(map(str.strip, record))]
    most = max(50, _CELLS // max(1, width))
    return rows if len(rows) <= most else [*rows[: most // 2], *rows[-(most // 2) :]]


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
    in_order = values in (sorted({*values}), sorted({*values}, reverse=True))
    if len(values) > 1 and in_order and all(match("year", value) for value in values):
        return None if again or any(match("year", cell) for column in below for cell in column) else True
    differ = [own != usual != "text" for (own, usual), cell in zip(kinds, cells, strict=True) if reads_like_a_row(cell)]
    if differ and all(differ) and not again:
        return True
    return None if any(differ) or any(named) else False


def _names_figures(cell: str, below: Sequence[str]) -> bool:
    """Whether a cell of the first line is a word above numbers, and none that says that a person has no number."""
    if cell in MISSING or match("no_answer", cell) or reads_like_a_row(cell):
        return False
    own, usual = _guess_kind(cell), _guess_usual_kind(below)
    present = [one for one in below if one not in MISSING]
    figures = sum(any(map(str.isdigit, one)) for one in present)
    return usual not in ("text", own) or (not any(map(str.isdigit, cell)) and 10 * figures > 9 * len(present))


def _read_units(names: Sequence[str], body: Sequence[Sequence[str]]) -> dict[str, str]:
    """What the line below the names says of columns of numbers, if it holds nothing but known units."""
    if len(body) < 2 or len(body[0]) != len(names) or not all(map(_is_a_unit, filter(None, map(str.strip, body[0])))):
        return {}
    whole = [record for record in body[1:] if len(record) == len(names)]
    usual = [_guess_usual_kind([record[at].strip() for record in whole]) for at in range(len(names))]
    units = {name: unit.strip(" ()[]") for name, unit in zip(names, body[0], strict=True)}
    return {name: units[name] for name, kind in zip(names, usual, strict=True) if units[name] and kind in _FIGURES}


def _is_a_unit(cell: str) -> bool:
    """Whether a cell is made of words of the list of units, perhaps one per another, with powers."""
    parts = re.split(r"[\s/·*]+", cell.strip("()[]").casefold())
    return all(re.sub(r"(?<=\D)[\d²³^-]+$", "", part) in WORDS["unit"] for part in parts)
