"""A card: everything that a form, a page, a sweep or a test needs to know about an algorithm.

What is to be expected of a setting before any run stands here, too: lights, and what a bench announced.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, replace
from enum import Enum
from functools import cache
from math import ceil, floor, log10
from typing import Any, Literal, NamedTuple, TypeVar, get_args, get_type_hints

import numpy as np

from dpviz.algorithms.size_estimates import Sizes
from dpviz.algorithms.steps import Step
from dpviz.core import Accounting, Array, Budget, Codes, NoiseDraws, PrivateSession, Region, Relation, check, mechanisms
from dpviz.words import format_percent, read_toml

M = TypeVar("M")  # a mechanism
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


class LossDiagnostic(NamedTuple):
    """How much is left of the loss of one centre, and what speaks against the centres.

    ``share`` is an estimate of the loss over that of one centre in the middle of all rows; for nine runs in ten of a
    bench of generated tables it lay between ``low`` and ``high``. ``doubts`` are sentences; none where nothing that was
    released speaks against the centres.
    """

    share: float
    low: float
    high: float
    doubts: tuple[str, ...]

    @property
    def words(self) -> str:
        """The same in words, without a full stop.

        >>> LossDiagnostic(0.0512, 0.02, 0.31, ()).words
        'By released values alone, the loss is about 5.1 % of that of one centre (2 % to 31 %)'
        >>> LossDiagnostic(0.996, 1e-9, 7.0, ()).words
        'By released values alone, the loss is about 100 % of that of one centre (under 0.1 % to 100 %)'
        """
        ends = (self.share, self.low, self.high)
        # Two digits; a part that next to nothing is left of has none that mean anything.
        share, low, high = (format_percent(float(f"{min(one, 1.0):.2g}"), least=1e-3) for one in ends)
        share = share if share.startswith("under") else f"about {share}"
        told = f"By released values alone, the loss is {share} of that of one centre ({low} to {high})"
        return ". ".join((told, *(doubt.rstrip(".") for doubt in self.doubts)))


class Guarantee(Enum):
    """What an algorithm can promise."""

    PURE = "pure"
    """ε-DP, δ = 0."""
    APPROX = "approx"
    """(ε, δ)-DP with δ > 0."""
    NONE = "none"
    """No privacy."""


Does = Literal["Everything", "Grid", "Tree", "Rounds", "Blocks", "Tuples", "Local", "No privacy"]
"""What an algorithm does with the rows, in one word: how it is found among the others."""

DOES: Mapping[Does, str] = {
    "Everything": "Takes what suits the table: a grid first, then noisy means.",
    "Grid": "Counts the rows in every cell of a grid, with noise.",
    "Tree": "Halves the space again and again where noisy counts say that there are rows.",
    "Rounds": "Moves the centres round by round, each time with noise.",
    "Blocks": "Clusters many secret blocks of rows, and releases a noisy average of the answers.",
    "Tuples": "Clusters secret blocks of rows, and answers only if nearly all of them agree.",
    "Local": "Every person adds noise to the own row before anybody sees it.",
    "No privacy": "What could be had without any privacy.",
}
"""The words in the order in which they are offered, and what each means."""


@dataclass(frozen=True)
class ParamField:
    """How a parameter is offered: its range, or its choices, and one sentence of help."""

    name: str
    default: Any
    kind: type
    help: str
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] | None = None
    optional: bool = False

    def parse(self, value: Any) -> Any:
        """A checked value from text or a number.

        Raises
        ------
        RequestError
            If it is not of the parameter's kind, or outside its range or choices.
        """
        if self.optional and (value is None or str(value).lower() in ("none", "auto", "")):
            return None
        if self.kind is bool:
            check.one_of(("true", "false"), **{self.name: str(value).lower()})
            return str(value).lower() == "true"
        if self.choices is not None:
            check.one_of(self.choices, **{self.name: str(value)})
            return str(value)
        try:
            number = self.kind(value) if self.kind is float else int(str(value))
        except (TypeError, ValueError, OverflowError):
            wanted = f"{'a whole number' if self.kind is int else 'a number'} {self.range_text}"
            raise check.RequestError(f"{self.name} is {check.format_value(value)}: give {wanted}.") from None
        low, high = -1e300 if self.low is None else self.low, 1e300 if self.high is None else self.high
        check.within(low, high, **{self.name: number})
        return number

    @property
    def range_text(self) -> str:
        """The range in words."""
        return f"from {self.low:g} to {self.high:g}" if self.low is not None and self.high is not None else ""


def param_field(
    default: Any,
    *,
    help: str = "",
    low: float | None = None,
    high: float | None = None,
    choices: tuple[str, ...] | None = None,
) -> Any:
    """A field of a parameter dataclass that knows how to be offered; a default of None means "decided by a rule".

    Parameters
    ----------
    default : object
        None: decided by a rule.
    help : str
        One sentence; left out by our own algorithms, whose sentences stand in ``params.toml``.
    low : float or None
        The least value, if there is one.
    high : float or None
        The largest value, if there is one.
    choices : tuple of str or None
        The allowed words, if it is a choice.

    Returns
    -------
    object
        A dataclass field.
    """
    return field(default=default, metadata={"help": help, "low": low, "high": high, "choices": choices})


@dataclass(frozen=True)
class Params:
    """Base of all parameter dataclasses: no parameters."""

    @classmethod
    @cache
    def param_fields(cls) -> tuple[ParamField, ...]:
        """The parameters as they are offered."""
        hints = get_type_hints(cls)
        made = []
        for f in fields(cls):
            kinds = [kind for kind in get_args(hints[f.name]) or (hints[f.name],) if kind is not type(None)]
            default = None if f.default is MISSING else f.default
            told = {**f.metadata, "help": f.metadata.get("help") or cls._find_help(f.name)}
            made.append(ParamField(f.name, default, kinds[0], **told, optional=type(None) in get_args(hints[f.name])))
        return tuple(made)

    @classmethod
    def _find_help(cls, name: str) -> str:
        """What ``params.toml`` says of a parameter of ours that has no sentence of its own."""
        listed, ours = (
            read_toml(__file__, "params.toml"),
            [base for base in cls.__mro__ if base.__module__.startswith("dpviz.")],
        )
        for one in (*(base.__name__ for base in ours), *(["shared"] if cls in ours else [])):
            if name in listed.get(one, {}):
                return str(listed[one][name])
        raise TypeError(f"{cls.__name__}.{name} says nothing of itself: give param_field one sentence of help.")

    @classmethod
    def list_presets(cls) -> tuple[str, ...]:
        """The presets by name; none where there are none."""
        return next((one.choices or () for one in cls.param_fields() if one.name == "preset"), ())

    @classmethod
    def parse(cls, values: Mapping[str, Any]) -> Params:
        """Checked parameters; what is not given keeps its default.

        Raises
        ------
        RequestError
            For an unknown name or a value that its field refuses.
        """
        param_fields = {k.name: k for k in cls.param_fields()}
        for name in values:
            if name not in param_fields:
                allowed = ", ".join(param_fields) or "none"
                raise check.RequestError(
                    f"There is no parameter {check.format_value(name)} here: the parameters are {allowed}."
                )
        return cls(**{name: param_fields[name].parse(value) for name, value in values.items()})

    def points_per_row(self, k: int) -> int:
        """How many points a row stands for, side by side: the ``k`` centres live where one of them does."""
        return 1

    def refusal(self, relation: Relation) -> str | None:
        """Why a table under ``relation`` cannot be served, as a sentence; None if it can."""
        return None


@dataclass(frozen=True)
class Setting:
    """The public quantities that a run is judged by before it starts.

    Of ``dim`` coordinates ``coded`` are those of categories and circles. With a ``common`` scale for all columns one of
    them may have most of the spread. A grid can lie over its ``wide`` columns, beside which the domain is thin (None:
    nowhere, as far as known): ``beside`` is how wide that is, over the widest column.
    """

    dim: int
    k: int
    epsilon: float
    delta: float
    relation: Relation = Relation.ADD_REMOVE
    n: int | None = None
    rows_per_person: int = 1
    coded: int = 0
    common: bool = False
    wide: int | None = None
    beside: float = 0.0

    @classmethod
    def of(cls, session: PrivateSession, k: int, n: int) -> Setting:
        """Where a session and its algorithm are, with ``n`` rows."""
        ledger, each = session.ledger, session.rows_per_person
        return cls(session.dim, k, ledger.epsilon, ledger.delta, session.relation, n, each).within(session.region.half)

    @property
    def rows(self) -> float:
        """The number of rows where it is known, else 0."""
        return float(self.n or 0)

    def within(self, half: Array) -> Setting:
        """The same in a domain of ``half`` widths (d,): which of its columns are wide, and how wide it is beside."""
        beside = float(np.linalg.norm(np.delete(half, find_wide_columns(half))) / half.max())
        return replace(self, wide=_count_wide_columns(half), beside=beside)

    def calibrate(self, query: Any, kind: mechanisms.Kind[Any, M], share: Budget, *, of_blocks: bool = False) -> M:
        """What ``share`` buys to answer ``query`` about rows of the unit ball, one a person: without a session.

        Or about the models ``of_blocks`` of rows, one of which is replaced: k points each of a box of half-widths 1.
        """
        if of_blocks:
            half = np.ones(self.k * self.dim)
            region = Region(half, float(np.linalg.norm(half)))
            return mechanisms.calibrate_mechanism(query, kind, share, Relation.REPLACE, region)
        return mechanisms.calibrate_mechanism(query, kind, share, self.relation, Region.ball(self.dim, 1.0))

    def budget(self, accounting: Accounting) -> Budget:
        """What a run may spend in all."""
        amount = accounting.compute_capacity(epsilon=self.epsilon, delta=self.delta)
        return Budget(accounting, amount, self.delta if accounting is Accounting.BASIC else 0.0)


# Up to so many columns a grid lies over the rows themselves; beyond, over a few axes.
FLAT_DIM = 3
# Over up to so many a grid lies, too, if they are no wider than that many equal ones: by their squares, of which sums
# of squared distances are made, as people are counted who have unlike weights (Kish). Chosen on real tables.
_BOX_DIM = 6
# Unless all but so few columns are thin: together so narrow, over the widest one. There are at least so many wide ones,
# as over two columns tails are seen that over one are taken for noise. As many as a grid takes are the wide ones where
# the others are narrower than the last says. Chosen on real tables, too (docs/findings.md).
THIN = 0.05
_FEWEST_WIDE = 2
_NARROW = 1 / 6


def find_wide_columns(half: Array) -> Codes:
    """Columns along which a domain of ``half`` widths (d,) is wide, if a grid can lie over these; else all of them."""
    # Bounds are public: a grid may lie over the wide columns alone before a row is read.
    return np.sort(np.argsort(-half, kind="stable")[: _count_wide_columns(half)])


def _count_wide_columns(half: Array) -> int | None:
    """Over how many of more than three columns a grid can lie; None where it cannot, or there are no more."""
    if len(half) <= FLAT_DIM:
        return None
    squares = np.sort((half / half.max()) ** 2)[::-1]
    beside = np.sqrt(np.cumsum(squares[::-1])[::-1])
    number = max(int((beside > THIN).sum()), _FEWEST_WIDE)
    most = _BOX_DIM if squares.sum() ** 2 <= FLAT_DIM * (squares**2).sum() else FLAT_DIM
    for few in (FLAT_DIM, most):
        if few < number and beside[few] <= _NARROW:
            number = few
    return number if number <= most else None


AccountingRule = Callable[[Any, float], Accounting]


def always(accounting: Accounting) -> AccountingRule:
    """The same accounting for all parameters and every δ."""
    return lambda params, delta: accounting


def pure_or(approximate: Accounting) -> AccountingRule:
    """Pure ε without δ, another accounting with it, whatever the parameters."""
    return lambda params, delta: approximate if delta > 0 else Accounting.PURE


PURE, PURE_OR_ZCDP = always(Accounting.PURE), pure_or(Accounting.ZCDP)


def read_card(algorithm: str) -> dict[str, Any]:
    """The id of one of our algorithms, and what ``cards.toml`` says of it: fields of its card."""
    listed = read_toml(__file__, "cards.toml")
    said = {name: value for name, value in listed[algorithm].items() if name != "home"}
    said |= {name: said[name].format_map(listed["shared"]) for name in ("paper", "release") if name in said}
    if said.get("release") == "always":
        said["release"] = _release_always
    if "categories" in said:
        of_categories = listed["categories"][said["categories"]]
        said["categories"] = OfCategories(Level(of_categories["level"]), of_categories["why"])
    return {"id": algorithm, "guarantees": tuple(map(Guarantee, said.pop("guarantees"))), **said}


@cache
def list_homes() -> dict[str, str]:
    """The module of the card of each of our algorithms, by its id."""
    return {name: said["home"] for name, said in read_toml(__file__, "cards.toml").items() if "home" in said}


ReleaseRule = Callable[[Setting, Any], str | None]


def _release_always(setting: Setting, params: Any) -> None: ...  # every setting has release-grade noise


Plan = Callable[[PrivateSession, int, Any, np.random.Generator], Iterator[Step]]


@dataclass(frozen=True)
class Card:
    """An algorithm's entry in the registry.

    * ``does``: what it does with the rows: a word of ``DOES``.
    * ``family``, ``paper``: where it is from: in short, and in full.
    * ``summary``, ``story``, ``when``: one sentence what it does, a few for its page, when to use it and when not.
    * ``guarantees``: what it can promise, by its settings.
    * ``plan``: a generator ``plan(session, k, params, rng)`` of steps; the last step carries the centres.
    * ``accounting``: that a run uses, by (params, delta).
    * ``draws``: all draws of a run under PLD accounting, by (session, k, params), before a scale calibrates them. The
      session has answered nothing yet: where the number of rows is private, it has none. What comes after may divide
      Gaussian draws otherwise, and nothing else.
    * ``smallest_n``: the fewest records for which the result is not mostly noise, by (setting, params); ``hopeless``
      is what goes wrong below that, as a clause.
    * ``expect``: what a bench was fitted to, by (setting, params); where it is known, what to expect is told by it.
    * ``loss_diagnostic``: what a finished run says of itself by released values alone, by (steps, region).
    * ``sizes``: what everything that was released says of the rows of each cluster, by (steps, region); else the
      counts of the last step do.
    * ``operations``: a rough number of elementary operations, by (setting, params), for progress and placement.
    * ``needs_n``: whether the plan reads ``session.n``.
    * ``sample``: a sample table that suits it.
    * ``formula``: LaTeX of the one formula to show, or "".
    * ``sparse``: whether it can serve a sparse table, whose rows are never written out in full.
    * ``local``: whether it stands in the local model: every user hides the own row, and nobody is trusted with rows.
    * ``at_once``: whether it needs all rows at once, not sums of them only: then memory has to hold the table.
    * ``deals_persons``: whether it has to know whose each row is, where a person may have several: then memory has to
      hold a table with an id column.
    * ``release``: why it has no release-grade noise; or, by (setting, params), why a setting has none, None where it
      has.
    * ``most_coded``: the most coordinates that categories and circles may make; None: as many as there are.
    * ``categories``: what it is worth where there are any, if that is less than elsewhere.
    * ``brought_by``: the installed package that brings it, and its version; "" where it is ours.
    """

    id: str
    title: str
    does: Does
    family: str
    paper: str
    summary: str
    story: str
    when: str
    guarantees: tuple[Guarantee, ...]
    params: type[Params]
    plan: Plan
    accounting: AccountingRule
    draws: Callable[[PrivateSession, int, Any], Sequence[NoiseDraws]] | None = None
    smallest_n: Callable[[Setting, Any], float] | None = None
    expect: Callable[[Setting, Any], Expectation] | None = None
    hopeless: str = ""
    loss_diagnostic: Callable[[Sequence[Step], Region], LossDiagnostic | None] | None = None
    sizes: Callable[[Sequence[Step], Region], Sizes | None] | None = None
    operations: Callable[[Setting, Any], float] | None = None
    needs_n: bool = True
    sample: str = "fifteen"
    formula: str = ""
    sparse: bool = False
    local: bool = False
    at_once: bool = False
    deals_persons: bool = False
    release: str | ReleaseRule = "nobody has shown that its noise has an exact twin"
    most_coded: int | None = None
    categories: OfCategories | None = None
    brought_by: str = ""

    @property
    def private(self) -> bool:
        return Guarantee.NONE not in self.guarantees

    @property
    def releasable(self) -> bool:
        """Whether some of its settings have release-grade noise."""
        return not isinstance(self.release, str)

    def release_refusal(self, setting: Setting, params: Params) -> str | None:
        """Why a setting cannot be released with release-grade noise, as a clause; None if it can.

        Returns
        -------
        str or None
            A clause, or None where it can.
        """
        return self.release if isinstance(self.release, str) else self.release(setting, params)
