"""A dry run on stand-ins: what to expect of this release, from public numbers alone; cheap, and optional."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Any, cast

import streamlit as st

from dpviz.charts.wording import ratio
from dpviz.check import RequestError
from dpviz.glossary import explained
from dpviz.release.order import Order
from dpviz.runs.dry_run import Tried, dry_run_work
from dpviz.runs.jobs import Job
from dpviz.runs.profile import Profile
from dpviz.runs.request import Request
from dpviz.ui.badges import badged
from dpviz.ui.escape import plain
from dpviz.ui.explore.foresight import whole_sentence
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
    request = order.of_algorithm(asked_of.declaration)
    prospect = request.prospect(table.private)
    known = "" if prospect.regime is None or prospect.refusal else prospect.regime.message
    if not prospect.refusal and (told := whole_sentence(prospect, request, table)):
        badged("public", told)
    n = min(table.n_public or _USUAL_ROWS, _MOST_ROWS)
    asked, dry = (request, table.key), _kept()
    if dry is None or dry.asked != asked:
        about = "" if table.n_public else " (your number of rows is private: these are a guess)"
        pressed = st.button(
            "Try it on made-up rows",
            icon=":material/casino:",
            key="release:try",
            disabled=bool(prospect.refusal),
            help=f"Runs on three tables of {n:,} rows{about}, with your columns and bounds; nobody is in them.",
        )
        if pressed:
            _begin(request, asked_of, n, asked)
        return known
    job_panel(dry.job, label="Dry run", key=_JOB)
    tried = [item for item in dry.job.items if isinstance(item, Tried)]
    if not tried:
        return known
    said = tried_words(tried)
    badged("public", plain(said))
    _pictured(tried[-1].profile)
    return f"{known} {said}".strip()


def _pictured(profile: Profile | None) -> None:
    """What such a release would show, of a table that nobody is in."""
    if profile is None or profile.dim < _PROFILED:
        return
    with st.expander("What it would show, on made-up rows", icon=":material/preview:"):
        profile_panel(profile, "release:tried", beside="k-means++ on the made-up rows", table=False)


def tried_words(tried: Sequence[Tried]) -> str:
    """What came out, in a sentence.

    >>> tried_words([Tried(0.02, 1.0), Tried(0.05, 1.02), Tried(0.1, 1.31)])
    '3 runs on made-up tables lost 1.02× what k-means++ loses there in the median, and from 1.00× to 1.31×.'
    """
    ratios = sorted(one.ratio for one in tried)
    return (
        f"{len(ratios)} runs on made-up tables lost {ratio(median(ratios))} what k-means++ loses there in the median, "
        f"and from {ratio(ratios[0])} to {ratio(ratios[-1])}."
    )


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
