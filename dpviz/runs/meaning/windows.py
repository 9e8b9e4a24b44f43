"""A window for ε: at least what keeps an accepted loss, at most what keeps an accepted risk, in one argument.

The lower side is advice at the fewest rows that there may be. The upper side is what odds allow, rounded down. Both are
about one person, and about the whole ε of what leaves. Where the sides cross there is no window: what would open one is
asked again, never scaled. No row is read.

What a release can teach about one person, which that side rests on, is here: what may be believed after it, and the
line that no attack passes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil, expm1, isfinite, log, tanh
from typing import Any, Literal, NamedTuple, overload

import numpy as np

from dpviz.algorithms import Setting, round_up
from dpviz.core import Array, check
from dpviz.runs.advice.advice import EPSILONS, Target, foresee, format_epsilon, round_epsilon
from dpviz.runs.advice.recommendation import MADE_UP, RowsAdvice
from dpviz.runs.run_sentences import SENTENCES
from dpviz.words import format_percent, render


class Belief(NamedTuple):
    """Probabilities that somebody gives to one thing about one person, after a release: no lower, no higher."""

    least: float
    most: float

    @classmethod
    def bound(cls, prior: float, *, epsilon: float) -> Belief:
        """How far a pure ε-DP release can move a belief that was ``prior``: its odds change by a factor e^ε at most.

        With δ > 0 a release may go beyond this with a small probability; ``bound_hits`` has δ.

        >>> [round(100 * Belief.bound(0.5, epsilon=epsilon).most, 1) for epsilon in (0.1, 1, 2, 5)]
        [52.5, 73.1, 88.1, 99.3]
        >>> round(100 * Belief.bound(0.5, epsilon=1).least, 1)
        26.9
        >>> round(100 * Belief.bound(0.01, epsilon=1).most, 2)
        2.67

        References
        ----------
        Kasiviswanathan & Smith 2014, "On the 'semantics' of differential privacy", Theorem 2.1. Nanayakkara, Smart,
        Cummings, Kaptchuk & Redmiles 2023: odds explain ε better than samples of outputs (963 people).
        """
        epsilon = check.epsilon(epsilon=epsilon)
        if not 0 <= prior <= 1:
            raise check.RequestError(f"The prior is {prior:g}: give a probability from 0 to 1.")
        return cls(_move_odds(prior, -epsilon), _move_odds(prior, epsilon))


def compute_allowed_epsilon(prior: float, accepted: float) -> float:
    """The largest ε under which no belief that was ``prior`` can exceed ``accepted``; 0 where that is no more."""
    for name, value in (("prior", prior), ("accepted posterior", accepted)):
        if not 0 < value < 1:
            raise check.RequestError(f"The {name} is {value:g}: give a probability between 0 and 1.")
    # The inverse of ``Belief.bound``. With δ > 0 a belief may go beyond it with that chance.
    return max(0.0, log(accepted / (1 - accepted)) - log(prior / (1 - prior)))


def _move_odds(prior: float, log_factor: float) -> float:
    # p e^ε / (1 - p + p e^ε), from the smaller of the two sides, so that no power overflows.
    if log_factor > 0:
        return 1 - _move_odds(1 - prior, -log_factor)
    shrunk = prior * (1 + expm1(log_factor))
    return shrunk / (1 - prior + shrunk) if prior < 1 else 1.0


@overload
def bound_hits(false_alarms: float, *, epsilon: float, delta: float = 0.0) -> float: ...
@overload
def bound_hits(false_alarms: Array, *, epsilon: float, delta: float = 0.0) -> Array: ...
def bound_hits(false_alarms: float | Array, *, epsilon: float, delta: float = 0.0) -> float | Array:
    """The most that "this person is in" can be right where they are, if it is wrong so often where they are not.

    TPR ≤ min(e^ε FPR + δ, 1 - e^-ε (1 - δ - FPR), 1) for one release (Kairouz, Oh & Viswanath 2015, Theorem 2.4).
    """
    rate = np.asarray(false_alarms, dtype=np.float64)
    # Beyond ε = 700 the factor is no longer a floating-point number; the line has been at 1 for long.
    steep = rate * (1 + expm1(min(epsilon, 700.0))) + delta
    most = np.minimum(np.minimum(steep, 1 - (1 + expm1(-epsilon)) * (1 - delta - rate)), 1.0)
    return most if isinstance(false_alarms, np.ndarray) else float(most)


def bound_advantage(*, epsilon: float, delta: float = 0.0) -> float:
    """The most by which hits can exceed false alarms: (e^ε - 1 + 2δ) / (e^ε + 1).

    Parameters
    ----------
    epsilon, delta : float

    Returns
    -------
    float
        Between 0 and 1.

    >>> [round(bound_advantage(epsilon=epsilon), 3) for epsilon in (0.1, 0.3, 1, 5)]
    [0.05, 0.149, 0.462, 0.987]
    """
    return min(1.0, tanh(epsilon / 2) + delta * (1 - tanh(epsilon / 2)))


def find_turning_point(*, epsilon: float, delta: float = 0.0) -> float:
    """The share of false alarms at which the line is farthest above guessing: (1 - δ) / (1 + e^ε)."""
    return (1 - delta) * (1 - tanh(epsilon / 2)) / 2


def trace_bound(*, epsilon: float, delta: float = 0.0, reach: float = 0.0) -> Array:
    """The most that any attack can do, to be drawn, with both corners; or what its record reaches by chance.

    Parameters
    ----------
    epsilon, delta : float
        What is promised.
    reach : float
        How far chance moves a share that was counted; 0 is the line itself.

    Returns
    -------
    array of shape (m, 2)
        False alarms, and the most hits at so many.
    """
    turn = find_turning_point(epsilon=epsilon, delta=delta)
    across = np.unique(np.concatenate([np.linspace(0, 1, 101), [turn, 1 - turn]]))
    most = bound_hits(np.minimum(across + reach, 1.0), epsilon=epsilon, delta=delta) + reach
    return np.column_stack([across, np.minimum(most, 1.0)])


Kind = Literal["window", "wide", "none", "out of reach"]

USUAL_PRIOR, USUAL_ACCEPTED = 0.1, 0.25
"""What is asked about where nobody says otherwise: a guess of 10 % may become 25 %."""

_WIDE = 5.0  # from this ratio of its sides on


@dataclass(frozen=True)
class Risk:
    """What nobody's belief about one person may become: of a guess ``prior``, at most ``accepted``."""

    prior: float = USUAL_PRIOR
    accepted: float = USUAL_ACCEPTED

    @property
    def words(self) -> str:
        """Both as percentages."""
        return SENTENCES.fill("risk", prior=format_percent(self.prior), accepted=format_percent(self.accepted))

    def allow(self) -> float:
        """The largest ε that keeps it, rounded down."""
        return round_epsilon(compute_allowed_epsilon(self.prior, self.accepted), up=False)


class Opening(NamedTuple):
    """What would open a window: what to change, and from what to what. It was asked again, not scaled."""

    what: str
    words: str


@dataclass(frozen=True)
class Window:
    """Between which ε both an accepted loss and an accepted risk are kept, by what was advised for the loss."""

    answer: RowsAdvice
    risk: Risk

    @property
    def setting(self) -> Setting:
        """What was asked of the fewest rows."""
        return self.answer.few.setting

    @property
    def target(self) -> Target:
        """The accepted loss."""
        return self.answer.few.target

    @property
    def algorithm(self) -> str:
        """Who is advised, by id; "" where nobody can serve."""
        leading = self.answer.few.leading
        return "" if leading is None else leading.algorithm

    @property
    def least(self) -> float:
        """The least ε that keeps the loss; infinite where none does."""
        return self.answer.few.epsilon

    @cached_property
    def most(self) -> float:
        """The largest ε that keeps the risk."""
        return self.risk.allow()

    @property
    def kind(self) -> Kind:
        """A window, a wide one, none because its sides cross, or none because no ε keeps the loss."""
        if not isfinite(self.least):
            return "out of reach"
        if self.least > self.most:
            return "none"
        return "wide" if self.most >= _WIDE * self.least else "window"

    @property
    def who(self) -> str:
        """The algorithm by its title."""
        leading = self.answer.few.leading
        return "" if leading is None else leading.title

    @property
    def finding(self) -> str:
        """The answer as a title of at most fifty characters."""
        return self._write("title")

    @property
    def sentence(self) -> str:
        """Why, in sentences."""
        return self._write("why")

    def argument(self, epsilon: float) -> str:
        """Why ``epsilon``, in sentences for a card: public values only, and true of any ε, also of one outside."""
        return self._write("argument", epsilon)

    def _write(self, part: str, epsilon: float = 0.0) -> str:
        ends = {"least": format_epsilon(self.least, up=True), "most": format_epsilon(self.most)}
        often = self.target.describe_often(f"{MADE_UP} of {self.setting.n:,} rows")
        said = {"often": often, "double": format_epsilon(2 * self.least), "highest": EPSILONS[-1], "epsilon": epsilon}
        return render("window.txt.j2", part=part, window=self, **ends, **said).strip()

    def belief(self, epsilon: float) -> float:
        """The most that the guess can become at an ε of a release."""
        return Belief.bound(self.risk.prior, epsilon=epsilon).most

    @cached_property
    def openings(self) -> tuple[Opening, ...]:
        """What would open a window where there is none, the cheapest of each kind first, and only what helps."""
        return () if self.kind in ("window", "wide") else tuple(self._list_openings())

    def _list_openings(self) -> Iterator[Opening]:
        at, target = self.setting, self.target
        assert at.n is not None

        def keeps(target: Target = target, **changed: Any) -> bool:
            prospects = foresee(replace(at, **changed), share=self.answer.few.share, algorithm=self.answer.algorithm)
            return prospects.find_least(target) <= self.most

        rows = (round_up(at.n * more) for more in (1.2, 1.5, 2, 3, 4, 5, 7, 10, 15, 20, 30, 50, 100))
        if (more := next((n for n in rows if keeps(n=n)), None)) is not None:
            yield Opening("More rows", f"{more:,} rather than {at.n:,}")
        ks = dict.fromkeys(max(1, int(part * at.k)) for part in (0.8, 0.65, 0.5, 0.4, 0.3))
        if (fewer := next((k for k in ks if k < at.k and keeps(k=k)), None)) is not None:
            yield Opening("Fewer clusters", f"k = {fewer} rather than {at.k}")
        asked = at.rows_per_person
        fewer_rows = dict.fromkeys(max(1, asked // less) for less in (2, 3, 5, 10))
        if (kept := next((m for m in fewer_rows if m < asked and keeps(rows_per_person=m)), None)) is not None:
            yield Opening("Fewer rows a person", f"keep {kept} of {asked}")
        more_losses = (1.05, 1.1, 1.2, 1.3, 1.5, 2.0, 3.0, 5.0)
        losses = (replace(target, loss=loss) for loss in more_losses if loss > target.loss)
        if (more_loss := next((one for one in losses if keeps(one)), None)) is not None:
            yield Opening("A larger loss", f"{more_loss.above} rather than {target.above}")
        if isfinite(self.least) and (belief := self.belief(self.least)) < 0.995:
            accepted = format_percent(ceil(100 * belief) / 100)
            yield Opening("A larger risk", f"{format_percent(self.risk.prior)} may become {accepted}")

    @classmethod
    def of(cls, answer: RowsAdvice, risk: Risk) -> Window:
        """The window around what was advised; refused where the risk is none."""
        risk.allow()
        return cls(answer, risk)
