"""The wide form of a profile, a row a segment and a lane a column; and what both of its forms share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from dpviz.app.charts.canvas import spell_name
from dpviz.app.charts.diagram import add_note
from dpviz.app.charts.layout import make_layout
from dpviz.app.charts.plot import MARK_ROOM, Plot
from dpviz.core import Array, Codes
from dpviz.runs import profiles
from dpviz.tables import codings
from dpviz.words import Palette, shorten

Lane = Literal["bounds", "centres"]

# Parts of a lane's cell that its track takes, and that stay free at either side.
_TRACK, _GAP = 0.86, 0.07
# The column of sizes, in cells, and what its longest bar takes of it.
_SIZES, _BAR = 1.25, 0.62
# Values stand beside dots, and ends below lanes, where there is room.
_VALUED_COLUMNS, _VALUED_SEGMENTS, _STRAIGHT = 8, 9, 7
# Pixels of a picture, for what is nearer to a dot than it is wide.
_WIDE = 1100
_TOP, _TOP_STEEP, _BOTTOM = 34, 86, 30
# Steep names of the last columns reach beyond it.
_RIGHT, _RIGHT_STEEP = 12, 40
_HALF_ROW = 0.5


class Chosen(NamedTuple):
    """What is drawn of a profile."""

    profile: profiles.Profile
    columns: Codes
    segments: Codes
    lane: Lane
    failed: bool
    beside: str


class ProfileLanes:
    """What both forms of the picture share: the chosen part of the profile, and where values lie on their lanes."""

    def __init__(self, chosen: Chosen, palette: Palette) -> None:
        self.chosen, self.palette, self.made = chosen, palette, chosen.profile
        self.cols, self.order = chosen.columns, chosen.segments
        self.k, self.dim = len(self.order), len(self.cols)
        # Lanes are even: what is on a log or root scale lies where its logarithm or root does.
        self.even = self.made.even
        self.values = self.even.centers[self.order][:, self.cols]
        self.sd = self.even.center_sd[self.order][:, self.cols]
        if chosen.failed:
            self.sd = np.broadcast_to(self.even.width[self.cols] / 2, self.values.shape)
        self.away = self.made.deviations[self.order][:, self.cols]
        self.faint = self.made.in_noise[self.order][:, self.cols] | chosen.failed
        self.overall = (self.made.weights @ self.even.centers)[self.cols]
        self.low, self.high = self._ends()
        coded = [self.made.columns[place].coding for place in self.cols.tolist()]
        ends = np.array([self.low, self.high])
        self.told_low, self.told_high = np.array(
            [coding.unstretch(one) for coding, one in zip(coded, ends.T, strict=True)]
        ).T

    def _ends(self) -> tuple[Array, Array]:
        made = self.even
        if self.chosen.lane == "bounds":
            return made.lower[self.cols], made.upper[self.cols]
        spread = profiles.SEEN * np.nan_to_num(made.center_sd)
        low, high = (made.centers - spread).min(axis=0), (made.centers + spread).max(axis=0)
        if made.reference is not None:
            low, high = np.minimum(low, made.reference.min(axis=0)), np.maximum(high, made.reference.max(axis=0))
        air = 0.06 * (high - low)
        return np.maximum(made.lower, low - air)[self.cols], np.minimum(made.upper, high + air)[self.cols]

    def part(self, values: Array) -> Array:
        """How far along its lane each value (..., d) lies, from 0 to 1."""
        return np.clip((values - self.low) / np.maximum(self.high - self.low, 1e-300), 0, 1)

    def hover(self, i: int, j: int) -> str:
        """What is said of one dot."""
        made, column = self.made, self.made.columns[self.cols[j]]
        unit = f" {self.unit(self.cols[j])}".rstrip()
        segment, place = int(self.order[i]), int(self.cols[j])
        reach = made.format_noise(segment, place, float(profiles.SEEN * self.sd[i, j])) if made.noise_known else ""
        noise = f"{reach} ({profiles.SEEN:g} sd of the noise)" if reach else ""
        side = "above" if self.values[i, j] > self.overall[j] else "below"
        how = f"<br>{abs(self.away[i, j]):.1f} sd {side} all rows" if made.noise_known and made.k > 1 else ""
        value = f"<b>{made.format_center(segment, place)}</b>{spell_name(unit)}"
        return f"segment {segment + 1} · {spell_name(column.name)}<br>{value}{noise}{how}"

    def unit(self, place: int) -> str:
        """What the numbers of a column count; "" where it is said otherwise, such as by dates."""
        column = self.made.columns[place]
        return "" if isinstance(column.declared, codings.Dates) else column.unit

    def name(self, place: int, most: int) -> str:
        """A column's name, bold where some segment stands out of the noise."""
        text = spell_name(shorten(self.made.columns[place].title, most))
        return f"<b>{text}</b>" if self.made.telling[place] and not self.chosen.failed else text

    def blank(self, height: int, *, left: int, right: int, top: int, bottom: int) -> Plot:
        """A plot without axes of its own; over what stands ``top`` pixels high, room for the mark of rows."""
        mark = MARK_ROOM if self.beside_look[0] == "revealed" and self.even.reference is not None else 0
        made = Plot(make_layout(self.palette, height=height + mark))
        margin = {"l": left, "r": right, "t": top + mark, "b": bottom}
        made.update_layout(margin=margin, showlegend=False, dragmode=False)
        made.update_xaxes(visible=False, fixedrange=True)
        made.update_yaxes(showgrid=False, zeroline=False, fixedrange=True)
        return made

    @staticmethod
    def lines(plot: Plot, x: Sequence[Array], y: Sequence[Array], kind: str, **line: Any) -> None:
        """Many short lines as one trace: ``x`` and ``y`` are the coordinates of their ends.

        **line
            Settings of the line.
        """
        plot.add_scatter(_add_gaps(*x), _add_gaps(*y), "lines", line=line, meta=kind)

    @property
    def beside_look(self) -> tuple[str, str]:
        """The kind and the colour of what released centres are laid beside."""
        revealed = "revealed" in self.chosen.beside
        return ("revealed", self.palette.revealed) if revealed else ("released", self.palette.text)


class SegmentRows(ProfileLanes):
    """A row a segment, a lane a column: the wide form."""

    def plot(self) -> Plot:
        """The picture."""
        steep = self.dim > _STRAIGHT
        row = 52 if self.k <= 6 else 44 if self.k <= 9 else 31
        top = _TOP_STEEP if steep else _TOP
        self.left = _SIZES if self.made.sizes is not None else 0.0
        self.base = self.left + np.arange(self.dim, dtype=np.float64)
        self.y = np.arange(self.k, dtype=np.float64)
        self.pixels = _TRACK * _WIDE / (self.dim + 1.3)
        right = _RIGHT_STEEP if steep else _RIGHT
        plot = self.blank(top + _BOTTOM + self.k * row, left=34, right=right, top=top, bottom=_BOTTOM)
        self._tracks(plot)
        self._stems(plot)
        self._whiskers(plot)
        self._diamonds(plot)
        self._dots(plot)
        self._bars(plot)
        self._heads(plot, steep)
        plot.update_xaxes(range=[-0.02, self.left + self.dim])
        plot.update_yaxes(range=[self.k - _HALF_ROW, -_HALF_ROW], tickvals=self.y)
        plot.update_yaxes(ticktext=[f"<b>{place + 1}</b>" for place in self.order.tolist()])
        plot.update_yaxes(tickfont={"size": 13, "color": self.palette.text}, automargin=True)
        return plot

    def across(self, values: Array) -> Array:
        """Where values (..., d) lie across the picture."""
        return self.base + _GAP + _TRACK * self.part(values)

    def _tracks(self, plot: Plot) -> None:
        ink, ends = self.palette, (-_HALF_ROW, self.k - _HALF_ROW)
        look = {"line": {"width": 0}, "fillcolor": ink.fade(ink.muted, 0.07), "layer": "below"}
        for at in self.base.tolist():
            x = {"x0": at + _GAP, "x1": at + _GAP + _TRACK}
            plot.add_shape(type="rect", **x, y0=ends[0], y1=ends[1], **look)
        begin, y = np.repeat(self.base + _GAP, self.k), np.tile(self.y, self.dim)
        self.lines(plot, (begin, begin + _TRACK), (y, y), "public", color=ink.grid, width=1)
        middle = self.across(self.overall)
        span = (np.full(self.dim, ends[0]), np.full(self.dim, ends[1]))
        self.lines(plot, (middle, middle), span, "released", color=ink.muted, width=1.2, dash="dot")

    def _stems(self, plot: Plot) -> None:
        """From the centre of all rows: blue above it, plum below; faint within the noise."""
        ink, x, y = self.palette, self.across(self.values), self._heights
        from_ = np.broadcast_to(self.across(self.overall), x.shape)
        for above, hue in ((True, ink.released), (False, ink.below)):
            for faint in (False, True):
                at = ((self.values > self.overall) == above) & (self.faint == faint)
                if at.any():
                    color, width = (ink.fade(hue, 0.3), 2) if faint else (hue, 3.5)
                    self.lines(plot, (from_[at], x[at]), (y[at], y[at]), "released", color=color, width=width)

    def _whiskers(self, plot: Plot) -> None:
        """Noise, where it is longer than a dot."""
        spread = profiles.SEEN * np.nan_to_num(self.sd)
        low, high = self.across(self.values - spread), self.across(self.values + spread)
        seen, y, ink = (high - low) * self.pixels / _TRACK > 15, self._heights, self.palette
        if seen.any():
            add_whiskers(plot, low[seen], high[seen], y[seen], ink.text, 1.3)

    def _diamonds(self, plot: Plot) -> None:
        if self.even.reference is None:
            return
        x, y = self.across(self.values), self._heights
        there = self.across(self.even.reference[self.order][:, self.cols])
        far, (kind, hue) = np.abs(there - x) * self.pixels / _TRACK > 9, self.beside_look
        self.lines(plot, (x[far], there[far]), (y[far], y[far]), kind, color=hue, width=1)
        add_diamonds(plot, there.ravel(), y.ravel(), hue, 13 if self.k <= _VALUED_SEGMENTS else 11, kind)

    def _dots(self, plot: Plot) -> None:
        ink, x, y, faint = self.palette, self.across(self.values), self._heights, self.faint.ravel()
        marker = {
            **{"size": 11 if self.k <= _VALUED_SEGMENTS else 9, "opacity": 1},
            "color": [ink.surface if one else ink.released for one in faint],
            "line": {"width": 1.6, "color": [ink.released if one else ink.surface for one in faint]},
        }
        hovers = [self.hover(i, j) for i in range(self.k) for j in range(self.dim)]
        look = {"text": hovers, "hover": "%{text}", "meta": "released"}
        plot.add_scatter(x.ravel(), y.ravel(), "markers", marker=marker, **look)
        if self.dim > _VALUED_COLUMNS or self.k > _VALUED_SEGMENTS:
            return
        part = self.part(self.values)
        place = np.where(part < 0.16, "top right", np.where(part > 0.84, "top left", "top center"))
        colors = [ink.muted if one else ink.text for one in faint]
        text = [self.made.format_center(i, j) for i in self.order.tolist() for j in self.cols.tolist()]
        font = {"size": 11.5, "shadow": ink.halo, "color": colors}
        where = {"textposition": place.ravel().tolist(), "textfont": font, "meta": "released"}
        plot.add_scatter(x.ravel(), (y - 0.13).ravel(), "text", text=text, **where)

    @property
    def _heights(self) -> Array:
        return np.repeat(self.y[:, None], self.dim, axis=1)

    def _bars(self, plot: Plot) -> None:
        """Sizes at the left, with their noise; dashed and with a question mark where they may be noise alone."""
        if self.made.sizes is None:
            return
        ink, sizes = self.palette, self.made.sizes[self.order]
        sd = np.zeros(self.k) if self.made.size_sd is None else self.made.size_sd[self.order]
        alone = self.made.lost[self.order]
        reach = _BAR / max(float((sizes + profiles.SEEN * sd).max()), 1e-9)
        for i, size in enumerate(np.maximum(sizes, 0).tolist()):
            edge = {"width": 1 if alone[i] else 0, "color": ink.released, "dash": "dot"}
            box = {"x0": 0, "x1": reach * size, "y0": i - 0.2, "y1": i + 0.2, "line": edge, "layer": "below"}
            plot.add_shape(type="rect", **box, fillcolor=ink.fade(ink.released, 0.12 if alone[i] else 0.5))
        ends = reach * np.maximum(sizes - profiles.SEEN * sd, 0), reach * np.maximum(sizes + profiles.SEEN * sd, 0)
        self.lines(plot, ends, (self.y, self.y), "released", color=ink.text, width=1.3)
        told = [f" {size:,.0f}{'?' if one else ''}" for size, one in zip(sizes.tolist(), alone, strict=True)]
        look = {"textposition": "middle right", "textfont": {"size": 12, "color": ink.text}, "meta": "released"}
        plot.add_scatter(np.maximum(ends[1], 0.02), self.y, "text", text=told, **look)
        where = {"x": 0, "y": -_HALF_ROW, "xanchor": "left", "yanchor": "bottom", "yshift": 6}
        add_note(plot, "rows", ink.muted, where, size=12)

    def _heads(self, plot: Plot, steep: bool) -> None:
        ink, bottom = self.palette, self.k - _HALF_ROW
        turn = {"xanchor": "left", "textangle": -40} if steep else {"xanchor": "center"}
        for j, place in enumerate(self.cols.tolist()):
            told = self.made.telling[place] and not self.chosen.failed
            at = self.base[j] + _GAP
            head = {"x": float(at + (0.02 if steep else _TRACK / 2)), "y": -_HALF_ROW, "yanchor": "bottom", "yshift": 6}
            add_note(plot, self.name(place, 16), ink.text if told else ink.muted, head | turn, size=12)
            if self.dim <= _VALUED_COLUMNS:
                for value, x, side in ((self.told_low[j], at, "left"), (self.told_high[j], at + _TRACK, "right")):
                    end = self.made.columns[place].format_value(float(value))
                    foot = {"x": float(x), "y": bottom, "xanchor": side, "yanchor": "top", "yshift": -3}
                    add_note(plot, end, ink.muted, foot, size=10.5)


def add_whiskers(plot: Plot, low: Array, high: Array, y: Array, color: str, width: float) -> None:
    """Lines across from ``low`` (n,) to ``high`` (n,) at heights ``y`` (n,), with a stroke at each end."""
    ProfileLanes.lines(plot, (low, high), (y, y), "released", color=color, width=width)
    stroke = {"symbol": "line-ns-open", "size": 7, "color": color, "line": {"width": width}}
    for end in (low, high):
        plot.add_scatter(end, y, "markers", marker=stroke, meta="released")


def add_diamonds(plot: Plot, x: Array, y: Array, color: str, size: float, kind: str) -> None:
    """Open diamonds at ``x`` (m,) and ``y`` (m,): what released centres are laid beside."""
    marker = {"symbol": "diamond-open", "size": size, "color": color, "opacity": 1, "line": {"width": 1.5}}
    plot.add_scatter(x, y, "markers", marker=marker, meta=kind)


def _add_gaps(*ends: Array) -> Array:
    """The ends of many short lines one behind the other, with a gap after each."""
    one = np.stack([*ends, np.full(len(ends[0]), np.nan)], axis=1)
    gapped: Array = one.ravel()
    return gapped
