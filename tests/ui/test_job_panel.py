import doctest
import time

import pytest
from streamlit.testing.v1 import AppTest

from dpviz.runs.jobs import Job, JobState
from dpviz.ui import job_panel
from tests.runs import job_work


def page() -> None:
    import streamlit as st

    from dpviz.ui.job_panel import job_panel

    job = st.session_state["job"]
    job_panel(job, label="A study", key="study", live=lambda: st.write(f"{len(job.items)} arrived"))
    st.write(f"the page saw: {job.state.value}")


def run_page(job: Job) -> AppTest:
    app = AppTest.from_function(page)
    app.session_state["job"] = job
    app.run()
    assert not app.exception
    return app


def text(app: AppTest) -> str:
    return "\n".join(element.value for element in (*app.markdown, *app.caption, *app.error, *app.info))


@pytest.fixture
def hanging():
    job = Job.start(job_work.one_then_hang)
    end = time.monotonic() + 30
    while not job.items and time.monotonic() < end:
        time.sleep(0.02)
    yield job
    job.cancel()


def test_a_running_job_shows_its_progress_and_what_arrived(hanging):
    app = run_page(hanging)
    assert "A study" in app.get("progress")[0].proto.text
    assert app.get("progress")[0].proto.value >= 10
    assert "so far" in app.get("progress")[0].proto.text
    assert "1 arrived" in text(app)


def test_cancel_stops_the_job_and_says_so(hanging):
    app = run_page(hanging)
    app.button(key="study:cancel").click().run()
    assert hanging.state is JobState.CANCELLED
    app.run()
    assert "Stopped after" in text(app)
    assert "the page saw: cancelled" in text(app)
    assert not app.button


def test_a_queued_job_says_that_it_waits():
    app = run_page(Job(job_work.count, 1))
    assert "waits" in app.get("progress")[0].proto.text


def test_a_finished_job_leaves_the_page_to_its_result():
    job = Job.start(job_work.count, 3)
    assert job.wait(60)
    app = run_page(job)
    assert not app.get("progress")
    assert not app.error
    assert "the page saw: done" in text(app)


@pytest.mark.parametrize(("kind", "said"), [("plain", "ValueError"), ("vouched", "choose an epsilon above 0")])
def test_a_failed_job_says_what_may_be_said(kind, said):
    job = Job.start(job_work.fail, kind)
    assert job.wait(60)
    app = run_page(job)
    assert said in app.error[0].value
    assert job_work.SECRET not in text(app)


def test_a_visit_has_one_shelf():
    def shelves() -> None:
        import streamlit as st

        from dpviz.ui.job_panel import job_shelf

        st.session_state.setdefault("seen", []).append(job_shelf())

    app = AppTest.from_function(shelves).run().run()
    first, second = app.session_state["seen"]
    assert first is second
    assert AppTest.from_function(shelves).run().session_state["seen"][0] is not first


def test_examples():
    assert doctest.testmod(job_panel).failed == 0
