"""Cluster by cluster, the shares of each declared value: one stack of bars a column, its commonest value first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dpviz.arrays import Array
from dpviz.charts.canvas import NUMBER_SIZE, new_figure
from dpviz.charts.names import spell_name
from dpviz.charts.plot import Plot, merge
from dpviz.charts.theme import Palette, make_layout
from dpviz.charts.wording import format_percent, shorten

# Columns drawn, values of each with a colour of their own, and pixels: of a bar, above a stack, and of the head.
_MOST_COLUMNS, _MOST_VALUES = 6, 5
_BAR, _ABOVE, _HEAD, _FOOT = 24, 34, 84, 44
# A share this wide has room for its name; noise of a share beyond which a difference is not said, in deviations.
_ROOM, _TOLD_APART = 0.16, 2.0
_LONGEST_COLUMN, _LONGEST_VALUE = 40, 12
_REST = "all others"


@dataclass(frozen=True, eq=False)
class ShareBars:
    """Released shares of ``k`` clusters.

    Parameters
    ----------
    shares : mapping of column to mapping of value to array of shape (k,)
        They add up to 1 over the values of a column.
    noise : mapping of column to array of shape (k,)
        Standard deviation of each share; empty where it is not known.
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

    def draw(self, palette: Palette) -> go.Figure:
        """The figure."""
        shown = list(self.shares)[:_MOST_COLUMNS]
        height = _HEAD + _FOOT + len(shown) * (self.k * _BAR + _ABOVE)
        plot = new_figure(palette, title=self.finding, subtitle=self._describe_below(), height=height, legend_lines=0)
        top = plot.layout["margin"]["t"]
        plot.update_layout(margin={"b": _FOOT, "t": top, "l": 44, "r": 12}, barmode="stack", bargap=0.12)
        high = height - top - _FOOT
        for place, name in enumerate(shown):
            row = 1 / len(shown)
            up = (1 - (place + 1) * row, 1 - place * row - _ABOVE / high)
            self._panel(plot, place, name, up, palette)
        return plot.figure()

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

    def _panel(self, plot: Plot, place: int, name: str, up: tuple[float, float], palette: Palette) -> None:
        """One column: a bar a cluster, the first on top."""
        number_of = "" if place == 0 else str(place + 1)
        axes = {"xaxis": f"x{number_of}", "yaxis": f"y{number_of}"}
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
                    **{"type": "bar", "orientation": "h", "x": share, "y": clusters, **axes, "meta": "released"},
                    "marker": {
                        "color": palette.fade(color, strength),
                        "line": {"width": 1, "color": palette.surface},
                    },
                    **{"text": wide, "textposition": "inside", "insidetextanchor": "middle", "textangle": 0},
                    "textfont": {"size": NUMBER_SIZE, "color": palette.text},
                    "customdata": [f"{value} {format_percent(float(one))}" for one in share],
                    **{"hovertemplate": "cluster %{y}: %{customdata}<extra></extra>", "showlegend": False},
                }
            )
        dress = make_layout(palette)
        across = {"range": [0, 1], "anchor": axes["yaxis"], "showgrid": False, "zeroline": False, "tickformat": ".0%"}
        across |= {"showticklabels": place == min(len(self.shares), _MOST_COLUMNS) - 1, "fixedrange": True}
        along: dict[str, Any] = {
            "domain": list(up),
            "anchor": axes["xaxis"],
            "autorange": "reversed",
            "type": "category",
        }
        along |= {"showgrid": False, "fixedrange": True, "tickfont": {"size": NUMBER_SIZE, "color": palette.muted}}
        plot.update_layout(
            **{f"xaxis{number_of}": merge(merge({}, dress["xaxis"]), across)},
            **{f"yaxis{number_of}": merge(merge({}, dress["yaxis"]), along)},
        )
        where = {"xref": "paper", "yref": "paper", "x": 0.0, "y": up[1], "xanchor": "left", "yanchor": "bottom"}
        font = {"size": NUMBER_SIZE + 1, "color": palette.text}
        heading = f"<b>{spell_name(shorten(name, _LONGEST_COLUMN))}</b>"
        plot.add_annotation({"text": heading, "showarrow": False, "font": font, **where})
