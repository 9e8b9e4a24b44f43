"""Many starts solved on one synopsis: their losses in order, the chosen one marked. Nothing here costs privacy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from dpviz.algorithms import StartsStep, Step
from dpviz.app.charts.picture import Chart, Companion, RenderContext
from dpviz.app.charts.pictures.center_marks import add_centers
from dpviz.app.charts.pictures.grid_cells import UNDER, add_signed_maps
from dpviz.app.charts.pictures.histogram import place_grid, project_points
from dpviz.app.charts.plot_canvas import PlotCanvas
from dpviz.core import Array
from dpviz.words import capitalize_first, format_count, format_number, format_percent, format_things, join_clauses

# Losses below this are 0, and gains below this are none.
_ROUNDING, _SAME = 1e-9, 5e-4


def draw_starts(step: StartsStep, context: RenderContext) -> Chart:
    """The centres of the chosen start over the synopsis they were found on; without one, the losses of all starts."""
    losses, grid = draw_start_losses(step, context), _find_grid_below(step, context)
    placed = None if grid is None else place_grid(grid, context)

    def paint(canvas: PlotCanvas) -> None:
        if placed is None:
            losses.paint(canvas)
            canvas.plot.update_layout(showlegend=False)
            return
        if not canvas.view.flat:
            add_signed_maps(canvas, placed.step, strength=UNDER)
        final = None if context.final is None else project_points(grid, context.final)
        add_centers(canvas, project_points(grid, step.centers), final=final)
        canvas.plane()

    def tabulate() -> pd.DataFrame:
        table = pd.DataFrame({"start": np.arange(1, len(step.losses) + 1), "synopsis loss": step.losses})
        table["chosen"] = table.index == step.chosen
        return table

    on = context if placed is None else placed.context
    note = join_clauses(step.title, "no further privacy is spent", on.view.about)
    return Chart(on, losses.title, note, losses.words, paint, table=tabulate)


def list_beside_starts(step: StartsStep, steps: Sequence[Step], context: RenderContext) -> Iterator[Companion]:
    """Their losses, where they are not the picture itself."""
    if _find_grid_below(step, replace(context, steps=steps)) is not None:
        yield Companion("Losses", draw_start_losses(step, context))


def _find_grid_below(step: StartsStep, context: RenderContext) -> Any:
    """The grid that the starts were solved on, where it can be drawn."""
    grids = context.list_before(step, "GridStep", "SynopsisStep")
    return grids[-1] if grids and step.centers.shape[1] == context.view.domain.dim else None


def draw_start_losses(step: StartsStep, context: RenderContext) -> Chart:
    """Synopsis losses from the best start to the worst."""
    losses: Array = np.where(np.abs(step.losses) < _ROUNDING, 0.0, step.losses)
    number, chosen = len(losses), step.chosen
    title = _describe_gain(losses, float(losses[chosen]))

    def paint(canvas: PlotCanvas) -> None:
        order = np.argsort(losses, kind="stable")
        places = np.column_stack([np.arange(1, number + 1), losses[order]])
        hover = "start %{customdata}: loss %{y:.4g}"
        canvas.marks(places, "", "released", {"size": 9}, strength=0.6, hover=hover, notes=order + 1)
        here = places[order == chosen]
        ringed = {"size": 15, "line": {"width": 2, "color": canvas.palette.text}}
        canvas.marks(here, "", "released", ringed, hover=hover, notes=[chosen + 1])
        # Above its mark: others stand beside it, often at the same height.
        above = {"xanchor": "left", "yanchor": "bottom", "xshift": -8, "yshift": 10}
        x, y = here[0].tolist()
        canvas.note(f"start {chosen + 1} is chosen", x, y, above, color=canvas.palette.text)
        low, high = float(losses.min()), float(losses.max())
        air = 0.1 * (high - low) or 0.5 * abs(high) or 1.0
        ticks = {"tick0": 1, "dtick": max(1, round(number / 5))}
        canvas.plot.update_xaxes(title_text="starts, best first", range=[0.4, number + 0.6], **ticks)
        canvas.plot.update_yaxes(title_text="loss on the synopsis (unit coordinates²)", range=[low - air, high + air])
        if low == high == 0:
            canvas.plot.update_yaxes(tickvals=[0])

    note = "each mark is a start: the lower, the better it fits the noisy counts"
    words = f"{title}. The chosen start has a synopsis loss of {format_number(float(step.losses[chosen]))}."
    return Chart(context, title, note, words, paint, legend_lines=0)


def _describe_gain(losses: Array, best: float) -> str:
    starts, typical = format_things(len(losses), "start"), float(np.median(losses))
    if len(losses) == 1:
        return "One start on the synopsis" + (": all points of it are centres" if best == 0 else "")
    if typical <= 0:
        return capitalize_first(f"{starts} on the synopsis")
    gain = 1 - best / typical
    if gain < _SAME:
        alike = int((losses <= best / (1 - _SAME)).sum())
        return capitalize_first(f"{format_count(alike)} of {starts} end as well as the best")
    return f"The best of {starts} loses {format_percent(gain)} less than a typical one"
