"""The papers' claims: all findings in a picture, and behind each what the paper says, our runs, and its figure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from math import inf
from typing import Literal, NamedTuple

import pandas as pd
import streamlit as st
from pandas.io.formats.style import Styler

from dpviz.charts.canvas import TitledPlot
from dpviz.charts.studies.claim_figure import ClaimFigure
from dpviz.charts.studies.verdict_figure import INKS, VerdictFigure, count_answers
from dpviz.charts.theme import choose_palette
from dpviz.glossary import explain_term, explain_words
from dpviz.runs.synthetic_tables import USUAL_SPREAD
from dpviz.ui.badges import draw_caption_with_badge
from dpviz.ui.data.ways_in import SyntheticTable, open_synthetic_table
from dpviz.ui.escape import escape_markdown
from dpviz.ui.figure import draw_data_table, show, show_wide
from dpviz.ui.studies.one_setting import open_in_explore, turn_to_explore
from experiments.claim import Claim, Finding, Outcome, Verdict
from experiments.factors import WORDS
from experiments.redraw import DRAWS, PATH_DRAWS, SEED
from experiments.registry import CLAIMS
from experiments.shipped import STAND_INS, Shipped, load_shipped
from experiments.trials import find_setting

_PAGE_WIDTH = 720
_SYNTHETIC, _FILES = "synthetic tables", "published files"
_CHOSEN, _BOARD, _PICTURE = "papers:claim", "papers:board", "papers:verdicts"
# A made-up table for Explore has no more.
_MOST_CELLS = 2_000_000
# Of the heads, of a line of the board, and of a finding: above 64 pixels sentences are broken into lines.
_ROW_PIXELS, _BOARD_PIXELS, _FINDING_PIXELS = 35, 66, 92


class _Look(NamedTuple):
    """Of a verdict. Orange is none of them: it is what was revealed."""

    color: Literal["green", "violet", "red", "yellow"]
    icon: str


class _Figure(NamedTuple):
    shown: TitledPlot
    alt: str


_LOOKS = {
    Outcome.HOLDS: _Look("green", ":material/check_circle:"),
    Outcome.IN_PART: _Look("violet", ":material/contrast:"),
    Outcome.FAILS: _Look("red", ":material/cancel:"),
    Outcome.UNDECIDED: _Look("yellow", ":material/question_mark:"),
}
_RUN_HELP = (
    "As the paper ran it, on published files where there are some, else on tables by the paper's recipe or size."
)
_MADE_HELP = "The same on tables of the papers' n, d and k that are made here, where files are behind the verdict."
_TODAY_HELP = "Against what is run today, where that differs: tuned, or composed exactly."
_COLUMNS = {
    "paper": st.column_config.TextColumn("paper", width=150),
    "run": st.column_config.TextColumn("verdict", width=100, help=_RUN_HELP),
    "on": st.column_config.TextColumn("on", width=86, help="The tables that the verdict is about."),
    "made": st.column_config.TextColumn("synthetic", width=100, help=_MADE_HELP),
    "today": st.column_config.TextColumn("today", width=100, help=_TODAY_HELP),
    "findings": st.column_config.TextColumn("findings", width=76, help="How often the answer is yes, no and open."),
    "margin": st.column_config.TextColumn(
        "margin",
        width=118,
        help="And where nine in ten redraws have it. Above 1× it holds; undecided where these hold 1.",
    ),
    "decides": st.column_config.TextColumn(
        "what decides", width=240, help="The finding that fails by most or, where all hold, the closest one."
    ),
}
_FINDINGS = {
    "finding": st.column_config.TextColumn("finding", width=210),
    "run": st.column_config.TextColumn("verdict", width=175, help=_RUN_HELP),
    "made": st.column_config.TextColumn("synthetic tables", width=175, help=_MADE_HELP),
    "today": st.column_config.TextColumn("today", width=175, help=_TODAY_HELP),
    "asked": st.column_config.TextColumn("paper says", width=100),
}
_NONE = "–"


class _Result(NamedTuple):
    """What is stored of a claim, and its verdict; on synthetic tables, too, where files are behind that."""

    shipped: Shipped
    verdict: Verdict
    synthetic: Shipped | None
    on_synthetic: Verdict | None


def draw_papers() -> None:
    """All findings in a picture and all claims in a table; of the chosen one its findings, figures and runs."""
    turn_to_explore()
    results = {claim_id: result for claim_id in CLAIMS if (result := _load(claim_id)) is not None}
    if not results:
        st.info(
            "No tables of results lie beside these pages. `python -m dpviz reproduce --quick --out DIR` makes them.",
            title="Nothing has been reproduced here yet",
            icon=":material/science:",
        )
        return
    verdicts = {claim_id: result.verdict for claim_id, result in results.items()}
    st.subheader(escape_markdown(format_headline(verdicts)), anchor=False)
    st.caption(escape_markdown(format_answers(results)))
    _draw_verdicts(verdicts)
    _draw_scoreboard(results)
    missing = [claim for claim_id, claim in CLAIMS.items() if claim_id not in verdicts]
    if missing:
        st.caption(f"Not computed here yet: {'; '.join(escape_markdown(claim.paper) for claim in missing)}.")
    chosen = st.selectbox(
        "Claim",
        list(verdicts),
        format_func=lambda claim_id: f"{CLAIMS[claim_id].paper}: {verdicts[claim_id].outcome.value}",
        key=_CHOSEN,
    )
    _draw_claim(CLAIMS[chosen], results[chosen])


def _load(claim_id: str) -> _Result | None:
    claim = CLAIMS[claim_id]
    found = load_shipped(claim)
    if found is None:
        return None
    made = load_shipped(claim, STAND_INS) if found.on_files else None
    return _Result(found, _judge(claim_id, found), made, None if made is None else _judge(claim_id, made))


def format_headline(verdicts: Mapping[str, Verdict]) -> str:
    """How many findings there are, and what became of them."""
    number = sum(len(verdict.findings) for verdict in verdicts.values())
    counts = [(outcome, sum(verdict.count(outcome) for verdict in verdicts.values())) for outcome in Outcome]
    parts = [f"{count:d} {_VERBS[outcome][count != 1]}" for outcome, count in counts if count]
    said = parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
    return f"Of {number:d} findings in {len(verdicts):d} groups, run again as the papers ran them, {said}"


_VERBS = {
    Outcome.HOLDS: ("holds", "hold"),
    Outcome.IN_PART: ("holds in part", "hold in part"),
    Outcome.FAILS: ("does not", "do not"),
    Outcome.UNDECIDED: ("is open", "are open"),
}


def format_answers(results: Mapping[str, _Result]) -> str:
    """How often each paper's findings hold, and on which tables."""
    papers: dict[str, list[_Result]] = {}
    for claim_id, result in results.items():
        papers.setdefault(CLAIMS[claim_id].source, []).append(result)
    said = "; ".join(f"{paper}: {count_answers([one.verdict for one in of])}" for paper, of in papers.items())
    about = Counter(result.shipped.about for result in results.values())
    on = ", ".join(f"{number} on {kind}" for kind, number in sorted(about.items()))
    return f"{said}. Groups: {on}."


def _draw_verdicts(verdicts: Mapping[str, Verdict]) -> None:
    headline = format_headline(verdicts)
    picture = VerdictFigure([(CLAIMS[claim_id], verdict) for claim_id, verdict in verdicts.items()], headline)
    dark = st.context.theme.type == "dark"
    plot = picture.draw(choose_palette(st.context.theme.type), dark=dark).plot
    show(plot, alt=picture.words(), key=_PICTURE, stem="verdicts", on_click=lambda: _choose_mark(list(verdicts)))


def tabulate_claims(results: Mapping[str, _Result]) -> pd.DataFrame:
    """A line a claim: its verdicts, and the finding that decides; what the paper says of it stands with the claim."""
    lines = [
        {
            "paper": CLAIMS[claim_id].paper,
            "run": _short(result.verdict),
            "on": result.shipped.about,
            "made": _short(result.on_synthetic),
            "today": _short(result.verdict.today),
            "findings": count_answers([result.verdict]),
            "margin": _margin(result.verdict.closest),
            "decides": result.verdict.closest.says,
        }
        for claim_id, result in results.items()
    ]
    return pd.DataFrame(lines, index=list(results), columns=list(_COLUMNS))


def _short(verdict: Verdict | None) -> str:
    return _NONE if verdict is None else _SHORT[verdict.outcome]


def _margin(finding: Finding) -> str:
    """The margin, and where it lies in nine of ten redraws."""
    between = finding.interval
    drawn = (
        "" if between is None or between.low == between.high else f", {_round(between.low)} to {_round(between.high)}"
    )
    return f"{_round(finding.margin)}×{drawn}"


def _round(times: float) -> str:
    """Three digits, large ones written out."""
    return f"{times:.3g}" if not 1_000 <= times < inf else f"{float(f'{times:.3g}'):,.0f}"


def _draw_scoreboard(results: Mapping[str, _Result]) -> None:
    board = tabulate_claims(results)
    verdicts = {claim_id: result.verdict for claim_id, result in results.items()}
    st.dataframe(
        _color_cells(board, ["run", "made", "today"]),
        hide_index=True,
        height=_ROW_PIXELS + _BOARD_PIXELS * len(board) + 3,
        row_height=_BOARD_PIXELS,
        column_config=_COLUMNS,
        key=_BOARD,
        on_select=lambda: _choose(list(results)),
        selection_mode="single-row",
        alt=f"{format_headline(verdicts)}. A line a claim: "
        f"{', '.join(verdict.outcome.value for verdict in verdicts.values())}.",
    )
    st.caption("Choose a line, or a claim below, for its findings and figures.")


# Text of a verdict on a light and a dark table.
_SHORT = {
    Outcome.HOLDS: "holds",
    Outcome.IN_PART: "in part",
    Outcome.FAILS: "fails",
    Outcome.UNDECIDED: "undecided",
}
_INKS = {_SHORT[outcome]: inks for outcome, inks in INKS.items()}


def _color_cells(lines: pd.DataFrame, columns: list[str]) -> Styler:
    """The lines with the cells of these columns, which begin with a verdict, in its colour."""
    dark = st.context.theme.type == "dark"

    def ink(text: object) -> str:
        inks = _INKS.get(str(text).split(":")[0])
        return "" if inks is None else f"color: {inks[dark]}; font-weight: 600"

    return lines.style.map(ink, subset=pd.Index(columns))


def _choose_mark(claims: list[str]) -> None:
    """Show the claim whose mark was chosen."""
    points = st.session_state[_PICTURE].selection.points
    if points and points[0].get("customdata") in claims:
        st.session_state[_CHOSEN] = points[0]["customdata"]


def _choose(claims: list[str]) -> None:
    """Show the claim whose line was chosen."""
    rows = st.session_state[_BOARD].selection.rows
    if rows:
        st.session_state[_CHOSEN] = claims[rows[0]]


# Judging all claims takes some 2 seconds, drawing one up to 1: what anybody sees is worked out once a server.
@st.cache_data(max_entries=4 * len(CLAIMS), show_spinner=False)
def _verdict(claim_id: str, table: pd.DataFrame, lines: pd.DataFrame) -> Verdict:
    return Shipped(table, {}, lines).verdict(CLAIMS[claim_id])


def _judge(claim_id: str, result: Shipped) -> Verdict:
    return _verdict(claim_id, result.table, result.lines)


@st.cache_data(max_entries=4 * len(CLAIMS), show_spinner=False)
def _figures(claim_id: str, table: pd.DataFrame, sentence: str, theme: str | None) -> list[_Figure]:
    """The figures of a claim in the colours of a theme, and what they show in words."""
    colors = choose_palette(theme)
    shown = [ClaimFigure(table, picture, sentence) for picture in CLAIMS[claim_id].pictures]
    return [_Figure(each.draw(colors, width=_PAGE_WIDTH), each.words()) for each in shown]


def _choose_source(claim: Claim, result: _Result) -> Shipped:
    """Which of its results the figures show, where there are two."""
    if result.synthetic is None:
        return result.shipped
    choice = st.segmented_control(
        "Figures and reasons from",
        [_FILES, _SYNTHETIC],
        default=_FILES,
        required=True,
        key=f"papers:source:{claim.id}",
        help=explain_term("synthetic-table", "These have the n, d and k of the papers' tables."),
    )
    return result.shipped if choice == _FILES else result.synthetic


def _draw_claim(claim: Claim, result: _Result) -> None:
    verdict = result.verdict
    words = " ".join([claim.claim, *map(_finding, verdict.findings)])
    st.markdown(f"{_outcome(verdict)} {escape_markdown(claim.claim)}", help=explain_words(words))
    st.dataframe(
        _color_cells(tabulate_findings(verdict, result.on_synthetic), ["run", "made", "today"]),
        hide_index=True,
        height=_ROW_PIXELS + _FINDING_PIXELS * len(verdict.findings) + 3,
        row_height=_FINDING_PIXELS,
        column_config=_FINDINGS,
        alt=f"{claim.paper}: {verdict.sentence}.",
    )
    if verdict.turning is not None:
        finding, factor = verdict.turning
        st.caption(escape_markdown(f"The smallest change that would turn it: {finding.says}, by {factor:.3g}×."))
    _draw_opener(claim, result)
    shown = _choose_source(claim, result)
    verdict = _judge(claim.id, shown)
    for place, (drawn, alt) in enumerate(_figures(claim.id, shown.table, verdict.sentence, st.context.theme.type)):
        show_wide(drawn, alt=alt, key=f"papers:{claim.id}:{place}", stem=f"{claim.id}-{place + 1}")
    with st.expander("How each finding was judged"):
        _draw_reasons(claim, shown, verdict)
    with st.expander("The table behind it"):
        draw_data_table(shown.table, alt=f"Runs behind {claim.paper}")


def _draw_opener(claim: Claim, result: _Result) -> None:
    """A way to Explore for each finding: a made-up table of its size, and the setting that decides it."""
    if not claim.has_tables:
        st.caption("Its samples are drawn while it runs: there is no table to open in Explore.")
        return
    help = "Opens a made-up table with as many rows, columns and clusters, and the setting that decides the finding."
    with st.popover("Open a finding in Explore", icon=":material/travel_explore:", help=help):
        numbers = list(range(len(result.verdict.findings)))
        says = [f"{number + 1}. {finding.says}" for number, finding in enumerate(result.verdict.findings)]
        chosen = st.selectbox(
            "Finding", numbers, format_func=lambda number: says[number], key=f"papers:open:{claim.id}"
        )
        st.button(
            "Open in Explore",
            icon=":material/arrow_forward:",
            key=f"papers:explore:{claim.id}",
            on_click=_open_finding,
            args=(claim, result, chosen),
        )


def _open_finding(claim: Claim, result: _Result, number: int) -> None:
    found, finding = result.shipped, result.verdict.findings[number]
    setting = find_setting(claim, claim.settings(quick=found.made["quick"]), found.table, finding)
    if setting is None:
        return
    request = setting.request
    rows = min(setting.n, _MOST_CELLS // setting.d)
    open_synthetic_table(SyntheticTable(-1.0, 1.0, rows, setting.d, request.k, USUAL_SPREAD))
    open_in_explore(request)


def _draw_reasons(claim: Claim, result: Shipped, verdict: Verdict) -> None:
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
        "the finding is open. Where there are several looks, nine in ten is for all of them together, each by "
        f"{PATH_DRAWS} draws, and the first look that decides stands. A count that equals what is asked for holds; "
        "a loss that does is open."
    )
    said = "; ".join(f"{word}: {meaning}" for word, meaning in WORDS.items())
    st.caption(escape_markdown(f"What words come to, chosen by us: {said}."))
    draw_caption_with_badge("revealed", "Losses are measured on the rows themselves, of public or generated tables.")


def tabulate_findings(verdict: Verdict, on_synthetic: Verdict | None) -> pd.DataFrame:
    """A line a finding: what came of it, on synthetic tables, and today, beside what the paper says.

    Parameters
    ----------
    verdict : Verdict
        Of one claim.
    on_synthetic : Verdict or None
        The same on synthetic tables; None: there are none.

    Returns
    -------
    DataFrame
        A line a finding.
    """
    others = [None] * len(verdict.findings) if on_synthetic is None else on_synthetic.findings
    lines = [
        (finding.says, _cell(finding), _cell(made), _cell(finding.today), finding.paper)
        for finding, made in zip(verdict.findings, others, strict=True)
    ]
    return pd.DataFrame(lines, columns=list(_FINDINGS))


def _cell(finding: Finding | None) -> str:
    if finding is None:
        return _NONE
    return f"{_SHORT[finding.outcome]}: {finding.ours}; {_margin(finding)}{_format_needs(finding)}"


def _format_needs(finding: Finding) -> str:
    """What it would take to answer, where it is open."""
    if finding.outcome is not Outcome.UNDECIDED or finding.interval is None:
        return ""
    if finding.runs_needed == inf:
        return f"; {finding.interval.runs} runs, too near to the line for any number"
    return f"; {finding.interval.runs} runs, some {finding.runs_needed:,.0f} needed"


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
