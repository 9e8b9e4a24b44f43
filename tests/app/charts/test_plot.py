"""A plot and the words above it; and the mark of what was revealed, in whatever is made of a picture."""

import json
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from dpviz.app.charts.animation import Animation
from dpviz.app.charts.canvas import TitledPlot, new_plot
from dpviz.app.charts.picture import RenderContext
from dpviz.app.charts.player.lesson_page import make_standalone_page
from dpviz.app.charts.plot import MADE_UP_MARK, REVEALED_MARK, pack, wrap_lines
from dpviz.app.charts.view import make_view
from dpviz.runs import run
from dpviz.words import choose_palette
from tests.app.charts.gallery import exhibit
from tests.cases import for_each

LIGHT = choose_palette("light")


@given(st.lists(st.text("abc", min_size=1, max_size=12), min_size=1, max_size=30), st.integers(200, 1200))
def test_lines_lose_no_word(words: list[str], width: int) -> None:
    broken, even = (wrap_lines(" ".join(words), size=14, width=width, even=even) for even in (False, True))
    assert " ".join(broken).split() == " ".join(even).split() == words
    assert all(len(line) * 0.53 * 14 <= width for line in (*broken, *even))
    assert len(even) == len(broken) and max(map(len, even)) <= max(map(len, broken))


@for_each("kind", ["public", "released", "revealed"])
def test_a_picture_of_rows_says_so_in_every_file_of_it_and_no_other_does(kind):
    made = new_plot(LIGHT)
    for _ in range(2):
        made.add_trace({"type": "scatter", "x": [0.0], "y": [1.0], "meta": kind})
    shown = TitledPlot("A title", "", made)
    page = make_standalone_page([shown], title="t", paragraphs=[], points=[], palette=LIGHT)
    assert [note.text for note in made.figure().layout.annotations] == [REVEALED_MARK] * (kind == "revealed")
    for file in (page, pack(made.to_data())):
        assert (REVEALED_MARK.removeprefix("◉ ") in file) == (kind == "revealed")


def test_a_played_run_keeps_the_mark_though_its_rows_are_sent_apart():
    this = exhibit(2, 3, n=300)
    context = RenderContext(make_view(this.table.domain), LIGHT, reveal=this.reveal)
    made = run("dplloyd", this.table, k=3, epsilon=1.0, seed=1)
    nobody, none = replace(context, mark=MADE_UP_MARK), replace(context, reveal=None)
    for given_rows, marks in ((context, [REVEALED_MARK]), (nobody, [MADE_UP_MARK]), (none, [])):
        said = json.dumps(Animation.of_run(made, given_rows).to_data(), ensure_ascii=False)
        assert [mark for mark in (REVEALED_MARK, MADE_UP_MARK) if mark in said] == marks
