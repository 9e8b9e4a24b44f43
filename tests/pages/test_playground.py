"""The playground on its page: what a browser says there is drawn, kept for the visit, linked, and taken away."""

from typing import Any

from streamlit.testing.v1 import AppTest

from dpviz.app.ui.playground.board import KEY
from dpviz.tables.drawings import PointDrawing, decode_drawing, encode_drawing
from tests.app.ui.playground.test_board import HERMIT, said
from tests.cases import about, for_each
from tests.pages.tables import app_on, board_in, sound, text_of
from tests.pages.test_table_link import reloaded

PAGE, PART = "playground.py", f"{KEY}:0"


def paints(drawing: PointDrawing, app: AppTest | None = None, **more: Any) -> AppTest:
    """Somebody lets go of the pointer."""
    app = app or app_on(PAGE, None)
    app.session_state[PART] = {"ask": said(drawing, **more)}
    return sound(app.run())


def drawn_in(app: AppTest):
    return app.session_state[f"{KEY}:standing"].drawn


def painted_in(app: AppTest) -> PointDrawing:
    return drawn_in(app).ask.drawing


def goes_on(app: AppTest, page: str = "home.py") -> AppTest:
    """The page on which the drawing is opened."""
    app.button(key=f"playground:{page}").click()
    return sound(app.run())


def test_what_is_painted_is_drawn_once_for_this_visit_and_a_rerun_draws_nothing_new():
    other = app_on(PAGE, None)
    app = paints(HERMIT)
    first = drawn_in(app)
    assert first.run is not None and painted_in(app).me == HERMIT.me
    assert board_in(app)["start"] is None, "the board knows what it said"
    assert drawn_in(sound(app.run())) is first
    assert drawn_in(paints(HERMIT, app, token=2, draw=2)).run is not first.run
    assert painted_in(sound(other.run())).me is None, "two visits know nothing of each other"


def test_a_link_paints_again_and_a_cut_one_is_a_sentence():
    text = encode_drawing(HERMIT)
    app = app_on(PAGE, None, drawing=text, asked="balcan,0.3,4")
    run = drawn_in(app).run
    assert painted_in(app).me == HERMIT.me and len(painted_in(app).points) == 900 and not app.warning
    assert (run.algorithm, run.epsilon, run.k) == ("balcan", 0.3, 4)
    for wrong in (text[:-7], "<img src=http://x.invalid>", "9" * 3_000):
        with about(wrong):
            app = app_on(PAGE, None, drawing=wrong)
            (warning,) = app.warning
            assert "cut or changed on its way" in warning.value and "x.invalid" not in text_of(app)
            assert board_in(app)["start"]["me"] is None, "the first picture stands there"


@for_each("page", ["home.py", "compare.py"])
def test_a_drawing_opens_as_a_table_and_a_reload_opens_it_again(page: str):
    app = goes_on(paints(HERMIT, epsilon=0.5, algorithm="dplloyd"), page)
    asked = [app.session_state["visit:settings"][name] for name in ("algorithm", "epsilon", "k")]
    table = app.session_state["visit:table"]
    assert table.kind.value == "simulated" and table.title == "Painted town" and table.n_public == 901
    rows = table.loaded.columns(table.declaration.columns)
    assert sorted(rows.tolist()) == sorted(HERMIT.everybody.tolist()), "those that the board runs on"
    sound(app.run())
    assert asked == ["dplloyd", 0.5, 3]
    if page == "home.py":
        found = app.session_state["run:result"].run
        assert [found.algorithm, found.epsilon, found.k] == asked
    link = app.query_params["table"]
    assert decode_drawing(link.removeprefix("painted.")).me == HERMIT.me
    assert reloaded(app).session_state["visit:table"].key == table.key
    app.query_params["table"] = link[:-3]
    assert "open it again" in text_of(reloaded(app))
