"""What figures are drawn on: an empty canvas, revealed rows, marks of each kind, and diagrams without a plane."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from html import escape
from typing import Any, NamedTuple, TypedDict, Unpack

import numpy as np
import numpy.typing as npt
import pandas as pd
import plotly.graph_objects as go

from dpviz.app.charts.cells import outline_circles, outline_segments
from dpviz.app.charts.plot import PHONE, TITLE_SIZE, Plot, make_layout, merge, wrap_lines
from dpviz.app.charts.view import View
from dpviz.core import Array, Region
from dpviz.words import Kind, Palette


def spell_name(name: str) -> str:
    """``name`` for any text of a figure: read as it is, never as a tag, a template of a hover text or a formula."""
    return escape(" ".join(name.split()), quote=False).replace("%{", "&#37;{").replace("$", "&#36;")


PLANE_HEIGHT = 478
"""Pixels of a picture of a plane: a square of some 350 pixels with its legend."""
SUBTITLE_SIZE, NUMBER_SIZE = 12, 11
# Where the first line of a drawn title stands, the pitch of lines, and room for two lines of title and three of
# subtitle at least: figures of one run are of one size.
_FIRST_LINE, _PITCH, _SUBTITLE_PITCH, _RESERVED_SUBTITLE = 20, 21, 16, 3
_MARGIN = {"l": 56, "r": 16}
_SIDES = 24
AIR = 28
"""Pixels above a plot, so that the mode bar covers no mark."""
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
        # A bold line is this much wider.
        head = wrap_lines(self.title, size=TITLE_SIZE * 1.15, width=width - _SIDES, even=True)
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
        font = {"size": SUBTITLE_SIZE, "color": palette.muted}
        subtitle = {"text": "<br>".join(map(spell_name, under)), "font": font}
        title: dict[str, Any] = {"text": "<br>".join(map(spell_name, head)), "subtitle": subtitle, "pad": {"l": 12}}
        title |= {"font": {"size": TITLE_SIZE, "weight": 600}, "y": 1 - first / height, "yanchor": "top"}
        title |= {"x": 0.0, "xanchor": "left", "xref": "container", "yref": "container"}
        return figure.update_layout(height=height, margin={"t": top}, title=title)


def new_plot(palette: Palette, *, height: int = PLANE_HEIGHT, legend_lines: int = 4) -> Plot:
    """A plot without marks; title and subtitle stand elsewhere."""
    margin = {**_MARGIN, "t": AIR, "b": _AXIS_ROOM + LEGEND_LINE * legend_lines}
    below = {"x": 0.01, "xref": "container", "y": 0, "yref": "container", "yanchor": "bottom"}
    legend = {**below, "font": {"size": NUMBER_SIZE}, "itemsizing": "constant", "itemclick": "toggle"}
    plot = Plot(make_layout(palette, height=height))
    return plot.update_layout(margin=margin, showlegend=legend_lines > 0, legend=legend)


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
    named = {kind: f'<span style="color:{palette.kind(kind)}">{sign}{kind}</span>' for kind, sign in _MARKS.items()}
    heading = " · ".join(word for kind, word in named.items() if kind in shown)
    return plot.update_layout(legend_title={"text": heading, "side": "top", "font": {"size": NUMBER_SIZE}})


def format_legend_name(what: str, kind: Kind) -> str:
    """What a mark is, with the sign of its kind: an eye for what was revealed."""
    return _MARKS[kind] + what


_MARKS: dict[Kind, str] = {"public": "○ ", "released": "", "revealed": "◉ "}


@dataclass(frozen=True, eq=False)
class Diagram:
    """What it found, as its title; a note on how to read it; itself in words; and how it is painted.

    ``stem`` is what a file of it is called, ``table`` gives the numbers behind it.
    """

    stem: str
    finding: str
    note: str
    words: str
    paint: Callable[[Palette], Plot]
    table: Callable[[], pd.DataFrame] = pd.DataFrame

    def draw(self, palette: Palette) -> TitledPlot:
        """The plot under its title."""
        return TitledPlot(self.finding, self.note, self.paint(palette))


def add_note(plot: Plot, text: str, color: str, where: Mapping[str, Any], *, size: float = NUMBER_SIZE) -> None:
    """Words beside what they are about."""
    plot.add_annotation({"text": text, "showarrow": False, "font": {"size": size, "color": color}, **where})


# Few enough for vector marks: WebGL marks would cover the centres.
DRAWN_AT_MOST = 3000
ROWS = "rows"
"""What the trace of the rows is known by."""


@dataclass(frozen=True, eq=False)
class RevealedView:
    """Revealed rows for one picture.

    ``points`` (m, d), A subsample to draw, unit coordinates; ``everyone`` (n, d), all rows, for true counts; None
    where these are not asked for.
    """

    points: Array
    note: str
    everyone: Array | None = None

    @classmethod
    def of(cls, points: Array, note: str) -> RevealedView:
        """A view of all rows ``points`` (n, d), unit coordinates, that draws evenly picked ones of them."""
        return cls(points[np.random.default_rng(0).permutation(len(points))[:DRAWN_AT_MOST]], note, everyone=points)

    def find_drawn_rows(self, space: Region, frame: Array | None) -> Array:
        """The rows (m, p) to draw, where an algorithm saw them: it mapped them by ``frame`` (p, d)."""
        return space.clip(self.points if frame is None else self.points @ frame.T)


Look = Mapping[str, Any]
"""Attributes of a trace, by the names that the drawing library gives them."""
_NOTHING: Look = {}
UNCUT: dict[str, Any] = {"cliponaxis": False}
"""For marks that stick out over the edge of the plot rather than being cut."""


class MarkOptions(TypedDict, total=False):
    """What hovering over marks tells, and whatever else the drawing library should know of them."""

    hover: str
    notes: npt.ArrayLike | None
    trace: Look


@dataclass(frozen=True, eq=False)
class PlotCanvas:
    """A figure in the making, with the plane that it shows and the colours of its theme.

    Every mark takes its name in the legend (none: it is not listed) and its kind. ``hover`` is a template in which
    ``notes``, one a mark, are ``%{customdata}``; without either, hovering tells nothing. ``trace`` is whatever else the
    drawing library should know of the marks. A ``bare`` canvas has no room for a legend and colour bars.
    """

    plot: Plot
    palette: Palette
    view: View
    bare: bool = False

    @property
    def linked(self) -> dict[str, Any]:
        """For bars that light up on the map of a page, which says beside them what they are, rather than over them."""
        return {"uid": "linked"} | ({"hovertemplate": None, "hoverinfo": "none"} if self.bare else {})

    def color(self, kind: Kind, strength: float = 1.0) -> str:
        """The colour of a kind, see-through below full strength."""
        color = self.palette.kind(kind)
        return color if strength == 1 else self.palette.fade(color, strength)

    def shades(self, kind: Kind, low: float, high: float = 1.0) -> list[list[float | str]]:
        """A scale of the colour of a kind, from one strength to another."""
        return [[0, self.color(kind, low)], [1, self.color(kind, high)]]

    def plane(self, *, fill: str | None = None) -> None:
        """Fixed ranges and titles of the axes, unit coordinates drawn square, and the outline of the public domain."""
        plot, view, palette = self.plot, self.view, self.palette
        (x_range, y_range), (x_name, y_name) = view.range, view.titles
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
            (x0, x1), (y0, y1) = view.extent
            # A disc where the radius is what limits a row.
            disc = not view.flat and np.allclose(np.ptp(view.extent, axis=1) / view.scale, 2 * view.region.radius)
            line = {"color": palette.fade(palette.public, 0.6), "width": 1}
            box = {"type": "circle" if disc else "rect", "x0": x0, "x1": x1, "y0": y0, "y1": y1}
            plot.add_shape(**box, layer="below", fillcolor=fill, line=line)

    def axes(self, number: str, across: Mapping[str, Any], up: Mapping[str, Any]) -> None:
        """One more pair of axes, or the first where ``number`` is empty, in the dress of the first."""
        for name, axis in ((f"xaxis{number}", across), (f"yaxis{number}", up)):
            self.plot.update_layout(**{name: merge(merge({}, make_layout(self.palette)[name[:5]]), axis)})

    def rows(self, reveal: RevealedView | None, space: Region | None = None, frame: Array | None = None) -> None:
        """The owner's rows, if they are handed over, as small orange dots, larger where few; ticks below a line.

        They lie in the ``space`` that ``frame`` (p, d) maps them to, if any.
        """
        if reveal is None:
            return
        points = reveal.points if space is None else reveal.find_drawn_rows(space, frame)
        # Of so few rows each is somebody to be seen, the one that is far out above all.
        few, flat = len(points) <= 500, self.view.flat
        size, symbol = 12 if flat else 5 if few else 3, "line-ns-open" if flat else "circle"
        marker = {"color": self.palette.revealed, "size": size, "symbol": symbol, "opacity": 0.7 if few else 0.35}
        look = {"type": "scatter", "mode": "markers", "name": format_legend_name("rows", "revealed"), "marker": marker}
        known = {"hoverinfo": "skip", "meta": "revealed", "uid": ROWS}
        self.plot.add_trace({**split_xy(self.view.plane(points, "rows")), **look, **known})

    def marks(
        self, places: Array, name: str, kind: Kind, marker: Look, *, strength: float = 1.0, **told: Unpack[MarkOptions]
    ) -> None:
        """Points at drawn ``places`` (m, 2), in the colour of their kind unless the ``marker`` has one of its own."""
        # Said aloud, or the library would let light through marks of unlike sizes.
        filled = {"color": self.color(kind, strength), "opacity": 1.0, **marker}
        self._add({"type": "scatter", **split_xy(places), "mode": "markers", "marker": filled}, name, kind, **told)

    def lines(
        self,
        path: Array,
        name: str,
        kind: Kind | None,
        *,
        color: str | None = None,
        strength: float = 1.0,
        width: float = 1.0,
        dash: str = "solid",
        fill: str = "",
        **told: Unpack[MarkOptions],
    ) -> None:
        """A polyline (m, 2), gaps where it is not a number; with ``fill``, a colour, the outline of areas."""
        line = {"color": color or self.color(kind or "public", strength), "width": width, "dash": dash}
        inside = {"fill": "toself", "fillcolor": fill} if fill else {}
        self._add({"type": "scatter", **split_xy(path), "mode": "lines", "line": line, **inside}, name, kind, **told)

    def bars(
        self,
        x: npt.ArrayLike,
        y: npt.ArrayLike,
        width: npt.ArrayLike,
        name: str,
        kind: Kind,
        marker: Look = _NOTHING,
        *,
        strength: float = 1.0,
        **told: Unpack[MarkOptions],
    ) -> None:
        """Bars of middles ``x``, heights ``y`` and ``width`` (m,), without a rim unless the ``marker`` has one."""
        filled = {"color": self.color(kind, strength), "line": {"width": 0}, **marker}
        self._add({"type": "bar", "x": x, "y": y, "width": width, "marker": filled}, name, kind, **told)

    def ticks(self, x: npt.ArrayLike, y: npt.ArrayLike, name: str, *, hover: str, trace: Look = _NOTHING) -> None:
        """Revealed values over bars of middles ``x`` (m,): a short orange stroke at the height ``y`` (m,) of each."""
        stroke = {"symbol": "line-ew-open", "size": 8, "line": {"width": 2}}
        self.marks(np.column_stack([x, y]), name, "revealed", stroke, hover=hover, trace=trace)

    def arrows(self, start: Array, end: Array, name: str, *, width: float, head: float, standoff: Array) -> None:
        """Thin grey arrows between drawn places (m, 2), in no legend; heads stop ``standoff`` (m,) pixels short."""
        arrows, nothing = len(start), np.zeros(len(start))
        marker = {"symbol": ["circle", "arrow", "circle"] * arrows, "size": [0, head, 0] * arrows}
        marker |= {"angleref": "previous", "standoff": np.column_stack([nothing, standoff, nothing]).ravel()}
        marker["color"] = self.palette.muted
        look = {"mode": "lines+markers", "marker": marker, "showlegend": False}
        self.lines(outline_segments(start, end), name, None, color=self.palette.muted, width=width, trace=look)

    def halos(self, middles: Array, radii: Array, name: str, kind: Kind, *, width: float, **look: Any) -> None:
        """Circles of unit ``radii`` (m,) around drawn ``middles`` (m, 2); stretches, never filled, on a line."""
        outlines = outline_circles(middles, radii, self.view.scale)
        if self.view.flat:
            reach = np.column_stack([radii * self.view.scale[0], np.zeros(len(radii))])
            outlines, look = outline_segments(middles - reach, middles + reach), look | {"fill": ""}
        self.lines(outlines, name, kind, width=width, **look)

    def cells(self, z: Array, kind: Kind, *, hover: str, bar: Mapping[str, Any] | None = None, **trace: Any) -> None:
        """A map of the cells ``z`` (up, across) in the colours of ``colorscale``; ``bar`` is its colour bar."""
        scale = {"showscale": False} if bar is None or self.bare else {"colorbar": bar}
        drawn = {"type": "heatmap", "z": z.astype(SCREEN), **scale, "hovertemplate": f"{hover}<extra></extra>"}
        self.plot.add_trace(drawn | trace | {"meta": kind})

    def color_bar(self, title: str, **ticks: Any) -> dict[str, Any]:
        """A horizontal colour bar below the plot, its title above it, with these ``ticks``."""
        where, muted = {} if self.bare else place_below_plot(self.plot.layout), self.palette.muted
        where |= {"title": {"text": title, "side": "top", "font": {"size": NUMBER_SIZE}}}
        where |= {"thickness": 10, "outlinewidth": 0.5, "outlinecolor": muted}
        return where | {"tickangle": 0, "tickfont": {"size": NUMBER_SIZE, "color": muted}, **ticks}

    def band(self, low: float, high: float, *, strength: float, upright: bool = False) -> None:
        """A grey band under everything, for what is noise: between two heights, or ``upright`` between two places."""
        add = self.plot.add_vrect if upright else self.plot.add_hrect
        add(low, high, line_width=0, layer="below", fillcolor=self.color("public", strength))

    def frame(self, box: Array) -> None:
        """A released box with corners ``box`` (2, d), as a frame on the plane or a stretch of the line."""
        (x0, y0), (x1, y1) = self.view.plane(box).tolist()
        line = {"color": self.palette.text, "width": 2}
        if self.view.flat:
            self.plot.add_vrect(x0=x0, x1=x1, line=line | {"dash": "dash"}, layer="above")
        else:
            self.plot.add_shape(type="rect", x0=x0, y0=y0, x1=x1, y1=y1, line=line, layer="above")

    def note(self, text: str, x: float, y: float, where: Mapping[str, Any], *, color: str | None = None) -> None:
        """Words beside a mark."""
        font = {"size": NUMBER_SIZE, "color": color or self.palette.muted}
        self.plot.add_annotation({"text": text, "x": x, "y": y, "showarrow": False, "font": font, **where})

    def _add(self, drawn: Look, name: str, kind: Kind | None, **told: Unpack[MarkOptions]) -> None:
        listed, notes = format_legend_name(name, kind) if name and kind else name, told.get("notes")
        hover = told.get("hover") or ("%{customdata}" if notes is not None else "")
        more = {"customdata": notes, "meta": kind, **told.get("trace", {})}
        self.plot.add_drawn(drawn, listed=listed, hover=hover, **more)
