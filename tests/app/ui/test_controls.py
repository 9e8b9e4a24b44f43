"""Parts of pages alone: shared settings and links, forms from cards, a job and how it ended."""

from streamlit.testing.v1 import AppTest

from dpviz.algorithms import CARDS
from dpviz.runs import Failure, JobState, Progress, Work
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


def test_a_link_sets_what_is_allowed_and_nonsense_changes_nothing():
    assert run_part(_controls, link={"epsilon": "0.3", "k": "7"}).code[0].value == "0.3 1e-06 7"
    for epsilon in ("1", "-1", "99", "nan", "inf", "x", ""):
        assert run_part(_controls, link={"epsilon": epsilon, "k": "0", "delta": "2"}).code[0].value == "1 1e-06 5"


@for_each(("card_id", "card"), CARDS.items())
def test_every_card_gives_a_form_whose_defaults_ask_for_nothing(card_id, card):
    at = run_part(_form, card_id)
    asked = len(at.number_input) + len(at.toggle) + len(at.selectbox) + len(at.get("button_group"))
    assert at.json[0].value == "{}" and asked == len(card.params.param_fields())
    if card_id == "dplloyd":
        at.number_input(key="dplloyd.rounds").set_value(3).run()
        assert at.json[0].value == '{"rounds": 3}'


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
