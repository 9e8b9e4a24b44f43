"""What is declared of columns that are described segment by segment but not clustered: categories, or bounds."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from dpviz.core import RequestError
from dpviz.tables.coded_rows import Categories
from dpviz.tables.loaded_table import IntakeError
from dpviz.words import quote_name

if TYPE_CHECKING:
    from dpviz.tables.declaration_document import DescribedBounds, DescribedCategories

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


def read_described(form: DescribedCategories | DescribedBounds) -> Described:
    """The column that a declaration file describes so; ``Described.check`` says whether it is allowed."""
    names, pair = getattr(form, "categories", ()), getattr(form, "bounds", (None, None))
    return Described(names, *pair)


def list_described_values(described: Mapping[str, Described]) -> dict[str, Any]:
    """What a declaration file says of them, as JSON has it."""
    return {
        name: {"categories": list(one.categories)} if one.categories else {"bounds": [one.lower, one.upper]}
        for name, one in described.items()
    }
