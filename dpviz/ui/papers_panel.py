"""The papers' claims: what they say, what our runs say, the figure, and the table behind it."""

from __future__ import annotations

from typing import Literal, NamedTuple

import streamlit as st

from dpviz.charts.studies.claim_figure import describe_claim, draw_claim
from dpviz.charts.theme import palette
from dpviz.claims.claim import Claim, Finding, Outcome, Verdict
from dpviz.claims.registry import CLAIMS
from dpviz.claims.shipped import FROM_FILES, Shipped, shipped
from dpviz.ui.badges import badge_text
from dpviz.ui.escape import plain
from dpviz.ui.figure import data_table
from dpviz.ui.wide_figure import show_wide

_PAGE_WIDTH = 720
_STAND_INS, _FILES = "generated stand-ins", "published files"


class _Look(NamedTuple):
    color: Literal["green", "orange", "red"]
    icon: str


_LOOKS = {
    Outcome.HOLDS: _Look("green", ":material/check_circle:"),
    Outcome.IN_PART: _Look("orange", ":material/contrast:"),
    Outcome.FAILS: _Look("red", ":material/cancel:"),
}


def papers_list() -> None:
    """Every claim in a fold of its own, with its verdict on it; one may be open."""
    found = {claim_id: shipped(claim) for claim_id, claim in CLAIMS.items()}
    judged = {claim_id: CLAIMS[claim_id].judge(one.table) for claim_id, one in found.items() if one is not None}
    if not judged:
        st.info(
            "Tables of results lie in a checkout of the project, not in an installed package. "
            "`python -m dpviz reproduce --quick --out DIR` makes them.",
            title="Nothing has been reproduced here yet",
            icon=":material/science:",
        )
        return
    _count(list(judged.values()))
    chosen = st.selectbox(
        "Claim",
        list(judged),
        format_func=lambda claim_id: f"{CLAIMS[claim_id].paper}: {judged[claim_id].outcome.value}",
        key="papers:claim",
    )
    one = _source(CLAIMS[chosen], found[chosen])
    _claim(CLAIMS[chosen], one, CLAIMS[chosen].judge(one.table))
    _overview(judged)
    missing = [claim for claim_id, claim in CLAIMS.items() if claim_id not in judged]
    if missing:
        st.caption(f"Not computed here yet: {'; '.join(plain(claim.paper) for claim in missing)}.")


def _source(claim: Claim, from_stand_ins: Shipped | None) -> Shipped:
    """Which of its results is shown, where there are two."""
    assert from_stand_ins is not None
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


def _claim(claim: Claim, one: Shipped, verdict: Verdict) -> None:
    look = _LOOKS[verdict.outcome]
    with st.container(border=True):
        st.markdown(f"**{plain(claim.paper)}** :{look.color}-badge[{look.icon} {plain(verdict.outcome.value)}]")
        st.markdown(plain(claim.claim))
        for finding in verdict.findings:
            st.markdown(_finding(finding))
        st.caption(f"Computed by {plain(one.how)}. Data: {'; '.join(_origins(one))}.")
        for note in claim.notes:
            st.caption(plain(note))
    colors = palette(st.context.theme.type)
    for place, picture in enumerate(claim.pictures):
        figure = draw_claim(one.table, picture, finding=verdict.sentence, palette=colors, width=_PAGE_WIDTH)
        show_wide(
            figure,
            alt=describe_claim(one.table, picture, finding=verdict.sentence),
            key=f"papers:{claim.id}:{place}",
            stem=f"{claim.id}-{place + 1}",
        )
    with st.expander("The table behind it"):
        data_table(one.table, alt=f"Runs behind {claim.paper}")


def _finding(finding: Finding) -> str:
    sign = ":green[:material/check:]" if finding.holds else ":red[:material/close:]"
    text = f"{sign} {plain(finding.says)}: {plain(finding.found)}; margin {finding.margin:.4g}×."
    return f"{text} *Reason: {plain(finding.reason)}.*" if finding.reason else text


def _origins(one: Shipped) -> list[str]:
    pairs = one.table[["data", "origin"]].drop_duplicates()
    return [plain(f"{row.data} ({row.origin})") for row in pairs.itertuples()]


def _overview(judged: dict[str, Verdict]) -> None:
    st.subheader("All claims", divider="gray")
    for claim_id, verdict in judged.items():
        look = _LOOKS[verdict.outcome]
        claim = CLAIMS[claim_id]
        outcome = f":{look.color}-badge[{look.icon} {plain(verdict.outcome.value)}]"
        st.markdown(f"{outcome} **{plain(claim.paper)}** {plain(claim.claim)}")
