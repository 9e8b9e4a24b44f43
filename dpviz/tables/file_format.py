"""How a file is written, as it is declared, and its cells read so: each by itself, whatever stands in others.

A number in a declared style, or text, follows from its cell alone. In which style the columns of a file seem to write
their numbers is a guess for its owner, from the evidence of all of them together: 247.548 alone may have either mark,
and a sibling that writes 118,65 decides. Nothing is read by it.

Files that leave are written by one writer: text in them is text to a spreadsheet, never a formula; numbers stay
numbers. Names of columns, labels and categories may come from anybody. One that begins like a formula gets an
apostrophe in front, which is how people tell a spreadsheet that a cell is text.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Annotated, Any, NamedTuple, TypeAlias

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from dpviz.core import Flags, check
from dpviz.tables.loaded_table import CELLS_KEPT, MISSING, FloatArray, IntakeError, Unread, demand
from dpviz.words import INLINE, Key, read_toml

MAX_COLUMNS = check.MOST_COLUMNS
DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
"""What is looked for in a header line, with its word; any character that ``can_delimit`` may be declared."""
NAMED_DELIMITERS = f"{' '.join(mark for mark in DELIMITERS if mark.isprintable())} or a tab"
WHITESPACE = "whitespace"
"""The delimiter of columns that are set apart by any number of blanks and tabs."""

# One byte a character, the first 128 as in ASCII: a line, a delimiter and a digit are found without decoding.
_ONE_BYTE = (
    *(f"cp125{page}" for page in range(9)),
    *(f"iso8859-{part}" for part in (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 14, 15, 16)),
    "koi8-r",
    "koi8-u",
    "mac-roman",
    "ascii",
)
# These are turned into UTF-8 as a whole before they are read.
_MARKED = ("utf-16", "utf-32")
# A byte of these may be half of a letter, but a line end never is: whatever a line holds, it ends where it ends.
EAST_ASIAN = ("gb18030", "gbk", "big5", "cp932", "shift_jis", "euc_jp", "cp949")
_TRANSCODED = (*_MARKED, *(f"{encoding}-{order}" for encoding in _MARKED for order in ("le", "be")), *EAST_ASIAN)
ENCODINGS = ("utf-8", *_TRANSCODED, *_ONE_BYTE)

BLANKS = (" ", "\u00a0", "\u202f", "\u2009")
"""Blanks that may stand around a number, or between groups of its digits."""
INDIAN = "lakh"
"""The grouping 12,34,567: three digits last, two in each group before."""

_GROUPINGS: Mapping[str, tuple[str, ...]] = {
    "": (),
    ",": (",",),
    ".": (".",),
    "'": ("'", "\u2019"),
    " ": BLANKS,
    INDIAN: (",",),
}
NEGATIVES = ("", "()", "-")
"""How negative numbers are written, besides a minus in front: between parentheses, or with the minus behind."""
_LONGEST_SIGN = 8
_PARTS_OF_NUMBERS = frozenset("+-.,\"'\u2019\u2212()")
MOST_SKIPPED = 1_000
QUOTES = {'"': "double", "'": "single"}
"""The marks that a cell may stand between, with their words."""
_MOST_CODES, _LONGEST_CODE = 100, 80
_NEVER_DELIMITERS = frozenset("\"'.+-_\r\n")


class NumberStyle(NamedTuple):
    """How numbers are written: ``1.234,5 €`` has the decimal mark ``,``, the grouping mark ``.`` and the sign ``€``."""

    decimal: Annotated[str, "the decimal mark"] = "."
    grouping: Annotated[str, 'what stands between groups of digits, or "lakh"'] = ""
    sign: Annotated[str, "what is stripped from a number, such as %, $ or €"] = ""
    negative: Annotated[str, "how negative numbers are written besides a minus in front: () as in (5), - as in 5-"] = ""
    missing: Annotated[
        tuple[str, ...], Key("cells that mean missing, as numbers or as words", "a list of texts", shown=["-999"])
    ] = ()

    def validate(self) -> NumberStyle:
        """Itself."""
        demand(self.decimal in (".", ","), "decimal", decimal=self.decimal)
        if self.grouping not in _GROUPINGS or self.decimal in self.grouping_marks:
            allowed = ", ".join(f'"{name}"' for name, marks in _GROUPINGS.items() if self.decimal not in marks)
            raise IntakeError.of("grouping", grouping=self.grouping, allowed=allowed)
        demand(_can_be_stripped(self.sign), "sign", sign=self.sign, most=_LONGEST_SIGN)
        demand(self.negative in NEGATIVES, "negative", negative=self.negative)
        sound = all(code.strip() and len(code) <= _LONGEST_CODE and code.isprintable() for code in self.missing)
        demand(sound and len(self.missing) <= _MOST_CODES, "missing_codes", most=_MOST_CODES, longest=_LONGEST_CODE)
        return self

    @property
    def grouping_marks(self) -> tuple[str, ...]:
        """Every character that may stand between groups of digits."""
        return _GROUPINGS[self.grouping]

    def __str__(self) -> str:
        number = f"12,34,567{self.decimal}5" if self.grouping == INDIAN else f"1{self.grouping}234{self.decimal}5"
        signed = f"{number} {self.sign}".rstrip()
        return {"()": f"({signed})", "-": f"{number}- {self.sign}".rstrip()}.get(self.negative, signed)


PLAIN_STYLE = NumberStyle()


@dataclass(frozen=True)
class FileFormat:
    """What is declared about the bytes of a file. The default reads no row: UTF-8, a header line, decimal points."""

    encoding: Annotated[str, "of its bytes, such as cp1252"] = "utf-8"
    delimiter: Annotated[
        str, 'what sets columns apart, one character or "whitespace"; left out: as the header has it'
    ] = ""
    header: Annotated[bool | None, "whether the first line holds names"] = None
    names: Annotated[tuple[str, ...], Key("of all its columns, in place of those of the header", shown=["a", "b"])] = ()
    style: Annotated[NumberStyle, INLINE] = PLAIN_STYLE
    quote: Annotated[str, Key("the mark that a cell may stand between", shown="'")] = '"'
    several_lines: Annotated[bool, "whether a quoted cell may go on over lines"] = False
    skip: Annotated[int, Key("lines above the header that are no rows", "a number of lines", shown=2)] = 0
    units_line: Annotated[bool, "whether a line of units stands below the header"] = False
    styles: Annotated[
        Mapping[str, NumberStyle],
        Key(
            "columns that write numbers in another way",
            "an object of number styles by column",
            name="columns",
            shown={"share": {"sign": "%"}},
        ),
    ] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "encoding", _check_encoding(self.encoding))
        if self.delimiter not in ("", WHITESPACE) and not can_delimit(self.delimiter):
            raise IntakeError.of("delimiter", delimiter=self.delimiter, usual=NAMED_DELIMITERS, blanks=WHITESPACE)
        demand(self.quote in QUOTES, "quote", quote=self.quote)
        demand(self.header is not False or self.names, "no_names")
        demand(self.header is not False or self.encoding not in _MARKED, "marked_encoding", encoding=self.encoding)
        demand(0 <= self.skip <= MOST_SKIPPED, "skip", skip=self.skip, most=MOST_SKIPPED)
        demand(self.header is not False or not self.units_line, "units_without_header")
        demand(len(self.names) <= MAX_COLUMNS, "too_many_names", many=len(self.names), most=MAX_COLUMNS)
        demand(len(set(self.names)) == len(self.names) and all(map(_is_a_name, self.names)), "names_wrong")
        for style in (self.style, *self.styles.values()):
            style.validate()
        unknown = [name for name in self.styles if self.names and name not in self.names]
        demand(not unknown, "styles_without_names", unknown=unknown)

    def get_style(self, column: str) -> NumberStyle:
        """How ``column`` writes its numbers."""
        return self.styles.get(column, self.style)

    @property
    def byte_encoding(self) -> str:
        """The encoding of the bytes that lines are looked for in."""
        return "utf-8" if self.encoding in _TRANSCODED else self.encoding


def _check_encoding(name: str) -> str:
    try:
        known = codecs.lookup(name).name
    except (LookupError, ValueError):
        known = ""
    if known == "utf-8-sig":
        return "utf-8"
    if known not in ENCODINGS:
        raise IntakeError.of("encoding", name=name, usual="utf-8, utf-16, cp1252 and iso8859-1")
    return known


def _is_a_name(name: str) -> bool:
    """Whether a name is there, and can be written: half of a character cannot."""
    return bool(name) and name == name.encode(errors="ignore").decode()


def _can_be_stripped(sign: str) -> bool:
    """Whether a number stays the number that it is when ``sign`` is taken off."""
    if len(sign) > _LONGEST_SIGN or sign in ("e", "E"):
        return False
    return not any(letter.isdigit() or letter.isspace() or letter in _PARTS_OF_NUMBERS for letter in sign)


def can_delimit(character: str) -> bool:
    """Whether fields can be set apart by ``character``: one of ASCII that no number and no quotation needs."""
    if len(character) != 1 or not character.isascii() or character in _NEVER_DELIMITERS:
        return False
    return character == "\t" or (character.isprintable() and not character.isalnum())


PLAIN_FORMAT = FileFormat()


def refuse_garbled(line: str, declared: FileFormat) -> None:
    """Refuse a header line of several bytes a letter that is no text of its encoding: it may have run on into rows."""
    several_bytes = declared.encoding != declared.byte_encoding
    # One byte too many or too few turns line ends into letters that no alphabet has.
    if several_bytes and any(letter in "\0\ufffd" or unicodedata.category(letter) == "Cn" for letter in line):
        raise IntakeError.of("header_garbled", encoding=declared.encoding)


TOLD = read_toml(__file__, "vocabulary.toml")
WORDS = {kind: frozenset(said.split()) for kind, said in TOLD.items() if isinstance(said, str)}
PATTERNS = {
    what: re.compile(re.sub("~([a-z]+)~", lambda part: TOLD["parts"][part[1]], written))
    for what, written in TOLD["patterns"].items()
}


def match(what: str, cell: str) -> re.Match[str] | None:
    """How a whole cell is written in the way that has this name, if it is."""
    return PATTERNS[what].fullmatch(cell)


# Cells of one column, as they stand in the file.
_Cells: TypeAlias = Any
# Signs that stand for a minus: the true one, an en dash, hyphens of other widths.
_MINUSES = "\u2212\u2013\u2010\u2011\ufe63\uff0d"
_BLANKS = (*BLANKS, "\t")


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
    """Cells (n,) as numbers written in ``style``, each by itself; whatever is none, or not finite, is NaN."""
    # Most cells need no marks taken off: digits, signs in front and the decimal mark, or nothing.
    is_plain = pc.match_substring_regex(cells, rf"\A[0-9+{style.decimal}-]*\z")
    odd = ~is_plain.to_numpy(zero_copy_only=False)
    try:
        values = _cast(pc.if_else(is_plain, cells, pa.scalar(None, cells.type)) if odd.any() else cells, style)
    except pa.ArrowInvalid:  # digits, signs and marks in an order that makes no number
        odd[:] = True
        values = np.full(len(cells), np.nan)
    if odd.any():
        values = values.copy()
        values[odd] = _cast(_strip_marks(cells.filter(pa.array(odd)), style, encoding), PLAIN_STYLE)
    return np.where(np.isfinite(values), values, np.nan)


def count_numbers(cells: _Cells, style: NumberStyle, encoding: str) -> CellNumbers:
    """The same, with how many cells were empty and how many were no number."""
    values = read_numbers(cells, style, encoding)
    lost = np.isnan(values)
    if not lost.any():
        return CellNumbers(values, Unread())
    kinds = pc.value_counts(cells.filter(pa.array(lost)))
    words, times = kinds.field("values"), kinds.field("counts").to_pylist()
    missing = frozenset(style.missing)
    wrong = [word for word in words.to_pylist() if _read_word(word, encoding, missing) is not None]
    empty = sum(times) - sum(many for word, many in zip(words.to_pylist(), times, strict=True) if word in {*wrong})
    return CellNumbers(values, Unread(empty, sum(times) - empty, cells=tuple(wrong[:CELLS_KEPT])))


def drop_codes(found: CellNumbers, style: NumberStyle) -> CellNumbers:
    """The same without the numbers that are declared to mean missing."""
    coded = np.isin(found.values, [code for code in read_values(style.missing, style) if np.isfinite(code)])
    many = int(np.count_nonzero(coded))
    return CellNumbers(np.where(coded, np.nan, found.values), replace(found.unread, empty=found.unread.empty + many))


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


def _strip_marks(cells: _Cells, style: NumberStyle, encoding: str) -> _Cells:
    """The numbers among ``cells`` without their signs and marks, with a decimal point; null for the others."""
    is_number = pc.match_substring_regex(cells, _make_pattern(style, encoding))
    negative = None
    if style.negative:
        negative = pc.match_substring_regex(cells, _make_pattern(style, encoding, negative=True))
        is_number = pc.or_(is_number, negative)
    bare = pc.if_else(is_number, cells, pa.scalar(None, cells.type))
    for mark in (style.sign, *style.grouping_marks, *_BLANKS):
        bare = _replace(bare, _encode(mark, encoding), b"")
    for mark, plain in (*((minus, b"-") for minus in _MINUSES), (style.decimal, b".")):
        bare = _replace(bare, _encode(mark, encoding), plain)
    bare = pc.replace_substring_regex(bare, rb"\.--?", b".")  # a dash in the place of cents
    if negative is not None:
        amounts = bare
        for beside in (b"(", b")", b"-"):
            amounts = _replace(amounts, beside, b"")
        minus, between = pa.scalar(b"-", bare.type), pa.scalar(b"", bare.type)
        bare = pc.if_else(negative, pc.binary_join_element_wise(minus, amounts, between), bare)
    # Marks that stand within each other could leave something else behind.
    is_plain = pc.match_substring_regex(bare, _make_pattern(PLAIN_STYLE, encoding))
    return pc.if_else(is_plain, bare, pa.scalar(None, bare.type))


def _replace(cells: _Cells, mark: bytes, instead: bytes) -> _Cells:
    return pc.replace_substring(cells, mark, instead) if mark not in (b"", instead) else cells


@lru_cache(maxsize=64)
def _make_pattern(style: NumberStyle, encoding: str, *, negative: bool = False) -> str:
    """A cell that is a number in ``style`` with its sign in front, over its bytes.

    ``negative``: one between parentheses, or with its minus behind, as ``style`` declares it.
    """
    dashes, pad = _join_marks(("-", *_MINUSES), encoding), f"(?:{_join_marks(_BLANKS, encoding)})*"
    mark = _join_marks((style.sign,), encoding)
    sign, behind = (f"(?:{mark}{pad})?", f"(?:{pad}{mark})?") if mark else ("", "")
    if negative and style.negative == "-":  # 5.- has no cents, and is not negative
        return rf"\A{pad}{sign}{_describe_amount(style, encoding, '+')}{behind}{pad}-{behind}{pad}\z"
    amount = _describe_amount(style, encoding, "*", dashes)
    if negative:
        return rf"\A{pad}{sign}\({pad}{sign}{amount}{behind}{pad}\){behind}{pad}\z"
    return rf"\A{pad}{sign}(?:(?:\+|{dashes}){pad})?{sign}{amount}{behind}{pad}\z"


def _describe_amount(style: NumberStyle, encoding: str, times: str, dashes: str = "") -> str:
    """The part of a pattern that is a number without sign, blanks and what stands beside it.

    ``times``: how many digits are behind its decimal mark; one or two of ``dashes`` may stand in their place.
    """
    marks, decimal = _join_marks(style.grouping_marks, encoding), _join_marks((style.decimal,), encoding)
    first, others = ("{1,2}", "{2}") if style.grouping == INDIAN else ("{1,3}", "{3}")
    groups = rf"[0-9]{first}(?:(?:{marks})[0-9]{others})*(?:{marks})[0-9]{{3}}|" if marks else ""
    whole = rf"(?:{groups}[0-9]+)"
    no_cents = rf"|{whole}{decimal}(?:{dashes}){{1,2}}" if dashes else ""
    return rf"(?:(?:{whole}(?:{decimal}[0-9]{times})?|{decimal}[0-9]+)(?:[eE][+-]?[0-9]+)?{no_cents})"


def _join_marks(marks: Iterable[str], encoding: str) -> str:
    """The bytes of one of these marks, as a pattern; nothing where the encoding has none of them."""
    encoded = filter(None, (_encode(mark, encoding) for mark in marks))
    return "|".join("".join(rf"\x{{{byte:02x}}}" for byte in mark) for mark in encoded)


def _encode(mark: str, encoding: str) -> bytes:
    """The bytes of a mark; none where the encoding does not have it."""
    return mark.encode(encoding, errors="ignore")


def read_text(cells: _Cells, encoding: str, missing: frozenset[str] = frozenset()) -> NDArray[np.object_]:
    """Cells of shape (n,), bytes or text, as text without blanks around it, None where a cell is empty or missing."""
    words = np.full(len(cells), None)
    words[:] = [_read_word(cell, encoding, missing) for cell in cells.to_pylist()]
    return words


def _read_word(cell: bytes, encoding: str, missing: frozenset[str]) -> str | None:
    word = cell.decode(encoding, errors="replace").strip()
    return None if word in MISSING or word in missing else word


class Styles(NamedTuple):
    """How columns write their numbers.

    ``by_column`` holds the columns of numbers; ``doubtful`` are those of them in which a mark may be either; ``unread``
    others whose cells mostly begin like numbers; ``mixed`` says of columns what is written in two ways.
    """

    by_column: dict[str, NumberStyle]
    usual: NumberStyle
    doubtful: tuple[str, ...]
    unread: tuple[str, ...]
    mixed: dict[str, str]


class ColumnCells:
    """Cells of the columns of a table; those of all that are written alike are read at once, each different one once.

    A table may have thousands of columns of a few cells, and to read a cell takes less than to begin.
    """

    def __init__(self, columns: Mapping[str, Sequence[str]]) -> None:
        places: dict[str, int] = {}
        self._places = {
            name: np.array([places.setdefault(cell, len(places)) for cell in cells], dtype=np.int64)
            for name, cells in columns.items()
        }
        self._different = pa.array([cell.encode(errors="replace") for cell in places], pa.binary())

    def read(self, styles: Mapping[str, NumberStyle]) -> dict[str, FloatArray]:
        """Each of these columns as numbers (n,) in its style, each by its own cell alone, NaN where a cell is none."""
        alike: dict[NumberStyle, list[str]] = {}
        for name, style in styles.items():
            alike.setdefault(style, []).append(name)
        values: dict[str, FloatArray] = {}
        for style, names in alike.items():
            wanted = np.unique(np.concatenate([self._places[name] for name in names]))
            numbers = read_numbers(self._different.take(pa.array(wanted)), style, "utf-8")
            values |= {name: numbers[np.searchsorted(wanted, self._places[name])] for name in names}
        return {name: values[name] for name in styles}


def guess_styles(cells: Mapping[str, Sequence[str]], delimiter: str) -> Styles:
    """The style of each column that holds numbers, and the most frequent one."""
    present = {name: _list_present(column) for name, column in cells.items()}
    table = ColumnCells(present)
    ways = _read_in_all_ways(table, present, delimiter)
    evidence = {name: _collect_evidence(present[name], read) for name, read in ways.items()}
    for_table = {mark for one in evidence.values() for mark in one}
    decimals = {name: own or (for_table if len(for_table) == 1 else {".", ","}) for name, own in evidence.items()}
    found = {name: _choose_style(read, decimals[name]) for name, read in ways.items()}
    styles = {name: style for name, style in found.items() if style is not None}
    either = [name for name in styles if len(decimals[name]) == 2 and delimiter != ","]
    doubtful = [name for name in either if any(mark in cell for cell in present[name] for mark in ".,")]
    unread = [name for name, column in present.items() if name not in styles and _are_most("like_a_number", column)]
    usual = Counter(styles.values()).most_common(1)[0][0] if styles else PLAIN_STYLE
    own, as_usual = table.read(styles), table.read(dict.fromkeys(styles, usual))
    # Whole numbers fit many styles: where the style of most columns says the same of one, it is that one's.
    same = {name for name in styles if own[name].tobytes() == as_usual[name].tobytes()}
    shared = {name: usual if name in same else style for name, style in styles.items()}
    asked = [name for name in styles if shared[name] != PLAIN_STYLE or np.isnan(own[name]).any()]
    mixed = {name: what for name in asked if (what := _find_mixed(present[name], evidence[name]))}
    return Styles(shared, usual, tuple(doubtful), tuple(unread), mixed)


def _list_present(column: Sequence[str]) -> list[str]:
    """The cells that are there; where the others are one, two or three words, those of a measure that many refused."""
    present = [cell for cell in column if cell.strip() not in MISSING]
    figures = [cell for cell in present if any(map(str.isdigit, cell))]
    few_words = 2 * len(figures) < len(present) and len({cell for cell in present if cell not in {*figures}}) <= 3
    return figures if few_words and len({*figures}) >= 5 else present


def _find_mixed(present: Sequence[str], decimals: set[str]) -> str:
    """What is written in two ways in a column of numbers: a word of the notes."""
    signs = Counter(_read_sign(cell) for cell in present)
    if len({*signs} - {""}) > 1:
        return "signs"
    if signs["%"] and signs[""]:
        return "percent"
    return "decimals" if len(decimals) == 2 else ""


def _read_sign(cell: str) -> str:
    found = match("signed_number", cell.strip())
    return (found["before"] or found["behind"] or "") if found else ""


def _read_in_all_ways(
    table: ColumnCells, present: Mapping[str, Sequence[str]], delimiter: str
) -> dict[str, dict[NumberStyle, Flags]]:
    """Which cells of each column are numbers in which style, the likelier styles first; none of columns of ids."""
    beside = {
        name: (_find_sign(column), _find_negative(column))
        for name, column in present.items()
        if column and not _are_most("long_integer", column)
    }
    ways: dict[str, dict[NumberStyle, Flags]] = {name: {} for name in beside}
    # Decimal and grouping marks, the likelier ones first.
    with_commas = [(".", ","), (",", ""), (",", ".")] if delimiter == "," else [(",", ""), (",", "."), (".", ",")]
    for marks in [(".", ""), *with_commas, (",", " "), (".", " "), (".", "'"), (",", "'"), (".", INDIAN)]:
        styles = {name: NumberStyle(*marks, *own) for name, own in beside.items()}
        for name, values in table.read(styles).items():
            ways[name][styles[name]] = ~np.isnan(values)
    return ways


def _choose_style(ways: Mapping[NumberStyle, Flags], decimals: set[str]) -> NumberStyle | None:
    """Of the styles with one of these decimal marks the one that reads most cells, if these are half of them."""
    best = max([style for style in ways if style.decimal in decimals], key=lambda style: np.count_nonzero(ways[style]))
    return best if 2 * np.count_nonzero(ways[best]) >= len(ways[best]) else None


def _are_most(what: str, present: Sequence[str]) -> bool:
    """Whether more than half of the cells are so written: ids that are long integers, or like numbers."""
    return 2 * sum(match(what, cell.strip()) is not None for cell in present) > len(present)


def count_readable(cells: Sequence[str], style: NumberStyle) -> int:
    """How many cells are numbers in ``style``."""
    return int(np.count_nonzero(~np.isnan(read_values(cells, style))))


def read_values(cells: Sequence[str], style: NumberStyle) -> FloatArray:
    """Cells as numbers, each by itself, NaN where one is none."""
    return read_numbers(pa.array([cell.encode(errors="replace") for cell in cells], pa.binary()), style, "utf-8")


def find_mending_style(cells: Sequence[str], style: NumberStyle) -> NumberStyle | None:
    """Another style than ``style`` that reads most of these cells, which it does not read; None if none does.

    What the column's other cells are written like goes first.
    """
    ways = _read_in_all_ways(ColumnCells({"": cells}), {"": cells}, ";").get("", {})
    others = sorted(ways, key=lambda one: one.decimal != style.decimal)
    near = [style._replace(negative=negative) for negative in ("()", "-")]
    best = max((*near, *others), key=lambda one: count_readable(cells, one))
    return best if 2 * count_readable(cells, best) >= len(cells) > 0 else None


def _collect_evidence(present: Sequence[str], ways: Mapping[NumberStyle, Flags]) -> set[str]:
    """The marks that some cell can only use as the decimal one; none where most cells are words, read in no way."""
    with_point, with_comma = (
        np.logical_or.reduce([read for style, read in ways.items() if style.decimal == mark]) for mark in (".", ",")
    )
    if 2 * np.count_nonzero(with_point | with_comma) < len(present):
        return set()
    only = {".": with_point & ~with_comma, ",": with_comma & ~with_point}
    below_one = {found[1] for cell in present if (found := match("below_one", cell))}
    return {mark for mark, cells in only.items() if cells.any()} | below_one


def _find_sign(cells: Sequence[str]) -> str:
    """What stands beside the number in at least half of the cells: %, $, €, kg; else nothing."""
    signs = Counter(sign for cell in cells if (sign := _read_sign(cell)))
    sign, times = signs.most_common(1)[0] if signs else ("", 0)
    return sign if 2 * times >= len(cells) else ""


def _find_negative(cells: Sequence[str]) -> str:
    """How some cells are made negative, if it is not by a minus in front."""
    amounts = [cell for cell in cells if match("signed_number", cell.strip())]
    if any("(" in cell for cell in amounts):
        return "()"
    return "-" if any(map(PATTERNS["minus_behind"].search, amounts)) else ""


_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


def format_cell(cell: Any) -> Any:
    """A cell that no spreadsheet takes for a formula; a number stays one, in a text too."""
    is_formula = isinstance(cell, str) and cell.startswith(_FORMULA_STARTS) and not _NUMBER.fullmatch(cell)
    return f"'{cell}" if is_formula else cell


def format_csv(lines: Iterable[Iterable[object]]) -> str:
    """Lines of cells as the text of a CSV file; what is no text is written as Python does.

    Parameters
    ----------
    lines : iterable of iterable of object
        Rows of cells.

    Returns
    -------
    str
        Text that no spreadsheet takes for a formula.
    """
    text = io.StringIO(newline="")
    csv.writer(text).writerows([*map(format_cell, line)] for line in lines)
    return text.getvalue()


def format_frame(frame: pd.DataFrame, *, end: str = "\r\n", float_format: str | None = None) -> str:
    """A data frame, without its index, as the text of a CSV file.

    Parameters
    ----------
    frame : DataFrame
        A table.
    end : str
        Of a line.
    float_format : str or None
        How floats are written; None: as Python does.

    Returns
    -------
    str
        Text that no spreadsheet takes for a formula.
    """
    safe = frame.copy()
    for name in (name for name in frame if not pd.api.types.is_numeric_dtype(frame[name])):
        safe[name] = frame[name].map(format_cell, na_action="ignore")
    safe.columns = pd.Index([format_cell(str(name)) for name in frame])
    return safe.to_csv(index=False, lineterminator=end, float_format=float_format)


def format_names(names: Sequence[str]) -> str:
    """Names with commas between them, as they are: for a field of a form, not for a file."""
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="").writerow(names)
    return text.getvalue()
