"""The papers' claims: a scoreboard, and behind each line what the paper says, what our runs say, and the figure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

import pandas as pd
import plotly.graph_objects as go
import streamlit as st
from pandas.io.formats.style import Styler

from dpviz.charts.studies.claim_figure import ClaimFigure
from dpviz.charts.theme import choose_palette
from dpviz.claims.claim import Claim, Finding, Outcome, Verdict
from dpviz.claims.factors import WORDS
from dpviz.claims.redraw import DRAWS, SEED
from dpviz.claims.registry import CLAIMS
from dpviz.claims.shipped import FROM_FILES, Shipped, shipped
from dpviz.glossary import explain_term, explain_words
from dpviz.ui.badges import draw_caption_with_badge
from dpviz.ui.escape import escape_markdown
from dpviz.ui.figure import draw_data_table, show_wide

_PAGE_WIDTH = 720
_STAND_INS, _FILES = "generated stand-ins", "published files"
_CHOSEN, _BOARD = "papers:claim", "papers:board"
# Of a line, and of one whose sentences are broken.
_ROW_PIXELS, _FINDING_PIXELS = 35, 92


class _Look(NamedTuple):
    """Of a verdict. Orange is none of them: it is what was revealed."""

    color: Literal["green", "violet", "red", "yellow"]
    icon: str


class _Figure(NamedTuple):
    figure: go.Figure
    alt: str


_LOOKS = {
    Outcome.HOLDS: _Look("green", ":material/check_circle:"),
    Outcome.IN_PART: _Look("violet", ":material/contrast:"),
    Outcome.FAILS: _Look("red", ":material/cancel:"),
    Outcome.UNDECIDED: _Look("yellow", ":material/question_mark:"),
}
_MADE_HELP = "As the paper ran it, on tables of the paper's n, d and k that are made here."
_FILES_HELP = "As the paper ran it, on published files where there are some."
_TODAY_HELP = "Against what is run today, where that differs: tuned, or composed exactly. On tables that are made here."
_COLUMNS = {
    "paper": st.column_config.TextColumn("paper", width=236),
    "made": st.column_config.TextColumn("stand-ins", width=94, help=_MADE_HELP),
    "files": st.column_config.TextColumn("published", width=94, help=_FILES_HELP),
    "today": st.column_config.TextColumn("today", width=94, help=_TODAY_HELP),
    "findings": st.column_config.TextColumn("hold", width=56, help="How many of its findings hold, on stand-ins."),
    "margin": st.column_config.TextColumn(
        "margin, nine in ten", width=185, help="Above 1× it holds; undecided where the interval holds 1."
    ),
    "decides": st.column_config.TextColumn(
        "what decides", width=240, help="The finding that fails by most or, where all hold, the closest one."
    ),
    "asked": st.column_config.TextColumn("paper says", width=130),
    "found": st.column_config.TextColumn("our runs", width=130),
}
_FINDINGS = {
    "finding": st.column_config.TextColumn("finding", width=210),
    "made": st.column_config.TextColumn("stand-ins", width=175, help=_MADE_HELP),
    "files": st.column_config.TextColumn("published files", width=175, help=_FILES_HELP),
    "today": st.column_config.TextColumn("today, stand-ins", width=175, help=_TODAY_HELP),
    "asked": st.column_config.TextColumn("paper says", width=100),
}
_NONE = "–"


def papers_list() -> None:
    """The scoreboard of all claims; of the chosen one its findings, its figures and the table behind them."""
    results = {claim_id: result for claim_id, claim in CLAIMS.items() if (result := shipped(claim)) is not None}
    verdicts = {claim_id: _of(claim_id, result) for claim_id, result in results.items()}
    from_files = {claim_id: _of(claim_id, found) for claim_id in results if (found := _published(claim_id)) is not None}
    if not verdicts:
        st.info(
            "No tables of results lie beside these pages. `python -m dpviz reproduce --quick --out DIR` makes them.",
            title="Nothing has been reproduced here yet",
            icon=":material/science:",
        )
        return
    st.subheader(escape_markdown(headline(verdicts)), anchor=False)
    _scoreboard(verdicts, from_files)
    missing = [claim for claim_id, claim in CLAIMS.items() if claim_id not in verdicts]
    if missing:
        st.caption(f"Not computed here yet: {'; '.join(escape_markdown(claim.paper) for claim in missing)}.")
    chosen = st.selectbox(
        "Claim",
        list(verdicts),
        format_func=lambda claim_id: f"{CLAIMS[claim_id].paper}: {verdicts[claim_id].outcome.value}",
        key=_CHOSEN,
    )
    _claim(CLAIMS[chosen], results[chosen], verdicts[chosen], from_files.get(chosen))


def headline(verdicts: Mapping[str, Verdict]) -> str:
    """How many claims there are, and what became of them."""
    counts = [(outcome, sum(v.outcome is outcome for v in verdicts.values())) for outcome in Outcome]
    parts = [f"{number:d} {_verb(outcome, number)}" for outcome, number in counts if number]
    said = parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
    return f"Of {len(verdicts):d} claims, run again as the papers ran them: {said}"


def scores(verdicts: Mapping[str, Verdict], from_files: Mapping[str, Verdict]) -> pd.DataFrame:
    """A line a claim: its verdicts, and of the finding that decides what the paper says beside what our runs gave."""
    lines = [
        {
            "paper": CLAIMS[claim_id].paper,
            "made": _short(verdict),
            "files": _short(from_files.get(claim_id)),
            "today": _short(verdict.today),
            "findings": f"{verdict.number(Outcome.HOLDS)} of {len(verdict.findings)}",
            "margin": _margin(verdict.closest),
            "decides": verdict.closest.says,
            "asked": verdict.closest.paper,
            "found": verdict.closest.ours,
        }
        for claim_id, verdict in verdicts.items()
    ]
    return pd.DataFrame(lines, index=list(verdicts), columns=list(_COLUMNS))


def _verb(outcome: Outcome, number: int) -> str:
    one = {Outcome.UNDECIDED: "is undecided"}
    many = {
        Outcome.HOLDS: "hold",
        Outcome.IN_PART: "hold in part",
        Outcome.FAILS: "do not hold",
        Outcome.UNDECIDED: "are undecided",
    }
    return one.get(outcome, outcome.value) if number == 1 else many[outcome]


def _short(verdict: Verdict | None) -> str:
    return _NONE if verdict is None else _SHORT[verdict.outcome]


def _margin(finding: Finding) -> str:
    """The margin, and where it lies in nine of ten redraws."""
    between = finding.interval
    drawn = "" if between is None or between.low == between.high else f", {between.low:.3g} to {between.high:.3g}"
    return f"{finding.margin:.3g}×{drawn}"


def _scoreboard(verdicts: Mapping[str, Verdict], from_files: Mapping[str, Verdict]) -> None:
    board = scores(verdicts, from_files)
    outcomes = [verdict.outcome for verdict in verdicts.values()]
    st.dataframe(
        _inked(board, ["made", "files", "today"]),
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
_SHORT = {
    Outcome.HOLDS: "holds",
    Outcome.IN_PART: "in part",
    Outcome.FAILS: "fails",
    Outcome.UNDECIDED: "undecided",
}
_INKS = {
    "holds": ("#0b6b3a", "#5fd394"),
    "in part": ("#6a3fc0", "#c3a6ff"),
    "fails": ("#b3202c", "#ff8f94"),
    "undecided": ("#735700", "#e3c25a"),
}


def _inked(lines: pd.DataFrame, columns: list[str]) -> Styler:
    """The lines with the cells of these columns, which begin with a verdict, in its colour."""
    dark = st.context.theme.type == "dark"

    def ink(text: object) -> str:
        inks = _INKS.get(str(text).split(":")[0])
        return "" if inks is None else f"color: {inks[dark]}; font-weight: 600"

    return lines.style.map(ink, subset=pd.Index(columns))


def _choose(claims: list[str]) -> None:
    """Show the claim whose line was chosen."""
    rows = st.session_state[_BOARD].selection.rows
    if rows:
        st.session_state[_CHOSEN] = claims[rows[0]]


# Judging all claims takes some 2 seconds, drawing one up to 1: what anybody sees is worked out once a server.
@st.cache_data(max_entries=4 * len(CLAIMS), show_spinner=False)
def _verdict(claim_id: str, table: pd.DataFrame, lines: pd.DataFrame) -> Verdict:
    return Shipped(table, {}, lines).verdict(CLAIMS[claim_id])


def _of(claim_id: str, result: Shipped) -> Verdict:
    return _verdict(claim_id, result.table, result.lines)


def _published(claim_id: str) -> Shipped | None:
    return shipped(CLAIMS[claim_id], FROM_FILES)


@st.cache_data(max_entries=4 * len(CLAIMS), show_spinner=False)
def _figures(claim_id: str, table: pd.DataFrame, sentence: str, theme: str | None) -> list[_Figure]:
    """The figures of a claim in the colours of a theme, and what they show in words."""
    colors = choose_palette(theme)
    shown = [ClaimFigure(table, picture, sentence) for picture in CLAIMS[claim_id].pictures]
    return [_Figure(each.draw(colors, width=_PAGE_WIDTH), each.words()) for each in shown]


def _source(claim: Claim, from_stand_ins: Shipped) -> Shipped:
    """Which of its results the figures show, where there are two."""
    from_files = _published(claim.id)
    if from_files is None:
        return from_stand_ins
    choice = st.segmented_control(
        "Figures and reasons from",
        [_STAND_INS, _FILES],
        default=_STAND_INS,
        required=True,
        key=f"papers:source:{claim.id}",
        help=explain_term("stand-in", "These have the n, d and k of the papers' tables."),
    )
    return from_files if choice == _FILES else from_stand_ins


def _claim(claim: Claim, from_stand_ins: Shipped, made: Verdict, files: Verdict | None) -> None:
    words = " ".join([claim.claim, *map(_finding, made.findings)])
    st.markdown(f"{_outcome(made)} {escape_markdown(claim.claim)}", help=explain_words(words))
    st.dataframe(
        _inked(findings(made, files), ["made", "files", "today"]),
        hide_index=True,
        height=_ROW_PIXELS + _FINDING_PIXELS * len(made.findings) + 3,
        row_height=_FINDING_PIXELS,
        column_config=_FINDINGS,
        alt=f"{claim.paper}: {made.sentence}.",
    )
    result = _source(claim, from_stand_ins)
    verdict = _of(claim.id, result)
    for place, (figure, alt) in enumerate(_figures(claim.id, result.table, verdict.sentence, st.context.theme.type)):
        show_wide(figure, alt=alt, key=f"papers:{claim.id}:{place}", stem=f"{claim.id}-{place + 1}")
    with st.expander("How each finding was judged"):
        _reasons(claim, result, verdict)
    with st.expander("The table behind it"):
        draw_data_table(result.table, alt=f"Runs behind {claim.paper}")


def _reasons(claim: Claim, result: Shipped, verdict: Verdict) -> None:
    for finding in verdict.findings:
        st.markdown(_finding(finding))
        if finding.today is not None:
            st.markdown(f"Today: {_finding(finding.today)}")
    st.caption(f"Computed by {escape_markdown(result.how.replace('`', ''))}. Data: {'; '.join(_origins(result))}.")
    for note in claim.notes:
        st.caption(escape_markdown(note))
    st.caption(
        "Advantage: how many times larger the loss of the one that the paper calls worse is. Margin: how far a "
        "finding is from tipping; above 1× it holds. Behind it, where it lies in nine of ten tables whose runs were "
        f"drawn again with replacement ({DRAWS} draws, numpy's PCG64 with seed {SEED}); where that interval crosses 1, "
        "the finding is undecided."
    )
    said = "; ".join(f"{word}: {meaning}" for word, meaning in WORDS.items())
    st.caption(escape_markdown(f"What words come to, chosen by us: {said}."))
    draw_caption_with_badge("revealed", "Losses are measured on the rows themselves, of public or generated tables.")


def findings(made: Verdict, files: Verdict | None) -> pd.DataFrame:
    """A line a finding: what came of it on stand-ins, on published files, and today, beside what the paper says."""
    published = [None] * len(made.findings) if files is None else files.findings
    lines = [
        (finding.says, _cell(finding), _cell(of_files), _cell(finding.today), finding.paper)
        for finding, of_files in zip(made.findings, published, strict=True)
    ]
    return pd.DataFrame(lines, columns=list(_FINDINGS))


def _cell(finding: Finding | None) -> str:
    return _NONE if finding is None else f"{_SHORT[finding.outcome]}: {finding.ours}; {_margin(finding)}"


def _outcome(verdict: Verdict) -> str:
    look = _LOOKS[verdict.outcome]
    return f":{look.color}-badge[{look.icon} {escape_markdown(verdict.outcome.value)}]"


def _finding(finding: Finding) -> str:
    look = _LOOKS[finding.outcome]
    text = (
        f":{look.color}[{look.icon}] {escape_markdown(finding.says)}: {escape_markdown(finding.found)}; "
        f"margin {_margin(finding)}."
    )
    return f"{text} *Reason: {escape_markdown(finding.reason)}.*" if finding.outcome is Outcome.FAILS else text


def _origins(result: Shipped) -> list[str]:
    pairs = result.table[["data", "origin"]].drop_duplicates()
    return [escape_markdown(f"{row.data} ({row.origin})") for row in pairs.itertuples()]
