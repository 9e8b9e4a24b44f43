"""The promise of a release in words: the odds, δ, who is protected, what no ε covers; and what was seen of rows."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import exp, expm1, floor, log10
from typing import TYPE_CHECKING

from dpviz.core import AccessKind, AccessTotals
from dpviz.releases.release_sentences import SENTENCES
from dpviz.runs import Belief
from dpviz.words import (
    capitalize_first,
    format_at_most,
    format_count,
    format_number,
    format_small,
    format_things,
    render,
)

if TYPE_CHECKING:
    from dpviz.releases.playing import Played


_KINDS = ("rows", "loss", "reference", "proposal")


@dataclass(frozen=True)
class AccessCounts:
    """Whatever was seen of the rows, without or with noise, before the release; no number in it is a value of a row."""

    looks: Mapping[str, int] = field(default_factory=dict, hash=False)
    studies: int = 0
    runs: int = 0
    runs_epsilon: float = 0.0
    grids_read: int = 0

    def __post_init__(self) -> None:
        # In one order, whoever counted and however they were kept: what a file says must not depend on that.
        rank = {kind: place for place, kind in enumerate(_KINDS)}
        ordered = sorted(self.looks.items(), key=lambda look: (rank.get(look[0], len(rank)), look[0]))
        object.__setattr__(self, "looks", dict(ordered))

    @classmethod
    def of(cls, totals: AccessTotals, *, proposed: bool) -> AccessCounts:
        """What this process saw of a table, whose declaration may have been ``proposed``, which is a look."""
        return cls(AccessKind.tabulate(totals.looks, proposed=proposed), *totals[1:])

    @property
    def words(self) -> str:
        """In sentences.

        >>> AccessCounts().words.split(". ")[0]
        'None that the releasing process counted: it showed no row, no true count and no loss'
        >>> AccessCounts(runs=50, runs_epsilon=25.0).words.split(", which")[0]
        'The releasing process counted 50 runs on the rows with study noise, ε = 25 in all'
        """
        written = {"count": format_count, "things": format_things, "number": format_number}
        told = render("seen.txt.j2", seen=self, **written).split("\n")[:-1]
        listed = ", ".join(told[:-1]) + (" and " if told[1:] else "") + "".join(told[-1:])
        before = SENTENCES.fill("seen_before")
        if not told:
            return f"None that the releasing process counted: it showed no row, no true count and no loss. {before}"
        return f"The releasing process counted {listed}. No ε covers what was chosen because of them. {before}"


_LARGEST_FACTOR = 10.0
# A share this close to certain is said as "almost certain".
_ALMOST = 0.999

ALONE = "In ledger.csv, the ε beside a charge is what that one would cost alone."
"""Why its column need not add up to the whole."""


def format_odds_factor(epsilon: float) -> str:
    """The factor e^ε, rounded up."""
    return f"{format_at_most(exp(epsilon))}×" if epsilon < _LARGEST_FACTOR else f"e^{epsilon:g}"


def format_one_in(delta: float) -> str:
    """A small chance in words, rounded up."""
    unit = 10.0 ** (floor(log10(1 / delta)) - 2)
    return f"one in {format_number(floor(1 / delta / unit + 1e-6) * unit)}"


def describe_promise(played: Played) -> str:
    """The guarantee in one sentence."""
    return capitalize_first(describe_odds(played.run.relation, played.epsilon, has_id=played.of_persons))


def describe_odds(relation: str, epsilon: float, *, has_id: bool) -> str:
    """What one unit of privacy, without an id column a row, changes at most, as a sentence without its capital."""
    if relation == "add_remove":
        moved = "the presence of one person" if has_id else "the presence of one row"
    else:
        moved = "what is recorded about one person" if has_id else "what one row says"
    return f"{moved} changes the odds of anything that is released with noise by at most {format_odds_factor(epsilon)}."


def compute_certainty(epsilon: float, *, before: float = 0.5) -> str:
    """How sure of a guess somebody may become who was right with probability ``before``."""
    most = Belief.bound(before, epsilon=epsilon).most
    return "almost certain" if most > _ALMOST else f"at most {format_at_most(100 * most)} % certain"


def name_level(played: Played) -> str:
    """The unit of privacy, and whether it is a person."""
    return f"{played.run.unit} ({'person' if played.of_persons else 'event'} level)"


def describe_together(epsilon: float, delta: float, number_of_units: int) -> str:
    """The promise to so many units of privacy at once: odds, and the δ beyond them.

    >>> describe_together(1.0, 0.0, 3), describe_together(4.0, 1e-6, 3)
    ('odds within 20.1×', 'odds within e^12, and δ = 0.00304 beyond them')
    """
    odds = f"odds within {format_odds_factor(number_of_units * epsilon)}"
    if not delta:
        return odds
    beyond = min(delta * expm1(min(number_of_units * epsilon, 700.0)) / expm1(epsilon), 1.0)  # as far as floats go
    return f"{odds}, and δ = {format_small(float(format_at_most(beyond).replace('−', '-')))} beyond them"


def format_paper(paper: str) -> str:
    """Where an algorithm is from; that it has no paper is said, since "None: " in a card reads like a gap."""
    return re.sub("^None: ", "it has no paper of its own; ", paper)


def format_span(lower: float, upper: float, unit: str, kind: str) -> str:
    """The declared bounds of a column with their unit."""
    span = f"{format_plain_number(lower)} to {format_plain_number(upper)} {unit}".rstrip()
    return span if kind == "number" else f"{span}, on a {kind} scale"


def format_steps(steps: Sequence[float]) -> str:
    """The grid of a column: one step, or from the finest to the widest of its coordinates."""
    return " to ".join(map(format_plain_number, dict.fromkeys((min(steps), max(steps)))))


def format_plain_number(value: float) -> str:
    """A declared number in full, thousands grouped."""
    return f"{value:,.12g}".replace("-", "−")
