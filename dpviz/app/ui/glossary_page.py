"""The glossary: a box to search, the word that a link names, and all others group by group."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

import streamlit as st

from dpviz.app.charts.word_pictures import PICTURES
from dpviz.app.ui.addresses import LEARN
from dpviz.app.ui.figure import read_palette
from dpviz.words import glossary

TERM = "term"
"""What names a word in a link."""
_PICTURE_WIDTH, _PICTURE_LINES, _LETTERS = 300, 6, 55


def draw_glossary() -> None:
    """Draw it; what is typed narrows the list at once."""
    look: dict[str, Any] = {"type": "search", "icon": ":material/search:", "label_visibility": "collapsed"}
    look["placeholder"] = f"Find one of {len(glossary.read_glossary()):d} words"
    typed = str(st.text_input("Find a word", live=True, key="glossary:typed", **look))
    named = glossary.read_glossary().get(st.query_params.get(TERM, ""))
    found = find_terms(typed)
    if named is not None and not typed.strip():
        with st.container(border=True, key="glossary:named"):
            _draw_entry(named)
    elif not found:
        st.info("No word here has that in its name or in what is said of it.", icon=":material/search_off:")
    shown = [term for term in found if term is not named or typed.strip()]
    for _, among in groupby(shown, key=lambda term: term.group):
        term, *others = among
        st.subheader(term.group, divider="gray", anchor=False)
        _draw_list([term, *others])


def find_terms(typed: str) -> list[glossary.Term]:
    """The terms that have what is typed in a form of their name or else in their sentences, in the order of the file.

    >>> [term.id for term in find_terms("voro")]
    ['voronoi']
    """
    sought = " ".join(typed.split()).casefold()
    by_name = [
        term for term in glossary.read_glossary().values() if any(sought in form.casefold() for form in term.forms)
    ]
    return by_name or [term for term in glossary.read_glossary().values() if sought in term.says.casefold()]


def _draw_list(terms: Sequence[glossary.Term]) -> None:
    """In two columns that end at about the same height, each read from top to bottom."""
    heights = [_estimate_height(term) for term in terms]
    left = sum(2 * sum(heights[:place]) + heights[place] <= sum(heights) for place in range(len(terms)))
    for column, part in zip(st.columns(2, gap="large"), (terms[:left], terms[left:]), strict=True):
        for term in part:
            with column.container(gap="xsmall"):
                _draw_entry(term)


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
