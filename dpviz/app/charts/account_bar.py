"""An account as a bar: what was spent before, what this release costs, and what is left below the cap."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dpviz.app.charts.plot import Plot
from dpviz.words import TEXT_SIZE, Palette, format_number, make_layout

_HEIGHT = 66
# Shares below this hold no words.
_LABELLED = 0.09
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
        plot = Plot(make_layout(palette, height=_HEIGHT))
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
            label = f"{name}: {format_number(value)}" if value / whole >= _LABELLED * (1 + len(name) / 12) else ""
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
