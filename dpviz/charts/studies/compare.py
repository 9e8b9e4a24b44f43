"""Centres of several algorithms side by side: small pictures with the same axes, each against k-means++."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import plotly.graph_objects as go

from dpviz.arrays import Array
from dpviz.charts.cells import segments
from dpviz.charts.picture import Look
from dpviz.charts.sheet import Sheet
from dpviz.charts.theme import center_marker, layout, reference_marker
from dpviz.charts.wording import clauses, ratio, things
from dpviz.runs.evaluation import match

# Up to so many pictures, the least width of each and the height of its plane in pixels: many pictures stand in fours
# on a desktop, in twos on a phone.
_SIZES = ((4, 320, 310), (9, 230, 200), (1000, 165, 165))
# Room for ticks below and to the left of a small plane, and air on its other sides.
_MARGIN = {"l": 30, "b": 20, "r": 6, "t": 6}
_TICK_SIZE = 9
# Rows in each small picture: more would hide the centres.
_MOST_ROWS = 1000
_HOVER = "%{x:.4g}, %{y:.4g}"


class Typical(NamedTuple):
    """A typical release of one algorithm: centres (k, d), unit coordinates; its median loss over that of k-means++."""

    centers: Array
    loss: float


class Panel(NamedTuple):
    """The picture of one algorithm, and its score in words."""

    name: str
    score: str
    figure: go.Figure


class SideBySide(NamedTuple):
    """Small pictures, what they show together, and the least width of each in pixels."""

    title: str
    about: str
    panels: list[Panel]
    least_width: int


def draw_compare(releases: Mapping[str, Typical], look: Look) -> SideBySide:
    """A picture for each algorithm, the best first; centres are tied to those of k-means++ where these are given."""
    names, view = sorted(releases, key=lambda name: releases[name].loss), look.view
    width, height = next((width, height) for most, width, height in _SIZES if len(names) <= most)
    panels = [Panel(name, ratio(releases[name].loss), _picture(releases[name].centers, look, height)) for name in names]
    title = f"Centres of {things(len(names), 'algorithm')} on the same axes"
    if len(names) > 1:
        title = f"{names[0]} comes closest to k-means++"
    across, up = view.name
    axes = f"across: {across}" if view.flat else f"across: {across}, up: {up}"
    return SideBySide(title, clauses("number: median loss / loss of k-means++", axes, view.about), panels, width)


def _picture(centers: Array, look: Look, height: int) -> go.Figure:
    """A plane without any title: what the axes are is the same in all pictures, and stands above them once."""
    view, palette = look.view, look.palette
    figure = go.Figure(layout=layout(palette, height=height + _MARGIN["t"] + _MARGIN["b"]))
    figure.update_layout(margin=_MARGIN, showlegend=False)
    sheet, drawn = Sheet(figure, palette, view), view.plane(centers)
    if look.reveal is not None:
        rows = view.plane(look.reveal.points[:_MOST_ROWS], "rows")
        sheet.marks(rows, "rows", "revealed", {"size": 2, "opacity": 0.3}, hover=_HOVER)
    if look.reference is not None:
        partner = view.plane(look.reference.centers, "reference")
        if len(look.reference.centers) == len(centers):
            links = segments(partner[match(centers, look.reference.centers)], drawn)
            sheet.lines(links, "", None, color=palette.muted, width=1.1)
        mark = reference_marker(palette, 9) | {"line": {"width": 1.5}}
        sheet.marks(partner, "k-means++", "revealed", mark, hover=_HOVER)
    size = 9 if len(centers) <= 20 else 7
    mark = center_marker(palette, palette.released, size) | {"line": {"width": 1, "color": palette.surface}}
    sheet.marks(drawn, "centres", "released", mark, hover=_HOVER)
    sheet.plane()
    figure.update_xaxes(title_text="", nticks=4, tickfont_size=_TICK_SIZE)
    figure.update_yaxes(title_text="", nticks=4, tickfont_size=_TICK_SIZE)
    return figure
