"""A pool of candidate sets: all of them faint, the selected parents stronger, the one selected first in front."""

from __future__ import annotations

import numpy as np
import pandas as pd

from dpviz.algorithms import PoolStep
from dpviz.app.charts.picture import Chart, RenderContext, tabulate_points
from dpviz.app.charts.pictures.center_marks import add_cells, add_centers
from dpviz.app.charts.plot_canvas import PlotCanvas
from dpviz.core import Array
from dpviz.words import capitalize_first, format_number, format_percent, format_things, join_clauses

# Centres of candidate sets that a picture can carry.
_POINTS_SHOWN = 4000


def draw_pool(step: PoolStep, context: RenderContext) -> Chart:
    """The centres of every candidate set; those of the selected ones stand out."""
    view, chosen = context.view, step.sets[step.chosen]
    draws, k, dim = chosen.shape
    selected = f"{format_things(draws, 'set')} of {len(step.sets)} selected"
    title = capitalize_first(f"{selected} from a pool of spread {format_number(step.spread)}")
    apart = np.linalg.norm(chosen - chosen.mean(axis=0), axis=2).mean() / max(view.region.diameter, 1e-300)
    alike = f"the selected differ by {format_percent(float(apart))} of the diameter" if draws > 1 else ""
    each = f"Each of {format_things(len(step.sets), 'candidate set')} has {format_things(k, 'centre')}"

    def paint(canvas: PlotCanvas) -> None:
        canvas.rows(context.reveal)
        add_cells(canvas, chosen[0], tinted=False)
        canvas.marks(_choose_some(step.sets, canvas), "candidate sets", "released", {"size": 3.5}, strength=0.3)
        if draws > 1:
            marker = {"size": 7, "line": {"width": 0.5, "color": canvas.palette.surface}}
            canvas.marks(_choose_some(chosen[1:], canvas), "selected", "released", marker, strength=0.8)
        add_centers(canvas, chosen[0])
        canvas.plane()

    def tabulate() -> pd.DataFrame:
        """The centres of the selected sets, in the order of selection."""
        table = tabulate_points(chosen.reshape(draws * k, dim), view.domain)
        table.insert(0, "selected as", np.repeat(np.arange(1, draws + 1), k))
        table.insert(1, "candidate", np.repeat(step.chosen + 1, k))
        table.insert(2, "centre", np.tile(np.arange(1, k + 1), draws))
        return table

    note = join_clauses(step.title, "spread in unit coordinates", alike, view.about)
    return Chart(context, title, note, f"{title}. {each}.", paint, table=tabulate)


def _choose_some(sets: Array, canvas: PlotCanvas) -> Array:
    """Where the centres of sets (m, k, d) are drawn, evenly picked ones where there are too many."""
    points = sets.reshape(-1, sets.shape[-1])
    picked = np.linspace(0, len(points) - 1, min(len(points), _POINTS_SHOWN)).astype(np.int64)
    return canvas.view.plane(points[picked])
