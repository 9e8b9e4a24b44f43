"""Asking again: what averaging leaves of the noise, what it costs, and what it tells about one person."""

from __future__ import annotations

from functools import partial

import numpy as np

from dpviz.app.charts.diagram import Diagram, add_note
from dpviz.app.charts.layout import make_layout
from dpviz.app.charts.plot import Plot
from dpviz.core import Array, Codes
from dpviz.runs import AskingAgain
from dpviz.words import Palette, round_percent

_HEIGHT = 340


SENTENCE = "Whoever may ask often enough averages the noise away: so every release is counted."
"""What to repeat."""


def describe_costs(asked: AskingAgain) -> str:
    """What the most releases do to the noise, and what they cost."""
    most = max(asked.noise)
    shrunk = asked.noise[1] / asked.noise[most] if asked.noise[most] > 0 else np.inf
    price = next(one for one in asked.prices if one.times == most)
    return f"{most} releases: {shrunk:.2g} times less noise, and ε = {price.added:g} instead of {asked.epsilon:g}"


def draw_costs(asked: AskingAgain) -> list[Diagram]:
    """Noise, ε and, where it is known, what an attacker gains, against the number of releases that are averaged."""
    left = ", ".join(f"{round_percent(value / asked.noise[1])} after {times}" for times, value in asked.noise.items())
    spent = ", ".join(f"{one.added:g} after {one.times}, {one.composed:.3g} composed" for one in asked.prices)
    drawn = [
        ("Noise left, % of one release", f"Noise left after so many releases: {left}.", _paint_noise),
        ("ε of all together", f"ε after so many releases: {spent}.", _paint_price),
    ]
    if asked.gains:
        gained = ", ".join(f"{100 * value:.0f} after {times}" for times, value in asked.gains.items())
        words = f"Points that an attacker gains after so many releases: {gained}."
        drawn.append(("What an attacker gains, points", words, _paint_gain))
    return [Diagram("asking-again", heading, "", words, partial(paint, asked)) for heading, words, paint in drawn]


def _paint_noise(asked: AskingAgain, palette: Palette) -> Plot:
    plot, times = _make_plot(asked, palette), np.array(sorted(asked.noise))
    fine = np.geomspace(1, max(one.times for one in asked.prices), 60)
    _add_line(plot, fine, 100 / np.sqrt(fine), palette.muted, "dot")
    left = 100 * np.array([asked.noise[int(one)] for one in times]) / asked.noise[1]
    _add_line(plot, times, left, palette.released)
    # Below its curve, where averages hardly ever lie.
    _say(plot, "1/√t", fine[15], 100 / np.sqrt(fine[15]), palette.muted, up=-18)
    return plot


def _paint_price(asked: AskingAgain, palette: Palette) -> Plot:
    plot, times = _make_plot(asked, palette), np.array([one.times for one in asked.prices])
    added, composed = (np.array([getattr(one, name) for one in asked.prices]) for name in ("added", "composed"))
    _add_line(plot, times, added, palette.released)
    _add_line(plot, times, composed, palette.inks[1], "dash")
    _say(plot, "added up", times[-1], added[-1], palette.released)
    if composed[-1] < 0.97 * added[-1]:
        # Below its line: between the lines there is no room for words.
        words = f"composed, δ = {asked.prices[-1].delta:.0e}"
        _say(plot, words, times[-1], composed[-2] / 2, palette.inks[1], up=0)
    return plot


def _paint_gain(asked: AskingAgain, palette: Palette) -> Plot:
    plot, times = _make_plot(asked, palette), np.array([one.times for one in asked.prices])
    most, gained = 100 * np.array([one.most_gain for one in asked.prices]), np.array(sorted(asked.gains))
    gains = 100 * np.array([asked.gains[int(one)] for one in gained])
    _add_line(plot, times, most, palette.text)
    _add_line(plot, gained, gains, palette.inks[2])
    _say(plot, "none can gain more", times[-1], most[-1], palette.text)
    _say(plot, "who reads all answers", gained[1], gains[1], palette.inks[2], at="left", up=-14)
    plot.update_yaxes(range=[0, 112])
    return plot


def _make_plot(asked: AskingAgain, palette: Palette) -> Plot:
    plot, ticks = Plot(make_layout(palette, height=_HEIGHT)), [one.times for one in asked.prices]
    plot.update_xaxes(type="log", tickvals=ticks, ticktext=[f"{tick}" for tick in ticks], title_text="releases, t")
    plot.update_xaxes(range=[-0.1, np.log10(max(ticks)) + 0.12])
    plot.update_yaxes(rangemode="tozero")
    return plot.update_layout(margin={"l": 40, "r": 8, "t": 16, "b": 48}, showlegend=False)


def _add_line(plot: Plot, x: Array | Codes, y: Array, color: str, dash: str = "solid") -> None:
    plot.add_trace(
        {
            **{"type": "scatter", "x": x, "y": y, "mode": "lines" if dash == "dot" else "lines+markers"},
            **{"line": {"color": color, "width": 2, "dash": dash}, "marker": {"size": 7}, "cliponaxis": False},
            "hovertemplate": "%{x:.0f} releases: %{y:.3g}<extra></extra>",
        }
    )


def _say(plot: Plot, text: str, x: float, y: float, color: str, *, at: str = "right", up: int = 12) -> None:
    where = {"x": float(np.log10(x)), "y": float(y), "xanchor": at, "yshift": up}
    add_note(plot, text, color, where, size=12)
