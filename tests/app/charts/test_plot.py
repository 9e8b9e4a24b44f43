"""The mark of what was revealed is in the picture, and so in whatever is made of it: data, figure, page, image."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from dpviz.app.charts.animation import Animation
from dpviz.app.charts.canvas import TitledPlot, new_plot
from dpviz.app.charts.picture import RenderContext
from dpviz.app.charts.player.lesson_page import make_standalone_page
from dpviz.app.charts.plot import REVEALED_MARK, Plot, pack
from dpviz.app.charts.view import make_view
from dpviz.runs.one_run import run
from dpviz.words.theme import choose_palette
from tests.app.charts.gallery import exhibit

PALETTE = choose_palette("light")


@pytest.mark.parametrize("kind", ["public", "released", "revealed"])
def test_a_picture_of_rows_says_so_in_every_file_of_it_and_no_other_does(kind):
    plot = new_plot(PALETTE)
    for _ in range(2):
        plot.add_trace({"type": "scatter", "x": [0.0], "y": [1.0], "meta": kind})
    shown = TitledPlot("A title", "", plot)
    page = make_standalone_page([shown], title="t", paragraphs=[], points=[], palette=PALETTE)
    figure, data = plot.figure(), pack(plot.to_data())
    assert [note.text for note in figure.layout.annotations] == [REVEALED_MARK] * (kind == "revealed")
    for file in (page, data):
        assert (REVEALED_MARK.removeprefix("◉ ") in file) == (kind == "revealed")


def test_the_mark_lies_above_what_is_drawn_and_makes_room_where_there_is_none():
    for top, room, aside in ((8, 22, -48), (28, 28, 0)):
        plot = Plot({"margin": {"t": top, "l": 48}})
        plot.mark_revealed()
        plot.mark_revealed()
        assert [(note["yanchor"], note.get("xshift", 0)) for note in plot.layout["annotations"]] == [("bottom", aside)]
        assert plot.layout["margin"]["t"] == room


def test_a_played_run_keeps_the_mark_though_its_rows_are_sent_apart():
    this = exhibit(2, 3, n=300)
    context = RenderContext(make_view(this.table.domain), PALETTE, reveal=this.reveal)
    made = run("dplloyd", this.table, k=3, epsilon=1.0, seed=1)
    for given, marked in ((context, True), (replace(context, reveal=None), False)):
        said = json.dumps(Animation.of_run(made, given).to_data(), ensure_ascii=False)
        assert (REVEALED_MARK in said) == marked
