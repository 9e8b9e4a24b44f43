"""Seeds drawn one by one: where a row would pull the next one, and how far noise throws it from its row."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from scipy import stats

from dpviz.algorithms.baselines.kvariates import SeedStep
from dpviz.arrays import Array
from dpviz.charts.canvas import SCREEN, canvas, legend_name, marks_xy, name_kinds, show_plane
from dpviz.charts.pictures.centers import draw_center_marks, marks_of
from dpviz.charts.revealed import RevealedView, draw_rows
from dpviz.charts.theme import Palette
from dpviz.charts.view import View
from dpviz.charts.wording import clauses, number, things
from dpviz.table.domain import Domain

_FIELD, _CLOUD = 56, 500


def draw_seed(step: SeedStep, *, view: View, palette: Palette, reveal: RevealedView | None = None) -> go.Figure:
    """Seeds so far over the pull that a row has by its place, and a cloud of where the last seed's row may lie."""
    figure = canvas(palette, title=_finding(step, view.region.diameter), subtitle=_subtitle(step, view))
    if len(step.centers) > 1 and view.whole and not view.flat:
        _draw_pull(figure, step.centers[:-1], view, palette)
    if reveal is not None:
        draw_rows(figure, reveal.points, view, palette)
    _draw_cloud(figure, step, view, palette)
    sizes = np.full(len(step.centers), marks_of(len(step.centers)).smallest)
    draw_center_marks(figure, step.centers, sizes, view, palette)
    show_plane(figure, view, palette)
    return name_kinds(figure, palette)


def seed_table(step: SeedStep, *, domain: Domain) -> pd.DataFrame:
    """Seeds in data units, and the noise that the last one was drawn with."""
    table = pd.DataFrame(domain.from_unit(step.centers), columns=list(domain.columns))
    table.insert(0, "seed", np.arange(1, len(table) + 1))
    table["drawn now"] = np.where(table.index == len(table) - 1, "yes", "")
    table["noise scale now"] = step.kernel_scale
    return table


def describe_seed(step: SeedStep, *, domain: Domain) -> str:
    """The picture in words."""
    so_far = things(len(step.centers), "seed")
    return f"{_finding(step, domain.region.diameter)}. {so_far.capitalize()} so far."


def _draw_pull(figure: go.Figure, before: Array, view: View, palette: Palette) -> None:
    """Squared distance to the nearest seed before: how much a row at that place would weigh in the draw."""
    half = view.region.half
    across, up = (np.linspace(-reach, reach, _FIELD) for reach in half)
    places = np.stack(np.meshgrid(across, up), axis=2)
    pull = ((places[:, :, None, :] - before) ** 2).sum(axis=3).min(axis=2)
    edges = view.domain.from_unit(np.column_stack([across, up]))
    figure.add_trace(
        go.Heatmap(
            x=edges[:, 0].astype(SCREEN),
            y=edges[:, 1].astype(SCREEN),
            z=pull.astype(SCREEN),
            colorscale=[[0, palette.faded(palette.public, 0.0)], [1, palette.faded(palette.public, 0.35)]],
            showscale=False,
            hovertemplate="squared distance to the seeds before: %{z:.3g}<extra></extra>",
            meta="public",
        )
    )


def _draw_cloud(figure: go.Figure, step: SeedStep, view: View, palette: Palette) -> None:
    """Points around the last seed at the distances of the noise: any of them could be its row. Chosen without data."""
    dim = step.centers.shape[1]
    rng = np.random.default_rng(0)
    direction = rng.normal(size=(_CLOUD, dim))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    away = direction * rng.gamma(dim, step.kernel_scale, (_CLOUD, 1))
    cloud = step.centers[-1] + away
    # Rows lie in the domain.
    inside = np.abs(view.region.clip(cloud) - cloud).max(axis=1) <= 1e-9 * view.region.radius
    figure.add_trace(
        go.Scatter(
            **marks_xy(view.plane(cloud[inside], "previous")),
            mode="markers",
            name=legend_name("where its row may lie", "released"),
            marker={"size": 3.5, "color": palette.faded(palette.released, 0.45)},
            hoverinfo="skip",
            meta="released",
        )
    )


def _finding(step: SeedStep, diameter: float) -> str:
    far = float(stats.gamma(step.centers.shape[1], scale=step.kernel_scale).median()) / diameter
    return f"Noise throws seed {len(step.centers)} some {number(far)} diameters from its row"


def _subtitle(step: SeedStep, view: View) -> str:
    far = float(stats.gamma(step.centers.shape[1], scale=step.kernel_scale).median())
    pull = "the darker, the more a row there weighs" if len(step.centers) > 1 and view.whole and not view.flat else ""
    from_what = "row, or from a public point" if step.floored else "row"
    noise = f"half of all noise is within {number(far)} unit coordinates of its {from_what}"
    return clauses(step.title, noise, pull, view.about)
