"""Tuples behind a test of them, from revealed rows: the rows themselves, or models of blocks that public coins deal.

And how far they lie from the balls around one of them, magnified.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpviz.algorithms import TupleTestStep
from dpviz.app.charts.cells import outline_circles
from dpviz.app.charts.picture import Drawing, RenderContext
from dpviz.app.charts.plot_canvas import PlotCanvas
from dpviz.core import Array, BlockKMeans, Domain, Region, count_misfits
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

    Parameters
    ----------
    tuples : array of shape (n_t, k, d)
        Unit coordinates.
    misfits : array of shape (m,)
        Of the tried tuples, which are the first ones; scaled up where only a part of the tuples is here.
    one : array of shape (k, d)
        The tried tuple of median misfits.
    far : float
        Δ.
    about : str
        Where they come from, for a subtitle.
    """

    tuples: Array
    misfits: Array
    one: Array
    far: float
    about: str

    @classmethod
    def of(cls, step: TupleTestStep, points: Array, region: Region) -> RevealedTuples:
        """The tuples of revealed ``points`` (n, d), those that rows stand for, by public coins.

        Parameters
        ----------
        step : TupleTestStep
            The step that is shown.
        points : array of shape (n, d)
            Revealed, unit coordinates.
        region : Region
            Where rows live, unit coordinates.

        Returns
        -------
        RevealedTuples
            To be drawn.
        """
        k, dim = step.anchors.shape
        rng = np.random.default_rng(step.salt)
        clipped = region.clip(points)
        if step.given:
            rows = clipped.reshape(-1, k, dim)
            tuples = rows[rng.permutation(len(rows))[:_MOST]]
            few = f"counted on {len(tuples):,} of {len(rows):,}" if len(tuples) < len(rows) else ""
            about = join_clauses("the revealed tuples; which of them were tried stays secret", few)
        else:
            block = rng.integers(0, step.number, len(points))
            model = BlockKMeans(step.anchors, match=False, salt=step.salt)
            tuples = model.fit(clipped, block, step.number).reshape(step.number, k, dim)
            about = "recomputed from the revealed rows: another split than the secret one"
        tried = tuples[: max(1, step.sampled)]
        misfits = np.array([count_misfits(one, tuples, step.far) for one in tried], dtype=np.float64)
        chosen = int(np.argsort(misfits, kind="stable")[len(misfits) // 2])
        return cls(tuples, misfits * (step.number / len(tuples)), tried[chosen], step.far, about)

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


@dataclass(frozen=True, eq=False)
class RevealedDrawing(Drawing[TupleTestStep]):
    """A drawing of the tuples behind a test, which are made of revealed ``rows`` (n, d) when they are asked for."""

    rows: Array
    region: Region

    @cached_property
    def revealed(self) -> RevealedTuples:
        """The tuples, and which of them are tried."""
        return RevealedTuples.of(self.step, self.rows, self.region)


class RevealedBalls(RevealedDrawing):
    """Above: the points of all tuples in the balls around one tuple. Below: how far the tuples lie from these balls."""

    legend_lines = 3

    def finding(self, domain: Domain) -> str:
        unfit, number_of = self.revealed.unfit, self.step.number
        if not unfit:
            return f"All {number_of:,} tuples fit into the balls around one of them"
        about = "" if len(self.revealed.tuples) == number_of else "about "
        return capitalize_first(
            f"{about}{format_things(unfit, 'tuple')} of {number_of:,} not in the balls around one of them"
        )

    def note(self, context: RenderContext) -> str:
        shown = self._shown
        balls = len(self.revealed.one)
        some = f"{shown} of {format_things(balls, 'ball')}" if shown < balls else ""
        return join_clauses(self.revealed.about, f"Δ = {format_number(self.step.far)} radii between centres", some)

    def paint(self, canvas: PlotCanvas, context: RenderContext) -> None:
        offsets = self.revealed.offsets
        for ball in range(self._shown):
            _add_ball(canvas, _plane(offsets[:_MOST_POINTS, ball]), ball, self._shown)
        _add_distances(canvas, np.linalg.norm(offsets, axis=2).max(axis=1), f"{self._shown + 1}")

    def words(self, domain: Domain) -> str:
        return f"How far tuples lie from the balls of one of them. {self.finding(domain)}."

    @property
    def _shown(self) -> int:
        return min(len(self.revealed.one), _MOST_BALLS)


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
