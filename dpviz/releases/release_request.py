"""What is asked of a release: one run, a share for segments, the owner's words; and how its ε is divided."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import isqrt
from typing import Any

from dpviz.core import Accounting, RequestError, check
from dpviz.releases.account import Charge, read_user
from dpviz.releases.bought_bounds import list_open_columns
from dpviz.releases.card_facts import NOT_STATED, CardWords, CostPart
from dpviz.releases.seen import AccessCounts
from dpviz.runs import Request
from dpviz.tables import Declaration, codings, declarations
from dpviz.words import list_names

SEGMENTS = 0.2
"""The share of ε that segments get where nobody says otherwise."""

BOUNDS = 0.03
"""The part of ε that buys the bounds of one column."""

_MOST_SEGMENTS, _MOST_BOUNDS = 0.9, 0.5
# Squared clusters times columns: starts that are spread out cost so much, and whoever verifies plays them again.
_MOST_WORK = 2**28
ALGORITHM, OF_SEGMENTS, OF_BOUNDS, OF_MISSING = "algorithm", "segments", "bounds", "missing cells"
"""The parts of a release: each has a ledger of its own, and they add up."""


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
    segments: float = SEGMENTS
    bounds: float = BOUNDS
    missing: float = 0.0
    who: str = field(default_factory=read_user)
    seen: AccessCounts = field(default_factory=AccessCounts)
    expected_loss: str = ""

    @property
    def parts(self) -> dict[str, float]:
        """Parts of ε by the names that ``dpviz.release`` has for them."""
        return {"segments": self.segments, "buy_bounds": self.bounds, "missing": self.missing}

    def check(self, declaration: Declaration) -> None:
        """Refuse what could not be defended, before anything is charged or a row is read.

        Raises
        ------
        RequestError
            If a number is not allowed, a word is missing, or a bound comes from the rows or from nowhere.
        """
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
        bounds = epsilon * self.bounds * len(list_open_columns(declaration))
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

    def charge(self, declaration: Declaration, *, unit: str) -> Charge:
        """What the account is charged.

        Parameters
        ----------
        declaration : Declaration
            What is declared of the table.
        unit : str
            What is protected, in words.

        Returns
        -------
        Charge
            ε, δ and what the account says of it.
        """
        bought = list_open_columns(declaration)
        bounds = [(low or 0.0, high or 0.0) for low, high in zip(declaration.lower, declaration.upper, strict=True)]
        closed = [name for name in declaration.columns if name not in bought]
        of_closed = [pair for name, pair in zip(declaration.columns, bounds, strict=True) if name in closed]
        return Charge(
            epsilon=self.request.epsilon,
            delta=self.delta,
            algorithm=self.request.algorithm,
            k=self.request.k,
            unit=unit,
            relation=declaration.relation,
            columns=tuple(closed or declaration.columns),
            lower=tuple(low for low, _ in of_closed or bounds),
            upper=tuple(high for _, high in of_closed or bounds),
            who=self.who,
        )


def find_words(declaration: Declaration, *, today: str, **said: Any) -> CardWords:
    """The owner's words: what is declared for a release, and where nothing is, that it is not stated.

    ``said`` replaces what is declared. What is there and empty stays empty, so that it is asked for.

    Parameters
    ----------
    declaration : Declaration
        What is declared of the table.
    today : str
        The day, as 2026-01-31.
    **said
        Words by the names of ``CardWords``.

    Returns
    -------
    CardWords
        For the card.
    """
    nothing = NOT_STATED
    usual: dict[str, Any] = {
        "name": declaration.title or "Cluster centres",
        "description": declaration.description or "Cluster centres of a table of persons.",
        "intended_use": nothing,
        "curators": (nothing,),
        "region": nothing,
        "publication_date": today,
        "sector": "",
        "justification": nothing,
        "authors": (nothing,),
    }
    return CardWords(**{**usual, **declaration.words, **said})


def refuse_bounds(declaration: Declaration) -> None:
    """Let only bounds pass that somebody can defend.

    Raises
    ------
    RequestError
        If one comes from the rows, or from nowhere.
    """
    if declaration.bounds_from_rows:
        raise RequestError(
            f'Some bounds are said to come from "{declarations.FROM_ROWS}": no ε covers what they tell. Declare bounds '
            "that are known without the rows, or leave them open (null), and they are bought."
        )
    if nowhere := list_undefended(declaration):
        raise RequestError(
            f"Nobody says where the bounds of {list_names(nowhere)} come from, and a release has to defend them: "
            "put it "
            'into "origins" or "bounds_origin" of the declaration.'
        )


def list_undefended(declaration: Declaration) -> list[str]:
    """Columns with bounds of which nobody says where they come from."""
    closed = [name for name in declaration.columns if name not in list_open_columns(declaration)]
    return [name for name in closed if declaration.describe_origin(name) == "not stated"]
