"""Parts of pages alone: shared settings and links, forms from cards, a job and how it ended, pieces that run again."""

from __future__ import annotations

from typing import get_args

from streamlit.testing.v1 import AppTest

from dpviz.algorithms import CARDS
from dpviz.app.ui.figure import format_badge
from dpviz.runs import Failure, JobState, Progress, Work
from dpviz.words import Kind
from tests import waiting
from tests.cases import for_each


def _controls() -> None:
    import streamlit as st

    from dpviz.app.ui.controls import draw_delta_control, draw_epsilon_control, draw_k_control, read_request

    draw_epsilon_control(beside=True)  # this app has one page
    draw_delta_control()
    draw_k_control()
    asked = read_request()
    st.code(f"{asked.epsilon:g} {asked.delta:g} {asked.k}")


def _form(card_id: str) -> None:
    import streamlit as st

    from dpviz.algorithms.registry import CARDS
    from dpviz.app.ui.bench.catalogue import draw_params_form
    from dpviz.app.ui.controls import read_request

    draw_params_form(CARDS[card_id])
    st.json(dict(read_request(card_id).params))


def run_part(part, *args, link: dict[str, str] | None = None, **state) -> AppTest:
    at = AppTest.from_function(part, args=args, default_timeout=waiting.SECONDS)
    at.query_params.update(link or {})
    for name, value in state.items():
        at.session_state[name] = value
    at.run()
    assert not at.exception
    return at


def test_slider_moves_the_box_and_the_box_the_slider():
    at = run_part(_controls)
    at.select_slider[0].set_value(3.0).run()
    assert at.number_input(key="epsilon").value == 3.0
    at.number_input(key="epsilon").set_value(2.2).run()
    assert at.select_slider[0].value == 2.2 and at.code[0].value.startswith("2.2 ") and not at.exception


def _moved_elsewhere() -> None:
    import streamlit as st

    from dpviz.app.ui.controls import _follow_slider

    st.session_state["epsilon"] = 2.0
    _follow_slider()
    st.code(st.session_state["epsilon"])


def test_a_link_sets_what_is_allowed_nonsense_changes_nothing_nor_does_the_move_of_a_slider_that_is_gone():
    assert run_part(_controls, link={"epsilon": "0.3", "k": "7"}).code[0].value == "0.3 1e-06 7"
    for epsilon in ("1", "-1", "99", "nan", "inf", "x", ""):
        assert run_part(_controls, link={"epsilon": epsilon, "k": "0", "delta": "2"}).code[0].value == "1 1e-06 5"
    assert run_part(_moved_elsewhere).code[0].value == "2.0"


@for_each(("card_id", "card"), CARDS.items())
def test_every_card_gives_a_form_whose_defaults_ask_for_nothing(card_id, card):
    at = run_part(_form, card_id)
    asked = len(at.number_input) + len(at.toggle) + len(at.selectbox) + len(at.get("button_group"))
    assert at.json[0].value == "{}" and asked == len(card.params.param_fields())
    if card_id == "dplloyd":
        at.number_input(key="dplloyd.rounds").set_value(3).run()
        assert at.json[0].value == '{"rounds": 3}'


def _badge() -> None:
    from dpviz.app.ui.figure import draw_badge

    draw_badge("released")


def test_a_badge_is_a_word_an_icon_and_a_colour_of_its_kind_and_explains_itself():
    kinds = get_args(Kind)
    texts = [format_badge(kind) for kind in kinds]
    assert [text.split("-badge")[0] for text in texts] == [":gray", ":blue", ":orange"]
    assert all(f" {kind}]" in text for kind, text in zip(kinds, texts, strict=True))
    assert len({text.split(":material/")[1].split(":")[0] for text in texts}) == 3
    assert "noise" in run_part(_badge).markdown[0].proto.help


def _page() -> None:
    import streamlit as st

    from dpviz.app.ui.job_panel import draw_job_panel

    job = st.session_state["job"]
    draw_job_panel(job, label="A study", key="study", live=lambda: st.write(f"{len(job.items)} arrived"))
    st.write(f"the page saw: {job.state.value}")


def text(app: AppTest) -> str:
    return "\n".join(element.value for element in (*app.markdown, *app.caption, *app.error, *app.info))


def under_way(*ended: object) -> Work[str]:
    """A job that has begun, has one result, and is far from its end, or ended so."""
    job: Work[str] = Work()
    job._note_begin()
    for item in (Progress(1, 10), "ready", Progress(4, 10)):
        job._take(item)
    if ended:
        job._finish(*ended)
    return job


def test_a_job_shows_its_progress_and_what_arrived_until_it_is_cancelled_and_leaves_the_page_to_its_result():
    assert "waits" in run_part(_page, job=Work()).get("progress")[0].proto.text
    job = under_way()
    app = run_part(_page, job=job)
    (progress,) = app.get("progress")
    assert "A study" in progress.proto.text and "so far" in progress.proto.text and progress.proto.value == 40
    assert "1 arrived" in text(app)
    app.button(key="study:cancel").click().run()
    assert job.state is JobState.CANCELLED
    app.run()
    assert "Stopped after" in text(app) and "the page saw: cancelled" in text(app) and not app.button
    app = run_part(_page, job=under_way(JobState.DONE))
    assert not app.get("progress") and not app.error and "the page saw: done" in text(app)
    for failure in (Failure("ValueError"), Failure("RequestError", "choose an epsilon above 0")):
        app = run_part(_page, job=under_way(JobState.FAILED, failure))
        assert (failure.message or failure.kind) in app.error[0].value


def test_a_visit_has_one_shelf():
    def shelves() -> None:
        import streamlit as st

        from dpviz.app.ui.job_panel import open_job_registry

        st.session_state.setdefault("seen", []).append(open_job_registry())

    first, second = run_part(shelves).run().session_state["seen"]
    assert first is second and run_part(shelves).session_state["seen"][0] is not first


def test_what_stands_below_a_piece_that_runs_again_keeps_its_place_whatever_the_server_drops_of_the_piece():
    def script() -> None:
        import streamlit as st

        from dpviz.app.ui.job_panel import poll

        poll(lambda: st.caption("again") and None, every=60.0, key="piece")
        st.caption("below")

    main = run_part(script).main
    place, piece = main.children[0], main.children[0].children[0]
    assert place.type == piece.type == "flex_container"
    assert (piece.children[0].value, main.children[1].value) == ("again", "below")
