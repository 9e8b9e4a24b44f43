"""How the bytes of a file are to be read: declared, never worked out from its rows."""

from __future__ import annotations

import codecs
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, NamedTuple

from dpviz.core import check
from dpviz.tables.loaded_table import IntakeError
from dpviz.words import INLINE, Key

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

_DECIMALS = (".", ",")
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
        if self.decimal not in _DECIMALS:
            raise IntakeError.of("decimal", decimal=self.decimal)
        if self.grouping not in _GROUPINGS or self.decimal in self.grouping_marks:
            allowed = ", ".join(f'"{name}"' for name, marks in _GROUPINGS.items() if self.decimal not in marks)
            raise IntakeError.of("grouping", grouping=self.grouping, allowed=allowed)
        if not _can_be_stripped(self.sign):
            raise IntakeError.of("sign", sign=self.sign, most=_LONGEST_SIGN)
        if self.negative not in NEGATIVES:
            raise IntakeError.of("negative", negative=self.negative)
        if len(self.missing) > _MOST_CODES or not all(
            code.strip() and len(code) <= _LONGEST_CODE and code.isprintable() for code in self.missing
        ):
            raise IntakeError.of("missing_codes", most=_MOST_CODES, longest=_LONGEST_CODE)
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
        if self.quote not in QUOTES:
            raise IntakeError.of("quote", quote=self.quote)
        if self.header is False and not self.names:
            raise IntakeError.of("no_names")
        if self.header is False and self.encoding in _MARKED:
            raise IntakeError.of("marked_encoding", encoding=self.encoding)
        if not 0 <= self.skip <= MOST_SKIPPED:
            raise IntakeError.of("skip", skip=self.skip, most=MOST_SKIPPED)
        if self.units_line and self.header is False:
            raise IntakeError.of("units_without_header")
        if len(self.names) > MAX_COLUMNS:
            raise IntakeError.of("too_many_names", many=len(self.names), most=MAX_COLUMNS)
        if len(set(self.names)) < len(self.names) or not all(map(_is_a_name, self.names)):
            raise IntakeError.of("names_wrong")
        for style in (self.style, *self.styles.values()):
            style.validate()
        unknown = [name for name in self.styles if self.names and name not in self.names]
        if unknown:
            raise IntakeError.of("styles_without_names", unknown=unknown)

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
        usual = "utf-8, utf-16, cp1252 and iso8859-1"
        raise IntakeError.of("encoding", name=name, usual=usual)
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
    """Refuse a header line of several bytes a letter that is no text of its encoding: it may have run on into rows.

    One byte too many or too few turns line ends into letters that no alphabet has.
    """
    several_bytes = declared.encoding != declared.byte_encoding
    if several_bytes and any(letter in "\0\ufffd" or unicodedata.category(letter) == "Cn" for letter in line):
        raise IntakeError.of("header_garbled", encoding=declared.encoding)
