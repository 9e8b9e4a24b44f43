"""A plot and the words above it; and the mark of what was revealed, in whatever is made of a picture."""

from __future__ import annotations

import doctest
import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpviz.app.charts import plot
from dpviz.app.charts.animation import Animation
from dpviz.app.charts.canvas import Panel, TitledPlot, new_plot
from dpviz.app.charts.picture import RenderContext
from dpviz.app.charts.player.lesson_page import make_standalone_page
from dpviz.app.charts.plot import MADE_UP_MARK, REVEALED_MARK, TEXT_SIZE, Plot, pack, wrap_lines
from dpviz.app.charts.studies.curves import MEASURES
from dpviz.app.charts.view import make_view
from dpviz.runs import run
from dpviz.words import choose_palette
from tests.app.charts.gallery import exhibit, subtitle_of, title_of
from tests.cases import for_each

LIGHT = choose_palette("light")
LONG = "At ε = 1, an algorithm with a rather long name comes first: loss 1.00× k-means++"


def test_examples_in_the_docstrings():
    assert doctest.testmod(plot).attempted > 0 == doctest.testmod(plot).failed


@for_each(("lowest", "highest"), [(0.01, 35.0), (0.1, 10.0), (1.0, 1.0)])
def test_the_epsilon_axis_holds_what_it_was_given_with_round_ticks(lowest, highest):
    axis = plot.make_epsilon_axis(lowest, highest)
    low, high = 10.0 ** np.array(axis["range"])
    assert low < lowest <= highest < high and axis["tickvals"]
    assert all(low < tick < high for tick in axis["tickvals"])
    assert [float(text) for text in axis["ticktext"]] == axis["tickvals"]


def test_charts_can_be_saved_but_not_sent_away():
    config = plot.make_config("Ledger")
    assert config["showSendToCloud"] is False
    assert config["toImageButtonOptions"] == {"format": "svg", "filename": "ledger"}
    assert plot.make_config("∅")["toImageButtonOptions"]["filename"] == "chart"


@given(st.lists(st.text("abc", min_size=1, max_size=12), min_size=1, max_size=30), st.integers(200, 1200))
def test_lines_lose_no_word(words: list[str], width: int) -> None:
    broken, even = (wrap_lines(" ".join(words), size=14, width=width, even=even) for even in (False, True))
    assert " ".join(broken).split() == " ".join(even).split() == words
    assert all(len(line) * 0.53 * 14 <= width for line in (*broken, *even))
    assert len(even) == len(broken) and max(map(len, even)) <= max(map(len, broken))


@for_each("width", range(90, 300, 7))
def test_a_number_stays_with_its_name_and_its_sign_and_k_with_its_means(width: int) -> None:
    broken = wrap_lines("the noise of Δ = 1,400 is 65.7 % of the width by k-means++", size=10, width=width)
    assert any("Δ = 1,400" in line for line in broken) and any("65.7 %" in line for line in broken)
    assert not any(line.endswith("k-") for line in broken)


@for_each("above", [0, 48])
@for_each("subtitle", ["", "line: median, band: 25-75 %, and how many runs stand behind each of them"])
def test_the_plot_keeps_its_size_under_a_head(subtitle: str, above: int) -> None:
    made = new_plot(LIGHT, height=500)
    made.update_layout(margin={"t": made.layout["margin"]["t"] + above})
    bare, whole = made.figure(), TitledPlot(LONG, subtitle, made).headed(LIGHT)
    assert bare.layout.title.text is None and title_of(whole) == LONG and subtitle_of(whole).strip() == subtitle
    plots = [f.layout.height - f.layout.margin.t - f.layout.margin.b for f in (whole, bare)]
    assert plots[0] == plots[1]
    lines = len(whole.layout.title.text.split("<br>"))
    assert whole.layout.margin.t >= 20 * lines + (bare.layout.margin.t if above else 0)
    assert made.figure() == bare, "a head is drawn into a figure, and not into the plot"


def test_panels_have_axes_of_their_own_where_they_stand_and_names_that_fit_a_phone() -> None:
    made = new_plot(LIGHT)
    for place in range(3):
        Panel(place, (0.3 * place, 0.3 * place + 0.2), (0.0, 1.0)).add(made, LIGHT, {"title_text": str(place)}, {})
    axes = list(made.figure().select_xaxes())
    assert [axis.domain[0] for axis in axes] == pytest.approx([0.0, 0.3, 0.6])
    assert [(axis.anchor, axis.title.text) for axis in axes] == [("y", "0"), ("y2", "1"), ("y3", "2")]
    assert all(len(words.axis) * 0.53 * TEXT_SIZE < 240 and "(" in words.axis for words in MEASURES.values())


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


@for_each(("top", "room", "aside"), [(8, 22, -48), (28, 28, 0)])
def test_the_mark_lies_above_what_is_drawn_and_makes_room_where_there_is_none(top, room, aside):
    made = Plot({"margin": {"t": top, "l": 48}})
    for _ in range(2):
        made.mark_revealed()
    assert [(note["yanchor"], note.get("xshift", 0)) for note in made.layout["annotations"]] == [("bottom", aside)]
    assert made.layout["margin"]["t"] == room


def test_a_played_run_keeps_the_mark_though_its_rows_are_sent_apart():
    this = exhibit(2, 3, n=300)
    context = RenderContext(make_view(this.table.domain), LIGHT, reveal=this.reveal)
    made = run("dplloyd", this.table, k=3, epsilon=1.0, seed=1)
    nobody, none = replace(context, mark=MADE_UP_MARK), replace(context, reveal=None)
    for given_rows, marks in ((context, [REVEALED_MARK]), (nobody, [MADE_UP_MARK]), (none, [])):
        said = json.dumps(Animation.of_run(made, given_rows).to_data(), ensure_ascii=False)
        assert [mark for mark in (REVEALED_MARK, MADE_UP_MARK) if mark in said] == marks
