"""A window for ε: what can be believed of a person above, what is lost below, on one axis; both kept is shaded."""

from __future__ import annotations

from dataclasses import replace
from math import isfinite, log10
from typing import Any

import numpy as np
import pandas as pd

from dpviz.app.charts.diagram import Diagram, add_note
from dpviz.app.charts.layout import make_layout
from dpviz.app.charts.plot import Plot, merge
from dpviz.runs import EPSILONS, foresee, format_epsilon, windows
from dpviz.words import Palette, format_percent, format_ratio

_HEIGHT = 470
# ε on the axis, and where the pictures of belief and of loss stand.
_LOW, _HIGH, _FINE = EPSILONS[0], EPSILONS[-1], 120
_ABOVE, _BELOW = (0.6, 1.0), (0.0, 0.48)
_TICKS = (0.01, 0.03, 0.1, 0.3, 1, 3, 10)
# The loss axis ends here, or at so many times the accepted loss.
_MOST_LOSS, _TIMES = 2.2, 1.6


def draw_epsilon_window(window: windows.Window) -> Diagram:
    """Both sides of a window for ε, and what lies between them; without a title of its own: the page says it."""
    few = window.setting.n or 0
    losses = compute_losses(window, few)
    of_many = compute_losses(window, window.most_rows) if window.most_rows > few else None

    def paint(palette: Palette) -> Plot:
        plot = Plot(make_layout(palette, height=_HEIGHT))
        _shade(plot, window, palette)
        _add_belief(plot, window, palette)
        _add_losses(plot, window, losses, of_many, palette)
        for at, color, allowed in ((window.most, palette.text, True), (window.least, palette.released, False)):
            if _LOW <= at <= _HIGH:
                _add_side(plot, window, palette, at, color, allowed)
        top = max(_MOST_LOSS, _TIMES * window.target.loss)
        risk_top = 100.0 if window.risk.accepted > 0.45 else min(100.0, 190 * window.risk.accepted)
        axis: dict[str, Any] = {"gridcolor": palette.grid, "zeroline": False, "fixedrange": True}
        plot.update_xaxes(type="log", range=[log10(_LOW * 0.98), log10(_HIGH * 1.03)], title_text="ε", **axis)
        plot.update_xaxes(tickvals=list(_TICKS), ticktext=[f"{tick:g}" for tick in _TICKS], anchor="y")
        below = {"domain": _BELOW, "range": [0.97, top], "title_text": "loss over k-means++", "ticksuffix": "×"}
        above = {"domain": _ABOVE, "range": [0, risk_top], "title_text": "belief after, at most", "ticksuffix": " %"}
        plot.update_yaxes(**below, **axis)
        titled = merge({}, {"title": plot.layout["yaxis"]["title"]})
        plot.update_layout(yaxis2=merge(titled, above | axis | {"anchor": "x"}), showlegend=False, dragmode=False)
        return plot.update_layout(margin={"l": 62, "r": 14, "t": 8, "b": 46})

    def tabulate() -> pd.DataFrame:
        """A line for each ε: what can be believed, and what is lost."""
        often = f"loss that {window.target.describe_often('tables')} do not exceed"
        table = losses.rename(columns={"epsilon": "ε", "low": "25 %", "high": "75 %", "upper": often})
        table.insert(1, "belief after, at most", [window.belief(float(epsilon)) for epsilon in table["ε"]])
        return table

    words = f"Belief about a person and loss against ε. {window.finding}. {window.sentence}"
    return Diagram("epsilon-window", window.finding, "", words, paint, tabulate)


def _shade(plot: Plot, window: windows.Window, palette: Palette) -> None:
    if not isfinite(window.least):
        return
    kept = window.least <= window.most
    low, high = sorted((max(window.least, _LOW), min(max(window.most, _LOW), _HIGH)))
    color = palette.released if kept else palette.muted
    box = {"x0": low, "x1": high, "y0": 0, "y1": 1, "fillcolor": palette.fade(color, 0.13), "line": {"width": 0}}
    plot.add_shape(type="rect", xref="x", yref="paper", layer="below", **box)
    if high > 1.6 * low:
        font = {"size": 13, "color": color, "weight": 700}
        where = {"x": (log10(low) + log10(high)) / 2, "y": 0.54, "yref": "paper", "font": font}
        add_note(plot, "both kept" if kept else "neither kept", color, where)


def _add_belief(plot: Plot, window: windows.Window, palette: Palette) -> None:
    fine = np.geomspace(_LOW, _HIGH, _FINE)
    beliefs = 100 * np.array([window.belief(float(epsilon)) for epsilon in fine])
    plot.add_trace(
        {
            **{"type": "scatter", "x": fine, "y": beliefs, "yaxis": "y2", "mode": "lines"},
            **{"name": "belief after, at most", "line": {"color": palette.text, "width": 2.2}},
            "hovertemplate": "ε = %{x:.2g}: at most %{y:.1f} %<extra></extra>",
        }
    )
    prior, accepted = window.risk.prior, window.risk.accepted
    _add_level(plot, 100 * accepted, f"accepted: {format_percent(accepted)}", palette.text, "y2", "bottom")
    _add_level(plot, 100 * prior, f"guess: {format_percent(prior)}", palette.muted, "y2", "top")


def _add_losses(
    plot: Plot, window: windows.Window, losses: pd.DataFrame, of_many: pd.DataFrame | None, palette: Palette
) -> None:
    at, released = losses["epsilon"], palette.released
    band = np.concatenate([losses["high"], losses["low"][::-1]])
    plot.add_trace(
        {
            **{"type": "scatter", "x": np.concatenate([at, at[::-1]]), "y": band, "mode": "lines"},
            **{"fill": "toself", "fillcolor": palette.fade(released, 0.18), "line": {"width": 0}, "hoverinfo": "skip"},
        }
    )
    lines = [(losses, window.setting.n or 0, "solid", 2.4)]
    if of_many is not None:
        lines.append((of_many, window.most_rows, "dash", 1.4))
    for line, rows, dash, width in lines:
        plot.add_trace(
            {
                **{"type": "scatter", "x": line["epsilon"], "y": line["upper"], "mode": "lines"},
                **{"name": f"{rows:,} rows", "line": {"color": released, "width": width, "dash": dash}},
                "hovertemplate": f"{rows:,} rows, ε = %{{x:.2g}}: %{{y:.3g}}×<extra></extra>",
            }
        )
    loss = window.target.loss
    _add_level(plot, loss, f"accepted: {format_ratio(loss)}", released, "y", "bottom")


def _add_level(plot: Plot, at: float, words: str, color: str, axis: str, side: str) -> None:
    """What is accepted, as a line across."""
    ends = {"x0": _LOW, "x1": _HIGH, "y0": at, "y1": at, "yref": axis, "xref": "x", "type": "line"}
    plot.add_shape(**ends, line={"color": color, "width": 1.2, "dash": "dot"})
    where = {"x": log10(_LOW * 1.05), "y": at, "yref": axis, "xanchor": "left", "yanchor": side}
    add_note(plot, words, color, where, size=12)


def _add_side(plot: Plot, window: windows.Window, palette: Palette, at: float, color: str, allowed: bool) -> None:
    """One side of the window, with its number."""
    ends = {"x0": at, "x1": at, "y0": 0, "y1": 1, "yref": "paper", "xref": "x", "type": "line"}
    plot.add_shape(**ends, line={"color": color, "width": 1.2})
    height, axis, top, turn = window.target.loss, "y", 0.46, 0.12
    words = f"loss: at least <b>{format_epsilon(at, up=True)}</b>"
    if allowed:
        height, axis, top, turn = 100 * window.risk.accepted, "y2", 1.0, 0.3
        words = f"risk: at most <b>{format_epsilon(at)}</b>"
    mark = {"size": 11, "color": color, "opacity": 1, "line": {"color": palette.surface, "width": 1.5}}
    point = {"type": "scatter", "x": [at], "y": [height], "yaxis": axis, "mode": "markers", "marker": mark}
    plot.add_trace(point | {"hoverinfo": "skip"})
    place = {"x": log10(at), "y": top, "yref": "paper", "yanchor": "top", "bgcolor": palette.surface}
    beside = {"xanchor": "right", "xshift": -5} if at > turn else {"xanchor": "left", "xshift": 5}
    add_note(plot, words, color, place | beside, size=12)


def compute_losses(window: windows.Window, n: int) -> pd.DataFrame:
    """Quartiles and the loss of the wanted share over made-up tables of ``n`` rows, at every ε that was studied."""
    columns = ["epsilon", "low", "high", "upper"]
    if not window.algorithm:
        return pd.DataFrame(columns=columns)
    prospects = foresee(replace(window.setting, n=n), share=window.answer.few.share)
    lines = [
        (epsilon, *prospects.find_reached(window.algorithm, epsilon, (0.25, 0.75, window.target.share)))
        for epsilon in prospects.list_served(window.algorithm, EPSILONS)
    ]
    return pd.DataFrame(lines, columns=columns)
