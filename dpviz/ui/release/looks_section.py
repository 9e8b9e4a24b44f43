"""What was seen of the rows before the release, counted; and what its owner says was chosen because of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import streamlit as st

from dpviz.charts.wording import things
from dpviz.glossary import explained
from dpviz.release.promise import looks_in_words
from dpviz.runs.record import LookKind, counted
from dpviz.table.declaration import Declaration
from dpviz.ui.escape import plain
from dpviz.ui.release.subject import Subject
from dpviz.ui.session import looks_at, remember, remembered, simulated_on, studies_on

_LONGEST = 2_000


class Seen(NamedTuple):
    """Looks at the rows by kind and studies on them in this visit, and what was chosen after them."""

    looks: Mapping[LookKind, int]
    studies: int
    chosen: str


def looks_section(asked_of: Subject) -> Seen:
    """Draw it; what the card will say."""
    st.subheader("Looks at the rows in this visit", divider="gray", anchor=False, help=explained("look"))
    looks = {
        LookKind(kind): times for kind, times in counted(looks_at(asked_of.source_key), asked_of.declaration).items()
    }
    studies = studies_on(asked_of.source_key)
    st.markdown(plain(looks_in_words({str(kind): times for kind, times in looks.items()}, studies)))
    if runs := simulated_on(asked_of.source_key):
        st.caption(
            f"Besides, {things(runs, 'simulated run')} on Explore, for your eyes: publish none of them; no account "
            "has paid."
        )
    return Seen(looks, studies, _chosen(asked_of.declaration, asked_of.source_key))


def _chosen(declared: Declaration, source_key: str) -> str:
    kept = f"release:chosen:{source_key[:16]}"
    before = declared.words.get("chosen_after_looking", "")
    said = st.text_area(
        "What did you choose after looking?",
        value=remembered(kept, before if isinstance(before, str) else ""),
        max_chars=_LONGEST,
        height=68,
        key=kept,
        placeholder="Columns, bounds, k, ε, the algorithm … Left empty, the card says: nothing.",
        help="The card prints it word by word. No ε covers what was chosen because of the rows.",
    )
    return remember(kept, said or "")
