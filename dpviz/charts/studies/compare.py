"""Centres of several algorithms side by side: small pictures with the same axes, each against k-means++."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import plotly.graph_objects as go

from dpviz.arrays import Array
from dpviz.charts.canvas import legend_name, show_plane, xy
from dpviz.charts.cells import segments
from dpviz.charts.revealed import RevealedView
from dpviz.charts.theme import Kind, Palette, center_marker, layout, reference_marker
from dpviz.charts.view import View
from dpviz.charts.wording import clauses, ratio, things
from dpviz.runs.evaluation import Reference, match

# Up to so many pictures, the least width of each and the height of its plane in pixels: many pictures stand in fours
# on a desktop, in twos on a phone.
_SIZES = ((4, 320, 310), (9, 230, 200), (1000, 165, 165))
# Room for ticks below and to the left of a small plane, and air on its other sides.
_MARGIN = {"l": 30, "b": 20, "r": 6, "t": 6}
_TICK_SIZE = 9
# Rows in each small picture: more would hide the centres.
_MOST_ROWS = 1000


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


def draw_compare(
    releases: Mapping[str, Typical],
    *,
    view: View,
    palette: Palette,
    reference: Reference | None = None,
    reveal: RevealedView | None = None,
) -> SideBySide:
    """A picture for each algorithm, the best first; centres are tied to those of k-means++ where these are given."""
    names = sorted(releases, key=lambda name: releases[name].loss)
    width, height = next((width, height) for most, width, height in _SIZES if len(names) <= most)
    panels = [
        Panel(
            name,
            ratio(releases[name].loss),
            _picture(releases[name].centers, view, palette, reference, reveal, height),
        )
        for name in names
    ]
    title = f"Centres of {things(len(names), 'algorithm')} on the same axes"
    if len(names) > 1:
        title = f"{names[0]} comes closest to k-means++"
    across, up = view.name
    axes = f"across: {across}" if view.flat else f"across: {across}, up: {up}"
    return SideBySide(title, clauses("number: median loss / loss of k-means++", axes, view.about), panels, width)


def _picture(
    centers: Array,
    view: View,
    palette: Palette,
    reference: Reference | None,
    reveal: RevealedView | None,
    height: int,
) -> go.Figure:
    """A plane without any title: what the axes are is the same in all pictures, and stands above them once."""
    figure = go.Figure(layout=layout(palette, height=height + _MARGIN["t"] + _MARGIN["b"]))
    figure.update_layout(margin=_MARGIN, showlegend=False)
    drawn = view.plane(centers)
    if reveal is not None:
        look = {"color": palette.revealed, "size": 2, "opacity": 0.3}
        dots(figure, view.plane(reveal.points[:_MOST_ROWS], "rows"), look, "rows", "revealed")
    if reference is not None:
        partner = view.plane(reference.centers, "reference")
        if len(reference.centers) == len(centers):
            lines = segments(partner[match(centers, reference.centers)], drawn)
            line = {"color": palette.muted, "width": 1.1}
            figure.add_trace(go.Scatter(**xy(lines), mode="lines", line=line, hoverinfo="skip"))
        mark = reference_marker(palette, 9) | {"line": {"width": 1.5}}
        dots(figure, partner, mark, "k-means++", "revealed")
    size = 9 if len(centers) <= 20 else 7
    mark = center_marker(palette, palette.released, size) | {"line": {"width": 1, "color": palette.surface}}
    dots(figure, drawn, mark, "centres", "released")
    show_plane(figure, view, palette)
    figure.update_xaxes(title_text="", nticks=4, tickfont_size=_TICK_SIZE)
    figure.update_yaxes(title_text="", nticks=4, tickfont_size=_TICK_SIZE)
    return figure


def dots(figure: go.Figure, drawn: Array, marker: Mapping[str, object], what: str, kind: Kind) -> None:
    """Marks of one kind at drawn positions (m, 2)."""
    figure.add_trace(
        go.Scatter(
            **xy(drawn),
            **{"mode": "markers", "marker": marker, "name": legend_name(what, kind), "meta": kind},
            hovertemplate="%{x:.4g}, %{y:.4g}<extra></extra>",
        )
    )
