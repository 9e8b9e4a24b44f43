"""What a declaration says of a column besides a pair of bounds: categories, an order, dates, a cycle, a scale."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

import numpy as np
import pandas as pd

from dpviz.check import RequestError
from dpviz.table.cell_arithmetic import DATE_ORDERS
from dpviz.table.coded_rows import MISSING as MISSING_LABEL
from dpviz.table.coded_rows import OTHER, Categories
from dpviz.table.codings import NUMBER, Closed, Coding, Cycle, Dates, Nominal, Ordinal, Stretched
from dpviz.table.file_format import MISSING as EMPTY_CELLS
from dpviz.table.loaded_table import IntakeError, quote_name

MOST_CATEGORIES = 500
"""Declared values of one column."""
LEAST_WEIGHT, MOST_WEIGHT = 0.1, 4.0


def read_coding(name: str, said: Any) -> tuple[Coding, float | None, float | None]:
    """What a declaration says of a column besides a pair of bounds: its coding, and the ends of its numbers.

    Parameters
    ----------
    name : str
        Of the column.
    said : object
        What stands for the column in the declaration.

    Returns
    -------
    Coding, float or None, float or None
        The coding, and two numbers in data units; None is open.

    Raises
    ------
    IntakeError
        If it has another form.
    """
    if not isinstance(said, Mapping):
        raise IntakeError(f"{quote_name(name)} is declared in no form that is known; {FORMS}.")
    for keys, read in _READERS.items():
        required, *optional = keys
        if required in said and set(said) <= {required, *optional}:
            coding, pair = read(name, said)
            return coding, *(coding.ends or pair)
    raise IntakeError(f"{quote_name(name)} is declared in no form that is known; {FORMS}.")


FORMS = (
    'write "income": [1, 1000000], {"bounds": [1, 1000000], "scale": "log"}, {"categories": ["N", "S"]}, '
    '{"categories": ["F", "M"], "closed": true}, {"order": ["I", "II"]}, {"dates": ["2015-01-01", "2024-12-31"]} or '
    '{"cycle": 24}'
)


def check_weight(name: str, weight: Any) -> float:
    """A weight that is allowed.

    Parameters
    ----------
    name : str
        Of the column.
    weight : object
        What was given.

    Returns
    -------
    float
        Positive and finite.

    Raises
    ------
    IntakeError
        If it is not.
    """
    allowed = isinstance(weight, int | float) and not isinstance(weight, bool)
    if not allowed or not LEAST_WEIGHT <= weight <= MOST_WEIGHT:
        raise IntakeError(
            f"The weight of {quote_name(name)} is no number from {LEAST_WEIGHT:g} to {MOST_WEIGHT:g}: below, its noise "
            "would drown it, above, it would decide alone; give another, or leave it out."
        )
    return float(weight)


_Read = tuple[Coding, tuple[float | None, float | None]]
_NO_PAIR: tuple[None, None] = (None, None)


def _read_scaled(name: str, said: Mapping[str, Any]) -> _Read:
    scale, pair = said.get("scale", "linear"), said["bounds"]
    if not isinstance(pair, Sequence) or isinstance(pair, str) or len(pair) != 2 or not all(map(_is_number, pair)):
        raise IntakeError(f"The bounds of {quote_name(name)} are not a pair of numbers; {FORMS}.")
    if scale not in ("linear", "log", "root"):
        raise IntakeError(f'The scale of {quote_name(name)} is none of "linear", "log" and "root"; write one of them.')
    lower, upper = (None if end is None else float(end) for end in pair)
    coding = NUMBER if scale == "linear" else Stretched(scale)
    if lower is not None and upper is not None:
        coding.check_bounds(name, lower, upper)
    return coding, (lower, upper)


def _read_categories(name: str, said: Mapping[str, Any]) -> _Read:
    names, closed = _read_texts("categories", name, said["categories"]), said.get("closed", False)
    if not isinstance(closed, bool):
        raise IntakeError(f'"closed" of {quote_name(name)} is not true or false; write one of them.')
    if not closed:
        return Nominal(names), _NO_PAIR
    if len(names) != 2:
        raise IntakeError(
            f"{quote_name(name)} has {len(names)} closed categories, and two make a coordinate; name two, or leave out "
            '"closed".'
        )
    return Closed(names), _NO_PAIR


def _read_order(name: str, said: Mapping[str, Any]) -> _Read:
    order = _read_texts("order", name, said["order"])
    if len(order) < 2:
        raise IntakeError(f"The order of {quote_name(name)} names one value, and no rank tells rows apart; name two.")
    return Ordinal(order), _NO_PAIR


def _read_dates(name: str, said: Mapping[str, Any]) -> _Read:
    pair, written = said["dates"], said.get("written", "ymd")
    try:
        first, last = (day if isinstance(day, date) else date.fromisoformat(day) for day in pair)
    except (TypeError, ValueError):
        raise IntakeError(
            f'The dates of {quote_name(name)} are not the first and the last one, as ["2015-01-01", '
            '"2024-12-31"]; mend '
            "them."
        ) from None
    first, last = (date(day.year, day.month, day.day) for day in (first, last))
    if first >= last:
        raise IntakeError(f"The first date of {quote_name(name)} is not before the last one; declare other dates.")
    if written not in DATE_ORDERS:
        raise IntakeError(f'"written" of {quote_name(name)} is none of "ymd", "dmy" and "mdy"; write one of them.')
    return Dates(first, last, written), _NO_PAIR


def _read_cycle(name: str, said: Mapping[str, Any]) -> _Read:
    period = said["cycle"]
    if not _is_number(period) or period is None or not 1e-6 <= period <= 1e9:
        raise IntakeError(
            f"The cycle of {quote_name(name)} is no number above 0: write after how many it comes round again, as "
            "24 for "
            "hours or 7 for weekdays."
        )
    return Cycle(float(period)), _NO_PAIR


_READERS: dict[tuple[str, ...], Any] = {
    ("bounds", "scale"): _read_scaled,
    ("categories", "closed"): _read_categories,
    ("order",): _read_order,
    ("dates", "written"): _read_dates,
    ("cycle",): _read_cycle,
}


def _is_number(value: Any) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


def _read_texts(what: str, name: str, said: Any) -> tuple[str, ...]:
    """Declared values as texts that a file can hold, each once.

    Raises
    ------
    IntakeError
        If they are not.
    """
    is_list = isinstance(said, Sequence | np.ndarray | pd.Index | pd.Series) and not isinstance(said, str)
    if not is_list or len(said) == 0 or not all(isinstance(one, str | int | np.integer) for one in said):
        raise IntakeError(f'"{what}" of {quote_name(name)} is not a list of texts; {FORMS}.')
    names = tuple(str(one).strip() for one in said)
    if len(names) > MOST_CATEGORIES:
        raise IntakeError(
            f"{quote_name(name)} has {len(names):,} values, and at most {MOST_CATEGORIES} are allowed; keep the common "
            "ones, all others share one."
        )
    if empty := [one for one in names if one in EMPTY_CELLS or not one]:
        raise IntakeError(
            f"Of {quote_name(name)}, {quote_name(empty[0])} is how an empty cell is written, which is a value of "
            "its own; "
            "leave it out."
        )
    if taken := [one for one in names if one in (OTHER, MISSING_LABEL)]:
        raise IntakeError(
            f"Of {quote_name(name)}, {quote_name(taken[0])} is there without being declared; leave it out."
        )
    try:
        Categories(names)
    except RequestError as error:
        raise IntakeError(f"Of column {quote_name(name)}: {error}") from None
    return names
