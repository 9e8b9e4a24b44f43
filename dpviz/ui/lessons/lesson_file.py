"""A lesson to take away: its page is computed in a worker when somebody asks for it, and then offered."""

from __future__ import annotations

from typing import Any, cast

import streamlit as st

from dpviz.charts.player.lesson_page import lesson_page
from dpviz.check import RequestError
from dpviz.lessons.lesson import Lesson
from dpviz.runs.jobs import Work
from dpviz.ui.escape import plain
from dpviz.ui.job_panel import job_panel, job_shelf

_LABEL, _ICON = "Play it anywhere (HTML)", ":material/play_circle:"
_HELP = "All scenes in one file of about 3 MB: it opens in any browser, without network or server."


def file_button(lesson: Lesson) -> None:
    """Asks for the page, or hands it over once it is there."""
    job = _job(lesson)
    page = next((item for item in job.items if isinstance(item, str)), None) if job is not None else None
    look: Any = {"icon": _ICON, "key": "lesson:file", "type": "tertiary", "help": _HELP}
    if page is not None:
        st.download_button(_LABEL, page, f"{lesson.id}_lesson.html", "text/html", on_click="ignore", **look)
    elif st.button(_LABEL, disabled=job is not None and not job.state.final, **look):
        try:
            st.session_state[_key(lesson)] = job_shelf().submit(lesson_page, lesson)
        except RequestError as error:
            st.error(plain(error), icon=":material/hourglass:")
            return
        st.rerun()


def file_progress(lesson: Lesson) -> None:
    """How far it is; that it is there."""
    job = _job(lesson)
    if job is None:
        return
    job_panel(job, label="The lesson as a file", key="lesson:file:job")
    if job.items:
        st.caption(f"The file is there: press {_LABEL} once more.")


def _key(lesson: Lesson) -> str:
    return f"lessons:file:{lesson.id}"


def _job(lesson: Lesson) -> Work[Any] | None:
    return cast("Work[Any] | None", st.session_state.get(_key(lesson)))
