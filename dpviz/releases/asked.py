"""What a release was asked for, and all that its files say beside what was drawn: plain values, none of them of a row.

It is a part of the transcript, so that whoever reads one can make every file again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from dpviz.algorithms import CARDS
from dpviz.core import RequestError
from dpviz.releases.card_facts import CardWords, is_day
from dpviz.releases.release_request import ReleaseRequest
from dpviz.releases.seen import AccessCounts, Where
from dpviz.runs import Contender, Request
from dpviz.tables import Declaration, declarations


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
    """A release apart from its noise.

    Attributes
    ----------
    version, noise : str
        Of dpviz, and the library that drew the noise.
    platform, code : str
        On which the program ran, and the SHA-256 of its own source files, as it says itself.
    date : str
        The day, UTC.
    release_request : ReleaseRequest
    n_public : int or None
        The number of rows, where it is public.
    declared : Declaration
        With the columns spelled out; bounds that were bought are still open.
    account : AccountThen
    """

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
        """What plain values from anywhere say.

        Raises
        ------
        RequestError
            If something is missing, is there beside, or could not have been released.
        """
        from dpviz.releases.release_document import AskedDocument
        from dpviz.words import read_document  # slow to import

        document = read_document(AskedDocument, said, RequestError, whole=True)
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
