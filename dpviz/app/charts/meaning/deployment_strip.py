"""Where others stand: deployments by their ε on a log axis, by whom one unit of privacy protects."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, floor, log10
from statistics import median

import numpy as np

from dpviz.app.charts.diagram import Diagram, add_note
from dpviz.app.charts.layout import make_epsilon_axis, make_layout
from dpviz.app.charts.meaning.deployments import UNITS, Deployment
from dpviz.app.charts.plot import Plot
from dpviz.words import Palette, capitalize_first

_HEIGHT, _STEP = 400, 0.22


def draw_deployments(others: Sequence[Deployment], epsilon: float) -> Diagram:
    """A dot for every deployment, a row for each unit of privacy, and a line at one's own ε."""
    above, middle = sum(one.epsilon > epsilon for one in others), median(one.epsilon for one in others)
    finding = f"{above} of {len(others)} public deployments use a larger ε than {epsilon:g}"
    finding += f"; their median is {middle:.3g}"
    by_unit = {unit: [one for one in others if one.unit == unit] for unit in UNITS}
    said = ", ".join(f"{len(some)} protect {unit}" for unit, some in by_unit.items() if some and unit != "not said")

    def paint(palette: Palette) -> Plot:
        plot = Plot(make_layout(palette, height=_HEIGHT))
        rows = {unit: some for unit, some in by_unit.items() if some}
        for row, mine in enumerate(rows.values()):
            lift = _stack([one.epsilon for one in mine])
            marker = {
                **{"size": 11, "color": palette.public, "line": {"width": 1.5, "color": palette.public}},
                "symbol": ["circle-open" if one.converted else "circle" for one in mine],
            }
            x, y = [one.epsilon for one in mine], [-row + _STEP * up for up in lift]
            notes = [[one.name, one.curator, one.year, _format_budget(one)] for one in mine]
            hover = "<b>%{customdata[0]}</b><br>%{customdata[1]}, %{customdata[2]}<br>%{customdata[3]}"
            plot.add_scatter(x, y, "markers", hover=hover, marker=marker, customdata=notes, meta="public")
        ends = [*(one.epsilon for one in others), epsilon]
        # Powers of ten stand side by side on a telephone, too.
        tens = [10.0**power for power in range(floor(log10(min(ends))), ceil(log10(max(ends))) + 1)]
        ticks = {"tickvals": tens, "ticktext": [f"{tick:g}" for tick in tens], "tickangle": 0}
        plot.update_xaxes(**make_epsilon_axis(min(ends), max(ends)) | ticks | {"title": {"text": "ε"}})
        names = [capitalize_first(unit).replace(", ", ",<br>") for unit in rows]
        plot.update_yaxes(range=[-len(rows) + 0.55, 0.9], tickvals=[-row for row in range(len(rows))], ticktext=names)
        plot.update_yaxes(zeroline=False)
        plot.add_vline(x=epsilon, line={"color": palette.released, "width": 2})
        where = {"x": float(np.log10(epsilon)), "y": 0.9, "yanchor": "top", "xanchor": "left", "xshift": 5}
        add_note(plot, f"<b>your ε = {epsilon:g}</b>", palette.released, where, size=13)
        return plot.update_layout(margin={"l": 150, "r": 16, "t": 12, "b": 48})

    note = "A comparison, never advice: what is right depends on the data and on who could be harmed."
    words = f"Public deployments on a log axis of ε, by unit of privacy: {said}. {finding}."
    return Diagram("deployments", finding, note, words, paint)


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
