"""All findings of the papers in one picture: how far each is from its line, how surely, and on which side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import log10
from typing import NamedTuple

from dpviz.app.charts.canvas import TitledPlot, new_plot
from dpviz.app.charts.plot import Data
from dpviz.app.charts.studies.stored_verdicts import ClaimFinding, ClaimResult, ClaimVerdict, Outcome
from dpviz.words import Palette

#: Of a verdict on a light and a dark ground.
INKS = {
    Outcome.HOLDS: ("#0b6b3a", "#5fd394"),
    Outcome.IN_PART: ("#6a3fc0", "#c3a6ff"),
    Outcome.FAILS: ("#b3202c", "#ff8f94"),
    Outcome.UNDECIDED: ("#735700", "#e3c25a"),
}
_MARKS = {Outcome.HOLDS: "circle", Outcome.FAILS: "x", Outcome.UNDECIDED: "circle-open"}
_WORDS = {Outcome.HOLDS: "yes", Outcome.FAILS: "no", Outcome.UNDECIDED: "open"}
# Margins beyond are drawn at the rim.
_MOST = 20.0
_TICKS = (0.1, 1 / 3, 1.0, 3.0, 10.0)
# Pixels of a finding, and lanes that are left free between two claims, and between two papers.
_LANE, _GAP, _PAPER_GAP = 9, 0.6, 1.5
# Pixels of the names, and of all that stands above and below the lanes.
_NAMES, _FRAME = 108, 88


class _Lane(NamedTuple):
    height: float
    claim: ClaimResult
    number: int
    finding: ClaimFinding


@dataclass(frozen=True, eq=False)
class VerdictFigure:
    """A mark a finding, at its margin: right of the line where it holds; its bar is the interval.

    Parameters
    ----------
    results : sequence of ClaimResult
        In the order of the papers.
    title : str
        What they come to.
    """

    results: Sequence[ClaimResult]
    title: str

    @cached_property
    def lanes(self) -> list[_Lane]:
        """The findings from top to bottom; heights are below 0."""
        found, height, paper = list[_Lane](), 0.0, ""
        for claim in self.results:
            height -= _PAPER_GAP if paper and paper != claim.source else _GAP
            paper = claim.source
            for number, finding in enumerate(claim.verdict.findings, start=1):
                height -= 1
                found.append(_Lane(height, claim, number, finding))
        return found

    def draw(self, palette: Palette, *, dark: bool) -> TitledPlot:
        """The picture; it fits a telephone, too.

        Parameters
        ----------
        palette : Palette
        dark : bool
            Whether that is the palette of the dark theme.

        Returns
        -------
        TitledPlot
        """
        low = min(lane.height for lane in self.lanes) - 1
        plot = new_plot(palette, height=round(-low * _LANE) + _FRAME, legend_lines=1)
        for outcome in _MARKS:
            chosen = [lane for lane in self.lanes if lane.finding.outcome is outcome]
            plot.add_traces(_draw_outcome(outcome, chosen, INKS[outcome][dark]))
        plot.add_vline(x=0, line={"color": palette.text, "width": 1.2})
        plot.update_xaxes(
            range=[-log10(_MOST) * 1.06, log10(_MOST) * 1.06],
            tickvals=[log10(tick) for tick in _TICKS],
            ticktext=[_format_tick(tick) for tick in _TICKS],
            title_text="← short of the line by · beyond it by →",
            tickangle=0,
        )
        heights = [[lane.height for lane in self.lanes if lane.claim is claim] for claim in self.results]
        plot.update_yaxes(
            range=[low, 0.3],
            tickvals=[sum(of_claim) / len(of_claim) for of_claim in heights],
            ticktext=[claim.short for claim in self.results],
            showgrid=False,
            zeroline=False,
        )
        plot.update_layout(margin={"l": _NAMES})
        return TitledPlot(self.title, "", plot)

    def words(self) -> str:
        """The picture in words."""
        listed = "; ".join(f"{claim.paper}: {count_answers([claim.verdict])}" for claim in self.results)
        return f"{self.title}. {listed}."


def count_answers(verdicts: Sequence[ClaimVerdict]) -> str:
    """How often the answer is yes, no and open.

    >>> count_answers([ClaimVerdict((ClaimFinding("x", True, "", 2.0), ClaimFinding("y", False, "", 0.5)))])
    '1 yes, 1 no'
    """
    counts = {outcome: sum(verdict.count(outcome) for verdict in verdicts) for outcome in _WORDS}
    return ", ".join(f"{number} {_WORDS[outcome]}" for outcome, number in counts.items() if number)


def _draw_outcome(outcome: Outcome, lanes: Sequence[_Lane], ink: str) -> Iterator[Data]:
    """The bars of an answer, then its marks."""
    bars = [(lane.height, lane.finding.interval) for lane in lanes if lane.finding.interval is not None]
    ends = [(height, _place(between.low), _place(between.high)) for height, between in bars]
    yield {
        **{"type": "scatter", "mode": "lines", "line": {"color": ink, "width": 1.6}},
        "x": [x for _, low, high in ends for x in (low, high, None)],
        "y": [y for height, _, _ in ends for y in (height, height, None)],
        **{"hoverinfo": "skip", "showlegend": False, "legendgroup": outcome.value, "meta": "interval"},
    }
    yield {
        **{"type": "scatter", "mode": "markers", "name": f"{_WORDS[outcome]} ({len(lanes)})"},
        **{"x": [_place(lane.finding.margin) for lane in lanes], "y": [lane.height for lane in lanes]},
        "marker": {"symbol": _MARKS[outcome], "size": 6, "color": ink, "line": {"color": ink, "width": 1.4}},
        **{"customdata": [lane.claim.id for lane in lanes], "text": [_format_hover(lane) for lane in lanes]},
        **{"hovertemplate": "%{text}<extra></extra>", "legendgroup": outcome.value, "meta": "margin"},
    }


def _place(margin: float) -> float:
    return log10(min(max(margin, 1 / _MOST), _MOST))


def _format_tick(tick: float) -> str:
    return "1" if tick == 1 else f"{max(tick, 1 / tick):.3g}×"


def _format_hover(lane: _Lane) -> str:
    finding = lane.finding
    between = "one run" if finding.interval is None else f"{finding.interval}, {finding.interval.runs} runs"
    head = f"<b>{lane.claim.paper}, finding {lane.number}: {_WORDS[finding.outcome]}</b>"
    return f"{head}<br>{finding.says}<br>margin {finding.margin:.3g}× ({between})"
