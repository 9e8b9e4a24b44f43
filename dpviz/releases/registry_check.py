"""What the public Differential Privacy Deployments Registry asks of an entry: names, types, choices, and tiers.

The registry's schema is a file of its own (opendp/deployments-registry-data, MIT, as of 2026-07-15). What it says is in
``registry_schema.yaml``, for whoever has a card and not that file; tests hold the two against each other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from numbers import Real
from pathlib import Path
from typing import Any

import yaml

from dpviz.core import check
from dpviz.tables import owner_words


@dataclass(frozen=True)
class RegistryField:
    """What the registry asks of a field: its kind, the level of detail that it belongs to, and what is allowed."""

    kind: str = "text"
    tier: int = 0
    allowed: tuple[Any, ...] = ()
    fields: Mapping[str, RegistryField] = field(default_factory=dict)
    required: tuple[str, ...] = ()

    @classmethod
    def read(cls, said: Mapping[str, Any]) -> RegistryField:
        """As the file says it."""
        kind, below = said.get("kind", "text"), said.get("fields", {})
        allowed = owner_words.SECTORS if kind == "sector" else said.get("one of", ())
        fields = {name: cls.read(one) for name, one in below.items()}
        return cls(kind, said.get("tier", 0), tuple(allowed), fields, tuple(said.get("required", ())))

    def describe_fault(self, value: Any) -> str:
        """What is wrong with ``value``, and what to do; empty where nothing is."""
        said = check.format_value(value)
        if self.kind == "anything" or (self.kind == "number or text" and isinstance(value, str)):
            return ""
        if self.kind == "texts":
            good = isinstance(value, list) and value and all(isinstance(one, str) for one in value)
            return "" if good else f"is {said}: list at least one text"
        if self.kind.startswith("number"):
            if isinstance(value, bool) or not isinstance(value, Real):
                return f"is {said}: write a number"
        elif not isinstance(value, str):
            return f"is {said}: write a text"
        if self.allowed and value not in self.allowed:
            return f"is {said}: choose one of {', '.join(map(str, self.allowed))}"
        return "is no day: write it as YYYY-MM-DD" if self.kind == "day" and not owner_words.is_day(value) else ""


@cache
def read_schema() -> RegistryField:
    """An entry of the registry."""
    text = Path(__file__).with_name("registry_schema.yaml").read_text(encoding="utf-8")
    return RegistryField.read(yaml.safe_load(text))


def list_card_errors(card: Any) -> tuple[str, ...]:
    """What the registry would refuse in ``card``, a sentence each that names the field; empty where it is valid.

    >>> list_card_errors({"url_slug": "a", "status": "Draft", "tier": 4})[0]
    'tier is 4: choose one of 1, 2, 3.'
    """
    return tuple(_list_errors(read_schema(), card, ""))


def _list_errors(group: RegistryField, value: Any, path: str) -> Iterator[str]:
    if not isinstance(value, Mapping):
        yield f"{path or 'The card'} is {check.format_value(value)}: write its fields by their names."
        return
    for name, inner in value.items():
        place = f"{path}.{name}".lstrip(".")
        known = group.fields.get(name)
        if known is None:
            yield f"{place} is no field of the registry: take it out."
        elif known.kind == "group":
            yield from _list_errors(known, inner, place)
        elif wrong := known.describe_fault(inner):
            yield f"{place} {wrong}."
    for name in group.required:
        if name not in value:
            yield f"{f'{path}.{name}'.lstrip('.')} is missing: the registry requires it."
