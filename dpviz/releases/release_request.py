"""What is asked of a release: one run, a share for segments, the owner's words; and how its ε is divided.

All that its files say beside what was drawn is here: plain values, none of them of a row. It is a part of the
transcript, so that whoever reads one can make every file again.
"""

from __future__ import annotations

import hashlib
import json
import platform
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from math import isqrt
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dpviz.algorithms import CARDS
from dpviz.core import RequestError, name_unit
from dpviz.releases.account import Charge, ChargeLink, read_user
from dpviz.releases.continuing import COUNTED_AGAIN, EarlierSegments
from dpviz.releases.promise import AccessCounts
from dpviz.releases.release_sentences import make_refusal
from dpviz.runs import Contender, Division, Request
from dpviz.tables import Declaration, codings, declarations

# Squared clusters times columns: starts that are spread out cost so much, and whoever verifies plays them again.
_MOST_WORK = 2**28
_LAST_DIGITS = 1e-9
_MOST_ROWS = 10**9  # of a smallest group

_PROGRAM = Path(__file__).resolve().parents[1]
# Modules, doors, which decide what is loaded, and templates.
_CODE = (".py", ".pyi", ".j2", ".toml")
# What a release may name: nothing of it is a text that somebody could choose.
_VERSION = r"\d{1,6}(\.\d{1,10}){1,3}((a|b|rc)\d{1,4})?(\.post\d{1,4})?(\.dev\d{1,10})?"
_PUBLIC_VERSION = re.compile(_VERSION)
_SYSTEMS, _OTHER_SYSTEM = ("Linux", "Darwin", "Windows"), "another system"
_NAMES = {
    "version": _PUBLIC_VERSION,
    "noise": re.compile(f"OpenDP {_VERSION}"),
    "platform": re.compile(f"Python {_VERSION}, NumPy {_VERSION}, ({'|'.join((*_SYSTEMS, _OTHER_SYSTEM))})"),
    "code": re.compile("[0-9a-f]{64}"),
}
_AS_IT_IS = (*_NAMES, "date", "n_public")  # what a transcript says in the words of ``Asked``


ALGORITHM, OF_SEGMENTS, OF_BOUNDS, OF_MISSING = "algorithm", "segments", "bounds", "missing cells"
OF_EARLIER = "earlier segments"
"""The parts of a release: each has a ledger of its own, and they add up."""


class CostPart(NamedTuple):
    """What one part of a release costs by itself; the parts add up to the whole."""

    name: str
    epsilon: float
    delta: float


@dataclass(frozen=True)
class ReleaseRequest:
    """A release, apart from its table and its account.

    Attributes
    ----------
    request : Request
        With the ε and δ of the whole release, and no seed.
    words : OwnerWords
    division : Division
        The parts of ε that do not go to the centres.
    smallest_group : int
        Rows that each group of segments is promised to have at least; 0: nothing is promised.
    continues : EarlierSegments or None
        Those of the release that this one continues, whose rows are counted again; None: none.
    who : str
    seen : AccessCounts
        What was seen of the rows before.
    """

    request: Request
    words: declarations.OwnerWords
    division: Division = field(default_factory=Division)
    smallest_group: int = 0
    continues: EarlierSegments | None = None
    who: str = field(default_factory=read_user)
    seen: AccessCounts = field(default_factory=AccessCounts)

    @property
    def parts(self) -> dict[str, float]:
        """Parts of ε, and what is promised beside it, by the names that ``dpviz.release`` has for them."""
        return self.division.named | ({"smallest_group": self.smallest_group} if self.smallest_group else {})

    def check(self, declaration: Declaration) -> None:
        """Refuse what could not be defended, before anything is charged or a row is read."""
        self.request.check_numbers()
        if self.request.seed is not None:
            raise make_refusal("seed_given")
        self.division.check()
        if missing := self.words.list_missing():
            raise RequestError(" ".join(missing))
        # Only bounds pass that somebody can defend.
        if declaration.bounds_from_rows:
            raise make_refusal("bounds_from_rows", origin=declarations.FROM_ROWS)
        if nowhere := declaration.unexplained:
            raise make_refusal("bounds_from_nowhere", columns=nowhere)
        if not 0 <= self.smallest_group <= _MOST_ROWS:
            raise make_refusal("smallest_group", rows=self.smallest_group, most=_MOST_ROWS)
        if self.smallest_group and not self.division.segments:
            raise make_refusal("group_without_segments")
        k = self.request.k
        dim = sum(len(declaration.codings.get(name, codings.NUMBER).labels(name)) for name in declaration.columns)
        if self.continues is not None:
            if not self.division.segments:
                raise make_refusal("continues_without_segments")
            if declaration.open_columns:
                raise make_refusal("continues_open_bounds", columns=declaration.open_columns)
            self.continues.check(dim)
        if k * k * dim > _MOST_WORK:
            raise make_refusal("too_much_work", k=k, dim=dim, most=isqrt(_MOST_WORK // dim))
        self.find_share(declaration)

    def shares(self, declaration: Declaration) -> dict[str, CostPart]:
        """What each part of the release may spend; together the whole, by basic composition."""
        *costs, segments = self.division.divide(self.request.epsilon, bought=len(declaration.open_columns))
        again = 0.0 if self.continues is None else segments * COUNTED_AGAIN
        costs += [segments - again, again]
        return {
            name: CostPart(name, cost, self.delta if name == ALGORITHM else 0.0)
            for name, cost in zip((OF_BOUNDS, OF_MISSING, ALGORITHM, OF_SEGMENTS, OF_EARLIER), costs, strict=True)
            if cost or name == ALGORITHM
        }

    def find_share(self, declaration: Declaration) -> float:
        """The part of its ε that goes to the centres."""
        return self.division.find_share(bought=len(declaration.open_columns))

    @property
    def delta(self) -> float:
        """The δ that is spent: none by an algorithm that is ε-DP as it is set."""
        return self.request.spent_delta

    def with_argument(self, argument: str) -> ReleaseRequest:
        """The same with one more argument for its ε among the words of its owner, who accepted what it rests on."""
        from dpviz.releases.release_texts import join_sentences  # slow to import

        said = join_sentences((*declarations.list_said(self.words.justification), argument))
        return replace(self, words=replace(self.words, justification=said)) if argument else self

    def make_algorithm_request(self, declaration: Declaration) -> Request:
        """The run, for its part of the release."""
        return self.make_request(self.shares(declaration)[ALGORITHM])

    def make_request(self, share: CostPart) -> Request:
        """The run, for so much of the release."""
        return replace(self.request, epsilon=share.epsilon, delta=share.delta)

    def charge(self, declaration: Declaration) -> Charge:
        """What the account is charged."""
        return Charge(
            epsilon=self.request.epsilon,
            delta=self.delta,
            algorithm=self.request.algorithm,
            k=self.request.k,
            unit=name_unit(None if declaration.id_column is None else declaration.rows_per_person),
            relation=declaration.relation,
            columns=declaration.columns,
            lower=declaration.lower,
            upper=declaration.upper,
            who=self.who,
        )


class AccountThen(NamedTuple):
    """An account as it stood at the moment of the charge, which is that of the whole release."""

    name: str
    cap_epsilon: float
    cap_delta: float
    spent_epsilon: float
    spent_delta: float
    link: ChargeLink

    @classmethod
    def of(cls, plain: Mapping[str, Any]) -> AccountThen:
        """What ``to_plain`` wrote."""
        own = {name: value for name, value in plain.items() if name not in ChargeLink._fields}
        return cls(**own, link=ChargeLink(**{name: plain[name] for name in ChargeLink._fields}))

    def to_plain(self) -> dict[str, Any]:
        """Plain values, those of the link beside its own."""
        *own, link = self
        return {**dict(zip(self._fields, own, strict=False)), **link._asdict()}


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
            **{name: getattr(self, name) for name in _AS_IT_IS},
            **{name: float(part) for name, part in asdict(release_request.division).items()},
            **({} if self.declared.open_columns else {"bounds": 0.0}),
            "request": {
                "algorithm": request.algorithm,
                "k": int(request.k),
                "epsilon": float(request.epsilon),
                "delta": float(release_request.delta),
                "parameters": {name: value for name, value in settings.items() if value is not None},
            },
            "smallest_group": int(release_request.smallest_group),
            **{name: asdict(getattr(release_request, name)) for name in ("words", "seen")},
            "declared": declarations.to_json(self.declared),
            "account": self.account.to_plain(),
            **({} if release_request.continues is None else {"continues": release_request.continues._asdict()}),
        }

    @classmethod
    def of(cls, said: Mapping[str, Any]) -> Asked:
        """What plain values from anywhere say."""
        from dpviz.releases.transcript import AskedDocument  # slow to import
        from dpviz.words import documents

        document = documents.read_document(AskedDocument, {"continues": None, **said}, RequestError, whole=True)
        request, seen = document.request, document.seen
        if request.algorithm not in CARDS.ours:
            raise make_refusal("other_algorithm")
        release_request = ReleaseRequest(
            Request(Contender.parse(request.algorithm, request.parameters), request.k, request.epsilon, request.delta),
            declarations.OwnerWords(**document.words.list_given()),
            Division(document.segments, document.bounds, document.missing),
            document.smallest_group,
            continues=None if document.continues is None else EarlierSegments(**document.continues.list_given()),
            who="",
            seen=AccessCounts(**seen.list_given()),
        )
        declared = declarations.apply_declaration(document.declared).validate()
        release_request.check(declared)
        made = cls(
            **{name: getattr(document, name) for name in _AS_IT_IS},
            release_request=release_request,
            declared=declared,
            account=AccountThen.of(document.account.list_given()),
        )
        made.refuse_contradictions()
        if json.dumps(made.to_dict(), sort_keys=True) != json.dumps(said, sort_keys=True):  # 1 is not 1.0, nor true
            raise make_refusal("said_otherwise")
        return made

    def refuse_contradictions(self) -> None:
        """Let nothing pass that is in no form which a release has for it, or that something else in it denies."""
        if not declarations.is_day(self.date):
            raise make_refusal("no_day")
        for what, form in _NAMES.items():
            if not form.fullmatch(getattr(self, what)):
                raise make_refusal("other_form", what=what)
        asked, seen, then = self.release_request, self.release_request.seen, self.account
        over_epsilon = then.spent_epsilon + asked.request.epsilon > then.cap_epsilon * (1 + _LAST_DIGITS)
        if over_epsilon or then.spent_delta + asked.delta > then.cap_delta * (1 + _LAST_DIGITS):
            raise make_refusal("account_too_small")
        if (seen.runs > 0) != (seen.runs_epsilon > 0):
            raise make_refusal("runs_for_nothing")
        if self.declared.relation == "add_remove" and self.n_public != self.declared.n_public:
            raise make_refusal("other_rows")


@cache
def hash_code(home: Path = _PROGRAM) -> str:
    """The SHA-256 of the source files of the program, or of another folder, in the order of their names."""
    digest = hashlib.sha256()
    for path in sorted(path for path in home.rglob("*") if path.suffix in _CODE):
        digest.update(f"{path.relative_to(home).as_posix()}\n".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def name_platform() -> str:
    """What the program runs on, in the one form in which a release names it."""
    python, numpy = (_PUBLIC_VERSION.match(one) for one in (platform.python_version(), np.__version__))
    assert python is not None and numpy is not None
    system = platform.system()
    return f"Python {python[0]}, NumPy {numpy[0]}, {system if system in _SYSTEMS else _OTHER_SYSTEM}"
