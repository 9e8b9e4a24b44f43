"""What ε buys with how many rows: a map of median losses, lines of equal utility, and the user's own n."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, isfinite, log10
from typing import NamedTuple

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dpviz.arrays import Array
from dpviz.charts.canvas import NUMBER_SIZE, below_plot, canvas, ink_on
from dpviz.charts.studies.contenders import runs_text
from dpviz.charts.theme import CLUSTER_MARKS, Palette, epsilon_axis, log_axis
from dpviz.charts.wording import clauses, percent
from dpviz.runs.smallest_epsilon import crossing

_HEIGHT, _MOST_ACROSS = 560, 9
# Lines of equal utility, as losses over that of k-means++; the first is what the title speaks of.
ISO = (1.1, 1.02, 1.5, 3.0)
# Between yellow and blue, seen on both.
_LINE = CLUSTER_MARKS[3].color
# An n that differs by this part is the same row of cells.
_SAME_N = 0.05
# Losses from here on look alike.
_WORST = 10.0


class Crossing(NamedTuple):
    """Where a line of equal utility crosses one n."""

    loss: float
    n: int
    epsilon: float


def draw_map(
    table: pd.DataFrame,
    *,
    palette: Palette,
    name: str,
    epsilons: Sequence[float],
    ns: Sequence[int],
    own: int | None = None,
) -> go.Figure:
    """A cell for each ε and n with its median loss over that of k-means++; lines along which the loss is the same.

    Parameters
    ----------
    table : DataFrame
        The runs of one algorithm at several ε and n; may still grow.
    epsilons, ns : sequences
        All that the study will reach, ascending.
    own : int
        The user's number of rows: marked.
    """
    medians = _medians(table, epsilons, ns)
    crossings = iso_crossings(table)
    figure = canvas(
        palette,
        title=_finding(table, crossings, name, ns, own),
        subtitle=clauses(
            "number: median loss above k-means++, in %",
            "red lines: equal loss",
            runs_text([len(runs) for _, runs in table.groupby(["epsilon", "n"])]),
        ),
        height=_HEIGHT,
        legend_lines=2,
    )
    shades = np.log10(np.clip(medians, 1.0, _WORST))
    figure.add_trace(
        go.Heatmap(
            **{"x": _edges(epsilons), "y": _edges(ns), "z": shades, "zmin": 0.0, "zmax": log10(_WORST)},
            **{"colorscale": palette.sequential, "reversescale": True, "meta": "cells", "xgap": 1, "ygap": 1},
            customdata=medians,
            hovertemplate="median loss %{customdata:.3g} × k-means++<extra></extra>",
            colorbar=below_plot(figure)
            | {
                **{"tickvals": [log10(level) for level in (1, 1.5, 2, 3, 5, 10)], "thickness": 10},
                **{"ticktext": ["1×", "1.5×", "2×", "3×", "5×", "10× or more"], "tickfont": {"size": NUMBER_SIZE}},
            },
        )
    )
    _write_medians(figure, medians, shades, epsilons, ns)
    for level in sorted(ISO):
        _draw_iso(figure, [each for each in crossings if each.loss == level], level, palette)
    _set_axes(figure, epsilons, ns)
    if own is not None:
        _mark_own(figure, own, epsilons, ns, palette)
    return figure


def iso_crossings(table: pd.DataFrame) -> list[Crossing]:
    """The smallest ε for each loss of ``ISO`` and each n, where it lies within what was tried."""
    found = []
    for n, runs in table.groupby("n"):
        usual = runs.groupby("epsilon")["ratio"].median()
        epsilons, losses = usual.index.to_numpy(np.float64), usual.to_numpy(np.float64)
        each = [Crossing(level, int(float(str(n))), crossing(epsilons, losses, level)) for level in ISO]
        found += [one for one in each if epsilons[0] < one.epsilon < inf]
    return found


def describe_map(table: pd.DataFrame, *, name: str, ns: Sequence[int], own: int | None = None) -> str:
    """The picture in words."""
    crossings = iso_crossings(table)
    ten = [f"n = {each.n:,}: ε = {each.epsilon:.2g}" for each in crossings if each.loss == ISO[0]]
    line = f" Within {percent(ISO[0] - 1)}: {'; '.join(ten)}." if ten else ""
    return f"Median loss over that of k-means++ by ε and n. {_finding(table, crossings, name, ns, own)}.{line}"


def map_table(table: pd.DataFrame) -> pd.DataFrame:
    """The numbers behind the picture: a line for each n and ε."""
    rows = [
        {"n": n, "ε": epsilon, "median loss / k-means++": float(runs["ratio"].median()), "runs": len(runs)}
        for (n, epsilon), runs in table.astype({"n": int}).groupby(["n", "epsilon"])
    ]
    return pd.DataFrame(rows, columns=["n", "ε", "median loss / k-means++", "runs"])


def _medians(table: pd.DataFrame, epsilons: Sequence[float], ns: Sequence[int]) -> Array:
    """Median ratios, shape (number of n, number of ε); NaN where nothing has run yet."""
    found = table.groupby(["n", "epsilon"])["ratio"].median()
    wanted = pd.MultiIndex.from_product([[float(n) for n in ns], list(epsilons)])
    medians: Array = found.reindex(wanted).to_numpy(np.float64).reshape(len(ns), len(epsilons))
    return medians


def _edges(places: Sequence[float]) -> Array:
    """Borders of cells around ``places`` on a logarithmic axis."""
    logs = np.log10(np.asarray(places, dtype=np.float64))
    if len(logs) == 1:
        return np.asarray(10 ** np.r_[logs - 0.15, logs + 0.15], dtype=np.float64)
    middle = (logs[1:] + logs[:-1]) / 2
    borders: Array = np.r_[2 * logs[0] - middle[0], middle, 2 * logs[-1] - middle[-1]]
    return np.asarray(10**borders, dtype=np.float64)


def _write_medians(
    figure: go.Figure, medians: Array, shades: Array, epsilons: Sequence[float], ns: Sequence[int]
) -> None:
    """How much of the loss of k-means++ each cell loses on top of it, in percent; in black or white."""
    if len(epsilons) > _MOST_ACROSS:
        return
    place = np.argwhere(np.isfinite(medians))
    dark = "#00204C"  # the end of the scale for large losses; the other end is yellow
    figure.add_trace(
        go.Scatter(
            **{"x": np.asarray(epsilons)[place[:, 1]], "y": np.asarray(ns)[place[:, 0]], "mode": "text"},
            text=[f"{100 * (medians[row, column] - 1):.0f}" for row, column in place],
            textposition="top center",  # lines of equal loss meet in the middles of cells
            textfont={
                "size": 10,
                "color": [ink_on(dark if shades[row, column] > 0.5 else "#FFEA46") for row, column in place],
            },
            **{"hoverinfo": "skip", "showlegend": False, "meta": "numbers"},
        )
    )


def _draw_iso(figure: go.Figure, crossings: Sequence[Crossing], level: float, palette: Palette) -> None:
    if not crossings:
        return
    ordered = sorted(crossings, key=lambda each: each.n)
    figure.add_trace(
        go.Scatter(
            **{"x": [each.epsilon for each in ordered], "y": [each.n for each in ordered]},
            **{"mode": "lines+markers", "name": f"{percent(level - 1)} above k-means++", "meta": "iso"},
            line={"color": _LINE, "width": 3.5 if level == ISO[0] else 1.8},
            marker={"size": 4, "color": _LINE},
            hovertemplate=f"{percent(level - 1)} above k-means++: ε = %{{x:.2g}} with n = %{{y:,}}<extra></extra>",
            showlegend=False,
        )
    )
    end = ordered[0]
    figure.add_annotation(
        **{"x": log10(end.epsilon), "y": log10(end.n), "yanchor": "top", "yshift": -5, "showarrow": False},
        **{"text": f"+{percent(level - 1)}", "bgcolor": palette.surface, "opacity": 0.92},
        font={"size": NUMBER_SIZE, "color": palette.text},
    )


def _mark_own(figure: go.Figure, own: int, epsilons: Sequence[float], ns: Sequence[int], palette: Palette) -> None:
    """A frame around the row of cells with the user's n; a line where it lies between two that were tried."""
    border, (left, *_, right) = _edges(ns), _edges(epsilons)
    row = min(range(len(ns)), key=lambda place: abs(log10(ns[place] / own)))
    near = abs(ns[row] / own - 1) <= _SAME_N
    low, high = (border[row], border[row + 1]) if near else (own, own)
    line = {"color": palette.text, "width": 2.5, "dash": "solid" if near else "dot"}
    figure.add_shape(type="rect", x0=left, x1=right, y0=low, y1=high, line=line)
    figure.add_annotation(
        **{"xref": "paper", "x": 1.0, "y": log10(high), "xanchor": "right", "yanchor": "bottom"},
        **{"text": f"yours: n = {own:,}", "showarrow": False, "bgcolor": palette.surface},
        font={"size": NUMBER_SIZE, "color": palette.text},
    )


def _set_axes(figure: go.Figure, epsilons: Sequence[float], ns: Sequence[int]) -> None:
    across, up = np.log10(_edges(epsilons)), np.log10(_edges(ns))
    figure.update_xaxes(epsilon_axis(min(epsilons), max(epsilons)), title_text="ε (smaller: more private)")
    figure.update_xaxes(range=[across[0], across[-1]], showgrid=False)
    figure.update_yaxes(log_axis(up[0], up[-1]), range=[up[0], up[-1]], title_text="n, rows", showgrid=False)
    figure.update_yaxes(tickvals=list(ns), ticktext=[f"{n:,}" for n in ns])


def _finding(table: pd.DataFrame, crossings: Sequence[Crossing], name: str, ns: Sequence[int], own: int | None) -> str:
    """The ε for a loss of 10 % at the user's n, or at the largest one."""
    n = min(ns, key=lambda each: abs(log10(each / (own or max(ns)))))
    at = [each.epsilon for each in crossings if each.n == n and each.loss == ISO[0] and isfinite(each.epsilon)]
    near, within = f"With n = {n:,}, {name}", f"within {percent(ISO[0] - 1)} of k-means++"
    if at:
        return f"{near} comes {within} from ε = {at[0]:.2g} on"
    usual = table[table["n"] == n].groupby("epsilon")["ratio"].median()
    if usual.empty:
        return f"No run with n = {n:,} yet"
    if usual.max() <= ISO[0]:
        return f"{near} stays {within} at every ε of this map"
    return f"{near} comes {within} at no ε of this map"
