"""The papers' claims: all findings in a picture, and behind each what the paper says, our runs, and its figure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from math import inf
from typing import Any, NamedTuple

import pandas as pd
import streamlit as st

from dpviz.app.charts.canvas import TitledPlot
from dpviz.app.charts.studies import stored_verdicts
from dpviz.app.charts.studies.claim_figure import INKS, ClaimFigure, count_answers, draw_verdicts
from dpviz.app.charts.studies.stored_verdicts import (
    ClaimFinding,
    ClaimResult,
    ClaimVerdict,
    FindingSetting,
    Outcome,
    PaperFigure,
)
from dpviz.app.ui.data.table_link import open_synthetic_table
from dpviz.app.ui.escape import escape_markdown
from dpviz.app.ui.figure import (
    BadgeLook,
    ask_one_of,
    draw_caption_with_badge,
    draw_data_table,
    look_of,
    read_columns,
    show_plot,
    show_wide,
)
from dpviz.app.ui.studies.study_job import open_run, turn_to_run
from dpviz.runs import Contender, Request
from dpviz.tables import SyntheticTable
from dpviz.words import choose_palette, format_number, glossary

_SYNTHETIC, _FILES = "synthetic tables", "published files"
_CHOSEN, _BOARD, _PICTURE = "papers:claim", "papers:board", "papers:verdicts"
# A made-up table for the bench has no more, so that it is there at once.
_MOST_CELLS = 1_500_000
# Of the heads, of a line of the board, and of a finding: above 64 pixels sentences are broken into lines.
_ROW_PIXELS, _BOARD_PIXELS, _FINDING_PIXELS = 35, 66, 92


class _Said(NamedTuple):
    """How a verdict looks and is told: in short, and of one finding or of several.

    Orange is none of the colours: it is what was revealed.
    """

    look: BadgeLook
    short: str
    verbs: tuple[str, str]


_SAID = {
    Outcome.HOLDS: _Said(BadgeLook("green", ":material/check_circle:"), "holds", ("holds", "hold")),
    Outcome.IN_PART: _Said(BadgeLook("violet", ":material/contrast:"), "in part", ("holds in part", "hold in part")),
    Outcome.FAILS: _Said(BadgeLook("red", ":material/cancel:"), "fails", ("does not", "do not")),
    Outcome.UNDECIDED: _Said(BadgeLook("yellow", ":material/question_mark:"), "undecided", ("is open", "are open")),
}
_NONE = "–"


class _Line(NamedTuple):
    """Of the board: what came of a claim; on synthetic tables, too, where files are behind that."""

    result: ClaimResult
    synthetic: ClaimResult | None

    @property
    def verdict(self) -> ClaimVerdict:
        return self.result.verdict

    @property
    def on_synthetic(self) -> ClaimVerdict | None:
        return None if self.synthetic is None else self.synthetic.verdict


def draw_papers() -> None:
    """All findings in a picture and all claims in a table; of the chosen one its findings, figures and runs."""
    turn_to_run()
    stored = stored_verdicts.read_verdicts()
    lines = list_lines(stored.claims)
    if not lines:
        st.info(**look_of("no_results"))
        return
    headline = format_headline([line.verdict for line in lines.values()])
    st.subheader(escape_markdown(headline), anchor=False)
    st.caption(escape_markdown(format_answers(lines.values())))
    picture = draw_verdicts([line.result for line in lines.values()], headline, dark=st.context.theme.type == "dark")
    show_plot(picture, key=_PICTURE, on_click=lambda: _choose_mark(list(lines)))
    board, heads = tabulate_claims(lines), read_columns("claims of papers")
    alt = f"{headline}. A line a claim: {', '.join(line.verdict.outcome.value for line in lines.values())}."
    choose = {"key": _BOARD, "on_select": lambda: _choose(list(lines)), "selection_mode": "single-row"}
    _draw_verdict_table(board, _BOARD_PIXELS, column_config=heads, alt=alt, **choose)
    st.caption("Choose a line, or a claim below, for its findings and figures.")
    said = {name: f"{line.result.paper}: {line.verdict.outcome.value}" for name, line in lines.items()}
    chosen = st.selectbox("Claim", list(lines), format_func=lambda name: said[name], key=_CHOSEN)
    _draw_claim(lines[chosen], stored.rules)


def list_lines(results: Iterable[ClaimResult]) -> dict[str, _Line]:
    """The lines of the board, by the ids of their claims."""
    made = {result.id: result for result in stored_verdicts.read_verdicts(stored_verdicts.STAND_INS).claims}
    return {of.id: _Line(of, made.get(of.id) if of.is_on_files else None) for of in results}


def format_headline(verdicts: Collection[ClaimVerdict]) -> str:
    """How many findings there are, and what became of them."""
    number = sum(len(verdict.findings) for verdict in verdicts)
    counts = [(outcome, sum(verdict.count(outcome) for verdict in verdicts)) for outcome in Outcome]
    parts = [f"{count:d} {_SAID[outcome].verbs[count != 1]}" for outcome, count in counts if count]
    said = parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
    return f"Of {number:d} findings in {len(verdicts):d} groups, run again as the papers ran them, {said}"


def format_answers(lines: Collection[_Line]) -> str:
    """How often each paper's findings hold, and on which tables."""
    papers: dict[str, list[ClaimVerdict]] = {}
    for line in lines:
        papers.setdefault(line.result.source, []).append(line.verdict)
    said = "; ".join(f"{paper}: {count_answers(verdicts)}" for paper, verdicts in papers.items())
    about = Counter(line.result.about for line in lines)
    on = ", ".join(f"{number} on {kind}" for kind, number in sorted(about.items()))
    return f"{said}. Groups: {on}."


def tabulate_claims(lines: Mapping[str, _Line]) -> pd.DataFrame:
    """A line a claim: its verdicts, and the finding that decides; what the paper says of it stands with the claim."""
    cells = [
        {
            "paper": line.result.paper,
            "run": _short(line.verdict),
            "on": line.result.about,
            "made": _short(line.on_synthetic),
            "today": _short(line.verdict.today),
            "findings": count_answers([line.verdict]),
            "margin": _margin(line.verdict.closest),
            "decides": line.verdict.closest.says,
        }
        for line in lines.values()
    ]
    return pd.DataFrame(cells, index=list(lines), columns=[*read_columns("claims of papers")])


def _short(verdict: ClaimVerdict | None) -> str:
    return _NONE if verdict is None else _SAID[verdict.outcome].short


def _margin(finding: ClaimFinding) -> str:
    """The margin, and where it lies in nine of ten redraws."""
    margin = f"{format_number(finding.margin)}×"
    between = finding.interval
    if between is None or between.low == between.high:
        return margin
    return f"{margin}, {format_number(between.low)} to {format_number(between.high)}"


# Of the text of a verdict on a light and a dark table.
_INKS = {_SAID[outcome].short: inks for outcome, inks in INKS.items()}


def _draw_verdict_table(lines: pd.DataFrame, pixels: int, **look: Any) -> None:
    """The lines, so many pixels each, with cells that begin with a verdict in its colour."""
    dark = st.context.theme.type == "dark"

    def ink(text: object) -> str:
        inks = _INKS.get(str(text).split(":")[0])
        return "" if inks is None else f"color: {inks[dark]}; font-weight: 600"

    colored = lines.style.map(ink, subset=pd.Index(["run", "made", "today"]))
    st.dataframe(colored, hide_index=True, height=_ROW_PIXELS + pixels * len(lines) + 3, row_height=pixels, **look)


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


# Drawing a claim takes up to a second: what anybody sees is worked out once a server, from either kind of tables and
# in either theme.
@st.cache_data(max_entries=64, show_spinner=False)
def _draw_figures(
    figures: tuple[PaperFigure, ...], table: pd.DataFrame, sentence: str, theme: str | None
) -> list[tuple[TitledPlot, str]]:
    """The figures of a claim in the colours of a theme, and what they show in words."""
    colors = choose_palette(theme)
    shown = [ClaimFigure(table, figure, sentence) for figure in figures]
    return [(each.draw(colors, width=720), each.words()) for each in shown]


def _draw_claim(line: _Line, rules: Sequence[str]) -> None:
    claim, verdict = line.result, line.verdict
    words = " ".join([claim.claim, *map(_finding, verdict.findings)])
    badge = _SAID[verdict.outcome].look.format(escape_markdown(verdict.outcome.value))
    st.markdown(f"{badge} {escape_markdown(claim.claim)}", help=glossary.explain_words(words))
    findings, alt = tabulate_findings(verdict, line.on_synthetic), f"{claim.paper}: {verdict.sentence}."
    _draw_verdict_table(findings, _FINDING_PIXELS, column_config=read_columns("findings of papers"), alt=alt)
    if verdict.turning is not None:
        finding, factor = verdict.turning
        st.caption(escape_markdown(f"The smallest change that would turn it: {finding.says}, by {factor:.3g}×."))
    # A way to the bench for each finding: a made-up table of its size, and the setting that decides it.
    if claim.settings:
        with st.popover(**look_of("open_a_finding")):
            says = [f"{number}. {one.says}" for number, one in enumerate(verdict.findings, start=1)]
            key = f"papers:open:{claim.id}"
            chosen = st.selectbox("Finding", range(len(says)), format_func=says.__getitem__, key=key)
            opens: dict[str, Any] = {"on_click": _open_finding, "args": (claim.settings[chosen],)}
            st.button("Open on the bench", icon=":material/arrow_forward:", key=f"papers:explore:{claim.id}", **opens)
    else:
        st.caption("Its samples are drawn while it runs: there is no table to open on the bench.")
    # Which of its results the figures show, where there are two, and the runs behind that.
    shown, folder = line.result, stored_verdicts.FOLDER
    if line.synthetic is not None:
        look = look_of("tables_source", key=f"papers:source:{claim.id}")
        if ask_one_of(options=[_FILES, _SYNTHETIC], **look) == _SYNTHETIC:
            shown, folder = line.synthetic, stored_verdicts.STAND_INS
    runs = stored_verdicts.read_runs(claim.id, folder)
    figures = _draw_figures(shown.figures, runs, shown.verdict.sentence, st.context.theme.type)
    for place, (drawn, alt) in enumerate(figures):
        show_wide(drawn, alt=alt, key=f"papers:{claim.id}:{place}", stem=f"{claim.id}-{place + 1}")
    with st.expander("How each finding was judged"):
        _draw_reasons(shown, rules)
    with st.expander("The table behind it"):
        draw_data_table(runs, alt=f"Runs behind {claim.paper}")


def _open_finding(setting: FindingSetting) -> None:
    rows = min(setting.n, _MOST_CELLS // setting.d)
    open_synthetic_table(SyntheticTable(-1.0, 1.0, rows, setting.d, setting.k))
    open_run(Request(Contender(setting.algorithm, setting.params), setting.k, setting.epsilon, setting.delta))


def _draw_reasons(result: ClaimResult, rules: Sequence[str]) -> None:
    for finding in result.verdict.findings:
        st.markdown(_finding(finding))
        if finding.today is not None:
            st.markdown(f"Today: {_finding(finding.today)}")
    tables = "; ".join(map(escape_markdown, result.tables))
    st.caption(f"Computed by {escape_markdown(result.how)}. Data: {tables}.")
    for sentence in (*result.notes, *rules):
        st.caption(escape_markdown(sentence))
    draw_caption_with_badge("revealed", "Losses are measured on the rows themselves, of public or generated tables.")


def tabulate_findings(verdict: ClaimVerdict, on_synthetic: ClaimVerdict | None) -> pd.DataFrame:
    """A line a finding: what came of it, on synthetic tables, and today, beside what the paper says."""
    others = [None] * len(verdict.findings) if on_synthetic is None else on_synthetic.findings
    lines = [
        (finding.says, _cell(finding), _cell(made), _cell(finding.today), finding.paper)
        for finding, made in zip(verdict.findings, others, strict=True)
    ]
    return pd.DataFrame(lines, columns=[*read_columns("findings of papers")])


def _cell(finding: ClaimFinding | None) -> str:
    if finding is None:
        return _NONE
    return f"{_SAID[finding.outcome].short}: {finding.ours}; {_margin(finding)}{_format_needs(finding)}"


def _format_needs(finding: ClaimFinding) -> str:
    """What it would take to answer, where it is open."""
    if finding.outcome is not Outcome.UNDECIDED or finding.interval is None:
        return ""
    if finding.runs_needed == inf:
        return f"; {finding.interval.runs} runs, too near to the line for any number"
    return f"; {finding.interval.runs} runs, some {finding.runs_needed:,.0f} needed"


def _finding(finding: ClaimFinding) -> str:
    look = _SAID[finding.outcome].look
    says = escape_markdown(f"{finding.says}: {finding.found}")
    text = f":{look.color}[{look.icon}] {says}; margin {_margin(finding)}."
    return f"{text} *Reason: {escape_markdown(finding.reason)}.*" if finding.outcome is Outcome.FAILS else text
