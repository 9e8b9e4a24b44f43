"""The smallest ε for a target, on a page: from the runs of the frontier, and sharpened by a worker."""

from __future__ import annotations

from functools import partial

import streamlit as st

from dpviz.charts.studies.curves import Curves
from dpviz.charts.studies.smallest import Smallest, share_words
from dpviz.check import RequestError
from dpviz.runs.smallest_epsilon import sharpened_rows, smallest_epsilons
from dpviz.runs.study.study import tidy
from dpviz.ui.escape import plain
from dpviz.ui.job_panel import job_panel
from dpviz.ui.studies.one_setting import go_where_asked
from dpviz.ui.studies.study_job import Question, StudyJob, job_of, send
from dpviz.ui.studies.study_panel import Invitation, show_picture, study_half

_KEY = "tradeoff:smallest"
_REPEATS, _ROUNDS = 20, 5
_INVITATION = Invitation(
    "Trade-off",
    "No runs to answer from yet",
    "Press **Compute** above; then name a target (at most 10 % above k-means++, say), and the smallest ε that meets it "
    "stands here, with how sure that is.",
    icon=":material/target:",
)


def smallest_section(question: Question) -> None:
    """The smallest ε that is good enough, from the same runs as the frontier."""
    study_half(question, invitation=_INVITATION, pictures=_smallest)


def _smallest(study: StudyJob) -> None:
    """The target, the answer with its uncertainty, and both in the frontier."""
    go_where_asked()
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        above = st.number_input(
            "At most … % above k-means++",
            *(0.1, 1000.0, 10.0),
            step=1.0,
            format="%g",
            key=f"{_KEY}:above",
            persist_state="session",
            width=240,
        )
        share = st.segmented_control(
            "In how many runs",
            [0.5, 0.9],
            default=0.5,
            required=True,
            format_func=share_words,
            key=f"{_KEY}:share",
            persist_state="session",
            help="A release is one run. Half of all runs is what usually happens; 9 of 10 is what one can count on.",
        )
    target, wanted = 1 + float(above) / 100, float(share or 0.5)
    more = job_of(study.question.narrowed(_KEY))
    if more is None or more.origin is not study:
        _answer(study, None, target, wanted)
        return
    whose = f"Bisection for {more.grid.contenders[0].label}"
    job_panel(more.job, label=whose, key=_KEY, live=lambda: _answer(study, more, target, wanted))


def _answer(study: StudyJob, more: StudyJob | None, target: float, share: float) -> None:
    frame = tidy([*study.rows, *(more.rows if more is not None else ())])
    curves = Curves(frame, places=study.grid.epsilons)
    picture = Smallest(curves, smallest_epsilons(frame, target, share=share), target, share)
    growing = more is not None and more.running
    show_picture(picture, study, opens=True, beneath=partial(_sharpen, study, picture), growing=growing)


def _sharpen(study: StudyJob, picture: Smallest) -> None:
    """A bisection for one algorithm, from the runs that are there."""
    st.caption(
        "Between two ε that were tried the loss is read off a falling curve. The interval holds both of them, and "
        "those around nine in ten answers from resampled runs: a bisection, or more runs, make it narrower."
    )
    if study.running:
        return
    able = [one for one in picture.answers if one.reached and not one.sharp and one.epsilon > one.lowest]
    if not able or study.yardstick is None:
        st.caption("Nothing to sharpen: each answer is sharp, at the lower end of the range, or out of reach.")
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        label = st.selectbox("Sharpen the answer for", [answer.contender for answer in able], key=f"{_KEY}:whom")
        pressed = st.button("Bisect", icon=":material/target:", key=f"{_KEY}:compute")
    if not pressed:
        return
    contender = next(contender for contender in study.grid.contenders if contender.label == label)
    question = study.question.narrowed(_KEY, contenders=(contender,), repeats=_REPEATS)
    known = [row for row in picture.curves.runs.to_dict("records") if row["contender"] == label]
    look = f"{_REPEATS * _ROUNDS} study runs for the smallest ε, k = {study.grid.ks[0]}"
    options = {"yardstick": study.yardstick, "share": picture.share, "rounds": _ROUNDS}
    try:
        send(question, sharpened_rows, known, picture.target, look=look, origin=study, **options)
    except RequestError as error:
        st.error(plain(error), title="This cannot run", icon=":material/block:")
        return
    st.rerun()
