"""The form of each word that is no box: drawn below its paragraph, it changes what is in hand."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import date
from typing import Any

import streamlit as st

from dpviz.algorithms import CARDS, Guarantee
from dpviz.app.ui.bench.catalogue import draw_description, draw_params_form
from dpviz.app.ui.bench.components import draw_paragraph
from dpviz.app.ui.bench.hand import Hand
from dpviz.app.ui.bench.in_hand import count_public_rows, find_hand, keep_hand
from dpviz.app.ui.bench.sentence import MORE, Word, write_sentence
from dpviz.app.ui.data.table_link import open_sample
from dpviz.app.ui.data.ways_in import draw_file_here, draw_synthetic_form
from dpviz.app.ui.escape import escape_markdown
from dpviz.app.ui.table_words import RELATION_WORDS
from dpviz.app.ui.tradeoff.window_section import SHARES
from dpviz.core import check
from dpviz.runs import Contender, Target
from dpviz.tables import SAMPLES, FileKind, codings, declarations, find_sample
from dpviz.words import glossary

_WORD, _ANSWERED = "bench:word", "bench:answered"
_KINDS = {
    FileKind.PRIVATE: "private: about people, shown only if you ask",
    FileKind.PUBLIC: "public: anybody may see the rows",
    FileKind.SIMULATED: "simulated: made up, nobody is in it",
}
_ONE_ROW = "each person has one row"
_SCALES = {"linear": "as they are", "log": "logarithms: for money and sizes", "root": "roots: for amounts with zeros"}
_WHOLE = "bench:whole"
"""Whether the whole declaration is open in the place of the picture."""


def draw_sentence(hand: Hand) -> None:
    """A paragraph each, and below it the form of its word that is open."""
    opened, go = find_open_word(), st.session_state.get(_ANSWERED, 1)
    for place, pieces in enumerate(write_sentence(hand)):
        draw_paragraph(
            pieces,
            key=f"bench:sentence:{place}",
            opened=opened,
            table=hand.number,
            go=go if place == 0 else 0,
            on_word=_open,
            on_typed=_type,
        )
        if any(isinstance(piece, Word) and piece.id == opened and not piece.is_box for piece in pieces):
            with st.container(border=True, key="bench_form", gap="small"):
                _draw_form(hand, opened)


def find_open_word() -> str:
    """The word whose form is open; "" if none is."""
    return str(st.session_state.get(_WORD, ""))


def _open(word: str) -> None:
    hand = find_hand()
    if word == MORE:
        keep_hand(replace(hand, unfolded=True))
    st.session_state[_WORD] = "" if word == MORE else word


def _type(word: str, text: str) -> None:
    known = {piece.id for pieces in write_sentence(find_hand()) for piece in pieces if isinstance(piece, Word)}
    if word in known:
        keep_hand(find_hand().type_in(word, text))


def answer(hand: Hand) -> None:
    """Keep what a form said, close it, and go on to the next gap."""
    keep_hand(hand)
    st.session_state[_WORD] = ""
    st.session_state[_ANSWERED] = st.session_state.get(_ANSWERED, 1) + 1
    st.rerun()


def is_whole_open() -> bool:
    """Whether the whole declaration is open in the place of the picture."""
    return bool(st.session_state.get(_WHOLE))


def show_whole(*, shown: bool) -> None:
    """Open it, or close it."""
    st.session_state[_WHOLE] = shown
    st.session_state[_WORD] = ""


def _draw_form(hand: Hand, word: str) -> None:
    name, _, column = word.partition(":")
    if name == "column":
        _ask_column(hand, column)
        return
    _FORMS[name](hand)


def _make_key(hand: Hand, name: str) -> str:
    return f"bench:{hand.number}:{name}"


def _ask_table(hand: Hand) -> None:
    titles = {one.id: one.title for one in SAMPLES}
    chosen = st.selectbox(
        "A public sample",
        list(titles),
        index=None,
        format_func=titles.__getitem__,
        placeholder="choose one",
        key=_make_key(hand, "sample"),
    )
    if chosen is not None and (found := find_sample(chosen)) is not None:
        with st.spinner("Opening…"):
            open_sample(found)
        _close()
    draw_file_here()
    with st.popover("Made-up rows", icon=":material/casino:"):
        if draw_synthetic_form():
            _close()


def _close() -> None:
    st.session_state[_WORD] = ""
    st.rerun()


def _ask_kind(hand: Hand) -> None:
    now = hand.declaration.kind
    chosen = st.radio(
        "The table is",
        list(_KINDS),
        list(_KINDS).index(now),
        format_func=_KINDS.__getitem__,
        key=_make_key(hand, "kind"),
    )
    if chosen is not None and chosen != now:
        said = replace(hand, declaration=replace(hand.declaration, kind=FileKind(chosen)))
        if not said.is_private and said.rows is None and (rows := count_public_rows(said)) is not None:
            said = said.say_rows(rows)
        answer(said)


def _ask_person(hand: Hand) -> None:
    declared, found = hand.declaration, hand.proposal
    ids = () if found is None else found.list_kind("id")
    names = (*ids, *(name for name in (() if found is None else found.names) if name not in ids))
    if declared.id_column and declared.id_column not in names:
        names = (declared.id_column, *names)
    choices = [_ONE_ROW, *names]
    start = choices.index(declared.id_column) if declared.id_column else 0
    whose = st.selectbox(
        "Whose row is it?",
        choices,
        start,
        format_func=lambda name: name if name == _ONE_ROW else f"column {name} says it",
        key=_make_key(hand, "whose"),
        help=glossary.explain_term("unit"),
    )
    column, most = None if whose == _ONE_ROW else str(whose), 1
    if column is not None:
        label = "Most rows used of one person"
        most = int(
            st.number_input(
                label, 1, check.MOST_ROWS_PER_PERSON, max(1, declared.rows_per_person), key=_make_key(hand, "most")
            )
        )
    relation = st.radio(
        "Two tables are neighbours if one person is…",
        list(RELATION_WORDS),
        list(RELATION_WORDS).index(declared.relation),
        format_func=RELATION_WORDS.__getitem__,
        horizontal=True,
        key=_make_key(hand, "relation"),
        help=glossary.explain_term("neighbours"),
    )
    if st.button("So it is", type="primary", key=_make_key(hand, "person"), width="stretch"):
        answer(hand.say_person(column, most, str(relation)))


def _ask_columns(hand: Hand) -> None:
    declared, found = hand.declaration, hand.proposal
    able = list(declared.columns)
    if found is not None:
        coded = [name for name, form in found.list_forms(declared).items() if "dates" not in form]
        able = [name for name in found.names if name in able or name in found.numbers or name in coded]
    able = [name for name in able if name != declared.id_column]
    with st.form(_make_key(hand, "columns"), border=False):
        chosen = st.multiselect("By these columns", able, list(declared.columns), key=_make_key(hand, "chosen"))
        if st.form_submit_button("So it is", type="primary", width="stretch"):
            answer(hand.choose_columns(chosen))
    st.button(
        "Everything about the file and its columns",
        icon=":material/tune:",
        key="bench:whole_open",
        on_click=show_whole,
        kwargs={"shown": True},
    )


def _ask_column(hand: Hand, name: str) -> None:
    declared = hand.declaration
    if name not in declared.columns:
        return
    coding = declared.codings.get(name, codings.NUMBER)
    st.markdown(f"**{escape_markdown(name)}**")
    if isinstance(coding, codings.Dates):
        _ask_dates(hand, name, coding)
    elif coding.ends is not None:
        st.caption(escape_markdown(", ".join(coding.words)))
    else:
        now = coding.kind if coding.kind in _SCALES else "linear"
        scale = st.segmented_control(
            "On the scale of",
            list(_SCALES),
            default=now,
            format_func=_SCALES.__getitem__,
            required=True,
            key=_make_key(hand, f"scale:{name}"),
        )
        if scale and scale != now and f"column:{name}" not in hand.refused:
            answer(hand.stretch(name, scale))
        if None in declared.bounds[name][:2]:
            bought = st.toggle(
                "Nobody knows its bounds: a part of ε buys them", name in hand.buys, key=_make_key(hand, f"buy:{name}")
            )
            if bought != (name in hand.buys):
                answer(replace(hand, buys=tuple({*hand.buys, name} if bought else {*hand.buys} - {name})))
    if st.button("Leave it out", icon=":material/close:", key=_make_key(hand, f"out:{name}")):
        answer(hand.choose_columns([one for one in declared.columns if one != name]))


def _ask_dates(hand: Hand, name: str, coding: codings.Dates) -> None:
    with st.form(_make_key(hand, f"dates:{name}"), border=False):
        ends = [
            st.date_input(
                escape_markdown(label),
                value,
                date(1900, 1, 1),
                date(2200, 1, 1),
                key=_make_key(hand, f"{label}:{name}"),
            )
            for label, value in (("First day", coding.first), ("Last day", coding.last))
        ]
        if st.form_submit_button("So it is", type="primary") and all(isinstance(end, date) for end in ends):
            form = {"dates": [str(end) for end in ends], "written": coding.written}
            answer(hand.declare(hand.declaration.with_coding(name, form)))


def _ask_origin(hand: Hand) -> None:
    with st.form(_make_key(hand, "origin"), border=False):
        origin = st.selectbox(
            "Where are these bounds from?",
            declarations.ORIGINS,
            index=None,
            placeholder="choose or type, such as the CRM manual",
            accept_new_options=True,
            key=_make_key(hand, "origin:said"),
            help=glossary.explain_term("bounds"),
        )
        if st.form_submit_button("So it is", type="primary", width="stretch") and origin:
            answer(hand.say_origin(str(origin)[:300]))


def _ask_algorithm(hand: Hand) -> None:
    """All of them, each after what it does; its parameters, and the seed of a study."""
    cards = [card for _, _, of_kind in CARDS.list_kinds() for card in of_kind]
    names = [card.id for card in cards]
    now = hand.request.contender
    chosen = st.selectbox(
        "Algorithm",
        names,
        names.index(now.algorithm),
        format_func=lambda name: f"{CARDS[name].does}: {CARDS[name].title}",
        key=_make_key(hand, "algorithm"),
    )
    card = CARDS[chosen]
    st.caption(escape_markdown(card.summary))
    with st.expander("Parameters, and the noise of a study", icon=":material/tune:"):
        params = draw_params_form(card)
        seeded = st.toggle(
            "Repeatable noise (study only)",
            hand.request.seed is not None,
            key="study_noise",
            help=glossary.explain_term("noise"),
        )
        seed = int(st.number_input("Seed", 0, 2**31 - 1, hand.request.seed or 0, key="study_seed", disabled=not seeded))
    with st.expander("How it works", icon=":material/school:"):
        draw_description(card)
    said = replace(hand.request, contender=Contender(card.id, params), seed=seed if seeded else None)
    if Guarantee.APPROX in card.guarantees and not said.delta and Guarantee.PURE not in card.guarantees:
        said = replace(said, delta=check.choose_usual_delta(None if hand.rows is None else hand.rows.high))
    if said != hand.request or dict(said.params) != dict(hand.request.params):
        keep_hand(replace(hand, request=said))
        st.rerun()


def _ask_often(hand: Hand) -> None:
    share = st.segmented_control(
        "In so many of 10 draws",
        SHARES,
        default=hand.target.share,
        format_func=lambda one: f"{10 * one:g} of 10",
        required=True,
        key=_make_key(hand, "often"),
    )
    if share and share != hand.target.share:
        answer(replace(hand, target=Target(hand.target.loss, float(share))))


_FORMS: Mapping[str, Callable[[Hand], Any]] = {
    "table": _ask_table,
    "kind": _ask_kind,
    "person": _ask_person,
    "columns": _ask_columns,
    "origin": _ask_origin,
    "algorithm": _ask_algorithm,
    "often": _ask_often,
}
