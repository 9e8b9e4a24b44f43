"""The page *Learn*: the first question of the first lesson, all lessons, what else there is, and every word."""

from itertools import groupby

import streamlit as st

from dpviz.app.charts.word_pictures import PICTURES
from dpviz.app.ui.addresses import COMPARE, DRAWER, LEARN, LESSONS, MEANING, is_asked_for
from dpviz.app.ui.escape import escape_markdown
from dpviz.app.ui.figure import look_of, read_palette
from dpviz.app.ui.lessons.lesson_panel import PREDICT_FIRST, draw_lessons_list, draw_scene, read_collection
from dpviz.app.ui.lessons.visit import Place, name_place, read_guess, reveal_scene
from dpviz.words import glossary

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
        # As its first scene asks it: whoever answers is in the lesson.
        lesson = next(iter(collection.lessons.values()))
        here = Place(lesson.id, 1, presented=False)
        with st.container(border=True):
            draw_scene(lesson, here)
            waits = read_guess(lesson, here.scene) is None
            help = PREDICT_FIRST if waits else None
            if st.button("Reveal", key="learn:reveal", type="primary", disabled=waits, help=help):
                reveal_scene(lesson, here.scene)
                st.switch_page(LESSONS, query_params=name_place(here))
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


def _draw_words(*, asked: bool) -> None:
    words = st.expander("Glossary", asked, key="glossary", icon=":material/dictionary:", on_change="rerun")
    if words.open:
        with words:
            hint = f"Find one of {len(glossary.read_glossary()):d} words"
            typed = str(st.text_input(**look_of("typed_word", placeholder=hint, key="glossary:typed")))
            named = glossary.read_glossary().get(st.query_params.get(TERM, ""))
            found = find_terms(typed)
            if named is not None and not typed.strip():
                with st.container(border=True, key="glossary:named"):
                    _draw_entry(named)
            elif not found:
                st.info("No word here has that in its name or in what is said of it.", icon=":material/search_off:")
            shown = [term for term in found if term is not named or typed.strip()]
            for _, among in groupby(shown, key=lambda term: term.group):
                terms = list(among)
                term = terms[0]
                st.subheader(term.group, divider="gray", anchor=False)
                # In two columns that end at about the same height, each read from top to bottom.
                heights = list(map(_estimate_height, terms))
                left = sum(2 * sum(heights[:place]) + heights[place] <= sum(heights) for place in range(len(terms)))
                for column, part in zip(st.columns(2, gap="large"), (terms[:left], terms[left:]), strict=True):
                    for one in part:
                        with column.container(gap="xsmall"):
                            _draw_entry(one)
    elif asked:  # it was closed: the address does not ask for it any more
        for name in (DRAWER, TERM):
            st.query_params.pop(name, None)


TERM = "term"
"""What names a word in a link."""
_PICTURE_WIDTH, _PICTURE_LINES, _LETTERS = 300, 6, 55


def find_terms(typed: str) -> list[glossary.Term]:
    """The terms with what is typed in a form of their name or else in their sentences, in the order of the file."""
    sought = " ".join(typed.split()).casefold()
    by_name = [one for one in glossary.read_glossary().values() if any(sought in form.casefold() for form in one.forms)]
    return by_name or [term for term in glossary.read_glossary().values() if sought in term.says.casefold()]


def _estimate_height(term: glossary.Term) -> int:
    """About how many lines an entry takes."""
    return 3 + len(term.says) // _LETTERS + 2 * bool(term.number) + _PICTURE_LINES * bool(term.picture)


def _draw_entry(term: glossary.Term) -> None:
    """A word, what it means, its number and its picture; the word is a link to itself."""
    st.page_link(LEARN, label=f"**{term.name}**", query_params={TERM: term.id})
    st.markdown(term.says)
    if term.number:
        st.markdown(f":material/calculate: :small[{term.number}]")
    if term.picture:
        picture = PICTURES[term.picture]
        figure, key = picture.draw(read_palette()).figure(), f"glossary:{term.id}"
        still = {"staticPlot": True, "displayModeBar": False}
        st.plotly_chart(figure, width=_PICTURE_WIDTH, theme=None, key=key, config=still, alt=picture.alt)
