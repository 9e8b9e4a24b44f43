"""Inside the test of tuples: balls around one tuple's points, and how many others do not fit into them.

Without a look at the rows it is an illustration with made-up tuples. With one, tuples are computed again from the
revealed rows, with public coins: another split than the secret one, which nobody ever sees.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import plotly.graph_objects as go

from dpviz.algorithms.steps_tuples import TupleTestStep
from dpviz.charts.canvas import LEGEND_LINE, canvas, legend_name, line_xy, marks_xy, name_kinds
from dpviz.charts.cells import circles, joined
from dpviz.charts.theme import Palette
from dpviz.charts.wording import clauses, number, opening, things
from dpviz.privacy.block_models import BlockKMeans
from dpviz.privacy.partition_test import count_misfits
from dpviz.table.domain import Array, Region

_BARS = 40
# Made-up tuples of the illustration: balls on a circle, five tuples that fit and one that does not.
_FITTING, _SHOWN_BALLS, _RADIUS = 5, 4, 0.2
# Beyond this many radii a distance is drawn at the edge.
_FARTHEST = 1e4


class PublicSplit(NamedTuple):
    """Tuples (n_t, k, d) of another split of revealed rows; the misfits (m,) of the tried ones, and one of them."""

    tuples: Array
    misfits: Array
    chosen: int


def public_split(step: TupleTestStep, rows: Array, region: Region) -> PublicSplit:
    """Tuples of revealed ``rows`` (n, d) by public coins; the tuple of median misfits is chosen."""
    k, dim = step.anchors.shape
    rng = np.random.default_rng(step.salt)
    block = rng.integers(0, step.number, len(rows))
    model = BlockKMeans(step.anchors, match=False, salt=step.salt)
    tuples = model.fit(region.clip(rows), block, step.number).reshape(step.number, k, dim)
    tried = tuples[: max(1, step.sampled)]
    misfits = np.array([count_misfits(one, tuples, step.far) for one in tried])
    return PublicSplit(tuples, misfits, int(np.argsort(misfits)[len(misfits) // 2]))


def draw_revealed_balls(step: TupleTestStep, rows: Array, region: Region, *, palette: Palette) -> go.Figure:
    """How far the tuples of another split lie from the balls around one of them, in radii: revealed."""
    split = public_split(step, rows, region)
    reach = np.clip(_reach(split.tuples[split.chosen], split.tuples, step.far), 1 / _FARTHEST, _FARTHEST)
    misfits = int(split.misfits[split.chosen])
    figure = canvas(
        palette,
        title=(
            opening(f"{things(misfits, 'tuple')} of {step.number:,} not in the balls around one of them")
            if misfits
            else f"All {step.number:,} tuples fit into the balls around one of them"
        ),
        subtitle=clauses(
            "recomputed from the revealed rows: another split than the secret one",
            f"a tuple passes up to {number(step.misfit_limit)} noisy misfits" if step.sampled else "",
        ),
        legend_lines=2,
    )
    heights, edges = np.histogram(np.log10(reach), bins=_BARS)
    figure.add_trace(
        go.Bar(
            x=(edges[1:] + edges[:-1]) / 2,
            y=heights,
            width=np.diff(edges),
            name=legend_name("tuples", "revealed"),
            marker={"color": palette.revealed},
            hovertemplate="%{y} tuples<extra></extra>",
            showlegend=True,
            meta="revealed",
        )
    )
    figure.add_vline(
        x=0,
        line={"color": palette.text, "dash": "dash"},
        annotation_text="rim of the balls ",
        annotation_xanchor="right",
    )
    low, high = min(-1.0, float(edges[0])), max(1.0, float(edges[-1]))
    ticks = np.arange(np.floor(low), np.ceil(high) + 1)
    figure.update_xaxes(
        title_text="farthest point from its ball's centre (radii)",
        range=[low - 0.1, high + 0.1],
        tickvals=ticks,
        ticktext=[f"{10.0**tick:,g}".replace("e-0", "e−") for tick in ticks],
    )
    figure.update_yaxes(title_text="tuples")
    return name_kinds(figure, palette)


def draw_made_up_balls(step: TupleTestStep, *, palette: Palette) -> go.Figure:
    """An illustration of what the test asks, with made-up tuples and its public numbers."""
    k = min(max(2, len(step.anchors)), _SHOWN_BALLS)
    rng = np.random.default_rng(0)
    angle = 2 * np.pi * np.arange(k) / k + 0.4
    middles = 1.2 * np.column_stack([np.cos(angle), np.sin(angle)])
    limit = number(step.misfit_limit) if step.sampled else "so many"
    figure = canvas(
        palette,
        title=f"One point in every ball? Up to {limit} noisy misfits pass",
        subtitle=clauses(
            "an illustration with made-up tuples, not to scale",
            f"true balls lie Δ = {number(step.far)} radii apart",
            f"{step.sampled} of {step.number:,} tuples are tried" if step.sampled else f"{step.needed:,} tuples needed",
        ),
        legend_lines=4,
    )
    _line(figure, circles(middles, np.full(k, _RADIUS), np.ones(2)), palette, "balls around one tuple", "solid")
    spread = rng.uniform(-0.09, 0.09, (_FITTING, k, 2))
    _line(figure, joined([middles[_around(k)] + one[_around(k)] for one in spread]), palette, "tuples that fit", "dot")
    stray = middles + rng.uniform(-0.09, 0.09, (k, 2))
    stray[0] *= 0.35
    _line(figure, joined([stray[_around(k)]]), palette, "a misfit", "dash")
    figure.add_trace(
        go.Scatter(
            **marks_xy(np.concatenate([(middles + spread).reshape(-1, 2), stray])),
            mode="markers",
            marker={"size": 7, "color": palette.public},
            hoverinfo="skip",
            showlegend=False,
            meta="public",
        )
    )
    for axis in (figure.update_xaxes, figure.update_yaxes):
        axis(visible=False, range=[-1.6, 1.6])
    figure.update_yaxes(scaleanchor="x", scaleratio=1)
    figure.update_layout(margin={"b": LEGEND_LINE * 4})
    return name_kinds(figure, palette)


def _reach(one: Array, tuples: Array, far: float) -> Array:
    """For each tuple, the largest distance of a ball's centre to its nearest point, in radii of that ball."""
    gaps = np.linalg.norm(one[:, None] - one, axis=2)
    np.fill_diagonal(gaps, np.inf)
    radii = np.maximum(gaps.min(axis=1) / far, 1e-300)
    distance = np.sqrt(((tuples[:, :, None, :] - one) ** 2).sum(axis=3)).min(axis=1)
    reach: Array = np.minimum(distance / radii, _FARTHEST).max(axis=1)
    return reach


def _around(k: int) -> list[int]:
    return [*range(k), 0] if k > 2 else [0, 1]


def _line(figure: go.Figure, outline: Array, palette: Palette, name: str, dash: str) -> None:
    color = palette.public if dash == "solid" else palette.faded(palette.public, 0.9 if dash == "dash" else 0.5)
    figure.add_trace(
        go.Scatter(
            **line_xy(outline),
            mode="lines",
            name=legend_name(name, "public"),
            line={"color": color, "width": 2 if dash != "dot" else 1, "dash": dash},
            hoverinfo="skip",
            meta="public",
        )
    )
