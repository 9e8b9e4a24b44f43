"""The papers' claims: what they say, what our runs say, the figure, and the table behind it."""

from __future__ import annotations

from typing import Literal, NamedTuple

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from dpviz.charts.studies.claim_figure import ClaimFigure
from dpviz.charts.theme import palette
from dpviz.claims.claim import Claim, Finding, Outcome, Verdict
from dpviz.claims.registry import CLAIMS
from dpviz.claims.shipped import FROM_FILES, Shipped, shipped
from dpviz.ui.badges import badge_text
from dpviz.ui.escape import plain
from dpviz.ui.figure import data_table, show_wide

_PAGE_WIDTH = 720
_STAND_INS, _FILES = "generated stand-ins", "published files"


class _Look(NamedTuple):
    color: Literal["green", "orange", "red"]
    icon: str


class _Figure(NamedTuple):
    figure: go.Figure
    alt: str


_LOOKS = {
    Outcome.HOLDS: _Look("green", ":material/check_circle:"),
    Outcome.IN_PART: _Look("orange", ":material/contrast:"),
    Outcome.FAILS: _Look("red", ":material/cancel:"),
}


def papers_list() -> None:
    """Every claim with its verdict; one of them with its figures and the table behind them."""
    results = {claim_id: result for claim_id, claim in CLAIMS.items() if (result := shipped(claim)) is not None}
    verdicts = {claim_id: _verdict(claim_id, result.table) for claim_id, result in results.items()}
    if not verdicts:
        st.info(
            "No tables of results lie beside these pages. `python -m dpviz reproduce --quick --out DIR` makes them.",
            title="Nothing has been reproduced here yet",
            icon=":material/science:",
        )
        return
    _count(list(verdicts.values()))
    chosen = st.selectbox(
        "Claim",
        list(verdicts),
        format_func=lambda claim_id: f"{CLAIMS[claim_id].paper}: {verdicts[claim_id].outcome.value}",
        key="papers:claim",
    )
    _claim(CLAIMS[chosen], _source(CLAIMS[chosen], results[chosen]))
    st.subheader("All claims", divider="gray")
    for claim_id, verdict in verdicts.items():
        claim = CLAIMS[claim_id]
        st.markdown(f"{_outcome(verdict)} **{plain(claim.paper)}** {plain(claim.claim)}")
    missing = [claim for claim_id, claim in CLAIMS.items() if claim_id not in verdicts]
    if missing:
        st.caption(f"Not computed here yet: {'; '.join(plain(claim.paper) for claim in missing)}.")


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
        help="The papers' tables are generated anew, same n, d and k, or read from published files where we had them.",
    )
    return from_files if choice == _FILES else from_stand_ins


def _count(verdicts: list[Verdict]) -> None:
    with st.container(horizontal=True, gap="xsmall"):
        for outcome, look in _LOOKS.items():
            number = sum(verdict.outcome is outcome for verdict in verdicts)
            if number:
                st.badge(f"{plain(outcome.value)}: {number:d}", icon=look.icon, color=look.color)
    st.caption(
        "Advantage: the loss of whoever should lose over the loss of whoever should win. Margin: how far the place "
        f"that decides is from tipping; above 1× the finding holds. {badge_text('revealed')} Losses are measured on "
        "the rows themselves, of public or generated tables."
    )


def _claim(claim: Claim, result: Shipped) -> None:
    verdict = _verdict(claim.id, result.table)
    with st.container(border=True):
        st.markdown(f"**{plain(claim.paper)}** {_outcome(verdict)}")
        st.markdown(plain(claim.claim))
        for finding in verdict.findings:
            st.markdown(_finding(finding))
        st.caption(f"Computed by {plain(result.how.replace('`', ''))}. Data: {'; '.join(_origins(result))}.")
        for note in claim.notes:
            st.caption(plain(note))
    for place, (figure, alt) in enumerate(_figures(claim.id, result.table, st.context.theme.type)):
        show_wide(figure, alt=alt, key=f"papers:{claim.id}:{place}", stem=f"{claim.id}-{place + 1}")
    with st.expander("The table behind it"):
        data_table(result.table, alt=f"Runs behind {claim.paper}")


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
