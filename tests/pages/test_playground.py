"""The playground on its page: what a browser says there is drawn, kept for the visit, linked, and taken away."""

from __future__ import annotations

import base64
import re
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from dpviz.app.ui.playground.board import KEY, make_animation_page, read_link
from dpviz.runs import Contender, Request
from dpviz.tables.drawings import PointDrawing, decode_drawing, encode_drawing, load_preset, make_painted_table
from tests.app.charts.test_player_page import packed_in
from tests.app.ui.playground.test_board import FULL, HERMIT, ONE, SPOT, said
from tests.cases import about
from tests.pages.site import open_ledger
from tests.pages.tables import app_on, board_in, sound, text_of
from tests.pages.test_table_link import reloaded

PAGE, PART = "playground.py", f"{KEY}:0"


def paints(app: AppTest, drawing: PointDrawing, **more: Any) -> AppTest:
    """Somebody lets go of the pointer."""
    app.session_state[PART] = {"ask": said(drawing, **more)}
    return sound(app.run())


def painted_in(app: AppTest) -> PointDrawing:
    drawing: PointDrawing = app.session_state[f"{KEY}:standing"].drawn.ask.drawing
    return drawing


def test_a_visit_begins_with_a_picture_and_a_draw_of_it_and_says_whose_points_they_are():
    app = app_on(PAGE, None)
    told = board_in(app)
    assert told["start"]["k"] == 3 and len(base64.b64decode(told["start"]["points"])) == 1_800
    assert told["answer"]["token"] == 0 and told["answer"]["picture"]["title"]
    assert set(told["start"]["presets"]) >= {"blobs", "unlike", "ring", "rich", "empty"}
    assert "Painted points are simulated: nobody's." in text_of(app) and "the sum of their ε" in text_of(app)
    assert not app.sidebar.children, "what the rail tells is about another table"


def test_what_is_painted_is_drawn_once_and_a_run_of_the_page_for_another_reason_draws_nothing_new():
    app = paints(app_on(PAGE, None), HERMIT, token=1)
    first = app.session_state[f"{KEY}:standing"].drawn
    assert first.run is not None and painted_in(app).me == HERMIT.me
    assert board_in(app)["start"] is None, "the board knows what it said"
    sound(app.run())
    assert app.session_state[f"{KEY}:standing"].drawn is first
    paints(app, HERMIT, token=2, draw=2)
    assert app.session_state[f"{KEY}:standing"].drawn.run is not first.run


def test_the_board_stands_as_it_was_left_after_another_page_and_the_books_are_those_of_other_tables():
    app = paints(app_on(PAGE, None), HERMIT, algorithm="balcan", step=2)
    kept = app.session_state[f"{KEY}:standing"].drawn
    assert "The charges of a run appear here" in text_of(open_ledger(app))
    assert PART not in app.session_state, "what the browser said goes with its page"
    app.switch_page(PAGE)
    sound(app.run())
    told = board_in(app)
    assert app.session_state[f"{KEY}:standing"].drawn.run is kept.run
    assert told["start"]["algorithm"] == "balcan" and told["start"]["step"] == 2 and told["start"]["me"] == [226, 34]


def test_a_link_paints_again_and_a_cut_one_is_a_sentence():
    text = encode_drawing(HERMIT)
    app = app_on(PAGE, None, drawing=text, asked="balcan,0.3,4")
    drawn = app.session_state[f"{KEY}:standing"].drawn
    assert painted_in(app).me == HERMIT.me and len(painted_in(app).points) == 900
    assert (drawn.run.algorithm, drawn.run.epsilon, drawn.run.k) == ("balcan", 0.3, 4)
    assert not app.warning
    for wrong in (text[:-7], "<img src=http://x.invalid>", "9" * 3_000):
        with about(wrong):
            app = app_on(PAGE, None, drawing=wrong)
            (warning,) = app.warning
            assert "cut or changed on its way" in warning.value and "x.invalid" not in text_of(app)
            assert board_in(app)["start"]["me"] is None, "the first picture stands there"


@pytest.mark.parametrize(
    "text", ["", "balcan", "nobody,1,3", "eugkm,0.123,3", "eugkm,1,999999999999999999", "eugkm,1,x"]
)
def test_what_a_link_asks_wrongly_is_as_usual(text: str):
    usual = Request(Contender.of("dplloyd"), 5, 2.0)
    assert read_link(text, usual) == usual
    assert read_link("eugkm,1,3", usual) == Request(Contender.of("eugkm"), 3, 1.0)


def test_two_visits_know_nothing_of_each_other():
    one, other = app_on(PAGE, None), app_on(PAGE, None)
    paints(one, HERMIT)
    sound(other.run())
    assert painted_in(one).me == HERMIT.me and painted_in(other).me is None


@pytest.mark.parametrize("page", ["home.py", "compare.py"])
def test_a_drawing_opens_as_a_table_and_a_reload_opens_it_again(page: str):
    app = paints(app_on(PAGE, None), HERMIT, epsilon=0.5, algorithm="dplloyd")
    app.button(key=f"playground:{page}").click()
    sound(app.run())
    asked = {name: app.session_state["visit:settings"][name] for name in ("k", "epsilon", "algorithm")}
    assert asked == {"k": 3, "epsilon": 0.5, "algorithm": "dplloyd"}
    table = app.session_state["visit:table"]
    assert table.kind.value == "simulated" and table.title == "Painted town" and table.n_public == 901
    rows = table.loaded.columns(table.declaration.columns)
    assert sorted(rows.tolist()) == sorted(HERMIT.everybody.tolist())
    sound(app.run())
    if page == "home.py":
        found = app.session_state["run:result"].run
        assert (found.algorithm, found.epsilon, found.k) == ("dplloyd", 0.5, 3)
    link = app.query_params["table"]
    assert decode_drawing(link.removeprefix("painted.")).me == HERMIT.me
    again = reloaded(app)
    assert again.session_state["visit:table"].key == table.key
    app.query_params["table"] = link[:-3]
    cut = reloaded(app)
    assert "open it again" in text_of(cut)


@pytest.mark.parametrize("drawing", [ONE, SPOT, FULL])
def test_odd_drawings_are_explored_as_any_table(drawing: PointDrawing):
    app = paints(app_on(PAGE, None), drawing)
    app.button(key="playground:home.py").click()
    sound(app.run())
    assert app.session_state["visit:table"].n_public == drawing.size
    sound(app.run())
    assert not app.error


def test_an_empty_board_opens_nowhere_and_says_why():
    app = paints(app_on(PAGE, None), load_preset("empty").drawing)
    app.button(key="playground:home.py").click()
    sound(app.run())
    assert app.error[0].value == "The board is empty: paint at least one point first."


def test_points_leave_as_csv_and_the_draw_as_a_page_that_plays():
    app = paints(app_on(PAGE, None), HERMIT)
    labels = [button.proto.label for button in app.get("download_button")]
    assert labels == ["Points (CSV)", "Play it anywhere (HTML)"]
    drawn = app.session_state[f"{KEY}:standing"].drawn
    page = make_animation_page(drawn)
    (animation,) = packed_in(page)["animations"]
    assert len(animation["steps"]["light"]) == len(drawn.run.frames)
    assert "simulated: nobody&#39;s" in page
    assert not re.search(r"https?://(?!www\.w3\.org)", re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL))


def test_the_table_is_the_one_that_the_board_runs_on():
    table, _ = make_painted_table(HERMIT)
    np.testing.assert_array_equal(table.columns(["x", "y"]), HERMIT.everybody)
