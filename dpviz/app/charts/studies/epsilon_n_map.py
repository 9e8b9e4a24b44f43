"""What ε buys with how many rows: a map of median losses, lines of equal utility, and the user's own n."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, log10
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from dpviz.app.charts.canvas import NUMBER_SIZE, choose_ink, new_plot, place_below_plot
from dpviz.app.charts.diagram import Diagram, add_note
from dpviz.app.charts.layout import make_epsilon_axis, make_log_axis
from dpviz.app.charts.plot import Plot
from dpviz.app.charts.studies.contenders import describe_runs
from dpviz.core import Array
from dpviz.runs import find_crossing
from dpviz.words import Palette, format_percent, join_clauses

_HEIGHT, _MOST_ACROSS = 478, 9
# Lines of equal utility, as losses over that of k-means++; the first is what the title speaks of.
ISO = (1.1, 1.02, 1.5, 3.0)
# Seen on yellow and on blue, and not the orange of what was revealed.
_LINE = "#d4145a"
# The ends of the scale: large losses, and small ones.
_DARK, _PALE = "#00204C", "#FFEA46"
# An n that differs by this part is the same row of cells.
_SAME_N = 0.05
# A label's part of the width of a plot on a phone, twice as it may lie on either side, and its height in pixels.
_LABEL_SHARE, _LABEL_PIXELS = 0.3, 16
# Losses from here on look alike.
_WORST = 10.0


class Crossing(NamedTuple):
    """Where a line of equal utility crosses one n."""

    loss: float
    n: int
    epsilon: float


class _Label(NamedTuple):
    """Where the label of a line lies: n, log10 ε, and how many rows of text below the end of the line."""

    n: int
    x: float
    row: int


def draw_epsilon_n_map(
    runs: pd.DataFrame, name: str, epsilons: Sequence[float], ns: Sequence[int], own: int | None = None
) -> Diagram:
    """A cell for each ε and n with its median loss over that of k-means++; lines along which the loss is the same."""
    crossings = find_crossings(runs)
    n = min(ns, key=lambda one: abs(log10(one / (own or max(ns)))))
    finding = _describe_own(runs[runs["n"] == n], name, n, crossings)
    ten = [f"n = {one.n:,}: ε = {one.epsilon:.2g}" for one in crossings if one.loss == ISO[0]]
    line = f" Within {format_percent(ISO[0] - 1)}: {'; '.join(ten)}." if ten else ""

    def paint(palette: Palette) -> Plot:
        plot = new_plot(palette, height=_HEIGHT, legend_lines=2)
        cells = runs.pivot_table("ratio", index="n", columns="epsilon", aggfunc="median")
        # NaN where nothing has run yet.
        medians: Array = cells.reindex(index=list(ns), columns=list(epsilons)).to_numpy(np.float64)
        shades = np.log10(np.clip(medians, 1.0, _WORST))
        right, top = _find_edges(epsilons), _find_edges(ns)
        bar = {
            **{"tickvals": [log10(level) for level in (1, 1.5, 2, 3, 5, 10)], "thickness": 10},
            **{"ticktext": ["1×", "1.5×", "2×", "3×", "5×", "≥10×"], "tickfont": {"size": NUMBER_SIZE}},
            "ticklabeloverflow": "allow",
        }
        plot.add_trace(
            {
                **{"type": "heatmap", "x": right, "y": top, "z": shades, "zmin": 0.0, "zmax": log10(_WORST)},
                **{"colorscale": palette.sequential, "reversescale": True, "xgap": 1, "ygap": 1, "meta": "cells"},
                **{"customdata": medians, "colorbar": place_below_plot(plot.layout) | bar},
                "hovertemplate": "median loss %{customdata:.3g} × k-means++<extra></extra>",
            }
        )
        _add_equal_lines(plot, crossings, log10(max(epsilons) / min(epsilons)), palette)
        if len(epsilons) <= _MOST_ACROSS:  # over the lines, so that every number can be read
            row, column = np.nonzero(np.isfinite(medians))
            x, y = np.asarray(epsilons)[column], np.asarray(ns)[row]
            _write_losses(plot, x, y, medians[row, column], shades[row, column])
        across, up = np.log10(right), np.log10(top)
        plot.update_xaxes(**make_epsilon_axis(min(epsilons), max(epsilons)))
        plot.update_xaxes(range=[across[0], across[-1]], showgrid=False)
        plot.update_yaxes(**make_log_axis(up[0], up[-1]), range=[up[0], up[-1]], title_text="n, rows", showgrid=False)
        plot.update_yaxes(tickvals=list(ns), ticktext=[f"{n:,}" for n in ns])
        if own is not None and own <= max(ns):
            _mark_own(plot, ns, own, (right[0], right[-1]), palette)
        return plot

    def tabulate() -> pd.DataFrame:
        """A line for each n and ε."""
        medians = runs.astype({"n": int}).groupby(["n", "epsilon"])["ratio"].agg(["median", "size"]).reset_index()
        return medians.set_axis(["n", "ε", "median loss / k-means++", "runs"], axis=1)

    note = join_clauses(
        "number: median loss above k-means++, in %",
        "red lines: equal loss",
        describe_runs([len(some) for _, some in runs.groupby(["epsilon", "n"])]),
    )
    words = f"Median loss over that of k-means++ by ε and n. {finding}.{line}"
    return Diagram("epsilon-n-map", finding, note, words, paint, tabulate)


def find_crossings(runs: pd.DataFrame) -> list[Crossing]:
    """The smallest ε for each loss of ``ISO`` and each n, where it lies within what was tried."""
    crossings = []
    for n, some in runs.groupby("n"):
        usual = some.groupby("epsilon")["ratio"].median()
        epsilons, losses = usual.index.to_numpy(np.float64), usual.to_numpy(np.float64)
        at = [Crossing(level, int(float(str(n))), find_crossing(epsilons, losses, level)) for level in ISO]
        crossings += [one for one in at if epsilons[0] < one.epsilon < inf]
    return crossings


def _describe_own(runs: pd.DataFrame, name: str, n: int, crossings: Sequence[Crossing]) -> str:
    """The ε for a loss of 10 % at this n."""
    at = [one.epsilon for one in crossings if one.n == n and one.loss == ISO[0]]
    near, within = f"With n = {n:,}, {name}", f"within {format_percent(ISO[0] - 1)} of k-means++"
    if at:
        return f"{near} comes {within} from ε = {at[0]:.2g} on"
    usual = runs.groupby("epsilon")["ratio"].median()
    if usual.empty:
        return f"No run with n = {n:,} yet"
    if usual.max() <= ISO[0]:
        return f"{near} stays {within} at every ε of this map"
    return f"{near} comes {within} at no ε of this map"


def _write_losses(plot: Plot, x: Array, y: Array, losses: Array, shades: Array) -> None:
    """How much of the loss of k-means++ each cell loses on top of it, in percent; in black or white."""
    inks = [choose_ink(_DARK if shade > 0.5 else _PALE) for shade in shades]
    font, text = {"size": 10, "color": inks}, [f"{100 * (loss - 1):.0f}" for loss in losses]
    # Lines of equal loss meet in the middles of cells.
    plot.add_scatter(x, y, "text", text=text, textposition="top center", textfont=font, meta="numbers")


def _add_equal_lines(plot: Plot, crossings: Sequence[Crossing], span: float, palette: Palette) -> None:
    """The lines along which the loss is the same, from the fewest rows on.

    A label goes to a row of its own below those that are taken nearby, on an axis that spans so many powers of ten.
    """
    taken: list[_Label] = []
    for level in sorted({one.loss for one in crossings}):
        line = sorted((one for one in crossings if one.loss == level), key=lambda one: one.n)
        above = f"{format_percent(level - 1)} above k-means++"
        x, y = [one.epsilon for one in line], [one.n for one in line]
        stroke = {"color": _LINE, "width": 3.5 if level == ISO[0] else 1.8}
        look = {"name": above, "line": stroke, "marker": {"size": 4, "color": _LINE}, "meta": "iso"}
        plot.add_scatter(x, y, "lines+markers", hover=f"{above}: ε = %{{x:.2g}} with n = %{{y:,}}", **look)
        # Lines of less loss lie further right: labels that grow away from each other do not meet.
        end, side = line[0], "right" if level >= ISO[0] else "left"
        at: dict[str, Any] = {"x": log10(end.epsilon), "y": log10(end.n), "xanchor": side, "yanchor": "top"}
        near = {label.row for label in taken if label.n == end.n and abs(at["x"] - label.x) < _LABEL_SHARE * span}
        row = next(row for row in range(len(ISO)) if row not in near)
        taken.append(_Label(end.n, at["x"], row))
        at |= {"yshift": -5 - _LABEL_PIXELS * row, "bgcolor": palette.surface, "opacity": 0.92}
        add_note(plot, f"+{format_percent(level - 1)}", palette.text, at)


def _mark_own(plot: Plot, ns: Sequence[int], own: int, ends: tuple[float, float], palette: Palette) -> None:
    """A frame around the row of cells with the user's n; a line where it lies between two that were tried."""
    border = _find_edges(ns)
    row = min(range(len(ns)), key=lambda place: abs(log10(ns[place] / own)))
    near = abs(ns[row] / own - 1) <= _SAME_N
    low, high = (border[row], border[row + 1]) if near else (own, own)
    line = {"color": palette.text, "width": 2.5, "dash": "solid" if near else "dot"}
    plot.add_shape(type="rect", x0=ends[0], x1=ends[1], y0=low, y1=high, line=line)
    at = {"xref": "paper", "x": 1.0, "y": log10(high), "xanchor": "right", "yanchor": "bottom"}
    add_note(plot, f"yours: n = {own:,}", palette.text, at | {"bgcolor": palette.surface})


def _find_edges(places: Sequence[float]) -> Array:
    """Borders of cells around ``places`` on a logarithmic axis."""
    logs = np.log10(np.asarray(places, dtype=np.float64))
    if len(logs) == 1:
        return np.asarray(10 ** np.r_[logs - 0.15, logs + 0.15], dtype=np.float64)
    middle = (logs[1:] + logs[:-1]) / 2
    borders: Array = np.r_[2 * logs[0] - middle[0], middle, 2 * logs[-1] - middle[-1]]
    return np.asarray(10**borders, dtype=np.float64)
