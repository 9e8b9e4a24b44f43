"""What is asked of a release: one run, a share for segments, the owner's words; and how its ε is divided.

All that its files say beside what was drawn is here: plain values, none of them of a row. It is a part of the
transcript, so that whoever reads one can make every file again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from math import isqrt
from typing import Any, NamedTuple

from dpviz.algorithms import CARDS
from dpviz.core import Accounting, RequestError, check
from dpviz.releases.account import Charge, read_user
from dpviz.releases.card_facts import (
    ALGORITHM,
    OF_BOUNDS,
    OF_MISSING,
    OF_SEGMENTS,
    AccessCounts,
    CardWords,
    CostPart,
    Where,
    is_day,
)
from dpviz.runs import Contender, Request
from dpviz.tables import Declaration, codings, declarations
from dpviz.words import list_names

_MOST_SEGMENTS, _MOST_BOUNDS = 0.9, 0.5
# Squared clusters times columns: starts that are spread out cost so much, and whoever verifies plays them again.
_MOST_WORK = 2**28


@dataclass(frozen=True)
class ReleaseRequest:
    """A release, apart from its table and its account.

    Attributes
    ----------
    request : Request
        With the ε and δ of the whole release, and no seed.
    words : CardWords
    segments : float
        The share of ε that says what the segments are; 0: nothing is said of them.
    bounds : float
        The part of ε for each column whose bounds are to be bought.
    missing : float
        The part of ε for the share of missing cells of all clustered columns; 0: it is not shown.
    who : str
    seen : AccessCounts
        What was seen of the rows before.
    expected_loss : str
        What was to be expected before the press, in words, from public numbers.
    """

    request: Request
    words: CardWords
    segments: float = 0.2
    bounds: float = 0.03
    missing: float = 0.0
    who: str = field(default_factory=read_user)
    seen: AccessCounts = field(default_factory=AccessCounts)
    expected_loss: str = ""

    @property
    def parts(self) -> dict[str, float]:
        """Parts of ε by the names that ``dpviz.release`` has for them."""
        return {"segments": self.segments, "buy_bounds": self.bounds, "missing": self.missing}

    def check(self, declaration: Declaration) -> None:
        """Refuse what could not be defended, before anything is charged or a row is read."""
        self.request.check_numbers()
        if self.request.seed is not None:
            raise RequestError(
                "A seed was given: whoever knows it can take the noise off, so that a release has none; leave it out."
            )
        check.within(0.0, _MOST_SEGMENTS, segments=self.segments)
        check.within(0.0, _MOST_BOUNDS, bounds=self.bounds, missing=self.missing)
        if missing := self.words.list_missing():
            raise RequestError(" ".join(missing))
        refuse_bounds(declaration)
        k = self.request.k
        dim = sum(len(declaration.codings.get(name, codings.NUMBER).labels(name)) for name in declaration.columns)
        if k * k * dim > _MOST_WORK:
            raise RequestError(
                f"k is {k} for {dim} columns: others could not check that release in bounded time; ask for at most "
                f"{isqrt(_MOST_WORK // dim)} clusters."
            )
        shares = self.shares(declaration)
        if not shares[ALGORITHM].epsilon > 0:
            raise RequestError("Bounds and segments leave nothing of ε: buy fewer bounds, or give them less.")

    def shares(self, declaration: Declaration) -> dict[str, CostPart]:
        """What each part of the release may spend; together the whole, by basic composition."""
        epsilon = self.request.epsilon
        bounds = epsilon * self.bounds * len(declaration.open_columns)
        missing = epsilon * self.missing
        segments = (epsilon - bounds - missing) * self.segments
        costs = {OF_BOUNDS: bounds, OF_MISSING: missing, ALGORITHM: epsilon - bounds - missing - segments}
        costs[OF_SEGMENTS] = segments
        return {
            name: CostPart(name, cost, self.delta if name == ALGORITHM else 0.0)
            for name, cost in costs.items()
            if cost or name == ALGORITHM
        }

    @property
    def delta(self) -> float:
        """The δ that is spent: none by an algorithm that is ε-DP as it is set."""
        contender = self.request.contender
        accounting = contender.card.accounting(contender.settings, self.request.delta)
        return 0.0 if accounting is Accounting.PURE else self.request.delta

    def make_algorithm_request(self, declaration: Declaration) -> Request:
        """The run, for its part of the release."""
        return self.make_request(self.shares(declaration)[ALGORITHM])

    def make_request(self, share: CostPart) -> Request:
        """The run, for so much of the release."""
        return replace(self.request, epsilon=share.epsilon, delta=share.delta)

    def charge(self, declaration: Declaration) -> Charge:
        """What the account is charged."""
        bought = declaration.open_columns
        bounds = [(low or 0.0, high or 0.0) for low, high in zip(declaration.lower, declaration.upper, strict=True)]
        closed = [name for name in declaration.columns if name not in bought]
        of_closed = [pair for name, pair in zip(declaration.columns, bounds, strict=True) if name in closed]
        return Charge(
            epsilon=self.request.epsilon,
            delta=self.delta,
            algorithm=self.request.algorithm,
            k=self.request.k,
            unit=describe_unit(declaration),
            relation=declaration.relation,
            columns=tuple(closed or declaration.columns),
            lower=tuple(low for low, _ in of_closed or bounds),
            upper=tuple(high for _, high in of_closed or bounds),
            who=self.who,
        )


def refuse_bounds(declaration: Declaration) -> None:
    """Let only bounds pass that somebody can defend."""
    if declaration.bounds_from_rows:
        raise RequestError(
            f'Some bounds are said to come from "{declarations.FROM_ROWS}": no ε covers what they tell. Declare bounds '
            "that are known without the rows, or leave them open (null), and they are bought."
        )
    if nowhere := declaration.unexplained:
        raise RequestError(
            f"Nobody says where the bounds of {list_names(nowhere)} come from, and a release has to defend them: "
            "put it "
            'into "origins" or "bounds_origin" of the declaration.'
        )


class AccountThen(NamedTuple):
    """An account as it stood at the moment of the charge, and what it was charged."""

    name: str
    cap_epsilon: float
    cap_delta: float
    spent_epsilon: float
    spent_delta: float
    charged_epsilon: float
    charged_delta: float


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A release apart from its noise."""

    version: str
    noise: str
    platform: str
    code: str
    date: str
    release_request: ReleaseRequest
    n_public: int | None
    declared: Declaration
    account: AccountThen

    def to_dict(self) -> dict[str, Any]:
        """Plain values, which ``of`` reads."""
        release_request, request = self.release_request, self.release_request.request
        settings = asdict(request.contender.settings)
        return {
            "version": self.version,
            "noise": self.noise,
            "platform": self.platform,
            "code": self.code,
            "date": self.date,
            "request": {
                "algorithm": request.algorithm,
                "k": int(request.k),
                "epsilon": float(request.epsilon),
                "delta": float(request.delta),
                "parameters": {name: value for name, value in settings.items() if value is not None},
            },
            "segments": float(release_request.segments),
            "bounds": float(release_request.bounds),
            "missing": float(release_request.missing),
            "words": {
                name: list(said) if isinstance(said, tuple) else said
                for name, said in asdict(release_request.words).items()
            },
            "seen": {**asdict(release_request.seen), "where": release_request.seen.where.value},
            "expected_loss": release_request.expected_loss,
            "n_public": self.n_public,
            "declared": declarations.to_json(self.declared),
            "account": self.account._asdict(),
        }

    @classmethod
    def of(cls, said: Mapping[str, Any]) -> Asked:
        """What plain values from anywhere say."""
        from dpviz.releases.release_document import AskedDocument  # slow to import
        from dpviz.words import documents

        document = documents.read_document(AskedDocument, said, RequestError, whole=True)
        request, seen = document.request, document.seen
        if request.algorithm not in CARDS.ours:
            raise RequestError("Its algorithm is none of those that dpviz releases.")
        contender = Contender.parse(request.algorithm, request.parameters)
        release_request = ReleaseRequest(
            Request(contender, request.k, request.epsilon, request.delta),
            CardWords(**document.words.list_given()),
            segments=document.segments,
            bounds=document.bounds,
            missing=document.missing,
            who="",
            seen=AccessCounts(**{**seen.list_given(), "where": Where(seen.where)}),
            expected_loss=document.expected_loss,
        )
        declared = declarations.apply_declaration(document.declared).validate()
        release_request.check(declared)
        if not is_day(document.date):
            raise RequestError("Its date is no day.")
        return cls(
            version=document.version,
            noise=document.noise,
            platform=document.platform,
            code=document.code,
            date=document.date,
            release_request=release_request,
            n_public=document.n_public,
            declared=declared,
            account=AccountThen(**document.account.list_given()),
        )


def describe_unit(declaration: Declaration) -> str:
    """The unit of privacy in words."""
    if declaration.id_column is None:
        return "1 row"
    plural = "" if declaration.rows_per_person == 1 else "s"
    return f"1 person, up to {declaration.rows_per_person} row{plural}"
