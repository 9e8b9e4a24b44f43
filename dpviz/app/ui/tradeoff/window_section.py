"""The two questions behind ε: which loss and which risk are accepted; and the window between them, on every page."""

from __future__ import annotations

from typing import NamedTuple

import streamlit as st

from dpviz.algorithms import AUTO
from dpviz.app.charts.meaning import draw_epsilon_window
from dpviz.app.ui.controls import recall_division
from dpviz.app.ui.escape import escape_markdown
from dpviz.app.ui.figure import draw_data_table, show
from dpviz.app.ui.session import list_bought_rows, recall, remember
from dpviz.app.ui.studies.judged_rows import find_known_rows
from dpviz.core import RequestError, check
from dpviz.releases import promise
from dpviz.runs import Contender, KnownRows, OpenTable, Request, RowsAdvice, Target, format_epsilon, windows
from dpviz.tables import declarations
from dpviz.words import choose_palette, format_percent, glossary

_KEY = "window"
_LOSS = "tradeoff:smallest"
SHARES = (0.5, Target().share, 0.9)
_PRIORS = (0.01, 0.05, 0.1, 0.2, 0.3, 0.5)
_POSTERIORS = (0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.75, 0.9, 0.95)


class Accepted(NamedTuple):
    """What an owner accepts: a loss, a risk; and about how many rows there are, and how many of one person."""

    rows: KnownRows | None
    of_a_person: int
    target: Target
    risk: windows.Risk

    def allow(self, table: OpenTable) -> float:
        """The largest ε that keeps the risk: what one person may have beyond what ε protects counts."""
        return self.risk.allow(windows.count_times(table.private.rows_per_person, self.of_a_person))

    def find_window(self, answer: RowsAdvice | None) -> windows.Window | None:
        """The window around what was advised; None where the stored study has no such tables."""
        if answer is None or not answer.is_studied:
            return None
        return windows.Window.of(answer, self.risk, rows_of_a_person=self.of_a_person)


def ask_advice(table: OpenTable, rows: KnownRows | None, target: Target, *, k: int, delta: float) -> RowsAdvice | None:
    """Which ε of a release the stored study advises for a table; None of a sparse one, of which it has none."""
    if table.private.sparse:
        return None
    setting = Request(Contender(AUTO), k, 1.0, delta).make_setting(table.private)
    return RowsAdvice.of(rows, setting, target=target, share=recall_division().find_share())


def draw_questions(table: OpenTable) -> Accepted:
    """Ask what is accepted; the answers are kept for the visit and asked of every page."""
    with st.container(border=True), st.grid(min_column_width=150):
        rows = _ask_rows(table)
        a_person = st.number_input(
            "Rows a person",
            *(1, check.MOST_ROWS_PER_PERSON),
            value=min(table.private.rows_per_person, check.MOST_ROWS_PER_PERSON),
            key=f"{_KEY}:person",
            persist_state="session",
            help="The most rows that one person may have. Without a column of persons ε protects a single row, and the "
            "risk of a person grows with each of theirs.",
        )
        prior = st.select_slider(
            "Guess of a person",
            _PRIORS,
            value=windows.USUAL_PRIOR,
            format_func=format_percent,
            key=f"{_KEY}:prior",
            persist_state="session",
            help="How likely somebody holds a fact about one person before they see the release.",
        )
        accepted = st.select_slider(
            "… may become",
            _POSTERIORS,
            value=windows.USUAL_ACCEPTED,
            format_func=format_percent,
            key=f"{_KEY}:accepted",
            persist_state="session",
            help="The risk that you accept: whatever else is known, nobody’s guess can become more than this.",
        )
        above = st.number_input(
            "% over k-means++",
            *(0.1, 1000.0, round(100 * (Target().loss - 1), 6)),
            step=1.0,
            format="%g",
            key=f"{_LOSS}:above",
            persist_state="session",
            help=glossary.explain_term(
                "loss", f"Here: how far it may at most lie above that.\n\n{glossary.explain_words('k-means++')}"
            ),
        )
        share = st.selectbox(
            "In",
            SHARES,
            index=SHARES.index(Target().share),
            format_func=lambda share: Target(share=share).describe_often(),
            key=f"{_LOSS}:share",
            persist_state="session",
            help="A release is one run. Half of all runs is what usually happens; 9 of 10 is what one can count on.",
        )
    # Whole tenths of a percent, so that 110 % is the same target wherever it is written.
    target = Target(round(1 + float(above) / 100, 6), float(share))
    said = Accepted(rows, int(a_person), target, windows.Risk(float(str(prior)), float(str(accepted))))
    return accept(table, said)


def accept(table: OpenTable, said: Accepted) -> Accepted:
    """Keep what is accepted of a table, for the visit and for every page."""
    return remember(_make_key(table), said)


def _ask_rows(table: OpenTable) -> KnownRows | None:
    before: Accepted | None = recall(_make_key(table), None)
    known = find_known_rows(table) if before is None or before.rows is None else before.rows
    written = "" if known is None else f"{known.low:,}" if known.low == known.high else f"{known.low:,}–{known.high:,}"
    text = st.text_input(
        "Rows, or a range",
        value=written,
        key=f"{_KEY}:rows:{table.source_key}",
        help="Public, or a guess from outside of the file: no row is read. Before it is said nothing is advised.",
    )
    try:
        return KnownRows.from_text(text) if text and text.strip() else None
    except RequestError as error:
        st.caption(f":red[{escape_markdown(error)}]")
        return None


def compute_window(table: OpenTable, *, k: int, delta: float, leaves: bool = False) -> windows.Window | None:
    """The window of ε for the open table by what was accepted in this visit."""
    accepted: Accepted | None = recall(_make_key(table), None)
    if leaves and accepted is not None and _is_bought(table, accepted.rows):
        accepted = accepted._replace(rows=find_stated_rows(table))
    if accepted is None or accepted.rows is None:
        return None
    try:
        return accepted.find_window(ask_advice(table, accepted.rows, accepted.target, k=k, delta=delta))
    except RequestError:
        return None


def find_stated_rows(table: OpenTable) -> KnownRows | None:
    """How many rows there are by what may leave with a release: declared, or said beside the window.

    What a run of this visit has bought is none of it: no account paid for it, and its noise is that of a study.
    """
    if table.n_public is not None:
        return KnownRows(table.n_public, table.n_public)
    accepted: Accepted | None = recall(_make_key(table), None)
    said = None if accepted is None or _is_bought(table, accepted.rows) else accepted.rows
    return KnownRows.read(table.declaration) or said


def _is_bought(table: OpenTable, rows: KnownRows | None) -> bool:
    """Whether a number of rows is one that a run of this visit has bought."""
    return any(
        rows == KnownRows.read(declarations.NOTHING_DECLARED, bought=bought) for bought in list_bought_rows(table)
    )


def say_rows_first() -> None:
    """No headline before anybody has said how many rows there are."""
    st.subheader("Say how many rows first", anchor=False)
    st.markdown(
        "No ε can be advised without it: with ten times the rows, a tenth of the ε does. A range such as "
        "*800–1,200* will do; guess it from outside of the file."
    )


def draw_window(window: windows.Window) -> None:
    """The answer, why, what would open it where there is none, and the picture."""
    picture = draw_epsilon_window(window)
    with st.container(gap="xsmall"):
        st.subheader(escape_markdown(window.finding), anchor=False)
        st.markdown(escape_markdown(window.sentence))
        if window.openings:
            with st.container(horizontal=True, gap="small"):
                for what, words in window.openings:
                    st.markdown(f":gray-badge[**{escape_markdown(what)}**: {escape_markdown(words)}]", width="content")
    plot = picture.paint(choose_palette(st.context.theme.type))
    show(plot, alt=picture.words, key=f"{_KEY}:figure", stem=picture.stem)
    more = "" if window.most_rows <= (window.setting.n or 0) else f"; dashed: {window.most_rows:,} rows"
    more += "" if not more else f", for which {format_epsilon(window.least_of_many, up=True)} would do"
    delta = window.setting.delta
    slack = f" δ = {promise.format_small(delta)}: beyond this belief with that chance." if delta > 0 else ""
    often, who = window.target.describe_often("made-up tables"), window.who or "any algorithm"
    st.caption(
        escape_markdown(
            f"Above: what a guess of {format_percent(window.risk.prior)} can become, at most. Below: the "
            f"loss that {often} "
            f"of {window.setting.n:,} rows do not exceed with {who}, and quartiles{more}.{slack} No row was read."
        )
    )
    with st.expander("The numbers"):
        draw_data_table(picture.table(), alt="Belief and loss at each ε")


def _make_key(table: OpenTable) -> str:
    return f"{_KEY}:{table.source_key}"
