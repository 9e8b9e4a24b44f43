"""The smallest ε for a target, on a page: from the runs of the frontier, and sharpened by a worker."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import pandas as pd
import streamlit as st

from dpviz.charts.studies.contenders import names_in
from dpviz.charts.studies.target import answer_table, finding_of, mark_smallest, share_words
from dpviz.charts.studies.tradeoff import draw_tradeoff
from dpviz.charts.theme import palette
from dpviz.check import RequestError
from dpviz.runs.jobs import Work
from dpviz.runs.open_table import OpenTable
from dpviz.runs.request import Contender
from dpviz.runs.smallest_epsilon import SmallestEpsilon, sharpened_rows, smallest_epsilons
from dpviz.runs.study.grid import Grid
from dpviz.runs.study.study import tidy
from dpviz.ui.escape import plain
from dpviz.ui.studies.behind import numbers_behind
from dpviz.ui.studies.side_job import SideJob, send, sent
from dpviz.ui.studies.study_panel import Study, live_job
from dpviz.ui.tradeoff.open_setting import go_where_asked, on_click
from dpviz.ui.wide_figure import show_wide

_KEY = "tradeoff:smallest"
_REPEATS, _ROUNDS = 20, 5


class _Asked(NamedTuple):
    """What a sharpened answer belongs to: the study, the algorithm and the target."""

    job: Work[Any]
    contender: Contender
    target: float
    share: float


def smallest(table: OpenTable, study: Study) -> None:
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
    side = sent(_KEY, table)
    if side is None or not isinstance(side.asked, _Asked) or side.asked.job is not study.job:
        _answer(table, study, None, target, wanted)
        return
    whose = f"Bisection for {side.asked.contender.label}"
    live_job(side, label=whose, key=_KEY, live=lambda: _answer(table, study, side, target, wanted))


def _answer(table: OpenTable, study: Study, side: SideJob | None, target: float, share: float) -> None:
    frame = _all_runs(study, side)
    answers = smallest_epsilons(frame, target, share=share)
    colors = palette(st.context.theme.type)
    st.markdown(f"#### {plain(finding_of(answers, target, share=share))}")
    st.caption(
        "Between two ε that were tried the loss is read off a falling curve. The interval holds both of them, and "
        "those around nine in ten answers from resampled runs: a bisection, or more runs, make it narrower."
    )
    made = draw_tradeoff(frame, palette=colors, epsilons=study.plan.epsilons)
    mark_smallest(made, answers, target, names=names_in(frame), palette=colors)
    clicked = on_click(made, study.plan, f"{_KEY}:figure")
    words = f"The frontier with the target. {finding_of(answers, target, share=share)}"
    show_wide(made, alt=words, key=f"{_KEY}:figure", stem="smallest-epsilon", on_click=clicked)
    if not study.running:
        _sharpen(table, study, frame, answers, target, share)
    behind = {"key": _KEY, "stem": "smallest-epsilon", "alt": "The smallest ε of each algorithm"}
    growing = study.running or (side is not None and side.running)
    numbers_behind(answer_table(answers), study.source, **behind, growing=growing)


def _all_runs(study: Study, side: SideJob | None) -> pd.DataFrame:
    extra: list[dict[str, Any]] = [] if side is None else side.items
    return tidy([*study.rows, *extra])


def _sharpen(
    table: OpenTable,
    study: Study,
    frame: pd.DataFrame,
    answers: Sequence[SmallestEpsilon],
    target: float,
    share: float,
) -> None:
    """A bisection for one algorithm, from the runs that are there."""
    able = [answer for answer in answers if answer.reached and not answer.sharp and answer.epsilon > answer.lowest]
    if not able or study.yardstick is None:
        st.caption("Nothing to sharpen: each answer is sharp, at the lower end of the range, or out of reach.")
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        label = st.selectbox("Sharpen the answer for", [answer.contender for answer in able], key=f"{_KEY}:whom")
        pressed = st.button("Bisect", icon=":material/target:", key=f"{_KEY}:compute")
    if not pressed:
        return
    contender = next(each for each in study.plan.contenders if each.label == label)
    known = [row for row in frame.to_dict("records") if row["contender"] == label]
    asked = _Asked(study.job, contender, target, share)
    look = f"tradeoff: {_REPEATS * _ROUNDS} study runs for the smallest ε, k = {study.plan.k}"
    grid = Grid((contender,), (study.plan.k,), deltas=(study.plan.delta,), repeats=_REPEATS)
    options: dict[str, Any] = {"share": share, "rounds": _ROUNDS, "yardstick": study.yardstick}
    try:
        send(_KEY, table, study.source, asked, sharpened_rows, grid, known, target, look=look, **options)
    except RequestError as error:
        st.error(plain(error), title="This cannot run", icon=":material/block:")
        return
    st.rerun()
