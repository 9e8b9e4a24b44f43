"""Where the error comes from, on a page: one algorithm at one ε, taken apart by a worker, as bars that add up."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import streamlit as st

from dpviz.charts.studies.waterfall import describe_waterfall, draw_waterfall, waterfall_table
from dpviz.charts.theme import palette
from dpviz.check import RequestError
from dpviz.runs.error_parts import ErrorBase, error_parts, error_rows, refusal_of
from dpviz.runs.open_table import OpenTable
from dpviz.runs.request import Contender
from dpviz.table.declaration import FileKind
from dpviz.ui.badges import badge_text
from dpviz.ui.escape import plain
from dpviz.ui.job_panel import duration
from dpviz.ui.studies.behind import numbers_behind
from dpviz.ui.studies.side_job import SideJob, send, sent
from dpviz.ui.studies.study_panel import Plan, forecast, headline, live_job, problem_of
from dpviz.ui.tradeoff.one_setting import has_any, one_setting
from dpviz.ui.wide_figure import show_wide

_KEY = "tradeoff:parts"
# A private run, the same without noise, and two solutions from many starts.
_RUNS_EACH = 4
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


class _Asked(NamedTuple):
    contender: Contender
    k: int
    epsilon: float
    delta: float
    repeats: int


def parts_section(table: OpenTable, plan: Plan, source: OpenTable | None) -> None:
    """The form, and the bars of the last answer."""
    if not has_any(plan.contenders):
        return
    with st.container(border=True):
        asked = _form(plan)
        _measure(table, source, asked)
    side = sent(_KEY, table)
    if side is None:
        st.info(
            "Press **Measure**: what quantising, noise and the solver each add to the loss of k-means++ "
            "appears here, in bars that add up to the private loss, and what clipping costs beside them.",
            title="Nothing taken apart yet",
            icon=":material/waterfall_chart:",
        )
        return
    headline(side.source, fits=side.answers(asked, source), button="Measure")
    live_job(side, label="Where the error comes from", key=_KEY, live=lambda: _picture(side))


def _form(plan: Plan) -> _Asked:
    contender, epsilon = one_setting(_KEY, plan.contenders, plan.epsilons)
    repeats = st.slider("Runs", 3, 50, value=10, key=f"{_KEY}:repeats", persist_state="session", width=320)
    return _Asked(contender, plan.k, epsilon, plan.delta, int(repeats))


def _measure(table: OpenTable, source: OpenTable | None, asked: _Asked) -> None:
    """The button, with how long it takes; what cannot be taken apart says why."""
    one = Plan((asked.contender,), asked.k, (asked.epsilon,), asked.delta, asked.repeats)
    problem = refusal_of(asked.contender, asked.k) or problem_of(source, one)
    pressed = st.button(
        "Measure", type="primary", icon=":material/play_circle:", key=f"{_KEY}:compute", disabled=problem is not None
    )
    if problem is not None or source is None:
        st.caption(f":red-badge[:material/cancel: cannot run] {plain(problem)}")
        return
    st.caption(f"{asked.repeats:,} runs with noise and without, about {duration(_RUNS_EACH * forecast(source, one))}.")
    if not pressed:
        return
    look = f"tradeoff: error of {asked.repeats} runs taken apart, k = {asked.k}"
    try:
        send(_KEY, table, source, asked, error_rows, one.grid, look=look)
    except RequestError as error:
        st.error(plain(error), title="This cannot run", icon=":material/block:")


def _picture(side: SideJob) -> None:
    base = next((item for item in side.items if isinstance(item, ErrorBase)), None)
    rows = [item for item in side.items if isinstance(item, dict)]
    if base is None or not rows:
        st.skeleton(height=440)
        return
    asked, found = side.asked, error_parts(base, rows)
    if side.source.kind is FileKind.PRIVATE:  # bounds are not to be chosen by it
        found = replace(found, clip=None)
    assert isinstance(asked, _Asked)
    name, epsilon = asked.contender.label, asked.epsilon
    made = draw_waterfall(found, palette=palette(st.context.theme.type), name=name, epsilon=epsilon)
    words = describe_waterfall(found, name=name, epsilon=epsilon)
    show_wide(made, alt=words, key=f"{_KEY}:figure", stem="where-the-error-comes-from")
    with st.expander("How each part is measured", icon=":material/help:"):
        st.markdown(_HOW)
        st.caption(f"{badge_text('revealed')} Every bar is read from rows; a run without noise is thrown away at once.")
    numbers_behind(
        waterfall_table(found),
        side.source,
        key=_KEY,
        stem=f"error-parts-{asked.contender.algorithm}-{asked.epsilon:g}",
        alt="What every part adds to the loss, and what clipping costs",
        growing=side.running,
    )
