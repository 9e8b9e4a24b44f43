"""The budget as a bar: what each purpose of a run costs, and what a release takes from its account."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from dpviz.app.charts.canvas import NUMBER_SIZE, TitledPlot, make_hidden_axis, new_plot
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


def draw_spent(
    shares: Mapping[str, float], *, palette: Palette, epsilon: float, spent: Mapping[str, float] | None = None
) -> TitledPlot:
    """A bar of the whole budget ``epsilon``, divided by purpose; solid where ``spent`` (all, by default)."""
    done = dict(shares if spent is None else spent)
    used = sum(done.values())
    plot, left = new_plot(palette, height=_HEIGHT, legend_lines=0), 0.0
    for place, (purpose, share) in enumerate(shares.items()):
        _add_block(plot, left, share, palette.fade(palette.released, 0.14), purpose, palette)
        if done.get(purpose, 0) > 0:
            color = palette.fade(palette.released, 0.85 if place % 2 else 0.65)
            _add_block(plot, left, done[purpose], color, purpose, palette)
        if share >= _LABELLED:
            label = {"text": f"{purpose}<br>{format_percent(share)}", "showarrow": False}
            font = {"size": NUMBER_SIZE, "color": palette.muted}
            plot.add_annotation({**label, "x": left + share / 2, "y": 0.62, "yanchor": "bottom", "font": font})
        left += share
    plot.update_xaxes(**make_hidden_axis(), range=[0, 1])
    plot.update_yaxes(**make_hidden_axis(), range=[-0.6, 2.0])
    plot.update_layout(barmode="overlay", margin={"l": 12, "r": 12, "b": 8})
    part = f"{format_percent(min(1.0, used))} of ε = {epsilon:g} is spent"
    return TitledPlot(part if used else f"Nothing of ε = {epsilon:g} is spent yet", "", plot)


def describe_spent(shares: Mapping[str, float], *, epsilon: float) -> str:
    """The picture in words."""
    listed = ", ".join(f"{purpose} {format_percent(share)}" for purpose, share in shares.items())
    return f"Shares of ε = {epsilon:g} by purpose: {listed}."


def _add_block(plot: Plot, left: float, width: float, color: str, purpose: str, palette: Palette) -> None:
    plot.add_trace(
        {
            **{"type": "bar", "orientation": "h", "x": [width], "y": [0], "base": [left], "width": [1.0]},
            "marker": {"color": color, "line": {"color": palette.surface, "width": 1.5}},
            "hovertemplate": f"{purpose}: {format_number(100 * width)} % of the budget<extra></extra>",
            **{"showlegend": False, "meta": "released"},
        }
    )


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
        at = 0.0
        for name, value, color, ink in parts:
            if value <= 0:
                continue
            label = (
                f"{name}: {format_number(value)}" if value / whole >= _ACCOUNT_LABELLED * (1 + len(name) / 12) else ""
            )
            plot.add_trace(_block(at, value, color, ink, label, f"{name}: ε = {format_number(value)}"))
            at += value
        plot.add_shape(
            **{"type": "line", "x0": self.cap, "x1": self.cap, "y0": -0.62, "y1": 0.62},
            line={"color": palette.text, "width": 2},
        )
        plot.add_annotation(
            {
                **{"x": self.cap, "y": 0.66, "text": f"cap {format_number(self.cap)}", "showarrow": False},
                **{"xanchor": "right", "yanchor": "bottom", "font": {"size": TEXT_SIZE, "color": palette.text}},
            }
        )
        hidden = {"visible": False, "fixedrange": True}
        plot.update_xaxes(range=[0, whole * 1.002], **hidden)
        plot.update_yaxes(range=[-0.64, 1.3], **hidden)
        return plot.update_layout(
            barmode="overlay", showlegend=False, margin={"l": 0, "r": 4, "t": 2, "b": 2}, hovermode="closest"
        )


def _block(at: float, value: float, color: str, ink: str, label: str, hover: str) -> dict[str, Any]:
    return {
        **{"type": "bar", "orientation": "h", "x": [value], "y": [0], "base": [at], "width": [1.0]},
        **{"text": [label], "textposition": "inside", "insidetextanchor": "middle", "textangle": 0},
        "textfont": {"color": ink, "size": TEXT_SIZE},
        "marker": {"color": color, "line": {"width": 0}},
        "hovertemplate": f"{hover}<extra></extra>",
        "cliponaxis": False,
    }
