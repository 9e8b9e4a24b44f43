"""Asking again: what averaging leaves of the noise, what it costs, and what it tells about one person."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from dpviz.app.charts.layout import make_layout
from dpviz.app.charts.plot import Plot
from dpviz.core import Array, Codes
from dpviz.runs import AskingAgain
from dpviz.words import Palette, round_percent

_HEIGHT = 340


class Curve(NamedTuple):
    """One of the pictures: its heading, itself in words, and what draws it."""

    heading: str
    words: str
    draw: Callable[[Palette], Plot]


@dataclass(frozen=True)
class AskingCosts:
    """Against the number of releases that are averaged."""

    sentence: ClassVar[str] = "Whoever may ask often enough averages the noise away: so every release is counted."
    """What to repeat."""

    asked: AskingAgain

    @property
    def title(self) -> str:
        """What the most releases do to the noise, and what they cost."""
        most = max(self.asked.noise)
        shrunk = self.asked.noise[1] / self.asked.noise[most] if self.asked.noise[most] > 0 else np.inf
        price = next(one for one in self.asked.prices if one.times == most)
        return (
            f"{most} releases: {shrunk:.2g} times less noise, and ε = {price.added:g} instead of {self.asked.epsilon:g}"
        )

    @property
    def curves(self) -> list[Curve]:
        """Noise, ε and, where it is known, what an attacker gains."""
        left = ", ".join(
            f"{round_percent(value / self.asked.noise[1])} after {times}" for times, value in self.asked.noise.items()
        )
        spent = ", ".join(f"{one.added:g} after {one.times}, {one.composed:.3g} composed" for one in self.asked.prices)
        curves = [
            Curve("Noise left, % of one release", f"Noise left after so many releases: {left}.", self._noise),
            Curve("ε of all together", f"ε after so many releases: {spent}.", self._price),
        ]
        if self.asked.gains:
            gained = ", ".join(f"{100 * value:.0f} after {times}" for times, value in self.asked.gains.items())
            words = f"Points that an attacker gains after so many releases: {gained}."
            curves.append(Curve("What an attacker gains, points", words, self._gain))
        return curves

    def _noise(self, palette: Palette) -> Plot:
        plot, times = self._plot(palette), np.array(sorted(self.asked.noise))
        fine = np.geomspace(1, self._most, 60)
        self._line(plot, fine, 100 / np.sqrt(fine), palette.muted, "dot")
        self._line(
            plot,
            times,
            100 * np.array([self.asked.noise[int(one)] for one in times]) / self.asked.noise[1],
            palette.released,
        )
        # Below its curve, where averages hardly ever lie.
        self._say(plot, "1/√t", fine[15], 100 / np.sqrt(fine[15]), palette.muted, up=-18)
        return plot

    def _price(self, palette: Palette) -> Plot:
        plot, times = self._plot(palette), np.array([one.times for one in self.asked.prices])
        added, composed = (
            np.array([getattr(one, name) for one in self.asked.prices]) for name in ("added", "composed")
        )
        self._line(plot, times, added, palette.released)
        self._line(plot, times, composed, palette.inks[1], "dash")
        self._say(plot, "added up", times[-1], added[-1], palette.released)
        if composed[-1] < 0.97 * added[-1]:
            # Below its line: between the lines there is no room for words.
            words = f"composed, δ = {self.asked.prices[-1].delta:.0e}"
            self._say(plot, words, times[-1], composed[-2] / 2, palette.inks[1], up=0)
        return plot

    def _gain(self, palette: Palette) -> Plot:
        plot, times = self._plot(palette), np.array([one.times for one in self.asked.prices])
        most = 100 * np.array([one.most_gain for one in self.asked.prices])
        gained = np.array(sorted(self.asked.gains))
        self._line(plot, times, most, palette.text)
        self._line(plot, gained, 100 * np.array([self.asked.gains[int(one)] for one in gained]), palette.inks[2])
        self._say(plot, "none can gain more", times[-1], most[-1], palette.text)
        self._say(
            plot,
            "who reads all answers",
            gained[1],
            100 * self.asked.gains[int(gained[1])],
            palette.inks[2],
            at="left",
            up=-14,
        )
        plot.update_yaxes(range=[0, 112])
        return plot

    @property
    def _most(self) -> int:
        return max(one.times for one in self.asked.prices)

    def _plot(self, palette: Palette) -> Plot:
        plot = Plot(make_layout(palette, height=_HEIGHT))
        ticks = [one.times for one in self.asked.prices]
        plot.update_xaxes(
            **{"type": "log", "tickvals": ticks, "ticktext": [f"{tick}" for tick in ticks]},
            **{"title_text": "releases, t", "range": [-0.1, np.log10(self._most) + 0.12]},
        )
        plot.update_yaxes(rangemode="tozero")
        return plot.update_layout(margin={"l": 40, "r": 8, "t": 16, "b": 48}, showlegend=False)

    @staticmethod
    def _line(plot: Plot, x: Array | Codes, y: Array, color: str, dash: str = "solid") -> None:
        plot.add_trace(
            {
                **{"type": "scatter", "x": x, "y": y, "mode": "lines" if dash == "dot" else "lines+markers"},
                **{"line": {"color": color, "width": 2, "dash": dash}, "marker": {"size": 7}, "cliponaxis": False},
                "hovertemplate": "%{x:.0f} releases: %{y:.3g}<extra></extra>",
            }
        )

    @staticmethod
    def _say(plot: Plot, text: str, x: float, y: float, color: str, *, at: str = "right", up: int = 12) -> None:
        where: dict[str, Any] = {"x": float(np.log10(x)), "y": float(y), "xanchor": at, "yshift": up}
        plot.add_annotation({"text": text, "showarrow": False, "font": {"size": 12, "color": color}, **where})
