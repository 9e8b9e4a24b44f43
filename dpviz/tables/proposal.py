"""How a file seems to be written, and what a column seems to hold, by its name first and its cells second.

It is a proposal to the owner of a file, worked out from its first rows; its words hold no cell, and nothing reads a
file by it. To look at rows in order to declare how rows are read is a look like any other: on a private file it is
counted, and the owner declares what was proposed, or something else. The page and the command line make a declaration
of a proposal in one way, ``Proposal.join_to``, so that what its notes say is what happens.

"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any

import numpy as np

from dpviz.tables.cell_values import MISSING
from dpviz.tables.csv_intake import NO_CSV, CsvFile
from dpviz.tables.declarations import LONGEST_UNIT, NO_BOUNDS, Declaration
from dpviz.tables.file_format import PLAIN_STYLE, FileFormat
from dpviz.tables.first_lines import read_first_lines
from dpviz.tables.loaded_table import USUAL_LABEL, FloatArray, IntakeError
from dpviz.tables.number_cells import ColumnCells, Styles, guess_styles
from dpviz.words import doorways, foreign, list_names

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


AS_NAMES = "The first line is read as names: whether it is a row cannot be told from it."
MOST_CHOSEN = 12
"""Where more columns than this are measures, none is chosen: their owner says which."""


@dataclass(frozen=True)
class Proposal:
    """What the first rows look like.

    * ``names``: all columns.
    * ``numbers``, ``text``: which of them are read as numbers, and which as text: ids, dates, labels.
    * ``notes``: what was found, in sentences; no cell is quoted.
    * ``kinds``: what each column seems to hold; of a column without one its name says whether it is a measure.
    * ``other``: the other reading of the first line, where it may hold names or be a row.
    * ``units``: units that stand in a line of their own.
    """

    file: FileFormat
    names: tuple[str, ...]
    numbers: tuple[str, ...]
    text: tuple[str, ...]
    notes: tuple[str, ...]
    kinds: Mapping[str, ColumnKind] = field(default_factory=dict, hash=False)
    other: FileFormat | None = None
    units: Mapping[str, str] = field(default_factory=dict, hash=False, repr=False)

    @property
    def codes(self) -> tuple[str, ...]:
        """Number columns that look like codes: they are not proposed to be clustered."""
        return self._list_of_kind(CODE)

    @property
    def ids(self) -> tuple[str, ...]:
        """Columns that may say whose a row is."""
        return self._list_of_kind(ID)

    @property
    def measures(self) -> tuple[str, ...]:
        """Number columns that are measured, and none of the others."""
        return tuple(name for name in self.numbers if self._is_measure(name))

    def _is_measure(self, name: str) -> bool:
        return self.kinds[name].is_measure if name in self.kinds else not is_no_measure(name)

    def _list_of_kind(self, kind: str) -> tuple[str, ...]:
        return tuple(name for name in self.names if name in self.kinds and self.kinds[name].kind == kind)

    def list_forms(self, declaration: Declaration) -> dict[str, Mapping[str, Any]]:
        """What columns would be declared as besides bounds, where ``declaration`` says nothing of the kind yet."""
        taken = (*declaration.codings, declaration.id_column, declaration.label_column)
        forms = {name: self.kinds[name].form for name in self.names if name in self.kinds and name not in taken}
        return {name: form for name, form in forms.items() if form is not None}

    def join_to(self, declaration: Declaration, *, confirmed: Sequence[str] = ()) -> Declaration:
        """``declaration`` with the file read as proposed; columns that were chosen stay where they hold numbers.

        Where none was, the measures are, if they are few. Columns that their owner has ``confirmed`` are declared as
        proposed, too: as categories, ranks, yes or no, or a cycle.
        """
        joined = self._join_reading(declaration)
        forms = self.list_forms(joined)
        for name in confirmed:
            if name not in forms:
                raise IntakeError(
                    f"Nothing but bounds is proposed of {list_names([name])}: declare it, or leave it out."
                )
            if "dates" in forms[name]:
                raise IntakeError(
                    f"{list_names([name])} holds dates, and between which ones is for its owner to say: write "
                    f'{{"dates": ["2015-01-01", "2024-12-31"], "written": "{forms[name]["written"]}"}} under "bounds".'
                )
            joined = joined.with_coding(name, forms[name])
        return joined

    def _join_reading(self, declaration: Declaration) -> Declaration:
        others = (declaration.id_column, declaration.label_column, *declaration.describe)
        chosen = [name for name in declaration.columns if name in self.numbers]
        measures = [name for name in self.measures if name not in others]
        if not chosen and len(measures) <= MOST_CHOSEN:
            chosen = measures
        bounded = declaration.with_bounds(chosen, [declaration.bounds.get(name, NO_BOUNDS) for name in chosen])
        known_id = declaration.id_column in self.names
        label = declaration.label_column
        return replace(
            bounded,
            file=self.file,
            numbers=self.numbers if self.text else (),
            units={**self.units, **declaration.units},
            id_column=declaration.id_column if known_id else None,
            rows_per_person=declaration.rows_per_person if known_id else 1,
            label_column=label if label in (*self.names, "") else self._guess_label(chosen),
            proposed=True,
        )

    def _guess_label(self, chosen: Sequence[str]) -> str | None:
        return USUAL_LABEL if USUAL_LABEL in self.names and USUAL_LABEL not in chosen else None


def propose(file: CsvFile, *, reading: FileFormat | None = None) -> Proposal:
    """How ``file`` seems to be written, from its first thousand rows.

    Parameters
    ----------
    file : CsvFile
        A CSV file in hand; a look at it.
    reading : FileFormat, optional
        One of the two readings of a first line that may hold names or be a row; the safer one by default.

    Returns
    -------
    Proposal
        For its owner to check.

    Raises
    ------
    IntakeError
        If its bytes are not lines of text with fields.
    """
    with foreign.refuse_as(IntakeError(NO_CSV), doorways.CSV):
        return _propose_reading(file, reading)


def _propose_reading(file: CsvFile, reading: FileFormat | None) -> Proposal:
    top = read_first_lines(file)
    if reading is not None and top.other is not None and reading.header == top.other.header:
        names = file.header(top.other).names
        top = replace(top, file=top.other, other=top.file, names=names, body=top.body[1:], notes=(AS_NAMES,))
    cells = {name: [record[at] for record in top.body if len(record) > at] for at, name in enumerate(top.names)}
    styles = guess_styles(cells, top.file.delimiter)
    values = ColumnCells(cells).read(styles.by_column)
    kinds = {
        name: guess_kind(name, cells[name], values.get(name), first=place == 0) for place, name in enumerate(top.names)
    }
    numbers = tuple(name for name in styles.by_column if not kinds[name].is_text)
    declared = replace(
        top.file,
        style=styles.usual,
        styles={name: styles.by_column[name] for name in numbers if styles.by_column[name] != styles.usual},
    )
    units = {name: unit for name, unit in top.units.items() if len(unit) <= LONGEST_UNIT and unit.isprintable()}
    proposal = Proposal(
        file=declared,
        names=top.names,
        numbers=numbers,
        text=tuple(name for name in top.names if name not in numbers),
        notes=(),
        kinds=kinds,
        other=top.other,
        units=units,
    )
    constant = [name for name in proposal.measures if len(set(cells[name])) == 1]
    return replace(proposal, notes=(*top.notes, *_list_notes(proposal, styles, constant)))


# What is said of the columns of a kind that are not clustered as numbers.
_OF_KINDS: Mapping[str, str] = {
    CODE: "Codes rather than numbers, so not chosen: {}.",
    DATE: "Dates, not chosen: {}; a date counts as days from an origin that you declare.",
    GROUP: "Named like a known grouping, so not chosen: {}.",
    ORDER: "Steps of a known scale, not chosen: {}; they count as ranks once declared.",
    YES_NO: "Yes or no, not chosen: {}; two categories, once declared.",
    CATEGORIES: "Few different words, not chosen: {}; categories, once declared by name.",
    CYCLE: "Go round, so that the ends are neighbours, but as numbers they are not: {}.",
}


def _list_notes(proposal: Proposal, styles: Styles, constant: Sequence[str]) -> list[str]:
    """What was found besides, for the owner's eyes."""
    notes = []
    declared, kinds = proposal.file, proposal.kinds
    if declared.encoding in ("cp1252", "iso8859-1"):
        notes.append(f"The file is not UTF-8; it reads as {declared.encoding}.")
    by_style: dict[str, list[str]] = {}
    for name in proposal.numbers:
        by_style.setdefault(str(styles.by_column[name]), []).append(name)
    notes += [f"Written like {style}: {list_names(n)}." for style, n in by_style.items() if style != str(PLAIN_STYLE)]
    if doubtful := [name for name in styles.doubtful if name in proposal.numbers]:
        notes.append(
            f"Whether a mark in {list_names(doubtful)} is the decimal one or groups thousands cannot be told, and no "
            f"other column says; read like {styles.by_column[doubtful[0]]}: change the marks if that is a thousandfold "
            "wrong."
        )
    if unread := [name for name in styles.unread if kinds[name].kind not in (DATE, ID)]:
        notes.append(
            f"Begin like numbers but are written in no way that is read: {list_names(unread)}. They may be amounts "
            "with K or M, numbers with flags behind them (p provisional, e estimated, b break in series), durations, "
            "degrees, exponents with D, or digits of another script: write plain numbers."
        )
    if ids := proposal.ids:
        several = [name for name in ids if kinds[name].repeats]
        notes.append(
            f"Ids or running numbers, so not chosen: {list_names(ids)}; if one says whose a row is, declare it as the "
            "id column."
        )
        if several:
            notes.append(f"Values of {list_names(several)} repeat: if they are people, one of them has several rows.")
    for kind, words in _OF_KINDS.items():
        if names := proposal._list_of_kind(kind):
            notes.append(words.format(list_names(names)))
    if constant:
        notes.append(f"The same in every row looked at, so of no use to tell groups apart: {list_names(constant)}.")
    if len(proposal.measures) > MOST_CHOSEN:
        notes.append(f"There are {len(proposal.measures)} measures, so none is chosen: say which are to be clustered.")
    return notes
