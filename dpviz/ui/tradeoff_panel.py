"""Loss against ε: a form, a study in a worker, a figure that fills while it computes, files to take away."""

from __future__ import annotations

from math import sqrt

import streamlit as st

from dpviz.charts.theme import palette
from dpviz.charts.tradeoff import describe_tradeoff, draw_tradeoff
from dpviz.runs.prediction import predict
from dpviz.runs.run import setting_of
from dpviz.runs.study import Contender, summarise, tidy
from dpviz.ui.contender_choice import contender_picker
from dpviz.ui.controls import ROUND_EPSILONS, k_delta_row
from dpviz.ui.declaration import OpenTable
from dpviz.ui.judged_rows import judged_rows
from dpviz.ui.step_pictures import data_table
from dpviz.ui.study_panel import (
    Invitation,
    Plan,
    Study,
    measure_choice,
    study_button,
    study_download,
    study_half,
)
from dpviz.ui.table_words import unit_line
from dpviz.ui.wide_figure import show_wide

_KEY = "tradeoff"
_INVITATION = Invitation(
    "No trade-off yet",
    "Choose algorithms and press **Compute**: the loss at every ε appears here as it is computed, each ε once before "
    "any comes twice.",
    icon=":material/show_chart:",
)
_TICKS = (0.03, 0.1, 0.2, 0.3, 0.5, 1.0, 2.0, 3.0, 5.0, 10.0, 20.0)
_DASHED = (
    "What Su et al. 2016 predict from n, k, d and ε alone, on top of the loss of k-means++: the noise of a round of "
    "Lloyd (Eq. 7), or the noise of a grid (Eq. 9) plus the most that its cells can be off (Eq. 10). "
    "Drawn only where centres stay apart, and where n is public."
)


def tradeoff_setup(table: OpenTable) -> tuple[Plan, OpenTable | None]:
    """The form; what is asked for now, and on which rows it would be judged."""
    with st.container(border=True):
        whom = st.container()
        left, right = st.columns(2, gap="medium")
        with left:
            epsilons = epsilon_range()
        with right:
            k, delta = k_delta_row()
        with left:
            repeats = st.slider(
                "Runs of each at every ε",
                1,
                50,
                value=5,
                key=f"{_KEY}:repeats",
                persist_state="session",
                help="The line is the median of these runs, the band spans their quartiles.",
            )
        st.caption(f"ε and δ protect {unit_line(table)}.")
        source = judged_rows(table, _KEY, k=k)
        with whom:
            contenders = contender_picker(_KEY, source or table, k=k, epsilons=epsilons, delta=delta)
        plan = Plan(tuple(contenders), k, epsilons, delta, repeats)
        study_button(_KEY, table, source, plan)
    return plan, source


def epsilon_range() -> tuple[float, ...]:
    """Round values of ε between two ends, evenly spread on the log scale."""
    low, high = st.select_slider(
        "Range of ε",
        ROUND_EPSILONS,
        value=(0.1, 10.0),
        format_func=lambda value: f"{value:g}",
        key=f"{_KEY}:range",
        persist_state="session",
    )
    inner = [epsilon for epsilon in _TICKS if low < epsilon < high]
    return tuple(sorted({low, *inner, high}))


def tradeoff_study(table: OpenTable, plan: Plan, source: OpenTable | None) -> None:
    """The figure and the numbers behind it, or an invitation."""
    study_half(
        *(_KEY, table, plan, source),
        invitation=_INVITATION,
        label=lambda study: f"Trade-off with k = {study.plan.k}",
        pictures=_pictures,
    )


def _pictures(study: Study) -> None:
    frame = tidy(study.rows)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        measure = measure_choice(frame, _KEY, without=("seconds",))
        dashed = st.toggle("Predictions", value=True, key=f"{_KEY}:dashed", persist_state="session", help=_DASHED)
    made = draw_tradeoff(
        frame,
        measure,
        palette=palette(st.context.theme.type),
        baselines=baselines_of(study, measure),
        prediction=predictions_of(study, measure) if dashed else None,
        epsilons=study.plan.epsilons,
    )
    show_wide(made, alt=describe_tradeoff(frame, measure), key=f"{_KEY}:figure", stem=f"trade-off-{measure}")
    behind = st.expander("The numbers behind it", icon=":material/table:", key=f"{_KEY}:table", on_change="rerun")
    if behind.open:
        with behind:
            data_table(summarise(frame, measure), alt="Median and quartiles at every ε", height="auto")
    study_download(study, _KEY)


def baselines_of(study: Study, measure: str) -> dict[str, float]:
    """Losses that cost nothing, and k-means++; other measures have no baselines."""
    found = study.yardstick
    if found is None or measure not in ("nicv", "ratio"):
        return {}
    unit = found.reference.nicv if measure == "ratio" else 1.0
    if unit == 0:
        return {}
    return {
        "one centre": found.one_center / unit,
        "centres that saw no row": found.data_independent / unit,
        "k-means++": found.reference.nicv / unit,
    }


def predictions_of(study: Study, measure: str) -> dict[str, list[tuple[float, float]]]:
    """The closed-form curve of each algorithm that has one, where it holds and n is public."""
    reference = study.yardstick.reference if study.yardstick is not None else None
    if reference is None or reference.nicv == 0 or measure not in ("nicv", "ratio", "matched_error"):
        return {}
    curves: dict[str, list[tuple[float, float]]] = {}
    for contender in study.plan.contenders:
        for epsilon in study.plan.epsilons:
            excess = _excess(study, contender, epsilon)
            if excess is not None:
                value = {"nicv": reference.nicv + excess, "ratio": 1 + excess / reference.nicv}
                curves.setdefault(contender.label, []).append((epsilon, value.get(measure, sqrt(excess))))
    return {name: curve for name, curve in curves.items() if len(curve) > 1}


def _excess(study: Study, contender: Contender, epsilon: float) -> float | None:
    table = study.source.private
    setting = setting_of(table, k=study.plan.k, epsilon=epsilon, delta=study.plan.delta)
    found = predict(contender.algorithm, contender.params, setting, table.domain.region)
    return found.excess if found is not None and found.holds else None
