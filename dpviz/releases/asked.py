"""What a release was asked for, and all that its files say beside what was drawn: plain values, none of them of a row.

It is a part of the transcript, so that whoever reads one can make every file again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from math import isfinite
from typing import Any, NamedTuple

from dpviz.algorithms.registry import CARDS
from dpviz.check import RequestError
from dpviz.releases.card_facts import CardWords, is_day
from dpviz.releases.release_request import ReleaseRequest
from dpviz.releases.seen import Seen, Where
from dpviz.runs.request import Contender, Request
from dpviz.table.declaration import SEVERAL_WORDS, Declaration
from dpviz.table.declaration_file import apply_declaration, to_json

_MOST_KINDS = 20


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
            "declared": to_json(self.declared),
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
        _refuse_others(said, _KEYS, "what was asked")
        request = _read_object(said, "request")
        _refuse_others(request, ("algorithm", "k", "epsilon", "delta", "parameters"), "the request")
        algorithm = _read_text(request, "algorithm")
        if algorithm not in CARDS.ours:
            raise RequestError("Its algorithm is none of those that dpviz releases.")
        contender = Contender.parse(algorithm, _read_object(request, "parameters"))
        release_request = ReleaseRequest(
            Request(
                contender, _read_whole(request, "k"), _read_number(request, "epsilon"), _read_number(request, "delta")
            ),
            _read_words(_read_object(said, "words")),
            segments=_read_number(said, "segments"),
            bounds=_read_number(said, "bounds"),
            missing=_read_number(said, "missing"),
            who="",
            seen=_read_seen(_read_object(said, "seen")),
            expected_loss=_read_text(said, "expected_loss"),
        )
        declared = apply_declaration(_read_text(said, "declared")).validate()
        release_request.check(declared)
        if not is_day(_read_text(said, "date")):
            raise RequestError("Its date is no day.")
        return cls(
            version=_read_text(said, "version"),
            noise=_read_text(said, "noise"),
            platform=_read_text(said, "platform"),
            code=_read_text(said, "code"),
            date=_read_text(said, "date"),
            release_request=release_request,
            n_public=None if said["n_public"] is None else _read_whole(said, "n_public"),
            declared=declared,
            account=_read_account(_read_object(said, "account")),
        )


_KEYS = (
    *("version", "noise", "date", "request", "segments", "bounds", "missing", "words", "seen", "expected_loss"),
    *("n_public", "declared", "account", "platform", "code"),
)


def _read_words(said: Mapping[str, Any]) -> CardWords:
    _refuse_others(said, tuple(one.name for one in fields(CardWords)), "the owner's words")
    read: dict[str, Any] = {
        name: _read_texts(said, name) if name in SEVERAL_WORDS else _read_text(said, name) for name in said
    }
    return CardWords(**read)


def _read_seen(said: Mapping[str, Any]) -> Seen:
    _refuse_others(said, tuple(one.name for one in fields(Seen)), "what was seen")
    looks = _read_object(said, "looks")
    if len(looks) > _MOST_KINDS:
        raise RequestError("It counts more kinds of looks than there are.")
    if _read_text(said, "where") not in [where.value for where in Where]:
        raise RequestError("Nobody of that name counts looks.")
    return Seen(
        {str(kind): _read_whole(looks, kind) for kind in looks},
        _read_whole(said, "studies"),
        _read_whole(said, "runs"),
        runs_epsilon=_read_number(said, "runs_epsilon"),
        grids_read=_read_whole(said, "grids_read"),
        where=Where(_read_text(said, "where")),
    )


def _read_account(said: Mapping[str, Any]) -> AccountThen:
    _refuse_others(said, AccountThen._fields, "the account")
    return AccountThen(_read_text(said, "name"), *(_read_number(said, name) for name in AccountThen._fields[1:]))


def _refuse_others(said: Mapping[str, Any], names: tuple[str, ...], what: str) -> None:
    if set(said) != set(names):
        raise RequestError(f"It says something else of {what} than a release does.")


def _read_object(said: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    if not isinstance(said[name], dict):
        raise RequestError(f"{name} in it is no object.")
    found: Mapping[str, Any] = said[name]
    return found


def _read_text(said: Mapping[str, Any], name: str) -> str:
    if not isinstance(said[name], str):
        raise RequestError(f"{name} in it is no text.")
    return str(said[name])


def _read_texts(said: Mapping[str, Any], name: str) -> tuple[str, ...]:
    if not isinstance(said[name], list) or not all(isinstance(one, str) for one in said[name]):
        raise RequestError(f"{name} in it is no list of texts.")
    return tuple(said[name])


def _read_whole(said: Mapping[str, Any], name: str) -> int:
    value = said[name]
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= 10**12:
        raise RequestError(f"{name} in it is no whole number that a release has.")
    return value


def _read_number(said: Mapping[str, Any], name: str) -> float:
    value = said[name]
    if not isinstance(value, int | float) or isinstance(value, bool) or not isfinite(value) or value < 0:
        raise RequestError(f"{name} in it is no number that a release has.")
    return float(value)
