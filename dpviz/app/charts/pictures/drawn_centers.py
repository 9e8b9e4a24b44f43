"""Centres that are drawn or fitted rather than averaged: seeds, sets of candidates, a mixture."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy import special

from dpviz.algorithms import MixtureStep, PoolStep, SeedStep
from dpviz.app.charts.canvas import SCREEN, PlotCanvas
from dpviz.app.charts.cells import join_outlines
from dpviz.app.charts.picture import Chart, RenderContext, describe_step, format_columns, tabulate_points
from dpviz.app.charts.pictures.centers import add_cells, add_centers
from dpviz.core import Array
from dpviz.words import capitalize_first, format_number, format_percent, format_things

# Cells of the map of pull along an axis, and points of the cloud of where a row may lie.
_FIELD, _CLOUD = 56, 500


def draw_seeds(step: SeedStep, context: RenderContext) -> Chart:
    """Seeds so far over the pull that a row has by its place, and a cloud of where the last seed's row may lie."""
    view, seeds = context.view, step.centers
    # The median length of the noise, unit coordinates.
    throw = step.kernel_scale * float(special.gammaincinv(seeds.shape[1], 0.5))
    far = format_number(throw / view.domain.region.diameter)
    title = f"Noise throws seed {len(seeds)} some {far} diameters from its row"
    pulls = len(seeds) > 1 and view.whole and not view.flat
    near = "row, or from a public point" if step.floored else "row"
    noise = f"half of all noise is within {format_number(throw)} unit coordinates of its {near}"

    def paint(canvas: PlotCanvas) -> None:
        if pulls:
            # Squared distance to the nearest seed before: how much a row at a place would weigh in the draw.
            across, up = (np.linspace(-reach, reach, _FIELD) for reach in view.region.half)
            places = np.stack(np.meshgrid(across, up), axis=2)
            pull = ((places[:, :, None, :] - seeds[:-1]) ** 2).sum(axis=3).min(axis=2)
            x, y = view.to_axis_units(np.column_stack([across, up])).astype(SCREEN).T
            hover = "squared distance to the seeds before: %{z:.3g}"
            canvas.cells(pull, "public", hover=hover, x=x, y=y, colorscale=canvas.shades("public", 0.0, 0.35))
        canvas.rows(context.reveal)
        # Points around the last seed at the distances of the noise: any could be its row. Chosen without data.
        rng, dim = np.random.default_rng(0), seeds.shape[1]
        direction = rng.normal(size=(_CLOUD, dim))
        direction /= np.linalg.norm(direction, axis=1, keepdims=True)
        cloud = seeds[-1] + direction * rng.gamma(dim, step.kernel_scale, (_CLOUD, 1))
        # Rows lie in the domain.
        inside = np.abs(view.region.clip(cloud) - cloud).max(axis=1) <= 1e-9 * view.region.radius
        around = view.plane(cloud[inside], "previous")
        canvas.marks(around, "where its row may lie", "released", {"size": 3.5}, strength=0.45)
        add_centers(canvas, seeds)
        canvas.plane()

    def tabulate() -> pd.DataFrame:
        """Seeds in data units, and the noise that the last one was drawn with."""
        table = tabulate_points(seeds, view.domain, "seed")
        table["drawn now"] = np.where(table.index == len(table) - 1, "yes", "")
        table["noise scale now"] = step.kernel_scale
        return table

    note = (step.title, noise, "the darker, the more a row there weighs" if pulls else "", view.about)
    words = f"{title}. {format_things(len(seeds), 'seed').capitalize()} so far."
    return Chart(context, title, note, words, paint, table=tabulate)


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

    note = (step.title, "spread in unit coordinates", alike, view.about)
    return Chart(context, title, note, f"{title}. {each}.", paint, table=tabulate)


def _choose_some(sets: Array, canvas: PlotCanvas) -> Array:
    """Where the centres of sets (m, k, d) are drawn, evenly picked ones where there are too many."""
    points = sets.reshape(-1, sets.shape[-1])
    # Centres of candidate sets that a picture can carry.
    return canvas.view.plane(points[np.linspace(0, len(points) - 1, min(len(points), 4000)).astype(np.int64)])


# Standard deviations that an ellipse reaches.
_SDS = 2.0
# Diameters in pixels of the lightest and the heaviest part.
_SMALLEST, _LARGEST = 8.0, 15.0


def draw_mixture(step: MixtureStep, context: RenderContext) -> Chart:
    """Means with their numbers, ellipses around them; tiny ellipses enlarged, all alike, and said so."""
    view, domain, weights = context.view, context.view.domain, step.weights
    heaviest, parts = int(np.argmax(weights)), format_things(len(weights), "part")
    most = format_percent(float(weights[heaviest]))
    title = capitalize_first(f"{parts}: number {heaviest + 1} holds {most} of the weight")
    dim = domain.dim
    # Drawn matrices (k, 2, 2) that turn a unit circle into the ellipse of so many standard deviations.
    map_ = (view.plane(np.eye(dim)) - view.plane(np.zeros((1, dim)))).T
    extended = map_ @ step.covariances @ map_.T
    values, vectors = np.linalg.eigh((extended + extended.transpose(0, 2, 1)) / 2)
    half = _SDS * vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :]
    part = float((np.abs(half).sum(axis=2).max(axis=0) / np.ptp(np.array(view.extent), axis=1)).max())
    # How many times as large as they are ellipses are drawn: the largest half-axis is 0.08 of the picture at least.
    times = max(1.0, float(f"{0.08 / part:.2g}")) if part > 0 else 1.0
    enlarged = f", drawn {format_number(times)} times as large" if times > 1 else ""
    clipped = ""
    if step.clip_radius is not None:
        clipped = f"residuals clipped to {format_number(step.clip_radius)} (unit coordinates)"
    note = (step.title, f"ellipses: {_SDS:g} sd{enlarged}", clipped, view.about)
    sd = np.sqrt(np.diagonal(step.covariances, axis1=1, axis2=2))
    spread = f"{format_number(float((sd * domain.scale).min()))} to {format_number(float((sd * domain.scale).max()))}"

    def paint(canvas: PlotCanvas) -> None:
        canvas.rows(context.reveal)
        # Points of an ellipse.
        angle = np.linspace(0, 2 * np.pi, 64)
        ring = times * np.column_stack([np.cos(angle), np.sin(angle)])
        outlines = [middle + ring @ axes.T for middle, axes in zip(view.plane(step.centers), half, strict=True)]
        canvas.lines(join_outlines(outlines), "covariances", "released", width=1.5, fill=canvas.color("released", 0.14))
        sizes = _SMALLEST + (_LARGEST - _SMALLEST) * np.sqrt(weights / max(float(weights.max()), 1e-9))
        notes = describe_step(step.centers, domain, "part", {"weight": [*map(format_percent, weights.tolist())]})
        add_centers(canvas, step.centers, final=context.final, sizes=sizes, notes=notes)
        canvas.plane()

    def tabulate() -> pd.DataFrame:
        """Weights, means and standard deviations in data units, and the correlation of the first two columns."""
        table = pd.DataFrame(domain.from_unit(step.centers), columns=[f"{name}, mean" for name in domain.columns])
        table.insert(0, "part", np.arange(1, len(table) + 1))
        table.insert(1, "noisy weight", weights)
        for j, name in enumerate(domain.columns):
            table[f"{name}, sd"] = sd[:, j] * domain.scale[j]
        if domain.dim > 1:
            table["correlation of the first two"] = step.covariances[:, 0, 1] / np.maximum(sd[:, 0] * sd[:, 1], 1e-300)
        return table

    words = f"{title}. Standard deviations over {format_columns(domain)} run from {spread}."
    return Chart(context, title, note, words, paint, table=tabulate)
