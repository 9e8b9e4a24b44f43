"""What a column seems to hold, by its name first and its cells second: a measure, an id, a code, a date, categories.

A guess for the owner of a file, out of a look at its rows; it becomes a declaration by the owner's click only. Its
words hold no cell.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

import numpy as np

from dpviz.tables.cell_values import MISSING
from dpviz.tables.loaded_table import FloatArray

MEASURE, ID, CODE, GROUP, DATE, CYCLE = "measure", "id", "code", "group", "date", "cycle"
ORDER, YES_NO, CATEGORIES, TEXT = "order", "yes_no", "categories", "text"
"""Kinds of columns. A cycle is a measure that goes round; a group is a known grouping, which only judges results."""

# The words that a name ends with, or holds.
_ID_WORDS = frozenset(
    ("id", "ids", "uid", "uuid", "guid", "pid", "identifier", "kennung", "identifiant", "key", "index")
)
_NUMBER_WORDS = frozenset(("no", "nr", "num", "number", "nummer", "numero", "code", "key", "n"))
_WHOSE = (
    *("person", "patient", "user", "customer", "cust", "client", "member", "employee", "emp", "student", "pupil"),
    *("subject", "participant", "respondent", "case", "record", "row", "line", "account", "household", "hh", "donor"),
    *("passenger", "voter", "player", "visitor", "session", "device", "kunde", "kunden", "mitglied", "fall", "zeile"),
    *("invoice", "order", "transaction", "trip", "loan", "policy", "claim", "contract", "ticket", "visit", "study"),
)
_GLUED_ID = re.compile(rf"({'|'.join(_WHOSE)})(id|no|nr|num|number|nummer)")
_NO_NAME = re.compile(r"(unnamed:?\s*\d*|column_1|index|row|#|)", re.IGNORECASE)
_GROUP_WORDS = frozenset(("label", "labels", "class", "cluster", "target", "segment"))
_CODE_WORDS = frozenset(
    (
        *("code", "codes", "zip", "zipcode", "plz", "postcode", "postalcode", "postal", "pin", "pincode", "fips"),
        *("ags", "nuts", "lau", "insee", "isbn", "ean", "gtin", "iban", "bic", "ssn", "phone", "tel", "telephone"),
        *("mobile", "fax", "telefon", "hash", "ward", "tract", "precinct", "district", "bezirk", "kreis", "gemeinde"),
        *("commune", "municipality", "county", "region", "state", "country", "sku", "article", "artikel", "icd"),
        *("naics", "nace", "sic", "isco", "siren", "siret", "sector", "branch", "store"),
    )
)
# What people average: digits alone do not make a code of it.
_MEASURE_WORDS = frozenset(
    (
        *("salary", "income", "wage", "wages", "pay", "price", "amount", "cost", "costs", "revenue", "sales", "profit"),
        *("balance", "limit", "bal", "amt", "fee", "fare", "rent", "loan", "debt", "value", "total", "sum", "budget"),
        *("odometer", "mileage", "distance", "population", "area", "weight", "height", "steps", "calories", "views"),
        *("einkommen", "gehalt", "lohn", "preis", "betrag", "umsatz", "kosten", "miete", "einwohner", "flaeche"),
        *("fläche", "prix", "revenu", "salaire", "montant", "valor", "preco", "preço", "pris", "year", "years", "jahr"),
    )
)
# A measure that goes round, and the range that says so.
_CYCLES: Mapping[str, tuple[float, float, float]] = {
    **dict.fromkeys(("hour", "hours", "hr", "stunde", "heure"), (0, 24, 24)),
    **dict.fromkeys(("month", "monat", "mois"), (1, 12, 12)),
    **dict.fromkeys(("weekday", "dow", "dayofweek", "wochentag"), (0, 7, 7)),
    **dict.fromkeys(("angle", "direction", "bearing", "heading", "azimuth", "winkel", "richtung"), (-180, 360, 360)),
}
# Scales that everybody knows: their order is read nowhere.
SCALES: tuple[tuple[str, ...], ...] = (
    ("low", "medium", "high"),
    ("very low", "low", "medium", "high", "very high"),
    ("small", "medium", "large"),
    ("xs", "s", "m", "l", "xl", "xxl"),
    ("i", "ii", "iii", "iv", "v"),
    ("never", "rarely", "sometimes", "often", "always"),
    ("poor", "fair", "good", "very good", "excellent"),
    ("strongly disagree", "disagree", "neutral", "agree", "strongly agree"),
    ("very dissatisfied", "dissatisfied", "neutral", "satisfied", "very satisfied"),
    ("none", "mild", "moderate", "severe"),
    ("primary", "secondary", "tertiary"),
    ("niedrig", "mittel", "hoch"),
    ("nie", "selten", "manchmal", "oft", "immer"),
)
_YES_NO = (("false", "true"), ("no", "yes"), ("nein", "ja"), ("non", "oui"), ("n", "y"), ("f", "t"))

_ISO = re.compile(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})([T\s].*)?")
_DAY_FIRST = re.compile(r"(\d{1,2})[-/.](\d{1,2})[-/.](\d{4}|\d{2})([T\s].*)?")
_DIGITS = re.compile(r"(\d{4})(\d{2})(\d{2})")
_WHOLE = re.compile(r"[+-]?\d+(\.0*)?")
_CODE_OF_DIGITS = re.compile(r"[+\d][\d\s()/-]{5,}")
_LEADING_NOUGHT = re.compile(r"0\d{3,}")
_MOST = 0.9
_FEW_VALUES, _RUNNING, _FEW_ROWS = 20, 20, 4


@dataclass(frozen=True)
class ColumnKind:
    """What one column seems to hold."""

    kind: str
    repeats: bool = False
    period: float | None = None
    values: tuple[str, ...] = field(default=(), repr=False)
    written: str = ""

    @property
    def form(self) -> Mapping[str, Any] | None:
        """What it would be declared as besides bounds (see ``read_coding``); of dates the ends are left open.

        None where nothing but bounds is declared of it, or nobody could say what.
        """
        if self.kind == CYCLE and self.period is not None:
            return {"cycle": self.period}
        if self.kind == DATE and self.written:
            return {"dates": [], "written": self.written}
        if self.kind == ORDER:
            return {"order": list(self.values)}
        if self.kind not in (YES_NO, CATEGORIES) or not self.values:
            return None
        return {"categories": list(self.values), **({"closed": True} if self.kind == YES_NO else {})}

    @property
    def is_measure(self) -> bool:
        """Whether it is clustered as a number."""
        return self.kind in (MEASURE, CYCLE)

    @property
    def is_text(self) -> bool:
        """Whether its cells are read as text even if they are digits: ids, dates."""
        return self.kind in (ID, DATE, ORDER, YES_NO, CATEGORIES, TEXT)


def guess_kind(name: str, cells: Sequence[str], values: FloatArray | None, *, first: bool = False) -> ColumnKind:
    """What a column seems to hold."""
    present = [cell.strip() for cell in cells if cell.strip() not in MISSING]
    numbers = np.empty(0) if values is None else values[~np.isnan(values)]
    words = split_name(name)
    whole = bool(len(numbers)) and bool((numbers == np.floor(numbers)).all())
    if present and sounds_like_an_id(name) and (values is None or whole):
        return ColumnKind(ID, repeats=len(set(present)) < len(present))
    if whole and len(numbers) >= _FEW_ROWS and _NO_NAME.fullmatch(name.strip()) and _is_running(numbers):
        return ColumnKind(ID)
    if _are_most(present, _is_a_date) or (_are_most(present, _is_a_date_of_digits) and words[-1] not in _MEASURE_WORDS):
        return ColumnKind(DATE, written=_guess_order_of_dates(present))
    named_code = not _CODE_WORDS.isdisjoint(words)
    if values is None:
        return (
            ColumnKind(CODE)
            if named_code and _are_most(present, _CODE_OF_DIGITS.fullmatch)
            else _guess_kind_of_text(present, words)
        )
    if words[-1] in _GROUP_WORDS:
        return ColumnKind(GROUP)
    if named_code and (whole or not len(numbers)):
        return ColumnKind(CODE)
    if _are_most(present, _LEADING_NOUGHT.fullmatch) or (
        any(map(_LEADING_NOUGHT.fullmatch, present)) and len({*map(len, present)}) == 1
    ):
        return ColumnKind(CODE)
    if first and whole and len(numbers) >= _RUNNING and _is_running(numbers):
        return ColumnKind(ID)
    return _guess_measure(words, numbers)


def split_name(name: str) -> list[str]:
    """The words of a name in lower case, however they are set apart; one empty word for a name without any.

    >>> split_name("CustomerID"), split_name("user-id"), split_name("Person No")
    (['customer', 'id'], ['user', 'id'], ['person', 'no'])
    """
    apart = re.sub(r"(?<=[a-zäöüß0-9])(?=[A-ZÄÖÜ])|(?<=[A-Z])(?=[A-Z][a-z])", " ", name)
    return [word for word in re.split(r"[\W_]+", apart.lower()) if word] or [""]


def sounds_like_an_id(name: str) -> bool:
    """Whether a column is named like one that says whose, or which, a row is.

    >>> [sounds_like_an_id(name) for name in ("CUST_ID", "userId", "patientid", "Person No", "row_number", "InvoiceNo")]
    [True, True, True, True, True, True]
    >>> [sounds_like_an_id(name) for name in ("humid", "paid", "valid", "number of rooms", "acid", "grid")]
    [False, False, False, False, False, False]
    """
    words = split_name(name)
    if words[-1] in _ID_WORDS or "id" in words[:1] or _GLUED_ID.fullmatch("".join(words)):
        return True
    return len(words) == 2 and words[0] in _WHOSE and words[1] in _NUMBER_WORDS


def is_no_measure(name: str) -> bool:
    """Whether a column sounds like an id, a known grouping or a code rather than a measurement.

    >>> [is_no_measure(name) for name in ("person_id", "PLZ", "zip code", "postCode", "age", "hours")]
    [True, True, True, True, False, False]
    """
    words = split_name(name)
    return sounds_like_an_id(name) or words[-1] in _GROUP_WORDS or not _CODE_WORDS.isdisjoint(words)


def _guess_measure(words: Sequence[str], numbers: FloatArray) -> ColumnKind:
    for word in words:
        if word in _CYCLES and len(numbers):
            low, high, period = _CYCLES[word]
            if low <= numbers.min() and numbers.max() <= high and not {"per", "worked", "total"} & {*words}:
                return ColumnKind(CYCLE, period=period)
    return ColumnKind(MEASURE)


def _guess_kind_of_text(present: Sequence[str], words: Sequence[str]) -> ColumnKind:
    kinds = {cell.casefold() for cell in present}
    if not kinds:
        return ColumnKind(TEXT)
    pair = next((pair for pair in _YES_NO if kinds <= {*pair}), None)
    if pair is not None and len({*present}) == len(kinds):
        return ColumnKind(YES_NO, values=_spell_like(pair, present))
    scale = next((scale for scale in SCALES if kinds <= {*scale} and len(kinds) > 1), None)
    if scale is not None:
        written = {cell.casefold(): cell for cell in present}
        return ColumnKind(ORDER, values=tuple(written.get(step, step) for step in scale))
    if words[-1] in _GROUP_WORDS:
        return ColumnKind(GROUP)
    different = dict.fromkeys(sorted(present))
    if len(different) <= _FEW_VALUES and 2 * len(different) <= len(present):
        return ColumnKind(CATEGORIES, values=tuple(different))
    return ColumnKind(TEXT)


def _spell_like(steps: Sequence[str], present: Sequence[str]) -> tuple[str, ...]:
    """All ``steps`` of a scale in the letters of those that are there: YES beside NO."""
    written = {cell.casefold(): cell for cell in present}
    like = next(iter(written.values()))
    change = str.upper if like.isupper() else str.capitalize if like[:1].isupper() else str.lower
    return tuple(written.get(step, change(step)) for step in steps)


def _guess_order_of_dates(present: Sequence[str]) -> str:
    """How most dates are written; "" where their years have two digits, which nobody can read surely."""
    if sum(bool(_ISO.fullmatch(cell) or _DIGITS.fullmatch(cell)) for cell in present) * 2 > len(present):
        return "ymd"
    parts = [found for cell in present if (found := _DAY_FIRST.fullmatch(cell)) is not None]
    if sum(len(found[3]) == 2 for found in parts) * 2 > len(parts):
        return ""
    months_second = sum(int(found[1]) > 12 for found in parts)
    days_second = sum(int(found[2]) > 12 for found in parts)
    if months_second == days_second:
        return "mdy" if parts and "/" in parts[0][0] and not months_second else "dmy"
    return "dmy" if months_second > days_second else "mdy"


def _is_running(numbers: FloatArray) -> bool:
    """Whether numbers count rows: one more each, from 0 or 1."""
    return len(numbers) > 1 and numbers[0] in (0, 1) and bool((np.diff(numbers) == 1).all())


def _are_most(cells: Sequence[str], is_one: object) -> bool:
    assert callable(is_one)
    return bool(cells) and sum(bool(is_one(cell)) for cell in cells) >= _MOST * len(cells)


def _is_a_date(cell: str) -> bool:
    if (iso := _ISO.fullmatch(cell)) is not None:
        return _is_a_day(int(iso[1]), int(iso[2]), int(iso[3]))
    if (other := _DAY_FIRST.fullmatch(cell)) is None:
        return False
    year = int(other[3]) + (2000 if len(other[3]) == 2 else 0)
    return _is_a_day(year, int(other[2]), int(other[1])) or _is_a_day(year, int(other[1]), int(other[2]))


def _is_a_date_of_digits(cell: str) -> bool:
    digits = _DIGITS.fullmatch(cell)
    return digits is not None and 1850 <= int(digits[1]) <= 2150 and _is_a_day(*map(int, digits.groups()))


def _is_a_day(year: int, month: int, day: int) -> bool:
    try:
        date(year, month, day)
    except ValueError:
        return False
    return True
