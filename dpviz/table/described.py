"""What is declared of columns that are described segment by segment but not clustered: categories, or bounds."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from dpviz.check import RequestError
from dpviz.table.coded_rows import Categories
from dpviz.table.loaded_table import IntakeError, quote_name

MOST_DESCRIBED = 100
"""Columns that are described and not clustered: each takes an equal part of what segments cost."""
MOST_CATEGORIES = 500
_FORMS = 'write {"region": {"categories": ["North", "South"]}, "height": {"bounds": [0, 2.5]}}'


class Described(NamedTuple):
    """One column: its ``categories``, or else its bounds ``lower`` and ``upper`` in data units."""

    categories: tuple[str, ...] = ()
    lower: float | None = None
    upper: float | None = None

    def check(self, name: str) -> None:
        """Refuse what is not allowed.

        Raises
        ------
        IntakeError
            If it has both or neither, bounds that are none, or categories that repeat.
        """
        low, high = self.lower, self.upper
        if bool(self.categories) == (low is not None) or (low is None) != (high is None):
            raise IntakeError(f"Column {quote_name(name)} is described by categories or by a pair of bounds; {_FORMS}.")
        if low is not None and high is not None:
            if not (math.isfinite(low) and math.isfinite(high) and low < high and math.isfinite(high - low)):
                raise IntakeError(
                    f"The bounds that describe {quote_name(name)} are {low:g} and {high:g}; both must be finite "
                    "with lower "
                    "< upper; declare other bounds."
                )
            return
        if len(self.categories) > MOST_CATEGORIES:
            raise IntakeError(
                f"Column {quote_name(name)} has {len(self.categories):,} categories, and at most {MOST_CATEGORIES} are "
                "allowed; keep the common ones, all others share one bin."
            )
        try:
            Categories(self.categories)
        except RequestError as error:
            raise IntakeError(f'Of column {quote_name(name)} in "describe": {error}') from None


def read_described(key: str, said: Any) -> dict[str, Described]:
    """The columns that a declaration file describes.

    Parameters
    ----------
    key : str
        Of the declaration file.
    said : object
        What stands there.

    Returns
    -------
    mapping of str to Described
        By column.

    Raises
    ------
    IntakeError
        If they have another form.
    """
    if not isinstance(said, dict):
        raise IntakeError(f'"{key}" is not an object by column; {_FORMS}, or leave it out.')
    return {name: _read_one(key, name, value) for name, value in said.items()}


def _read_one(key: str, name: str, value: Any) -> Described:
    if not isinstance(value, dict) or [*value] not in (["categories"], ["bounds"]):
        raise IntakeError(f'"{key}" says neither categories nor bounds of {quote_name(name)}; {_FORMS}.')
    if "categories" in value:
        names = value["categories"]
        if not isinstance(names, list) or not names or not all(isinstance(one, str) for one in names):
            raise IntakeError(f"The categories of {quote_name(name)} are not a list of texts; {_FORMS}.")
        return Described(categories=tuple(names))
    pair = value["bounds"]
    if not isinstance(pair, list) or len(pair) != 2 or not all(map(_is_number, pair)):
        raise IntakeError(f"The bounds that describe {quote_name(name)} are not a pair of numbers; {_FORMS}.")
    try:
        lower, upper = map(float, pair)
    except OverflowError:
        lower, upper = -math.inf, math.inf
    return Described(lower=lower, upper=upper)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def list_described_values(described: Mapping[str, Described]) -> dict[str, Any]:
    """What ``read_described`` reads back, as JSON has it."""
    return {
        name: {"categories": list(one.categories)} if one.categories else {"bounds": [one.lower, one.upper]}
        for name, one in described.items()
    }
