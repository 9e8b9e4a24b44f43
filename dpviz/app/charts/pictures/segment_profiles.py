"""Profiles: released centres of many columns, a row a segment and a lane a column, each coordinate beside its noise.

A plane shows two columns of many, and most of it is empty. Here every column has a lane between its declared bounds. A
dot is a released coordinate, a stem leads to it from the centre of all rows, and what is within its noise is hollow.
On a narrow page the picture is turned: a lane a column with all segments on it, as numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from dpviz.app.charts.canvas import spell_name
from dpviz.app.charts.diagram import add_note
from dpviz.app.charts.layout import make_layout
from dpviz.app.charts.pictures.profile_rows import (
    Chosen,
    Lane,
    ProfileLanes,
    SegmentRows,
    add_diamonds,
    add_whiskers,
)
from dpviz.app.charts.plot import Plot
from dpviz.core import Array, Codes
from dpviz.runs import profiles
from dpviz.words import Palette, capitalize_first, format_things, join_clauses

MOST_COLUMNS = {False: 12, True: 10}
"""Columns of one picture, on a wide and on a narrow page; the rest are on further ones."""
MOST_SEGMENTS = 15
"""Segments of one picture; of more, the largest are drawn."""


@dataclass(frozen=True, eq=False)
class ProfilePicture:
    """The picture of a profile."""

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

    @property
    def pages(self) -> list[tuple[int, int]]:
        """The first and the last column of each picture, from 1 on."""
        step, whole = MOST_COLUMNS[self.narrow], self.profile.dim
        return [(first + 1, min(first + step, whole)) for first in range(0, whole, step)]

    def draw(self, palette: Palette) -> Plot:
        """The figure."""
        chosen = Chosen(self.profile, self.shown, self.segments, self.lane, self.failed, self.beside)
        plot = (Lanes(chosen, palette) if self.narrow else SegmentRows(chosen, palette)).plot()
        if self.mark:
            middle = {"xref": "paper", "yref": "paper", "x": 0.5, "y": 0.5, "textangle": -18, "opacity": 0.4}
            add_note(plot, f"<b>{spell_name(self.mark)}</b>", palette.text, middle, size=28 if self.narrow else 52)
        return plot

    def overview(self, palette: Palette) -> Plot:
        """All columns at once as a strip of tints, those of this picture framed; blank within the noise."""
        return _make_overview(self, palette)

    @property
    def note(self) -> str:
        """How to read it."""
        dot = "numbers: released centres" if self.narrow else "dot: released centre"
        noise = f"line: {profiles.SEEN:g} sd of its noise" if self.profile.noise_known else "the noise is not known"
        stem = "" if self.narrow else "stem: blue above, plum below all rows"
        hollow = "hollow: within the noise" if self.profile.noise_known else ""
        diamond = f"open diamond: {self.beside}" if self.profile.reference is not None else ""
        left = self.profile.k - MOST_SEGMENTS
        rest = f"the {MOST_SEGMENTS} largest segments; {left} more in the table" if left > 0 else ""
        telling = int(self.profile.telling.sum())
        knows = self.profile.noise_known and not self.failed
        out = f"{telling} of {self.profile.dim} columns beyond the noise" if knows else ""
        return join_clauses(f"{dot}, {noise}", "dotted: all rows", stem, hollow, diamond, rest, out)

    def words(self) -> str:
        """The picture in words."""
        made = self.profile
        shown = [int(place) for place in self.shown[:3]]
        told = []
        for segment in self.segments[:6].tolist():
            size = "" if made.sizes is None else f" ({made.sizes[segment]:,.0f} rows)"
            values = ", ".join(f"{made.columns[j].name} {made.format_center(segment, j)}" for j in shown)
            told.append(f"segment {segment + 1}{size}: {values}")
        head = capitalize_first(
            f"{format_things(made.k, 'segment')} on a lane for each of {format_things(made.dim, 'column')}"
        )
        return f"{head}. " + "; ".join(told) + "."

    def table(self) -> pd.DataFrame:
        """The numbers behind it: every coordinate with the sd of its noise."""
        made = self.profile
        frame = pd.DataFrame({"segment": np.arange(1, made.k + 1)})
        if made.sizes is not None:
            frame["rows"] = made.sizes
            frame["rows, sd"] = np.nan if made.size_sd is None else made.size_sd
        for place, column in enumerate(made.columns):
            frame[column.name] = made.centers[:, place]
            frame[f"{column.name}, sd"] = made.center_sd[:, place]
        return frame

    @property
    def shown(self) -> Codes:
        """Columns of this picture, by their place in the file."""
        ordered = self.profile.order_columns(self.columns)
        return ordered[self.start : self.start + MOST_COLUMNS[self.narrow]]

    @property
    def segments(self) -> Codes:
        """Segments of this picture, from 0 on, in their order."""
        made = self.profile
        ordered = made.order_rows(self.rows)
        if made.k <= MOST_SEGMENTS:
            return ordered
        largest = set(made.order_rows("size")[:MOST_SEGMENTS].tolist())
        return np.array([place for place in ordered.tolist() if place in largest])


def _make_overview(picture: ProfilePicture, palette: Palette) -> Plot:
    made = picture.profile
    ordered, segments = made.order_columns(picture.columns), picture.segments
    away = made.parts_away[segments][:, ordered]
    hidden = made.in_noise[segments][:, ordered] | picture.failed
    shown = np.where(hidden, np.nan, away)
    reach = float(np.nanmax(np.abs(shown))) if np.isfinite(shown).any() else 0.1
    plot = Plot(make_layout(palette, height=int(26 + 13 * len(segments))))
    named = [(j, spell_name(made.columns[j].name)) for j in ordered.tolist()]
    told = [[f"segment {i + 1} · {name}: {made.format_center(i, j)}" for j, name in named] for i in segments.tolist()]
    plot.add_trace(
        {
            **{"type": "heatmap", "z": shown, "x": np.arange(made.dim), "y": np.arange(len(segments))},
            **{"zmin": -reach, "zmax": reach, "colorscale": [list(one) for one in palette.diverging]},
            **{"showscale": False, "xgap": 1, "ygap": 1, "meta": "released"},
            "customdata": told,
            "hovertemplate": "%{customdata}<extra></extra>",
        }
    )
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
        ink = self.palette
        colors = np.array((ink.inks * (1 + self.k // 4))[: self.k])
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
        told = bool(self.made.telling[place]) and not self.chosen.failed
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
        spread = np.nan_to_num(self.sd[:, j]) * profiles.SEEN
        low, high = (self.to_part(self.values[:, j] + side * spread, j) for side in (-1, 1))
        wide = (high - low) * _NARROW > _DISC
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
        there = self.to_part(self.even.reference[self.order][:, self.cols[j]], j)
        # Only where it is not hidden: a diamond around each of many numbers would hide them all.
        far = np.abs(there - part) * _NARROW > _DISC / 2 + 3
        if far.any():
            kind, hue = self.beside_look
            self.lines(plot, (part[far], there[far]), (y[far], y[far]), kind, color=hue, width=1)
            add_diamonds(plot, there[far], y[far], hue, 11, kind)

    def to_part(self, values: Array, j: int) -> Array:
        """How far along lane ``j`` values (k,) lie.

        ``values`` (k,), data units. Returns (k,), 0 at one end, 1 at the other.
        """
        wide = max(float(self.high[j] - self.low[j]), 1e-300)
        part: Array = np.clip((values - self.low[j]) / wide, 0, 1)
        return part


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
