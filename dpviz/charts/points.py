"""Rows on the plane: dots up to fifty thousand, a density beyond."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from dpviz.arrays import Array, Codes
from dpviz.charts.canvas import (
    MARKERS_UP_TO,
    NUMBER_SIZE,
    SCREEN,
    below_plot,
    canvas,
    legend_name,
    marks_xy,
    show_plane,
)
from dpviz.charts.names import spelled
from dpviz.charts.theme import Kind, Palette
from dpviz.charts.view import View
from dpviz.charts.wording import clauses, things

_BINS = 200


def draw_points(
    points: Array,
    view: View,
    labels: Codes | None = None,
    *,
    palette: Palette,
    kind: Kind = "revealed",
    title: str | None = None,
) -> go.Figure:
    """Rows (m, d), unit coordinates, each in the colour of its label 0 .. k-1 if there are ``labels``.

    Parameters
    ----------
    kind : Kind
        What the rows are: revealed, or public (a public sample, a simulated table).
    """
    many = len(points) > MARKERS_UP_TO
    outside = view.beyond(points) if len(points) else 0
    figure = canvas(
        palette,
        title=title or f"{things(len(points), 'row')} and the declared bounds around them",
        subtitle=clauses(
            view.about,
            f"too many for dots: rows per cell of a {_BINS} × {_BINS} grid" if many and not view.flat else "",
            f"{things(outside, 'row')} outside the picture" if outside else "",
        ),
        legend_lines=2,
    )
    if view.flat:
        _draw_line_density(figure, view.plane(points)[:, 0], view, palette, kind)
    elif many:
        figure.add_trace(_density(view.plane(points), view, palette, kind, figure))
        show_plane(figure, view, palette)
    else:
        figure.add_trace(_dots(view.plane(points), labels, palette, kind))
        show_plane(figure, view, palette)
    figure.update_layout(showlegend=False)
    return figure


def describe_points(points: Array, view: View) -> str:
    """The picture in words."""
    return f"{things(len(points), 'row').capitalize()} over {view.name[0]}" + (
        f" and {view.name[1]}." if view.name[1] else "."
    )


def _dots(drawn: Array, labels: Codes | None, palette: Palette, kind: Kind) -> go.Scattergl:
    marker: dict[str, object] = {"size": 4 if len(drawn) < 5000 else 3, "opacity": 0.6, "color": palette.kind(kind)}
    if labels is not None and len(labels):
        k = int(labels.max()) + 1
        scale = [list(stop) for stop in palette.cluster_scale(k)]
        marker |= {"color": labels.astype(np.int32), "colorscale": scale, "cmin": -0.5, "cmax": k - 0.5}
    return go.Scattergl(
        **marks_xy(drawn),
        **{"mode": "markers", "name": legend_name("rows", kind), "marker": marker, "hoverinfo": "skip", "meta": kind},
    )


def _density(drawn: Array, view: View, palette: Palette, kind: Kind, figure: go.Figure) -> go.Heatmap:
    counts, x, y = np.histogram2d(drawn[:, 0], drawn[:, 1], bins=_BINS, range=[list(span) for span in view.range])
    top = max(1.0, float(counts.max()))
    z = np.where(counts > 0, np.sqrt(counts), np.nan)
    ticks = [1.0, np.ceil(top / 4), top]
    return go.Heatmap(
        **{"x": x.astype(SCREEN), "y": y.astype(SCREEN), "z": z.T.astype(SCREEN), "zmin": 0, "zmax": np.sqrt(top)},
        colorscale=palette.sequential,
        colorbar=below_plot(figure)
        | {
            "title": {"text": f"rows per cell ({kind})", "side": "top", "font": {"size": NUMBER_SIZE}},
            **{"thickness": 10, "tickvals": np.sqrt(ticks), "ticktext": [f"{tick:,.0f}" for tick in ticks]},
            **{"tickangle": 0, "tickfont": {"size": NUMBER_SIZE, "color": palette.muted}, "outlinewidth": 0},
        },
        hoverinfo="skip",
        meta=kind,
    )


def _draw_line_density(figure: go.Figure, x: Array, view: View, palette: Palette, kind: Kind) -> None:
    counts, edges = np.histogram(x, bins=_BINS // 2, range=view.range[0])
    figure.add_trace(
        go.Bar(
            x=((edges[1:] + edges[:-1]) / 2).astype(SCREEN),
            y=counts.astype(SCREEN),
            width=np.diff(edges).astype(SCREEN),
            marker={"color": palette.faded(palette.kind(kind), 0.7), "line": {"width": 0}},
            meta=kind,
        )
    )
    figure.update_xaxes(range=view.range[0], title_text=spelled(view.name[0]), zeroline=False)
    figure.update_yaxes(title_text="rows", range=[0, 1.05 * max(1.0, float(counts.max(initial=1)))])
    figure.update_layout(bargap=0)
