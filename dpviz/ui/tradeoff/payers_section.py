"""Who pays, on a page: what draws of one algorithm at one ε cost each cluster and each declared group."""

from __future__ import annotations

import streamlit as st

from dpviz.charts.studies.payers import Payers
from dpviz.charts.wording import number
from dpviz.runs.who_pays import payer_rows, who_pays
from dpviz.table.declaration import FileKind
from dpviz.ui.badges import badged
from dpviz.ui.job_panel import duration
from dpviz.ui.studies.one_setting import has_any, one_setting
from dpviz.ui.studies.study_job import Question, StudyJob, send
from dpviz.ui.studies.study_panel import Invitation, ask_button, page_button, show_picture, study_half

_KEY = "tradeoff:payers"
_INVITATION = Invitation(
    "Who pays",
    "Who pays for privacy?",
    "Press **Measure**: what draws cost each cluster by its size, and each declared group.",
    icon=":material/groups:",
)
PRIVATE = (
    "Who pays is told of public and made-up tables only: of a private file it would tell about its groups. Judge on "
    "made-up rows, or open a sample."
)


def payers_section(question: Question) -> None:
    """The form, and the picture of the last answer."""
    if not has_any(question.grid.contenders):
        return
    if question.source is not None and question.source.kind is FileKind.PRIVATE:
        st.info(PRIVATE, icon=":material/visibility_off:")
        return
    with st.container(border=True):
        one = one_setting(question, _KEY, "Runs", 5, 50, 20)
        words = f"{one.grid.repeats:,} runs, about {duration(0.0 if one.problem else one.seconds)}"
        ask_button(one, _begin, words=words, problem=one.problem, label="Measure")
    study_half(one, invitation=_INVITATION, pictures=_picture, button="Measure")


def _begin(one: Question) -> None:
    send(one, payer_rows, look=f"{one.grid.repeats} runs by cluster and by group, k = {one.grid.ks[0]}")


def _picture(study: StudyJob) -> None:
    if study.source.kind is FileKind.PRIVATE:  # it was public when it was asked
        st.info(PRIVATE, icon=":material/visibility_off:")
        return
    paid, (contender,), (epsilon,) = who_pays(study.rows), study.grid.contenders, study.grid.epsilons
    picture = Payers(paid, contender.label, epsilon)
    shown = paid.smallest_shown
    told = (
        f"The smallest cluster that eight of ten draws find, as they do all larger ones, has {number(shown)} rows."
        if shown is not None
        else "Not even the largest cluster is found in eight of ten draws."
    )
    show_picture(picture, study, beneath=lambda: badged("revealed", told))
    if not study.running:
        page_button(study, picture)
