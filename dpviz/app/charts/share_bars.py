"""Cluster by cluster, the shares of each declared value: one stack of bars a column, its commonest value first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd

from dpviz.app.charts.canvas import AIR, NUMBER_SIZE, Panel, TitledPlot, new_plot, spell_name
from dpviz.app.charts.plot import Plot
from dpviz.core import Array
from dpviz.words import Palette, format_percent, shorten

# Columns drawn, values of each with a colour of their own, and pixels: of a bar, above a stack, and below all of them.
_MOST_COLUMNS, _MOST_VALUES = 6, 5
_BAR, _ABOVE, _FOOT = 24, 34, 44
# A share this wide has room for its name; noise of a share beyond which a difference is not said, in deviations.
_ROOM, _TOLD_APART = 0.16, 2.0
_LONGEST_COLUMN, _LONGEST_VALUE = 40, 12
_REST = "all others"


@dataclass(frozen=True, eq=False)
class ShareBars:
    """Released shares of ``k`` clusters.

    ``shares`` (k,), they add up to 1 over the values of a column; ``noise`` (k,), standard deviation of each share;
    empty where it is not known.
    """

    stem: ClassVar[str] = "shares"
    shares: Mapping[str, Mapping[str, Array]]
    noise: Mapping[str, Array]

    @property
    def k(self) -> int:
        """How many clusters."""
        return len(next(iter(next(iter(self.shares.values())).values())))

    @property
    def finding(self) -> str:
        """The column in which clusters differ most, if any difference is clear of the noise."""
        gaps = {name: self._gap(name) for name in self.shares}
        telling = max(gaps, key=lambda name: gaps[name])
        if self.k == 1:
            return "One cluster: its shares are those of all rows"
        if gaps[telling] <= 0:
            return "Noise hides every difference in shares"
        return f"Clusters differ most in {shorten(telling, 24)}"

    def draw(self, palette: Palette) -> TitledPlot:
        """A stack of bars for each column."""
        shown = list(self.shares)[:_MOST_COLUMNS]
        high = len(shown) * (self.k * _BAR + _ABOVE)
        plot = new_plot(palette, height=AIR + high + _FOOT, legend_lines=0)
        plot.update_layout(margin={"b": _FOOT, "l": 44, "r": 12}, barmode="stack", bargap=0.12)
        for place, name in enumerate(shown):
            row = 1 / len(shown)
            up = (1 - (place + 1) * row, 1 - place * row - _ABOVE / high)
            self._panel(plot, Panel(place, (0.0, 1.0), up), name, palette)
        return TitledPlot(self.finding, self._describe_below(), plot)

    def words(self) -> str:
        """The picture in words."""
        told = []
        for name, values in self.shares.items():
            most = [max(values, key=lambda value, j=j: values[value][j]) for j in range(self.k)]  # type: ignore[misc]
            each = ", ".join(
                f"{j + 1} {value} {format_percent(float(values[value][j]))}" for j, value in enumerate(most)
            )
            told.append(f"{name}, largest share by cluster: {each}")
        return f"{self.finding}. {'. '.join(told)}."

    def table(self) -> pd.DataFrame:
        """Every share in numbers."""
        lines = [
            (name, value, j + 1, float(share), float(self.noise[name][j]) if name in self.noise else np.nan)
            for name, values in self.shares.items()
            for value, of_value in values.items()
            for j, share in enumerate(of_value)
        ]
        return pd.DataFrame(lines, columns=["column", "value", "cluster", "share", "noise sd"])

    def _describe_below(self) -> str:
        more = len(self.shares) - _MOST_COLUMNS
        rest = f"; {more} more columns in the table" if more > 0 else ""
        return f"share of each value in a cluster, released; grey: {_REST}{rest}"

    def _gap(self, name: str) -> float:
        """How far the shares of two clusters lie apart beyond noise, for the value where that is most."""
        values = np.array(list(self.shares[name].values()))
        low, high = values.argmin(axis=1), values.argmax(axis=1)
        gap = np.ptp(values, axis=1)
        if name in self.noise:
            noise = self.noise[name]
            gap = gap - _TOLD_APART * np.hypot(noise[low], noise[high])
        return float(gap.max())

    def _panel(self, plot: Plot, panel: Panel, name: str, palette: Palette) -> None:
        """One column: a bar a cluster, the first on top."""
        clusters = [str(j + 1) for j in range(self.k)]
        values = self.shares[name]
        order = sorted(values, key=lambda value: -float(values[value].sum()))
        named = order[:_MOST_VALUES]
        parts = [(value, values[value]) for value in named]
        if len(order) > len(named):
            parts.append((_REST, np.sum([values[value] for value in order[len(named) :]], axis=0)))
        for rank, (value, share) in enumerate(parts):
            color = palette.muted if value == _REST else palette.released
            strength = 0.25 if value == _REST else 0.75 - 0.6 * rank / _MOST_VALUES
            wide = [spell_name(shorten(value, _LONGEST_VALUE)) if one >= _ROOM else "" for one in share]
            plot.add_trace(
                {
                    **{"type": "bar", "orientation": "h", "x": share, "y": clusters, **panel.axes, "meta": "released"},
                    "marker": {"color": palette.fade(color, strength), "line": {"width": 1, "color": palette.surface}},
                    **{"text": wide, "textposition": "inside", "insidetextanchor": "middle", "textangle": 0},
                    "textfont": {"size": NUMBER_SIZE, "color": palette.text},
                    "customdata": [f"{value} {format_percent(float(one))}" for one in share],
                    **{"hovertemplate": "cluster %{y}: %{customdata}<extra></extra>", "showlegend": False},
                }
            )
        across = {"range": [0, 1], "showgrid": False, "zeroline": False, "tickformat": ".0%", "fixedrange": True}
        across["showticklabels"] = panel.place == min(len(self.shares), _MOST_COLUMNS) - 1
        along = {"autorange": "reversed", "type": "category", "showgrid": False, "fixedrange": True}
        panel.add(plot, palette, across, {**along, "tickfont_size": NUMBER_SIZE})
        where = {"xref": "paper", "yref": "paper", "x": 0.0, "y": panel.up[1], "xanchor": "left", "yanchor": "bottom"}
        font = {"size": NUMBER_SIZE + 1, "color": palette.text}
        heading = f"<b>{spell_name(shorten(name, _LONGEST_COLUMN))}</b>"
        plot.add_annotation({"text": heading, "showarrow": False, "font": font, **where})
