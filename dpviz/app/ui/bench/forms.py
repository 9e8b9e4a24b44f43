"""The form of each word that is no box: drawn below its paragraph, it changes what is in hand."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from dpviz.algorithms import CARDS, Guarantee
from dpviz.app.ui.bench.catalogue import draw_catalogue, draw_description, draw_params_form
from dpviz.app.ui.bench.column_forms import ask_column, ask_columns
from dpviz.app.ui.bench.components import draw_paragraph
from dpviz.app.ui.bench.file_form import draw_file_form
from dpviz.app.ui.bench.hand import Hand
from dpviz.app.ui.bench.in_hand import (
    answer,
    ask_one,
    close_word,
    count_answers,
    find_hand,
    find_open_word,
    find_opened,
    keep_hand,
    list_names,
    make_key,
    open_word,
)
from dpviz.app.ui.bench.sentence import MORE, Word, write_sentence
from dpviz.app.ui.controls import SHARES
from dpviz.app.ui.data.table_link import open_sample
from dpviz.app.ui.data.ways_in import draw_file_here, draw_synthetic_form
from dpviz.app.ui.escape import escape_markdown
from dpviz.app.ui.figure import say_refusal
from dpviz.app.ui.page_sentences import SENTENCES
from dpviz.app.ui.table_words import RELATION_WORDS
from dpviz.core import check
from dpviz.runs import Contender, Target
from dpviz.tables import FileKind, declarations, find_sample, list_samples
from dpviz.words import glossary

_KINDS = {
    FileKind.PRIVATE: "private: about people, shown only if you ask",
    FileKind.PUBLIC: "public: anybody may see the rows",
    FileKind.SIMULATED: "simulated: made up, nobody is in it",
}
_ONE_ROW = "each person has one row"
_HARM = "Said wrong, ε protects rows, not people: 20 rows, 20 times the ε."


def draw_sentence(hand: Hand) -> None:
    """A paragraph each, and below it the form of its word that is open."""
    opened, go = find_open_word(), count_answers()
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


def _open(word: str) -> None:
    hand = find_hand()
    if word == MORE:
        keep_hand(replace(hand, unfolded=True))
    open_word("" if word == MORE else word)


def _type(word: str, text: str) -> None:
    known = {piece.id for pieces in write_sentence(find_hand()) for piece in pieces if isinstance(piece, Word)}
    if word in known:
        keep_hand(find_hand().type_in(word, text))


def _draw_form(hand: Hand, word: str) -> None:
    name, _, column = word.partition(":")
    if name == "column":
        ask_column(hand, column)
        return
    _FORMS[name](hand)


def _ask_table(hand: Hand) -> None:
    """How the table in hand is read and declared, and the ways to another one."""
    draw_file_form(hand)
    titles = {one.id: one.title for one in list_samples()}
    chosen = st.selectbox(
        "A public sample",
        list(titles),
        index=None,
        format_func=titles.__getitem__,
        placeholder="choose one",
        key=make_key(hand, "sample"),
        help=glossary.explain_term("public"),
    )
    if chosen is not None and (found := find_sample(chosen)) is not None:
        with st.spinner("Opening…"):
            open_sample(found)
        close_word()
    draw_file_here()
    with st.popover("Made-up rows", icon=":material/casino:"):
        if draw_synthetic_form():
            close_word()


def _ask_kind(hand: Hand) -> None:
    now, about = hand.declaration.kind, "Every look at private rows is counted."
    chosen = FileKind(ask_one(hand, "kind", "The table is", _KINDS, now, draw=st.radio, help=about))
    if chosen != now:
        answer(hand.say_kind(chosen))


def _ask_person(hand: Hand) -> None:
    with say_refusal():
        _ask_whose(hand, list_names(hand))


def _ask_whose(hand: Hand, names: Sequence[str]) -> None:
    declared, found = hand.declaration, hand.proposal
    likely = () if found is None else found.whose
    choices = {"": _ONE_ROW}
    choices |= {name: f"column {name} says it" for name in (*(one for one in likely if one in names), *names)}
    help = glossary.explain_term("unit", SENTENCES.fill("whose_row"))
    column = ask_one(hand, "whose", "Whose row is it?", choices, declared.id_column or "", help=help) or None
    most = 1
    if column is None:
        st.caption(_HARM)
    else:
        most = int(
            st.number_input(
                "Most rows used of one person",
                1,
                check.MOST_ROWS_PER_PERSON,
                max(1, declared.rows_per_person),
                key=make_key(hand, "most"),
                help="Further rows are left out. All noise grows in proportion.",
            )
        )
    label, look = "Two tables are neighbours if one person is…", {"help": glossary.explain_term("neighbours")}
    now = declared.relation
    relation = ask_one(hand, "relation", label, RELATION_WORDS, now, draw=st.radio, horizontal=True, **look)
    if st.button("So it is", type="primary", key=make_key(hand, "person"), width="stretch"):
        answer(hand.say_person(column, most, relation))


def _ask_origin(hand: Hand) -> None:
    if hand.declaration.bounds_from_rows and hand.is_private:
        st.warning(
            "Bounds read from private rows give two of them away, whatever ε is: study with them, release nothing.",
            icon=":material/warning:",
        )
    origin = st.selectbox(
        "Where are these bounds from?",
        declarations.ORIGINS,
        index=None,
        placeholder="choose or type, such as the CRM manual",
        accept_new_options=True,
        key=make_key(hand, "origin:said"),
        help=glossary.explain_term("bounds"),
    )
    if origin:
        answer(hand.say_origin(str(origin)[:300]))


def _ask_algorithm(hand: Hand) -> None:
    """All of them, each after what it does; its parameters, and the seed of a study."""
    titles = {card.id: f"{card.does}: {card.title}" for _, _, of_kind in CARDS.list_kinds() for card in of_kind}
    card = CARDS[ask_one(hand, "algorithm", "Algorithm", titles, hand.request.algorithm)]
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
    draw_catalogue(make_key(hand, "algorithm"), find_opened(hand))
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
        key=make_key(hand, "often"),
    )
    if share and share != hand.target.share:
        answer(replace(hand, target=Target(hand.target.loss, float(share))))


_FORMS: Mapping[str, Callable[[Hand], Any]] = {
    "table": _ask_table,
    "kind": _ask_kind,
    "person": _ask_person,
    "columns": ask_columns,
    "origin": _ask_origin,
    "algorithm": _ask_algorithm,
    "often": _ask_often,
}
