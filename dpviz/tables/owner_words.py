"""What the owner of a table says about a release, in the owner's words: the one list of them.

The form, the declaration file, the head of a transcript, the card and the dossier follow from its fields.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

from dpviz.tables.declarations import Declaration

SECTORS: tuple[str, ...] = ("Technology", "Healthcare", "Education", "Government", "Energy", "Finance")
"""The sectors that the public registry of deployments knows."""
NOT_STATED = "Not stated."
"""What stands for words of the owner that nobody has said."""
LONGEST = 2_000
"""Characters of each."""


class OwnerWord(NamedTuple):
    """One thing that an owner says: what it means in a document, and how it is asked for.

    ``label`` and ``hint`` stand above and in its box on the page, which has some lines where it is ``long``; where it
    is empty, ``lack`` says what to do. ``question`` is what only the owner can answer of what an evaluator asks, in
    plain words; the dossier prints both. ``several`` are listed one a line.
    """

    meaning: str
    label: str = ""
    hint: str = ""
    lack: str = ""
    question: str = ""
    long: bool = False
    several: bool = False


@dataclass(frozen=True, kw_only=True)
class OwnerWords:
    """What the owner says about a release, in the owner's words."""

    name: str = ""
    description: str = ""
    intended_use: str = ""
    curators: tuple[str, ...] = ()
    region: str = ""
    publication_date: str = ""
    sector: str = ""
    justification: str = ""
    authors: tuple[str, ...] = ()
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
        return tuple(self._list_missing())

    def _list_missing(self) -> Iterator[str]:
        asked = sorted(OWNER_WORDS.items(), key=lambda one: one[1].several)
        for name, word in asked:
            said = getattr(self, name)
            if word.lack and not (said and all(one.strip() for one in (said if word.several else (said,)))):
                yield f"{name} is empty: {word.lack}."
        if self.sector and self.sector not in SECTORS:
            yield f"sector is not one that the registry knows: choose one of {', '.join(SECTORS)}, or leave it out."
        if not is_day(self.publication_date):
            yield "publication_date is no day: write it as YYYY-MM-DD."


_TOLD = tomllib.loads(Path(__file__).with_name("owner_words.toml").read_text(encoding="utf-8"))
OWNER_WORDS: Mapping[str, OwnerWord] = {
    one.name: OwnerWord(**_TOLD[one.name], several=one.default == ()) for one in fields(OwnerWords)
}
"""Each by its name."""
OWNER_QUESTIONS: Mapping[str, str] = {name: word.question for name, word in OWNER_WORDS.items() if word.question}
"""What only the owner of a table can answer of what an evaluator asks."""


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
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def find_words(declaration: Declaration, *, today: str, **said: Any) -> OwnerWords:
    """The owner's words: what is declared for a release, and where nothing is, that it is not stated.

    ``said`` replaces what is declared. What is there and empty stays empty, so that it is asked for.
    """
    asked = {name: (NOT_STATED,) if word.several else NOT_STATED for name, word in OWNER_WORDS.items() if word.lack}
    usual: dict[str, Any] = {
        **asked,
        "name": declaration.title or "Cluster centres",
        "description": declaration.description or "Cluster centres of a table of persons.",
        "publication_date": today,
    }
    return OwnerWords(**{**usual, **declaration.words, **said})
