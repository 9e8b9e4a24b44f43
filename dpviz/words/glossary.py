"""The words of this program: what each means is said in ``glossary.yaml`` once, and read from here by all others."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

_FILE = Path(__file__).with_name("glossary.yaml")
MOST_TERMS, MOST_WORDS = 40, 45
_END = re.compile(r"(?<=[.!?])\s+")


@dataclass(frozen=True)
class Term:
    """A word and what it means."""

    id: str
    group: str
    name: str
    aliases: tuple[str, ...]
    says: str
    number: str = ""
    worked_out: str = ""
    picture: str = ""
    ambiguous: bool = False

    @property
    def first(self) -> str:
        """The sentence that would do alone."""
        return split_sentences(self.says)[0]

    @property
    def forms(self) -> tuple[str, ...]:
        """The word in all its forms."""
        return (self.name, *self.aliases)


def split_sentences(text: str) -> list[str]:
    """The sentences of a text."""
    return _END.split(text.strip())


@cache
def read_glossary() -> Mapping[str, Term]:
    """All terms by their id, group by group."""
    said: dict[str, dict[str, dict[str, Any]]] = yaml.safe_load(_FILE.read_text(encoding="utf-8"))
    return {
        key: Term(key, group, **parts | {"aliases": tuple(parts.get("aliases", ()))})
        for group, terms in said.items()
        for key, parts in terms.items()
    }


def explain_term(term: str, also: str = "") -> str:
    """What the term of that id means, for a tooltip; a sentence may follow that is about this place."""
    return f"{read_glossary()[term].says} {also}".strip()


def find_terms(text: str) -> list[Term]:
    """The terms that occur in a text, in their order there; of forms within each other the longest."""
    found = (_index_forms()[one[0].casefold()] for one in _match_any_form().finditer(text))
    return list({term.id: term for term in found}.values())


def find_term(label: str) -> Term | None:
    """The term that a label is, alone or before a comma."""
    return _index_forms().get(label.split(",")[0].strip().casefold())


def explain_words(text: str, *, most: int = 5) -> str | None:
    """The first sentences about the terms in a text, for the question mark behind it; None if it has none."""
    return "\n\n".join([f"**{term.name}**: {term.first}" for term in find_terms(text)[:most]]) or None


def explain_label(text: str) -> str:
    """The first sentences about the terms that a label is or a text has, without any markup; empty if there is none."""
    named = find_term(text)
    return "\n".join(f"{term.name}: {term.first}" for term in ([named] if named else find_terms(text)))


@cache
def _index_forms() -> Mapping[str, Term]:
    return {form.casefold(): term for term in read_glossary().values() for form in term.forms}


@cache
def _match_any_form() -> re.Pattern[str]:
    clear = [form for form, term in _index_forms().items() if not term.ambiguous or " " in form]
    longest_first = sorted(clear, key=len, reverse=True)
    return re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, longest_first))})(?![\w-])", re.IGNORECASE)
