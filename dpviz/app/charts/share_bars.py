"""Cluster by cluster, the shares of each declared value: one stack of bars a column, its commonest value first."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from dpviz.app.charts.canvas import AIR, NUMBER_SIZE, Panel, new_plot, spell_name
from dpviz.app.charts.diagram import Diagram, add_note
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


Shares = Mapping[str, Mapping[str, Array]]


def draw_shares(shares: Shares, noise: Mapping[str, Array]) -> Diagram:
    """Released shares of clusters, a stack of bars for each column.

    ``shares`` (k,), they add up to 1 over the values of a column; ``noise`` (k,), standard deviation of each share;
    empty where it is not known.
    """
    k, shown = len(next(iter(next(iter(shares.values())).values()))), list(shares)[:_MOST_COLUMNS]
    gaps = {name: _measure_gap(np.array(list(values.values())), noise.get(name)) for name, values in shares.items()}
    telling = max(gaps, key=lambda name: gaps[name])
    finding = f"Clusters differ most in {shorten(telling, 24)}"
    if k == 1:
        finding = "One cluster: its shares are those of all rows"
    elif gaps[telling] <= 0:
        finding = "Noise hides every difference in shares"

    def paint(palette: Palette) -> Plot:
        high, row = len(shown) * (k * _BAR + _ABOVE), 1 / len(shown)
        plot = new_plot(palette, height=AIR + high + _FOOT, legend_lines=0)
        plot.update_layout(margin={"b": _FOOT, "l": 44, "r": 12}, barmode="stack", bargap=0.12)
        across = {"range": [0, 1], "showgrid": False, "zeroline": False, "tickformat": ".0%", "fixedrange": True}
        along = {"autorange": "reversed", "type": "category", "showgrid": False, "fixedrange": True}
        for place, name in enumerate(shown):
            panel = Panel(place, (0.0, 1.0), (1 - (place + 1) * row, 1 - place * row - _ABOVE / high))
            _add_stack(plot, panel, shares[name], palette)
            ends = across | {"showticklabels": name == shown[-1]}
            panel.add(plot, palette, ends, {**along, "tickfont_size": NUMBER_SIZE})
            where = {"xref": "paper", "yref": "paper", "x": 0.0, "y": panel.up[1]}
            heading = f"<b>{spell_name(shorten(name, _LONGEST_COLUMN))}</b>"
            above = {**where, "xanchor": "left", "yanchor": "bottom"}
            add_note(plot, heading, palette.text, above, size=NUMBER_SIZE + 1)
        return plot

    def tabulate() -> pd.DataFrame:
        lines = [
            (name, value, j + 1, float(share), float(noise[name][j]) if name in noise else np.nan)
            for name, values in shares.items()
            for value, of_value in values.items()
            for j, share in enumerate(of_value)
        ]
        return pd.DataFrame(lines, columns=["column", "value", "cluster", "share", "noise sd"])

    more = len(shares) - _MOST_COLUMNS
    rest = f"; {more} more columns in the table" if more > 0 else ""
    note = f"share of each value in a cluster, released; grey: {_REST}{rest}"
    told = [f"{name}, largest share by cluster: {_tell_largest(values)}" for name, values in shares.items()]
    return Diagram("shares", finding, note, f"{finding}. {'. '.join(told)}.", paint, tabulate)


def _tell_largest(values: Mapping[str, Array]) -> str:
    """The value of the largest share in each cluster, and that share."""
    names, shares = list(values), np.array(list(values.values()))
    largest = [(names[place], float(shares[place, j])) for j, place in enumerate(shares.argmax(axis=0))]
    return ", ".join(f"{j} {name} {format_percent(share)}" for j, (name, share) in enumerate(largest, start=1))


def _measure_gap(shares: Array, noise: Array | None) -> float:
    """How far the shares (v, k) of two clusters lie apart beyond noise, for the value where that is most."""
    gap = np.ptp(shares, axis=1)
    if noise is not None:
        gap = gap - _TOLD_APART * np.hypot(noise[shares.argmin(axis=1)], noise[shares.argmax(axis=1)])
    return float(gap.max())


def _add_stack(plot: Plot, panel: Panel, values: Mapping[str, Array], palette: Palette) -> None:
    """One column: a bar a cluster, the first on top."""
    order = sorted(values, key=lambda value: -float(values[value].sum()))
    parts = [(value, values[value]) for value in order[:_MOST_VALUES]]
    if len(order) > _MOST_VALUES:
        parts.append((_REST, np.sum([values[value] for value in order[_MOST_VALUES:]], axis=0)))
    clusters = [str(j + 1) for j in range(len(parts[0][1]))]
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
