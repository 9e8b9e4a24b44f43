"""A dry run on stand-ins: what to expect of this release, from public numbers alone; cheap, and optional."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, cast

import streamlit as st

from dpviz.check import RequestError
from dpviz.glossary import explained
from dpviz.release.order import Order
from dpviz.runs.advice.judgement import tried_words
from dpviz.runs.dry_run import Tried, dry_run_work
from dpviz.runs.jobs import Job
from dpviz.runs.profile import Profile
from dpviz.runs.request import Request
from dpviz.ui.badges import badged
from dpviz.ui.escape import plain
from dpviz.ui.explore.foresight import judged, whole_sentence
from dpviz.ui.job_panel import job_panel, job_shelf
from dpviz.ui.profile_panel import profile_panel
from dpviz.ui.release.subject import Subject

_JOB = "release:dry_run"
# From so many columns on centres are drawn as profiles.
_PROFILED = 3
_USUAL_ROWS, _MOST_ROWS = 10_000, 200_000


@dataclass(frozen=True, eq=False)
class _DryRun:
    """What was tried, and the job."""

    asked: tuple[Request, str]
    job: Job[Any]


def dry_run_section(order: Order, asked_of: Subject) -> str:
    """Draw it; what is to be expected, in words for the card."""
    st.subheader("What to expect", divider="gray", anchor=False, help=explained("stand-in"))
    table = asked_of.table
    if table is None:
        st.caption("Bounds that are still to be bought cannot be tried beforehand.")
        return ""
    request, dry = order.of_algorithm(asked_of.declaration), _kept()
    n = min(table.n_public or _USUAL_ROWS, _MOST_ROWS)
    asked = (request, table.key)
    dry = dry if dry is not None and dry.asked == asked else None
    done = [] if dry is None else [item for item in dry.job.items if isinstance(item, Tried)]
    tried = [item.ratio for item in done]
    judgement = judged(request, table, tried)
    if not judgement.refusal and (told := whole_sentence(judgement, request)):
        badged("public", told)
    if dry is not None:
        job_panel(dry.job, label="Dry run", key=_JOB)
        # Of a private number of records the light says nothing, and the runs are told by themselves.
        said = plain(tried_words(tried)) if tried and judgement.level is None else ""
        if said:
            badged("public", said)
        if done:
            _pictured(done[-1].profile)
        return "" if judgement.refusal else f"{judgement.announcement} {said}".strip()
    about = "" if table.n_public else " (your number of rows is private: these are a guess)"
    pressed = st.button(
        "Try it on made-up rows",
        icon=":material/casino:",
        key="release:try",
        disabled=bool(judgement.refusal),
        help=f"Runs on three tables of {n:,} rows{about}, with your columns and bounds; nobody is in them.",
    )
    if pressed:
        _begin(request, asked_of, n, asked)
    return "" if judgement.refusal else judgement.announcement


def _pictured(profile: Profile | None) -> None:
    """What such a release would show, of a table that nobody is in."""
    if profile is None or profile.dim < _PROFILED:
        return
    with st.expander("What it would show, on made-up rows", icon=":material/preview:"):
        profile_panel(profile, "release:tried", beside="k-means++ on the made-up rows", table=False)


def _begin(request: Request, asked_of: Subject, n: int, asked: tuple[Request, str]) -> None:
    if (before := _kept()) is not None:
        before.job.cancel()
    declared = replace(asked_of.declaration, title=asked_of.title)
    try:
        job = job_shelf().submit(dry_run_work, request, declared, n)
    except RequestError as error:
        st.error(plain(error), icon=":material/block:")
        return
    st.session_state[_JOB] = _DryRun(asked, job)
    st.rerun()


def _kept() -> _DryRun | None:
    return cast("_DryRun | None", st.session_state.get(_JOB))
