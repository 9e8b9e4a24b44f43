"""A noisy histogram as a signed map: blue above zero, orange below, pale where noise alone would do."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dpviz.algorithms.steps import GridStep
from dpviz.arrays import Array, Codes
from dpviz.charts.canvas import below_plot, canvas, show_plane
from dpviz.charts.pictures.grid_bars import draw_noisy_bars
from dpviz.charts.pictures.grid_maps import Shown, count_maps, shown_grid, signed_maps, true_counts
from dpviz.charts.revealed import RevealedView
from dpviz.charts.theme import Palette
from dpviz.charts.view import View
from dpviz.charts.wording import clauses, number, opening
from dpviz.privacy.partitions import Grid
from dpviz.table.domain import Domain

# Beyond this many noise sd a cell is said to stand out.
_STANDS_OUT = 3.0
_TABLE_ROWS = 1000
_COUNTABLE = 1e9


def draw_grid(
    step: GridStep,
    *,
    view: View,
    palette: Palette,
    reveal: RevealedView | None = None,
    title: str | None = None,
) -> go.Figure:
    """Signed noisy counts of the shown columns; over the bars of one column the true counts, if rows are revealed."""
    view = view.boxes()
    shown = shown_grid(step.grid, step.codes, step.noisy_counts, view)
    figure = canvas(
        palette,
        title=title or _finding(step),
        subtitle=_subtitle(step, shown, view),
        legend_lines=2 if view.flat else 3,
    )
    if view.flat:
        draw_noisy_bars(figure, step, view, palette, None if reveal is None else reveal.rows_in(view.region, None))
    else:
        figure.update_layout(showlegend=False)
        figure.add_traces(signed_maps(step, shown, view, palette, below_plot(figure)))
        show_plane(figure, view, palette, fill=None if step.cutoff is None else palette.faded(palette.public, 0.16))
    if step.around is not None:
        outline_box(figure, box_of(step.grid), view, palette)
    return figure


def draw_true_grid(step: GridStep, rows: Array, *, view: View, palette: Palette) -> go.Figure:
    """The true counts of revealed ``rows`` (n, d), unit coordinates, in the cells and axes of ``draw_grid``."""
    view = view.boxes()
    truth = true_counts(step, rows)
    number_of_cells = sum(layer.grid.n_cells for layer in truth)
    figure = canvas(
        palette,
        title=f"{sum(len(layer.codes) for layer in truth):,} of {_in_words(number_of_cells)} hold a row",
        subtitle=clauses("true rows per cell: revealed, never a release", view.about),
        legend_lines=3,
    )
    figure.update_layout(showlegend=False)
    figure.add_traces(count_maps(truth, view, palette, below_plot(figure), what="true rows", kind="revealed"))
    show_plane(figure, view, palette)
    if step.around is not None:
        outline_box(figure, box_of(step.grid), view, palette)
    return figure


def box_of(grid: Grid) -> Array:
    """Lower and upper corner of what a grid lies over, unit coordinates, shape (2, d)."""
    middle = 0.0 if grid.middle is None else grid.middle
    return np.stack([middle - grid.half, middle + grid.half])


def outline_box(figure: go.Figure, box: Array, view: View, palette: Palette) -> None:
    """A released box with corners ``box`` (2, d), as a frame on the plane or a stretch of the line."""
    (x0, y0), (x1, y1) = view.plane(box).tolist()
    line = {"color": palette.text, "width": 2}
    if view.flat:
        figure.add_vrect(x0=x0, x1=x1, line=line | {"dash": "dash"}, layer="above")
    else:
        figure.add_shape(type="rect", x0=x0, y0=y0, x1=x1, y1=y1, line=line, layer="above")


def grid_table(step: GridStep, *, domain: Domain) -> pd.DataFrame:
    """The cells of largest noisy count, middles in data units."""
    top = largest(step.noisy_counts)
    table = pd.DataFrame(domain.from_unit(step.grid.centers(step.codes[top])), columns=list(domain.columns))
    table["noisy count"] = step.noisy_counts[top]
    table["noise sd"] = step.sd
    return table


def largest(counts: Array) -> Codes:
    """Positions of the largest counts, as many as a table shows, in their order."""
    few = min(_TABLE_ROWS, len(counts))
    found = np.sort(np.argpartition(-counts, few - 1)[:few]) if few else np.zeros(0, dtype=np.int64)
    ordered: Codes = found[np.argsort(-counts[found], kind="stable")]
    return ordered


def describe_grid(step: GridStep, *, domain: Domain, over: str | None = None) -> str:
    """The picture in words; the histogram is that of the columns, or ``over`` something else."""
    over = over or f"of {', '.join(domain.columns[:4])}"
    text = f"Noisy histogram {over}. {_finding(step)}. Noise sd of a cell: {number(step.sd)}."
    return text + (f" {opening(_unlisted(step))}." if step.cutoff is not None else "")


def _finding(step: GridStep) -> str:
    if step.grid.n_cells == 1:
        return "A grid of one cell says nothing of where rows lie"
    above = int((step.noisy_counts > _STANDS_OUT * step.sd).sum())
    return f"{above:,} of {cells_of(step.grid)} stand out from the noise"


def cells_of(grid: Grid) -> str:
    """How many cells there are, in digits as long as a reader takes them in."""
    return _in_words(grid.n_cells)


def _in_words(cells: int) -> str:
    return f"{cells:,} cells" if cells < _COUNTABLE else f"{number(cells)} cells"


def _unlisted(step: GridStep) -> str:
    return f"all others of {cells_of(step.grid)}, within ±{number(step.cutoff or 0)}, were not released"


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
