"""The Home page: a public sample under a slider of ε, and the doors of an owner, a teacher and a researcher.

The pictures were computed beforehand (``python -m benchmarks.home_picture``) and are drawn as plain SVG: nothing runs,
and the drawing library is not loaded, before anybody has asked for more.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from math import exp
from typing import Any, NamedTuple

import numpy as np
import streamlit as st

from dpviz.app.charts.home_pictures import count_right_guesses, draw_guesses, draw_thumbnail, draw_trial
from dpviz.app.ui.controls import choose_epsilon
from dpviz.app.ui.data.table_link import open_sample
from dpviz.app.ui.escape import escape_markdown
from dpviz.app.ui.figure import format_badge
from dpviz.core import Array, Flags
from dpviz.runs import Belief, evaluation
from dpviz.tables import sample
from dpviz.words import capitalize_first, choose_palette, glossary

_FIRST = 0.02
SAMPLE, CLUSTERS = "fifteen", 15
"""What the picture shows, for whoever opens it."""


class Draw(NamedTuple):
    """Released centres (k, 2), unit coordinates, and which groups of k-means++ they find."""

    epsilon: float
    centers: Array
    which: Flags

    @property
    def finding(self) -> str:
        """What was found, at which ε."""
        found, groups = int(self.which.sum()), len(self.which)
        many = f"{found} of {groups} groups {'is' if found == 1 else 'are'}"
        many = f"all {groups} groups are" if found == groups else many
        return f"At ε = {self.epsilon:g}, {many} found"


class SampleDraws(NamedTuple):
    """Rows (n, 2) of a public sample and their groups, its k-means++ centres (k, 2), and a draw for each ε."""

    title: str
    half: Array
    points: Array
    groups: Sequence[int]
    reference: Array
    draws: Mapping[float, Draw]

    def place_points(self, points: Array) -> Array:
        """Points in [0, 1] rather than between the bounds."""
        at: Array = (points / self.half + 1) / 2
        return at


def draw_home_picture() -> float:
    """Draw it, the same for everybody; moving the slider runs nothing. The ε that is looked at."""
    shown = read_trial()
    _draw_answer(shown)
    rule = capitalize_first(evaluation.FOUND_RULE)
    words = (
        f":small[{escape_markdown(shown.title)}, a public sample; one draw of Auto for each ε. "
        f"{format_badge('released')} discs: private centres. {format_badge('public')} dots: made-up points, paler "
        f"where their group was missed; diamonds: k-means++ without privacy. {rule}.]"
    )
    # No caption: it would fade the badges.
    st.markdown(words, help=glossary.explain_words("noise, one draw, centre, cluster, k-means++"))
    return float(str(st.session_state.get("home:epsilon", _FIRST)))


@st.fragment
def _draw_answer(shown: SampleDraws) -> None:
    """The slider and what it shows; nothing else on the page is drawn again when it moves."""
    picture, words = st.columns([2, 4], gap="large", vertical_alignment="center")
    with words:
        epsilon = st.select_slider(
            "ε: smaller is more private",
            list(shown.draws),
            value=_FIRST,
            format_func=lambda value: f"{value:g}",
            key="home:epsilon",
            help=glossary.explain_term("epsilon"),
        )
        draw, colors = shown.draws[float(str(epsilon))], choose_palette(st.context.theme.type)
        st.subheader(escape_markdown(draw.finding), anchor=False)
        right = count_right_guesses(Belief.bound(0.5, epsilon=draw.epsilon).most)
        guesses = f"Of 100 guesses about a person 50 are right by chance, at most {right} now:"
        st.markdown(escape_markdown(f"{describe_privacy(draw.epsilon)} {guesses}"))
        alt = f"One hundred dots: 50 guesses right by chance, at most {right} with the release."
        st.image(draw_guesses(right, colors), width="stretch", alt=alt)
    with picture:
        rows, theirs, ours = map(shown.place_points, (shown.points, shown.reference, draw.centers))
        drawn = draw_trial(rows, shown.groups, theirs, ours, draw.which, colors)
        st.image(drawn, width="stretch", alt=f"{draw.finding}: private centres over a public sample.")


def draw_sample_picture(sample_id: str) -> None:
    """A few points of a sample; nothing for one that has none stored."""
    points = read_stored()["samples"].get(sample_id)
    if points is not None:
        st.image(draw_thumbnail(points, choose_palette(st.context.theme.type)), width="stretch", alt="")


def describe_privacy(epsilon: float) -> str:
    """What ε promises to a person.

    >>> describe_privacy(0.1)
    'Nobody’s row changes the odds of any result by more than 11 %.'
    """
    more = 100 * (exp(epsilon) - 1)
    return f"Nobody’s row changes the odds of any result by more than {more:.{2 if more < 100 else 3}g} %."


@cache
def read_stored() -> Any:
    """What was computed beforehand."""
    return json.loads((files("dpviz.app.ui") / "assets" / "home.json").read_text(encoding="utf-8"))


@cache
def read_trial() -> SampleDraws:
    """The draws as they were stored."""
    told = read_stored()["trial"]
    reference = np.array(told["reference"])
    draws = {}
    for draw in told["draws"]:
        which = np.zeros(len(reference), dtype=np.bool_)
        which[draw["found"]] = True
        draws[draw["epsilon"]] = Draw(draw["epsilon"], np.array(draw["centers"]), which)
    points = np.array(told["points"])
    return SampleDraws(told["title"], np.array(told["half"]), points, told["groups"], reference, draws)


class _Door(NamedTuple):
    """Whose door it is, what lies behind it, and the ways there, page by words, the main one first."""

    name: str
    says: str
    ways: dict[str, str]


_DOORS = (
    _Door(
        "My data",
        "From a file to a release that can be defended: declare it, choose ε, release.",
        {"Bring my file": "data.py", "I received a file": "read.py"},
    ),
    _Door(
        "Teach",
        "Lessons with questions, a screen for the room, a sheet to print.",
        {"Lessons": "lessons.py", "What ε means": "meaning.py", "Playground": "playground.py"},
    ),
    _Door(
        "Papers",
        "Every algorithm step by step; the papers’ claims run again; your own beside them.",
        {
            "Explore an algorithm": "explore.py",
            "Claims, with their margins": "papers.py",
            "Compare algorithms": "compare.py",
        },
    ),
)


def draw_ways_in() -> None:
    """Three boxes, each with one button and what else is behind it."""
    with st.grid(min_column_width=260, key="doors"):
        for door in _DOORS:
            with st.container(border=True, height="stretch", gap="xsmall"):
                says = escape_markdown(door.says)
                st.markdown(f"**{escape_markdown(door.name)}**  \n{says}", help=glossary.explain_words(door.says))
                (first, page), *others = door.ways.items()
                if st.button(escape_markdown(first), type="primary", width="stretch", key=f"door:{door.name}"):
                    st.switch_page(page)
                for words, other in others:
                    st.page_link(other, label=escape_markdown(words))


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
