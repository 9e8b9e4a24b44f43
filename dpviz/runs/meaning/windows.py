"""A window for ε: at least what keeps an accepted loss, at most what keeps an accepted risk, in one argument.

The lower side is advice at the fewest rows that there may be, rounded up. The upper side is what odds allow, rounded
down. Both are about one person. Where the sides cross there is no window: what would open one is asked again, never
scaled. No row is read.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from math import ceil, floor, inf, isfinite, log10
from typing import Literal, NamedTuple

from dpviz.algorithms import Setting, find_card
from dpviz.core import check
from dpviz.runs.advice.advice import EPSILONS, find_needed_epsilons, load_stored_study, make_advice
from dpviz.runs.advice.known_rows import KnownRows
from dpviz.runs.advice.recommendation import MADE_UP
from dpviz.runs.advice.target import Target
from dpviz.runs.meaning.odds import Belief, compute_allowed_epsilon
from dpviz.words import format_percent

Kind = Literal["window", "wide", "none", "out of reach"]

USUAL_PRIOR, USUAL_ACCEPTED = 0.1, 0.25
"""What is asked about where nobody says otherwise: a guess of 10 % may become 25 %."""

# A window is wide from this ratio of its sides on; and so many times as many rows, and such losses, are asked about.
_WIDE = 5.0
_MORE_ROWS = (1.2, 1.5, 2, 3, 4, 5, 7, 10, 15, 20, 30, 50, 100)
_MORE_LOSS = (1.05, 1.1, 1.2, 1.3, 1.5, 2.0, 3.0, 5.0)
_FEWER_CLUSTERS = (0.8, 0.65, 0.5, 0.4, 0.3)
_FEWER_A_PERSON = (2, 3, 5, 10)
_DIGITS = 3


@dataclass(frozen=True)
class Risk:
    """What nobody's belief about one person may become: of a guess ``prior``, at most ``accepted``."""

    prior: float = USUAL_PRIOR
    accepted: float = USUAL_ACCEPTED

    @property
    def words(self) -> str:
        """Both as percentages.

        >>> Risk().words
        'nobody’s guess of 10 % about a person can become more than 25 %'
        """
        return (
            f"nobody’s guess of {format_percent(self.prior)} about a person can become more than "
            f"{format_percent(self.accepted)}"
        )

    def allow(self, times: float = 1.0) -> float:
        """The largest ε that keeps it, rounded down, where the risk of what ε protects runs so many ``times``.

        >>> Risk().allow(), Risk().allow(4)
        (1.09, 0.274)
        """
        return _round_epsilon(compute_allowed_epsilon(self.prior, self.accepted) / times, up=False)


class Opening(NamedTuple):
    """What would open a window: what to change, and from what to what. It was asked again, not scaled."""

    what: str
    words: str


@dataclass(frozen=True)
class Window:
    """Between which ε both an accepted loss and an accepted risk are kept."""

    setting: Setting
    most_rows: int
    target: Target
    risk: Risk
    algorithm: str
    least: float
    least_of_many: float
    most: float
    openings: tuple[Opening, ...] = ()
    times: float = 1.0

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
        return find_card(self.algorithm).title if self.algorithm else ""

    @property
    def finding(self) -> str:
        """The answer as a title of at most fifty characters."""
        least, most = format_epsilon(self.least, up=True), format_epsilon(self.most)
        match self.kind:
            case "window":
                return f"Choose ε between {least} and {most}" if least != most else f"Choose ε = {least}"
            case "wide":
                return f"Choose ε = {least}: less would lose more"
            case "none":
                return f"No ε keeps both: {least} needed, {most} allowed"
        return f"No ε up to {EPSILONS[-1]:g} keeps this loss"

    @property
    def sentence(self) -> str:
        """Why, in sentences."""
        least, most = format_epsilon(self.least, up=True), format_epsilon(self.most)
        rows = f"{self.setting.n:,} rows"
        loss = f"{self.target.describe_often(f'{MADE_UP} of {rows}')} lose at most {self.target.above} ({self.who})"
        match self.kind:
            case "window":
                why = f"From {least} on, {loss}. Up to {most}, {self.risk.words}."
                return f"{why} Take the lower end, unless this release is the only one."
            case "wide":
                return (
                    f"From {least} on, {loss}; the accepted risk would allow {most}. More than "
                    f"{format_epsilon(2 * self.least)} buys little loss: keep the rest for later releases."
                )
            case "none":
                return f"From {least} on, {loss}. Up to {most}, {self.risk.words}. One of these would open a window:"
        lost = f"Nobody keeps {self.target.describe_often(f'{MADE_UP} of {rows}')} within {self.target.above} with k = "
        return f"{lost}{self.setting.k}. The accepted risk allows {most}. One of these would open a window:"

    def argument(self, epsilon: float, *, of_algorithm: float | None = None) -> str:
        """Why ``epsilon``, in sentences for a card: public values only, and true of any ε, also of one outside.

        The loss follows from what the algorithm may spend of it, ``of_algorithm``.
        """
        spent = epsilon if of_algorithm is None else of_algorithm
        least, most = format_epsilon(self.least, up=True), format_epsilon(self.most)
        tables = self.target.describe_often(f"{MADE_UP} of {self.setting.n:,} rows")
        if spent >= self.least * (1 - 1e-9):
            loss = f"it keeps the accepted loss: from {least} on, {tables} lose at most {self.target.above}"
            loss += " more than k-means++"
        else:
            takes = f"that takes {least}" if isfinite(self.least) else f"no ε up to {EPSILONS[-1]:g} does"
            takes += f", and {spent:.3g} goes to the centres" if isfinite(self.least) and spent < epsilon else ""
            loss = f"it does not keep the accepted loss of {self.target.above} over k-means++: {takes}"
        kept = "keeps" if epsilon <= self.most * (1 + 1e-9) else "does not keep"
        beyond = f", but with the chance δ = {self.setting.delta:g}" if self.setting.delta > 0 else ""
        return f"ε = {epsilon:g}: {loss}. It {kept} the accepted risk: up to {most}, {self.risk.words}{beyond}."

    def belief(self, epsilon: float) -> float:
        """The most that the guess can become at an ε of a release, whose rows a person count together."""
        return Belief.bound(self.risk.prior, epsilon=epsilon * self.times).most


@lru_cache(maxsize=128)
def find_window(
    setting: Setting, *, most_rows: int | None = None, target: Target, risk: Risk, rows_of_a_person: int | None = None
) -> Window:
    """The window for a table; the ε of ``setting`` is not read."""
    check.check_delta(most_rows or setting.n, delta=setting.delta)
    times = count_times(setting.rows_per_person, rows_of_a_person)
    most = risk.allow(times)
    advice = make_advice(setting, target=target)
    many = setting if most_rows is None else replace(setting, n=max(most_rows, setting.n or 0))
    algorithm = advice.leading.algorithm if advice.leading is not None else ""
    window = Window(
        replace(setting, epsilon=1.0),
        many.n or 0,
        target,
        risk,
        algorithm,
        advice.epsilon,
        _find_least(many, target),
        most,
        times=times,
    )
    if window.kind in ("window", "wide"):
        return window
    return replace(window, openings=tuple(_list_openings(window, times)))


def count_times(rows_protected: int, rows_of_a_person: int | None) -> float:
    """How many times the risk of what ε protects somebody runs who may have more rows than that."""
    return max(1.0, (rows_of_a_person or 1) / rows_protected)


def find_studied_window(
    setting: Setting, rows: KnownRows, *, target: Target, risk: Risk, rows_of_a_person: int | None = None
) -> Window | None:
    """The window for about so many rows; None where the stored study has no such tables. Else as ``find_window``."""
    check.at_least(setting.k, n=rows.low)
    setting = replace(setting, n=rows.low, epsilon=1.0)
    if not load_stored_study(with_delta=setting.delta > 0).reaches(replace(setting, epsilon=EPSILONS[-1])):
        return None
    return find_window(setting, most_rows=rows.high, target=target, risk=risk, rows_of_a_person=rows_of_a_person)


def _list_openings(window: Window, times: float) -> Iterator[Opening]:
    """What would open a window, the cheapest first of each kind; what does not help is left out."""
    at, target, most = window.setting, window.target, window.most
    assert at.n is not None

    def keeps(other: Setting, kept: Target = target, allowed: float = most) -> bool:
        return _find_least(other, kept) <= allowed

    rows = (_round_rows(at.n * more) for more in _MORE_ROWS)
    if (more := next((n for n in rows if keeps(replace(at, n=n))), None)) is not None:
        yield Opening("More rows", f"{more:,} rather than {at.n:,}")
    ks = dict.fromkeys(max(1, int(part * at.k)) for part in _FEWER_CLUSTERS)
    if (fewer := next((k for k in ks if k < at.k and keeps(replace(at, k=k))), None)) is not None:
        yield Opening("Fewer clusters", f"k = {fewer} rather than {at.k}")
    if times > 1:
        parts = dict.fromkeys(max(1.0, times / less) for less in _FEWER_A_PERSON)
        fewest = next((part for part in parts if keeps(at, allowed=most * times / part)), None)
        if fewest is not None:
            kept, asked = round(fewest * at.rows_per_person), round(times * at.rows_per_person)
            yield Opening("Fewer rows a person", f"keep {kept} of {asked}")
    elif at.rows_per_person > 1:
        kept_rows = dict.fromkeys(max(1, at.rows_per_person // less) for less in _FEWER_A_PERSON)
        fewest_rows = next((m for m in kept_rows if keeps(replace(at, rows_per_person=m))), None)
        if fewest_rows is not None:
            yield Opening("Fewer rows a person", f"keep {fewest_rows} of {at.rows_per_person}")
    losses = (replace(target, loss=loss) for loss in _MORE_LOSS if loss > target.loss)
    if (more_loss := next((one for one in losses if keeps(at, one)), None)) is not None:
        yield Opening("A larger loss", f"{more_loss.above} rather than {target.above}")
    if isfinite(window.least):
        belief = Belief.bound(window.risk.prior, epsilon=window.least * times).most
        if belief < 0.995:
            accepted = format_percent(ceil(100 * belief) / 100)
            yield Opening("A larger risk", f"{format_percent(window.risk.prior)} may become {accepted}")


@lru_cache(maxsize=2048)
def _find_least(setting: Setting, target: Target) -> float:
    """The least ε that keeps the loss with any algorithm."""
    return min(find_needed_epsilons(setting, target).values(), default=inf)


def _round_rows(rows: float) -> int:
    """Upwards, to two digits."""
    unit = 10 ** max(0, floor(log10(max(rows, 1))) - 1)
    return int(ceil(rows / unit) * unit)


def format_epsilon(epsilon: float, *, up: bool = False) -> str:
    """An ε in three digits, rounded to the safe side: down what is allowed, ``up`` what is needed.

    >>> format_epsilon(1.09861), format_epsilon(0.30001, up=True), format_epsilon(float("inf"))
    ('1.09', '0.301', '∞')
    """
    return f"{_round_epsilon(epsilon, up=up):.{_DIGITS}g}" if isfinite(epsilon) else "∞"


def _round_epsilon(epsilon: float, *, up: bool) -> float:
    if epsilon <= 0 or not isfinite(epsilon):
        return epsilon
    unit = 10.0 ** (floor(log10(epsilon)) - _DIGITS + 1)
    steps = ceil(epsilon / unit - 1e-9) if up else floor(epsilon / unit + 1e-9)
    return float(f"{steps * unit:.{_DIGITS}g}")
