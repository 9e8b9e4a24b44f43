"""Profiles: released centres of many columns, a row a segment and a lane a column, each coordinate beside its noise.

A plane shows two columns of many, and most of it is empty. Here every column has a lane between its declared bounds. A
dot is a released coordinate, a stem leads to it from the centre of all rows, and what is within its noise is hollow.
On a narrow page the picture is turned: a lane a column with all segments on it, as numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import pandas as pd

from dpviz.app.charts.canvas import UNCUT, add_note, spell_name
from dpviz.app.charts.cells import outline_segments
from dpviz.app.charts.plot import MARK_ROOM, Plot, make_layout
from dpviz.core import Array, Codes
from dpviz.runs import profiles
from dpviz.tables import codings
from dpviz.words import Palette, capitalize_first, format_things, join_clauses, shorten

Lane = Literal["bounds", "centres"]

# Parts of a lane's cell that its track takes, and that stay free at either side.
_TRACK, _GAP = 0.86, 0.07
# The column of sizes, in cells: at least, at most, and as a part of all lanes,
# since words do not shrink with them; and what its longest bar takes of it.
_SIZES, _MOST_SIZES, _PART_FOR_SIZES, _BAR = 1.5, 2.65, 0.24, 0.45
# Values stand beside dots, and ends below lanes, where there is room.
_VALUED_COLUMNS, _VALUED_SEGMENTS, _STRAIGHT = 8, 9, 7
# Pixels of a picture, for what is nearer to a dot than it is wide.
_WIDE = 1100
_BOTTOM = 30
_HALF_ROW = 0.5


class ProfileLanes:
    """What both forms of the picture share: the chosen part of the profile, and where values lie on their lanes."""

    def __init__(self, picture: ProfilePicture, palette: Palette) -> None:
        self.picture, self.palette, self.made = picture, palette, picture.profile
        self.cols, self.order = picture.shown, picture.segments
        self.k, self.dim = len(self.order), len(self.cols)
        # Lanes are even: what is on a log or root scale lies where its logarithm or root does.
        self.even = self.made.even
        self.values = self.even.centers[self.order][:, self.cols]
        self.reach = self.even.reach[self.order][:, self.cols]
        if picture.failed:
            self.reach = np.broadcast_to(self.even.width[self.cols], self.values.shape)
        self.away = self.made.deviations[self.order][:, self.cols]
        self.faint = self.made.in_noise[self.order][:, self.cols] | picture.failed
        self.overall = (self.made.weights @ self.even.centers)[self.cols]
        made = self.even
        self.low, self.high = made.lower[self.cols], made.upper[self.cols]
        if picture.lane != "bounds":
            spread = np.nan_to_num(made.reach)
            low, high = (made.centers - spread).min(axis=0), (made.centers + spread).max(axis=0)
            if made.reference is not None:
                low, high = np.minimum(low, made.reference.min(axis=0)), np.maximum(high, made.reference.max(axis=0))
            air = 0.06 * (high - low)
            self.low = np.maximum(made.lower, low - air)[self.cols]
            self.high = np.minimum(made.upper, high + air)[self.cols]
        coded = [self.made.columns[place].coding for place in self.cols.tolist()]
        ends = zip(coded, np.array([self.low, self.high]).T, strict=True)
        self.told_low, self.told_high = np.array([coding.unstretch(one) for coding, one in ends]).T

    def part(self, values: Array) -> Array:
        """How far along its lane each value (..., d) lies, from 0 to 1."""
        return np.clip((values - self.low) / np.maximum(self.high - self.low, 1e-300), 0, 1)

    def hover(self, i: int, j: int) -> str:
        """What is said of one dot."""
        made, segment, place = self.made, int(self.order[i]), int(self.cols[j])
        unit = f" {self.unit(place)}".rstrip()
        side = "above" if self.values[i, j] > self.overall[j] else "below"
        how = f"<br>{abs(self.away[i, j]):.1f} sd {side} all rows" if made.noise_known and made.k > 1 else ""
        value = f"{made.format_center(segment, place, noise=not self.picture.failed)}{spell_name(unit)}"
        return f"segment {segment + 1} · {spell_name(made.columns[place].name)}<br>{value}{how}"

    def unit(self, place: int) -> str:
        """What the numbers of a column count; "" where it is said otherwise, such as by dates."""
        column = self.made.columns[place]
        return "" if isinstance(column.declared, codings.Dates) else column.unit

    def name(self, place: int, most: int) -> str:
        """A column's name, bold where some segment stands out of the noise."""
        text = spell_name(shorten(self.made.columns[place].title, most))
        return f"<b>{text}</b>" if self.made.telling[place] and not self.picture.failed else text

    def blank(self, height: int, *, left: int, right: int, top: int, bottom: int) -> Plot:
        """A plot without axes of its own; over what stands ``top`` pixels high, room for the mark of rows or else."""
        mark = MARK_ROOM if self.beside_look[0] == "revealed" and self.even.reference is not None else 0
        above = mark or self.picture.room
        made = Plot(make_layout(self.palette, height=height + above))
        margin = {"l": left, "r": right, "t": top + above, "b": bottom}
        made.update_layout(margin=margin, showlegend=False, dragmode=False)
        made.update_xaxes(visible=False, fixedrange=True)
        made.update_yaxes(showgrid=False, zeroline=False, fixedrange=True)
        return made

    @staticmethod
    def lines(plot: Plot, x: Sequence[Array], y: Sequence[Array], kind: str, **line: Any) -> None:
        """Many short lines as one trace: ``x`` and ``y`` are the coordinates of their ends."""
        across, up = outline_segments(*map(np.column_stack, zip(x, y, strict=True))).T
        plot.add_scatter(across, up, "lines", line=line, meta=kind)

    @property
    def beside_look(self) -> tuple[str, str]:
        """The kind and the colour of what released centres are laid beside."""
        revealed = "revealed" in self.picture.beside
        return ("revealed", self.palette.revealed) if revealed else ("released", self.palette.text)


class SegmentRows(ProfileLanes):
    """A row a segment, a lane a column: the wide form."""

    def plot(self) -> Plot:
        """The picture."""
        steep = self.dim > _STRAIGHT
        row = 52 if self.k <= 6 else 44 if self.k <= 9 else 31
        # Steep names of the last columns reach beyond it.
        top, right = (86, 40) if steep else (34, 12)
        self.left = 0.0 if self.made.sizes is None else max(_SIZES, min(_PART_FOR_SIZES * self.dim, _MOST_SIZES))
        self.valued = self.dim <= _VALUED_COLUMNS and self.k <= _VALUED_SEGMENTS
        self.base = self.left + np.arange(self.dim, dtype=np.float64)
        self.y = np.arange(self.k, dtype=np.float64)
        self.heights = np.repeat(self.y[:, None], self.dim, axis=1)
        self.pixels = _TRACK * _WIDE / (self.dim + self.left)
        plot = self.blank(top + _BOTTOM + self.k * row, left=34, right=right, top=top, bottom=_BOTTOM)
        self._tracks(plot)
        self._stems(plot)
        # Noise, where it is longer than a dot to one side: at an end of a lane there is no other one.
        spread = np.nan_to_num(self.reach)
        low, at, high = (self.across(self.values + side * spread) for side in (-1, 0, 1))
        seen = np.maximum(at - low, high - at) * self.pixels / _TRACK > 7.5
        if seen.any():
            add_whiskers(plot, low[seen], high[seen], self.heights[seen], self.palette.text, 1.3)
        if self.even.reference is not None:
            x, there = self.across(self.values), self.across(self.even.reference[self.order][:, self.cols])
            far, (kind, hue) = np.abs(there - x) * self.pixels / _TRACK > 9, self.beside_look
            y = self.heights[far]
            self.lines(plot, (x[far], there[far]), (y, y), kind, color=hue, width=1)
            size = 13 if self.k <= _VALUED_SEGMENTS else 11
            add_diamonds(plot, there.ravel(), self.heights.ravel(), hue, size, kind)
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
            plot.add_shape(type="rect", x0=at + _GAP, x1=at + _GAP + _TRACK, y0=ends[0], y1=ends[1], **look)
        begin, y = np.repeat(self.base + _GAP, self.k), np.tile(self.y, self.dim)
        self.lines(plot, (begin, begin + _TRACK), (y, y), "public", color=ink.grid, width=1)
        middle = np.repeat(self.across(self.overall), self.k)
        # Not through the values, which stand above the dots.
        span = (y - 0.1, y + 0.56) if self.valued else (y - _HALF_ROW, y + _HALF_ROW)
        self.lines(plot, (middle, middle), span, "released", color=ink.muted, width=1.2, dash="dot")

    def _stems(self, plot: Plot) -> None:
        """From the centre of all rows: blue above it, plum below; faint within the noise."""
        ink, x, y = self.palette, self.across(self.values), self.heights
        from_ = np.broadcast_to(self.across(self.overall), x.shape)
        for above, hue in ((True, ink.released), (False, ink.below)):
            for faint in (False, True):
                at = ((self.values > self.overall) == above) & (self.faint == faint)
                if at.any():
                    color, width = (ink.fade(hue, 0.3), 2) if faint else (hue, 3.5)
                    self.lines(plot, (from_[at], x[at]), (y[at], y[at]), "released", color=color, width=width)

    def _dots(self, plot: Plot) -> None:
        ink, x, y, faint = self.palette, self.across(self.values), self.heights, self.faint.ravel()
        rim = {"width": 1.6, "color": [ink.released if one else ink.surface for one in faint]}
        fills, size = [ink.surface if one else ink.released for one in faint], 11 if self.k <= _VALUED_SEGMENTS else 9
        marker = {"size": size, "opacity": 1, "color": fills, "line": rim}
        hovers = [self.hover(i, j) for i in range(self.k) for j in range(self.dim)]
        look = {"text": hovers, "hover": "%{text}", "meta": "released"}
        plot.add_scatter(x.ravel(), y.ravel(), "markers", marker=marker, **look)
        if not self.valued:
            return
        part = self.part(self.values)
        place = np.where(part < 0.16, "top right", np.where(part > 0.84, "top left", "top center"))
        text = [self.made.format_center(i, j) for i in self.order.tolist() for j in self.cols.tolist()]
        font = {"size": 11.5, "shadow": ink.halo, "color": [ink.muted if one else ink.text for one in faint]}
        where = {"textposition": place.ravel().tolist(), "textfont": font, "meta": "released"}
        plot.add_scatter(x.ravel(), (y - 0.13).ravel(), "text", text=text, **where)

    def _bars(self, plot: Plot) -> None:
        """Sizes at the left, with their noise; dashed and with a question mark where they may be noise alone."""
        if self.made.sizes is None:
            return
        ink, sizes, alone = self.palette, self.made.sizes.select(self.order), self.made.lost[self.order]
        noise = np.nan_to_num(sizes.reach)
        reach = _BAR / max(float((sizes.rows + noise).max()), 1e-9)
        for i, size in enumerate(np.maximum(sizes.rows, 0).tolist()):
            edge = {"width": 1 if alone[i] else 0, "color": ink.released, "dash": "dot"}
            box = {"x0": 0, "x1": reach * size, "y0": i - 0.2, "y1": i + 0.2, "line": edge, "layer": "below"}
            plot.add_shape(type="rect", **box, fillcolor=ink.fade(ink.released, 0.12 if alone[i] else 0.5))
        ends = [reach * np.maximum(sizes.rows + side * noise, 0) for side in (-1, 1)]
        self.lines(plot, ends, (self.y, self.y), "released", color=ink.text, width=1.3)
        told = [f" {size}{'?' if one else ''}" for size, one in zip(sizes.words, alone, strict=True)]
        look = {"textposition": "middle right", "textfont": {"size": 12, "color": ink.text}, "meta": "released"}
        plot.add_scatter(np.maximum(ends[1], 0.02), self.y, "text", text=told, **look)
        where = {"x": 0, "y": -_HALF_ROW, "xanchor": "left", "yanchor": "bottom", "yshift": 6}
        add_note(plot, "rows", ink.muted, where, size=12)

    def _heads(self, plot: Plot, steep: bool) -> None:
        ink, bottom = self.palette, self.k - _HALF_ROW
        turn = {"xanchor": "left", "textangle": -40} if steep else {"xanchor": "center"}
        for j, place in enumerate(self.cols.tolist()):
            told = self.made.telling[place] and not self.picture.failed
            at = self.base[j] + _GAP
            head = {"x": float(at + (0.02 if steep else _TRACK / 2)), "y": -_HALF_ROW, "yanchor": "bottom", "yshift": 6}
            add_note(plot, self.name(place, 16), ink.text if told else ink.muted, head | turn, size=12)
            if self.dim <= _VALUED_COLUMNS:
                for value, x, side in ((self.told_low[j], at, "left"), (self.told_high[j], at + _TRACK, "right")):
                    foot = {"x": float(x), "y": bottom, "xanchor": side, "yanchor": "top", "yshift": -3}
                    add_note(plot, self.made.columns[place].format_value(float(value)), ink.muted, foot, size=10.5)


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


MOST_COLUMNS = {False: 12, True: 10}
"""Columns of one picture, on a wide and on a narrow page; the rest are on further ones."""
MOST_SEGMENTS = 15
"""Segments of one picture; of more, the largest are drawn."""


@dataclass(frozen=True, eq=False)
class ProfilePicture:
    """The picture of a profile, with ``room`` above it, in pixels."""

    stem: ClassVar[str] = "profiles"
    profile: profiles.Profile
    narrow: bool = False
    columns: profiles.ColumnOrder = "most telling"
    rows: profiles.RowOrder = "size"
    lane: Lane = "bounds"
    start: int = 0
    failed: bool = False
    beside: str = "k-means++, revealed"
    mark: str = ""
    room: int = 0

    @property
    def pages(self) -> list[tuple[int, int]]:
        """The first and the last column of each picture, from 1 on."""
        step, whole = MOST_COLUMNS[self.narrow], self.profile.dim
        return [(first + 1, min(first + step, whole)) for first in range(0, whole, step)]

    def draw(self, palette: Palette) -> Plot:
        """The figure."""
        plot = (Lanes(self, palette) if self.narrow else SegmentRows(self, palette)).plot()
        if self.mark:
            middle = {"xref": "paper", "yref": "paper", "x": 0.5, "y": 0.5, "textangle": -18, "opacity": 0.4}
            add_note(plot, f"<b>{spell_name(self.mark)}</b>", palette.text, middle, size=28 if self.narrow else 52)
        return plot

    @property
    def note(self) -> str:
        """How to read it."""
        dot = "numbers: released centres" if self.narrow else "dot: released centre"
        noise = "line: its noise, ±" if self.profile.noise_known else "the noise is not known"
        stem = "" if self.narrow else "stem: blue above, plum below all rows"
        hollow = "hollow: within the noise" if self.profile.noise_known else ""
        diamond = f"open diamond: {self.beside}" if self.profile.reference is not None else ""
        left = self.profile.k - MOST_SEGMENTS
        rest = f"the {MOST_SEGMENTS} largest segments; {left} more in the table" if left > 0 else ""
        telling, others = (len(self.profile.list_columns(telling=one)) for one in (True, False))
        knows = self.profile.noise_known and not self.failed
        out = f"{telling} of {telling + others} columns beyond the noise" if knows else ""
        return join_clauses(f"{dot}, {noise}", "dotted: all rows", stem, hollow, diamond, rest, out)

    def words(self) -> str:
        """The picture in words."""
        made, shown, told = self.profile, [int(place) for place in self.shown[:3]], []
        for segment in self.segments[:6].tolist():
            size = "" if made.sizes is None else f" ({made.sizes.words[segment]} rows)"
            values = ", ".join(f"{made.columns[j].name} {made.format_center(segment, j, noise=True)}" for j in shown)
            told.append(f"segment {segment + 1}{size}: {values}")
        segments = capitalize_first(format_things(made.k, "segment"))
        return f"{segments} on a lane for each of {made.count_lanes(made.dim)}. {'; '.join(told)}."

    def table(self) -> pd.DataFrame:
        """The numbers behind it: every coordinate and every size with its noise."""
        made = self.profile
        frame = pd.DataFrame({"segment": np.arange(1, made.k + 1)})
        if made.sizes is not None:
            frame["rows"] = made.sizes.rows
            frame["rows, ±"] = made.sizes.reach
        for place, column in enumerate(made.columns):
            frame[column.name] = made.centers[:, place]
            frame[f"{column.name}, ±"] = made.reach[:, place]
        return frame

    @property
    def shown(self) -> Codes:
        """Columns of this picture, by their place in the file."""
        return self.profile.order_columns(self.columns)[self.start : self.start + MOST_COLUMNS[self.narrow]]

    @property
    def segments(self) -> Codes:
        """Segments of this picture, from 0 on, in their order."""
        ordered, largest = self.profile.order_rows(self.rows), self.profile.order_rows("size")[:MOST_SEGMENTS]
        return ordered[np.isin(ordered, largest)]


def draw_overview(picture: ProfilePicture, palette: Palette) -> Plot:
    """All columns at once as a strip of tints, those of this picture framed; blank within the noise."""
    made = picture.profile
    ordered, segments = made.order_columns(picture.columns), picture.segments
    hidden = made.in_noise[segments][:, ordered] | picture.failed
    shown = np.where(hidden, np.nan, made.parts_away[segments][:, ordered])
    reach = float(np.nanmax(np.abs(shown))) if np.isfinite(shown).any() else 0.1
    plot = Plot(make_layout(palette, height=int(26 + 13 * len(segments))))
    named = [(j, spell_name(made.columns[j].name)) for j in ordered.tolist()]
    told = [[f"segment {i + 1} · {name}: {made.format_center(i, j)}" for j, name in named] for i in segments.tolist()]
    tints = {"type": "heatmap", "z": shown, "x": np.arange(made.dim), "y": np.arange(len(segments)), "showscale": False}
    scale = {"zmin": -reach, "zmax": reach, "colorscale": [list(one) for one in palette.diverging]}
    look = {"xgap": 1, "ygap": 1, "meta": "released"}
    plot.add_drawn(tints | scale | look, hover="%{customdata}", customdata=told, showlegend=None)
    last = min(picture.start + MOST_COLUMNS[picture.narrow], made.dim)
    frame = {"x0": picture.start - 0.5, "x1": last - 0.5, "y0": -0.5, "y1": len(segments) - 0.5}
    plot.add_shape(**{"type": "rect", **frame, "line": {"color": palette.text, "width": 1.6}})
    lines = {"type": "line", "x0": -0.5, "x1": made.dim - 0.5, "line": {"color": palette.grid, "width": 1}}
    for y in range(len(segments) + 1):
        plot.add_shape(**lines, **{"y0": y - 0.5, "y1": y - 0.5, "layer": "below"})
    plot.update_layout(margin={"l": 34, "r": 12, "t": 6, "b": 14}, dragmode=False)
    plot.update_xaxes(showticklabels=False, showgrid=False, zeroline=False, fixedrange=True)
    plot.update_yaxes(autorange="reversed", showgrid=False, zeroline=False, fixedrange=True)
    plot.update_yaxes(tickvals=np.arange(len(segments)), tickfont={"size": 10, "color": palette.text})
    plot.update_yaxes(ticktext=[f"<b>{place + 1}</b>" for place in segments.tolist()])
    return plot


# Pixels: of a disc, of the picture, above a lane for its name, and below it.
_DISC, _NARROW, _LANE_HEAD, _LANE_AIR = 17, 340, 26, 12


class Lanes(ProfileLanes):
    """A lane a column, all segments on it as numbered discs: the narrow form."""

    def plot(self) -> Plot:
        """The picture."""
        part, top = self.part(self.values), 0.0
        colors = np.array((self.palette.inks * (1 + self.k // 4))[: self.k])
        placed: list[tuple[float, Codes, float]] = []
        for j in range(self.dim):
            level = _levels(part[:, j] * _NARROW, _DISC + 1)
            line = top + _LANE_HEAD + _DISC / 2
            placed.append((top, level, line))
            top = line + int(level.max()) * (_DISC + 1) + _DISC / 2 + _LANE_AIR
        plot = self.blank(int(top) + 8, left=8, right=8, top=2, bottom=2)
        for j, (head, level, line) in enumerate(placed):
            self._lane(plot, j, head, line, float(line + level.max() * (_DISC + 1)))
            self._discs(plot, j, part[:, j], np.asarray(line + level * (_DISC + 1), dtype=np.float64), colors)
        plot.update_xaxes(range=[-0.035, 1.035])
        plot.update_yaxes(visible=False, range=[top, -2])
        return plot

    def _lane(self, plot: Plot, j: int, head: float, line: float, last: float) -> None:
        ink, place = self.palette, int(self.cols[j])
        edge = {"y0": line - _DISC / 2 - 2, "y1": last + _DISC / 2 + 2, "layer": "below"}
        fill = ink.fade(ink.muted, 0.07)
        plot.add_shape(**{"type": "rect", "x0": 0, "x1": 1, "line": {"width": 0}, "fillcolor": fill, **edge})
        middle = float(self.part(self.overall)[j])
        dotted = {"color": ink.muted, "width": 1.2, "dash": "dot"}
        plot.add_shape(**{"type": "line", "x0": middle, "x1": middle, "line": dotted, **edge})
        told = bool(self.made.telling[place]) and not self.picture.failed
        within = "" if told or not self.made.noise_known else " · within noise"
        color, name = ink.text if told else ink.muted, f"{self.name(place, 20)}{within}"
        column, unit = self.made.columns[place], spell_name(self.unit(place))
        told_ends = filter(None, (column.format_value(float(end[j])) for end in (self.told_low, self.told_high)))
        ends = f"{' to '.join(told_ends)} {unit}".strip()
        above = {"y": head + 10, "yanchor": "middle"}
        add_note(plot, name, color, {"x": 0, **above, "xanchor": "left"}, size=12.5)
        add_note(plot, ends, ink.muted, {"x": 1, **above, "xanchor": "right"}, size=11)

    def _discs(self, plot: Plot, j: int, part: Array, y: Array, colors: Any) -> None:
        ink, faint = self.palette, self.faint[:, j]
        spread = np.nan_to_num(self.reach)
        low, at, high = (self.part(self.values + side * spread)[:, j] for side in (-1, 0, 1))
        wide = np.maximum(at - low, high - at) * _NARROW > _DISC / 2
        if wide.any():
            add_whiskers(plot, low[wide], high[wide], y[wide], ink.fade(ink.text, 0.6), 1.2)
        marks = [ink.surface if one else color for one, color in zip(faint, colors, strict=True)]
        rims = [color if one else ink.surface for one, color in zip(faint, colors, strict=True)]
        marker = {"size": _DISC, "opacity": 1, "color": marks, "line": {"width": 1.4, "color": rims}}
        numbers = {"text": [str(place + 1) for place in self.order.tolist()], "textfont": {"size": 10.5, "color": rims}}
        told = {"hover": "%{customdata}", "customdata": [self.hover(i, j) for i in range(self.k)], "meta": "released"}
        plot.add_scatter(part, y, "markers+text", marker=marker, **numbers, **told)
        if self.even.reference is None:
            return
        there = self.part(self.even.reference[self.order][:, self.cols])[:, j]
        # Only where it is not hidden: a diamond around each of many numbers would hide them all.
        far = np.abs(there - part) * _NARROW > _DISC / 2 + 3
        if far.any():
            kind, hue = self.beside_look
            self.lines(plot, (part[far], there[far]), (y[far], y[far]), kind, color=hue, width=1)
            add_diamonds(plot, there[far], y[far], hue, 11, kind)


def draw_plane(made: profiles.Profile, points: Array, half: Array, cells: Sequence[Array], ink: Palette) -> Plot:
    """Released centres of two columns where they were clustered, with the cells of their segments, (n, 2) each.

    ``points`` (k, 2) and ``half`` (2,), half-widths of the bounds, are in unit coordinates; ticks say what these are.
    """
    plot = Plot(make_layout(ink, height=360))
    plot.update_layout(margin={"l": 70, "r": 12, "t": 8, "b": 44}, showlegend=False, dragmode=False)
    quiet: dict[str, Any] = {"meta": "released", "showlegend": None}
    border = {"color": ink.fade(ink.muted, 0.5), "width": 1}
    for cell in cells:
        x, y = np.concatenate([cell, cell[:1]]).T.tolist()
        plot.add_scatter(x, y, "lines", line=border, **quiet)
    reach = np.nan_to_num(made.even.reach / made.even.scale)
    noise = [{"array": one.tolist(), "color": ink.text, "thickness": 1.2, "width": 0} for one in reach.T]
    look = {"marker": {"size": 19, "color": ink.released, "line": {"width": 1, "color": ink.surface}}}
    numbers = [f"<b>{place}</b>" for place in range(1, made.k + 1)]
    words = {"text": numbers, "textfont": {"size": 11, "color": ink.surface}}
    x, y = points.T.tolist()
    look |= {"error_x": noise[0], "error_y": noise[1]}
    plot.add_scatter(x, y, "markers+text", **look, **words, **UNCUT, **quiet)
    for column, wide, update in zip(made.columns, half.tolist(), (plot.update_xaxes, plot.update_yaxes), strict=True):
        ends = [column.format_value(one) for one in (column.lower, column.upper)]
        unit = "" if column.worded or not column.unit else f" ({column.unit})"
        update(range=[-1.03 * wide, 1.03 * wide], tickvals=[-wide, wide], ticktext=[*map(spell_name, ends)])
        update(title={"text": spell_name(f"{column.name}{unit}")}, showgrid=False, zeroline=False, fixedrange=True)
    return plot


def _levels(at: Array, apart: float) -> Codes:
    """The first level at which a disc at ``at`` (k,), pixels, touches no other one: what would cover it moves down."""
    taken: list[list[float]] = []
    level = np.zeros(len(at), dtype=np.int64)
    for place in np.argsort(at, kind="stable").tolist():
        free = (k for k, there in enumerate(taken) if all(abs(at[place] - other) >= apart for other in there))
        level[place] = next(free, len(taken))
        if level[place] == len(taken):
            taken.append([])
        taken[level[place]].append(float(at[place]))
    return level
