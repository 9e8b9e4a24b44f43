"""What the public Differential Privacy Deployments Registry asks of an entry: names, types, choices, and its tiers.

The registry's schema is a file of its own (opendp/deployments-registry-data, MIT, as of 2026-07-15). This is what it
says, for whoever has a card and not that file; tests hold the two against each other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from numbers import Real
from typing import Any

from dpviz.core import check
from dpviz.tables import owner_words

STATUSES = (
    *("Converted", "Draft", "Pending", "Changes Required", "Approved"),
    *("Approved (Update Requested)", "Approved (Pending)"),
)
_PRODUCTS = (
    *("Summary statistics", "Machine learning model", "Dataset", "Synthetic data", "Interactive API", "SQL queries"),
)
_VARIANTS = ("Pure DP", "Approximate DP", "Zero-concentrated DP", "Renyi DP", "Custom")
_MODELS = ("Local", "Central", "Shuffle", "Federated", "Varies")


@dataclass(frozen=True)
class Text:
    """A text; one of ``allowed`` where there are some. Its ``tier`` is the level of detail that it belongs to."""

    tier: int = 0
    allowed: tuple[str, ...] = ()
    day: bool = False

    def describe_fault(self, value: Any) -> str:
        """What is wrong with ``value``, and what to do; empty where nothing is."""
        if not isinstance(value, str):
            return f"is {check.format_value(value)}: write a text"
        if self.allowed and value not in self.allowed:
            return f"is {check.format_value(value)}: choose one of {', '.join(self.allowed)}"
        return "is no day: write it as YYYY-MM-DD" if self.day and not owner_words.is_day(value) else ""


@dataclass(frozen=True)
class Texts:
    """At least one text."""

    tier: int = 0

    def describe_fault(self, value: Any) -> str:
        """What is wrong with ``value``, and what to do; empty where nothing is."""
        good = isinstance(value, list) and value and all(isinstance(one, str) for one in value)
        return "" if good else f"is {check.format_value(value)}: list at least one text"


@dataclass(frozen=True)
class NumberRule:
    """A number, whole and one of ``allowed`` where there are some; a text as well where ``or_text``."""

    tier: int = 0
    allowed: tuple[int, ...] = ()
    or_text: bool = False

    def describe_fault(self, value: Any) -> str:
        """What is wrong with ``value``, and what to do; empty where nothing is."""
        if self.or_text and isinstance(value, str):
            return ""
        if isinstance(value, bool) or not isinstance(value, Real):
            return f"is {check.format_value(value)}: write a number"
        if self.allowed and value not in self.allowed:
            return f"is {check.format_value(value)}: choose one of {', '.join(map(str, self.allowed))}"
        return ""


@dataclass(frozen=True)
class Anything:
    """A field whose kind the registry leaves open."""

    tier: int = 0

    def describe_fault(self, value: Any) -> str:
        """Nothing is."""
        return ""


@dataclass(frozen=True)
class Group:
    """Fields by their names, some of which are required; there are no others."""

    fields: Mapping[str, Group | Text | Texts | NumberRule | Anything]
    required: tuple[str, ...] = ()
    tier: int = field(default=0)


_Fields = Mapping[str, Group | Text | Texts | NumberRule | Anything]
_DETAIL, _WORD = Text(3), Text(2)
_BASIC: _Fields = {
    "name": Text(1),
    "data_curators": Texts(1),
    "intended_use": Text(1),
    "data_product_type": Text(1, _PRODUCTS),
    "data_product_region": Text(1),
    "description": Text(1),
    "publication_date": Text(1, day=True),
    "data_product_sector": Text(1, owner_words.SECTORS),
}
_LOSS: _Fields = {
    "privacy_unit": _WORD,
    "privacy_unit_details": _DETAIL,
    "privacy_parameters": Group(
        {"epsilon": NumberRule(), "delta": NumberRule(or_text=True), "rho": NumberRule()}, tier=2
    ),
    "privacy_parameters_details": Anything(3),
}
_MODEL: _Fields = {
    "model_name": Text(2, _MODELS),
    "model_name_details": Text(),
    "actors": _DETAIL,
    "release_type": Text(2, ("One release", "Many releases")),
    "release_type_details": Text(),
    "data_source_type": Text(2, ("Static", "Dynamic")),
    "data_source_type_details": Anything(3),
    "access_type": Text(2, ("Interactive", "Non-interactive")),
    "access_type_details": _DETAIL,
}
_DEPLOYMENT: _Fields = {
    "basic": Group(_BASIC, required=tuple(name for name in _BASIC if name != "data_product_sector")),
    "dp_variant": Group(
        {"variant_name": Text(2, _VARIANTS), "data_domain": _DETAIL, "unprotected_quantities": _DETAIL}
    ),
    "privacy_loss": Group(_LOSS),
    "deployment_model": Group(_MODEL),
    "accounting": Group({"post_processing": _DETAIL, "composition": _DETAIL}),
    "implementation": Group(
        {"preprocessing_and_hyperparameter_tuning": _DETAIL, "mechanisms": _DETAIL, "justification": _DETAIL}
    ),
    "administrative": Group(
        {"sources": Text(1), "notes": Text(1), "registry_authors": Texts()}, required=("registry_authors",)
    ),
}
ENTRY = Group(
    {
        "url_slug": Text(),
        "status": Text(allowed=STATUSES),
        "tier": NumberRule(allowed=(1, 2, 3)),
        "deployment": Group(_DEPLOYMENT, required=("basic",)),
    },
    required=("url_slug", "status", "tier", "deployment"),
)
"""An entry of the registry."""


def list_card_errors(card: Any) -> tuple[str, ...]:
    """What the registry would refuse in ``card``, a sentence each that names the field; empty where it is valid.

    >>> list_card_errors({"url_slug": "a", "status": "Draft", "tier": 4})[0]
    'tier is 4: choose one of 1, 2, 3.'
    """
    return tuple(_list_errors(ENTRY, card, ""))


def _list_errors(group: Group, value: Any, path: str) -> Iterator[str]:
    if not isinstance(value, Mapping):
        yield f"{path or 'The card'} is {check.format_value(value)}: write its fields by their names."
        return
    for name, inner in value.items():
        place = f"{path}.{name}".lstrip(".")
        match group.fields.get(name):
            case None:
                yield f"{place} is no field of the registry: take it out."
            case Group() as below:
                yield from _list_errors(below, inner, place)
            case kind:
                yield from [f"{place} {wrong}." for wrong in [kind.describe_fault(inner)] if wrong]
    for name in group.required:
        if name not in value:
            yield f"{f'{path}.{name}'.lstrip('.')} is missing: the registry requires it."


def list_unfilled(card: Mapping[str, Any], *, tier: int = 3) -> tuple[str, ...]:
    """The fields up to ``tier`` that a valid card leaves out or blank, by their paths; the registry only asks for them.

    >>> list_unfilled({"deployment": {"basic": {"name": "a"}}}, tier=1)[0]
    'deployment.basic.data_curators'
    """
    return tuple(_list_unfilled(ENTRY, card, "", tier))


def _list_unfilled(group: Group, value: Mapping[str, Any], path: str, tier: int) -> Iterator[str]:
    for name, kind in group.fields.items():
        place, inner = f"{path}.{name}".lstrip("."), value.get(name)
        if 1 <= kind.tier <= tier and not (inner.strip() if isinstance(inner, str) else inner):
            yield place
        elif isinstance(kind, Group):
            yield from _list_unfilled(kind, inner or {}, place, tier)
