"""The papers' claims: a scoreboard, and behind each line what the paper says, what our runs say, and the figure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

import pandas as pd
import plotly.graph_objects as go
import streamlit as st
from pandas.io.formats.style import Styler

from dpviz.charts.studies.claim_figure import ClaimFigure
from dpviz.charts.theme import palette
from dpviz.claims.claim import Claim, Finding, Outcome, Verdict
from dpviz.claims.registry import CLAIMS
from dpviz.claims.shipped import FROM_FILES, Shipped, shipped
from dpviz.glossary import explained, words_of
from dpviz.ui.badges import badged
from dpviz.ui.escape import plain
from dpviz.ui.figure import data_table, show_wide

_PAGE_WIDTH = 720
_STAND_INS, _FILES = "generated stand-ins", "published files"
_CHOSEN, _BOARD = "papers:claim", "papers:board"
_ROW_PIXELS = 35


class _Look(NamedTuple):
    """Of a verdict. Orange is none of them: it is what was revealed."""

    color: Literal["green", "violet", "red"]
    icon: str


class _Figure(NamedTuple):
    figure: go.Figure
    alt: str


_LOOKS = {
    Outcome.HOLDS: _Look("green", ":material/check_circle:"),
    Outcome.IN_PART: _Look("violet", ":material/contrast:"),
    Outcome.FAILS: _Look("red", ":material/cancel:"),
}
_COLUMNS = {
    "verdict": st.column_config.TextColumn("verdict", width=70),
    "paper": st.column_config.TextColumn("paper", width=190),
    "findings": st.column_config.TextColumn("hold", width=56, help="How many of its findings hold."),
    "decides": st.column_config.TextColumn(
        "what decides", width=310, help="The finding that fails by most or, where all hold, the closest one."
    ),
    "asked": st.column_config.TextColumn("paper says", width=175),
    "found": st.column_config.TextColumn("our runs", width=180),
}


def papers_list() -> None:
    """The scoreboard of all claims; of the chosen one its findings, its figures and the table behind them."""
    results = {claim_id: result for claim_id, claim in CLAIMS.items() if (result := shipped(claim)) is not None}
    verdicts = {claim_id: _verdict(claim_id, result.table) for claim_id, result in results.items()}
    if not verdicts:
        st.info(
            "No tables of results lie beside these pages. `python -m dpviz reproduce --quick --out DIR` makes them.",
            title="Nothing has been reproduced here yet",
            icon=":material/science:",
        )
        return
    st.subheader(plain(headline(verdicts)), anchor=False)
    _scoreboard(verdicts)
    missing = [claim for claim_id, claim in CLAIMS.items() if claim_id not in verdicts]
    if missing:
        st.caption(f"Not computed here yet: {'; '.join(plain(claim.paper) for claim in missing)}.")
    chosen = st.selectbox(
        "Claim",
        list(verdicts),
        format_func=lambda claim_id: f"{CLAIMS[claim_id].paper}: {verdicts[claim_id].outcome.value}",
        key=_CHOSEN,
    )
    _claim(CLAIMS[chosen], _source(CLAIMS[chosen], results[chosen]))


def headline(verdicts: Mapping[str, Verdict]) -> str:
    """How many claims there are, and what became of them."""
    counts = [(outcome, sum(v.outcome is outcome for v in verdicts.values())) for outcome in Outcome]
    parts = [f"{number:d} {_verb(outcome, number)}" for outcome, number in counts if number]
    said = parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
    return f"Of {len(verdicts):d} claims, run again: {said}"


def scores(verdicts: Mapping[str, Verdict]) -> pd.DataFrame:
    """A line a claim: its verdict, and of the finding that decides what the paper says beside what our runs gave."""
    lines = [
        {
            "verdict": _SHORT[verdict.outcome],
            "paper": CLAIMS[claim_id].paper,
            "findings": f"{sum(finding.holds for finding in verdict.findings)} of {len(verdict.findings)}",
            "decides": verdict.closest.says,
            "asked": verdict.closest.paper,
            "found": verdict.closest.ours,
        }
        for claim_id, verdict in verdicts.items()
    ]
    return pd.DataFrame(lines, index=list(verdicts), columns=list(_COLUMNS))


def _verb(outcome: Outcome, number: int) -> str:
    many = {Outcome.HOLDS: "hold", Outcome.IN_PART: "hold in part", Outcome.FAILS: "do not hold"}
    return outcome.value if number == 1 else many[outcome]


def _scoreboard(verdicts: Mapping[str, Verdict]) -> None:
    board = scores(verdicts)
    outcomes = [verdict.outcome for verdict in verdicts.values()]
    st.dataframe(
        _inked(board),
        hide_index=True,
        height=_ROW_PIXELS * (len(board) + 1) + 3,
        column_config=_COLUMNS,
        key=_BOARD,
        on_select=lambda: _choose(list(verdicts)),
        selection_mode="single-row",
        alt=f"{headline(verdicts)}. A line a claim: {', '.join(outcome.value for outcome in outcomes)}.",
    )
    st.caption("Choose a line, or a claim below, for its findings and figures.")


# Text of a verdict on a light and a dark table.
_SHORT = {Outcome.HOLDS: "holds", Outcome.IN_PART: "in part", Outcome.FAILS: "fails"}
_INKS = {"holds": ("#0b6b3a", "#5fd394"), "in part": ("#6a3fc0", "#c3a6ff"), "fails": ("#b3202c", "#ff8f94")}


def _inked(lines: pd.DataFrame) -> Styler:
    """The lines with their verdicts in colour."""
    dark = st.context.theme.type == "dark"
    return lines.style.map(lambda text: f"color: {_INKS[text][dark]}; font-weight: 600", subset=["verdict"])


def _choose(claims: list[str]) -> None:
    """Show the claim whose line was chosen."""
    rows = st.session_state[_BOARD].selection.rows
    if rows:
        st.session_state[_CHOSEN] = claims[rows[0]]


# Judging all claims takes some 2 seconds, drawing one up to 1: what anybody sees is worked out once a server.
@st.cache_data(max_entries=4 * len(CLAIMS), show_spinner=False)
def _verdict(claim_id: str, table: pd.DataFrame) -> Verdict:
    return CLAIMS[claim_id].judge(table)


@st.cache_data(max_entries=4 * len(CLAIMS), show_spinner=False)
def _figures(claim_id: str, table: pd.DataFrame, theme: str | None) -> list[_Figure]:
    """The figures of a claim in the colours of a theme, and what they show in words."""
    finding, colors = _verdict(claim_id, table).sentence, palette(theme)
    shown = [ClaimFigure(table, picture, finding) for picture in CLAIMS[claim_id].pictures]
    return [_Figure(each.draw(colors, width=_PAGE_WIDTH), each.words()) for each in shown]


def _source(claim: Claim, from_stand_ins: Shipped) -> Shipped:
    """Which of its results is shown, where there are two."""
    from_files = shipped(claim, FROM_FILES)
    if from_files is None:
        return from_stand_ins
    choice = st.segmented_control(
        "Computed from",
        [_STAND_INS, _FILES],
        default=_STAND_INS,
        required=True,
        key=f"papers:source:{claim.id}",
        help=explained("stand-in", "These have the n, d and k of the papers' tables."),
    )
    return from_files if choice == _FILES else from_stand_ins


def _claim(claim: Claim, result: Shipped) -> None:
    verdict = _verdict(claim.id, result.table)
    words = " ".join([claim.claim, *map(_finding, verdict.findings)])
    st.markdown(f"{_outcome(verdict)} {plain(claim.claim)}", help=words_of(words))
    st.dataframe(
        _inked(_findings(verdict)),
        hide_index=True,
        height=_ROW_PIXELS * (len(verdict.findings) + 1) + 3,
        column_config=_COLUMNS | {"finding": st.column_config.TextColumn("finding", width=460)},
        alt=f"{claim.paper}: {verdict.sentence}.",
    )
    for place, (figure, alt) in enumerate(_figures(claim.id, result.table, st.context.theme.type)):
        show_wide(figure, alt=alt, key=f"papers:{claim.id}:{place}", stem=f"{claim.id}-{place + 1}")
    with st.expander("How each finding was judged"):
        for finding in verdict.findings:
            st.markdown(_finding(finding))
        st.caption(f"Computed by {plain(result.how.replace('`', ''))}. Data: {'; '.join(_origins(result))}.")
        for note in claim.notes:
            st.caption(plain(note))
        st.caption(
            "Advantage: how many times larger the loss of the one that the paper calls worse is. Margin: how far a "
            "finding is from tipping; above 1× it holds."
        )
        badged("revealed", "Losses are measured on the rows themselves, of public or generated tables.")
    with st.expander("The table behind it"):
        data_table(result.table, alt=f"Runs behind {claim.paper}")


def _findings(verdict: Verdict) -> pd.DataFrame:
    """A line a finding."""
    lines = [
        ("holds" if finding.holds else "fails", finding.says, finding.paper, finding.ours)
        for finding in verdict.findings
    ]
    return pd.DataFrame(lines, columns=["verdict", "finding", "asked", "found"])


def _outcome(verdict: Verdict) -> str:
    look = _LOOKS[verdict.outcome]
    return f":{look.color}-badge[{look.icon} {plain(verdict.outcome.value)}]"


def _finding(finding: Finding) -> str:
    sign = ":green[:material/check:]" if finding.holds else ":red[:material/close:]"
    text = f"{sign} {plain(finding.says)}: {plain(finding.found)}; margin {finding.margin:.4g}×."
    return f"{text} *Reason: {plain(finding.reason)}.*" if finding.reason else text


def _origins(result: Shipped) -> list[str]:
    pairs = result.table[["data", "origin"]].drop_duplicates()
    return [plain(f"{row.data} ({row.origin})") for row in pairs.itertuples()]
