"""The empty canvas of a figure: the words above it, margins that do not move, a plane with fixed axes, panels."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import plotly.graph_objects as go

from dpviz.app.charts.layout import PHONE, TITLE_SIZE, make_layout, wrap_lines
from dpviz.app.charts.plot import Plot, merge
from dpviz.app.charts.view import View
from dpviz.core import Array
from dpviz.words import Kind, Palette


def spell_name(name: str) -> str:
    """``name`` for any text of a figure: read as it is, never as a tag, a template of a hover text or a formula.

    >>> spell_name("<b>%{x}</b>")
    '&lt;b&gt;&#37;{x}&lt;/b&gt;'
    """
    return escape(" ".join(name.split()), quote=False).replace("%{", "&#37;{").replace("$", "&#36;")


PLANE_HEIGHT = 478
"""Pixels of a picture of a plane: a square of some 350 pixels with its legend."""
SUBTITLE_SIZE, NUMBER_SIZE = 12, 11
# Where the first line of a drawn title stands, the pitch of lines, and room for two lines of title and three of
# subtitle at least: figures of one run are of one size.
_FIRST_LINE, _PITCH, _SUBTITLE_PITCH, _RESERVED_SUBTITLE = 20, 21, 16, 3
_MARGIN = {"l": 56, "r": 16}
_SIDES = 24
BARE_MARGIN = {"l": 48, "r": 8, "t": 8, "b": 44}
AIR = 28
"""Pixels above a plot, so that the mode bar covers no mark."""
# A bold line is this much wider.
_BOLD = 1.15
# Axis title with its ticks, and a line of the legend.
_AXIS_ROOM, LEGEND_LINE = 50, 20

# Figures keep float32: seven digits are more than a screen shows.
SCREEN = np.float32
Screen = npt.NDArray[np.float32]


class TitledPlot(NamedTuple):
    """A plot and the words that stand above it, which a page sets as text of its own."""

    title: str
    subtitle: str
    plot: Plot

    def headed(self, palette: Palette, *, width: int = PHONE) -> go.Figure:
        """The library's figure with both drawn above the plot, for a notebook or a file without a page around it."""
        head = wrap_lines(self.title, size=TITLE_SIZE * _BOLD, width=width - _SIDES, even=True)
        under = wrap_lines(self.subtitle, size=SUBTITLE_SIZE, width=width - _SIDES) or ["\u00a0"]
        below = max(_RESERVED_SUBTITLE, len(under)) * _SUBTITLE_PITCH if self.subtitle else 8
        room = _FIRST_LINE + max(2, len(head)) * _PITCH + below
        figure = self.plot.figure()
        above, height = figure.layout.margin.t, figure.layout.height
        # What a plot has above itself stays; mere air makes way, unless the mark of what was revealed stands in it.
        top = room + (above if above > AIR or figure.layout.meta else 0)
        height += top - above
        # With a subtitle, if only a blank one, the browser hangs the title by the middle of its lines.
        first = _FIRST_LINE + _PITCH / 2 * (len(head) - 1)
        subtitle = {
            "text": "<br>".join(map(spell_name, under)),
            "font": {"size": SUBTITLE_SIZE, "color": palette.muted},
        }
        title: dict[str, Any] = {"text": "<br>".join(map(spell_name, head)), "subtitle": subtitle, "pad": {"l": 12}}
        title |= {"font": {"size": TITLE_SIZE, "weight": 600}, "y": 1 - first / height, "yanchor": "top"}
        title |= {"x": 0.0, "xanchor": "left", "xref": "container", "yref": "container"}
        return figure.update_layout(height=height, margin={"t": top}, title=title)


def new_plot(palette: Palette, *, height: int = PLANE_HEIGHT, legend_lines: int = 4) -> Plot:
    """A plot without marks; title and subtitle stand elsewhere."""
    return Plot(make_layout(palette, height=height)).update_layout(
        margin={**_MARGIN, "t": AIR, "b": _AXIS_ROOM + LEGEND_LINE * legend_lines},
        showlegend=legend_lines > 0,
        legend={
            "x": 0.01,
            "xref": "container",
            "y": 0,
            "yref": "container",
            "yanchor": "bottom",
            "font": {"size": NUMBER_SIZE},
            "itemsizing": "constant",
            "itemclick": "toggle",
        },
    )


class Panel(NamedTuple):
    """One of several plots in a figure: its place, counted from 0, and what it takes of the figure across and up."""

    place: int
    across: tuple[float, float]
    up: tuple[float, float]

    @property
    def axes(self) -> dict[str, str]:
        """What a trace is given to lie in it."""
        return {"xaxis": f"x{self._number}", "yaxis": f"y{self._number}"}

    def add(self, plot: Plot, palette: Palette, x: Mapping[str, Any], y: Mapping[str, Any]) -> None:
        """Its axes."""
        usual = make_layout(palette)
        for name, own, other, ends in (("xaxis", x, "yaxis", self.across), ("yaxis", y, "xaxis", self.up)):
            # A sum of parts may come out a rounding error above the whole.
            within = [max(0.0, ends[0]), min(ends[1], 1.0)]
            axis = merge(merge({}, usual[name]), {"domain": within, "anchor": self.axes[other]})
            plot.update_layout(**{f"{name}{self._number}": merge(axis, own)})

    @property
    def _number(self) -> str:
        return "" if self.place == 0 else str(self.place + 1)


def make_bare_layout(palette: Palette) -> dict[str, Any]:
    """The layout of a plot whose title and legend are set by the page, which also knows its size."""
    return make_layout(palette) | {"legend": None, "height": None, "margin": BARE_MARGIN, "showlegend": False}


def show_plane(plot: Plot, view: View, palette: Palette, *, fill: str | None = None) -> None:
    """Fixed ranges and titles of the axes, unit coordinates drawn square, and the outline of the public domain."""
    (x_range, y_range), (x_name, y_name) = view.range, view.name
    plane = {"zeroline": False, "showgrid": view.flat, "constrain": "domain"}
    across, up = view.ticks
    plot.update_xaxes(range=x_range, title_text=spell_name(x_name), **plane, **across)
    plot.update_yaxes(range=y_range, title_text=spell_name(y_name), **plane, **up)
    if view.flat:
        plot.update_yaxes(visible=False)
    elif view.aspect is not None:
        plot.update_yaxes(scaleanchor="x", scaleratio=view.aspect, constraintoward="top")
    # A plane along released centres is no slice of the domain, and has no outline to show.
    if view.window is None:
        line = {"color": palette.fade(palette.public, 0.6), "width": 1}
        plot.add_shape(**_draw_outline(view), layer="below", fillcolor=fill, line=line)


def _draw_outline(view: View) -> dict[str, Any]:
    """The public domain: a box, or a disc where the radius is what limits a row."""
    (x0, x1), (y0, y1) = view.extent
    region = view.region
    spans = not view.flat and np.allclose(np.ptp(view.extent, axis=1) / view.scale, 2 * region.radius)
    return {"type": "circle" if spans else "rect", "x0": x0, "x1": x1, "y0": y0, "y1": y1}


def place_below_plot(layout: Any) -> dict[str, Any]:
    """Where a horizontal colour bar lies in a figure of this layout: under the axis title, as wide as the plot."""
    margin = layout["margin"]
    high = layout["height"] - margin["t"] - margin["b"]
    return {"orientation": "h", "x": 0.5, "xanchor": "center", "len": 1.0, "y": -_AXIS_ROOM / high, "yanchor": "top"}


def make_hidden_axis() -> dict[str, Any]:
    """An axis that only carries positions."""
    return {"visible": False, "fixedrange": True}


def split_xy(places: Array) -> dict[str, Screen]:
    """Drawn places (m, 2) as trace arguments; a line has a gap where they are not numbers."""
    return {"x": places[:, 0].astype(SCREEN), "y": places[:, 1].astype(SCREEN)}


def name_kinds(plot: Plot, palette: Palette) -> Plot:
    """The legend's heading: the word of each kind that the legend shows, in its colour."""
    shown = [trace.get("meta") for trace in plot.traces if trace.get("name") and trace.get("showlegend") is not False]
    kinds: tuple[Kind, ...] = ("public", "released", "revealed")
    heading = " · ".join(
        f'<span style="color:{palette.kind(kind)}">{_MARKS[kind]}{kind}</span>' for kind in kinds if kind in shown
    )
    return plot.update_layout(legend_title={"text": heading, "side": "top", "font": {"size": NUMBER_SIZE}})


def format_legend_name(what: str, kind: Kind) -> str:
    """What a mark is, with the sign of its kind: an eye for what was revealed.

    >>> format_legend_name("centres", "released"), format_legend_name("rows", "revealed")
    ('centres', '◉ rows')
    """
    return _MARKS[kind] + what


_MARKS: dict[Kind, str] = {"public": "○ ", "released": "", "revealed": "◉ "}


def choose_ink(color: str) -> str:
    """Black or white, whichever reads better on a hex ``color``.

    >>> choose_ink("#0072B2"), choose_ink("#F0E442")
    ('#ffffff', '#000000')
    """
    channels = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return "#000000" if luminance > 0.25 else "#ffffff"
