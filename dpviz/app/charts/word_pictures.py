"""Small pictures beside a few words of the glossary: made-up points, drawn in the language of all charts."""

from collections.abc import Callable
from math import exp
from typing import Any, NamedTuple

import numpy as np

from dpviz.app.charts.canvas import PlotCanvas
from dpviz.app.charts.cells import compute_voronoi_polygons, join_outlines, outline_boxes
from dpviz.app.charts.plot import WORDS, Plot, make_center_marker, make_layout
from dpviz.app.charts.view import make_view
from dpviz.core import Array, Domain
from dpviz.words import Palette, format_number, format_percent

HEIGHT = 130
"""Pixels."""
_HIDDEN: dict[str, Any] = {"visible": False}
_WIDE, _HIGH = 1.0, 0.45
_HALF = np.array([_WIDE, _HIGH])
_MIDDLES = np.array([[-0.62, 0.1], [0.05, -0.18], [0.66, 0.16]])


class WordPicture(NamedTuple):
    """How a picture is drawn, and what it shows in words."""

    draw: Callable[[Palette], Plot]
    alt: str


def draw_odds(palette: Palette) -> Plot:
    """What somebody believes before a release at ε = 1, and at most after it."""
    plot, after = _make_plot(palette), exp(1.0) / (1.0 + exp(1.0))
    for words, share, strength in (("guess before", 0.5, 0.45), ("guess after, at most", after, 1.0)):
        color = palette.released if strength == 1 else palette.fade(palette.released, strength)
        label = {"text": f"{words}: {format_percent(share)}", "textposition": "inside", "insidetextanchor": "start"}
        ink = {"color": palette.surface if strength == 1 else palette.text, "size": 13}
        bar = {"type": "bar", "orientation": "h", "x": [share], "y": [words], "textfont": ink, **label}
        plot.add_trace(bar | {"marker": {"color": color}, "meta": "released"})
    plot.update_xaxes(range=[0, 1], **_HIDDEN)
    plot.update_yaxes(autorange="reversed", **_HIDDEN)
    return plot.update_layout(bargap=0.3)


def draw_laplace(palette: Palette) -> Plot:
    """The noise of a count at ε = 1, and at half of that."""
    plot, x = _make_plot(palette), np.linspace(-6, 6, 241)
    for epsilon, dash in ((1.0, "solid"), (0.5, "dash")):
        curve = {"type": "scatter", "mode": "lines", "x": x, "y": epsilon / 2 * np.exp(-epsilon * np.abs(x))}
        plot.add_trace(curve | {"line": {"color": palette.released, "width": 2, "dash": dash}, "meta": "released"})
        at = 1.0 if epsilon == 1 else 3.2
        where = {"x": at, "y": epsilon / 2 * exp(-epsilon * at), "xanchor": "left", "yanchor": "bottom"}
        plot.add_annotation({"text": f"ε = {epsilon:g}", "showarrow": False, "font": {"size": 13}, **where})
    plot.update_xaxes(tickvals=[-5, 0, 5], range=[-6, 6])
    plot.update_yaxes(**_HIDDEN)
    return plot.update_layout(margin_b=24)


def draw_grid(palette: Palette) -> Plot:
    """Noisy counts of the cells of a grid; one is below zero."""
    plot = _make_plot(palette)
    counts = np.array([[12.1, -11.2, 2.2, 0.9, 21.4], [31.8, 9.6, -7.1, 4.3, 38.9], [14.7, 22.5, 17.2, 3.1, 8.6]])
    cells = {"type": "heatmap", "z": counts, "zmid": 0, "colorscale": [list(stop) for stop in palette.diverging]}
    written = {"text": [[format_number(round(z)) for z in line] for line in counts], "texttemplate": "%{text}"}
    look = {"textfont": {"size": 13}, "showscale": False, "xgap": 1, "ygap": 1}
    plot.add_trace(cells | written | look | {"zmin": -60, "zmax": 60, "meta": "released"})
    plot.update_xaxes(**_HIDDEN)
    plot.update_yaxes(**_HIDDEN)
    return plot


def draw_cube(palette: Palette) -> Plot:
    """Made-up points, and the cubes into which a tree divides their square: small where there are many."""
    canvas = _make_points(palette)
    canvas.lines(outline_boxes(*_list_cubes()), "", "released", width=1.5)
    return canvas.plot


def draw_candidate(palette: Palette) -> Plot:
    """Places where a centre may go: the middles of cubes."""
    canvas = _make_points(palette)
    low, high = _list_cubes()
    canvas.lines(outline_boxes(low, high), "", "released", width=1, strength=0.35)
    canvas.marks((low + high) / 2, "", "released", {"symbol": "x", "size": 7})
    return canvas.plot


def draw_coreset(palette: Palette) -> Plot:
    """A few weighted points over the many that they stand in for."""
    canvas = _make_points(palette)
    low, high = _list_cubes()
    cell = ((_make_rows()[:, None] >= low) & (_make_rows()[:, None] < high)).all(axis=2)
    weight = cell.sum(axis=0)
    middle = cell.T @ _make_rows() / np.maximum(weight, 1)[:, None]
    canvas.marks(middle[weight > 2], "", "released", {"size": 3 + 2 * np.sqrt(weight[weight > 2])}, strength=0.75)
    return canvas.plot


def draw_voronoi(palette: Palette) -> Plot:
    """Three centres, and the cell of each."""
    canvas = _make_points(palette)
    for cell, tint in zip(compute_voronoi_polygons(_MIDDLES, _HALF), palette.tints, strict=False):
        outline = join_outlines([cell])
        canvas.lines(outline, "", "released", color=palette.muted, fill=palette.fade(tint, palette.tint_strength))
    canvas.marks(_MIDDLES, "", "released", make_center_marker(palette))
    return canvas.plot


_DRAWN = draw_odds, draw_laplace, draw_grid, draw_cube, draw_candidate, draw_coreset, draw_voronoi
_NAMED = {draw.__name__.removeprefix("draw_"): draw for draw in _DRAWN}
PICTURES = {name: WordPicture(draw, WORDS.by_key[f"picture_{name}"]) for name, draw in _NAMED.items()}
"""By the name that the glossary gives."""


def _make_plot(palette: Palette) -> Plot:
    margin = {"l": 2, "r": 2, "t": 2, "b": 2}
    return Plot(make_layout(palette, height=HEIGHT)).update_layout(margin=margin, showlegend=False)


def _make_points(palette: Palette) -> PlotCanvas:
    """A canvas of made-up points."""
    plot = _make_plot(palette)
    canvas = PlotCanvas(plot, palette, make_view(Domain.of(["x", "y"], -1, 1)))
    canvas.marks(_make_rows(), "", "public", {"size": 3}, strength=0.6)
    plot.update_xaxes(range=[-1.01 * _WIDE, 1.01 * _WIDE], **_HIDDEN)
    plot.update_yaxes(range=[-1.03 * _HIGH, 1.03 * _HIGH], scaleanchor="x", **_HIDDEN)
    return canvas


def _make_rows() -> Array:
    spread = np.random.default_rng(3).normal(size=(3, 50, 2)) * np.array([0.1, 0.09])
    rows: Array = np.clip((_MIDDLES[:, None, :] + spread).reshape(-1, 2), -0.99 * _HALF, 0.99 * _HALF)
    return rows


def _list_cubes() -> tuple[Array, Array]:
    """Lower and upper corners (m, 2) of boxes that are divided in four as long as they hold many rows."""
    rows, done = _make_rows(), list[Array]()
    step = 2 * _HIGH
    waiting = [np.array([[x, -_HIGH], [x + step, _HIGH]]) for x in np.arange(-_WIDE, _WIDE - 1e-9, step)]
    while waiting:
        box = waiting.pop()
        inside = int(((rows >= box[0]) & (rows < box[1])).all(axis=1).sum())
        side = (box[1] - box[0]) / 2
        if inside > 14 and side[0] > 0.1:
            corners = [box[0] + side * np.array([x, y]) for x in (0, 1) for y in (0, 1)]
            waiting += [np.array([corner, corner + side]) for corner in corners]
        else:
            done.append(box)
    return np.array([box[0] for box in done]), np.array([np.minimum(box[1], _HALF) for box in done])
