"""What the form about one source begins with: a declaration, until JSON or a proposal makes another of it."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import streamlit as st

from dpviz.table.declaration import Declaration
from dpviz.table.loaded_table import IntakeError
from dpviz.ui.session import Source

_STATE, _VERSIONS = "declare:begun", "declare:versions"

Change = Callable[[Declaration], Declaration]
"""What makes another declaration of the one that the form says."""


@dataclass
class Begun:
    """One source and what its form begins with; a new ``version``, one never used before, makes every widget do so.

    ``notes`` are what a proposal found in the rows.
    """

    source: Source
    start: Declaration
    version: int
    notes: tuple[str, ...] = ()
    refused: tuple[Declaration, str] | None = None
    asked: Change | None = field(default=None, repr=False)

    def kept(self, name: str, *depends: Sequence[str]) -> dict[str, Any]:
        """Key of the widget ``name``, whose answer stays for the visit while what it ``depends`` on is the same."""
        on = f"{zlib.crc32(repr(depends).encode('utf-8', 'backslashreplace')):08x}:" if depends else ""
        return {"key": f"declare:{self.source.number}.{self.version}:{on}{name}", "persist_state": "session"}

    def refusal(self, now: Declaration) -> str | None:
        """Why the last change was refused, as long as the form says the same as then."""
        return self.refused[1] if self.refused is not None and self.refused[0] == now else None

    def settle(self, now: Declaration) -> bool:
        """Do what was asked to the form's declaration ``now``; whether the page is to be drawn anew."""
        change, self.asked = self.asked, None
        if change is None:
            return False
        self.refused = None
        try:
            self.start = change(now)
        except IntakeError as error:
            self.refused = (now, str(error))
            return False
        self.version = _next_version()
        return True


def begun_for(source: Source, start: Declaration) -> Begun:
    """The form about ``source`` as it stands, or one that begins with ``start``."""
    begun = cast("Begun | None", st.session_state.get(_STATE))
    if begun is None or begun.source.number != source.number:
        begun = st.session_state[_STATE] = Begun(source, start, _next_version())
    return begun


def _next_version() -> int:
    version: int = st.session_state.get(_VERSIONS, 0) + 1
    st.session_state[_VERSIONS] = version
    return version
