"""What a declaration says of a column besides a pair of bounds: categories, an order, dates, a cycle, a scale."""

from __future__ import annotations

import json
import math
from typing import Annotated, Any, NamedTuple

from dpviz.core import RequestError
from dpviz.tables.cell_values import MISSING as EMPTY_CELLS
from dpviz.tables.codings import (
    LEAST_WEIGHT,
    MISSING_LABEL,
    MOST_WEIGHT,
    NUMBER,
    OTHER,
    Categories,
    Closed,
    Coding,
    Cycle,
    Dates,
    Nominal,
    Ordinal,
    Stretched,
)
from dpviz.tables.loaded_table import IntakeError
from dpviz.words import Key, quote_name

MOST_CATEGORIES = 500
"""Declared values of one column."""
FORMS = (
    'write "income": [1, 1000000], {"bounds": [1, 1000000], "scale": "log"}, {"categories": ["N", "S"]}, '
    '{"categories": ["F", "M"], "closed": true}, {"order": ["I", "II"]}, {"dates": ["2015-01-01", "2024-12-31"]} or '
    '{"cycle": 24}'
)
"""How a column is declared, for a sentence."""


def read_coding(name: str, said: Any) -> tuple[Coding, float | None, float | None]:
    """What a declaration says of a column besides a pair of bounds: its coding, and the ends of its numbers."""
    # Models are slow to import, and most processes read no declaration.
    from dpviz.tables import declaration_document as forms
    from dpviz.words import documents

    form = said
    if not isinstance(form, documents.Document):
        form = documents.read_document(forms.DeclarationDocument, {"bounds": {name: said}}, IntakeError).bounds[name]
    match form:
        case forms.ScaledForm(bounds=(lower, upper), scale=scale):
            scaled = NUMBER if scale == "linear" else Stretched(scale)
            scaled.check_bounds(name, lower, upper)
            return scaled, lower, upper
        case forms.CategoriesForm(categories=names, closed=closed):
            coding: Coding = _read_closed(name, names) if closed else Nominal(_check_values(name, names))
        case forms.OrderForm(order=names):
            coding = Ordinal(_check_values(name, names))
            if len(names) < 2:
                raise IntakeError(
                    f"The order of {quote_name(name)} names one value, and no rank tells rows apart; name two."
                )
        case forms.DatesForm(dates=(first, last), written=written):
            if first >= last:
                raise IntakeError(
                    f"The first date of {quote_name(name)} is not before the last one; declare other dates."
                )
            coding = Dates(first, last, written)
        case forms.CycleForm(cycle=period):
            coding = Cycle(period)
        case _:
            raise IntakeError(f"{quote_name(name)} is declared in no form that is known; {FORMS}.")
    return coding, *(coding.ends or (None, None))


def _read_closed(name: str, names: tuple[str, ...]) -> Closed:
    if len(names) != 2:
        raise IntakeError(
            f"{quote_name(name)} has {len(names)} closed categories, and two make a coordinate; name two, or leave out "
            '"closed".'
        )
    return Closed(_check_values(name, names))


def check_ends(name: str, low: float, high: float) -> None:
    """Refuse bounds between which no number lies."""
    if not (math.isfinite(low) and math.isfinite(high) and low < high and math.isfinite(high - low)):
        raise IntakeError(
            f"The bounds of {quote_name(name)} are {low:g} and {high:g}; both must be finite with lower < upper; "
            "declare other bounds."
        )


def check_weight(name: str, weight: Any) -> float:
    """A weight that is allowed."""
    allowed = isinstance(weight, int | float) and not isinstance(weight, bool)
    if not allowed or not LEAST_WEIGHT <= weight <= MOST_WEIGHT:
        raise IntakeError(
            f"The weight of {quote_name(name)} is no number from {LEAST_WEIGHT:g} to {MOST_WEIGHT:g}: below, its noise "
            "would drown it, above, it would decide alone; give another, or leave it out."
        )
    return float(weight)


def _check_values(name: str, names: tuple[str, ...]) -> tuple[str, ...]:
    """Declared values, each of which a file can hold, and each once."""
    if len(names) > MOST_CATEGORIES:
        raise IntakeError(
            f"{quote_name(name)} has {len(names):,} values, and at most {MOST_CATEGORIES} are allowed; keep the common "
            "ones, all others share one."
        )
    if empty := [one for one in names if one in EMPTY_CELLS or not one]:
        raise IntakeError(
            f"Of {quote_name(name)}, {quote_name(empty[0])} is how an empty cell is written, which is a value of "
            "its own; leave it out."
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


MOST_DESCRIBED = 100
"""Columns that are described and not clustered: each takes an equal part of what segments cost."""
DESCRIBED_EXAMPLE = {"region": {"categories": ["North", "South"]}, "height": {"bounds": [0, 2.5]}}


class Described(NamedTuple):
    """One column that segments are described by: its categories, or else its bounds in data units."""

    categories: Annotated[tuple[str, ...], Key("its values", "a list of texts", shown=["N", "S"])] = ()
    bounds: Annotated[tuple[float, float] | None, Key("smallest and largest number", shown=[0, 2.5])] = None

    def check(self, name: str) -> None:
        """Refuse what is not allowed."""
        if bool(self.categories) == (self.bounds is not None):
            raise IntakeError(
                f"Column {quote_name(name)} is described by categories or by a pair of bounds; write "
                f"{json.dumps(DESCRIBED_EXAMPLE)}."
            )
        if self.bounds is None:
            _check_values(name, self.categories)
        else:
            check_ends(name, *self.bounds)
