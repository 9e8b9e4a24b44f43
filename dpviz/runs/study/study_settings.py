"""The settings of a trade-off study as YAML and as a link: they load back, and can carry no data."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from dpviz import check
from dpviz.runs.study.study import Contender

_WHAT, _VERSION = "trade-off study", 1
_NUMBERS = ("epsilon_from", "epsilon_to", "k", "delta", "repeats")
_MOST_TEXT, _MOST_CONTENDERS = 20_000, 100
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
        unknown = sorted(map(check.shown, found.keys() - {"dpviz", "version", "algorithms", *_NUMBERS}))
        missing = sorted({"algorithms", *_NUMBERS} - found.keys())
        if unknown or missing:
            which = f"{unknown[0]} is no setting" if unknown else f"{missing[0]!r} is missing"
            raise check.RequestError(f"{which}: the settings are algorithms, {', '.join(_NUMBERS)}.")
        low, high, k, delta, repeats = (_number(name, found[name]) for name in _NUMBERS)
        check.epsilon(epsilon_from=low, epsilon_to=high)
        check.within(low, check.MOST_EPSILON, epsilon_to=high)
        check.clusters(k=k)
        check.delta_for(None, delta=delta)
        check.repeats(repeats=repeats)
        return cls(_contenders(found["algorithms"]), float(low), float(high), int(k), float(delta), int(repeats))

    def _plain(self) -> dict[str, Any]:
        algorithms = [{"algorithm": each.algorithm, "params": dict(each.params)} for each in self.contenders]
        numbers = {name: getattr(self, name) for name in _NUMBERS}
        return {"dpviz": _WHAT, "version": _VERSION, "algorithms": algorithms, **numbers}


class _Loader(yaml.SafeLoader):
    """Plain values only, each written out where it stands: a name for a part could stand for a billion of it."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("a name that stands for another part")
        return super().compose_node(parent, index)


def _parsed(text: str) -> dict[Any, Any]:
    try:
        found = yaml.load(text, _Loader) if len(text) <= _MOST_TEXT else None
    except (yaml.YAMLError, ValueError, OverflowError, TypeError, AttributeError, LookupError, RecursionError):
        found = None  # its reader has more than one way to say no
    if not isinstance(found, dict):
        raise check.RequestError(
            "This is no YAML of settings: take a file or a link of the Trade-off page, and change its values."
        )
    return found


def _number(name: str, value: Any) -> Any:
    """A number, which may still be any: its range is checked with its name."""
    # YAML 1.1 takes 1e-6 for a word: it wants a point and a sign.
    written = float(value) if isinstance(value, str) and _SHORT_FLOAT.fullmatch(value) else value
    if isinstance(written, bool) or not isinstance(written, int | float):
        raise check.RequestError(f"{name} is not a number: give one.")
    return written


def _contenders(listed: Any) -> tuple[Contender, ...]:
    if not isinstance(listed, list) or not all(isinstance(each, Mapping) for each in listed):
        raise check.RequestError("algorithms is not a list of entries like {algorithm: eugkm, params: {}}.")
    if len(listed) > _MOST_CONTENDERS:
        raise check.RequestError(f"algorithms has more than {_MOST_CONTENDERS} entries: give fewer.")
    found: list[Contender] = []
    for contender in map(_contender, listed):
        if contender not in found:
            found.append(contender)
    return tuple(found)


def _contender(entry: Mapping[Any, Any]) -> Contender:
    unknown = sorted(map(check.shown, entry.keys() - {"algorithm", "params"}))
    if unknown:
        raise check.RequestError(f"An entry of algorithms has {unknown[0]}: it has an algorithm, and perhaps params.")
    params, algorithm = entry.get("params", {}), entry.get("algorithm")
    if not isinstance(algorithm, str):
        raise check.RequestError("algorithm is not the id of one: see `dpviz algorithms`.")
    if not isinstance(params, Mapping):
        raise check.RequestError("params of an algorithm is not a mapping of names to values: give one.")
    strange = [name for name, value in params.items() if not isinstance(value, str | int | float | None)]
    if strange:
        raise check.RequestError(f"The parameter {check.shown(strange[0])} is not a number or a word: give one.")
    contender = Contender(algorithm, dict(params))
    contender.card.params.parse(contender.params)
    return contender
