"""Findings of the papers: a claim in the form of its figure, and all verdicts in one picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import ceil, log10
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from dpviz.app.charts.canvas import LEGEND_LINE, Diagram, Panel, TitledPlot, add_note, new_plot, place_below_plot
from dpviz.app.charts.plot import PHONE, Data, Plot
from dpviz.app.charts.studies.curves import (
    Span,
    Style,
    add_quartiles,
    choose_styles,
    compute_quartiles,
    describe_runs,
    narrow,
)
from dpviz.app.charts.studies.stored_verdicts import ClaimFinding, ClaimResult, ClaimVerdict, Outcome, PaperFigure
from dpviz.core import Array
from dpviz.words import Palette, capitalize_first, format_number, join_clauses

# Pixels of a panel, of all that is no panel and no legend, and of the name above one.
_PANEL, _AROUND = 250, 90
_NAME_ROOM = 30.0
# Part of the figure between panels beside each other.
_BETWEEN = 0.09
_WIDTH = 900
"""Pixels of a page of its own, which is read on a screen; the app gives its own width."""


@dataclass(frozen=True, eq=False)
class ClaimFigure:
    """Medians over the repeats with bands from 25 % to 75 %, a panel for each table of the paper.

    It depends on nothing but these, the palette and the width: the same ones make the same figure.
    """

    runs: pd.DataFrame
    picture: PaperFigure
    verdict: str

    def draw(self, palette: Palette, *, width: int = _WIDTH) -> TitledPlot:
        """The panels, as many beside each other as ``width`` has room for."""
        picture = self.picture
        over = self._shown[picture.line if picture.heat else picture.panel].astype(str)
        names = list(dict.fromkeys(over))
        cols = 1 if len(names) == 1 or width <= PHONE else 2 if len(names) in (2, 4) or width < _WIDTH else 3
        rows = max(1, ceil(len(names) / cols))
        plot = self._empty(palette, rows, width)
        between = min(0.3, 2.6 * _NAME_ROOM / (_PANEL * rows)) if rows > 1 else 0.0
        wide, high = (1 - _BETWEEN * (cols - 1)) / cols, (1 - between * (rows - 1)) / rows
        for place, name in enumerate(names):
            left, top = place % cols * (wide + _BETWEEN), 1 - place // cols * (high + between)
            panel, part = Panel(place, (left, left + wide), (max(0.0, top - high), top)), self._shown[over == name]
            if picture.heat:
                across, up = self._draw_heat(plot, part, palette, panel)
            elif picture.x == picture.line:
                across, up = self._draw_marks(plot, part, palette, panel)
            else:
                across, up = self._draw_lines(plot, part, palette, panel)
            # Titles stand at the outer panels only.
            x_title = picture.x_title if place + cols >= len(names) else ""
            y_title = (picture.heat or picture.y_title) if place % cols == 0 else ""
            panel.add(plot, palette, {**across, "title_text": x_title}, {**up, "title_text": y_title})
            x, y = panel.axes.values()
            corner = {"x": 0, "y": 1, "xref": f"{x} domain", "yref": f"{y} domain"}
            at = {**corner, "xanchor": "left", "yanchor": "bottom"}
            add_note(plot, f"<b>{narrow(name, 40)}</b>", palette.text, at)
        points = [column for column in (picture.panel, picture.line, picture.x, picture.heat) if column]
        what, runs = "median" if picture.heat else "median and middle half", self._shown.groupby(points).size()
        dashed = f"dashed: {picture.baseline_title}" if picture.baseline else ""
        below = join_clauses(picture.title, what, describe_runs(sorted(set(runs))), dashed)
        return TitledPlot(capitalize_first(self.verdict), below, plot)

    def words(self) -> str:
        """The picture in words."""
        medians = self._shown.groupby(self.picture.line, sort=False)[self.picture.y].median()
        listed = ", ".join(f"{name} {format_number(float(value))}" for name, value in medians.items())
        said = f"{self.picture.title}. {capitalize_first(self.verdict)}."
        return f"{said} Medians of {self.picture.y_title} over all runs: {listed}."

    @cached_property
    def _shown(self) -> pd.DataFrame:
        kept = self.runs[self.runs[self.picture.y].notna()]
        for column, values in self.picture.only.items():
            kept = kept[kept[column].isin(list(values))]
        return kept

    @cached_property
    def _styles(self) -> dict[str, Style]:
        return choose_styles(list(dict.fromkeys(self.runs[self.picture.line].astype(str))))

    def _empty(self, palette: Palette, rows: int, width: int) -> Plot:
        legend = 3 if self.picture.heat else 1 + ceil(len(self._styles) / (2 if width < _WIDTH else 5))
        height = _AROUND + (_PANEL if rows > 1 else 360) * rows + LEGEND_LINE * legend
        plot = new_plot(palette, height=height, legend_lines=legend)
        margin = plot.layout["margin"]
        if self.picture.heat:
            return plot.update_layout(margin={"t": _NAME_ROOM})
        # The legend stands above the panels, nearer to their lines than below all of them.
        room = LEGEND_LINE * legend
        plot.update_layout(margin={"t": _NAME_ROOM + room, "b": margin["b"] - room})
        high = height - margin["t"] - margin["b"]
        where = {"x": 0, "xref": "paper", "y": 1 + _NAME_ROOM / high, "yref": "paper", "yanchor": "bottom"}
        return plot.update_layout(legend=where)

    def _draw_lines(self, plot: Plot, part: pd.DataFrame, palette: Palette, panel: Panel) -> tuple[Data, Data]:
        """A line for each algorithm over its band, and that of k-means++; axes that hold them."""
        named, before, picture = {trace.get("name") for trace in plot.traces}, len(plot.traces), self.picture
        x_of = f"{picture.x_title} %{{x:.4g}}: %{{y:.3g}}"
        for name, curve in self._curves(part).items():
            parts = curve[[picture.x, "low", "median", "high"]].to_numpy(np.float64).T
            group, style, hover = {"legendgroup": name, **panel.axes}, self._styles[name], f"<b>{name}</b><br>{x_of}"
            told = {"showlegend": name not in named, "hover": hover}
            add_quartiles(plot, name, parts, style, palette.fade(style.color, 0.16), group, **told)
        if picture.baseline:
            base, title = part.groupby(picture.x)[picture.baseline].median(), picture.baseline_title
            told = {"name": title, "hover": f"{title} %{{y:.3g}}", "legendgroup": title, "meta": "baseline"}
            look = {"line": _dash(palette), "showlegend": title not in named, **panel.axes}
            plot.add_scatter(base.index.to_numpy(float), base.to_numpy(float), "lines", **told, **look)
        traces = plot.traces[before:]
        across, up = (_axis([trace[name] for trace in traces]) for name in ("x", "y"))
        return across if picture.log_x else {}, up if picture.log_y else {}

    def _curves(self, part: pd.DataFrame) -> dict[str, pd.DataFrame]:
        """Quartiles over the repeats at each x, by line, in the order of the table."""
        line = self.picture.line
        parts = compute_quartiles(part, self.picture.y, list(dict.fromkeys([line, self.picture.x])))
        return {name: parts[parts[line].astype(str) == name] for name in dict.fromkeys(part[line].astype(str))}

    def _draw_marks(self, plot: Plot, part: pd.DataFrame, palette: Palette, panel: Panel) -> tuple[Data, Data]:
        """A mark for each algorithm, side by side; axes that hold them."""
        curves, ends = self._curves(part), list[Array]()
        for step, (name, curve) in enumerate(curves.items()):
            ((low, middle, high),) = curve[["low", "median", "high"]].to_numpy(np.float64)
            ends.append(np.array([low, middle, high]))
            style = self._styles[name]
            marker = {"symbol": style.marker, "size": 12, "color": style.color}
            error = {"symmetric": False, "array": [high - middle], "arrayminus": [middle - low]}
            look = {"hover": f"<b>{name}</b> %{{y:.3g}}", "meta": "median", **panel.axes}
            plot.add_scatter([step], [middle], "markers", marker=marker, error_y=error, **look)
        if self.picture.baseline:
            level, (x, y) = float(part[self.picture.baseline].median()), panel.axes.values()
            at = {"x0": 0, "x1": 1, "y0": level, "y1": level, "xref": f"{x} domain", "yref": y}
            plot.add_shape(type="line", line=_dash(palette), **at)
        names = {"tickvals": list(range(len(curves))), "ticktext": [narrow(name) for name in curves]}
        return {**names, "range": [-0.6, len(curves) - 0.4]}, _axis(ends) if self.picture.log_y else {}

    def _draw_heat(self, plot: Plot, part: pd.DataFrame, palette: Palette, panel: Panel) -> tuple[Data, Data]:
        picture = self.picture
        grid = part.pivot_table(values=picture.y, index=picture.heat, columns=picture.x, aggfunc="median")
        # One colour scale for all panels.
        medians = self._shown.groupby([picture.panel, picture.line, picture.heat, picture.x])[picture.y].median()
        bar = {"title": {"text": picture.y_title, "side": "top"}, "thickness": 12}
        cells: Data = {"type": "heatmap", "x": grid.columns.to_numpy(), "y": grid.index.to_numpy()}
        cells["z"] = grid.to_numpy(float)
        cells |= {"zmin": min(0.0, float(medians.min())), "zmax": float(medians.max()), "meta": "median", **panel.axes}
        cells |= {"showscale": panel.place == 0, "colorbar": place_below_plot(plot.layout) | bar}
        hover = f"{picture.heat} %{{y}}, {picture.x} %{{x}}: %{{z:.3g}}"
        plot.add_drawn(cells, hover=hover, colorscale=palette.sequential, showlegend=None)
        return {"tickvals": grid.columns.tolist()}, {"tickvals": grid.index.tolist()}


def _axis(values: Sequence[Array]) -> dict[str, Any]:
    """An axis that holds the positive ones."""
    return Span.of((value for some in values for value in some if value > 0), air=0.05).axis


def _dash(palette: Palette) -> dict[str, Any]:
    """The line of k-means++."""
    return {"color": palette.text, "width": 1.3, "dash": "dash"}


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


def list_lanes(results: Sequence[ClaimResult]) -> list[_Lane]:
    """The findings of claims from top to bottom; heights are below 0."""
    found, height, paper = list[_Lane](), 0.0, ""
    for claim in results:
        height -= _PAPER_GAP if paper and paper != claim.source else _GAP
        paper = claim.source
        for number, finding in enumerate(claim.verdict.findings, start=1):
            height -= 1
            found.append(_Lane(height, claim, number, finding))
    return found


def draw_verdicts(results: Sequence[ClaimResult], title: str, *, dark: bool) -> Diagram:
    """A mark a finding, at its margin: right of the line where it holds; its bar is the interval."""
    lanes = list_lanes(results)

    def paint(palette: Palette) -> Plot:
        low = min(lane.height for lane in lanes) - 1
        plot = new_plot(palette, height=round(-low * _LANE) + _FRAME, legend_lines=1)
        for outcome in _MARKS:
            chosen = [lane for lane in lanes if lane.finding.outcome is outcome]
            _add_outcome(plot, outcome, chosen, INKS[outcome][dark])
        plot.add_vline(x=0, line={"color": palette.text, "width": 1.2})
        # It fits a telephone, too.
        reach = log10(_MOST) * 1.06
        words = ["1" if tick == 1 else f"{max(tick, 1 / tick):.3g}×" for tick in _TICKS]
        ticks = {"tickvals": [log10(tick) for tick in _TICKS], "ticktext": words}
        across = {"title_text": "← short of the line by · beyond it by →", "tickangle": 0}
        plot.update_xaxes(range=[-reach, reach], **ticks, **across)
        heights = [[lane.height for lane in lanes if lane.claim is claim] for claim in results]
        middles, names = [sum(some) / len(some) for some in heights], [claim.short for claim in results]
        plot.update_yaxes(range=[low, 0.3], tickvals=middles, ticktext=names, showgrid=False, zeroline=False)
        return plot.update_layout(margin={"l": _NAMES})

    listed = "; ".join(f"{claim.paper}: {count_answers([claim.verdict])}" for claim in results)
    return Diagram("verdicts", title, "", f"{title}. {listed}.", paint)


def count_answers(verdicts: Sequence[ClaimVerdict]) -> str:
    """How often the answer is yes, no and open."""
    counts = {outcome: sum(verdict.count(outcome) for verdict in verdicts) for outcome in _WORDS}
    return ", ".join(f"{number} {_WORDS[outcome]}" for outcome, number in counts.items() if number)


def _add_outcome(plot: Plot, outcome: Outcome, lanes: Sequence[_Lane], ink: str) -> None:
    """The bars of an answer, then its marks."""
    bars = [(lane.height, lane.finding.interval) for lane in lanes if lane.finding.interval is not None]
    x = [end for _, between in bars for end in (_place(between.low), _place(between.high), None)]
    y = [end for height, _ in bars for end in (height, height, None)]
    group = {"legendgroup": outcome.value}
    plot.add_scatter(x, y, "lines", line={"color": ink, "width": 1.6}, meta="interval", **group)
    x, y = [_place(lane.finding.margin) for lane in lanes], [lane.height for lane in lanes]
    marker = {"symbol": _MARKS[outcome], "size": 6, "color": ink, "line": {"color": ink, "width": 1.4}}
    told = {"customdata": [lane.claim.id for lane in lanes], "text": [_format_hover(lane) for lane in lanes]}
    name = f"{_WORDS[outcome]} ({len(lanes)})"
    plot.add_scatter(x, y, "markers", listed=name, hover="%{text}", marker=marker, meta="margin", **told, **group)


def _place(margin: float) -> float:
    return log10(min(max(margin, 1 / _MOST), _MOST))


def _format_hover(lane: _Lane) -> str:
    finding = lane.finding
    between = "one run" if finding.interval is None else f"{finding.interval}, {finding.interval.runs} runs"
    head = f"<b>{lane.claim.paper}, finding {lane.number}: {_WORDS[finding.outcome]}</b>"
    return f"{head}<br>{finding.says}<br>margin {finding.margin:.3g}× ({between})"
