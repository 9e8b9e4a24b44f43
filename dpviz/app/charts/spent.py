"""The budget as a bar: what each purpose of a run costs, and what a release takes from its account."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from dpviz.app.charts.canvas import make_hidden_axis, new_plot
from dpviz.app.charts.diagram import Diagram, add_note
from dpviz.app.charts.layout import TEXT_SIZE, make_layout
from dpviz.app.charts.plot import Plot
from dpviz.core import Entry
from dpviz.words import Palette, format_number, format_percent

_HEIGHT = 122
# Shares below this hold no label.
_LABELLED = 0.14


class MeterReading(NamedTuple):
    """What the meter had counted after the first ``entries`` charges: that part of the whole budget."""

    entries: int
    fraction: float


def list_shares(
    entries: Sequence[Entry], *, spent_fraction: float, upto: int | None = None, meter: Sequence[MeterReading] = ()
) -> dict[str, float]:
    """What each purpose costs, as a share of the whole budget: of all entries, or of the first ``upto``.

    ``spent_fraction`` is what all ``entries`` together are of the budget. "round 1", "round 2" are one purpose.
    Amounts that do not add up to ε are shared out between readings of the ``meter`` only.
    """
    shares: dict[str, float] = {_describe_purpose(entry.note): 0.0 for entry in entries}
    begun = MeterReading(0, 0.0)
    for read in (*meter, MeterReading(len(entries), spent_fraction)):
        stage = entries[begun.entries : read.entries]
        total = sum(entry.amount for entry in stage)
        for place, entry in enumerate(stage, start=begun.entries):
            if total > 0 and (upto is None or place < upto):
                shares[_describe_purpose(entry.note)] += entry.amount / total * (read.fraction - begun.fraction)
        begun = read
    return shares


def draw_spent(shares: Mapping[str, float], epsilon: float, spent: Mapping[str, float] | None = None) -> Diagram:
    """A bar of the whole budget ``epsilon``, divided by purpose; solid where ``spent`` (all, by default)."""
    done = dict(shares if spent is None else spent)
    used = sum(done.values())
    finding = f"{format_percent(min(1.0, used))} of ε = {epsilon:g} is spent"

    def paint(palette: Palette) -> Plot:
        plot, left = new_plot(palette, height=_HEIGHT, legend_lines=0), 0.0
        rim = {"color": palette.surface, "width": 1.5}
        for place, (purpose, share) in enumerate(shares.items()):
            blocks = [(share, 0.14)]
            if done.get(purpose, 0) > 0:
                blocks.append((done[purpose], 0.85 if place % 2 else 0.65))
            for width, strength in blocks:
                hover = f"{purpose}: {format_number(100 * width)} % of the budget"
                marker = {"color": palette.fade(palette.released, strength), "line": rim}
                _add_block(plot, left, width, hover, marker=marker, showlegend=False, meta="released")
            if share >= _LABELLED:
                where = {"x": left + share / 2, "y": 0.62, "yanchor": "bottom"}
                add_note(plot, f"{purpose}<br>{format_percent(share)}", palette.muted, where)
            left += share
        plot.update_xaxes(**make_hidden_axis(), range=[0, 1])
        plot.update_yaxes(**make_hidden_axis(), range=[-0.6, 2.0])
        return plot.update_layout(barmode="overlay", margin={"l": 12, "r": 12, "b": 8})

    listed = ", ".join(f"{purpose} {format_percent(share)}" for purpose, share in shares.items())
    words = f"Shares of ε = {epsilon:g} by purpose: {listed}."
    return Diagram("budget", finding if used else f"Nothing of ε = {epsilon:g} is spent yet", "", words, paint)


def _add_block(plot: Plot, left: float, width: float, hover: str, **look: Any) -> None:
    """A part of the bar.

    **look
        Other settings of it.
    """
    bar = {"type": "bar", "orientation": "h", "x": [width], "y": [0], "base": [left], "width": [1.0]}
    plot.add_trace({**bar, "hovertemplate": f"{hover}<extra></extra>", **look})


def _describe_purpose(note: str) -> str:
    """A note without its numbers."""
    return re.sub(r"[\s,:]*\d.*$", "", note) or note


_ACCOUNT_HEIGHT = 66
# Shares below this hold no words.
_ACCOUNT_LABELLED = 0.09
_REFUSED = "#b3261e"
_REFUSED_IN_THE_DARK = "#f2716b"


@dataclass(frozen=True)
class AccountBar:
    """ε of an account: its ``cap``, what was ``before`` and what ``this`` release costs."""

    cap: float
    before: float
    this: float

    @property
    def fits(self) -> bool:
        """Whether the release stays below the cap."""
        return self.before + self.this <= self.cap * (1 + 1e-12)

    @property
    def left(self) -> float:
        """What remains after it; 0 where it does not fit."""
        return max(0.0, self.cap - self.before - self.this)

    def words(self) -> str:
        """The bar in words."""
        return (
            f"The account's cap is ε = {format_number(self.cap)}: {format_number(self.before)} spent "
            f"before, {format_number(self.this)} for "
            f"this release, {format_number(self.left)} left after it{'' if self.fits else ', which is beyond the cap'}."
        )

    def draw(self, palette: Palette) -> Plot:
        """The bar; what lies beyond the cap stands right of its line."""
        plot = Plot(make_layout(palette, height=_ACCOUNT_HEIGHT))
        whole = max(self.cap, self.before + self.this)
        dark = palette.surface != "#ffffff"
        this = palette.released if self.fits else (_REFUSED_IN_THE_DARK if dark else _REFUSED)
        parts = (
            ("before", self.before, palette.public, palette.surface),
            ("this release", self.this, this, palette.surface),
            ("left", self.left, palette.fade(palette.public, 0.16), palette.text),
        )
        inside = {"textposition": "inside", "insidetextanchor": "middle", "textangle": 0, "cliponaxis": False}
        at = 0.0
        for name, value, color, ink in parts:
            if value <= 0:
                continue
            labelled = value / whole >= _ACCOUNT_LABELLED * (1 + len(name) / 12)
            label = {"text": [f"{name}: {format_number(value)}" if labelled else ""], **inside}
            look = {"marker": {"color": color, "line": {"width": 0}}, "textfont": {"color": ink, "size": TEXT_SIZE}}
            _add_block(plot, at, value, f"{name}: ε = {format_number(value)}", **label, **look)
            at += value
        line = {"color": palette.text, "width": 2}
        plot.add_shape(type="line", x0=self.cap, x1=self.cap, y0=-0.62, y1=0.62, line=line)
        where = {"x": self.cap, "y": 0.66, "xanchor": "right", "yanchor": "bottom"}
        add_note(plot, f"cap {format_number(self.cap)}", palette.text, where, size=TEXT_SIZE)
        plot.update_xaxes(range=[0, whole * 1.002], **make_hidden_axis())
        plot.update_yaxes(range=[-0.64, 1.3], **make_hidden_axis())
        plot.update_layout(barmode="overlay", showlegend=False, hovermode="closest")
        return plot.update_layout(margin={"l": 0, "r": 4, "t": 2, "b": 2})
