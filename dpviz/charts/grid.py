"""A noisy histogram as a signed map: blue above zero, orange below, pale where noise alone would do."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, sqrt
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dpviz.algorithms.steps import GridStep
from dpviz.charts.canvas import (
    NUMBER_SIZE,
    SCREEN,
    Screen,
    below_plot,
    canvas,
    legend_name,
    name_kinds,
    show_plane,
)
from dpviz.charts.revealed import RevealedView
from dpviz.charts.theme import Palette
from dpviz.charts.view import View
from dpviz.charts.wording import clauses, number, opening
from dpviz.privacy.partitions import Grid
from dpviz.table.domain import Array, Codes, Domain

# A screen shows no more cells than this along an axis.
_SHOWN_PER_AXIS = 250
# Beyond this many noise sd a cell is said to stand out.
_STANDS_OUT = 3.0
# The share of the colour scale, on either side of 0, for what lies under the noise; and the least top of the scale.
_PALE, _LEAST_TOP = 0.2, 4.0
_TABLE_ROWS = 1000
_COUNTABLE = 1e9


@dataclass(frozen=True, eq=False)
class Shown:
    """A grid as it is drawn: summed over the axes that are not shown, and over neighbours where cells are too many.

    ``edges`` are the cell borders along the drawn axes, unit coordinates. ``values`` and ``summed`` (how many listed
    cells went into each) have one axis for each drawn one.
    """

    axes: tuple[int, ...]
    edges: list[Array]
    values: Array
    summed: Codes
    block: tuple[int, ...]


def draw_grid(
    step: GridStep,
    *,
    view: View,
    palette: Palette,
    reveal: RevealedView | None = None,
) -> go.Figure:
    """Signed noisy counts of the shown columns; over the bars of one column the true counts, if rows are revealed."""
    view = view.boxes()
    shown = shown_grid(step.grid, step.codes, step.noisy_counts, view)
    figure = canvas(
        palette, title=_finding(step), subtitle=_subtitle(step, shown, view), legend_lines=3 if not view.flat else 2
    )
    figure.update_layout(showlegend=False)
    if view.flat:
        _draw_bars(figure, step, shown, view, palette, reveal)
        return figure
    unknown = None if step.cutoff is None else palette.faded(palette.public, 0.16)
    figure.add_trace(_signed_map(step, shown, view, palette, below_plot(figure)))
    show_plane(figure, view, palette, fill=unknown)
    return figure


def draw_true_grid(step: GridStep, rows: Array, *, view: View, palette: Palette) -> go.Figure:
    """The true counts of revealed ``rows`` (n, d), unit coordinates, in the cells and axes of ``draw_grid``."""
    view = view.boxes()
    codes, counts = np.unique(step.grid.assign(rows), return_counts=True)
    truth = shown_grid(step.grid, codes, counts.astype(np.float64), view)
    figure = canvas(
        palette,
        title=f"{len(codes):,} of {_cells(step.grid)} hold a row",
        subtitle=clauses("true rows per cell: revealed, never a release", view.about),
        legend_lines=3,
    )
    figure.update_layout(showlegend=False)
    figure.add_trace(_true_map(truth, view, palette, below_plot(figure)))
    show_plane(figure, view, palette)
    return figure


def shown_grid(grid: Grid, codes: Codes, values: Array, view: View) -> Shown:
    """``values`` of the listed cells, added up to what the view shows."""
    axes = view.axes or (0,)
    cells = [int(grid.cells_per_axis[j]) for j in axes]
    block = tuple(ceil(m / _SHOWN_PER_AXIS) for m in cells)
    shape = tuple(ceil(m / b) for m, b in zip(cells, block, strict=True))
    places = grid.places(codes)
    place = [places[:, j] // b for j, b in zip(axes, block, strict=True)]
    flat = np.ravel_multi_index(tuple(place), shape)
    total = np.bincount(flat, values, int(np.prod(shape))).astype(np.float64).reshape(shape)
    summed = np.bincount(flat, minlength=int(np.prod(shape))).astype(np.int64)
    edges = [_edges(grid, j, m, b) for j, m, b in zip(axes, cells, block, strict=True)]
    return Shown(axes, edges, total, summed.reshape(shape), block)


def grid_table(step: GridStep, *, domain: Domain) -> pd.DataFrame:
    """The cells of largest noisy count, middles in data units."""
    top = np.argsort(-step.noisy_counts, kind="stable")[:_TABLE_ROWS]
    table = pd.DataFrame(domain.from_unit(step.grid.centers(step.codes[top])), columns=list(domain.columns))
    table["noisy count"] = step.noisy_counts[top]
    table["noise sd"] = step.sd
    return table


def describe_grid(step: GridStep, *, domain: Domain) -> str:
    """The picture in words."""
    text = (
        f"Noisy histogram of {', '.join(domain.columns[:4])}. {_finding(step)}. Noise sd of a cell: {number(step.sd)}."
    )
    return text + (f" {opening(_unlisted(step))}." if step.cutoff is not None else "")


def _finding(step: GridStep) -> str:
    if step.grid.n_cells == 1:
        return "A grid of one cell says nothing of where rows lie"
    above = int((step.noisy_counts > _STANDS_OUT * step.sd).sum())
    return f"{above:,} of {_cells(step.grid)} stand out from the noise"


def _cells(grid: Grid) -> str:
    """How many cells there are, in digits as long as a reader takes them in."""
    return f"{grid.n_cells:,} cells" if grid.n_cells < _COUNTABLE else f"{number(grid.n_cells)} cells"


def _unlisted(step: GridStep) -> str:
    return f"all others of {_cells(step.grid)}, within ±{number(step.cutoff or 0)}, were not released"


def _subtitle(step: GridStep, shown: Shown, view: View) -> str:
    most = int(shown.summed.max(initial=1))
    added = f"up to {most:,} cells added up: sd {number(step.sd * sqrt(most))}" if most > 1 else ""
    pale = "grey band:" if view.flat else "pale:"
    return clauses(
        f"standing out: over {_STANDS_OUT:g} sd",
        f"{pale} within 1 sd = {number(step.sd)} rows",
        view.about,
        added,
        f"grey: not released (within ±{number(step.cutoff)})" if step.cutoff is not None else "",
    )


def _signed_map(step: GridStep, shown: Shown, view: View, palette: Palette, place: dict[str, Any]) -> go.Heatmap:
    """Colour follows the noisy count in units of its noise: slowly up to 1 sd, then with the square root."""
    sd = step.sd * np.sqrt(np.maximum(shown.summed, 1))
    in_sds = shown.values / sd
    top = max(_LEAST_TOP, float(np.abs(in_sds).max(initial=0)))
    color = _tone(in_sds, top)
    color[shown.summed == 0] = np.nan
    typical = float(np.median(sd[shown.summed > 0])) if (shown.summed > 0).any() else step.sd
    ticks = np.array([-top, -1.0, 1.0, top])
    return go.Heatmap(
        **_edges_drawn(shown, view),
        z=color.T.astype(SCREEN),
        customdata=shown.values.T.astype(SCREEN),
        hovertemplate="noisy count %{customdata:.4g} (released)<br>%{x:.4g}, %{y:.4g}<extra></extra>",
        colorscale=[list(stop) for stop in palette.diverging],
        zmin=-1,
        zmax=1,
        colorbar=_bar(
            "noisy rows (released)",
            palette,
            tickvals=_tone(ticks, top),
            ticktext=[f"{number(float(t * typical))}" for t in ticks],
            place=place,
        ),
        meta="released",
    )


def _true_map(truth: Shown, view: View, palette: Palette, place: dict[str, Any]) -> go.Heatmap:
    """True counts in orange, with the square root as the noisy ones have it."""
    top = max(1.0, float(truth.values.max(initial=0)))
    return go.Heatmap(
        **_edges_drawn(truth, view),
        z=np.sqrt(truth.values).T.astype(SCREEN),
        customdata=truth.values.T.astype(SCREEN),
        hovertemplate="true count %{customdata:.4g} (revealed)<br>%{x:.4g}, %{y:.4g}<extra></extra>",
        colorscale=[[0, palette.surface], [1, palette.revealed]],
        zmin=0,
        zmax=sqrt(top),
        colorbar=_bar(
            "◉ true rows (revealed)",
            palette,
            tickvals=np.array([0, sqrt(top)]),
            ticktext=["0", number(top)],
            place=place,
        ),
        meta="revealed",
    )


def _draw_bars(
    figure: go.Figure, step: GridStep, shown: Shown, view: View, palette: Palette, reveal: RevealedView | None
) -> None:
    """One column: bars, pale within 1 sd; the noise as a band."""
    edges = view.plane(shown.edges[0][:, None])[:, 0]
    sd = step.sd * np.sqrt(np.maximum(shown.summed, 1))
    pale = np.abs(shown.values) <= sd
    colors = np.where(pale, palette.faded(palette.released, 0.3), palette.released)
    middle, width = (edges[1:] + edges[:-1]) / 2, np.diff(edges)
    figure.add_trace(
        go.Bar(
            x=middle.astype(SCREEN),
            y=shown.values.astype(SCREEN),
            width=width.astype(SCREEN),
            marker={"color": colors, "line": {"width": 0}},
            name=legend_name("noisy counts", "released"),
            hovertemplate="noisy count %{y:.4g} (released)<br>%{x:.4g}<extra></extra>",
            meta="released",
        )
    )
    rows = None if reveal is None else reveal.rows_in(view.region, None)
    if rows is not None:
        codes, counts = np.unique(step.grid.assign(rows), return_counts=True)
        truth = shown_grid(step.grid, codes, counts.astype(np.float64), view)
        figure.add_trace(
            go.Scatter(
                x=middle.astype(SCREEN),
                y=truth.values.astype(SCREEN),
                mode="markers",
                name=legend_name("true counts", "revealed"),
                marker={"color": palette.revealed, "symbol": "line-ew-open", "size": 8, "line": {"width": 2}},
                meta="revealed",
            )
        )
    figure.add_hrect(
        **{"y0": -float(np.median(sd)), "y1": float(np.median(sd)), "line_width": 0, "layer": "below"},
        fillcolor=palette.faded(palette.public, 0.18),
    )
    figure.update_xaxes(range=view.range[0], title_text=view.name[0], zeroline=False)
    figure.update_yaxes(title_text="rows per cell (noisy)", zeroline=True, zerolinecolor=palette.muted)
    figure.update_layout(showlegend=rows is not None, bargap=0)
    name_kinds(figure, palette)


def _tone(in_sds: Array, top: float) -> Array:
    """From noise sds to [-1, 1]: linear up to ``_PALE`` at 1 sd, then by the square root up to 1 at ``top``."""
    size = np.abs(in_sds)
    beyond = _PALE + (1 - _PALE) * (np.sqrt(np.maximum(size, 1)) - 1) / (sqrt(top) - 1)
    tone: Array = np.sign(in_sds) * np.where(size <= 1, _PALE * size, beyond)
    return tone


def _bar(
    title: str, palette: Palette, *, tickvals: Array, ticktext: list[str], place: dict[str, Any]
) -> dict[str, Any]:
    return place | {
        "title": {"text": title, "side": "top", "font": {"size": NUMBER_SIZE}},
        "thickness": 10,
        "tickvals": tickvals,
        "ticktext": ticktext,
        "tickangle": 0,
        "tickfont": {"size": NUMBER_SIZE, "color": palette.muted},
        "outlinewidth": 0.5,
        "outlinecolor": palette.muted,
    }


def _edges(grid: Grid, axis: int, cells: int, block: int) -> Array:
    """Borders of the shown cells along an axis, unit coordinates."""
    border = np.minimum(np.arange(ceil(cells / block) + 1) * block, cells)
    edges: Array = (2 * border / cells - 1) * grid.half[axis]
    return edges


def _edges_drawn(shown: Shown, view: View) -> dict[str, Screen]:
    drawn = {}
    for name, axis, edges in zip("xy", shown.axes, shown.edges, strict=True):
        values = edges * view.domain.scale[axis] + view.domain.center[axis] if view.in_data_units else edges
        drawn[name] = values.astype(SCREEN)
    return drawn
