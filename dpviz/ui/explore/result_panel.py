"""What a run came to: ε spent, released sizes, revealed loss, the ledger of the run, and files to take away."""

from __future__ import annotations

from math import isnan
from typing import Any, NamedTuple, cast

import pandas as pd
import streamlit as st

from dpviz.charts.theme import Kind
from dpviz.charts.wording import number
from dpviz.charts.wording import ratio as times
from dpviz.runs.evaluation import Reference, Scores, assign, evaluate, label_accuracy
from dpviz.runs.export import centers_csv, file_stem, run_json
from dpviz.runs.open_table import OpenTable
from dpviz.runs.record import LookKind, ReleaseRecord
from dpviz.runs.run import Run
from dpviz.table.declaration import FileKind
from dpviz.ui.badges import badge, badge_text
from dpviz.ui.escape import plain
from dpviz.ui.looks import judged, reveal_allowed
from dpviz.ui.runner import Result
from dpviz.ui.table_words import unit_line

_SCORES = "result:scores"


def budget_words(run: Run, table: OpenTable) -> str:
    """δ, unit of privacy and relation, to stand beside ε."""
    return f"δ = {run.delta:g} · {unit_line(table)}"


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
    _tile("released", "ε spent", f"{run.spent_epsilon:.3g}", budget_words(run, table), meaning)


def _sizes_tile(run: Run) -> None:
    sizes = run.noisy_weights
    if sizes is None:
        _tile("released" if run.private else "revealed", "Smallest cluster", "none", "the last step measured no sizes")
        return
    low, high = number(max(0.0, float(sizes.min()))), number(float(sizes.max()))
    _tile("released", "Smallest cluster", low, f"rows, with noise; the largest has {high}")


def _loss_tile(scores: _Judged | None, table: OpenTable, *, of: str) -> None:
    meaning = (
        "Mean squared distance of a row to its nearest centre, over that of k-means++ without privacy. Both read the "
        "rows as the declared bounds leave them."
    )
    if scores is None:
        value, why = ("…", "k-means++ is being computed") if reveal_allowed(table) else ("hidden", "Show truth is off")
        _tile("revealed", "Loss ratio", value, why, meaning)
        return
    found = scores.scores
    detail = f"{number(found.nicv)} {of} against {number(found.nicv_kmeans)} of k-means++, unit coordinates²"
    if table.kind is FileKind.PRIVATE:
        detail += ". What clipping costs beside this is not read from a private file"
    _tile("revealed", "Loss ratio", times(found.ratio), detail, meaning)
    if found.clipping > 0 and table.kind is not FileKind.PRIVATE:
        moved = "mean squared distance that the bounds alone move a row, unit coordinates²; in no other number here"
        _tile("revealed", "Clipping", number(found.clipping), moved)


def _labels_tile(labels: _Labels) -> None:
    shown = "none" if isnan(labels.accuracy) else f"{100 * labels.accuracy:.3g} %"
    left_out = f"; {labels.unlabelled:,d} without a label are left out" if labels.unlabelled else ""
    _tile("revealed", "Label accuracy", shown, f"rows that share the commonest label of their cluster{left_out}")


class _Labels(NamedTuple):
    """How well known groups are met, and how many rows are in none."""

    accuracy: float
    unlabelled: int


class _Judged:
    """Scores of one run, kept so that a rerun of the page does not read the rows again."""

    def __init__(self, scores: Scores, labels: _Labels | None) -> None:
        self.scores = scores
        self.labels = labels


def scores_of(table: OpenTable, result: Result, reference: Reference | None) -> _Judged | None:
    """Scores of a run against revealed rows, if the owner allows looks and the reference is there."""
    per_row = result.run.points_per_row
    rows = judged(table, "loss of a run", LookKind.LOSS, points_per_row=per_row) if reference is not None else None
    if rows is None or reference is None:
        return None
    kept = cast("dict[str, Any] | None", st.session_state.get(_SCORES))
    if kept is None or kept["run"] is not result.run:
        centers = result.run.unit_centers
        codes, known = (None if table.labels is None else table.labels[rows.kept]), None
        if codes is not None:
            known = _Labels(label_accuracy(codes, assign(rows.points, centers)), int((codes < 0).sum()))
        kept = {"run": result.run, "scores": _Judged(evaluate(rows, centers, reference), known)}
        st.session_state[_SCORES] = kept
    return cast(_Judged, kept["scores"])


def ledger_of(run: Run) -> pd.DataFrame:
    """Every charge of a run as a table."""
    rows = [
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
    return pd.DataFrame(rows)


def downloads(record: ReleaseRecord) -> None:
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
            on_click="ignore",
            key="download_centers",
        )
        st.download_button(
            "Run (JSON)",
            run_json(record).encode("utf-8"),
            f"{stem}_run.json",
            "application/json",
            icon=":material/data_object:",
            on_click="ignore",
            key="download_run",
        )
    st.caption(
        f"{badge_text('released')} Both files hold released values only: centres in data units, noisy sizes; the JSON "
        "also what was declared, the ledger, and how often anybody looked at the rows. How long the run took is in "
        "neither: it depends on the rows."
    )
    if record.note:
        st.caption(f":material/warning: {plain(record.note)} Each file says so inside and by its name.")
