"""From the loss of k-means++ to the private one in bars: what quantising, noise and the solver add."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import pandas as pd

from dpviz.app.charts.canvas import TitledPlot, new_plot
from dpviz.app.charts.studies.contenders import describe_runs
from dpviz.app.charts.studies.medians import add_note
from dpviz.runs import error_parts
from dpviz.words import (
    CLUSTER_MARKS,
    Palette,
    capitalize_first,
    format_number,
    format_percent,
    format_ratio,
    join_clauses,
)

_HEIGHT = 358
# Beside the longest bar, for its number.
_AIR, _LITTLE_AIR = 0.36, 0.03
_LESS = CLUSTER_MARKS[2].color
# Parts below this share of the loss of k-means++ are not worth naming; below the other they are rounding.
_NOTHING, _ROUNDING = 0.005, 1e-9
_CAUSES = {
    "quantise": "quantising",
    "noise": "noise",
    "solver": "its solver",
    "interaction": "noise and solver together",
}


class _Bar(NamedTuple):
    """From ``base`` on, in units of the loss of k-means++ above it; the number beside it."""

    name: str
    base: float
    length: float
    text: str
    about: str = ""

    @property
    def tip(self) -> float:
        return self.base + self.length


@dataclass(frozen=True, eq=False)
class Waterfall:
    """Bars from top to bottom, each beginning where the one before ends; in percent of the loss of k-means++, above it.

    Where k-means++ loses nothing, the unit is the loss per row itself.
    """

    stem: ClassVar[str] = "where-the-error-comes-from"
    error: error_parts.ErrorParts
    name: str
    epsilon: float

    @property
    def finding(self) -> str:
        """How much is lost on top of k-means++, and to what most of it."""
        excess = self.error.private - self.error.kmeans
        who = f"At ε = {self.epsilon:g}, {self.name}"
        if abs(excess) <= _NOTHING * self._unit:
            return f"{who} loses next to nothing against k-means++"
        lost = format_percent(abs(excess) / self._unit) if self._relative else format_number(abs(excess))
        if excess < 0:
            return f"{who} beats k-means++ by {lost}"
        largest = max(self.error.parts, key=lambda part: part.value)
        return f"{who} loses {lost} on top of k-means++, most of it to {_CAUSES[largest.name]}"

    def draw(self, palette: Palette) -> TitledPlot:
        """A bar for each part."""
        plot = new_plot(palette, height=_HEIGHT, legend_lines=0)
        bars, scale = self._bars(), 100 if self._relative else 1
        inner = [palette.revealed if bar.length >= 0 else _LESS for bar in bars[1:-1]]
        colors, places = [palette.public, *inner, palette.public], list(range(len(bars)))
        plot.add_trace(
            {
                **{"type": "bar", "orientation": "h", "width": 0.62, "y": places},
                **{"x": [scale * bar.length for bar in bars], "base": [scale * bar.base for bar in bars]},
                **{"marker": {"color": colors}, "customdata": [(bar.name, bar.about) for bar in bars]},
                "hovertemplate": "<b>%{customdata[0]}</b>: %{x:.3g}<br>%{customdata[1]}<extra></extra>",
                **{"meta": "bars", "showlegend": False},
            }
        )
        for place, bar in enumerate(bars):
            # The number stands right of the bar, whichever way the bar goes.
            right = scale * max(bar.base, bar.tip)
            add_note(plot, bar.text, palette.text, {"x": right, "y": place, "xanchor": "left", "xshift": 5})
        for place, bar in enumerate(bars[:-1]):
            plot.add_shape(
                **{"type": "line", "x0": scale * bar.tip, "x1": scale * bar.tip, "layer": "below"},
                **{"y0": place - 0.31, "y1": place + 1.31, "line": {"color": palette.muted, "width": 1, "dash": "dot"}},
            )
        ends = [scale * end for bar in bars for end in (bar.base, bar.tip)]
        span = (max(ends) - min(ends)) or 1.0
        axis = "loss above k-means++ (%)" if self._relative else "loss per row (unit coordinates²)"
        plot.update_xaxes(
            **{"range": [min(ends) - _LITTLE_AIR * span, max(ends) + _AIR * span], "title_text": axis},
            **{"zeroline": True, "zerolinecolor": palette.muted},
        )
        names = [bar.name for bar in bars]
        plot.update_yaxes(
            range=[len(bars) - 0.5, -0.5], tickvals=places, ticktext=names, showgrid=False, zeroline=False
        )
        about = join_clauses(
            "bars: differences of median losses",
            describe_runs([self.error.runs]),
            f"{self.name}, ε = {self.epsilon:g}",
            "" if self.error.quantised else "no synopsis: rows are read to the end, so quantising loses nothing",
            self._clipping,
        )
        return TitledPlot(self.finding, about, plot)

    def words(self) -> str:
        """The picture in words."""
        first, *parts, last = self._bars()
        steps = ", ".join(f"{bar.name} {bar.text}" for bar in parts)
        return (
            f"{self.finding}. Median loss from {first.text} to {last.text}: {steps}. "
            f"{capitalize_first(self._clipping)}."
        )

    def table(self) -> pd.DataFrame:
        """The bars in numbers, losses per row in unit coordinates squared, with what was switched off for each."""
        error = self.error
        rows = [("k-means++", error.kmeans, error.kmeans, error.kmeans, "on the clipped rows, without privacy")]
        rows += [(part.name, part.value, part.q25, part.q75, part.about) for part in error.parts]
        rows.append(("private", error.private, error.private, error.private, f"median of {error.runs} runs"))
        if (clip := error.clip) is not None:
            rows.append((f"beside these: {clip.name}", clip.value, clip.q25, clip.q75, clip.about))
        table = pd.DataFrame(
            rows, columns=["part", "loss per row", "25 % of runs", "75 % of runs", "how it is measured"]
        )
        table.insert(2, "of k-means++", table["loss per row"] / self._unit)
        return table

    @property
    def _relative(self) -> bool:
        return self.error.kmeans > 0

    @property
    def _unit(self) -> float:
        return self.error.kmeans if self._relative else 1.0

    def _bars(self) -> list[_Bar]:
        """k-means++, what each part adds, and the private loss."""
        whole = format_ratio if self._relative else format_number
        kmeans, private = self.error.kmeans / self._unit, self.error.private / self._unit
        bars = [_Bar("k-means++", 0.0, 0.0, whole(kmeans))]
        for part in self.error.parts:
            length = part.value / self._unit
            bars.append(_Bar(part.name, bars[-1].tip, length, self._format_signed(length), part.about))
        return [*bars, _Bar("private", 0.0, private - kmeans, whole(private))]

    def _format_signed(self, value: float) -> str:
        """What a part adds, in units of the axis."""
        if abs(value) <= _ROUNDING:
            value = 0.0
        sign = "+" if value > 0 else "−" if value < 0 else "±"
        return sign + (format_percent if self._relative else format_number)(abs(value))

    @property
    def _clipping(self) -> str:
        """What the bounds cost beside the bars."""
        clip = self.error.clip
        if clip is None:
            return "judged on rows inside the bounds"
        if clip.value == 0:
            return "the bounds clip no row"
        return (
            f"judged on clipped rows; clipping alone moves them by {format_number(clip.value)} a row "
            f"(unit coordinates²)"
        )
