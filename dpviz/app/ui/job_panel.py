"""A running job on the page: how far it is, a way to stop it, and pieces of a page that run again by themselves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import streamlit as st

from dpviz.app.ui.escape import escape_markdown
from dpviz.runs import JobRegistry, JobState, Work
from dpviz.words import format_duration, format_things


def poll(draw: Callable[[], None], *, every: float | None, key: str) -> None:
    """Draw a piece of a page that runs again by itself."""
    # The container belongs to the page, not to the piece. Where a piece runs again before the browser has heard of its
    # first run, the server drops what that run had drawn, and everything below would arrive for places that do not
    # exist: the browser would show an empty page.
    with st.container():
        st.fragment(draw, run_every=every, key=key)()


_REGISTRY = "job_panel:registry"


def open_job_registry() -> JobRegistry:
    """The jobs of this visit: they keep running while other pages are open, and end with the visit."""
    if _REGISTRY not in st.session_state:
        st.session_state[_REGISTRY] = JobRegistry()
    return cast(JobRegistry, st.session_state[_REGISTRY])


def draw_job_panel(job: Work[Any], *, label: str, key: str, live: Callable[[], None] | None = None) -> None:
    """Show ``job`` until it has ended, then run the page once more; a failed or cancelled one says so."""
    if job.state.final:
        named = escape_markdown(label)
        if job.state is JobState.FAILED and job.error is not None:
            said = escape_markdown(describe_failure(job.error.kind, job.error.message))
            st.error(said, title=f"{named}: failed", icon=":material/error:")
        elif job.state is JobState.CANCELLED:
            said = f"Stopped after {format_duration(job.elapsed)}; what had arrived is kept."
            st.info(said, title=f"{named}: cancelled", icon=":material/stop_circle:")
        if live is not None:
            live()
        return

    def panel() -> None:
        if job.state.final:
            st.rerun()
        bar, button = st.columns([6, 1], vertical_alignment="center")
        with bar:
            _draw_progress(job, label)
        button.button("Cancel", key=f"{key}:cancel", on_click=job.cancel, width="stretch")

    poll(panel, every=0.5, key=f"{key}:panel")
    if live is not None:
        # Pictures of many runs take a good part of a second to draw, which the worker needs too.
        poll(live, every=2.0, key=f"{key}:live")


def _draw_progress(job: Work[Any], label: str) -> None:
    if job.state is JobState.QUEUED:
        first = f"; before it {format_things(job.before, 'waiting job')}" if job.before else ""
        st.progress(0.0, text=f"**{escape_markdown(label)}**: waits until one of the busy workers is free{first}")
        return
    report, left = job.progress, job.seconds_left
    note = report.note if report and report.note else "under way" if report else "starting"
    estimate = "" if left is None else f", {'about ' if left >= 1 else ''}{format_duration(left)} left"
    text = f"**{escape_markdown(label)}**: {escape_markdown(note)} · {format_duration(job.elapsed)} so far{estimate}"
    st.progress(report.fraction if report else 0.0, text=text)


def describe_failure(kind: str, message: str) -> str:
    """Why a job stopped: what may be said of it, or its kind alone."""
    return message or f"It stopped with {kind}. Its message is not shown, because it could quote the rows."
