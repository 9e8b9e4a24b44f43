"""What the owner of a table says about a release, in the owner's words: the one list of them.

The form, the declaration file, the head of a transcript, the card and the dossier follow from its fields.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from datetime import date
from typing import Any, NamedTuple

from dpviz.tables.declarations import Declaration

SECTORS: tuple[str, ...] = ("Technology", "Healthcare", "Education", "Government", "Energy", "Finance")
"""The sectors that the public registry of deployments knows."""
NOT_STATED = "Not stated."
"""What stands for words of the owner that nobody has said."""
LONGEST = 2_000
"""Characters of each."""

_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


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


def _word(meaning: str, **asked: Any) -> Any:
    return field(default="", metadata={"word": OwnerWord(meaning, **asked)})


def _words(meaning: str, **asked: Any) -> Any:
    return field(default=(), metadata={"word": OwnerWord(meaning, long=True, several=True, **asked)})


@dataclass(frozen=True, kw_only=True)
class OwnerWords:
    """What the owner says about a release, in the owner's words."""

    name: str = _word(
        "of the release", label="Name", hint="Visitors of the clinic, 2026", lack="call the release by a name"
    )
    description: str = _word(
        "what was released",
        label="Description: what is published, in a sentence",
        hint="Centres of six groups of visitors, by age.",
        lack="say in a sentence what is published",
        long=True,
    )
    intended_use: str = _word(
        "what it is meant for",
        label="Intended use",
        hint="Planning of opening hours",
        lack="say what the release is for",
    )
    curators: tuple[str, ...] = _words(
        "who holds the rows",
        label="Curators: who publishes it, one a line",
        hint="Clinic of Bremen",
        lack="name at least one who publishes the release",
    )
    region: str = _word(
        "where the people live",
        label="Region that the data describe",
        hint="Bremen, Germany",
        lack="name the region that the data describe",
    )
    publication_date: str = _word("the day")
    sector: str = _word("of the registry")
    justification: str = _word(
        "why these bounds, this ε and this k",
        label="Justification: why these bounds, this ε and this k",
        hint="Bounds from the law; ε from a synthetic table",
        lack="say why these bounds, this ε and this k",
        long=True,
    )
    authors: tuple[str, ...] = _words(
        "of the card",
        label="Authors: who filled in the card, one a line",
        hint="A. Muster",
        lack="name at least one who filled in the card",
    )
    chosen_after_looking: str = _word("what was chosen because rows were seen")
    several_rows: str = _word(
        "whether a person may have several rows",
        question="Can one person have several rows in the table, and at most how many?",
    )
    agreed_by: str = _word("who agreed to this ε", question="Why not half of this ε, and who agreed to it?")
    other_releases: str = _word(
        "what else is published of these people",
        question="What else about these people is or will be published, even exact?",
    )
    decision: str = _word(
        "what is decided with it",
        question="Which decision will rest on it, and which error would change that decision?",
    )
    bounds_known_by: str = _word("how the bounds are known", question="Who knew each bound, and from what?")
    raw_access: str = _word("who may see the rows", question="Who can read the raw table?")
    storage: str = _word(
        "how the rows are kept, and until when",
        question="Where are the rows, the account and the keys kept, and until when?",
    )
    columns_needed: str = _word("why each column is needed", question="Which column could have been left out?")
    repeats: str = _word(
        "whether it will be released again",
        question="Will the release be repeated, how often, and does the cap start anew?",
    )

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


OWNER_WORDS: Mapping[str, OwnerWord] = {one.name: one.metadata["word"] for one in fields(OwnerWords)}
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
    if not _DAY.fullmatch(text):
        return False
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def find_words(declaration: Declaration, *, today: str, **said: Any) -> OwnerWords:
    """The owner's words: what is declared for a release, and where nothing is, that it is not stated.

    ``said`` replaces what is declared. What is there and empty stays empty, so that it is asked for.

    **said
        Words by the names of ``OwnerWords``.
    """
    asked = {name: (NOT_STATED,) if word.several else NOT_STATED for name, word in OWNER_WORDS.items() if word.lack}
    usual: dict[str, Any] = {
        **asked,
        "name": declaration.title or "Cluster centres",
        "description": declaration.description or "Cluster centres of a table of persons.",
        "publication_date": today,
    }
    return OwnerWords(**{**usual, **declaration.words, **said})
