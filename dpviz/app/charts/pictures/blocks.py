"""Secret blocks of rows: before they are aggregated, and the test whether their tuples of centres agree."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from math import ceil
from typing import Any

import numpy as np
import pandas as pd

from dpviz.algorithms import BlocksStep, MedianLawStep, RangesStep, Step, TupleTestStep
from dpviz.app.charts.canvas import LEGEND_LINE, NUMBER_SIZE, UNCUT, PlotCanvas, RevealedView
from dpviz.app.charts.cells import join_outlines, outline_boxes, outline_circles, outline_segments
from dpviz.app.charts.picture import Chart, Companion, RenderContext, find_kind, format_columns, tabulate_points
from dpviz.app.charts.pictures.centers import add_cells, add_centers, add_halos, add_refused
from dpviz.app.charts.plot import make_axis_title
from dpviz.core import Array, BlockKMeans, Region, tuples
from dpviz.words import NINE_IN_TEN, capitalize_first, format_number, format_percent, format_plus_minus, format_things

# Numbers on anchors where they do not cover each other.
_NUMBERED = 40


def draw_blocks(step: BlocksStep, context: RenderContext) -> Chart:
    """The public anchors; if rows are revealed, what k-means finds in blocks of them that public coins deal."""
    view, anchors = context.view, step.anchors
    blocks = capitalize_first(format_things(step.number, "secret block"))
    title = f"{blocks} of about {format_number(step.rows_each)} rows find {format_things(len(anchors), 'centre')} each"
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

    note = (order, _describe_other_split(context.reveal), view.about)
    words = f"{title}. {capitalize_first(order)}. Columns: {format_columns(view.domain)}."
    return Chart(context, title, note, words, paint, table=partial(tabulate_points, anchors, view.domain, "anchor"))


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
        canvas.lines(rims, "noise of an average, 1 sd", kind, color=ink, width=1.6, dash="dot")
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

    note = (step.title, _describe_other_split(context.reveal), view.about)
    words = f"{step.title}, for {format_things(len(step.lower), 'centre')}. {title}."
    return Chart(context, title, note, words, paint, table=tabulate)


def draw_median_law(step: MedianLawStep, context: RenderContext) -> Chart:
    """How much a place counts by the share of blocks that lie on its left; flat where a median is mostly noise."""
    number, each = step.number, format_number(step.epsilon_each)
    # How fast the weight falls, for each block.
    # The textbook's smoothness: ε of a median over this.
    rate = step.epsilon_each / (6.0 if step.smooth else 2.0)
    within = 1 / (rate * number)
    title = f"With {number:,} blocks a median cannot tell the middle from the ends"
    if within < 0.5:
        what = "Its noise follows jumps within" if step.smooth else "A median is drawn from"
        title = f"{what} {format_percent(within)} around the middle of {number:,} blocks"

    def weigh(ranks: Array) -> Array:
        return np.exp(-rate * number * np.abs(ranks - 0.5))

    def paint(canvas: PlotCanvas) -> None:
        # Points of the curve of a median.
        ranks = np.linspace(0, 1, 201)
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
    note = (how, f"ε = {each} for each of {step.medians:,} medians", "no row has a say in it")
    columns = context.view.domain.dim
    words = f"{title}. {step.medians:,} medians of {number:,} blocks, ε = {each} each, for {columns} columns."
    return Chart(context, title, note, words, paint, legend_lines=2, table=tabulate)


def _describe_other_split(reveal: RevealedView | None) -> str:
    shown = reveal is not None and reveal.everyone is not None
    return "◉\u00a0centres of blocks dealt anew, not of the secret ones" if shown else ""


def _add_revealed(canvas: PlotCanvas, step: BlocksStep, reveal: RevealedView | None) -> None:
    """Rows, and the centres that k-means finds in blocks of them, dealt by public coins.

    Another split than the secret one, of the same size: which row was in which block is never told. Only as many
    blocks as a picture can hold are fitted.
    """
    canvas.rows(reveal)
    if reveal is not None and reveal.everyone is not None:
        rows = canvas.view.region.clip(reveal.everyone)
        dealt = np.random.default_rng(step.salt).integers(0, step.number, len(rows))
        rows_each = max(1.0, len(rows) / step.number)
        # Rows that are dealt again for the revealed layer, and marks that it draws.
        shown = max(1, min(step.number, ceil(30_000 / rows_each), 400 // len(step.anchors)))
        fitted, model = dealt < shown, BlockKMeans(step.anchors, match=step.matched, salt=step.salt)
        centers = model.fit(rows[fitted], dealt[fitted], shown).reshape(-1, step.anchors.shape[1])
        places = canvas.view.plane(centers, "reference")
        cross = {"symbol": "x-thin-open", "size": 5, "line": {"width": 1}}
        canvas.marks(places, "centres of other blocks", "revealed", cross, trace={"opacity": 0.7})


def _format_numbers(canvas: PlotCanvas, count: int, mode: str) -> dict[str, Any]:
    """Marks with their numbers from 1."""
    font = {"size": NUMBER_SIZE, "color": canvas.palette.text}
    return {"mode": mode, "text": [str(i + 1) for i in range(count)], "textfont": font}


# More given tuples than this are counted by a part of them.
_MOST = 200_000
# Nearer to a ball's middle and farther from it than this, in radii, a tuple is drawn at the edge.
_NEAREST, _FARTHEST = 1e-3, 1e4
# As many balls as stand side by side on a phone, as many points in each, and half the width of a plot in radii.
_MOST_BALLS, _MOST_POINTS, _REACH = 3, 1_500, 1.5
_BARS, _MOST_TICKS = 40, 6
# Between balls, and where the lower plot ends and the upper ones begin, as shares of the whole.
_GAP, _LOWER, _UPPER = 0.06, 0.39, 0.61


@dataclass(frozen=True, eq=False)
class RevealedTuples:
    """Revealed tuples, and those of them that public coins try.

    Which tuples the test itself tried stays secret; of blocks, so does the split.

    ``tuples`` (n_t, k, d), unit coordinates; ``misfits`` (m,), of the tried tuples, which are the first ones;
    scaled up where only a part of the tuples is here; ``one`` (k, d), the tried tuple of median misfits.
    """

    tuples: Array
    misfits: Array
    one: Array
    far: float
    about: tuple[str, str]

    @classmethod
    def of(cls, step: TupleTestStep, points: Array, region: Region) -> RevealedTuples:
        """The tuples of revealed ``points`` (n, d), unit coordinates, those that rows stand for, by public coins."""
        k, dim = step.anchors.shape
        rng = np.random.default_rng(step.salt)
        clipped = region.clip(points)
        if step.given:
            rows = clipped.reshape(-1, k, dim)
            groups = rows[rng.permutation(len(rows))[:_MOST]]
            few = f"counted on {len(groups):,} of {len(rows):,}" if len(groups) < len(rows) else ""
            about = ("the revealed tuples; which of them were tried stays secret", few)
        else:
            block = rng.integers(0, step.number, len(points))
            model = BlockKMeans(step.anchors, match=False, salt=step.salt)
            groups = model.fit(clipped, block, step.number).reshape(step.number, k, dim)
            about = ("recomputed from the revealed rows: another split than the secret one", "")
        tried = groups[: max(1, step.sampled)]
        misfits = np.array([tuples.count_misfits(one, groups, step.far) for one in tried], dtype=np.float64)
        chosen = int(np.argsort(misfits, kind="stable")[len(misfits) // 2])
        return cls(groups, misfits * (step.number / len(groups)), tried[chosen], step.far, about)

    @property
    def offsets(self) -> Array:
        """For each tuple and ball, its nearest point from the ball's centre, in radii, shape (n_t, k, d)."""
        away = self.tuples[:, :, None, :] - self.one
        nearest = (away**2).sum(axis=3).argmin(axis=1)
        picked = np.take_along_axis(away, nearest[:, None, :, None], axis=1)[:, 0]
        gaps = np.linalg.norm(self.one[:, None] - self.one, axis=2)
        np.fill_diagonal(gaps, np.inf)
        radii: Array = np.maximum(gaps.min(axis=1) / self.far, 1e-300)
        return np.clip(picked / radii[:, None], -_FARTHEST, _FARTHEST)

    @property
    def unfit(self) -> int:
        """Tuples that do not have one point in each ball around ``one``."""
        return round(float(np.sort(self.misfits)[len(self.misfits) // 2]))


def draw_revealed_balls(step: TupleTestStep, revealed: RevealedTuples, context: RenderContext) -> Chart:
    """Above: the points of all tuples in the balls around one tuple. Below: how far the tuples lie from these balls."""
    unfit, number_of, balls = revealed.unfit, step.number, len(revealed.one)
    title = f"All {number_of:,} tuples fit into the balls around one of them"
    if unfit:
        about = "" if len(revealed.tuples) == number_of else "about "
        some = f"{about}{format_things(unfit, 'tuple')} of {number_of:,}"
        title = capitalize_first(f"{some} not in the balls around one of them")
    shown = min(balls, _MOST_BALLS)

    def paint(canvas: PlotCanvas) -> None:
        offsets = revealed.offsets
        for ball in range(shown):
            _add_ball(canvas, offsets[:_MOST_POINTS, ball], ball, shown)
        _add_distances(canvas, np.linalg.norm(offsets, axis=2).max(axis=1), f"{shown + 1}")

    some = f"{shown} of {format_things(balls, 'ball')}" if shown < balls else ""
    note = (*revealed.about, f"Δ = {format_number(step.far)} radii between centres", some)
    words = f"How far tuples lie from the balls of one of them. {title}."
    return Chart(context, title, note, words, paint, legend_lines=3, kind="revealed")


def _add_ball(canvas: PlotCanvas, points: Array, ball: int, balls: int) -> None:
    """The points of tuples in a ball, and its rim, in a plot of their own: one of ``balls`` side by side.

    Two coordinates that keep the distance from the middle are drawn: the first, and the length of all others.
    """
    if points.shape[1] != 2:
        rest = np.linalg.norm(points[:, 1:], axis=1)
        # Half of the points below, so that a plot is filled evenly; a place in the table says nothing.
        points = np.column_stack([points[:, 0], rest * np.where(np.arange(len(rest)) % 2, 1.0, -1.0)])
    number_of = "" if ball == 0 else str(ball + 1)
    x, y = f"x{number_of}", f"y{number_of}"
    width = (1 - _GAP * (balls - 1)) / balls
    left = ball * (width + _GAP)
    drawn = {"xaxis": x, "yaxis": y, "showlegend": ball == 0}
    inside = (np.abs(points) <= _REACH).all(axis=1)
    canvas.marks(points[inside], "points of tuples", "revealed", {"size": 4, "opacity": 0.45}, trace=drawn)
    rim = outline_circles(np.zeros((1, 2)), np.ones(1), np.ones(2))
    canvas.lines(rim, "balls around one tuple", "revealed", color=canvas.palette.text, width=1.5, trace=drawn)
    span = {"range": [-_REACH, _REACH], "tickvals": [-1, 0, 1], "zeroline": False, "constrain": "domain"}
    across = {"domain": [left, left + width], "anchor": y, "title_text": f"ball {ball + 1} (radii)"}
    up = {"domain": [_UPPER, 1], "anchor": x, "scaleanchor": x, "constraintoward": "top", "showticklabels": ball == 0}
    canvas.axes(number_of, span | across, span | up)
    beyond = int((~inside).sum())
    if beyond:
        corner = {"xanchor": "right", "yanchor": "top", "xref": f"{x} domain", "yref": f"{y} domain"}
        canvas.note(f"{beyond:,} beyond", 1, 1, corner, color=canvas.palette.revealed)


def _add_distances(canvas: PlotCanvas, farthest: Array, axes: str) -> None:
    """How far the farthest point of each tuple lies from the middle of its ball, on the plot with these ``axes``."""
    heights, edges = np.histogram(np.log10(np.clip(farthest, _NEAREST, _FARTHEST)), bins=_BARS)
    drawn = {"xaxis": f"x{axes}", "yaxis": f"y{axes}"}
    middle = (edges[1:] + edges[:-1]) / 2
    canvas.bars(middle, heights, np.diff(edges), "", "revealed", hover="%{y} tuples", trace=drawn)
    line = {"color": canvas.palette.text, "dash": "dash"}
    aside = "left" if np.median(farthest) < 1 else "right"  # where fewer bars are
    canvas.plot.add_shape(type="line", x0=0, x1=0, y0=0, y1=1, xref=f"x{axes}", yref=f"y{axes} domain", line=line)
    beside = {"xref": f"x{axes}", "yref": f"y{axes} domain", "xanchor": aside, "yanchor": "top"}
    canvas.note(" rim ", 0, 1, beside, color=canvas.palette.text)
    low, high = min(-1.0, float(edges[0])), max(1.0, float(edges[-1]))
    ticks = np.arange(np.floor(low), np.ceil(high) + 1)
    ticks = ticks[ticks % 2 == 0] if len(ticks) > _MOST_TICKS else ticks
    words = {"tickvals": ticks, "ticktext": [f"{10.0**tick:,.10g}" for tick in ticks], "tickangle": 0}
    span = {"range": [low - 0.1, high + 0.1], "domain": [0, 1], "anchor": f"y{axes}"}
    up = {"title_text": "tuples", "nticks": 4, "domain": [0, _LOWER], "anchor": f"x{axes}"}
    canvas.axes(axes, span | words | {"title_text": "a tuple's farthest point (radii)"}, up)


# Made-up tuples of the illustration: balls on a circle, five tuples that fit and one that does not.
_FITTING, _SHOWN_BALLS, _RADIUS = 5, 4, 0.2
# How far their points lie from the middles of the balls, and how far the stray one goes to the middle of all.
_LOOSE, _ASTRAY = 0.09, 0.35
# Lines of the legend of the illustration.
_LEGEND = 4
# Standard deviations of a Laplace number of scale 1.
_SD = float(np.sqrt(2))


def draw_tuple_test(step: TupleTestStep, context: RenderContext) -> Chart:
    """Released centres with their typical noise, or "refused" over the placeholders that know no data."""
    view, domain = context.view, context.view.domain
    who = "tuples" if step.given else "blocks"
    title = f"Refused: the {who} do not agree on far-apart centres" if step.sampled else ""
    title = title or "Refused: too few tuples to be asked"
    if step.passed:
        title = capitalize_first(f"the {who} agree: {format_things(len(step.anchors), 'noisy centre')} released")
    made = "" if step.given else f" of about {format_number(step.rows_per_tuple)} rows"
    asked, halo = f"{step.number:,} tuples{made} ({step.needed:,} needed)", "halo: typical noise"
    note = (asked, f"Δ = {format_number(step.far)}", halo if step.center_noise_sd is not None else "", view.about)

    def paint(canvas: PlotCanvas) -> None:
        canvas.rows(context.reveal)
        everyone = None if context.reveal is None else context.reveal.everyone
        if step.given and everyone is not None and not view.flat:
            tuples = everyone.reshape(-1, *step.anchors.shape)
            # Tuples whose points are joined by lines.
            some = tuples[np.random.default_rng(0).permutation(len(tuples))[:300]]
            joints = join_outlines([view.plane(one) for one in some])
            canvas.lines(joints, format_things(len(some), "tuple"), "revealed", strength=0.25)
        if step.centers is not None:
            add_cells(canvas, step.centers, context.final)
            if step.center_noise_sd is not None:
                add_halos(canvas, step.centers, step.center_noise_sd)
            add_centers(canvas, step.centers, final=context.final)
        else:
            ring = {"symbol": "circle-open", "size": 14, "line": {"width": 2}}
            hover = "placeholder (public)<br>%{x:.4g}, %{y:.4g}"
            canvas.marks(view.plane(step.anchors), "placeholders, packed without data", "public", ring, hover=hover)
            add_refused(canvas)
        canvas.plane()

    def tabulate() -> pd.DataFrame:
        public: dict[str, float] = {"tuples": step.number, "tuples needed": step.needed}
        public |= {} if step.given else {"rows of a block, on average": step.rows_per_tuple}
        public |= {"Δ, radii between balls": step.far, "m, tuples tried": step.sampled}
        public |= {"limit of noisy misfits": step.misfit_limit, "noise scale of misfits": step.misfit_scale}
        public |= {"limit of noisy votes": step.vote_limit, "noise scale of votes": step.vote_scale}
        lines = [(what, "public", value) for what, value in public.items()]
        lines.append(("passed (1) or not (0)", "released", float(step.passed)))
        if step.centers is not None:
            for i, center in enumerate(domain.from_unit(step.centers), start=1):
                named = zip(domain.columns, center, strict=True)
                lines += [(f"centre {i}, {name}", "released", value) for name, value in named]
        return pd.DataFrame(lines, columns=["what", "kind", "value"])

    where = format_columns(domain)
    words = f"{title}, over {where}. A tuple passed with up to {format_number(step.misfit_limit)} noisy misfits."
    if step.centers is None:
        words = f"Refused (⊥), over {where}. {step.title}."
    return Chart(context, title, note, words, paint, table=tabulate)


def list_beside_tuple_test(step: TupleTestStep, steps: Sequence[Step], context: RenderContext) -> Iterator[Companion]:
    """Where rows are revealed, tuples of them and their votes; and an illustration."""
    region = context.view.region
    rows = context.find_rows(region)
    if rows is not None and len(rows) and len(step.anchors) > 1:
        revealed = RevealedTuples.of(step, rows, region)
        yield Companion("Balls", draw_revealed_balls(step, revealed, context))
        if step.sampled:
            yield Companion("Votes", draw_votes(step, revealed, context))
    yield Companion("What is asked", draw_made_up_balls(step, context))


def draw_made_up_balls(step: TupleTestStep, context: RenderContext) -> Chart:
    """An illustration of what the test asks, with made-up tuples and its public numbers."""
    limit = format_number(step.misfit_limit) if step.sampled else "so many"
    title = f"One point in every ball? Up to {limit} noisy misfits pass"

    def paint(canvas: PlotCanvas) -> None:
        k = min(max(2, len(step.anchors)), _SHOWN_BALLS)
        rng = np.random.default_rng(0)
        angle = 2 * np.pi * np.arange(k) / k + 0.4
        middles = 1.2 * np.column_stack([np.cos(angle), np.sin(angle)])
        around = [*range(k), 0] if k > 2 else [0, 1]
        fitting = middles + rng.uniform(-_LOOSE, _LOOSE, (_FITTING, k, 2))
        stray = middles + rng.uniform(-_LOOSE, _LOOSE, (k, 2))
        stray[0] *= _ASTRAY
        rims = outline_circles(middles, np.full(k, _RADIUS), np.ones(2))
        canvas.lines(rims, "balls around one tuple", "public", width=2)
        fits = join_outlines([one[around] for one in fitting])
        canvas.lines(fits, "tuples that fit", "public", strength=0.5, dash="dot")
        canvas.lines(stray[around], "a misfit", "public", strength=0.9, width=2, dash="dash")
        canvas.marks(np.concatenate([fitting.reshape(-1, 2), stray]), "", "public", {"size": 7})
        for axis in (canvas.plot.update_xaxes, canvas.plot.update_yaxes):
            axis(visible=False, range=[-1.6, 1.6])
        canvas.plot.update_yaxes(scaleanchor="x", scaleratio=1)
        canvas.plot.update_layout(margin={"b": LEGEND_LINE * _LEGEND})

    tried = f"{step.sampled} of {step.number:,} tuples are tried" if step.sampled else f"{step.needed:,} tuples needed"
    apart = f"true balls lie Δ = {format_number(step.far)} radii apart"
    note = ("an illustration with made-up tuples, not to scale", apart, tried)
    words = f"Balls around the points of a made-up tuple, and other tuples in them. {title}."
    return Chart(context, title, note, words, paint, legend_lines=_LEGEND, kind="public")


def draw_votes(step: TupleTestStep, revealed: RevealedTuples, context: RenderContext) -> Chart:
    """The misfits of each tried tuple with the noise that hides them, and the limit up to which it passes: revealed."""
    misfits, limit = np.sort(revealed.misfits), step.misfit_limit
    passing, needed = int((misfits <= limit).sum()), format_number(step.vote_limit)
    title = f"{passing} of {len(misfits)} tried tuples pass but for noise; {needed} noisy votes needed"

    def paint(canvas: PlotCanvas) -> None:
        reach, ends = NINE_IN_TEN * _SD * step.misfit_scale, [0.5, len(misfits) + 0.5]
        places = np.column_stack([np.arange(1, len(misfits) + 1), misfits])
        name = "misfits of a tried tuple, ± noise"
        noise = {"error_y": {"type": "constant", "value": reach, "color": canvas.color("revealed", 0.5), "width": 0}}
        canvas.marks(places, name, "revealed", {"size": 8}, hover="%{y:,.0f} misfits", trace=noise)
        words = f"limit: {format_number(limit)} noisy misfits"
        canvas.lines(np.column_stack([ends, [limit, limit]]), words, "public", width=2, dash="dash")
        heights = [min(0.0, -1.1 * reach), 1.08 * max(limit, float(misfits.max()) + reach)]
        canvas.plot.update_xaxes(title_text="tried tuples, fewest misfits first", range=ends)
        canvas.plot.update_yaxes(title_text=f"misfits among {step.number:,} tuples", range=heights)

    noise = format_plus_minus(_SD * step.vote_scale)
    note = (*revealed.about, f"one vote for each tuple below the line; noise on votes {noise}")
    words = f"Misfits of tried tuples against their limit. {title}."
    return Chart(context, title, note, words, paint, legend_lines=2, kind="revealed")
