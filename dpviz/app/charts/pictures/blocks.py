"""Secret blocks before they are aggregated: public anchors, released ranges, and what a private median can see."""

from __future__ import annotations

from math import ceil
from typing import Any

import numpy as np
import pandas as pd

from dpviz.algorithms import BlocksStep, MedianLawStep, RangesStep
from dpviz.app.charts.canvas import NUMBER_SIZE
from dpviz.app.charts.cells import outline_boxes, outline_circles, outline_segments
from dpviz.app.charts.layout import make_axis_title
from dpviz.app.charts.picture import Chart, RenderContext, find_kind, format_columns, tabulate_points
from dpviz.app.charts.plot_canvas import UNCUT, PlotCanvas
from dpviz.app.charts.revealed import RevealedView
from dpviz.core import Array, BlockKMeans
from dpviz.words import capitalize_first, format_number, format_percent, format_things, join_clauses

# Rows that are dealt again for the revealed layer, and marks that it draws.
_ROWS_DEALT, _MARKS_DRAWN = 30_000, 400
# Numbers on anchors where they do not cover each other.
_NUMBERED = 40
# Points of the curve of a median.
_PLACES = 201
# The textbook's smoothness: ε of a median over this.
_SMOOTHNESS_PART = 6.0


def draw_blocks(step: BlocksStep, context: RenderContext) -> Chart:
    """The public anchors; if rows are revealed, what k-means finds in blocks of them that public coins deal."""
    view, anchors = context.view, step.anchors
    blocks = capitalize_first(format_things(step.number, "secret block"))
    centers = format_things(len(anchors), "centre")
    title = f"{blocks} of about {format_number(step.rows_each)} rows find {centers} each"
    order = "centres of a block are sorted by their first coordinate; the anchors stand in for blocks of too few rows"
    if step.matched:
        order = "centres of a block are matched to the public anchors, one to one"

    def paint(canvas: PlotCanvas) -> None:
        numbered = len(anchors) <= _NUMBERED
        _add_revealed(canvas, step, context.reveal)
        square = {"symbol": "square-open", "size": 18 if numbered else 8}
        hover = "anchor %{text} (public)<br>%{x:.4g}, %{y:.4g}"
        numbers = _format_numbers(canvas, len(anchors), "markers+text" if numbered else "markers")
        canvas.marks(view.plane(anchors), "anchors", "public", square, hover=hover, trace=numbers | UNCUT)
        canvas.plane()

    def tabulate() -> pd.DataFrame:
        return tabulate_points(anchors, view.domain, "anchor")

    note = join_clauses(order, _describe_other_split(context.reveal), view.about)
    words = f"{title}. {capitalize_first(order)}. Columns: {format_columns(view.domain)}."
    return Chart(context, title, note, words, paint, table=tabulate)


def draw_ranges(step: RangesStep, context: RenderContext) -> Chart:
    """A box for each centre, and in its middle the noise that the average over the blocks will carry."""
    context = context.on(context.view.boxes())
    view, domain, width = context.view, context.view.domain, 2 * context.view.domain.region.half
    noise = format_percent(float(np.median(step.noise_sd / width)))
    title = f"Without ranges an average carries noise of {noise} of the width"
    if step.estimated:
        left = format_percent(float(((step.upper - step.lower) / width).mean()))
        title = f"Ranges take {left} of the width, and averages carry noise of {noise}"

    def paint(canvas: PlotCanvas) -> None:
        ranges, kind = len(step.lower) if step.estimated else 1, find_kind(step)
        color = canvas.palette.kind(kind)
        _add_revealed(canvas, step.blocks, context.reveal)
        low, high = (view.plane(corner[:ranges]) for corner in (step.lower, step.upper))
        outline, thick = (outline_segments(low, high), 6.0) if view.flat else (outline_boxes(low, high), 1.6)
        fill = "" if view.flat else canvas.palette.fade(color, 0.07)
        name = "ranges" if step.estimated else "range: the domain"
        canvas.lines(outline, name, kind, strength=0.75, width=thick, fill=fill)
        # Noise beyond the domain is drawn as large as the domain.
        reach = np.minimum(step.noise_sd[:ranges], 2 * view.region.radius)[:, list(view.axes or (0,))]
        middles = view.plane((step.lower + step.upper)[:ranges] / 2)
        across = reach * view.scale[: reach.shape[1]]
        along = np.column_stack([across[:, 0], np.zeros(ranges)])
        rims = outline_segments(middles - along, middles + along)
        if not view.flat:
            rims = outline_circles(middles, across, np.ones(2))
        ink = canvas.palette.fade(canvas.palette.text if step.estimated else color, 0.75)
        canvas.lines(rims, "noise of an average ±1 sd", kind, color=ink, width=1.6, dash="dot")
        if step.estimated and ranges <= _NUMBERED:
            hover = "middle of range %{text} (released)<br>%{x:.4g}, %{y:.4g}"
            canvas.marks(middles, "", "released", {}, hover=hover, trace=_format_numbers(canvas, ranges, "text"))
        canvas.plane()

    def tabulate() -> pd.DataFrame:
        lower, upper = domain.from_unit(step.lower), domain.from_unit(step.upper)
        table = pd.DataFrame({"centre": np.arange(1, len(lower) + 1)})
        for j, name in enumerate(domain.columns):
            table[f"{name} from"], table[f"{name} to"] = lower[:, j], upper[:, j]
            table[f"noise sd of {name}"] = step.noise_sd[:, j] * domain.scale[j]
        return table

    note = join_clauses(step.title, _describe_other_split(context.reveal), view.about)
    words = f"{step.title}, for {format_things(len(step.lower), 'centre')}. {title}."
    return Chart(context, title, note, words, paint, table=tabulate)


def draw_median_law(step: MedianLawStep, context: RenderContext) -> Chart:
    """How much a place counts by the share of blocks that lie on its left; flat where a median is mostly noise."""
    number, each = step.number, format_number(step.epsilon_each)
    # How fast the weight falls, for each block.
    rate = step.epsilon_each / (_SMOOTHNESS_PART if step.smooth else 2.0)
    within = 1 / (rate * number)
    title = f"With {number:,} blocks a median cannot tell the middle from the ends"
    if within < 0.5:
        what = "Its noise follows jumps within" if step.smooth else "A median is drawn from"
        title = f"{what} ±{format_percent(within)} around the middle of {number:,} blocks"

    def weigh(ranks: Array) -> Array:
        weight: Array = np.exp(-rate * number * np.abs(ranks - 0.5))
        return weight

    def paint(canvas: PlotCanvas) -> None:
        ranks = np.linspace(0, 1, _PLACES)
        curve, hover = np.column_stack([100 * ranks, weigh(ranks)]), "%{x:.3g} % of blocks on the left: weight %{y:.3g}"
        filled = {"fill": "tozeroy", "fillcolor": canvas.color("public", 0.15)}
        canvas.lines(curve, "weight of a rank", "public", width=2, hover=hover, trace=filled)
        canvas.plot.update_xaxes(range=[0, 100], title_text=make_axis_title("blocks on the left", "%"))
        canvas.plot.update_yaxes(range=[0, 1.05], title_text="weight beside the middle's")

    def tabulate() -> pd.DataFrame:
        ranks = np.linspace(0, 1, 21)
        table = pd.DataFrame({"blocks on the left (%)": 100 * ranks, "weight": weigh(ranks)})
        table["blocks"], table["ε of a median"] = number, step.epsilon_each
        return table

    how = "weight that a jump there has in the noise" if step.smooth else "how likely a place of that rank is"
    note = join_clauses(how, f"ε = {each} for each of {step.medians:,} medians", "no row has a say in it")
    columns = context.view.domain.dim
    words = f"{title}. {step.medians:,} medians of {number:,} blocks, ε = {each} each, for {columns} columns."
    return Chart(context, title, note, words, paint, legend_lines=2, table=tabulate)


def find_block_centers(step: BlocksStep, rows: Array) -> Array:
    """Centres (m, k, d) that k-means finds in blocks of revealed ``rows`` (n, d), dealt by public coins.

    Another split than the secret one, of the same size: which row was in which block is never told. Only as many
    blocks as a picture can hold are fitted.

    ``rows`` (n, d), revealed, unit coordinates.
    """
    dealt = np.random.default_rng(step.salt).integers(0, step.number, len(rows))
    rows_each = max(1.0, len(rows) / step.number)
    shown = max(1, min(step.number, ceil(_ROWS_DEALT / rows_each), _MARKS_DRAWN // len(step.anchors)))
    fitted = dealt < shown
    model = BlockKMeans(step.anchors, match=step.matched, salt=step.salt)
    centers: Array = model.fit(rows[fitted], dealt[fitted], shown).reshape(shown, *step.anchors.shape)
    return centers


def _describe_other_split(reveal: RevealedView | None) -> str:
    shown = reveal is not None and reveal.everyone is not None
    return "◉\u00a0centres of blocks dealt anew, not of the secret ones" if shown else ""


def _add_revealed(canvas: PlotCanvas, step: BlocksStep, reveal: RevealedView | None) -> None:
    """Rows, and the centres of other blocks than the secret ones."""
    canvas.rows(reveal)
    if reveal is not None and reveal.everyone is not None:
        centers = find_block_centers(step, canvas.view.region.clip(reveal.everyone))
        places = canvas.view.plane(centers.reshape(-1, centers.shape[2]), "reference")
        cross = {"symbol": "x-thin-open", "size": 5, "line": {"width": 1}}
        canvas.marks(places, "centres of other blocks", "revealed", cross, trace={"opacity": 0.7})


def _format_numbers(canvas: PlotCanvas, count: int, mode: str) -> dict[str, Any]:
    """Marks with their numbers from 1."""
    font = {"size": NUMBER_SIZE, "color": canvas.palette.text}
    return {"mode": mode, "text": [str(i + 1) for i in range(count)], "textfont": font}
