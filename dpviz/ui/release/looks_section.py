"""What was seen of the rows before the release, counted; and what its owner says was chosen because of it."""

from __future__ import annotations

from typing import NamedTuple

import streamlit as st

from dpviz.glossary import explained
from dpviz.release.seen import Seen
from dpviz.runs.record import counted
from dpviz.table.declaration import Declaration
from dpviz.ui.escape import plain
from dpviz.ui.release.subject import Subject
from dpviz.ui.session import (
    grids_read_on,
    looks_at,
    remember,
    remembered,
    simulated_epsilon_on,
    simulated_on,
    studies_on,
)

_LONGEST = 2_000


class Told(NamedTuple):
    """What was seen of the rows in this visit, and what its owner says was chosen after it."""

    seen: Seen
    chosen: str


def looks_section(asked_of: Subject) -> Told:
    """Draw it; what the card will say."""
    st.subheader("Looks at the rows in this visit", divider="gray", anchor=False, help=explained("look"))
    key = asked_of.source_key
    seen = Seen(
        counted(looks_at(key), asked_of.declaration),
        studies_on(key),
        simulated_on(key),
        simulated_epsilon_on(key),
        grids_read_on(key),
    )
    st.markdown(plain(seen.words))
    return Told(seen, _chosen(asked_of.declaration, key))


def _chosen(declared: Declaration, source_key: str) -> str:
    kept = f"release:chosen:{source_key[:16]}"
    before = declared.words.get("chosen_after_looking", "")
    said = st.text_area(
        "What did you choose after looking?",
        value=remembered(kept, before if isinstance(before, str) else ""),
        max_chars=_LONGEST,
        height=68,
        key=kept,
        placeholder="Columns, bounds, k, ε … or: nothing. Left empty, the card says that you did not say.",
        help="The card prints it word by word. No ε covers what was chosen because of the rows.",
    )
    return remember(kept, said or "")
