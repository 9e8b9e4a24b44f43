"""A release as an entry of the public Differential Privacy Deployments Registry: a draft, of tier 3 if all is said.

The registry renders its texts as Markdown with formulas. Names, units and sources come from outside and are written so
that they stay text; what the owner says is printed as it is.
"""

from __future__ import annotations

import re
from typing import Any

import yaml

from dpviz.releases.playing import Played
from dpviz.releases.release_texts import fill_yaml

_LONGEST_SLUG = 80


def make_registry_card(played: Played) -> dict[str, Any]:
    """The entry, of plain values: valid by the registry's schema, every field of its three tiers filled."""
    card: dict[str, Any] = fill_yaml("registry_card.yaml.j2", played, slug=make_slug(played.request.words.name))
    return card


def format_card(played: Played) -> str:
    """The entry as the file ``card.yaml``."""
    return yaml.safe_dump(make_registry_card(played), sort_keys=False, allow_unicode=True, width=110)


def make_slug(name: str) -> str:
    """What the registry makes a stable address of.

    >>> make_slug("People of a town, 2026"), make_slug("東京")
    ('people-of-a-town-2026', 'release')
    """
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:_LONGEST_SLUG].strip("-") or "release"
