"""One algorithm at one ε, on a page: its draws as an animation, who pays, and where the error comes from."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import streamlit as st

from dpviz.app.charts.animation import TitleNumber
from dpviz.app.charts.picture import RenderContext
from dpviz.app.charts.plot import pack
from dpviz.app.charts.studies.compare import CenterDraws, draw_payers, draw_waterfall
from dpviz.app.ui.data_access import reveal_view
from dpviz.app.ui.figure import ask_plane, draw_caption_with_badge, read_palette, show_wide
from dpviz.app.ui.player import play
from dpviz.app.ui.runner import find_recovery
from dpviz.app.ui.session import find_known_clusters, make_once
from dpviz.app.ui.studies.study_job import StudyJob, StudyQuestion, ask_one_setting, has_contenders, send
from dpviz.app.ui.studies.study_panel import (
    Invitation,
    draw_ask_button,
    draw_numbers,
    draw_page_button,
    draw_study_button,
    draw_study_half,
    show_picture,
)
from dpviz.runs import error_parts
from dpviz.tables import FileKind
from dpviz.words import format_duration, format_number, format_ratio

_DRAWS_KEY = "tradeoff:draws"
_DRAWS_INVITATION = Invitation(
    "Draws",
    "How much do draws differ?",
    "Press **Draw again and again**: the same release, drawn again and again.",
    icon=":material/replay:",
    button="Draw again and again",
)


def draw_draws_section(question: StudyQuestion) -> None:
    """One algorithm at one ε, drawn many times."""
    if not has_contenders(question.grid.contenders):
        return
    with st.container(border=True):
        one = ask_one_setting(question, _DRAWS_KEY, "Draws", 5, 100, 30)
        draw_study_button(one, invitation=_DRAWS_INVITATION, with_centers=True)
    draw_study_half(one, invitation=_DRAWS_INVITATION, pictures=_draw_pictures)


def _draw_pictures(study: StudyJob) -> None:
    reference = study.yardstick.reference if study.yardstick is not None else None
    view = ask_plane(study.source.domain, _DRAWS_KEY)
    rows = reveal_view(study.source, "rows under repeated draws")
    counted = reference is not None and find_known_clusters(study.source) == study.grid.ks[0]
    found = None if reference is None or not counted else partial(find_recovery, study.source, reference=reference)
    (contender,), (epsilon,) = study.grid.contenders, study.grid.epsilons
    spends = epsilon if contender.card.private else None
    context = RenderContext(view, read_palette(), rows, reference, found=found, epsilon=spends)
    draws = CenterDraws.of(study.rows, context)
    if study.running:
        show_wide(draws.draw(), alt=draws.words(), key=f"{_DRAWS_KEY}:cloud", stem="cloud-of-centres")
        return
    _play(study, draws)
    if reference is not None:
        draw_numbers(draws, study)


def _play(study: StudyJob, draws: CenterDraws) -> None:
    """The draws in the player that runs are played in."""
    context = draws.context
    shown = (context.view.name, st.context.theme.type, context.reveal is None, context.reference is None)
    given = (study.job, len(draws.centers), *shown)
    animation = make_once(f"{_DRAWS_KEY}:animation", given, lambda: pack(draws.animate().to_data()))
    low, high = (format_ratio(float(end)) for end in (draws.losses.min(), draws.losses.max()))
    losses = TitleNumber("revealed", low if low == high else f"{low} to {high}", "the loss of k-means++")
    play(animation, [losses], None, key=f"{_DRAWS_KEY}:player")


_PAYERS_KEY = "tradeoff:payers"
_PAYERS_INVITATION = Invitation(
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
        one = ask_one_setting(question, _PAYERS_KEY, "Runs", 5, 50, 20)
        words = f"{one.grid.repeats:,} runs, about {format_duration(0.0 if one.problem else one.seconds)}"
        draw_ask_button(one, _begin_payers, words=words, problem=one.problem, label="Measure")
    draw_study_half(one, invitation=_PAYERS_INVITATION, pictures=_draw_picture)


def _begin_payers(one: StudyQuestion) -> None:
    access = f"{one.grid.repeats} runs by cluster and by group, k = {one.grid.ks[0]}"
    send(one, error_parts.measure_payer_rows, access=access)


def _draw_picture(study: StudyJob) -> None:
    if study.source.kind is FileKind.PRIVATE:  # it was public when it was asked
        st.info(PRIVATE, icon=":material/visibility_off:")
        return
    paid = error_parts.summarise_payers(study.rows)
    (contender,), (epsilon,) = study.grid.contenders, study.grid.epsilons
    picture = draw_payers(paid, contender.label, epsilon)
    told = "Not even the largest cluster is found in eight of ten draws."
    if (shown := paid.smallest_shown) is not None:
        rows = format_number(shown)
        told = f"The smallest cluster that eight of ten draws find, as they do all larger ones, has {rows} rows."
    show_picture(picture, study, beneath=lambda: draw_caption_with_badge("revealed", told))
    if not study.running:
        draw_page_button(study, picture)


_PARTS_KEY = "tradeoff:parts"
# A private run, the same without noise, and two solutions from many starts.
_RUNS_EACH = 4
_PARTS_INVITATION = Invitation(
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
        one = ask_one_setting(question, _PARTS_KEY, "Runs", 3, 50, 10)
        problem = error_parts.explain_refusal(one.grid.contenders[0], one.grid.ks[0]) or one.problem
        about = "" if problem else f", about {format_duration(_RUNS_EACH * one.seconds)}{one.provided}"
        words = f"{one.grid.repeats:,} runs with noise and without{about}"
        draw_ask_button(one, _begin_parts, words=words, problem=problem, label="Measure")
    draw_study_half(one, invitation=_PARTS_INVITATION, pictures=_draw_bars)


def _begin_parts(one: StudyQuestion) -> None:
    access = f"error of {one.grid.repeats} runs taken apart, k = {one.grid.ks[0]}"
    send(one, error_parts.measure_error_rows, access=access)


def _draw_bars(study: StudyJob) -> None:
    assert study.yardstick is not None  # it comes before any row
    error = error_parts.compute_error_parts(study.yardstick, study.rows)
    if study.source.kind is FileKind.PRIVATE:  # bounds are not to be chosen by it
        error = replace(error, clip=None)
    (contender,), (epsilon,) = study.grid.contenders, study.grid.epsilons
    bars = draw_waterfall(error, contender.label, epsilon)
    show_picture(bars, study, beneath=_draw_explanation)
    if study.source.kind.may_be_shown and not study.running:
        draw_page_button(study, bars)


def _draw_explanation() -> None:
    with st.expander("How each part is measured", icon=":material/help:"):
        st.markdown(_HOW)
        draw_caption_with_badge("revealed", "Every bar is read from rows; a run without noise is thrown away at once.")
