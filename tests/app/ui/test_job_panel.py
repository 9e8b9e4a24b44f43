"""A job on the page: how far it is, how it ended, and what may be said of it; pieces that run again by themselves."""

from __future__ import annotations

import doctest

from streamlit.testing.v1 import AppTest

from dpviz.app.ui import table_words
from dpviz.runs import JobState, Work
from dpviz.runs.worker import Failure, Progress
from tests import waiting


def _page() -> None:
    import streamlit as st

    from dpviz.app.ui.job_panel import draw_job_panel

    job = st.session_state["job"]
    draw_job_panel(job, label="A study", key="study", live=lambda: st.write(f"{len(job.items)} arrived"))
    st.write(f"the page saw: {job.state.value}")


def run_page(job: Work[str]) -> AppTest:
    app = AppTest.from_function(_page, default_timeout=waiting.SECONDS)
    app.session_state["job"] = job
    app.run()
    assert not app.exception
    return app


def text(app: AppTest) -> str:
    return "\n".join(element.value for element in (*app.markdown, *app.caption, *app.error, *app.info))


def under_way() -> Work[str]:
    """A job that has begun, has one result, and is far from its end."""
    job: Work[str] = Work()
    job._note_begin()
    for item in (Progress(1, 10), "ready", Progress(4, 10)):
        job._take(item)
    return job


def test_a_running_job_shows_its_progress_and_what_arrived_until_it_is_cancelled():
    job = under_way()
    app = run_page(job)
    (progress,) = app.get("progress")
    assert "A study" in progress.proto.text and "so far" in progress.proto.text and progress.proto.value == 40
    assert "1 arrived" in text(app)
    app.button(key="study:cancel").click().run()
    assert job.state is JobState.CANCELLED
    app.run()
    assert "Stopped after" in text(app) and "the page saw: cancelled" in text(app)
    assert not app.button


def test_a_queued_job_says_that_it_waits_and_a_finished_one_leaves_the_page_to_its_result():
    assert "waits" in run_page(Work()).get("progress")[0].proto.text
    job = under_way()
    job._finish(JobState.DONE)
    app = run_page(job)
    assert not app.get("progress") and not app.error
    assert "the page saw: done" in text(app)


def test_a_failed_job_says_what_may_be_said():
    for failure in (Failure("ValueError"), Failure("RequestError", "choose an epsilon above 0")):
        job = under_way()
        job._finish(JobState.FAILED, failure)
        assert (failure.message or failure.kind) in run_page(job).error[0].value


def test_a_visit_has_one_shelf():
    def shelves() -> None:
        import streamlit as st

        from dpviz.app.ui.job_panel import open_job_registry

        st.session_state.setdefault("seen", []).append(open_job_registry())

    app = AppTest.from_function(shelves).run().run()
    first, second = app.session_state["seen"]
    assert first is second
    assert AppTest.from_function(shelves).run().session_state["seen"][0] is not first


def test_what_stands_below_a_piece_that_runs_again_keeps_its_place_whatever_the_server_drops_of_the_piece():
    def script() -> None:
        import streamlit as st

        from dpviz.app.ui.job_panel import poll

        poll(lambda: st.caption("again") and None, every=60.0, key="piece")
        st.caption("below")

    main = AppTest.from_function(script).run().main
    assert main.children[1].value == "below"
    place, piece = main.children[0], main.children[0].children[0]
    assert place.type == piece.type == "flex_container"
    assert piece.children[0].value == "again"


def test_examples_in_the_docstrings():
    tried = doctest.testmod(table_words)
    assert tried.attempted > 0 and tried.failed == 0
