"""A pool of candidate sets: all of them faint, the selected parents stronger, the one selected first in front."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dpviz.algorithms.su2016.pgkm import PoolStep
from dpviz.arrays import Array
from dpviz.charts.canvas import canvas, legend_name, marks_xy, name_kinds, show_plane
from dpviz.charts.pictures.centers import draw_cells, draw_center_marks, marks_of
from dpviz.charts.revealed import RevealedView, draw_rows
from dpviz.charts.theme import Palette
from dpviz.charts.view import View
from dpviz.charts.wording import clauses, number, opening, percent, things
from dpviz.table.domain import Domain

_POINTS_SHOWN = 4000


def draw_pool(step: PoolStep, *, view: View, palette: Palette, reveal: RevealedView | None = None) -> go.Figure:
    """The centres of every candidate set; those of the selected ones stand out."""
    figure = canvas(palette, title=_finding(step), subtitle=_subtitle(step, view))
    if reveal is not None:
        draw_rows(figure, reveal.points, view, palette)
    first = step.sets[step.chosen[0]]
    draw_cells(figure, first, view, palette, tinted=False)
    _draw_points(figure, step.sets, "candidate sets", 3.5, 0.3, view, palette)
    if len(step.chosen) > 1:
        _draw_points(figure, step.sets[step.chosen[1:]], "selected", 7.0, 0.8, view, palette)
    sizes = np.full(len(first), marks_of(len(first)).smallest)
    draw_center_marks(figure, first, sizes, view, palette)
    show_plane(figure, view, palette)
    return name_kinds(figure, palette)


def pool_table(step: PoolStep, *, domain: Domain) -> pd.DataFrame:
    """The centres of the selected sets, data units, in the order of selection."""
    chosen = step.sets[step.chosen]
    draws, k, dim = chosen.shape
    table = pd.DataFrame(domain.from_unit(chosen.reshape(draws * k, dim)), columns=list(domain.columns))
    table.insert(0, "selected as", np.repeat(np.arange(1, draws + 1), k))
    table.insert(1, "candidate", np.repeat(step.chosen + 1, k))
    table.insert(2, "centre", np.tile(np.arange(1, k + 1), draws))
    return table


def describe_pool(step: PoolStep, *, domain: Domain) -> str:
    """The picture in words."""
    k = step.sets.shape[1]
    return f"{_finding(step)}. Each of {things(len(step.sets), 'candidate set')} has {things(k, 'centre')}."


def _draw_points(
    figure: go.Figure, sets: Array, name: str, size: float, opacity: float, view: View, palette: Palette
) -> None:
    points = sets.reshape(-1, sets.shape[-1])
    shown = points[np.linspace(0, len(points) - 1, min(len(points), _POINTS_SHOWN)).astype(np.int64)]
    figure.add_trace(
        go.Scatter(
            **marks_xy(view.plane(shown)),
            mode="markers",
            name=legend_name(name, "released"),
            marker={
                "size": size,
                "color": palette.faded(palette.released, opacity),
                "line": {"width": 0.5 if opacity > 0.5 else 0, "color": palette.surface},
            },
            hoverinfo="skip",
            meta="released",
        )
    )


def _finding(step: PoolStep) -> str:
    picked = f"{things(len(step.chosen), 'set')} of {len(step.sets)} selected"
    return opening(f"{picked} from a pool of spread {number(step.spread)}")


def _subtitle(step: PoolStep, view: View) -> str:
    chosen = step.sets[step.chosen]
    apart = float(np.linalg.norm(chosen - chosen.mean(axis=0), axis=2).mean() / max(view.region.diameter, 1e-300))
    alike = f"the selected differ by {percent(apart)} of the diameter" if len(chosen) > 1 else ""
    return clauses(step.title, "spread in unit coordinates", alike, view.about)
