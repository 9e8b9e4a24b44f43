"""What the card says in the owner's words: folded away once it is complete."""

from __future__ import annotations

from typing import Any

import streamlit as st

from dpviz.charts.wording import opening, things
from dpviz.release.card_facts import OWNER_QUESTIONS, SECTORS, CardWords
from dpviz.release.order import words_for
from dpviz.table.declaration import SEVERAL_WORDS, Declaration
from dpviz.ui.escape import plain
from dpviz.ui.session import remember, remembered

_LONGEST = 2_000
_ASKED = {
    "name": ("Name", "Visitors of the clinic, 2026"),
    "description": ("Description: what is published, in a sentence", "Centres of six groups of visitors, by age."),
    "intended_use": ("Intended use", "Planning of opening hours"),
    "curators": ("Curators: who publishes it, one a line", "Clinic of Bremen"),
    "region": ("Region that the data describe", "Bremen, Germany"),
    "justification": (
        "Justification: why these bounds, this ε and this k",
        "Bounds from the law; ε from a stand-in",
    ),
    "authors": ("Authors: who filled in the card, one a line", "A. Muster"),
}
_LONG = ("description", "justification", "curators", "authors")
_DECLARED_FIRST = ("name", "description")


def words_form(declared: Declaration, source_key: str, *, today: str, chosen: str) -> CardWords:
    """Draw the form; all words of the card."""
    kept = f"release:words:{source_key[:16]}"
    before: dict[str, Any] = {**_first(declared, today), **remembered(kept, {}), "publication_date": today}
    missing = CardWords(**before, chosen_after_looking=chosen).missing()
    title = "The card in your words" + (f": {things(len(missing), 'thing')} to say" if missing else "")
    with st.expander(plain(title), expanded=bool(missing), icon=":material/edit_note:", key=f"{kept}:open"):
        left, right = st.columns(2, gap="medium")
        said: dict[str, Any] = {}
        for place, (name, (label, hint)) in enumerate(_ASKED.items()):
            with left if place % 2 == 0 else right:
                said[name] = _answer(f"{kept}:{name}", name, label, hint, before[name])
        with right:
            said["sector"] = _sector(f"{kept}:sector", before["sector"])
    said |= _for_evaluators(kept, before)
    return CardWords(**remember(kept, {**before, **said}), chosen_after_looking=chosen)


def _for_evaluators(kept: str, before: dict[str, Any]) -> dict[str, str]:
    """Answers to what only the owner can say; the dossier prints them, and names what is left open."""
    # What was typed just now is in the session before its box is drawn again.
    now = {name: st.session_state.get(f"{kept}:{name}", before[name]) for name in OWNER_QUESTIONS}
    open_ended = sum(not str(said).strip() for said in now.values())
    title = "What an evaluator asks" + (f": {things(open_ended, 'question')} open" if open_ended else "")
    with st.expander(plain(title), icon=":material/fact_check:", key=f"{kept}:evaluators"):
        st.caption("The dossier in the zip prints your answers word by word. A question left open is named as open.")
        left, right = st.columns(2, gap="medium")
        said = {}
        for place, (name, question) in enumerate(OWNER_QUESTIONS.items()):
            with left if place % 2 == 0 else right:
                said[name] = (
                    st.text_area(
                        plain(question), value=before[name], max_chars=_LONGEST, height=68, key=f"{kept}:{name}"
                    )
                    or ""
                )
    return said


def in_plain_words(missing: str) -> str:
    """A sentence about a missing word, with the name that its field has on the page.

    >>> in_plain_words("intended_use is empty: say what the release is for.")
    'Intended use is empty: say what the release is for.'
    """
    name, gap, rest = missing.partition(" ")
    return f"{opening(name.replace('_', ' '))}{gap}{rest}"


def _first(declared: Declaration, today: str) -> dict[str, Any]:
    """What is declared; where nothing is, a name and a description are proposed, and all else is asked."""
    usual = words_for(declared, today=today)
    asked = [name for name in _ASKED if name not in (*declared.words, *_DECLARED_FIRST)]
    words = {name: getattr(usual, name) for name in (*_ASKED, *OWNER_QUESTIONS, "sector", "publication_date")}
    return words | {name: () if name in SEVERAL_WORDS else "" for name in asked}


def _answer(key: str, name: str, label: str, hint: str, before: Any) -> Any:
    text = "\n".join(before) if name in SEVERAL_WORDS else before
    if name not in _LONG:
        return st.text_input(plain(label), value=text, max_chars=_LONGEST, placeholder=hint, key=key) or ""
    said = st.text_area(plain(label), value=text, max_chars=_LONGEST, height=68, placeholder=hint, key=key) or ""
    if name not in SEVERAL_WORDS:
        return said
    return tuple(line.strip() for line in said.splitlines() if line.strip())


def _sector(key: str, before: str) -> str:
    return (
        st.selectbox(
            "Sector (optional)",
            SECTORS,
            index=SECTORS.index(before) if before in SECTORS else None,
            placeholder="none of these",
            key=key,
        )
        or ""
    )
