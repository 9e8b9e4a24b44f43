"""A claim's table in the form of its paper's figure: lines over panels, heat maps, or marks by line."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil, log10

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dpviz.arrays import Array
from dpviz.charts.canvas import LEGEND_LINE, below_plot, canvas, panels
from dpviz.charts.studies.contenders import Style, narrow, quartiles, runs_text, styles_of
from dpviz.charts.theme import Palette, log_axis
from dpviz.charts.wording import PHONE, clauses, number, opening
from dpviz.claims.claim import Picture

_PANEL, _HEAD = 250, 200
_NAME_ROOM, _NAME_SIZE = 30.0, 11
_BAND = 0.16
# Values that differ by less than this factor have no ticks to speak of on a logarithmic axis.
_LOG_FROM = 5.0
_WIDTH = 900
"""Pixels that titles are broken for: a page of its own is read on a screen, the app gives its own width."""


def draw_claim(
    table: pd.DataFrame, picture: Picture, *, finding: str, palette: Palette, width: int = _WIDTH
) -> go.Figure:
    """Medians over the repeats with bands from 25 % to 75 %, a panel for each table of the paper.

    Parameters
    ----------
    table : DataFrame
        One row a run, as ``dpviz reproduce`` writes it.
    picture : Picture
    finding : str
        The verdict in words: the title.
    """
    shown = _shown(table, picture)
    over = picture.line if picture.heat else picture.panel
    names = list(dict.fromkeys(shown[over].astype(str)))
    cols = 1 if len(names) == 1 or width <= PHONE else 2 if len(names) in (2, 4) or width < _WIDTH else 3
    rows = max(1, ceil(len(names) / cols))
    lines = list(dict.fromkeys(table[picture.line].astype(str)))
    legend = 3 if picture.heat else 1 + ceil(len(lines) / (2 if width < _WIDTH else 5))
    repeats = shown.groupby([c for c in (picture.panel, picture.line, picture.x, picture.heat) if c]).size()
    figure = canvas(
        palette,
        title=opening(finding),
        subtitle=clauses(
            picture.title,
            "median" if picture.heat else "median and middle half",
            runs_text(sorted(set(repeats))),
            "dashed: k-means++" if picture.baseline else "",
        ),
        height=_HEAD + (_PANEL if rows > 1 else 360) * rows + LEGEND_LINE * legend,
        width=width,
        legend_lines=legend,
    )
    figure.update_layout(margin={"t": figure.layout.margin.t + _NAME_ROOM})
    gap = min(0.3, 2.6 * _NAME_ROOM / (_PANEL * rows)) if rows > 1 else 0.0
    panels(figure, palette, rows, cols, horizontal_spacing=0.09, vertical_spacing=gap)
    styles = styles_of(lines)
    seen: set[str] = set()
    for place, name in enumerate(names):
        at = {"row": place // cols + 1, "col": place % cols + 1}
        part = shown[shown[over].astype(str) == name]
        if picture.heat:
            _draw_heat(figure, part, picture, palette, at, limits=_limits(shown, picture))
        elif picture.x == picture.line:
            _draw_marks(figure, part, picture, styles, palette, at)
        else:
            _draw_lines(figure, part, picture, styles, palette, at, seen)
        _name_panel(figure, narrow(name, 40), palette, at)
        _title_axes(figure, picture, at, bottom=place + cols >= len(names))
    for place in range(len(names), rows * cols):
        figure.update_xaxes(visible=False, row=place // cols + 1, col=place % cols + 1)
        figure.update_yaxes(visible=False, row=place // cols + 1, col=place % cols + 1)
    return figure


def describe_claim(table: pd.DataFrame, picture: Picture, *, finding: str) -> str:
    """The picture in words."""
    shown = _shown(table, picture)
    medians = shown.groupby(picture.line, sort=False)[picture.y].median()
    listed = ", ".join(f"{name} {number(float(value))}" for name, value in medians.items())
    return f"{picture.title}. {opening(finding)}. Medians of {picture.y_title} over all runs: {listed}."


def _shown(table: pd.DataFrame, picture: Picture) -> pd.DataFrame:
    kept = table[table[picture.y].notna()]
    for column, values in picture.only.items():
        kept = kept[kept[column].isin(list(values))]
    return kept


def _points(part: pd.DataFrame, picture: Picture) -> tuple[Array, Array]:
    """The places of x and the quartiles there, shape (m,) and (m, 3)."""
    groups = part.groupby(picture.x)[picture.y]
    places = np.sort(part[picture.x].dropna().unique()).astype(np.float64)
    return places, np.stack([quartiles(groups.get_group(place).to_numpy(np.float64)) for place in places])


def _draw_lines(
    figure: go.Figure,
    part: pd.DataFrame,
    picture: Picture,
    styles: Mapping[str, Style],
    palette: Palette,
    at: dict[str, int],
    seen: set[str],
) -> None:
    for name, runs in part.groupby(picture.line, sort=False):
        x, found = _points(runs, picture)
        style = styles[str(name)]
        low, middle, high = found.T
        figure.add_trace(
            go.Scatter(
                **{"x": np.r_[x, x[::-1]], "y": np.r_[high, low[::-1]], "fill": "toself", "mode": "lines"},
                fillcolor=palette.faded(style.color, _BAND),
                line={"width": 0},
                hoverinfo="skip",
                showlegend=False,
                legendgroup=name,
                meta="band",
            ),
            **at,
        )
        figure.add_trace(
            go.Scatter(
                **{"x": x, "y": middle, "mode": "lines+markers", "name": name, "legendgroup": name, "meta": "median"},
                line={"color": style.color, "width": 2, "dash": style.dash},
                marker={"symbol": style.marker, "size": 7, "color": style.color},
                showlegend=name not in seen,
                hovertemplate=f"<b>{name}</b><br>{picture.x_title} %{{x:.4g}}: %{{y:.3g}}<extra></extra>",
            ),
            **at,
        )
        seen.add(str(name))
    if picture.baseline:
        base = part.groupby(picture.x)[picture.baseline].median()
        figure.add_trace(
            go.Scatter(
                **{"x": base.index.to_numpy(float), "y": base.to_numpy(float), "mode": "lines", "meta": "baseline"},
                line={"color": palette.text, "width": 1.3, "dash": "dash"},
                name="k-means++",
                legendgroup="k-means++",
                showlegend="k-means++" not in seen,
                hovertemplate="k-means++ %{y:.3g}<extra></extra>",
            ),
            **at,
        )
        seen.add("k-means++")


def _draw_marks(
    figure: go.Figure,
    part: pd.DataFrame,
    picture: Picture,
    styles: Mapping[str, Style],
    palette: Palette,
    at: dict[str, int],
) -> None:
    names = list(dict.fromkeys(part[picture.line].astype(str)))
    for place, (name, runs) in enumerate(part.groupby(picture.line, sort=False)):
        low, middle, high = quartiles(runs[picture.y].to_numpy(np.float64))
        style = styles[str(name)]
        figure.add_trace(
            go.Scatter(
                **{"x": [place], "y": [middle], "mode": "markers", "showlegend": False, "meta": "median"},
                marker={"symbol": style.marker, "size": 12, "color": style.color},
                error_y={"type": "data", "symmetric": False, "array": [high - middle], "arrayminus": [middle - low]},
                hovertemplate=f"<b>{name}</b> %{{y:.3g}}<extra></extra>",
            ),
            **at,
        )
    figure.update_xaxes(
        **{"tickvals": list(range(len(names))), "ticktext": [narrow(name) for name in names], **at},
        range=[-0.6, len(names) - 0.4],
    )
    if picture.baseline:
        figure.add_hline(
            **{"y": float(part[picture.baseline].median()), **at},
            line={"color": palette.text, "width": 1.3, "dash": "dash"},
        )


def _limits(shown: pd.DataFrame, picture: Picture) -> tuple[float, float]:
    """One colour scale for all panels."""
    keys = [picture.panel, picture.line, picture.heat, picture.x]
    values = shown.groupby(keys)[picture.y].median()
    return min(0.0, float(values.min())), float(values.max())


def _draw_heat(
    figure: go.Figure,
    part: pd.DataFrame,
    picture: Picture,
    palette: Palette,
    at: dict[str, int],
    *,
    limits: tuple[float, float],
) -> None:
    grid = part.pivot_table(values=picture.y, index=picture.heat, columns=picture.x, aggfunc="median")
    bar = below_plot(figure) | {"title": {"text": picture.y_title, "side": "top"}, "thickness": 12}
    figure.add_trace(
        go.Heatmap(
            **{"x": grid.columns.to_numpy(), "y": grid.index.to_numpy(), "z": grid.to_numpy(float)},
            **{"zmin": limits[0], "zmax": limits[1], "colorscale": palette.sequential},
            showscale=at == {"row": 1, "col": 1},
            colorbar=bar,
            hovertemplate=f"{picture.heat} %{{y}}, {picture.x} %{{x}}: %{{z:.3g}}<extra></extra>",
            meta="median",
        ),
        **at,
    )
    figure.update_xaxes(tickvals=grid.columns.tolist(), **at)
    figure.update_yaxes(tickvals=grid.index.tolist(), **at)


def _name_panel(figure: go.Figure, name: str, palette: Palette, at: dict[str, int]) -> None:
    plot = figure.get_subplot(at["row"], at["col"])
    figure.add_annotation(
        **{"text": f"<b>{name}</b>", "showarrow": False, "x": 0, "y": 1, "xanchor": "left", "yanchor": "bottom"},
        xref=f"{plot.xaxis.plotly_name.replace('axis', '')} domain",
        yref=f"{plot.yaxis.plotly_name.replace('axis', '')} domain",
        font={"size": _NAME_SIZE, "color": palette.text},
    )


def _title_axes(figure: go.Figure, picture: Picture, at: dict[str, int], *, bottom: bool) -> None:
    figure.update_xaxes(title_text=picture.x_title if bottom else "", **at)
    figure.update_yaxes(title_text=(picture.heat or picture.y_title) if at["col"] == 1 else "", **at)
    drawn = [t for t in figure.select_traces(row=at["row"], col=at["col"]) if t.meta in ("median", "band", "baseline")]
    if picture.heat:
        return
    if picture.log_y:
        figure.update_yaxes(_span(np.concatenate([_heights(trace) for trace in drawn])), **at)
    if picture.log_x:
        figure.update_xaxes(_span(np.concatenate([np.asarray(trace.x, float) for trace in drawn])), **at)


def _heights(trace: go.Scatter) -> Array:
    """Where a trace is drawn, its error bars included."""
    y = np.asarray(trace.y, float)
    bars = trace.error_y
    return y if bars.array is None else np.r_[y + np.asarray(bars.array), y - np.asarray(bars.arrayminus)]


def _span(values: Array) -> dict[str, object]:
    """An axis that holds the positive values, with a little air: logarithmic where they span much."""
    positive = values[np.isfinite(values) & (values > 0)]
    low, high = (float(positive.min()), float(positive.max())) if len(positive) else (0.1, 1.0)
    if high < _LOG_FROM * low:
        air = 0.08 * ((high - low) or high)
        return {"range": [low - air, high + air]}
    low, high = log10(low), log10(high)
    air = 0.05 * (high - low)
    return log_axis(low, high) | {"range": [low - air, high + air]}
