"""What this visit could release: the open table, or a file that waits with bounds that are to be bought."""

from __future__ import annotations

from dataclasses import dataclass, replace

import streamlit as st

from dpviz.app.ui.data.draft import complete_draft
from dpviz.app.ui.session import find_source, find_table, find_undeclared
from dpviz.runs import OpenTable
from dpviz.tables import Content, Declaration, owner_words

_WHICH = "release:which"


@dataclass(frozen=True, eq=False)
class ReleaseSubject:
    """A source and what is declared of it; ``table`` is None where bounds are still open."""

    content: Content
    declaration: Declaration
    table: OpenTable | None

    @property
    def title(self) -> str:
        """What it is called on screen."""
        return self.declaration.title or self.content.name

    @property
    def source_key(self) -> str:
        """The same for whatever is declared about one file: looks and releases add up over it."""
        return self.content.fingerprint if self.table is None else self.table.source_key

    def with_words(self, words: owner_words.OwnerWords) -> ReleaseSubject:
        """The same with the words of a card among what is declared: the zip's declaration then brings them along."""
        said = {name: value for name in owner_words.OWNER_WORDS if (value := getattr(words, name))}
        said.pop("publication_date")
        return replace(self, declaration=replace(self.declaration, words=said))


def find_subject() -> ReleaseSubject | None:
    """What is to be released; where a table is open and another file waits, the visit says which of them."""
    found = [one for one in (_find_open(), _find_waiting()) if one is not None]
    if len(found) < 2:
        return found[0] if found else None
    place = st.segmented_control(
        "Which table?",
        range(len(found)),
        format_func=lambda place: f"{'open' if place == 0 else 'waits on Data'}",
        default=0,
        required=True,
        key=_WHICH,
        persist_state="session",
    )
    return found[place or 0]


def _find_open() -> ReleaseSubject | None:
    table, source = find_table(), find_source()
    if table is None or source is None:
        return None
    return ReleaseSubject(source.content, table.declaration, table)


def _find_waiting() -> ReleaseSubject | None:
    source = find_undeclared()
    declared = None if source is None else complete_draft(source)
    if source is None or declared is None or not declared.columns:
        return None
    return ReleaseSubject(source.content, declared, None)
