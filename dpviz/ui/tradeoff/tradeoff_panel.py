"""Loss against ε: a form, a study in workers, and the ways to look at it."""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt

import streamlit as st

from dpviz.charts.studies.curves import Curves
from dpviz.runs.advice.advice import Outlook
from dpviz.runs.advice.prediction import predict
from dpviz.runs.open_table import OpenTable
from dpviz.runs.request import Contender, Request
from dpviz.runs.study.grid import epsilons_between
from dpviz.ui.controls import ROUND_EPSILONS, Epsilons
from dpviz.ui.session import remember, remembered
from dpviz.ui.studies.one_setting import open_in_explore, opener, turn_to_explore
from dpviz.ui.studies.study_form import study_form
from dpviz.ui.studies.study_job import Question, StudyJob
from dpviz.ui.studies.study_panel import (
    Invitation,
    measure_choice,
    show_picture,
    study_download,
    study_half,
)
from dpviz.ui.tradeoff.advice_panel import advice_panel
from dpviz.ui.tradeoff.draws_section import draws_section
from dpviz.ui.tradeoff.parts_section import parts_section
from dpviz.ui.tradeoff.settings_section import apply_study_link, range_key, settings_section
from dpviz.ui.tradeoff.smallest_section import smallest_section
from dpviz.ui.tradeoff.sweep_sections import clusters_section, map_section, rows_section

_KEY = "tradeoff"


def tradeoff_setup(table: OpenTable) -> Question:
    """The form, and what it asks for now."""
    apply_study_link()
    return study_form(
        _KEY,
        table,
        epsilons=_epsilons,
        runs="Runs of each at every ε",
        usual=5,
        why="The line is the median of these runs, the band spans their quartiles.",
    )


def tradeoff_study(question: Question) -> None:
    """One way to look at the trade-off at a time."""
    view = st.segmented_control(
        "What to look at",
        list(_SECTIONS),
        default=_FIRST,
        required=True,
        key=f"{_KEY}:view",
        persist_state="session",
        label_visibility="collapsed",
        wrap=True,
    )
    _SECTIONS[str(view or _FIRST)](question)


def _epsilons() -> Epsilons:
    """Round values of ε between two ends; those of a link or a file as long as its ends stay."""
    kept, key = f"{_KEY}:epsilons", range_key()
    epsilons = remembered(kept, epsilons_between(0.1, 10.0))
    # A slider with two ends takes them from its first value alone: it must not change while the slider lives.
    if key not in st.session_state:
        st.session_state[f"first:{key}"] = (min(epsilons), max(epsilons))
    first: tuple[float, float] = st.session_state[f"first:{key}"]
    low, high = st.select_slider(
        "Range of ε",
        sorted({*ROUND_EPSILONS, *first}),
        value=first,
        format_func=lambda value: f"{value:g}",
        key=key,
    )
    if (low, high) != (min(epsilons), max(epsilons)):
        epsilons = remember(kept, epsilons_between(low, high))
    return Epsilons(epsilons, st.container())


def _advice_section(question: Question) -> None:
    """What a stored study of made-up tables says, before any run on this one."""
    turn_to_explore()
    (k,), (delta,) = question.grid.ks, question.grid.deltas

    def take(advised: Outlook) -> None:
        open_in_explore(Request(Contender(advised.algorithm), k, advised.epsilon, delta))

    advice_panel(question.table, k=k, delta=delta, take=take)


_FIRST = "Frontier"


_INVITATION = Invitation(
    "Trade-off",
    "No trade-off yet",
    "Choose algorithms and press **Compute**: the loss at every ε appears here as it is computed, each ε once before "
    "any comes twice.",
    icon=":material/show_chart:",
)
_DASHED = (
    "What Su et al. 2016 predict from n, k, d and ε alone, on top of the loss of k-means++: the noise of a round of "
    "Lloyd (Eq. 7), or the noise of a grid (Eq. 9) plus the most that its cells can be off (Eq. 10). "
    "It holds if clusters are of like size. Drawn only where centres stay apart, and where n is public."
)


def frontier_section(question: Question) -> None:
    """The figure and the numbers behind it, or an invitation."""
    study_half(question, invitation=_INVITATION, pictures=_frontier)


def _frontier(study: StudyJob) -> None:
    turn_to_explore()
    frame, key = study.frame(), study.question.key
    with st.container(horizontal=True, vertical_alignment="bottom"):
        measure = measure_choice(frame, key, without=("seconds",))
        dashed = st.toggle("Predictions", value=True, key=f"{key}:dashed", persist_state="session", help=_DASHED)
    curves = Curves(
        frame,
        measure,
        places=study.grid.epsilons,
        baselines=baselines_of(study, measure),
        predictions=predictions_of(study, measure) if dashed else {},
    )
    show_picture(curves, study, opens=True, beneath=lambda: opener(study.grid, key))
    study_download(study)


def baselines_of(study: StudyJob, measure: str) -> dict[str, float]:
    """Losses that cost nothing, and k-means++; other measures have no baselines."""
    yardstick = study.yardstick
    if yardstick is None or measure not in ("nicv", "ratio"):
        return {}
    unit = yardstick.reference.nicv if measure == "ratio" else 1.0
    if unit == 0:
        return {}
    return {
        "one centre": yardstick.one_center / unit,
        "centres that saw no row": yardstick.data_independent / unit,
        "k-means++": yardstick.reference.nicv / unit,
    }


def predictions_of(study: StudyJob, measure: str) -> dict[str, list[tuple[float, float]]]:
    """The closed-form curve of each algorithm that has one, where it holds and n is public."""
    reference = study.yardstick.reference if study.yardstick is not None else None
    if reference is None or reference.nicv == 0 or measure not in ("nicv", "ratio", "matched_error"):
        return {}
    table, curves = study.source.private, dict[str, list[tuple[float, float]]]()
    for trial in (trial for trial in study.grid.trials() if trial.repeat == 0):
        setting = study.grid.at(trial).setting(table)
        prediction = predict(trial.contender, setting, table.domain.region)
        if prediction is not None and prediction.holds:
            loss = reference.nicv + prediction.excess
            value = {"nicv": loss, "ratio": loss / reference.nicv, "matched_error": sqrt(prediction.excess)}
            curves.setdefault(trial.contender.label, []).append((trial.epsilon, value[measure]))
    return {name: curve for name, curve in curves.items() if len(curve) > 1}


_SECTIONS: dict[str, Callable[[Question], None]] = {
    _FIRST: frontier_section,
    "Smallest ε": smallest_section,
    "Advice": _advice_section,
    "Error by cause": parts_section,
    "ε × n": map_section,
    "By k": clusters_section,
    "By n": rows_section,
    "Draws": draws_section,
    "Settings": settings_section,
}
