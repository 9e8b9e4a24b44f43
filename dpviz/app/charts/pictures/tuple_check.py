"""The test of tuples: how many agree, and, where rows may be looked at, the tuples themselves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from dpviz.algorithms import Step, TupleTestStep
from dpviz.app.charts.canvas import LEGEND_LINE
from dpviz.app.charts.cells import join_outlines, outline_circles
from dpviz.app.charts.picture import Chart, Companion, RenderContext, format_columns
from dpviz.app.charts.pictures.center_marks import add_cells, add_centers, add_halos, add_refused
from dpviz.app.charts.plot_canvas import PlotCanvas
from dpviz.core import Array, BlockKMeans, Region, tuples
from dpviz.words import capitalize_first, format_number, format_things, join_clauses

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
    about: str

    @classmethod
    def of(cls, step: TupleTestStep, points: Array, region: Region) -> RevealedTuples:
        """The tuples of revealed ``points`` (n, d), those that rows stand for, by public coins.

        ``points`` (n, d), revealed, unit coordinates; ``region``: where rows live, unit coordinates.
        """
        k, dim = step.anchors.shape
        rng = np.random.default_rng(step.salt)
        clipped = region.clip(points)
        if step.given:
            rows = clipped.reshape(-1, k, dim)
            groups = rows[rng.permutation(len(rows))[:_MOST]]
            few = f"counted on {len(groups):,} of {len(rows):,}" if len(groups) < len(rows) else ""
            about = join_clauses("the revealed tuples; which of them were tried stays secret", few)
        else:
            block = rng.integers(0, step.number, len(points))
            model = BlockKMeans(step.anchors, match=False, salt=step.salt)
            groups = model.fit(clipped, block, step.number).reshape(step.number, k, dim)
            about = "recomputed from the revealed rows: another split than the secret one"
        tried = groups[: max(1, step.sampled)]
        misfits = np.array([tuples.count_misfits(one, groups, step.far) for one in tried], dtype=np.float64)
        chosen = int(np.argsort(misfits, kind="stable")[len(misfits) // 2])
        return cls(groups, misfits * (step.number / len(groups)), tried[chosen], step.far, about)

    @property
    def radii(self) -> Array:
        """Of the balls around ``one``, shape (k,)."""
        gaps = np.linalg.norm(self.one[:, None] - self.one, axis=2)
        np.fill_diagonal(gaps, np.inf)
        radii: Array = np.maximum(gaps.min(axis=1) / self.far, 1e-300)
        return radii

    @property
    def offsets(self) -> Array:
        """For each tuple and ball, its nearest point from the ball's centre, in radii, shape (n_t, k, d)."""
        away = self.tuples[:, :, None, :] - self.one
        nearest = (away**2).sum(axis=3).argmin(axis=1)
        picked = np.take_along_axis(away, nearest[:, None, :, None], axis=1)[:, 0]
        scaled: Array = np.clip(picked / self.radii[:, None], -_FARTHEST, _FARTHEST)
        return scaled

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
            _add_ball(canvas, _plane(offsets[:_MOST_POINTS, ball]), ball, shown)
        _add_distances(canvas, np.linalg.norm(offsets, axis=2).max(axis=1), f"{shown + 1}")

    note = join_clauses(
        revealed.about,
        f"Δ = {format_number(step.far)} radii between centres",
        f"{shown} of {format_things(balls, 'ball')}" if shown < balls else "",
    )
    words = f"How far tuples lie from the balls of one of them. {title}."
    return Chart(context, title, note, words, paint, legend_lines=3, kind="revealed")


def _add_ball(canvas: PlotCanvas, points: Array, ball: int, balls: int) -> None:
    """The points of tuples in a ball, and its rim, in a plot of their own: one of ``balls`` side by side."""
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


def _plane(offsets: Array) -> Array:
    """Two coordinates that keep the distance from the middle: the first, and the length of all others."""
    if offsets.shape[1] == 2:
        return offsets
    rest = np.linalg.norm(offsets[:, 1:], axis=1)
    # Half of the points below, so that a plot is filled evenly; a place in the table says nothing.
    return np.column_stack([offsets[:, 0], rest * np.where(np.arange(len(rest)) % 2, 1.0, -1.0)])


# Tuples whose points are joined by lines.
_TUPLES_DRAWN = 300
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
    note = join_clauses(
        f"{step.number:,} tuples{made} ({step.needed:,} needed)",
        f"Δ = {format_number(step.far)}",
        "halo: typical noise" if step.center_noise_sd is not None else "",
        view.about,
    )

    def paint(canvas: PlotCanvas) -> None:
        canvas.rows(context.reveal)
        everyone = None if context.reveal is None else context.reveal.everyone
        if step.given and everyone is not None and not view.flat:
            tuples = everyone.reshape(-1, *step.anchors.shape)
            some = tuples[np.random.default_rng(0).permutation(len(tuples))[:_TUPLES_DRAWN]]
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
        lines: list[tuple[str, str, float]] = [
            ("tuples", "public", step.number),
            ("tuples needed", "public", step.needed),
            *([] if step.given else [("rows of a block, on average", "public", step.rows_per_tuple)]),
            ("Δ, radii between balls", "public", step.far),
            ("m, tuples tried", "public", step.sampled),
            ("limit of noisy misfits", "public", step.misfit_limit),
            ("noise scale of misfits", "public", step.misfit_scale),
            ("limit of noisy votes", "public", step.vote_limit),
            ("noise scale of votes", "public", step.vote_scale),
            ("passed (1) or not (0)", "released", float(step.passed)),
        ]
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

    note = join_clauses(
        "an illustration with made-up tuples, not to scale",
        f"true balls lie Δ = {format_number(step.far)} radii apart",
        f"{step.sampled} of {step.number:,} tuples are tried" if step.sampled else f"{step.needed:,} tuples needed",
    )
    words = f"Balls around the points of a made-up tuple, and other tuples in them. {title}."
    return Chart(context, title, note, words, paint, legend_lines=_LEGEND, kind="public")


def draw_votes(step: TupleTestStep, revealed: RevealedTuples, context: RenderContext) -> Chart:
    """The misfits of each tried tuple with the noise that hides them, and the limit up to which it passes: revealed."""
    misfits, limit = np.sort(revealed.misfits), step.misfit_limit
    passing, needed = int((misfits <= limit).sum()), format_number(step.vote_limit)
    title = f"{passing} of {len(misfits)} tried tuples pass but for noise; {needed} noisy votes needed"

    def paint(canvas: PlotCanvas) -> None:
        sd, ends = _SD * step.misfit_scale, [0.5, len(misfits) + 0.5]
        places = np.column_stack([np.arange(1, len(misfits) + 1), misfits])
        name = "misfits of a tried tuple, ± the noise on them"
        noise = {"error_y": {"type": "constant", "value": sd, "color": canvas.color("revealed", 0.5), "width": 0}}
        canvas.marks(places, name, "revealed", {"size": 8}, hover="%{y:,.0f} misfits", trace=noise)
        words = f"limit: {format_number(limit)} noisy misfits"
        canvas.lines(np.column_stack([ends, [limit, limit]]), words, "public", width=2, dash="dash")
        heights = [min(0.0, -1.1 * sd), 1.08 * max(limit, float(misfits.max()) + sd)]
        canvas.plot.update_xaxes(title_text="tried tuples, fewest misfits first", range=ends)
        canvas.plot.update_yaxes(title_text=f"misfits among {step.number:,} tuples", range=heights)

    noise = format_number(_SD * step.vote_scale)
    note = join_clauses(revealed.about, f"one vote for each tuple below the line; noise on votes ±{noise}")
    words = f"Misfits of tried tuples against their limit. {title}."
    return Chart(context, title, note, words, paint, legend_lines=2, kind="revealed")
