"""What this visit could release: the open table, or a file that waits with bounds that are to be bought."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from dpviz.core import RequestError
from dpviz.runs import OpenTable
from dpviz.tables import Content, Declaration, declarations


def find_refusal(check: Callable[[], object]) -> list[str]:
    """What a check that fails says against a release; nothing where it passes."""
    try:
        check()
    except RequestError as error:
        return [str(error)]
    return []


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

    def with_words(self, words: declarations.OwnerWords) -> ReleaseSubject:
        """The same with the words of a card among what is declared: the zip's declaration then brings them along."""
        said = {name: value for name in declarations.OWNER_WORDS if (value := getattr(words, name))}
        said.pop("publication_date")
        return replace(self, declaration=replace(self.declaration, words=said))
