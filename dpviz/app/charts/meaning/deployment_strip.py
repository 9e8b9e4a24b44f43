"""Where others stand: deployments by their ε on a log axis, by whom one unit of privacy protects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, log10
from statistics import median
from typing import ClassVar

import numpy as np

from dpviz.app.charts.layout import make_epsilon_axis, make_layout
from dpviz.app.charts.meaning.deployments import UNITS, Deployment
from dpviz.app.charts.plot import Plot
from dpviz.words import Palette, capitalize_first

_HEIGHT, _STEP = 400, 0.22


@dataclass(frozen=True)
class DeploymentStrip:
    """A dot for every deployment, and a line at one's own ε."""

    sentence: ClassVar[str] = (
        "A comparison, never advice: what is right depends on the data and on who could be harmed."
    )
    """What to repeat."""

    others: Sequence[Deployment]
    epsilon: float

    @property
    def title(self) -> str:
        """How many stand above one's own ε."""
        above = sum(one.epsilon > self.epsilon for one in self.others)
        middle = median(one.epsilon for one in self.others)
        return (
            f"{above} of {len(self.others)} public deployments use a larger ε than {self.epsilon:g}; "
            f"their median is {middle:.3g}"
        )

    def words(self) -> str:
        """The picture in words."""
        counts = [(unit, sum(one.unit == unit for one in self.others)) for unit in UNITS]
        said = ", ".join(f"{number} protect {unit}" for unit, number in counts if number and unit != "not said")
        return f"Public deployments on a log axis of ε, by unit of privacy: {said}. {self.title}."

    def draw(self, palette: Palette) -> Plot:
        """A row for each unit of privacy, dots stacked where they would cover each other."""
        plot = Plot(make_layout(palette, height=_HEIGHT))
        units = [unit for unit in UNITS if any(one.unit == unit for one in self.others)]
        for row, unit in enumerate(units):
            mine = [one for one in self.others if one.unit == unit]
            lift = _stack([one.epsilon for one in mine])
            plot.add_trace(
                {
                    **{"type": "scatter", "mode": "markers", "x": [one.epsilon for one in mine]},
                    "y": [-row + _STEP * up for up in lift],
                    "marker": {
                        **{"size": 11, "color": palette.public, "line": {"width": 1.5, "color": palette.public}},
                        "symbol": ["circle-open" if one.converted else "circle" for one in mine],
                    },
                    "customdata": [[one.name, one.curator, one.year, _format_budget(one)] for one in mine],
                    "hovertemplate": "<b>%{customdata[0]}</b><br>%{customdata[1]}, %{customdata[2]}<br>"
                    "%{customdata[3]}<extra></extra>",
                    **{"showlegend": False, "meta": "public"},
                }
            )
        ends = [one.epsilon for one in self.others] + [self.epsilon]
        # Powers of ten stand side by side on a telephone, too.
        tens = [10.0**power for power in range(floor(log10(min(ends))), ceil(log10(max(ends))) + 1)]
        ticks = {"tickvals": tens, "ticktext": [f"{tick:g}" for tick in tens], "tickangle": 0}
        plot.update_xaxes(**make_epsilon_axis(min(ends), max(ends)) | ticks | {"title": {"text": "ε"}})
        plot.update_yaxes(
            range=[-len(units) + 0.55, 0.9],
            tickvals=[-row for row in range(len(units))],
            ticktext=[capitalize_first(unit).replace(", ", ",<br>") for unit in units],
            zeroline=False,
        )
        plot.add_vline(x=self.epsilon, line={"color": palette.released, "width": 2})
        where = {"x": float(np.log10(self.epsilon)), "y": 0.9, "yanchor": "top", "xanchor": "left", "xshift": 5}
        font = {"size": 13, "color": palette.released}
        plot.add_annotation({"text": f"<b>your ε = {self.epsilon:g}</b>", "showarrow": False, "font": font, **where})
        return plot.update_layout(margin={"l": 150, "r": 16, "t": 12, "b": 48})


def _format_budget(one: Deployment) -> str:
    said = f"ε = {one.epsilon:.3g}"
    if one.converted:
        return f"{said}, from ρ at δ = {one.delta:.0e}"
    return f"{said}, δ = {one.delta:.0e}" if one.delta else said


def _stack(epsilons: Sequence[float]) -> list[int]:
    """How many dots each stands on: those that lie closer than a dot's width."""
    heights: list[int] = []
    for place, epsilon in enumerate(epsilons):
        under = [heights[i] for i in range(place) if abs(np.log10(epsilon / epsilons[i])) < 0.055]
        heights.append(max(under, default=-1) + 1)
    return heights
