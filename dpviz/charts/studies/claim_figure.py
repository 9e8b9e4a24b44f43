"""A claim's table in the form of its paper's figure: lines over panels, heat maps, or marks by line."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import ceil
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dpviz.arrays import Array
from dpviz.charts.canvas import LEGEND_LINE, NUMBER_SIZE, new_figure, place_below_plot
from dpviz.charts.studies.contenders import Style, choose_styles, describe_runs, narrow
from dpviz.charts.studies.medians import Span, compute_quartiles, draw_band, draw_median_line
from dpviz.charts.theme import Palette, make_layout
from dpviz.charts.wording import PHONE, capitalize_first, format_number, join_clauses
from dpviz.claims.claim import Picture

_PANEL, _HEAD = 250, 200
_NAME_ROOM = 30.0
_BAND = 0.16
_WIDTH = 900
"""Pixels that titles are broken for: a page of its own is read on a screen, the app gives its own width."""


class _Place(NamedTuple):
    """Where a panel stands in the figure, counted from 1, and whether a panel stands below it."""

    row: int
    col: int
    lowest: bool

    @property
    def at(self) -> dict[str, int]:
        return {"row": self.row, "col": self.col}


@dataclass(frozen=True, eq=False)
class ClaimFigure:
    """Medians over the repeats with bands from 25 % to 75 %, a panel for each table of the paper.

    It depends on nothing but these, the palette and the width: the same ones make the same figure.

    Parameters
    ----------
    runs : DataFrame
        One row a run, as ``dpviz reproduce`` writes it.
    picture : Picture
    verdict : str
        In words: the title.
    """

    runs: pd.DataFrame
    picture: Picture
    verdict: str

    def draw(self, palette: Palette, *, width: int = _WIDTH) -> go.Figure:
        """The figure, its titles broken for ``width`` pixels.

        Parameters
        ----------
        palette : Palette
            Colours, light or dark.
        width : int
            Pixels.

        Returns
        -------
        Figure
            In the paper's form.
        """
        names = list(dict.fromkeys(self._shown[self._over].astype(str)))
        cols = 1 if len(names) == 1 or width <= PHONE else 2 if len(names) in (2, 4) or width < _WIDTH else 3
        rows = max(1, ceil(len(names) / cols))
        figure = self._sheet(palette, rows, width)
        gap = min(0.3, 2.6 * _NAME_ROOM / (_PANEL * rows)) if rows > 1 else 0.0
        figure.set_subplots(rows, cols, horizontal_spacing=0.09, vertical_spacing=gap)
        figure.update_xaxes(make_layout(palette)["xaxis"])
        figure.update_yaxes(make_layout(palette)["yaxis"])
        for number_of_panel, name in enumerate(names):
            place = _Place(
                number_of_panel // cols + 1, number_of_panel % cols + 1, number_of_panel + cols >= len(names)
            )
            part = self._shown[self._shown[self._over].astype(str) == name]
            if self.picture.heat:
                self._draw_heat(figure, part, palette, place)
            elif self.picture.x == self.picture.line:
                self._draw_marks(figure, part, palette, place)
            else:
                self._draw_lines(figure, part, palette, place)
            corner = {"x": 0, "y": 1, "xref": "x domain", "yref": "y domain", "xanchor": "left", "yanchor": "bottom"}
            font = {"size": NUMBER_SIZE, "color": palette.text}
            text = f"<b>{narrow(name, 40)}</b>"
            figure.add_annotation(text=text, font=font, showarrow=False, **corner, **place.at)
            self._set_axes(figure, place)
        for empty in range(len(names), rows * cols):
            figure.update_xaxes(visible=False, row=empty // cols + 1, col=empty % cols + 1)
            figure.update_yaxes(visible=False, row=empty // cols + 1, col=empty % cols + 1)
        return figure

    def words(self) -> str:
        """The picture in words."""
        medians = self._shown.groupby(self.picture.line, sort=False)[self.picture.y].median()
        listed = ", ".join(f"{name} {format_number(float(value))}" for name, value in medians.items())
        said = f"{self.picture.title}. {capitalize_first(self.verdict)}."
        return f"{said} Medians of {self.picture.y_title} over all runs: {listed}."

    @property
    def _over(self) -> str:
        """What there is a panel for."""
        return self.picture.line if self.picture.heat else self.picture.panel

    @cached_property
    def _shown(self) -> pd.DataFrame:
        kept = self.runs[self.runs[self.picture.y].notna()]
        for column, values in self.picture.only.items():
            kept = kept[kept[column].isin(list(values))]
        return kept

    @cached_property
    def _styles(self) -> dict[str, Style]:
        return choose_styles(list(dict.fromkeys(self.runs[self.picture.line].astype(str))))

    def _sheet(self, palette: Palette, rows: int, width: int) -> go.Figure:
        picture = self.picture
        legend = 3 if picture.heat else 1 + ceil(len(self._styles) / (2 if width < _WIDTH else 5))
        points = [column for column in (picture.panel, picture.line, picture.x, picture.heat) if column]
        figure = new_figure(
            palette,
            title=capitalize_first(self.verdict),
            subtitle=join_clauses(
                picture.title,
                "median" if picture.heat else "median and middle half",
                describe_runs(sorted(set(self._shown.groupby(points).size()))),
                "dashed: k-means++" if picture.baseline else "",
            ),
            height=_HEAD + (_PANEL if rows > 1 else 360) * rows + LEGEND_LINE * legend,
            width=width,
            legend_lines=legend,
        ).figure()
        margin = figure.layout.margin
        if picture.heat:
            return figure.update_layout(margin={"t": margin.t + _NAME_ROOM})
        # The legend stands above the panels, nearer to their lines than below all of them.
        room = LEGEND_LINE * legend
        figure.update_layout(margin={"t": margin.t + _NAME_ROOM + room, "b": margin.b - room})
        high = figure.layout.height - figure.layout.margin.t - figure.layout.margin.b
        where = {"x": 0, "xref": "paper", "y": 1 + _NAME_ROOM / high, "yref": "paper", "yanchor": "bottom"}
        return figure.update_layout(legend=where)

    def _draw_lines(self, figure: go.Figure, part: pd.DataFrame, palette: Palette, place: _Place) -> None:
        """A line for each algorithm over its band, and that of k-means++."""
        named = {trace.name for trace in figure.data}
        x_title = self.picture.x_title
        traces = []
        for name, curve in self._curves(part).items():
            x, low, middle, high = curve[[self.picture.x, "low", "median", "high"]].to_numpy(np.float64).T
            hover = f"<b>{name}</b><br>{x_title} %{{x:.4g}}: %{{y:.3g}}<extra></extra>"
            together: dict[str, Any] = {"legendgroup": name}
            fill = palette.fade(self._styles[name].color, _BAND)
            once = {"showlegend": name not in named, "hovertemplate": hover}
            traces.append(draw_band(x, low, high, fill, **together))
            traces.append(draw_median_line(name, x, middle, self._styles[name], **together | once))
        if self.picture.baseline:
            base = part.groupby(self.picture.x)[self.picture.baseline].median()
            traces.append(
                go.Scatter(
                    **{"x": base.index.to_numpy(float), "y": base.to_numpy(float), "mode": "lines", "meta": "baseline"},
                    **{"name": "k-means++", "legendgroup": "k-means++", "showlegend": "k-means++" not in named},
                    line={"color": palette.text, "width": 1.3, "dash": "dash"},
                    hovertemplate="k-means++ %{y:.3g}<extra></extra>",
                )
            )
        figure.add_traces(traces, rows=place.row, cols=place.col)

    def _curves(self, part: pd.DataFrame) -> dict[str, pd.DataFrame]:
        """Quartiles over the repeats at each x, by line, in the order of the table."""
        line = self.picture.line
        parts = compute_quartiles(part, self.picture.y, list(dict.fromkeys([line, self.picture.x])))
        return {name: parts[parts[line].astype(str) == name] for name in dict.fromkeys(part[line].astype(str))}

    def _draw_marks(self, figure: go.Figure, part: pd.DataFrame, palette: Palette, place: _Place) -> None:
        """A mark for each algorithm, side by side."""
        curves = self._curves(part)
        for step, (name, curve) in enumerate(curves.items()):
            ((low, middle, high),) = curve[["low", "median", "high"]].to_numpy(np.float64)
            figure.add_trace(
                go.Scatter(
                    **{"x": [step], "y": [middle], "mode": "markers", "showlegend": False, "meta": "median"},
                    marker={"symbol": self._styles[name].marker, "size": 12, "color": self._styles[name].color},
                    error_y={"symmetric": False, "array": [high - middle], "arrayminus": [middle - low]},
                    hovertemplate=f"<b>{name}</b> %{{y:.3g}}<extra></extra>",
                ),
                **place.at,
            )
        figure.update_xaxes(
            **{"tickvals": list(range(len(curves))), "ticktext": [narrow(name) for name in curves], **place.at},
            range=[-0.6, len(curves) - 0.4],
        )
        if self.picture.baseline:
            figure.add_hline(
                **{"y": float(part[self.picture.baseline].median()), **place.at},
                line={"color": palette.text, "width": 1.3, "dash": "dash"},
            )

    def _draw_heat(self, figure: go.Figure, part: pd.DataFrame, palette: Palette, place: _Place) -> None:
        picture = self.picture
        grid = part.pivot_table(values=picture.y, index=picture.heat, columns=picture.x, aggfunc="median")
        # One colour scale for all panels.
        medians = self._shown.groupby([picture.panel, picture.line, picture.heat, picture.x])[picture.y].median()
        figure.add_trace(
            go.Heatmap(
                **{"x": grid.columns.to_numpy(), "y": grid.index.to_numpy(), "z": grid.to_numpy(float)},
                **{"zmin": min(0.0, float(medians.min())), "zmax": float(medians.max()), "meta": "median"},
                **{"colorscale": palette.sequential, "showscale": (place.row, place.col) == (1, 1)},
                colorbar=place_below_plot(figure.layout)
                | {"title": {"text": picture.y_title, "side": "top"}, "thickness": 12},
                hovertemplate=f"{picture.heat} %{{y}}, {picture.x} %{{x}}: %{{z:.3g}}<extra></extra>",
            ),
            **place.at,
        )
        figure.update_xaxes(tickvals=grid.columns.tolist(), **place.at)
        figure.update_yaxes(tickvals=grid.index.tolist(), **place.at)

    def _set_axes(self, figure: go.Figure, place: _Place) -> None:
        """Titles on the outer panels only, and ranges that hold what is drawn in each."""
        picture = self.picture
        figure.update_xaxes(title_text=picture.x_title if place.lowest else "", **place.at)
        figure.update_yaxes(title_text=(picture.heat or picture.y_title) if place.col == 1 else "", **place.at)
        if picture.heat:
            return
        drawn = [trace for trace in figure.select_traces(**place.at) if trace.meta in ("median", "band", "baseline")]
        if picture.log_y:
            figure.update_yaxes(_axis(np.concatenate([_heights(trace) for trace in drawn])), **place.at)
        if picture.log_x:
            figure.update_xaxes(_axis(np.concatenate([np.asarray(trace.x, float) for trace in drawn])), **place.at)


def _axis(values: Array) -> dict[str, Any]:
    """An axis that holds the positive ones."""
    return Span.of(values[values > 0], air=0.05).axis


def _heights(trace: go.Scatter) -> Array:
    """Where a trace is drawn, its error bars included."""
    y, bars = np.asarray(trace.y, float), trace.error_y
    return y if bars.array is None else np.r_[y + np.asarray(bars.array), y - np.asarray(bars.arrayminus)]
