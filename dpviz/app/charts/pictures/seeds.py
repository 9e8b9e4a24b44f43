"""Seeds drawn one by one: where a row would pull the next one, and how far noise throws it from its row."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy import stats

from dpviz.algorithms import SeedStep
from dpviz.app.charts.canvas import SCREEN
from dpviz.app.charts.picture import Chart, RenderContext, tabulate_points
from dpviz.app.charts.pictures.center_marks import add_centers
from dpviz.app.charts.plot_canvas import PlotCanvas
from dpviz.core import Array
from dpviz.words import format_number, format_things, join_clauses

# Cells of the map of pull along an axis, and points of the cloud of where a row may lie.
_FIELD, _CLOUD = 56, 500


def draw_seeds(step: SeedStep, context: RenderContext) -> Chart:
    """Seeds so far over the pull that a row has by its place, and a cloud of where the last seed's row may lie."""
    view, seeds = context.view, step.centers
    # The median length of the noise, unit coordinates.
    throw = float(stats.gamma(seeds.shape[1], scale=step.kernel_scale).median())
    far = format_number(throw / view.domain.region.diameter)
    title = f"Noise throws seed {len(seeds)} some {far} diameters from its row"
    pulls = len(seeds) > 1 and view.whole and not view.flat
    near = "row, or from a public point" if step.floored else "row"
    noise = f"half of all noise is within {format_number(throw)} unit coordinates of its {near}"

    def paint(canvas: PlotCanvas) -> None:
        if pulls:
            _add_pull(canvas, seeds[:-1])
        canvas.rows(context.reveal)
        _add_cloud(canvas, step)
        add_centers(canvas, seeds)
        canvas.plane()

    def tabulate() -> pd.DataFrame:
        """Seeds in data units, and the noise that the last one was drawn with."""
        table = tabulate_points(seeds, view.domain, "seed")
        table["drawn now"] = np.where(table.index == len(table) - 1, "yes", "")
        table["noise scale now"] = step.kernel_scale
        return table

    note = join_clauses(step.title, noise, "the darker, the more a row there weighs" if pulls else "", view.about)
    words = f"{title}. {format_things(len(seeds), 'seed').capitalize()} so far."
    return Chart(context, title, note, words, paint, table=tabulate)


def _add_pull(canvas: PlotCanvas, before: Array) -> None:
    """Squared distance to the nearest seed ``before`` (m, d): how much a row at a place would weigh in the draw."""
    across, up = (np.linspace(-reach, reach, _FIELD) for reach in canvas.view.region.half)
    places = np.stack(np.meshgrid(across, up), axis=2)
    pull = ((places[:, :, None, :] - before) ** 2).sum(axis=3).min(axis=2)
    x, y = canvas.view.to_axis_units(np.column_stack([across, up])).astype(SCREEN).T
    hover = "squared distance to the seeds before: %{z:.3g}"
    scale = [[0, canvas.color("public", 0.0)], [1, canvas.color("public", 0.35)]]
    canvas.cells(pull, "public", hover=hover, x=x, y=y, colorscale=scale)


def _add_cloud(canvas: PlotCanvas, step: SeedStep) -> None:
    """Points around the last seed at the distances of the noise: any could be its row. Chosen without data."""
    region, dim = canvas.view.region, step.centers.shape[1]
    rng = np.random.default_rng(0)
    direction = rng.normal(size=(_CLOUD, dim))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    cloud = step.centers[-1] + direction * rng.gamma(dim, step.kernel_scale, (_CLOUD, 1))
    # Rows lie in the domain.
    inside = np.abs(region.clip(cloud) - cloud).max(axis=1) <= 1e-9 * region.radius
    places = canvas.view.plane(cloud[inside], "previous")
    canvas.marks(places, "where its row may lie", "released", {"size": 3.5}, strength=0.45)
