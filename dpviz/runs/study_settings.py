"""The settings of a trade-off study as YAML and as a link: they load back, and can carry no data."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from dpviz import check
from dpviz.algorithms.registry import card_of
from dpviz.runs.study import Contender

_WHAT, _VERSION = "trade-off study", 1
_NUMBERS = ("epsilon_from", "epsilon_to", "k", "delta", "repeats")
_MOST_TEXT = 100_000
_SHORT_FLOAT = re.compile(r"\d+(\.\d*)?[eE][+-]?\d{1,3}")


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
        """YAML with one setting a line."""
        return yaml.safe_dump(self._plain(), sort_keys=False, allow_unicode=True)

    def to_query(self) -> str:
        """The same as JSON in one line, for a link; a reader of YAML reads it, too."""
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
        unknown = sorted(map(str, found.keys() - {"dpviz", "version", "algorithms", *_NUMBERS}))
        missing = sorted({"algorithms", *_NUMBERS} - found.keys())
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


def _parsed(text: str) -> dict[Any, Any]:
    try:
        found = yaml.safe_load(text) if len(text) <= _MOST_TEXT else None
    except (yaml.YAMLError, ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise check.RequestError(
            "This is no YAML of settings: take a file or a link of the Trade-off page, and change its values."
        )
    return found


def _number(name: str, value: Any) -> float:
    # YAML 1.1 takes 1e-6 for a word: it wants a point and a sign.
    written = value if isinstance(value, str) and _SHORT_FLOAT.fullmatch(value) else None
    if written is None and (isinstance(value, bool) or not isinstance(value, int | float)):
        raise check.RequestError(f"{name} is not a number: give one.")
    return float(value)


def _contenders(listed: Any) -> tuple[Contender, ...]:
    if not isinstance(listed, list) or not all(isinstance(each, Mapping) for each in listed):
        raise check.RequestError("algorithms is not a list of entries like {algorithm: eugkm, params: {}}.")
    found = []
    for each in listed:
        params = each.get("params", {})
        if not isinstance(params, Mapping):
            raise check.RequestError("params of an algorithm is not a mapping of names to values: give one.")
        contender = Contender(str(each.get("algorithm")), dict(params))
        card_of(contender.algorithm).params.parse(contender.params)
        found.append(contender)
    return tuple(found)
