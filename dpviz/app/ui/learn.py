"""The page *Learn*: the first question of the first lesson, all lessons, what else there is, and every word."""

from __future__ import annotations

import streamlit as st

from dpviz.app.lessons.lesson import Lesson
from dpviz.app.ui.addresses import COMPARE, DRAWER, LESSONS, MEANING, is_asked_for
from dpviz.app.ui.escape import escape_markdown
from dpviz.app.ui.glossary_page import TERM, draw_glossary
from dpviz.app.ui.lessons.lesson_panel import PREDICT_FIRST, draw_lessons_list, draw_scene, read_collection
from dpviz.app.ui.lessons.visit import Place, name_place, read_guess, reveal_scene

# Pages that are reached from here, and what each is for.
_WAYS = (
    ("playground.py", "Playground", ":material/brush:", "Paint a town, hide one person in it, turn ε."),
    (MEANING, "What ε means", ":material/balance:", "The odds, an attack that is run, and where others stand."),
    ("papers.py", "Papers", ":material/science:", "The experiments of the papers, run again: which claims hold?"),
    (COMPARE, "Compare algorithms", ":material/compare_arrows:", "Many runs of several, on one set of axes."),
)


def draw_learn_page() -> None:
    """Draw it; the glossary comes first where a link asks for a word."""
    asked = is_asked_for("glossary") or TERM in st.query_params
    if asked:
        _draw_words(asked=True)
    collection = read_collection()
    st.title("Predict, then see", anchor=False)
    if collection.lessons:
        _draw_first_question(next(iter(collection.lessons.values())))
    st.markdown("**Each lesson has one sentence to remember; a class can take it together.**")
    draw_lessons_list(collection)
    st.subheader("Look closer", anchor=False)
    with st.grid(min_column_width=220, key="ways"):
        for page, name, icon, says in _WAYS:
            with st.container(border=True, height="stretch", gap="xsmall"):
                st.page_link(page, label=f"**{name}**", icon=icon)
                st.markdown(f":small[{escape_markdown(says)}]")
    if not asked:
        _draw_words(asked=False)


def _draw_first_question(lesson: Lesson) -> None:
    """As its first scene asks it: whoever answers is in the lesson."""
    here = Place(lesson.id, 1, presented=False)
    with st.container(border=True):
        draw_scene(lesson, here)
        waits = read_guess(lesson, here.scene) is None
        help = PREDICT_FIRST if waits else None
        if st.button("Reveal", key="learn:reveal", type="primary", disabled=waits, help=help):
            reveal_scene(lesson, here.scene)
            st.switch_page(LESSONS, query_params=name_place(here))


def _draw_words(*, asked: bool) -> None:
    words = st.expander("Glossary", asked, key="glossary", icon=":material/dictionary:", on_change="rerun")
    if words.open:
        with words:
            draw_glossary()
    elif asked:  # it was closed: the address does not ask for it any more
        for name in (DRAWER, TERM):
            st.query_params.pop(name, None)
