"""What is asked of an algorithm: one run, apart from its table; and whether it can be served, before any row is read.

What to expect of it is judged elsewhere (``runs.advice.judgement``). How the ε of a release is divided is said here:
whoever advises one and whoever spends it mean the whole.

The command line, forms, links, files and workers all use these values. Each has one text, which reads back to it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from decimal import Decimal
from typing import Any, NamedTuple
from urllib.parse import urlencode

from dpviz.algorithms import AUTO, CARDS, Card, Params, Setting, find_card, list_private_cards
from dpviz.core import Accounting, PrivateTable, RequestError, Scaling, check
from dpviz.runs.run_sentences import demand, make_refusal

_MOST_SEGMENTS, _MOST_BOUNDS = 0.9, 0.5
_NUMBERS = ("k", "epsilon", "delta")


@dataclass(frozen=True)
class Contender:
    """An algorithm with its parameters; those that are not given keep their defaults.

    ``unlisted`` is a card that stands in no registry; it stays in this process.
    """

    algorithm: str
    params: Mapping[str, Any] = field(default_factory=dict, hash=False)
    unlisted: Card | None = field(default=None, repr=False, compare=False)

    @classmethod
    def of(cls, card: Card | str, params: Params | Mapping[str, Any] | None = None) -> Contender:
        """The contender of a card, or of the id of one."""
        given = asdict(params) if isinstance(params, Params) else dict(params or {})
        if isinstance(card, str):
            return cls(card, given)
        return cls(card.id, given, None if CARDS.get(card.id) is card else card)

    @classmethod
    def parse(cls, algorithm: str, params: Mapping[str, Any]) -> Contender:
        """A contender whose parameters, which may be texts, are of their kinds and in their ranges."""
        settings = find_card(algorithm).params.parse(params)
        return cls(algorithm, {name: getattr(settings, name) for name in params})

    @classmethod
    def from_text(cls, text: str, shared: Mapping[str, str] | None = None) -> Contender:
        """Reads ``ID`` or ``ID:name=value:name=value``; of ``shared`` parameters it takes those that it knows."""
        algorithm, *own = text.split(":")
        known = {param_field.name for param_field in find_card(algorithm).params.param_fields()}
        given = {name: value for name, value in (shared or {}).items() if name in known}
        return cls.parse(algorithm, given | parse_named_values(own))

    def to_text(self) -> str:
        """What ``from_text`` reads.

        >>> Contender("eugkm", {"theta": 3.0}).to_text()
        'eugkm:theta=3'
        """
        return ":".join([self.algorithm, *(f"{name}={format_value(value)}" for name, value in self.params.items())])

    @property
    def card(self) -> Card:
        return self.unlisted or find_card(self.algorithm)

    @property
    def settings(self) -> Params:
        """All parameters, checked."""
        return self.card.params.parse(self.params)

    @property
    def preset(self) -> str:
        """The preset by name, or "" for an algorithm without presets."""
        return str(getattr(self.settings, "preset", ""))

    @property
    def label(self) -> str:
        """The title, with whatever differs from the defaults."""
        card, changed = self.card, []
        for param_field in card.params.param_fields():
            value = self.params.get(param_field.name, param_field.default)
            if value != param_field.default:
                changed.append(str(value) if param_field.name == "preset" else f"{param_field.name} = {value}")
        return f"{card.title} ({', '.join(changed)})" if changed else card.title

    def check_budget(self, epsilon: float, delta: float, *, n: int | None = None) -> None:
        """Refuse an ε and δ that it cannot divide, whatever the table; a public ``n`` makes the advice fit it."""
        accounting = self.card.accounting(self.settings, delta)
        if delta == 0 and accounting not in (Accounting.PURE, Accounting.NONE):
            by_preset = {name: replace(self.settings, **{"preset": name}) for name in self.card.params.list_presets()}
            pure = [name for name, other in by_preset.items() if self.card.accounting(other, 0.0) is Accounting.PURE]
            instead = f", or choose the preset {' or '.join(pure)}" if pure else ""
            usual = f"{check.choose_usual_delta(n):.2g}".replace("e-0", "e-")
            own = "" if self.preset == getattr(self.card.params(), "preset", "") else f" ({self.preset})"
            raise RequestError(f"{self.card.title}{own} needs delta > 0: give, say, delta = {usual}{instead}.")
        accounting.compute_capacity(epsilon=epsilon, delta=delta)


@dataclass(frozen=True)
class Request:
    """One run, apart from its table. A ``seed`` makes a study repeatable; a release has None, and links carry none.

    Numbers of NumPy become those of Python that are as large: what is planned with them must not round.
    """

    contender: Contender
    k: int = 5
    epsilon: float = 1.0
    delta: float = 0.0
    seed: int | None = None

    def __post_init__(self) -> None:
        for name in (*_NUMBERS, "seed"):
            object.__setattr__(self, name, check.to_plain(getattr(self, name)))

    @property
    def algorithm(self) -> str:
        return self.contender.algorithm

    @property
    def params(self) -> Mapping[str, Any]:
        return self.contender.params

    @property
    def card(self) -> Card:
        return self.contender.card

    @property
    def spent_delta(self) -> float:
        """The δ that is spent: none by an algorithm that is ε-DP as it is set."""
        return 0.0 if self.card.accounting(self.contender.settings, self.delta) is Accounting.PURE else self.delta

    def check(self, table: PrivateTable) -> Params:
        """The checked parameters of a request that can be served on ``table``.

        Looks at public quantities only: what is refused, and in which words, tells nothing about a row.
        """
        demand(isinstance(table, PrivateTable), "not_opened", given=type(table).__name__)
        card, params, k, n = self.card, self.contender.settings, self.k, table.n_public
        self.check_numbers()
        check.rows_per_person(rows_per_person=table.rows_per_person)
        if n:
            check.records(n_public=n)
        check.check_delta(table.n_most, delta=self.delta)
        if n is not None and k > n:
            raise RequestError(f"k is {k} but there are {n:,} records: ask for at most that many clusters.")
        if table.sparse and not card.sparse:
            able = " or ".join(f"{other.title} ({other.id})" for other in list_private_cards() if other.sparse)
            raise make_refusal("written_out", who=card.title, columns=table.domain.dim, able=able)
        if card.at_once and not table.in_memory:
            able = ", ".join(other.id for other in list_private_cards() if not other.at_once)
            raise make_refusal("at_once", who=card.title, able=able)
        if card.deals_persons and table.has_persons and not table.in_memory:
            able = ", ".join(other.id for other in list_private_cards() if not (other.at_once or other.deals_persons))
            raise make_refusal("deals_persons", who=card.title, able=able)
        if card.most_coded is not None and table.domain.coded_dim > card.most_coded:
            raise make_refusal("many_coordinates", coordinates=table.domain.coded_dim)
        if (different := table.domain.different_rows) is not None and self.k > different:
            raise make_refusal("few_values", k=self.k, different=different)
        refusal = params.refusal(table.relation)
        if refusal is not None:
            raise RequestError(refusal)
        table.domain.unfold(params.points_per_row(k))
        self.contender.check_budget(self.epsilon, self.delta, n=n)
        return params

    def check_releasable(self, table: PrivateTable) -> None:
        """Refuse what cannot be released with release-grade noise; looks at public quantities only."""
        demand(self.seed is None, "seeded")
        why = self.card.release_refusal(self.make_setting(table), self.contender.settings)
        if self.contender.unlisted is not None:
            why = "it stands in no registry, and nobody here has proved what it does with the rows"
        if why is not None:
            able = ", ".join(other.id for other in CARDS.ours.values() if other.private and other.releasable)
            raise RequestError(f"{self.card.title} cannot be released: {why}; choose one of {able}.")

    def check_numbers(self) -> None:
        """Refuse numbers that no table would make right, so that a slip is told before a large one is read."""
        check.clusters(k=self.k)
        check.epsilon(epsilon=self.epsilon)
        check.check_delta(None, delta=self.delta)
        if self.seed is not None:
            check.seed(seed=self.seed)

    def make_setting(self, table: PrivateTable) -> Setting:
        """The public quantities that it is judged by."""
        return Setting(
            dim=table.domain.dim,
            k=check.clusters(k=self.k),  # a whole number, if it was given as 3.0
            epsilon=self.epsilon,
            delta=self.delta,
            relation=table.relation,
            n=table.n_public,
            rows_per_person=table.rows_per_person,
            coded=table.domain.coded_dim,
            common=table.domain.scaling is Scaling.COMMON and table.domain.dim > 1,
        ).within(table.domain.region.half)

    @property
    def query(self) -> dict[str, str]:
        """What a link says of it, by name; without the seed."""
        own = {f"{self.algorithm}.{name}": format_value(value) for name, value in self.params.items()}
        return {"algorithm": self.algorithm, **own, **{name: format_value(getattr(self, name)) for name in _NUMBERS}}

    def to_query(self) -> str:
        """The same as the query of a link.

        >>> Request(Contender("eugkm", {"theta": 3.0})).to_query()
        'algorithm=eugkm&eugkm.theta=3&k=5&epsilon=1&delta=0'
        """
        return urlencode(self.query, safe=",:=")

    @classmethod
    def from_query(cls, query: Mapping[str, str], *, usual: Request | None = None) -> Request:
        """Reads a link; what it does not say is as ``usual``, and what is not said for this is left alone."""
        usual = usual or cls(Contender(AUTO), delta=check.choose_usual_delta(None))
        named = query.get("algorithm", usual.algorithm)
        algorithm = next((card.id for card in CARDS.values() if card.title == named), named)
        own = {name.partition(".")[2]: value for name, value in query.items() if name.startswith(f"{algorithm}.")}
        kept = usual.contender if not own and algorithm == usual.algorithm else None
        k, epsilon, delta = (parse_number(one, query[one]) if one in query else getattr(usual, one) for one in _NUMBERS)
        cls(usual.contender, k, epsilon, delta).check_numbers()
        return cls(kept or Contender.parse(algorithm, own), int(k), float(epsilon), float(delta))


class EpsilonParts(NamedTuple):
    """What each part of a release may spend; together the whole, by basic composition."""

    bounds: float
    missing: float
    centers: float
    segments: float


@dataclass(frozen=True)
class Division:
    """The parts of the ε of a release that do not go to its centres.

    * ``segments``: the share of what bounds and missing cells leave that says what the segments are; 0: nothing is said
      of them.
    * ``bounds``: the part of ε for each column whose bounds are to be bought.
    * ``missing``: the part of ε for the share of missing cells of all clustered columns; 0: it is not shown.
    """

    segments: float = 0.2
    bounds: float = 0.03
    missing: float = 0.0

    @property
    def named(self) -> dict[str, Any]:
        """Its parts by the names that commands have for them."""
        return {"segments": self.segments, "buy_bounds": self.bounds, "missing": self.missing}

    def check(self) -> None:
        """Refuse parts that are none."""
        check.within(0.0, _MOST_SEGMENTS, segments=self.segments)
        check.within(0.0, _MOST_BOUNDS, bounds=self.bounds, missing=self.missing)

    def divide(self, epsilon: float, *, bought: int) -> EpsilonParts:
        """The parts of ``epsilon`` where the bounds of so many columns are ``bought``.

        >>> Division().divide(1.09, bought=0).centers
        0.872
        """
        # In decimals, as they are written: of four fifths of 1.09 binary numbers make 0.8720000000000001.
        whole, *parts = (Decimal(str(float(part))) for part in (epsilon, self.bounds, self.missing, self.segments))
        bounds, missing = whole * parts[0] * bought, whole * parts[1]
        segments = (whole - bounds - missing) * parts[2]
        return EpsilonParts(*map(float, (bounds, missing, whole - bounds - missing - segments, segments)))

    def find_share(self, *, bought: int = 0) -> float:
        """The part of any ε that goes to the centres; refused where nothing is left.

        >>> round(Division().find_share(), 6), round(Division(segments=0.5).find_share(bought=2), 6)
        (0.8, 0.47)
        """
        self.check()
        share = self.divide(1.0, bought=bought).centers
        if not share > 0:
            raise RequestError("Bounds and segments leave nothing of ε: buy fewer bounds, or give them less.")
        return share


def parse_named_values(texts: Sequence[str]) -> dict[str, str]:
    """``name=value`` texts as a mapping.

    Raises
    ------
    RequestError
        If one has no ``=``, or a name is given twice.
    """
    values: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise RequestError(f"{check.format_value(text)} has no name or no value: write name=value.")
        if name in values:
            raise RequestError(f"{check.format_value(name)} is named twice: give it one value.")
        values[name] = value
    return values


def parse_number(name: str, value: Any) -> Any:
    """A number, or the text of one, which may still be any: its range is checked with its name."""
    if isinstance(text := value, str):
        for kind in (float, int):  # the last that can read it counts
            with suppress(ValueError):
                value = kind(text)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise RequestError(f"{name} is not a number: give one.")
    return value


def format_value(value: object) -> str:
    """A number or a word as a link holds it: as short as reads back to the same."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        short = f"{value:g}"
        return short if float(short) == value else repr(value)
    return "auto" if value is None else str(value)
