"""A belief about one person, in people: a hundred before a release, and how far a release can move them."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp

import numpy as np

from dpviz.app.charts.canvas import make_hidden_axis
from dpviz.app.charts.layout import make_layout
from dpviz.app.charts.plot import Plot
from dpviz.core import Array
from dpviz.runs import Belief
from dpviz.words import Palette, format_percent

_SIDE, _GAP, _HEIGHT = 10, 3.0, 400
# Pixels of the two lines above each array, however small it is.
_WORDS = 44
_TURN = np.linspace(0, 2 * np.pi, 16)
# A head and shoulders in a square of side 1, one closed path each.
_HEAD = np.column_stack([0.5 + 0.17 * np.cos(_TURN), 0.72 + 0.17 * np.sin(_TURN)])
_SHOULDERS = np.column_stack(
    [0.5 + 0.33 * np.cos(np.linspace(0, np.pi, 10)), 0.1 + 0.4 * np.sin(np.linspace(0, np.pi, 10))]
)


@dataclass(frozen=True)
class IconArray:
    """Of a hundred like them, how many it would be true of: before a release, and at most and at least after it."""

    prior: float
    epsilon: float

    @property
    def after(self) -> Belief:
        """The least and the most that can be believed after the release."""
        return Belief.bound(self.prior, epsilon=self.epsilon)

    @property
    def title(self) -> str:
        """The finding.

        >>> IconArray(0.5, 1.0).title
        'At ε = 1, a belief of 50 % becomes at most 73.1 %'
        """
        return (
            f"At ε = {self.epsilon:g}, a belief of {format_percent(self.prior)} becomes at most "
            f"{format_percent(self.after.most)}"
        )

    @property
    def sentence(self) -> str:
        """What to repeat.

        >>> IconArray(0.5, 1.0).sentence
        'Whatever somebody knows about you, the release changes the odds by at most a factor of 2.72.'
        """
        factor = f"{exp(self.epsilon):.3g}" if self.epsilon < 10 else f"e^{self.epsilon:g}"
        return f"Whatever somebody knows about you, the release changes the odds by at most a factor of {factor}."

    def words(self) -> str:
        """The picture in words."""
        return (
            f"Two arrays of a hundred people. Without your data {format_percent(self.prior)} are marked; with it "
            f"between {format_percent(self.after.least)} and {format_percent(self.after.most)}."
        )

    def draw(self, palette: Palette) -> Plot:
        """Two squares of a hundred people side by side."""
        plot = Plot(make_layout(palette, height=_HEIGHT))
        least, most = (round(100 * share) for share in self.after)
        before = round(100 * self.prior)
        strong, weak, none = palette.released, palette.fade(palette.released, 0.4), palette.grid
        right = _SIDE + _GAP
        self._people(plot, range(before), 0, palette.public)
        self._people(plot, range(before, 100), 0, none)
        self._people(plot, range(least), right, strong)
        self._people(plot, range(least, most), right, weak)
        self._people(plot, range(most, 100), right, none)
        for x, heading, number, color in (
            (0.0, "without your data", f"{format_percent(self.prior)} believe it of you", palette.public),
            (
                right,
                "with your data",
                f"{format_percent(self.after.least)} to {format_percent(self.after.most)}",
                palette.released,
            ),
        ):
            text = f"{heading}<br><b>{number}</b>"
            where = {"x": x, "y": _SIDE, "xanchor": "left", "yanchor": "bottom", "align": "left"}
            plot.add_annotation({"text": text, "showarrow": False, "font": {"size": 14, "color": color}, **where})
        plot.update_xaxes(range=[-0.2, right + _SIDE + 0.2], constrain="domain", **make_hidden_axis())
        square = {"scaleanchor": "x", "constrain": "domain", "constraintoward": "top"}
        plot.update_yaxes(range=[-0.2, _SIDE + 0.1], **square, **make_hidden_axis())
        return plot.update_layout(margin={"l": 0, "r": 0, "t": _WORDS, "b": 0}, showlegend=False)

    @staticmethod
    def _people(plot: Plot, places: range, left: float, color: str) -> None:
        if not len(places):
            return
        number = np.asarray(places)
        corner = np.column_stack([left + number % _SIDE, _SIDE - 1 - number // _SIDE]).astype(float)
        for shape in (_HEAD, _SHOULDERS):
            path = _close_outline(corner, shape)
            plot.add_trace(
                {
                    **{"type": "scatter", "x": path[:, 0], "y": path[:, 1], "mode": "lines", "line": {"width": 0}},
                    **{"fill": "toself", "fillcolor": color, "hoverinfo": "skip", "showlegend": False},
                }
            )


def _close_outline(corners: Array, shape: Array) -> Array:
    """The same closed path at each corner, gaps between."""
    gap = np.full((len(corners), 1, 2), np.nan)
    return np.concatenate([corners[:, None] + shape[None], gap], axis=1).reshape(-1, 2)
