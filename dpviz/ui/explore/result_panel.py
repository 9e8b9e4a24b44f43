"""What a run came to: its headline, how it is looked at, its numbers, its ledger, and files to take away."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from math import isnan
from typing import NamedTuple, cast

import pandas as pd
import streamlit as st

from dpviz.charts.picture import Look
from dpviz.charts.spent import Counted, describe_spent, draw_spent, shares_of
from dpviz.charts.theme import Kind, palette
from dpviz.charts.wording import number, ratio
from dpviz.privacy.accounting import Accounting
from dpviz.runs.evaluation import Reference, Scores, assign, evaluate, label_accuracy
from dpviz.runs.export import centers_csv, file_stem, picture_stem, run_json
from dpviz.runs.open_table import OpenTable
from dpviz.runs.record import LookKind, ReleaseRecord
from dpviz.runs.request import Request
from dpviz.runs.run import Run
from dpviz.table.declaration import FileKind
from dpviz.ui.badges import badge, badge_text
from dpviz.ui.escape import plain
from dpviz.ui.explore.algorithm_choice import about
from dpviz.ui.figure import data_table, show_wide
from dpviz.ui.looks import judged, reveal_allowed, revealed_view
from dpviz.ui.plane_choice import plane_choice
from dpviz.ui.reference import found_or_none, reference_notice, reference_or_none
from dpviz.ui.runner import Result
from dpviz.ui.session import record_at
from dpviz.ui.table_words import unit_line

_SCORES = "result:scores"
# How the charges of a run add up, after its accounting.
_ADDS_UP = {
    Accounting.PURE: "Their ε add up to the ε of the run.",
    Accounting.GDP: "Their costs μ² add up (Gaussian privacy), and the sum is worth the ε and δ of the run.",
    Accounting.ZCDP: "Their costs ρ add up (zero-concentrated privacy), and the sum is worth the ε and δ of the run.",
    Accounting.BASIC: "Their ε add up to the ε of the run, and their δ to its δ (basic composition).",
    Accounting.PLD: "Their privacy losses are composed as distributions, which costs less than their ρ (a common "
    "currency of the charges) would add up to; the bar shows what each added to ε in its turn.",
    Accounting.NONE: "",
}


class Looks(NamedTuple):
    """How the pictures of a run are looked at, and what stands beside them: k-means++ may stand there alone."""

    main: Look
    beside: Look


def empty_panel(table: OpenTable) -> None:
    """What to do when nothing has run yet on this table."""
    st.info(
        f"Choose an algorithm, ε and k above and press **Run**. The pictures of the run on {plain(table.title)} appear "
        "here, step by step, with what each step cost.",
        title="Nothing has run yet",
        icon=":material/play_circle:",
    )


def headline(result: Result, now: Request) -> None:
    """Which run this is, and whether it is the one that the form asks for ``now``."""
    run, request = result.run, result.request
    card = request.card
    st.subheader(f"{card.title}: k = {run.k:d}, ε = {run.epsilon:g}", divider="gray")
    seeded = "" if request.seed is None else f":orange-badge[:material/science: simulation, seed {request.seed:d}] "
    fits = (
        ":green-badge[:material/check: matches the settings above]"
        if request == now
        else ":yellow-badge[:material/history: older settings] The form has changed since: press **Run** to apply it."
    )
    st.markdown(f"{seeded}{fits}")
    if request != now or not run.private:
        for warning in run.warnings:
            st.caption(f":material/warning: {plain(warning)}")


def looks_at_run(table: OpenTable, run: Run) -> Looks:
    """Choose the plane and the revealed layers; what the owner does not let be shown is in neither look."""
    allowed = reveal_allowed(table)
    epsilon = run.epsilon if run.private else None
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        view = plane_choice(run.domain, "explore", centers=run.unit_centers if run.private else None)
        rows = allowed and _layer("rows")
        over = allowed and _layer("k-means++")
        if not allowed:
            st.caption(f"{badge_text('revealed')} Rows, loss and k-means++ are hidden: **Show truth** is off.")
    look = Look(view, palette(st.context.theme.type), epsilon=epsilon)
    if not allowed:
        return Looks(look, look)
    per_row = run.points_per_row
    reference = reference_or_none(table, run.k, points_per_row=per_row)
    drawn = revealed_view(table, "rows under the pictures of a run", points_per_row=per_row) if rows else None
    beside = replace(look, reveal=drawn, reference=reference, reference_coming=reference is None)
    if reference is not None:
        beside = replace(beside, found=partial(found_or_none, table, reference=reference, points_per_row=per_row))
    return Looks(beside if over else replace(beside, reference=None), beside)


def _layer(what: str) -> bool:
    """Whether a revealed layer is drawn over the pictures."""
    return st.toggle(f"{what} {badge_text('revealed')}", value=True, key=f"explore:{what}", persist_state="session")


def metric_row(table: OpenTable, result: Result, reference: Reference | None) -> None:
    """The numbers of a run, each with its kind and its unit."""
    run = result.run
    scores = scores_of(table, result, reference)
    with st.grid(min_column_width=170):
        _budget_tile(run, table)
        _sizes_tile(run)
        _loss_tile(scores, table, of="a row" if run.points_per_row == 1 else "a point")
        if scores is not None and scores.labels is not None:
            _labels_tile(scores.labels)
    reference_notice(table, run.k, points_per_row=run.points_per_row)


def _tile(kind: Kind, label: str, value: str, detail: str, help: str | None = None) -> None:
    with st.container(border=True, height="stretch", gap="xsmall"):
        badge(kind)
        st.metric(label, value, help=help)
        st.caption(detail)


def _budget_tile(run: Run, table: OpenTable) -> None:
    if not run.private:
        _tile("revealed", "ε spent", "∞", "no privacy: the rows themselves were read, for comparison only")
        return
    meaning = "The most that one unit of privacy can change the odds of this result is a factor of e^ε (but for δ)."
    _tile("released", "ε spent", f"{run.spent_epsilon:.3g}", f"δ = {run.delta:g} · {unit_line(table)}", meaning)


def _sizes_tile(run: Run) -> None:
    sizes = run.noisy_weights
    if sizes is None:
        _tile("released" if run.private else "revealed", "Smallest cluster", "none", "the last step measured no sizes")
        return
    low, high = number(max(0.0, float(sizes.min()))), number(float(sizes.max()))
    _tile("released", "Smallest cluster", low, f"rows, with noise; the largest has {high}")


def _loss_tile(judgement: _Judged | None, table: OpenTable, *, of: str) -> None:
    meaning = (
        "Mean squared distance of a row to its nearest centre, over that of k-means++ without privacy. Both read the "
        "rows as the declared bounds leave them."
    )
    if judgement is None:
        value, why = ("…", "k-means++ is being computed") if reveal_allowed(table) else ("hidden", "Show truth is off")
        _tile("revealed", "Loss ratio", value, why, meaning)
        return
    scores = judgement.scores
    detail = f"{number(scores.nicv)} {of} against {number(scores.nicv_kmeans)} of k-means++, unit coordinates²"
    if table.kind is FileKind.PRIVATE:
        detail += ". What clipping costs beside this is not read from a private file"
    _tile("revealed", "Loss ratio", ratio(scores.ratio), detail, meaning)
    if scores.clipping > 0 and table.kind is not FileKind.PRIVATE:
        moved = "mean squared distance that the bounds alone move a row, unit coordinates²; in no other number here"
        _tile("revealed", "Clipping", number(scores.clipping), moved)


def _labels_tile(labels: _Labels) -> None:
    shown = "none" if isnan(labels.accuracy) else f"{100 * labels.accuracy:.3g} %"
    left_out = f"; {labels.unlabelled:,d} without a label are left out" if labels.unlabelled else ""
    _tile("revealed", "Label accuracy", shown, f"rows that share the commonest label of their cluster{left_out}")


class _Labels(NamedTuple):
    """How well known groups are met, and how many rows are in none."""

    accuracy: float
    unlabelled: int


class _Judged(NamedTuple):
    """Scores of one run, kept so that a rerun of the page does not read the rows again."""

    run: Run
    scores: Scores
    labels: _Labels | None


def scores_of(table: OpenTable, result: Result, reference: Reference | None) -> _Judged | None:
    """Scores of a run against revealed rows, if the owner allows looks and the reference is there."""
    run = result.run
    rows = judged(table, "loss of a run", LookKind.LOSS, points_per_row=run.points_per_row) if reference else None
    if rows is None or reference is None:
        return None
    kept = cast("_Judged | None", st.session_state.get(_SCORES))
    if kept is None or kept.run is not run:
        labels = None
        codes = None if table.labels is None else table.labels[rows.kept]
        if codes is not None:
            accuracy = label_accuracy(codes, assign(rows.points, run.unit_centers))
            labels = _Labels(accuracy, int((codes < 0).sum()))
        kept = st.session_state[_SCORES] = _Judged(run, evaluate(rows, run.unit_centers, reference), labels)
    return kept


def below(result: Result) -> None:
    """The ledger of a run, how its algorithm works, and files to take away, each in a tab."""
    run = result.run
    ledger, story, files = st.tabs(
        ["Ledger of this run", "How it works", "Take it away"], key="explore:below", on_change="rerun"
    )
    if ledger.open:
        with ledger:
            _ledger(run)
    if story.open:
        with story:
            about(result.request.card)
    if files.open:
        with files:
            _downloads(record_at(result.place))


def _ledger(run: Run) -> None:
    """Every charge of a run, and how the budget was divided between the stages of the algorithm."""
    if not run.private:
        st.markdown(f"{badge_text('revealed')} No ledger: k-means++ has no privacy to account for.")
        return
    st.markdown(f"{badge_text('released')} Every charge of this run. {_ADDS_UP[run.accounting]}")
    meter = [Counted(frame.entries, frame.spent_fraction) for frame in run.frames]
    shares = shares_of(run.entries, spent_fraction=run.spent_fraction, meter=meter)
    bar = draw_spent(shares, palette=palette(st.context.theme.type), epsilon=run.epsilon)
    words = describe_spent(shares, epsilon=run.epsilon)
    show_wide(bar, alt=words, key="explore:shares", stem=f"{picture_stem(run)}-budget")
    charges = [
        {
            "": place,
            "for": entry.note,
            "mechanism": entry.mechanism,
            "query": entry.query,
            "sensitivity": entry.sensitivity,
            "scale": entry.scale,
            f"cost ({run.accounting.unit.symbol})": entry.amount,
            "ε alone": entry.epsilon,
        }
        for place, entry in enumerate(run.entries, start=1)
    ]
    data_table(pd.DataFrame(charges), alt="Every charge of this run", height="auto")


def _downloads(record: ReleaseRecord) -> None:
    """Released centres as CSV and the run as JSON; without privacy there is nothing to take away."""
    if not record.private:
        st.caption(f"{badge_text('revealed')} k-means++ is never a release: there is nothing to download.")
        return
    stem = file_stem(record)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.download_button(
            "Centres (CSV)",
            centers_csv(record).encode("utf-8"),
            f"{stem}_centres.csv",
            "text/csv",
            icon=":material/download:",
            key="download_centers",
            on_click="ignore",
        )
        st.download_button(
            "Run (JSON)",
            run_json(record).encode("utf-8"),
            f"{stem}_run.json",
            "application/json",
            icon=":material/data_object:",
            key="download_run",
            on_click="ignore",
        )
    st.caption(
        f"{badge_text('released')} Both files hold released values only: centres in data units, noisy sizes; the JSON "
        "also what was declared, the ledger, and how often anybody looked at the rows. How long the run took is in "
        "neither: it depends on the rows."
    )
    if record.note:
        st.caption(f":material/warning: {plain(record.note)} Each file says so inside and by its name.")
