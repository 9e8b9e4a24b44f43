"""The result of a run on the page: its numbers, its pictures step by step, its ledger, its files."""

from __future__ import annotations

from functools import partial

import streamlit as st

from dpviz.charts.spent import Counted, describe_spent, draw_spent, shares_of
from dpviz.charts.theme import palette
from dpviz.privacy.accounting import Accounting
from dpviz.runs.export import picture_stem
from dpviz.runs.open_table import OpenTable
from dpviz.runs.request import Request
from dpviz.runs.run import Run
from dpviz.ui.badges import badge_text
from dpviz.ui.escape import plain
from dpviz.ui.explore.algorithm_choice import about
from dpviz.ui.explore.frames import frames_panel
from dpviz.ui.explore.result_panel import downloads, ledger_of, metric_row
from dpviz.ui.explore.step_pictures import Looking, data_table
from dpviz.ui.looks import reveal_allowed
from dpviz.ui.plane_choice import plane_choice
from dpviz.ui.reference import found_or_none, reference_notice, reference_or_none
from dpviz.ui.revealed_rows import revealed_view
from dpviz.ui.runner import Result
from dpviz.ui.session import record_at
from dpviz.ui.wide_figure import show_wide

_ADDS_UP = {
    Accounting.PURE: "Their ε add up to the ε of the run.",
    Accounting.GDP: "Their costs μ² add up (Gaussian privacy), and the sum is worth the ε and δ of the run.",
    Accounting.ZCDP: "Their costs ρ add up (zero-concentrated privacy), and the sum is worth the ε and δ of the run.",
    Accounting.BASIC: "Their ε add up to the ε of the run, and their δ to its δ (basic composition).",
    Accounting.PLD: "Their privacy losses are composed as distributions, which costs less than their ρ (a common "
    "currency of the charges) would add up to; the bar shows what each added to ε in its turn.",
    Accounting.NONE: "",
}
_WHY = "rows under the pictures of a run"


def result_panel(table: OpenTable, result: Result, now: Request) -> None:
    """Everything about the last run."""
    _headline(table, result, now)
    numbers = st.container()
    looking = _looking(table, result)
    frames_panel(result.run, looking, key=f"frames:{result.number}")
    with numbers:
        metric_row(table, result, looking.reference if reveal_allowed(table) else None)
        reference_notice(table, result.run.k, points_per_row=result.run.points_per_row)
    _below(result)


def empty_panel(table: OpenTable) -> None:
    """What to do when nothing has run yet on this table."""
    st.info(
        f"Choose an algorithm, ε and k above and press **Run**. The pictures of the run on {plain(table.title)} appear "
        "here, step by step, with what each step cost.",
        title="Nothing has run yet",
        icon=":material/play_circle:",
    )


def _headline(table: OpenTable, result: Result, now: Request) -> None:
    run, card = result.run, result.request.card
    st.subheader(f"{card.title}: k = {run.k:d}, ε = {run.epsilon:g}", divider="gray")
    seeded = (
        f":orange-badge[:material/science: simulation, seed {result.request.seed:d}] "
        if result.request.seed is not None
        else ""
    )
    fits = (
        ":green-badge[:material/check: matches the settings above]"
        if result.request == now
        else ":yellow-badge[:material/history: older settings] The form has changed since: press **Run** to apply it."
    )
    st.markdown(f"{seeded}{fits}")
    if result.request != now or not run.private:
        for warning in run.warnings:
            st.caption(f":material/warning: {plain(warning)}")


def _looking(table: OpenTable, result: Result) -> Looking:
    """Plane, colours, and what the owner lets be shown."""
    colors = palette(st.context.theme.type)
    allowed = reveal_allowed(table)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        centers = result.run.unit_centers if result.run.private else None
        view = plane_choice(result.run.domain, "explore", centers=centers)
        rows = allowed and _layer("rows")
        over = allowed and _layer("k-means++")
        if not allowed:
            st.caption(f"{badge_text('revealed')} Rows, loss and k-means++ are hidden: **Show truth** is off.")
    if not allowed:
        return Looking(view, colors)
    per_row = result.run.points_per_row
    reference = reference_or_none(table, result.run.k, points_per_row=per_row)
    shown = revealed_view(table, _WHY, points_per_row=per_row) if rows else None
    if reference is None:
        return Looking(view, colors, shown, None, over, reference_coming=True)
    found = partial(found_or_none, table, reference=reference, points_per_row=per_row)
    return Looking(view, colors, shown, reference, over, found=found)


def _layer(what: str) -> bool:
    """Whether a revealed layer is drawn over the pictures."""
    return st.toggle(f"{what} {badge_text('revealed')}", value=True, key=f"explore:{what}", persist_state="session")


def _shares(run: Run) -> None:
    """How the budget was divided between the stages of the algorithm."""
    meter = [Counted(frame.entries, frame.spent_fraction) for frame in run.frames]
    shares = shares_of(run.entries, spent_fraction=run.spent_fraction, meter=meter)
    made = draw_spent(shares, palette=palette(st.context.theme.type), epsilon=run.epsilon)
    show_wide(
        made, alt=describe_spent(shares, epsilon=run.epsilon), key="explore:shares", stem=f"{picture_stem(run)}-budget"
    )


def _below(result: Result) -> None:
    run = result.run
    ledger, story, files = st.tabs(
        ["Ledger of this run", "How it works", "Take it away"], key="explore:below", on_change="rerun"
    )
    if ledger.open:
        with ledger:
            if run.private:
                st.markdown(f"{badge_text('released')} Every charge of this run. {_ADDS_UP[run.accounting]}")
                _shares(run)
                data_table(ledger_of(run), alt="Every charge of this run", height="auto")
            else:
                st.markdown(f"{badge_text('revealed')} No ledger: k-means++ has no privacy to account for.")
    if story.open:
        with story:
            about(result.request.card)
    if files.open:
        with files:
            downloads(record_at(result.place))
