"""The traffic light of a setting: what to expect of a run before it starts, from public numbers alone, and in words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from math import ceil, floor, inf, log10, sqrt
from typing import NamedTuple

# Losses over that of k-means++ that a light turns on: chosen by hand.
_LITTLE, _MUCH, _WIDE = 1.1, 1.5, 2.0
# Two announcements are one where they differ by less than this.
_ONE_ANNOUNCEMENT = 1.05
# A light is green at so many times the fewest records for which a result is not mostly noise: chosen by hand.
_AMPLE = 3
# From so many records on nobody has them.
_OUT_OF_REACH = 1e12
# The least ε that would do is looked for between these, to a thousandth of which two digits are said.
_LEAST_EPSILON, _MOST_EPSILON, _HALVINGS = 1e-3, 100.0, 14
_FEWEST_DIGITS, _MOST_DIGITS = 3, 6


class Level(Enum):
    """Traffic light of a regime."""

    GREEN = "green"
    AMBER = "amber"
    RED = "red"


@dataclass(frozen=True)
class Regime:
    """What to expect before a run, from public quantities only."""

    level: Level
    message: str
    needed_n: float
    needed_epsilon: float | None = None
    short: str = ""
    """Why it is red, where that is not for want of records."""


@dataclass(frozen=True)
class OfCategories:
    """The light of an algorithm on tables with categories: ``level`` at best, and ``why`` as a clause."""

    level: Level
    why: str

    def dimmed(self, light: Regime | None, coded: int) -> Regime:
        """The ``light`` of the same setting without categories, no brighter than on ``coded`` coordinates of them."""
        levels = list(Level)
        if light is not None and levels.index(light.level) >= levels.index(self.level):
            return light
        message = f"Categories make {coded} coordinates, and {self.why}: choose auto, lsh-coreset or balcan."
        return Regime(
            self.level, message, inf if light is None else light.needed_n, short="Its noise hides categories."
        )


MOST_IN_A_GRID = 6
"""Coordinates of categories beyond which no cell of a grid over all columns says anything."""
BLIND_START = OfCategories(
    Level.AMBER, "a start that ignores the data seldom finds the groups that they tell apart, and rounds do not mend it"
)
TOO_COARSE = OfCategories(
    Level.RED, "what this algorithm can ask of so many of them is mostly noise: one mean for all rows was often better"
)


class Expectation(NamedTuple):
    """A run's loss over that of k-means++, where clusters are of like size, and where nobody knows whether they are.

    With like sizes, and clusters about as far apart as they are wide, half of all runs stay below ``median``, nine in
    ten below ``decile``. Where some clusters are small or lie far apart, or some rows lie far out, nine in ten stay
    below ``wide``.
    """

    median: float
    decile: float
    wide: float

    @property
    def level(self) -> Level:
        """Green: next to nothing is lost. Red: mostly noise."""
        if self.median <= _LITTLE and self.decile <= _MUCH and self.wide <= _WIDE:
            return Level.GREEN
        return Level.AMBER if self.median <= _MUCH else Level.RED


class Public(NamedTuple):
    """What a light is told by: the setting ``in_words``, its n and ε, and the records ``needed`` at any ε."""

    in_words: str
    n: int
    epsilon: float
    needed: Callable[[float], float]

    @property
    def enough_epsilon(self) -> float | None:
        """The least ε for which n records would do, by bisection; None above 100."""
        low, high = _LEAST_EPSILON, _MOST_EPSILON
        if self.needed(high) > self.n:
            return None
        for _ in range(_HALVINGS):
            middle = sqrt(low * high)
            low, high = (low, middle) if self.needed(middle) <= self.n else (middle, high)
        return high


def regime_by_bench(public: Public, expected: Expectation) -> Regime:
    """What a bench says of the setting, and from where on it would say more."""
    needed = public.needed(public.epsilon)
    message = f"{public.in_words}, {public.n:,} declared: {_in_words(expected)}"
    if expected.level is Level.GREEN:
        return Regime(expected.level, message + ".", needed)
    enough = public.enough_epsilon
    would = f" or ε ≥ {enough:.2g}" if enough is not None and enough > public.epsilon else ""
    return Regime(expected.level, f"{message}; about {round_up(needed):,} records{would} would do.", needed, enough)


def regime_by_need(public: Public, *, title: str, hopeless: str) -> Regime:
    """Green at three times the records that are needed, red below them; ``hopeless`` is what goes wrong there."""
    needed, enough = public.needed(public.epsilon), public.enough_epsilon
    level = Level.GREEN if _AMPLE * needed <= public.n else Level.AMBER if needed <= public.n else Level.RED
    if needed >= _OUT_OF_REACH:
        message = f"{public.in_words} is out of reach for {title} at any realistic number of records: {hopeless}."
        return Regime(level, message, needed, enough)
    message = (
        f"{public.in_words} needs about {round_up(needed):,} records ({public.n:,} declared), "
        "if clusters are of like size"
    )
    if level is not Level.GREEN:
        would = f" or ε ≥ {enough:.2g}" if enough is not None and level is Level.RED else ""
        better = f"about {round_up(_AMPLE * needed):,} records{would} would do better"
        message += f"; below that {hopeless}; {better}"
    return Regime(level, f"{message}.", needed, enough)


def _in_words(expected: Expectation) -> str:
    median, decile, wide = told_apart(expected.median, expected.decile, max(expected.wide, expected.decile))
    if expected.median <= 1.01:
        usual = "expect the loss of k-means++ within 1 %"
    else:
        usual = f"expect about {median} × the loss of k-means++"
    missed = ", as when it misses a cluster" * (expected.decile > 1.3)
    if expected.wide <= _ONE_ANNOUNCEMENT * expected.decile:
        rare = f"1 run in 10 may exceed {wide} ×{missed}, whatever the sizes of clusters"
    else:
        rare = (
            f"1 run in 10 may exceed {decile} ×{missed} if clusters are of like size, and {wide} × if some are small "
            "or lie far apart, or some rows far out, which nobody knows beforehand"
        )
    return f"{usual}; {rare} (by a study of generated tables)"


def round_up(number: float) -> int:
    """``number`` to two significant digits, upwards."""
    if number <= 10:
        return max(1, ceil(number))
    unit = int(10 ** (floor(log10(number)) - 1))
    return ceil(number / unit) * unit


def told_apart(*ratios: float) -> tuple[str, ...]:
    """Losses over that of k-means++ in digits that tell them apart: what is above 1 never reads as 1.

    Three significant digits of each, or for all as many more as tell them from each other and from 1; at most six.

    >>> told_apart(1.0, 1.004), told_apart(1.371, 582.206), told_apart(1.0, 1.0), told_apart(1234.0)
    (('1.000', '1.004'), ('1.37', '582'), ('1.00', '1.00'), ('1,234',))
    """
    different = {round(value, _MOST_DIGITS - 1) for value in (1.0, *ratios)}
    digits = _FEWEST_DIGITS
    while digits < _MOST_DIGITS and len({_written(value, digits) for value in different}) < len(different):
        digits += 1
    return tuple(_written(value, digits) for value in ratios)


def _written(value: float, digits: int) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:#.{digits}g}"
