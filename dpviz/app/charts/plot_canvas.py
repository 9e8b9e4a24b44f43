"""Marks on a figure: points, lines, bars, arrows and maps. Each has a kind, and says so by its colour and its name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dpviz.app.charts.canvas import NUMBER_SIZE, SCREEN, format_legend_name, place_below_plot, show_plane, split_xy
from dpviz.app.charts.cells import outline_circles, outline_segments
from dpviz.app.charts.layout import make_layout
from dpviz.app.charts.plot import Plot, merge
from dpviz.app.charts.revealed import RevealedView, draw_rows
from dpviz.app.charts.view import View
from dpviz.core import Array, Region
from dpviz.words import Kind, Palette

_NOTHING: Mapping[str, Any] = {}
LINKED: dict[str, Any] = {"uid": "linked", "hovertemplate": None, "hoverinfo": "none"}
"""For bars that light up on the map of a page, which says beside them what they are, rather than over them."""
UNCUT: dict[str, Any] = {"cliponaxis": False}
"""For marks that stick out over the edge of the plot rather than being cut."""


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

    def color(self, kind: Kind, strength: float = 1.0) -> str:
        """The colour of a kind, see-through below full strength."""
        color = self.palette.kind(kind)
        return color if strength == 1 else self.palette.fade(color, strength)

    def plane(self, *, fill: str | None = None) -> None:
        """Axes with fixed ranges, and the outline of the public domain."""
        show_plane(self.plot, self.view, self.palette, fill=fill)

    def axes(self, number: str, across: Mapping[str, Any], up: Mapping[str, Any]) -> None:
        """One more pair of axes, or the first where ``number`` is empty, in the dress of the first."""
        for name, axis in ((f"xaxis{number}", across), (f"yaxis{number}", up)):
            self.plot.update_layout(**{name: merge(merge({}, make_layout(self.palette)[name[:5]]), axis)})

    def rows(self, reveal: RevealedView | None, space: Region | None = None, frame: Array | None = None) -> None:
        """The owner's rows, if they are handed over; in the ``space`` that ``frame`` maps them to, if there is one.

        ``frame`` (p, d), what it mapped rows by.
        """
        if reveal is not None:
            points = reveal.points if space is None else reveal.find_drawn_rows(space, frame)
            draw_rows(self.plot, points, self.view, self.palette)

    def marks(
        self,
        places: Array,
        name: str,
        kind: Kind,
        marker: Mapping[str, Any],
        *,
        strength: float = 1.0,
        hover: str = "",
        notes: npt.ArrayLike | None = None,
        trace: Mapping[str, Any] = _NOTHING,
    ) -> None:
        """Points at drawn ``places`` (m, 2), in the colour of their kind unless the ``marker`` has one of its own."""
        # Said aloud, or the library would let light through marks of unlike sizes.
        filled = {"color": self.color(kind, strength), "opacity": 1.0, **marker}
        drawn = {"type": "scatter", **split_xy(places), "mode": "markers", "marker": filled}
        self._add(drawn, name, kind, hover, notes, trace)

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
        hover: str = "",
        notes: npt.ArrayLike | None = None,
        trace: Mapping[str, Any] = _NOTHING,
    ) -> None:
        """A polyline (m, 2), gaps where it is not a number; with ``fill``, a colour, the outline of areas.

        ``path`` (m, 2), drawn units, NaN where a gap is.
        """
        line = {"color": color or self.color(kind or "public", strength), "width": width, "dash": dash}
        inside = {"fill": "toself", "fillcolor": fill} if fill else {}
        drawn = {"type": "scatter", **split_xy(path), "mode": "lines", "line": line, **inside}
        self._add(drawn, name, kind, hover, notes, trace)

    def bars(
        self,
        x: npt.ArrayLike,
        y: npt.ArrayLike,
        width: npt.ArrayLike,
        name: str,
        kind: Kind,
        marker: Mapping[str, Any] = _NOTHING,
        *,
        strength: float = 1.0,
        hover: str = "",
        notes: npt.ArrayLike | None = None,
        trace: Mapping[str, Any] = _NOTHING,
    ) -> None:
        """Bars without a rim, unless the ``marker`` has one.

        ``x`` (m,), middles; ``y`` (m,), heights; ``width`` (m,), drawn units.
        """
        filled = {"color": self.color(kind, strength), "line": {"width": 0}, **marker}
        drawn = {"type": "bar", "x": x, "y": y, "width": width, "marker": filled}
        self._add(drawn, name, kind, hover, notes, trace)

    def ticks(
        self, x: npt.ArrayLike, y: npt.ArrayLike, name: str, *, hover: str, trace: Mapping[str, Any] = _NOTHING
    ) -> None:
        """Revealed values over bars: a short orange stroke at the height of each.

        ``x`` (m,), middles; ``y`` (m,), heights.
        """
        stroke = {"symbol": "line-ew-open", "size": 8, "line": {"width": 2}}
        self.marks(np.column_stack([x, y]), name, "revealed", stroke, hover=hover, trace=trace)

    def arrows(self, start: Array, end: Array, name: str, *, width: float, head: float, standoff: Array) -> None:
        """Thin grey arrows between drawn places (m, 2), in no legend; heads stop ``standoff`` (m,) pixels short.

        ``start``, ``end`` (m, 2), drawn units.
        """
        arrows = len(start)
        nothing = np.zeros(len(start))
        marker = {
            **{"symbol": ["circle", "arrow", "circle"] * arrows, "size": [0, head, 0] * arrows},
            **{"angleref": "previous", "standoff": np.column_stack([nothing, standoff, nothing]).ravel()},
            "color": self.palette.muted,
        }
        look = {"mode": "lines+markers", "marker": marker, "showlegend": False}
        self.lines(outline_segments(start, end), name, None, color=self.palette.muted, width=width, trace=look)

    def halos(self, middles: Array, radii: Array, name: str, kind: Kind, *, width: float, **look: Any) -> None:
        """Circles of unit ``radii`` (m,) around drawn ``middles`` (m, 2); stretches of a line in one dimension.

        They are ellipses where columns have unlike units. A line is never filled.

        **look
            Other settings of the lines.
        """
        if self.view.flat:
            reach = np.column_stack([radii * self.view.scale[0], np.zeros(len(radii))])
            self.lines(
                outline_segments(middles - reach, middles + reach), name, kind, width=width, **look | {"fill": ""}
            )
        else:
            self.lines(outline_circles(middles, radii, self.view.scale), name, kind, width=width, **look)

    def cells(self, z: Array, kind: Kind, *, hover: str, bar: Mapping[str, Any] | None = None, **trace: Any) -> None:
        """A map of cells in the colours of ``colorscale``; ``bar`` is its colour bar.

        **trace
            Other settings of the trace.

        ``z`` (cells up, cells across), from 0 to 1.
        """
        scale = {"showscale": False} if bar is None or self.bare else {"colorbar": bar}
        drawn = {"type": "heatmap", "z": z.astype(SCREEN), **scale, "hovertemplate": f"{hover}<extra></extra>"}
        self.plot.add_trace(drawn | trace | {"meta": kind})

    def color_bar(self, title: str, **ticks: Any) -> dict[str, Any]:
        """A horizontal colour bar below the plot, its title above it.

        **ticks
            Settings of its ticks.
        """
        where = {} if self.bare else place_below_plot(self.plot.layout)
        return where | {
            "title": {"text": title, "side": "top", "font": {"size": NUMBER_SIZE}},
            **{"thickness": 10, "outlinewidth": 0.5, "outlinecolor": self.palette.muted},
            **{"tickangle": 0, "tickfont": {"size": NUMBER_SIZE, "color": self.palette.muted}},
            **ticks,
        }

    def band(self, low: float, high: float, *, strength: float, upright: bool = False) -> None:
        """A grey band under everything, for what is noise: between two heights, or ``upright`` between two places."""
        ends, add = (("x0", "x1"), self.plot.add_vrect) if upright else (("y0", "y1"), self.plot.add_hrect)
        where = dict(zip(ends, (low, high), strict=True))
        add(**where, line_width=0, layer="below", fillcolor=self.color("public", strength))

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

    def _add(
        self,
        drawn: Mapping[str, Any],
        name: str,
        kind: Kind | None,
        hover: str,
        notes: npt.ArrayLike | None,
        trace: Mapping[str, Any],
    ) -> None:
        named = {"name": format_legend_name(name, kind) if kind else name} if name else {"showlegend": False}
        template = hover or ("%{customdata}" if notes is not None else "")
        told = {"hovertemplate": f"{template}<extra></extra>"} if template else {"hoverinfo": "skip"}
        self.plot.add_trace({**drawn, **named, **told, "customdata": notes, "meta": kind, **trace})
