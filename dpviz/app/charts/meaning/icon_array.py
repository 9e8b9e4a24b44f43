"""A belief about one person, in people: a hundred before a release, and how far a release can move them."""

from __future__ import annotations

from math import exp

import numpy as np

from dpviz.app.charts.canvas import make_hidden_axis
from dpviz.app.charts.diagram import Diagram, add_note
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


def draw_icon_array(prior: float, epsilon: float) -> Diagram:
    """Of a hundred like them, how many it would be true of: before a release, and at most and at least after it.

    >>> array = draw_icon_array(0.5, 1.0)
    >>> array.finding
    'At ε = 1, a belief of 50 % becomes at most 73.1 %'
    >>> array.note
    'Whatever somebody knows about you, the release changes the odds by at most a factor of 2.72.'
    """
    after = Belief.bound(prior, epsilon=epsilon)
    believed, least, most = (format_percent(share) for share in (prior, *after))
    factor = f"{exp(epsilon):.3g}" if epsilon < 10 else f"e^{epsilon:g}"

    def paint(palette: Palette) -> Plot:
        plot, right = Plot(make_layout(palette, height=_HEIGHT)), _SIDE + _GAP
        before, low, high = (round(100 * share) for share in (prior, *after))
        for left, places, color in (
            (0.0, range(before), palette.public),
            (0.0, range(before, 100), palette.grid),
            (right, range(low), palette.released),
            (right, range(low, high), palette.fade(palette.released, 0.4)),
            (right, range(high, 100), palette.grid),
        ):
            _add_people(plot, places, left, color)
        for x, heading, number, color in (
            (0.0, "without your data", f"{believed} believe it of you", palette.public),
            (right, "with your data", f"{least} to {most}", palette.released),
        ):
            where = {"x": x, "y": _SIDE, "xanchor": "left", "yanchor": "bottom", "align": "left"}
            add_note(plot, f"{heading}<br><b>{number}</b>", color, where, size=14)
        plot.update_xaxes(range=[-0.2, right + _SIDE + 0.2], constrain="domain", **make_hidden_axis())
        square = {"scaleanchor": "x", "constrain": "domain", "constraintoward": "top"}
        plot.update_yaxes(range=[-0.2, _SIDE + 0.1], **square, **make_hidden_axis())
        return plot.update_layout(margin={"l": 0, "r": 0, "t": _WORDS, "b": 0}, showlegend=False)

    finding = f"At ε = {epsilon:g}, a belief of {believed} becomes at most {most}"
    note = f"Whatever somebody knows about you, the release changes the odds by at most a factor of {factor}."
    words = "Two arrays of a hundred people. "
    words += f"Without your data {believed} are marked; with it between {least} and {most}."
    return Diagram("odds", finding, note, words, paint)


def _add_people(plot: Plot, places: range, left: float, color: str) -> None:
    if not len(places):
        return
    number = np.asarray(places)
    corner = np.column_stack([left + number % _SIDE, _SIDE - 1 - number // _SIDE]).astype(float)
    for shape in (_HEAD, _SHOULDERS):
        path = _close_outline(corner, shape)
        plot.add_scatter(path[:, 0], path[:, 1], "lines", line={"width": 0}, fill="toself", fillcolor=color)


def _close_outline(corners: Array, shape: Array) -> Array:
    """The same closed path at each corner, gaps between."""
    gap = np.full((len(corners), 1, 2), np.nan)
    return np.concatenate([corners[:, None] + shape[None], gap], axis=1).reshape(-1, 2)
