"""Where the error comes from, on a page: one algorithm at one ε, taken apart by a worker, as bars that add up."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from dpviz.app.charts.studies.waterfall import Waterfall
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
from dpviz.words import format_duration

_KEY = "tradeoff:parts"
# A private run, the same without noise, and two solutions from many starts.
_RUNS_EACH = 4
_INVITATION = Invitation(
    "Where the error comes from",
    "Where does the loss come from?",
    "Press **Measure**: what the grid, the noise and the solver each add.",
    icon=":material/waterfall_chart:",
    button="Measure",
)
_HOW = """
Every bar is the difference of two median losses, and each is measured by switching its cause off:

- **quantise**: the best of many starts on the synopsis without noise, against k-means++ on the rows. Nothing
  for an algorithm that reads rows to the end.
- **noise**: the private run, against the same run (same public coins) with its noise switched off.
- **solver**: the private run, against the best of many starts on its own release; for an algorithm without a synopsis,
  the run without noise against k-means++.
- **interaction**: what is left, so that the bars add up: what noise and solver do together beyond what each does alone.
  A grid's solver, say, leaves out cells that do not stand out from the noise, whether noise has come or not.

All losses are read from the rows as the declared bounds leave them. **Clipping**, the mean squared distance that the
bounds alone move a row, is the same for every algorithm and stands beside the bars, not among them; of a private file
it is not told, so that nobody chooses bounds by it.
"""


def draw_parts_section(question: StudyQuestion) -> None:
    """The form, and the bars of the last answer."""
    if not has_contenders(question.grid.contenders):
        return
    with st.container(border=True):
        one = ask_one_setting(question, _KEY, "Runs", 3, 50, 10)
        problem = error_parts.explain_refusal(one.grid.contenders[0], one.grid.ks[0]) or one.problem
        about = "" if problem else f", about {format_duration(_RUNS_EACH * one.seconds)}{one.provided}"
        words = f"{one.grid.repeats:,} runs with noise and without{about}"
        draw_ask_button(one, _begin, words=words, problem=problem, label="Measure")
    draw_study_half(one, invitation=_INVITATION, pictures=_draw_bars)


def _begin(one: StudyQuestion) -> None:
    send(
        one,
        error_parts.measure_error_rows,
        access=f"error of {one.grid.repeats} runs taken apart, k = {one.grid.ks[0]}",
    )


def _draw_bars(study: StudyJob) -> None:
    assert study.yardstick is not None  # it comes before any row
    error = error_parts.compute_error_parts(study.yardstick, study.rows)
    if study.source.kind is FileKind.PRIVATE:  # bounds are not to be chosen by it
        error = replace(error, clip=None)
    (contender,), (epsilon,) = study.grid.contenders, study.grid.epsilons
    bars = Waterfall(error, contender.label, epsilon)
    show_picture(bars, study, beneath=_draw_explanation)
    if study.source.kind.may_be_shown and not study.running:
        draw_page_button(study, bars)


def _draw_explanation() -> None:
    with st.expander("How each part is measured", icon=":material/help:"):
        st.markdown(_HOW)
        draw_caption_with_badge("revealed", "Every bar is read from rows; a run without noise is thrown away at once.")
