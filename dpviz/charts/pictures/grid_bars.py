"""A noisy histogram of one column: bars, the noise as a band, and the true counts if rows are revealed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import plotly.graph_objects as go

from dpviz.algorithms.steps import GridStep
from dpviz.arrays import Array
from dpviz.charts.canvas import SCREEN, legend_name, name_kinds
from dpviz.charts.names import spelled
from dpviz.charts.pictures.grid_maps import Counted, Shown, shown_grid, true_counts
from dpviz.charts.theme import Palette
from dpviz.charts.view import View

_AIR = 0.08


class _Bars(NamedTuple):
    """Middles and widths of bars, drawn units."""

    middle: Array
    width: Array


def draw_noisy_bars(figure: go.Figure, step: GridStep, view: View, palette: Palette, rows: Array | None) -> None:
    """Bars, pale within 1 sd; over them what the cells truly hold of ``rows`` (n, 1), where these are given."""
    for layer in (step.around, step):
        if layer is not None:
            shown = shown_grid(layer.grid, layer.codes, layer.noisy_counts, view)
            sd = layer.sd * np.sqrt(np.maximum(shown.summed, 1))
            pale = np.abs(shown.values) <= sd
            colors = np.where(pale, palette.faded(palette.released, 0.3), palette.released)
            _add_bars(figure, shown, view, colors, "noisy count")
    for counted in true_counts(step, rows) if rows is not None else []:
        truth = shown_grid(*counted, view)
        figure.add_trace(
            go.Scatter(
                x=_places(truth, view).middle.astype(SCREEN),
                y=truth.values.astype(SCREEN),
                mode="markers",
                name=legend_name("true counts", "revealed"),
                showlegend=counted.grid is step.grid,
                marker={"color": palette.revealed, "symbol": "line-ew-open", "size": 8, "line": {"width": 2}},
                meta="revealed",
            )
        )
    band = float(np.median(sd))
    figure.add_hrect(
        **{"y0": -band, "y1": band, "line_width": 0, "layer": "below"}, fillcolor=palette.faded(palette.public, 0.18)
    )
    figure.update_layout(showlegend=rows is not None)
    _dress(figure, step, view, palette)
    name_kinds(figure, palette)


def draw_kept_bars(figure: go.Figure, step: GridStep, layers: Sequence[Counted], view: View, palette: Palette) -> None:
    """Denoised counts of the cells that were kept, in the range of the noisy ones."""
    for counted in layers:
        shown = shown_grid(*counted, view)
        _add_bars(figure, shown, view, np.full(len(shown.values), palette.released), "count kept")
    _dress(figure, step, view, palette)


def _add_bars(figure: go.Figure, shown: Shown, view: View, colors: Array, what: str) -> None:
    middle, width = _places(shown, view)
    listed = shown.summed > 0
    figure.add_trace(
        go.Bar(
            x=middle[listed].astype(SCREEN),
            y=shown.values[listed].astype(SCREEN),
            width=width[listed].astype(SCREEN),
            marker={"color": colors[listed], "line": {"width": 0}},
            name=legend_name(f"{what}s", "released"),
            hovertemplate=f"{what} %{{y:.4g}} (released)<br>%{{x:.4g}}<extra></extra>",
            meta="released",
        )
    )


def _places(shown: Shown, view: View) -> _Bars:
    edges = view.plane(shown.edges[0][:, None])[:, 0]
    return _Bars((edges[1:] + edges[:-1]) / 2, np.diff(edges))


def _dress(figure: go.Figure, step: GridStep, view: View, palette: Palette) -> None:
    """The same axes for noisy and denoised counts."""
    layers = [layer for layer in (step.around, step) if layer is not None]
    counts = [shown_grid(layer.grid, layer.codes, layer.noisy_counts, view).values for layer in layers]
    low, high = min(0.0, *(float(some.min()) for some in counts)), max(1.0, *(float(some.max()) for some in counts))
    figure.update_xaxes(range=view.range[0], title_text=spelled(view.name[0]), zeroline=False)
    figure.update_yaxes(title_text="rows per cell (noisy)", zeroline=True, zerolinecolor=palette.muted)
    figure.update_yaxes(range=[low - _AIR * (high - low), high + _AIR * (high - low)])
    figure.update_layout(bargap=0, barmode="overlay")
