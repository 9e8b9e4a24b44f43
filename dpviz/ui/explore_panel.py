"""The result of a run on the page: its numbers, its pictures step by step, its ledger, its files."""

from __future__ import annotations

from typing import cast

import streamlit as st

from dpviz.charts.revealed import RevealedView
from dpviz.charts.theme import palette
from dpviz.ui.algorithm_choice import about
from dpviz.ui.badges import badge_text
from dpviz.ui.declaration import OpenTable
from dpviz.ui.frames import frames_panel
from dpviz.ui.looks import reveal, reveal_allowed
from dpviz.ui.plane_choice import plane_choice
from dpviz.ui.reference import reference_notice, reference_or_none
from dpviz.ui.result_panel import budget_words, downloads, ledger_of, metric_row
from dpviz.ui.runner import Asked, Result
from dpviz.ui.step_pictures import Looking, data_table

_REVEALED = "explore:revealed"


def result_panel(table: OpenTable, result: Result, now: Asked) -> None:
    """Everything about the last run."""
    _headline(table, result, now)
    numbers = st.container()
    looking = _looking(table, result)
    frames_panel(result.run, looking, key=f"frames:{result.number}")
    with numbers:
        metric_row(table, result, looking.reference if reveal_allowed(table) else None)
        reference_notice(table, result.run.k)
    _below(result)


def empty_panel(table: OpenTable) -> None:
    """What to do when nothing has run yet on this table."""
    st.info(
        f"Choose an algorithm, ε and k above and press **Run**. The pictures of the run on {table.title} appear here, "
        "step by step, with what each step cost.",
        title="Nothing has run yet",
        icon=":material/play_circle:",
    )


def _headline(table: OpenTable, result: Result, now: Asked) -> None:
    run = result.run
    st.subheader(f"{result.asked.card.title}: k = {run.k}, ε = {run.epsilon:g}", divider="gray")
    seeded = (
        f":orange-badge[:material/science: simulation, seed {result.asked.seed}] "
        if result.asked.seed is not None
        else ""
    )
    fits = (
        ":green-badge[:material/check: matches the settings above]"
        if result.asked == now
        else ":yellow-badge[:material/history: older settings] The form has changed since: press **Run** to apply it."
    )
    st.markdown(f"{seeded}{fits}")
    for warning in run.warnings:
        st.caption(f":material/warning: {warning}")
    st.caption(f"Guarantee: ε = {run.epsilon:g}, {budget_words(run, table)}.") if run.private else None


def _looking(table: OpenTable, result: Result) -> Looking:
    """Plane, colours, and what the owner lets be shown."""
    colors = palette(st.context.theme.type)
    left, right = st.columns([6, 5], gap="medium", vertical_alignment="bottom")
    with left:
        view = plane_choice(table.domain, "explore")
    if not reveal_allowed(table):
        with right:
            st.caption(
                f"{badge_text('revealed')} hidden: rows, loss and k-means++ need **Show truth** (in the sidebar)."
            )
        return Looking(view, colors)
    reference = reference_or_none(table, result.run.k)
    with right, st.container(horizontal=True):
        rows = st.toggle(
            ":orange-badge[:material/visibility: revealed] rows",
            value=True,
            key="explore:rows",
            persist_state="session",
        )
        over = st.toggle(
            ":orange-badge[:material/visibility: revealed] k-means++ over it",
            value=True,
            key="explore:over",
            persist_state="session",
        )
    return Looking(view, colors, _revealed_view(table) if rows else None, reference, over)


def _layer(what: str) -> bool:
    """Whether a revealed layer is drawn over the pictures."""
    return st.toggle(f"{what} {badge_text('revealed')}", value=True, key=f"explore:{what}", persist_state="session")


def _revealed_view(table: OpenTable) -> RevealedView | None:
    revealed = reveal(table, "rows under the pictures of a run")
    if revealed is None:
        return None
    kept = cast("tuple[str, RevealedView] | None", st.session_state.get(_REVEALED))
    if kept is None or kept[0] != table.key:
        kept = (table.key, RevealedView.of(revealed.points, "rows under the pictures of a run"))
        st.session_state[_REVEALED] = kept
    return kept[1]


def _below(result: Result) -> None:
    run = result.run
    ledger, story, files = st.tabs(
        ["Ledger of this run", "How it works", "Take it away"], key="explore:below", on_change="rerun"
    )
    if ledger.open:
        with ledger:
            if run.private:
                st.markdown(f"{badge_text('released')} Every charge of this run, {run.accounting.value} accounting.")
                data_table(ledger_of(run), alt="Every charge of this run", height=280)
            else:
                st.markdown(f"{badge_text('revealed')} No ledger: k-means++ has no privacy to account for.")
    if story.open:
        with story:
            about(result.asked.card)
    if files.open:
        with files:
            downloads(result)
