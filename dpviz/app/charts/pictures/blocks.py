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
from dpviz.app.charts.picture import Picture, RenderContext, format_columns, tabulate_points
from dpviz.app.charts.plot_canvas import UNCUT, PlotCanvas
from dpviz.app.charts.revealed import RevealedView
from dpviz.app.charts.view import View
from dpviz.core import Array, BlockKMeans, Domain
from dpviz.words import capitalize_first, format_number, format_percent, format_things, join_clauses

# Rows that are dealt again for the revealed layer, and marks that it draws.
_ROWS_DEALT, _MARKS_DRAWN = 30_000, 400
# Numbers on anchors where they do not cover each other.
_NUMBERED = 40
# Points of the curve of a median.
_PLACES = 201
# The textbook's smoothness: ε of a median over this.
_SMOOTHNESS_PART = 6.0


class BlocksPicture(Picture[BlocksStep]):
    """The public anchors; if rows are revealed, what k-means finds in blocks of them that public coins deal."""

    called = "blocks"

    def finding(self, domain: Domain) -> str:
        step = self.step
        centers = format_things(len(self.step.anchors), "centre")
        blocks = capitalize_first(format_things(step.number, "secret block"))
        return f"{blocks} of about {format_number(step.rows_each)} rows find {centers} each"

    def note(self, context: RenderContext) -> str:
        return join_clauses(self._order, _describe_other_split(context.reveal), context.view.about)

    def paint(self, canvas: PlotCanvas, context: RenderContext) -> None:
        anchors = self.step.anchors
        numbered = len(anchors) <= _NUMBERED
        _add_revealed(canvas, self.step, context.reveal)
        canvas.marks(
            canvas.view.plane(anchors),
            "anchors",
            "public",
            {"symbol": "square-open", "size": 18 if numbered else 8},
            hover="anchor %{text} (public)<br>%{x:.4g}, %{y:.4g}",
            trace=_format_numbers(canvas, len(anchors), "markers+text" if numbered else "markers") | UNCUT,
        )
        canvas.plane()

    def table(self, domain: Domain) -> pd.DataFrame:
        return tabulate_points(self.step.anchors, domain, "anchor")

    def words(self, domain: Domain) -> str:
        return f"{self.finding(domain)}. {capitalize_first(self._order)}. Columns: {format_columns(domain)}."

    @property
    def _order(self) -> str:
        if self.step.matched:
            return "centres of a block are matched to the public anchors, one to one"
        return (
            "centres of a block are sorted by their first coordinate; the anchors stand in for blocks of too few rows"
        )


class RangesPicture(Picture[RangesStep]):
    """A box for each centre, and in its middle the noise that the average over the blocks will carry."""

    called = "boxes"

    def view(self, view: View) -> View:
        return view.boxes()

    def finding(self, domain: Domain) -> str:
        step = self.step
        width = 2 * domain.region.half
        noise = format_percent(float(np.median(step.noise_sd / width)))
        if not step.estimated:
            return f"Without ranges an average carries noise of {noise} of the width"
        left = format_percent(float(((step.upper - step.lower) / width).mean()))
        return f"Ranges take {left} of the width, and averages carry noise of {noise}"

    def note(self, context: RenderContext) -> str:
        return join_clauses(self.step.title, _describe_other_split(context.reveal), context.view.about)

    def paint(self, canvas: PlotCanvas, context: RenderContext) -> None:
        step, view = self.step, canvas.view
        ranges = len(self.step.lower) if self.step.estimated else 1
        kind = self.kind
        color = canvas.palette.kind(self.kind)
        _add_revealed(canvas, step.blocks, context.reveal)
        low, high = (view.plane(corner[:ranges]) for corner in (step.lower, step.upper))
        outline, width = (outline_segments(low, high), 6.0) if view.flat else (outline_boxes(low, high), 1.6)
        fill = "" if view.flat else canvas.palette.fade(color, 0.07)
        name = "ranges" if step.estimated else "range: the domain"
        canvas.lines(outline, name, kind, strength=0.75, width=width, fill=fill)
        # Noise beyond the domain is drawn as large as the domain.
        reach = np.minimum(step.noise_sd[:ranges], 2 * view.region.radius)[:, list(view.axes or (0,))]
        middles = view.plane((step.lower + step.upper)[:ranges] / 2)
        across = reach * view.scale[: reach.shape[1]]
        along = np.column_stack([across[:, 0], np.zeros(ranges)])
        noise = (
            outline_segments(middles - along, middles + along)
            if view.flat
            else outline_circles(middles, across, np.ones(2))
        )
        ink = canvas.palette.fade(canvas.palette.text if step.estimated else color, 0.75)
        canvas.lines(noise, "noise of an average ±1 sd", kind, color=ink, width=1.6, dash="dot")
        if step.estimated and ranges <= _NUMBERED:
            hover = "middle of range %{text} (released)<br>%{x:.4g}, %{y:.4g}"
            canvas.marks(middles, "", "released", {}, hover=hover, trace=_format_numbers(canvas, ranges, "text"))
        canvas.plane()

    def table(self, domain: Domain) -> pd.DataFrame:
        step = self.step
        lower, upper = domain.from_unit(step.lower), domain.from_unit(step.upper)
        table = pd.DataFrame({"centre": np.arange(1, len(lower) + 1)})
        for j, name in enumerate(domain.columns):
            table[f"{name} from"], table[f"{name} to"] = lower[:, j], upper[:, j]
            table[f"noise sd of {name}"] = step.noise_sd[:, j] * domain.scale[j]
        return table

    def words(self, domain: Domain) -> str:
        return f"{self.step.title}, for {format_things(len(self.step.lower), 'centre')}. {self.finding(domain)}."


class MedianLawPicture(Picture[MedianLawStep]):
    """How much a place counts by the share of blocks that lie on its left; flat where a median is mostly noise."""

    called = "medians"

    legend_lines = 2

    def finding(self, domain: Domain) -> str:
        step = self.step
        within = 1 / (self._rate * self.step.number)
        if within >= 0.5:
            return f"With {step.number:,} blocks a median cannot tell the middle from the ends"
        what = "Its noise follows jumps within" if step.smooth else "A median is drawn from"
        return f"{what} ±{format_percent(within)} around the middle of {step.number:,} blocks"

    def note(self, context: RenderContext) -> str:
        step = self.step
        how = "weight that a jump there has in the noise" if step.smooth else "how likely a place of that rank is"
        price = f"ε = {format_number(step.epsilon_each)} for each of {step.medians:,} medians"
        return join_clauses(how, price, "no row has a say in it")

    def paint(self, canvas: PlotCanvas, context: RenderContext) -> None:
        ranks = np.linspace(0, 1, _PLACES)
        curve = np.column_stack([100 * ranks, self._weight(ranks)])
        hover = "%{x:.3g} % of blocks on the left: weight %{y:.3g}"
        filled = {"fill": "tozeroy", "fillcolor": canvas.color("public", 0.15)}
        canvas.lines(curve, "weight of a rank", "public", width=2, hover=hover, trace=filled)
        canvas.plot.update_xaxes(range=[0, 100], title_text=make_axis_title("blocks on the left", "%"))
        canvas.plot.update_yaxes(range=[0, 1.05], title_text="weight beside the middle's")

    def table(self, domain: Domain) -> pd.DataFrame:
        ranks = np.linspace(0, 1, 21)
        table = pd.DataFrame({"blocks on the left (%)": 100 * ranks, "weight": self._weight(ranks)})
        table["blocks"], table["ε of a median"] = self.step.number, self.step.epsilon_each
        return table

    def words(self, domain: Domain) -> str:
        step = self.step
        medians = f"{step.medians:,} medians of {step.number:,} blocks, ε = {format_number(step.epsilon_each)} each"
        return f"{self.finding(domain)}. {medians}, for {domain.dim} columns."

    @property
    def _rate(self) -> float:
        """How fast the weight falls, for each block."""
        return self.step.epsilon_each / (_SMOOTHNESS_PART if self.step.smooth else 2.0)

    def _weight(self, ranks: Array) -> Array:
        weight: Array = np.exp(-self._rate * self.step.number * np.abs(ranks - 0.5))
        return weight


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
