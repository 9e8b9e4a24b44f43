"""What a column seems to hold: evidence with weights, from the words of its name and from its cells.

Each line of ``_EVIDENCE`` that is true of a column adds its weight to one kind; the heaviest kind is proposed, the next
one is the second. A weight says how surely the evidence alone means the kind: 1 is a usual guess, 5 is nearly a proof.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, Literal

import numpy as np

from dpviz.tables.codings import DATE_ORDERS, find_day
from dpviz.tables.file_format import TOLD, WORDS, match
from dpviz.tables.loaded_table import MISSING, FloatArray

Kind = Literal["measure", "cycle", "id", "code", "group", "date", "order", "yes_no", "categories", "text"]
"""Kinds of columns. A cycle is a measure that goes round; a group is a known grouping, which only judges results."""

_WHOSE = WORDS["person"] | WORDS["thing"]
_SCALES, _YES_NO = ([tuple(steps.split(", ")) for steps in TOLD["scales"][key]] for key in ("steps", "pairs"))
_GLUED_ID = re.compile(rf"({'|'.join(sorted(_WHOSE))})(id|no|nr|num|number|nummer)")
_MOST, _FEW_VALUES, _RUNNING, _FEW_ROWS = 0.9, 20, 20, 3


@dataclass(frozen=True)
class ColumnKind:
    """What one column seems to hold, what is second likeliest, and why."""

    kind: Kind
    repeats: bool = False
    period: float | None = None
    values: tuple[str, ...] = field(default=(), repr=False)
    written: str = ""
    second: str = ""
    why: str = ""
    weight: float = 0.0
    of_figures: bool = False

    @property
    def form(self) -> Mapping[str, Any] | None:
        """What it would be declared as besides bounds (see ``read_coding``); of dates the ends are left open.

        None where nothing but bounds is declared of it, or nobody could say what.
        """
        if self.kind == "cycle" and self.period is not None:
            return {"cycle": self.period}
        if self.kind == "date" and self.written:
            return {"dates": [], "written": self.written}
        if self.kind == "order":
            return {"order": list(self.values)}
        if self.kind not in ("yes_no", "categories") or not self.values:
            return None
        return {"categories": list(self.values), **({"closed": True} if self.kind == "yes_no" else {})}

    @property
    def is_text(self) -> bool:
        """Whether its cells are read as text even if they are digits: ids, dates."""
        return self.kind in ("id", "date", "order", "yes_no", "categories", "text") and not self.of_figures


@dataclass(frozen=True)
class _Column:
    """What evidence looks at: the name, the cells that are there, and their numbers if most are."""

    name: str
    cells: Sequence[str]
    values: FloatArray | None
    first: bool

    @cached_property
    def present(self) -> list[str]:
        return [cell.strip() for cell in self.cells if cell.strip() not in MISSING]

    @cached_property
    def different(self) -> set[str]:
        return {*self.present}

    @cached_property
    def words(self) -> list[str]:
        return split_name(self.name)

    @cached_property
    def numbers(self) -> FloatArray:
        return np.empty(0) if self.values is None else self.values[~np.isnan(self.values)]

    @cached_property
    def whole(self) -> bool:
        return len(self.numbers) > 0 and bool((self.numbers == np.floor(self.numbers)).all())

    @property
    def has_points(self) -> bool:
        return len(self.numbers) > 0 and not self.whole

    @property
    def read(self) -> bool:
        """Whether most of its cells are numbers."""
        return self.values is not None

    @property
    def is_key(self) -> bool:
        return self.whole or not self.read

    @cached_property
    def counts(self) -> int:
        """How far it counts rows, one more each, from 0 or 1; 0 where it does not."""
        numbers = self.numbers
        return len(numbers) if len(numbers) and numbers[0] in (0, 1) and (np.diff(numbers) == 1).all() else 0

    def is_named(self, kind: str) -> bool:
        return not WORDS[kind].isdisjoint(self.words)

    @property
    def names_a_code(self) -> bool:
        """Whether its name is that of a code; the last word decides: county_income is no county."""
        return self.is_named("code") and self.words[-1] not in WORDS["measure"]

    @cached_property
    def few(self) -> bool:
        """Whether a few values come again and again."""
        return 0 < len(self.different) <= _FEW_VALUES and 2 * len(self.different) <= len(self.present)

    @property
    def is_numbered(self) -> object:
        """Whether whole numbers are large and of many values, as those of people are."""
        many = len(self.different) >= min(10, len(self.cells))
        return self.whole and many and float(np.abs(self.numbers).max()) >= 100

    @cached_property
    def bands(self) -> list[str]:
        """Its different cells by the number that they begin with; none where one begins with none, or is one."""
        few = self.different if 1 < len(self.different) <= _FEW_VALUES else ()
        found = [(band, cell) for cell in few if (band := match("band", cell))]
        ranges = [bool(band["below"] or band["above"] or match("range", band["rest"])) for band, _ in found]
        labels = [any(map(str.isalpha, band["rest"])) for band, _ in found]
        if len(found) < len(few) or not (all(ranges) or (self.few and all(map(max, ranges, labels)))):
            return []
        return [cell for _, cell in sorted(found, key=lambda one: (_find_start(one[0]), one[1]))]

    def are_most(self, is_one: str | Callable[[str], object]) -> bool:
        """Whether nearly all cells are such, or so written."""
        check = partial(match, is_one) if isinstance(is_one, str) else is_one
        some = self.present[:: max(1, len(self.present) // _FEW_VALUES)]  # most columns are none, and this shows it
        if not self.present or 2 * sum(map(bool, map(check, some))) < len(some):
            return False
        return sum(map(bool, map(check, self.present))) >= _MOST * len(self.present)

    def lies(self, low: float, high: float) -> bool:
        """Whether all its numbers, which are whole, lie between."""
        return self.whole and low <= float(self.numbers.min()) and float(self.numbers.max()) <= high


_EVIDENCE: tuple[tuple[Kind, float, str, Callable[[_Column], object]], ...] = (
    ("measure", 2, "numbers", lambda one: one.read),
    ("measure", 0.5, "different numbers", lambda one: one.read and len(one.different) > 1),
    ("measure", 1, "numbers with a point", lambda one: one.has_points),
    ("measure", 4, "the name of a measure", lambda one: one.read and one.words[-1] in WORDS["measure"]),
    ("measure", 2, "a number of something", lambda one: one.read and one.words[-1] in ("num", "n")),
    ("text", 1, "words", lambda one: not one.read),
    ("id", 6, "the name of an id", lambda one: one.present and one.is_key and sounds_like_an_id(one.name)),
    ("id", 5, "the name of a person, and many values", lambda one: one.is_numbered and one.is_named("person")),
    ("id", 6, "no name, and one more each", lambda one: one.counts >= _FEW_ROWS and match("no_name", one.name.strip())),
    ("id", 3, "the first column, and one more each", lambda one: one.first and one.counts >= _RUNNING),
    ("id", 4, "digits that no number holds", lambda one: one.are_most("long_digits")),
    ("id", 6, "addresses", lambda one: one.are_most("address")),
    ("date", 8, "dates", lambda one: one.are_most(lambda cell: not cell.isdecimal() and _list_orders(cell))),
    ("date", 4, "dates of eight digits", lambda one: one.are_most("date_of_digits")),
    ("date", 7, "dates in words, or months", lambda one: not one.read and one.are_most("date_in_words")),
    ("date", 4, "seconds since 1970", lambda one: one.is_named("time") and one.lies(6e8, 2.5e9)),
    ("date", 4, "milliseconds since 1970", lambda one: one.is_named("time") and one.lies(6e11, 2.5e12)),
    ("date", 1.5, "as large as seconds since 1970", lambda one: one.lies(1e9, 2.5e9)),
    ("date", 4, "days of a spreadsheet", lambda one: one.words[-1] in WORDS["date"] and one.lies(10_000, 60_000)),
    ("group", 4.5, "the name of a known grouping", lambda one: one.words[-1] in WORDS["group"]),
    ("code", 5, "the name of a code", lambda one: one.names_a_code and one.read and not one.has_points),
    ("code", 5, "the name of a code", lambda one: one.names_a_code and one.are_most("code_of_digits")),
    ("code", 4, "digits that begin with a nought", lambda one: one.read and _begin_with_noughts(one.present)),
    ("code", 4, "digits, an E and digits", lambda one: one.are_most("part_number")),
    ("cycle", 4, "they go round", lambda one: one.read and _find_period(one)),
    ("yes_no", 6, "yes and no", lambda one: not one.read and _find_pair(one)),
    ("order", 5, "steps of a known scale", lambda one: not one.read and _find_scale(one)),
    ("order", 4, "bands, by the number that begins them", lambda one: not one.read and one.bands),
    ("categories", 2, "few different words", lambda one: not one.read and one.few),
    ("categories", 4, "the name of a category", lambda one: one.whole and one.few and one.is_named("category")),
    ("categories", 1, "few whole numbers", lambda one: one.whole and one.few and len(one.different) <= 7),
)


def guess_kind(name: str, cells: Sequence[str], values: FloatArray | None, *, first: bool = False) -> ColumnKind:
    """What a column seems to hold."""
    column = _Column(name, cells, values, first)
    weights: dict[Kind, float] = {}
    why: dict[Kind, list[str]] = {}
    for kind, weight, reason, holds in _EVIDENCE:
        if holds(column):
            weights[kind] = weights.get(kind, 0) + weight
            why.setdefault(kind, []).append(reason)
    kind, *others = sorted(weights, key=lambda one: -weights[one])
    return ColumnKind(
        kind,
        repeats=kind == "id" and len(column.different) < len(column.present),
        period=_find_period(column) if kind == "cycle" else None,
        values=_list_values(kind, column),
        written=_guess_order_of_dates(column.present) if kind == "date" else "",
        second=others[0] if others else "",
        why=", ".join(why[kind]),
        weight=weights[kind],
        of_figures=kind == "categories" and column.read,
    )


def _list_values(kind: Kind, column: _Column) -> tuple[str, ...]:
    """The values that a column of a kind would be declared with."""
    if kind == "yes_no":
        return _find_pair(column)
    if kind == "order":
        return _find_scale(column) or tuple(column.bands)
    return tuple(sorted(column.different, key=_sort_numbers_first)) if kind == "categories" and column.few else ()


def split_name(name: str) -> list[str]:
    """The words of a name in lower case, however they are set apart; one empty word for a name without any."""
    apart = re.sub(r"(?<=[a-zäöüß0-9])(?=[A-ZÄÖÜ])|(?<=[A-Z])(?=[A-Z][a-z])", " ", name)
    return [word for word in re.split(r"[\W_]+", apart.lower()) if word] or [""]


def sounds_like_an_id(name: str) -> bool:
    """Whether a column is named like one that says whose, or which, a row is."""
    words = split_name(name)
    if words[-1] in WORDS["id"] or "id" in words[:1] or _GLUED_ID.fullmatch("".join(words)):
        return True
    return len(words) == 2 and words[0] in _WHOSE and words[1] in WORDS["number"]


def names_a_person(name: str) -> bool:
    """Whether a column is named like the people that rows are about."""
    return not WORDS["person"].isdisjoint(split_name(name))


def is_no_measure(name: str) -> bool:
    """Whether a column sounds like an id, a known grouping or a code rather than a measurement."""
    column = _Column(name, (), None, first=False)
    return sounds_like_an_id(name) or column.words[-1] in WORDS["group"] or column.names_a_code


def _find_period(column: _Column) -> float | None:
    """After how much a measure goes round, by its name and its range."""
    if {"per", "worked", "total"} & {*column.words} or not len(column.numbers):
        return None
    rounds, words = TOLD["cycle"], (*column.words, "".join(column.words))
    for low, high, period in (rounds[word] for word in words if word in rounds):
        if low <= column.numbers.min() and column.numbers.max() <= high:
            return float(period)
    return None


def _find_pair(column: _Column) -> tuple[str, ...]:
    """No and yes, in the letters of those that are there."""
    kinds = {cell.casefold() for cell in column.different}
    pair = next((pair for pair in _YES_NO if kinds and kinds <= {*pair}), ())
    return _spell_like(pair, column.present) if pair and len(column.different) == len(kinds) else ()


def _find_scale(column: _Column) -> tuple[str, ...]:
    kinds = {cell.casefold() for cell in column.different}
    scale = next((scale for scale in _SCALES if len(kinds) > 1 and kinds <= {*scale}), ())
    return _spell_like(scale, column.present)


def _spell_like(steps: Sequence[str], present: Sequence[str]) -> tuple[str, ...]:
    """All ``steps`` of a scale in the letters of those that are there: YES beside NO."""
    written = {cell.casefold(): cell for cell in present}
    like = next(iter(written.values()), "")
    change = str.upper if like.isupper() else str.capitalize if like[:1].isupper() else str.lower
    return tuple(written.get(step, change(step)) for step in steps)


def _find_start(match: re.Match[str]) -> float:
    """Where a band begins: one below a number before it, one above behind it."""
    digits = re.sub(r"[,']", "", match["number"]).rstrip(".")
    beside = -0.5 if match["below"] else 0.5 if match["above"] else 0.0
    return float(digits if digits.count(".") < 2 else digits.replace(".", "")) + beside


def _sort_numbers_first(cell: str) -> tuple[float, str]:
    return (float(cell) if cell.isdecimal() and len(cell) < 16 else np.inf, cell)


def _begin_with_noughts(present: Sequence[str]) -> bool:
    led = [cell for cell in present if match("leading_nought", cell)]
    return len(led) >= _MOST * max(1, len(present)) or (bool(led) and len({*map(len, present)}) == 1)


def _list_orders(cell: str) -> set[str]:
    """The orders of day, month and year in which a cell is a date, whose year may have two digits."""
    short = match("short_year", cell)
    written = f"{short[1]}20{short[2]}" if short else cell
    return {order for order in DATE_ORDERS if np.isfinite(find_day(written, order))}


def _guess_order_of_dates(present: Sequence[str]) -> str:
    """How most dates are written; "" where they are read in no order: words, or years of two digits."""
    told = Counter(order for cell in present if not match("short_year", cell) for order in _list_orders(cell))
    likelier = ("ymd", "mdy", "dmy") if "/" in present[0] else ("ymd", "dmy", "mdy")
    best = max(likelier, key=lambda order: told[order])
    return best if 2 * told[best] > len(present) else ""


def may_be_either(present: Sequence[str]) -> bool:
    """Whether dates do not say which of two numbers is the month, or say both."""
    orders = [_list_orders(cell.strip()) - {"ymd"} for cell in present]
    return any(orders) and ({"dmy"} in orders) == ({"mdy"} in orders)
