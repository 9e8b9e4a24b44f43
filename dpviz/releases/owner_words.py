"""What the owner of a table says about a release, in the owner's words; and what stands where nothing is said."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from dpviz.tables import Declaration

SECTORS: tuple[str, ...] = ("Technology", "Healthcare", "Education", "Government", "Energy", "Finance")
"""The sectors that the public registry of deployments knows."""
NOT_STATED = "Not stated."
"""What stands for words of the owner that nobody has said."""

OWNER_QUESTIONS: Mapping[str, str] = {
    "several_rows": "Can one person have several rows in the table, and at most how many?",
    "agreed_by": "Why not half of this ε, and who agreed to it?",
    "other_releases": "What else about these people is or will be published, even exact?",
    "decision": "Which decision will rest on it, and which error would change that decision?",
    "bounds_known_by": "Who knew each bound, and from what?",
    "raw_access": "Who can read the raw table?",
    "storage": "Where are the rows, the account and the keys kept, and until when?",
    "columns_needed": "Which column could have been left out?",
    "repeats": "Will the release be repeated, how often, and does the cap start anew?",
}
"""What only the owner of a table can answer of what an evaluator asks, in plain words."""

_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


@dataclass(frozen=True, kw_only=True)
class CardWords:
    """What the owner says about a release, in the owner's words."""

    name: str
    description: str
    intended_use: str
    curators: tuple[str, ...]
    region: str
    publication_date: str
    sector: str
    justification: str
    authors: tuple[str, ...]
    chosen_after_looking: str = ""
    several_rows: str = ""
    agreed_by: str = ""
    other_releases: str = ""
    decision: str = ""
    bounds_known_by: str = ""
    raw_access: str = ""
    storage: str = ""
    columns_needed: str = ""
    repeats: str = ""

    def list_missing(self) -> tuple[str, ...]:
        """What is still to be said before anything is charged, a sentence each; empty where nothing is missing."""
        asked = {
            "name": "call the release by a name",
            "description": "say in a sentence what is published",
            "intended_use": "say what the release is for",
            "region": "name the region that the data describe",
            "justification": "say why these bounds, this ε and this k",
        }
        lacking = [f"{name} is empty: {what}." for name, what in asked.items() if not getattr(self, name).strip()]
        for name, who in (("curators", "publishes the release"), ("authors", "filled in the card")):
            if not getattr(self, name) or not all(one.strip() for one in getattr(self, name)):
                lacking.append(f"{name} is empty: name at least one who {who}.")
        if self.sector and self.sector not in SECTORS:
            lacking.append(
                f"sector is not one that the registry knows: choose one of {', '.join(SECTORS)}, or leave it out."
            )
        if not is_day(self.publication_date):
            lacking.append("publication_date is no day: write it as YYYY-MM-DD.")
        return tuple(lacking)


def list_said(*words: str) -> tuple[str, ...]:
    """Those of the owner's words that say something.

    >>> list_said("Planning", "Not stated.", " ")
    ('Planning',)
    """
    return tuple(one for one in words if one.strip() not in ("", NOT_STATED))


def is_day(text: str) -> bool:
    """Whether ``text`` is a day, written as YYYY-MM-DD.

    >>> is_day("2026-02-28"), is_day("2026-02-30"), is_day("20260228")
    (True, False, False)
    """
    if not _DAY.fullmatch(text):
        return False
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def find_words(declaration: Declaration, *, today: str, **said: Any) -> CardWords:
    """The owner's words: what is declared for a release, and where nothing is, that it is not stated.

    ``said`` replaces what is declared. What is there and empty stays empty, so that it is asked for.

    **said
        Words by the names of ``CardWords``.
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
