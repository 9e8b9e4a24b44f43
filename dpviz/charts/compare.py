"""Centres of several algorithms side by side, on the same axes, each against k-means++."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil

import numpy as np
import plotly.graph_objects as go

from dpviz.charts.canvas import canvas, legend_name, line_xy, marks_xy, name_kinds, panels, show_plane
from dpviz.charts.cells import segments
from dpviz.charts.contenders import narrow
from dpviz.charts.revealed import RevealedView
from dpviz.charts.theme import Palette, center_marker, reference_marker
from dpviz.charts.view import View
from dpviz.charts.wording import clauses, number, things
from dpviz.runs.evaluation import Reference, match
from dpviz.table.domain import Array

_PANEL, _HEAD = 250, 250
# Room above a panel for its name in two lines and its error.
_NAME_ROOM = 48.0
# Characters of a panel's name that fit beside its neighbour's on a phone, by panels in a row.
_NAME_WIDTHS, _NAME_SIZE = {1: 40, 2: 17, 3: 14}, 10
# Two panels in a row up to four, then three.
_FEW = 4


def draw_compare(
    results: Mapping[str, Array],
    *,
    view: View,
    palette: Palette,
    reference: Reference | None = None,
    reveal: RevealedView | None = None,
) -> go.Figure:
    """A panel for each result: released centres (k, d), unit coordinates; tied to k-means++ where it is given."""
    cols = min(2 if len(results) <= _FEW else 3, max(1, len(results)))
    rows = max(1, ceil(len(results) / cols))
    errors = {name: _error(centers, reference) for name, centers in results.items()}
    subtitle = clauses(
        "number: typical distance to the matched k-means++ centre, unit coordinates" if reference else "", view.about
    )
    figure = canvas(palette, title=_finding(errors), subtitle=subtitle, height=_HEAD + _PANEL * rows, legend_lines=3)
    figure.update_layout(margin={"t": figure.layout.margin.t + _NAME_ROOM})
    panels(figure, palette, rows, cols, shared_xaxes="all", shared_yaxes="all", **_gaps(rows))
    for place, (name, centers) in enumerate(results.items()):
        at = {"row": place // cols + 1, "col": place % cols + 1}
        _draw_panel(figure, centers, view, palette, reference, reveal, at, legend=place == 0)
        show_plane(figure, view, palette, row=at["row"], col=at["col"])
        _name_panel(figure, narrow(name, _NAME_WIDTHS[cols]), errors[name], palette, at)
    _title_outer_axes(figure, view, rows, cols, len(results))
    return name_kinds(figure, palette)


def describe_compare(results: Mapping[str, Array], reference: Reference | None = None) -> str:
    """The picture in words."""
    errors = {name: _error(centers, reference) for name, centers in results.items()}
    listed = ", ".join(f"{name} {number(e)}" for name, e in errors.items() if e is not None)
    return f"{_finding(errors)}." + (f" Typical distance to the matched k-means++ centre: {listed}." if listed else "")


def _error(centers: Array, reference: Reference | None) -> float | None:
    """Root mean squared distance to the matched reference centres, unit coordinates."""
    if reference is None or len(reference.centers) != len(centers):
        return None
    away = centers - reference.centers[match(centers, reference.centers)]
    return float(np.sqrt((away**2).sum(axis=1).mean()))


def _finding(errors: Mapping[str, float | None]) -> str:
    known = {name: error for name, error in errors.items() if error is not None}
    if len(known) < 2:
        return f"Centres of {things(len(errors), 'algorithm')} on the same axes"
    best = min(known, key=lambda name: known[name])
    return f"{best} comes closest to k-means++"


def _draw_panel(
    figure: go.Figure,
    centers: Array,
    view: View,
    palette: Palette,
    reference: Reference | None,
    reveal: RevealedView | None,
    at: dict[str, int],
    *,
    legend: bool,
) -> None:
    drawn = view.plane(centers)
    if reveal is not None:
        look = {"color": palette.revealed, "size": 2, "opacity": 0.3}
        _add(
            figure,
            view.plane(reveal.points[::3], "rows"),
            look,
            legend_name("rows", "revealed"),
            "revealed",
            at,
            legend,
        )
    if reference is not None:
        partner = view.plane(reference.centers, "reference")
        if len(reference.centers) == len(centers):
            lines = segments(partner[match(centers, reference.centers)], drawn)
            line = {"color": palette.muted, "width": 1.1}
            figure.add_trace(
                go.Scatter(**line_xy(lines), mode="lines", line=line, showlegend=False, hoverinfo="skip"), **at
            )
        mark = reference_marker(palette, 9) | {"line": {"width": 1.5}}
        _add(figure, partner, mark, legend_name("k-means++", "revealed"), "revealed", at, legend)
    size = 9 if len(centers) <= 20 else 7
    mark = center_marker(palette, palette.released, size) | {"line": {"width": 1, "color": palette.surface}}
    _add(figure, drawn, mark, legend_name("centres", "released"), "released", at, legend)


def _add(
    figure: go.Figure, drawn: Array, marker: dict[str, object], name: str, kind: str, at: dict[str, int], legend: bool
) -> None:
    figure.add_trace(
        go.Scatter(
            **marks_xy(drawn),
            **{"mode": "markers", "marker": marker, "name": name, "legendgroup": name, "showlegend": legend},
            hovertemplate="%{x:.4g}, %{y:.4g}<extra></extra>",
            meta=kind,
        ),
        **at,
    )


def _name_panel(figure: go.Figure, name: str, error: float | None, palette: Palette, at: dict[str, int]) -> None:
    plot = figure.get_subplot(at["row"], at["col"])
    text = f"<b>{name}</b>" + (f"<br>{number(error)}" if error is not None else "")
    figure.add_annotation(
        **{"text": text, "showarrow": False, "xanchor": "left", "yanchor": "bottom", "x": 0, "y": 1, "align": "left"},
        xref=f"{plot.xaxis.plotly_name.replace('axis', '')} domain",
        yref=f"{plot.yaxis.plotly_name.replace('axis', '')} domain",
        font={"size": _NAME_SIZE, "color": palette.text},
    )


def _title_outer_axes(figure: go.Figure, view: View, rows: int, cols: int, panels_drawn: int) -> None:
    """Axis titles and ticks only where a panel has no neighbour below or to its left."""
    for place in range(rows * cols):
        row, col = place // cols + 1, place % cols + 1
        bottom = place + cols >= panels_drawn
        if place >= panels_drawn:
            figure.update_xaxes(visible=False, range=view.range[0], row=row, col=col)
            figure.update_yaxes(visible=False, range=view.range[1], row=row, col=col)
            continue
        figure.update_xaxes(title_text=view.name[0] if bottom else "", showticklabels=bottom, row=row, col=col)
        figure.update_yaxes(title_text=view.name[1] if col == 1 else "", showticklabels=col == 1, row=row, col=col)


def _gaps(rows: int) -> dict[str, float]:
    # Wide enough on a phone for the last tick of a panel and the first of its neighbour.
    return {"horizontal_spacing": 0.08, "vertical_spacing": min(0.3, _NAME_ROOM / (_PANEL * rows)) if rows > 1 else 0.0}
