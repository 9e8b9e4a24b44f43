"""What is to be expected of a setting before any run: lights, what a bench announced, and how both are written."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from math import ceil, floor, log10
from typing import NamedTuple

_FEWEST_DIGITS, _MOST_DIGITS = 3, 6


class Level(Enum):
    """Traffic light of a setting."""

    GREEN = "green"
    AMBER = "amber"
    RED = "red"


@dataclass(frozen=True)
class OfCategories:
    """The light of an algorithm on tables with categories: ``level`` at best, and ``why`` as a clause."""

    level: Level
    why: str


MOST_IN_A_GRID = 6
"""Coordinates of categories beyond which no cell of a grid over all columns says anything."""
BLIND_START = OfCategories(
    Level.AMBER, "a start that ignores the data seldom finds the groups that they tell apart, and rounds do not mend it"
)
TOO_COARSE = OfCategories(
    Level.RED, "what this algorithm can ask of so many of them is mostly noise: one mean for all rows was often better"
)


SURE = 1.3
"""Where one run in ten of unknown clusters may lose more than this, light groups far from all others may be missed."""


class Expectation(NamedTuple):
    """A run's loss over that of k-means++, for each shape that a table may have: no public number tells which it has.

    With clusters of like size, about as far apart as they are wide ("compact"), half of all runs stay below ``median``,
    nine in ten below ``decile``. Where some clusters are small or lie far apart, or some rows lie far out ("unknown"),
    these are ``wide_median`` and ``wide``; where one column in a common scale has most of the spread, much of it far
    out ("tails"), ``tails_median`` and ``tails``. None where it was not measured.
    """

    median: float
    decile: float
    wide: float
    tails: float | None = None
    wide_median: float | None = None
    tails_median: float | None = None

    @property
    def tells_light_far(self) -> bool:
        """Whether ``wide`` holds for light groups far from all others, too.

        They are found or missed, and one that is missed costs the more the narrower the groups are: no public number
        says how narrow. So where they may be missed no number says what is lost.
        """
        return self.wide <= SURE


def round_up(number: float) -> int:
    """``number`` to two significant digits, upwards."""
    if number <= 10:
        return max(1, ceil(number))
    unit = int(10 ** (floor(log10(number)) - 1))
    return ceil(number / unit) * unit


def format_apart(*ratios: float) -> tuple[str, ...]:
    """Losses over that of k-means++ in digits that tell them apart: what is above 1 never reads as 1.

    Three significant digits of each, or for all as many more as tell them from each other and from 1; at most six.

    >>> format_apart(1.0, 1.004), format_apart(1.371, 582.206), format_apart(1.0, 1.0), format_apart(1234.0)
    (('1.000', '1.004'), ('1.37', '582'), ('1.00', '1.00'), ('1,234',))
    """
    different = {round(value, _MOST_DIGITS - 1) for value in (1.0, *ratios)}
    digits = _FEWEST_DIGITS
    while digits < _MOST_DIGITS and len({_format_digits(value, digits) for value in different}) < len(different):
        digits += 1
    return tuple(_format_digits(value, digits) for value in ratios)


def _format_digits(value: float, digits: int) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:#.{digits}g}"
