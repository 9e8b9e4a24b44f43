"""A window for ε: what can be believed of a person above, what is lost below, on one axis; both kept is shaded."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from math import isfinite, log10
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from dpviz.app.charts.layout import make_layout
from dpviz.app.charts.plot import Plot, merge
from dpviz.runs import EPSILONS, find_reached_loss, forecast_rows, windows
from dpviz.words import Palette, format_percent, format_ratio

_HEIGHT = 470
# ε on the axis, and where the pictures of belief and of loss stand.
_LOW, _HIGH, _FINE = EPSILONS[0], EPSILONS[-1], 120
_ABOVE, _BELOW = (0.6, 1.0), (0.0, 0.48)
_TICKS = (0.01, 0.03, 0.1, 0.3, 1, 3, 10)
# The loss axis ends here, or at so many times the accepted loss.
_MOST_LOSS, _TIMES = 2.2, 1.6


@dataclass(frozen=True, eq=False)
class EpsilonWindow:
    """Both sides of a window for ε, and what lies between them."""

    stem: ClassVar[str] = "epsilon-window"
    window: windows.Window

    @property
    def finding(self) -> str:
        """The answer."""
        return self.window.finding

    @cached_property
    def losses(self) -> pd.DataFrame:
        """Of the made-up tables at the fewest rows: quartiles, and the loss that the wanted share does not exceed."""
        return _compute_losses(self.window, self.window.setting.n or 0)

    @cached_property
    def losses_of_many(self) -> pd.DataFrame | None:
        """The same at the most rows, where these are more."""
        more = self.window.most_rows > (self.window.setting.n or 0)
        return _compute_losses(self.window, self.window.most_rows) if more else None

    def draw(self, palette: Palette) -> Plot:
        """The figure, without a title: the page says it."""
        plot, window = Plot(make_layout(palette, height=_HEIGHT)), self.window
        self._shade(plot, palette)
        self._belief(plot, palette)
        self._loss(plot, palette)
        for at, color, allowed in ((window.most, palette.text, True), (window.least, palette.released, False)):
            if _LOW <= at <= _HIGH:
                self._side(plot, palette, at, color, allowed)
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
        plot.update_layout(margin={"l": 62, "r": 14, "t": 8, "b": 46})
        return plot

    def _shade(self, plot: Plot, palette: Palette) -> None:
        window = self.window
        if not isfinite(window.least):
            return
        kept = window.least <= window.most
        low, high = sorted((max(window.least, _LOW), min(max(window.most, _LOW), _HIGH)))
        fill = palette.fade(palette.released if kept else palette.muted, 0.13)
        box = {"x0": low, "x1": high, "y0": 0, "y1": 1, "fillcolor": fill, "line": {"width": 0}, "layer": "below"}
        plot.add_shape(**{"type": "rect", "xref": "x", "yref": "paper", **box})
        if high > 1.6 * low:
            words = "both kept" if kept else "neither kept"
            color = palette.released if kept else palette.muted
            middle = (log10(low) + log10(high)) / 2
            font = {"size": 13, "color": color, "weight": 700}
            plot.add_annotation(
                {"text": words, "x": middle, "y": 0.54, "yref": "paper", "showarrow": False, "font": font}
            )

    def _belief(self, plot: Plot, palette: Palette) -> None:
        fine, window = np.geomspace(_LOW, _HIGH, _FINE), self.window
        beliefs = 100 * np.array([window.belief(float(epsilon)) for epsilon in fine])
        plot.add_trace(
            _make_trace(
                **{"x": fine, "y": beliefs, "yaxis": "y2", "mode": "lines", "name": "belief after, at most"},
                line={"color": palette.text, "width": 2.2},
                hovertemplate="ε = %{x:.2g}: at most %{y:.1f} %<extra></extra>",
            )
        )
        for at, words, side in (
            (window.risk.accepted, f"accepted: {format_percent(window.risk.accepted)}", "bottom"),
            (window.risk.prior, f"guess: {format_percent(window.risk.prior)}", "top"),
        ):
            self._level(plot, palette, 100 * at, words, palette.text if side == "bottom" else palette.muted, "y2", side)

    def _loss(self, plot: Plot, palette: Palette) -> None:
        window, losses = self.window, self.losses
        at, released = losses["epsilon"], palette.released
        band = np.concatenate([losses["high"], losses["low"][::-1]])
        plot.add_trace(
            _make_trace(
                **{"x": np.concatenate([at, at[::-1]]), "y": band, "mode": "lines", "hoverinfo": "skip"},
                **{"fill": "toself", "fillcolor": palette.fade(released, 0.18), "line": {"width": 0}},
            )
        )
        lines = [(losses, window.setting.n or 0, "solid", 2.4)]
        if self.losses_of_many is not None:
            lines.append((self.losses_of_many, window.most_rows, "dash", 1.4))
        for line, rows, dash, width in lines:
            plot.add_trace(
                _make_trace(
                    **{"x": line["epsilon"], "y": line["upper"], "mode": "lines", "name": f"{rows:,} rows"},
                    line={"color": released, "width": width, "dash": dash},
                    hovertemplate=f"{rows:,} rows, ε = %{{x:.2g}}: %{{y:.3g}}×<extra></extra>",
                )
            )
        self._level(
            plot, palette, window.target.loss, f"accepted: {format_ratio(window.target.loss)}", released, "y", "bottom"
        )

    def _level(self, plot: Plot, palette: Palette, at: float, words: str, color: str, axis: str, side: str) -> None:
        """What is accepted, as a line across."""
        ends = {"x0": _LOW, "x1": _HIGH, "y0": at, "y1": at, "yref": axis, "xref": "x", "type": "line"}
        plot.add_shape(**{**ends, "line": {"color": color, "width": 1.2, "dash": "dot"}})
        place = {"x": log10(_LOW * 1.05), "y": at, "yref": axis, "xanchor": "left", "yanchor": side}
        plot.add_annotation({"text": words, **place, "showarrow": False, "font": {"size": 12, "color": color}})

    def _side(self, plot: Plot, palette: Palette, at: float, color: str, allowed: bool) -> None:
        """One side of the window, with its number."""
        window = self.window
        ends = {"x0": at, "x1": at, "y0": 0, "y1": 1, "yref": "paper", "xref": "x", "type": "line"}
        plot.add_shape(**{**ends, "line": {"color": color, "width": 1.2}})
        height = 100 * window.risk.accepted if allowed else window.target.loss
        mark = {"size": 11, "color": color, "opacity": 1, "line": {"color": palette.surface, "width": 1.5}}
        plot.add_trace(
            _make_trace(
                **{"x": [at], "y": [height], "yaxis": "y2" if allowed else "y", "mode": "markers", "marker": mark},
                hoverinfo="skip",
            )
        )
        words = (
            f"risk: at most <b>{windows.format_epsilon(at)}</b>"
            if allowed
            else f"loss: at least <b>{windows.format_epsilon(at, up=True)}</b>"
        )
        left = at > (0.3 if allowed else 0.12)
        place = {"x": log10(at), "y": 1.0 if allowed else 0.46, "yref": "paper", "yanchor": "top"}
        beside = {"xanchor": "right" if left else "left", "xshift": -5 if left else 5}
        font = {"size": 12, "color": color}
        plot.add_annotation(
            {"text": words, **place, **beside, "showarrow": False, "font": font, "bgcolor": palette.surface}
        )

    def words(self) -> str:
        """The picture in words."""
        return f"Belief about a person and loss against ε. {self.finding}. {self.window.sentence}"

    def table(self) -> pd.DataFrame:
        """A line for each ε: what can be believed, and what is lost."""
        table = self.losses.rename(columns={"epsilon": "ε", "low": "25 %", "high": "75 %"})
        table = table.rename(
            columns={"upper": f"loss that {self.window.target.describe_often('tables')} do not exceed"}
        )
        table.insert(1, "belief after, at most", [self.window.belief(float(epsilon)) for epsilon in table["ε"]])
        return table


def _compute_losses(window: windows.Window, n: int) -> pd.DataFrame:
    """Quartiles and the loss of the wanted share over made-up tables of ``n`` rows, at every ε that was studied."""
    columns = ["epsilon", "low", "high", "upper"]
    if not window.algorithm:
        return pd.DataFrame(columns=columns)
    rows = forecast_rows(replace(window.setting, n=n), [window.algorithm], EPSILONS)
    lines = []
    for epsilon, group in rows.groupby("epsilon"):
        losses, weights = (group[name].to_numpy(np.float64) for name in ("ratio", "weight"))
        parts: list[float] = [find_reached_loss(losses, part, weights) for part in (0.25, 0.75, window.target.share)]
        lines.append((float(str(epsilon)), *parts))
    return pd.DataFrame(lines, columns=columns)


def _make_trace(**parts: Any) -> dict[str, Any]:
    return {"type": "scatter", **parts}
