"""Secret blocks before they are aggregated: public anchors, released ranges, and revealed centres of other blocks."""

from __future__ import annotations

from math import ceil

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dpviz.algorithms.su2016.gkm import RangesStep
from dpviz.algorithms.tools.secret_blocks import BlocksStep
from dpviz.arrays import Array
from dpviz.charts.canvas import NUMBER_SIZE, canvas, legend_name, line_xy, marks_xy, name_kinds, show_plane
from dpviz.charts.cells import boxes, circles, segments
from dpviz.charts.revealed import RevealedView, draw_rows
from dpviz.charts.theme import Kind, Palette
from dpviz.charts.view import View
from dpviz.charts.wording import clauses, number, opening, percent, things
from dpviz.privacy.block_models import BlockKMeans
from dpviz.table.domain import Domain

# Rows that are dealt again for the revealed layer, and marks that it draws.
_ROWS_DEALT, _MARKS_DRAWN = 30_000, 400
# Numbers on anchors where they do not cover each other.
_NUMBERED = 40


def draw_blocks(step: BlocksStep, *, view: View, palette: Palette, reveal: RevealedView | None = None) -> go.Figure:
    """The public anchors; if rows are revealed, what k-means finds in blocks of them that public coins deal."""
    figure = canvas(
        palette,
        title=_blocks_finding(step),
        subtitle=clauses(_order(step), _another_split(reveal), view.about),
    )
    _draw_revealed(figure, step, view, palette, reveal)
    _draw_anchors(figure, step.anchors, view, palette)
    show_plane(figure, view, palette)
    return name_kinds(figure, palette)


def draw_ranges(step: RangesStep, *, view: View, palette: Palette, reveal: RevealedView | None = None) -> go.Figure:
    """A box for each centre, and in its middle the noise that the average over the blocks will carry."""
    view = view.boxes()
    figure = canvas(
        palette,
        title=_ranges_finding(step, view.region.half),
        subtitle=clauses(step.title, _another_split(reveal), view.about),
    )
    _draw_revealed(figure, step.blocks, view, palette, reveal)
    kind: Kind = "released" if step.estimated else "public"
    color = palette.released if step.estimated else palette.public
    count = len(step.lower) if step.estimated else 1
    low, high = (view.plane(corner[:count], "centers") for corner in (step.lower, step.upper))
    _draw_outline(
        figure,
        segments(low, high) if view.flat else boxes(low, high),
        name=legend_name("ranges" if step.estimated else "range: the domain", kind),
        color=color,
        palette=palette,
        meta=kind,
        flat=view.flat,
    )
    middles = view.plane((step.lower + step.upper)[:count] / 2, "centers")
    # Noise beyond the domain is drawn as large as the domain.
    reach = np.minimum(step.noise_sd[:count], 2 * view.region.radius)
    radii = reach[:, list(view.axes or (0,))] * view.scale[: len(view.axes or (0,))]
    across = np.column_stack([radii[:, 0], np.zeros(count)])
    _draw_outline(
        figure,
        segments(middles - across, middles + across) if view.flat else circles(middles, radii, np.ones(2)),
        name=legend_name("noise of an average ±1 sd", kind),
        color=palette.text if step.estimated else palette.public,
        palette=palette,
        meta=kind,
        flat=view.flat,
        dash="dot",
    )
    if step.estimated and count <= _NUMBERED:
        _draw_numbers(figure, middles, palette)
    show_plane(figure, view, palette)
    return name_kinds(figure, palette)


def block_centers(step: BlocksStep, rows: Array) -> Array:
    """Centres (m, k, d) that k-means finds in blocks of revealed ``rows`` (n, d), dealt by public coins.

    Another split than the secret one, of the same size: which row was in which block is never told. Only as many
    blocks as a picture can hold are fitted.
    """
    dealt = np.random.default_rng(step.salt).integers(0, step.number, len(rows))
    each = max(1.0, len(rows) / step.number)
    shown = max(1, min(step.number, ceil(_ROWS_DEALT / each), _MARKS_DRAWN // len(step.anchors)))
    mine = dealt < shown
    model = BlockKMeans(step.anchors, match=step.matched, salt=step.salt)
    found: Array = model.fit(rows[mine], dealt[mine], shown).reshape(shown, *step.anchors.shape)
    return found


def blocks_table(step: BlocksStep, *, domain: Domain) -> pd.DataFrame:
    """The anchors in data units."""
    table = pd.DataFrame(domain.from_unit(step.anchors), columns=list(domain.columns))
    table.insert(0, "anchor", np.arange(1, len(table) + 1))
    return table


def ranges_table(step: RangesStep, *, domain: Domain) -> pd.DataFrame:
    """Ranges of every centre in data units, and the noise that its average will carry."""
    lower, upper = domain.from_unit(step.lower), domain.from_unit(step.upper)
    table = pd.DataFrame({"centre": np.arange(1, len(lower) + 1)})
    for j, name in enumerate(domain.columns):
        table[f"{name} from"], table[f"{name} to"] = lower[:, j], upper[:, j]
        table[f"noise sd of {name}"] = step.noise_sd[:, j] * domain.scale[j]
    return table


def describe_blocks(step: BlocksStep, *, domain: Domain) -> str:
    """The picture in words."""
    return f"{_blocks_finding(step)}. {opening(_order(step))}. Columns: {', '.join(domain.columns[:4])}."


def describe_ranges(step: RangesStep, *, domain: Domain) -> str:
    """The picture in words."""
    return f"{step.title}, for {things(len(step.lower), 'centre')}. {_ranges_finding(step, domain.region.half)}."


def _blocks_finding(step: BlocksStep) -> str:
    centers = things(len(step.anchors), "centre")
    return f"{opening(things(step.number, 'secret block'))} of about {number(step.rows_each)} rows find {centers} each"


def _order(step: BlocksStep) -> str:
    if step.matched:
        return "centres of a block are matched to the public anchors, one to one"
    return "centres of a block are sorted by their first coordinate; the anchors stand in for blocks of too few rows"


def _another_split(reveal: RevealedView | None) -> str:
    shown = reveal is not None and reveal.everyone is not None
    return "◉\u00a0centres of blocks dealt anew, not of the secret ones" if shown else ""


def _ranges_finding(step: RangesStep, half: Array) -> str:
    noise = percent(float(np.median(step.noise_sd / (2 * half))))
    if not step.estimated:
        return f"Without ranges an average carries noise of {noise} of the width"
    left = percent(float(((step.upper - step.lower) / (2 * half)).mean()))
    return f"Ranges take {left} of the width, and averages carry noise of {noise}"


def _draw_revealed(
    figure: go.Figure, step: BlocksStep, view: View, palette: Palette, reveal: RevealedView | None
) -> None:
    if reveal is None:
        return
    draw_rows(figure, reveal.points, view, palette)
    if reveal.everyone is None:
        return
    found = block_centers(step, view.region.clip(reveal.everyone))
    figure.add_trace(
        go.Scatter(
            **marks_xy(view.plane(found.reshape(-1, found.shape[2]), "reference")),
            mode="markers",
            name=legend_name("centres of other blocks", "revealed"),
            marker={"symbol": "x-thin-open", "size": 5, "color": palette.revealed, "line": {"width": 1}},
            opacity=0.7,
            hoverinfo="skip",
            meta="revealed",
        )
    )


def _draw_anchors(figure: go.Figure, anchors: Array, view: View, palette: Palette) -> None:
    numbered = len(anchors) <= _NUMBERED
    figure.add_trace(
        go.Scatter(
            **marks_xy(view.plane(anchors)),
            mode="markers+text" if numbered else "markers",
            name=legend_name("anchors", "public"),
            marker={"symbol": "square-open", "size": 18 if numbered else 8, "color": palette.public},
            text=[str(i + 1) for i in range(len(anchors))],
            textfont={"size": NUMBER_SIZE, "color": palette.text},
            hovertemplate="anchor %{text} (public)<br>%{x:.4g}, %{y:.4g}<extra></extra>",
            cliponaxis=False,
            meta="public",
        )
    )


def _draw_numbers(figure: go.Figure, middles: Array, palette: Palette) -> None:
    figure.add_trace(
        go.Scatter(
            **marks_xy(middles),
            mode="text",
            text=[str(i + 1) for i in range(len(middles))],
            textfont={"size": NUMBER_SIZE, "color": palette.text},
            hovertemplate="middle of range %{text} (released)<br>%{x:.4g}, %{y:.4g}<extra></extra>",
            showlegend=False,
            meta="released",
        )
    )


def _draw_outline(
    figure: go.Figure,
    outline: Array,
    *,
    name: str,
    color: str,
    palette: Palette,
    meta: Kind,
    flat: bool,
    dash: str = "solid",
) -> None:
    figure.add_trace(
        go.Scatter(
            **line_xy(outline),
            mode="lines",
            name=name,
            line={"color": palette.faded(color, 0.75), "width": 6 if flat and dash == "solid" else 1.6, "dash": dash},
            fill="none" if flat or dash != "solid" else "toself",
            fillcolor=palette.faded(color, 0.07),
            hoverinfo="skip",
            meta=meta,
        )
    )
