"""Who pays, on a page: what draws of one algorithm at one ε cost each cluster and each declared group."""

from __future__ import annotations

import streamlit as st

from dpviz.app.charts.studies.payers import Payers
from dpviz.app.ui.badges import draw_caption_with_badge
from dpviz.app.ui.studies.one_setting import ask_one_setting, has_contenders
from dpviz.app.ui.studies.study_job import StudyJob, StudyQuestion, send
from dpviz.app.ui.studies.study_panel import (
    Invitation,
    draw_ask_button,
    draw_page_button,
    draw_study_half,
    show_picture,
)
from dpviz.runs import error_parts
from dpviz.tables import FileKind
from dpviz.words import format_duration, format_number

_KEY = "tradeoff:payers"
_INVITATION = Invitation(
    "Who pays",
    "Who pays for privacy?",
    "Press **Measure**: what draws cost each cluster by its size, and each declared group.",
    icon=":material/groups:",
    button="Measure",
)
PRIVATE = (
    "Who pays is told of public and made-up tables only: of a private file it would tell about its groups. Judge on "
    "made-up rows, or open a sample."
)


def draw_payers_section(question: StudyQuestion) -> None:
    """The form, and the picture of the last answer."""
    if not has_contenders(question.grid.contenders):
        return
    if question.source is not None and question.source.kind is FileKind.PRIVATE:
        st.info(PRIVATE, icon=":material/visibility_off:")
        return
    with st.container(border=True):
        one = ask_one_setting(question, _KEY, "Runs", 5, 50, 20)
        words = f"{one.grid.repeats:,} runs, about {format_duration(0.0 if one.problem else one.seconds)}"
        draw_ask_button(one, _begin, words=words, problem=one.problem, label="Measure")
    draw_study_half(one, invitation=_INVITATION, pictures=_draw_picture)


def _begin(one: StudyQuestion) -> None:
    send(
        one,
        error_parts.measure_payer_rows,
        access=f"{one.grid.repeats} runs by cluster and by group, k = {one.grid.ks[0]}",
    )


def _draw_picture(study: StudyJob) -> None:
    if study.source.kind is FileKind.PRIVATE:  # it was public when it was asked
        st.info(PRIVATE, icon=":material/visibility_off:")
        return
    paid, (contender,), (epsilon,) = (
        error_parts.summarise_payers(study.rows),
        study.grid.contenders,
        study.grid.epsilons,
    )
    picture = Payers(paid, contender.label, epsilon)
    shown = paid.smallest_shown
    told = (
        f"The smallest cluster that eight of ten draws find, as they do all larger ones, has "
        f"{format_number(shown)} rows."
        if shown is not None
        else "Not even the largest cluster is found in eight of ten draws."
    )
    show_picture(picture, study, beneath=lambda: draw_caption_with_badge("revealed", told))
    if not study.running:
        draw_page_button(study, picture)
