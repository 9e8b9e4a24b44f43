"""The settings of a trade-off study as text and as a link: they load back, and can carry no data.

The text is JSON, which every reader of YAML reads as it is.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dpviz import check
from dpviz.algorithms.registry import card_of
from dpviz.runs.study import Contender

_WHAT, _VERSION = "trade-off study", 1
_NUMBERS = ("epsilon_from", "epsilon_to", "k", "delta", "repeats")
_MOST_TEXT = 100_000


@dataclass(frozen=True)
class StudySettings:
    """What a trade-off study asks for, apart from the table and the rows that losses are read from."""

    contenders: tuple[Contender, ...]
    epsilon_from: float
    epsilon_to: float
    k: int
    delta: float
    repeats: int

    def to_text(self) -> str:
        """JSON with one setting a line."""
        return json.dumps(self._plain(), indent=2, ensure_ascii=False) + "\n"

    def to_query(self) -> str:
        """The same in one line, for a link."""
        return json.dumps(self._plain(), separators=(",", ":"), ensure_ascii=False)

    @classmethod
    def from_text(cls, text: str) -> StudySettings:
        """Settings from ``to_text`` or ``to_query``, checked.

        Raises
        ------
        RequestError
            If it is not what these write, or asks for what is not allowed.
        """
        found = _parsed(text)
        if found.get("dpviz") != _WHAT or found.get("version") != _VERSION:
            raise check.RequestError(
                f"These are not the settings of a {_WHAT}, version {_VERSION}: take a file or a link that the "
                "Trade-off page has made."
            )
        unknown = sorted(set(found) - {"dpviz", "version", "algorithms", *_NUMBERS})
        missing = sorted({"algorithms", *_NUMBERS} - set(found))
        if unknown or missing:
            which = f"{unknown[0]!r} is no setting" if unknown else f"{missing[0]!r} is missing"
            raise check.RequestError(f"{which}: the settings are algorithms, {', '.join(_NUMBERS)}.")
        low, high, k, delta, repeats = (_number(name, found[name]) for name in _NUMBERS)
        check.positive(epsilon_from=low, epsilon_to=high)
        check.within(low, 1e6, epsilon_to=high)
        check.at_least(1, k=int(k), repeats=int(repeats))
        check.within(0.0, 1.0, delta=delta)
        return cls(_contenders(found["algorithms"]), low, high, int(k), delta, int(repeats))

    def _plain(self) -> dict[str, Any]:
        algorithms = [{"algorithm": each.algorithm, "params": dict(each.params)} for each in self.contenders]
        numbers = {name: getattr(self, name) for name in _NUMBERS}
        return {"dpviz": _WHAT, "version": _VERSION, "algorithms": algorithms, **numbers}


def _parsed(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text) if len(text) <= _MOST_TEXT else None
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise check.RequestError(
            "This is not JSON: settings are read in the form in which the Trade-off page writes them (JSON, which is "
            "also YAML)."
        )
    return found


def _number(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise check.RequestError(f"{name} is not a number: give one.")
    return float(value)


def _contenders(listed: Any) -> tuple[Contender, ...]:
    if not isinstance(listed, list) or not all(isinstance(each, Mapping) for each in listed):
        raise check.RequestError('algorithms is not a list of entries like {"algorithm": "eugkm", "params": {}}.')
    found = []
    for each in listed:
        params = each.get("params", {})
        if not isinstance(params, Mapping):
            raise check.RequestError("params of an algorithm is not a mapping of names to values: give one.")
        contender = Contender(str(each.get("algorithm")), dict(params))
        card_of(contender.algorithm).params.parse(contender.params)
        found.append(contender)
    return tuple(found)
