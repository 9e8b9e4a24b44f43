"""The narrow form of a profile: a lane a column, all segments on it as numbered discs."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpviz.arrays import Array, Codes
from dpviz.charts.names import spelled
from dpviz.charts.pictures.profile_rows import Drawing, diamonds, label
from dpviz.charts.plot import Plot
from dpviz.charts.wording import number
from dpviz.runs.profile import SEEN

# Pixels: of a disc, of the picture, above a lane for its name, and below it.
_DISC, _NARROW, _LANE_HEAD, _LANE_AIR = 17, 340, 26, 12


class Lanes(Drawing):
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
        fill = ink.faded(ink.muted, 0.07)
        plot.add_shape(**{"type": "rect", "x0": 0, "x1": 1, "line": {"width": 0}, "fillcolor": fill, **edge})
        middle = float(self.part(self.overall)[j])
        dotted = {"color": ink.muted, "width": 1.2, "dash": "dot"}
        plot.add_shape(**{"type": "line", "x0": middle, "x1": middle, "line": dotted, **edge})
        told = bool(self.made.telling[place]) and not self.chosen.failed
        within = "" if told or not self.made.noise_known else " · within noise"
        color = ink.text if told else ink.muted
        plot.add_annotation(
            label(0, head + 10, f"{self.name(place, 20)}{within}", 12.5, color, xanchor="left", yanchor="middle")
        )
        unit = spelled(self.made.columns[place].unit)
        ends = f"{number(float(self.low[j]))} to {number(float(self.high[j]))} {unit}".rstrip()
        plot.add_annotation(label(1, head + 10, ends, 11, ink.muted, xanchor="right", yanchor="middle"))

    def _discs(self, plot: Plot, j: int, part: Array, y: Array, colors: Any) -> None:
        ink, faint = self.palette, self.faint[:, j]
        spread = np.nan_to_num(self.sd[:, j]) * SEEN
        low, high = (self.part_of(self.values[:, j] + side * spread, j) for side in (-1, 1))
        wide = (high - low) * _NARROW > _DISC
        if wide.any():
            ends = (low[wide], high[wide]), (y[wide], y[wide])
            plot.add_trace(self.lines(*ends, "released", color=ink.faded(ink.text, 0.6), width=1.2))
        marks = [ink.surface if one else color for one, color in zip(faint, colors, strict=True)]
        rims = [color if one else ink.surface for one, color in zip(faint, colors, strict=True)]
        plot.add_trace(
            {
                **{"type": "scatter", "mode": "markers+text", "x": part, "y": y},
                **{"text": [str(place + 1) for place in self.order.tolist()], "meta": "released"},
                "textfont": {"size": 10.5, "color": rims},
                "marker": {"size": _DISC, "opacity": 1, "color": marks, "line": {"width": 1.4, "color": rims}},
                "customdata": [self.hover(i, j) for i in range(self.k)],
                **{"hovertemplate": "%{customdata}<extra></extra>", "showlegend": False},
            }
        )
        if self.made.reference is None:
            return
        there = self.part_of(self.made.reference[self.order][:, self.cols[j]], j)
        # Only where it is not hidden: a diamond around each of many numbers would hide them all.
        far = np.abs(there - part) * _NARROW > _DISC / 2 + 3
        if far.any():
            kind = "revealed" if "revealed" in self.chosen.beside else "released"
            hue = ink.revealed if kind == "revealed" else ink.text
            plot.add_trace(self.lines((part[far], there[far]), (y[far], y[far]), kind, color=hue, width=1))
            plot.add_trace(diamonds(there[far], y[far], hue, 11, kind))

    def part_of(self, values: Array, j: int) -> Array:
        """How far along lane ``j`` values (k,) lie."""
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
