"""A noisy histogram in a view of the rows, and beside it what denoising kept of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dpviz.algorithms.auto.view_synopsis import SynopsisStep
from dpviz.arrays import Array
from dpviz.charts.canvas import below_plot, canvas, show_plane
from dpviz.charts.pictures.grid import box_of, cells_of, describe_grid, draw_grid, draw_true_grid, largest, outline_box
from dpviz.charts.pictures.grid_bars import draw_kept_bars
from dpviz.charts.pictures.grid_maps import Counted, count_maps
from dpviz.charts.revealed import RevealedView
from dpviz.charts.theme import Palette
from dpviz.charts.view import View
from dpviz.charts.wording import clauses, number, things
from dpviz.privacy.partitions import Grid
from dpviz.table.domain import Domain, Region

# An axis with this part of its length in one column is named after it.
_MOSTLY = 0.5
# What is shown around a box, as a share of its width.
_AIR = 0.06


def draw_synopsis(step: SynopsisStep, *, view: View, palette: Palette, reveal: RevealedView | None = None) -> go.Figure:
    """Signed noisy counts; over the axes of a view, the first two of them, from the middle of the rows."""
    plane = synopsis_view(step, view)
    if reveal is not None and reveal.everyone is not None and step.frame is not None and plane.flat:
        reveal = replace(reveal, everyone=_rows_in_view(step, reveal.everyone, view.domain))
    return draw_grid(_centred(step), view=plane, palette=palette, reveal=reveal)


def draw_kept(step: SynopsisStep, *, view: View, palette: Palette) -> go.Figure:
    """The denoised counts of the cells that were kept, in the axes of ``draw_synopsis``."""
    view, grid = synopsis_view(step, view), _centred(step).grid
    layers = [Counted(grid, step.codes[step.kept], step.weights)]
    if step.around is not None:
        coarse = step.around.grid
        layers.insert(0, Counted(coarse, coarse.assign(step.outside), step.outside_weights))
    figure = canvas(
        palette,
        title=_kept_finding(step),
        subtitle=clauses("blank: what noise alone would show", f"kept: {number(_total(step))} rows in all", view.about),
        legend_lines=2 if view.flat else 3,
    )
    figure.update_layout(showlegend=False)
    if view.flat:
        draw_kept_bars(figure, _centred(step), layers, view, palette)
    else:
        place = below_plot(figure)
        figure.add_traces(count_maps(layers, view, palette, place, what="rows kept", kind="released"))
        show_plane(figure, view, palette)
    if step.around is not None:
        outline_box(figure, box_of(grid), view, palette)
    return figure


def in_its_box(figure: go.Figure, step: SynopsisStep, view: View) -> go.Figure:
    """A figure of a synopsis of a box, with axes that show the box and a little around it."""
    low, high = view.boxes().plane(box_of(step.grid))
    air = _AIR * (high - low)
    figure.update_xaxes(range=[low[0] - air[0], high[0] + air[0]])
    if not view.flat:
        figure.update_yaxes(range=[low[1] - air[1], high[1] + air[1]])
    return figure


def draw_true_synopsis(step: SynopsisStep, rows: Array, *, view: View, palette: Palette) -> go.Figure:
    """The true counts of revealed ``rows`` (n, d), unit coordinates, in the cells and axes of ``draw_synopsis``."""
    seen = rows if step.frame is None else _rows_in_view(step, rows, view.domain)
    return draw_true_grid(_centred(step), seen, view=synopsis_view(step, view), palette=palette)


def synopsis_view(step: SynopsisStep, view: View) -> View:
    """The plane that a synopsis is drawn in: the chosen columns, or the first axes of the view it lies over."""
    if step.frame is None:
        return view.boxes()
    half = step.grid.half
    return view.within(Region(half, float(np.linalg.norm(half))), axis_names(step.frame, view.domain))


def axis_names(frame: Array, domain: Domain) -> tuple[str, ...]:
    """What the axes of a view are called: after a column, if they are mostly that column."""
    names = []
    for j, axis in enumerate(frame):
        foremost = int((axis**2).argmax())
        mostly = f", mostly {domain.columns[foremost]}" if axis[foremost] ** 2 >= _MOSTLY else ""
        names.append(f"axis {j + 1} of the view{mostly}")
    return tuple(names)


def synopsis_table(step: SynopsisStep, *, domain: Domain) -> pd.DataFrame:
    """The cells of largest noisy count with what was kept of each, middles in data units or along the view's axes."""
    top = largest(step.noisy_counts)
    middles = step.grid.centers(step.codes[top])
    if step.frame is None:
        table = pd.DataFrame(domain.from_unit(middles), columns=list(domain.columns))
    else:
        table = pd.DataFrame(middles, columns=list(axis_names(step.frame, domain)))
    kept = np.zeros(len(step.codes))
    kept[step.kept] = step.weights
    table["noisy count"], table["count kept"] = step.noisy_counts[top], kept[top]
    table["noise sd"] = step.sd
    return table


def describe_synopsis(step: SynopsisStep, *, domain: Domain) -> str:
    """The picture in words."""
    over = f"over {things(len(step.grid.half), 'axis', 'axes')} of the view" if step.frame is not None else None
    return f"{describe_grid(step, domain=domain, over=over)} {describe_kept(step)}"


def describe_kept(step: SynopsisStep) -> str:
    """The picture of ``draw_kept`` in words."""
    return f"{_kept_finding(step)}; together they weigh {number(_total(step))} rows."


def _centred(step: SynopsisStep) -> SynopsisStep:
    """With a grid around 0, where it lies over a view: its pictures then range over the grid and no more."""
    return step if step.frame is None else replace(step, grid=Grid(step.grid.half, step.grid.cells_per_axis))


def _rows_in_view(step: SynopsisStep, rows: Array, domain: Domain) -> Array:
    """Rows (n, d) as the algorithm saw them, from the middle of the grid, shape (n, p)."""
    assert step.frame is not None
    seen = Region.ball(len(step.frame), domain.region.radius).clip(domain.region.clip(rows) @ step.frame.T)
    return seen if step.grid.middle is None else seen - step.grid.middle


def _total(step: SynopsisStep) -> float:
    return float(step.weights.sum() + step.outside_weights.sum())


def _kept_finding(step: SynopsisStep) -> str:
    kept, cells = len(step.kept) + len(step.outside), len(step.codes)
    if step.cutoff is not None:
        return f"{kept:,} of {cells_of(step.grid)} stand out enough to be kept"
    everything = cells + (len(step.around.codes) if step.around is not None else 0)
    if kept == everything:
        return f"Denoising keeps all {kept:,} cells: smoothed, each stands out"
    return f"Denoising keeps {kept:,} of {everything:,} cells"
