"""The three doors of the Home page: an owner’s, a teacher’s, a researcher’s; and one for whoever received a file."""

from __future__ import annotations

from typing import NamedTuple

import streamlit as st

from dpviz.app.ui.controls import choose_epsilon
from dpviz.app.ui.data.named_tables import open_sample
from dpviz.app.ui.escape import escape_markdown
from dpviz.app.ui.home_picture import SAMPLE
from dpviz.tables import sample


class _Way(NamedTuple):
    """A link: its words, the page, and what the page is asked for."""

    words: str
    page: str
    asked: dict[str, str]


class _Door(NamedTuple):
    """Whose door it is, what lies behind it, and the ways there, the main one first."""

    name: str
    says: str
    ways: tuple[_Way, ...]


_DOORS = (
    _Door(
        "My data",
        "From a file to a release that can be defended: declare it, choose ε, release.",
        (
            _Way("Bring my file", "data.py", {}),
            _Way("Choose ε", "tradeoff.py", {}),
            _Way("I received a file", "read.py", {}),
        ),
    ),
    _Door(
        "Teach",
        "Lessons with questions, a screen for the room, a sheet to print.",
        (
            _Way("Lessons", "lessons.py", {}),
            _Way("What ε means", "meaning.py", {}),
            _Way("Playground", "playground.py", {}),
        ),
    ),
    _Door(
        "Papers",
        "Every algorithm step by step; the papers’ claims run again; your own beside them.",
        (
            _Way("Explore an algorithm", "explore.py", {}),
            _Way("Claims, with their margins", "papers.py", {}),
            _Way("Compare", "compare.py", {}),
        ),
    ),
)


def draw_ways_in() -> None:
    """Three boxes, each with one button and what else is behind it."""
    with st.grid(min_column_width=260, key="doors"):
        for door in _DOORS:
            with st.container(border=True, height="stretch", gap="xsmall"):
                st.markdown(f"**{escape_markdown(door.name)}**  \n{escape_markdown(door.says)}")
                first, *others = door.ways
                if st.button(escape_markdown(first.words), type="primary", width="stretch", key=f"door:{door.name}"):
                    st.switch_page(first.page)
                for way in others:
                    st.page_link(way.page, label=escape_markdown(way.words))


def open_picture(epsilon: float) -> bool:
    """A button that opens the sample of the picture at its ε; True if it was pressed just now."""
    if not st.button("Open this picture in Explore", icon=":material/arrow_forward:", key="home:open"):
        return False
    with st.spinner("Opening…"):
        open_sample(sample(SAMPLE))
        choose_epsilon(max(epsilon, 0.01))
    return True


def draw_received_release() -> None:
    """For whoever was handed a release: the page that reads and checks it."""
    st.page_link("read.py", label="I received a file: read it, check it, compare it", icon=":material/verified:")
