"""Candidate centres: the middles of a private partition's cubes; the deeper the cube, the more rows stood there."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dpviz.algorithms.balcan2017.balcan import CandidatesStep
from dpviz.charts.canvas import NUMBER_SIZE, below_plot, canvas, legend_name, marks_xy, name_kinds, show_plane
from dpviz.charts.revealed import RevealedView, draw_rows
from dpviz.charts.theme import Palette
from dpviz.charts.view import View
from dpviz.charts.wording import clauses, opening, things
from dpviz.table.domain import Domain, Region

# Diameters in pixels of the shallowest and the deepest candidate.
_SMALLEST, _LARGEST = 4.0, 13.0


def draw_candidates(
    step: CandidatesStep, *, view: View, palette: Palette, reveal: RevealedView | None = None
) -> go.Figure:
    """Candidates on the plane, sized and shaded by the depth of their cube."""
    view = space_view(view, step.region, projected=step.frame is not None)
    figure = canvas(palette, title=_finding(step), subtitle=_subtitle(step, view), legend_lines=5)
    if reveal is not None:
        draw_rows(figure, reveal.drawn_in(step.region, step.frame), view, palette)
    found = step.depths >= 0
    # Deep candidates last, so that they lie on top.
    order = np.flatnonzero(found)[np.argsort(step.depths[found], kind="stable")]
    depth, deepest = step.depths[order], max(1, int(step.depths.max(initial=1)))
    figure.add_trace(
        go.Scatter(
            **marks_xy(view.plane(step.candidates)[order]),
            mode="markers",
            name=legend_name("candidates", "released"),
            showlegend=False,
            marker={
                "size": _SMALLEST + (_LARGEST - _SMALLEST) * depth / deepest,
                "color": depth,
                "cmin": 0,
                "cmax": deepest,
                "colorscale": [[0, palette.faded(palette.released, 0.25)], [1, palette.faded(palette.released, 0.95)]],
                "line": {"width": 0.5, "color": palette.surface},
                "colorbar": _depth_bar(deepest, palette),
            },
            customdata=depth,
            hovertemplate="candidate of depth %{customdata}<br>%{x:.4g}, %{y:.4g}<extra></extra>",
            meta="released",
        )
    )
    if not found.all():
        figure.add_trace(
            go.Scatter(
                **marks_xy(view.plane(step.candidates)[~found]),
                mode="markers",
                name=legend_name("without data", "public"),
                marker={"symbol": "circle-open", "size": 9, "color": palette.public},
                meta="public",
            )
        )
    show_plane(figure, view, palette)
    figure.data[-1 if found.all() else -2].marker.colorbar.update(below_plot(figure))
    return name_kinds(figure, palette)


def space_view(view: View, space: Region, *, projected: bool) -> View:
    """The plane for points of an algorithm's space: the chosen one, or the first two projected axes."""
    return view.within(space) if projected else view


def candidates_table(step: CandidatesStep, *, domain: Domain) -> pd.DataFrame:
    """Candidates with their depth; data units, or projected coordinates where the space is projected."""
    if step.frame is None:
        table = pd.DataFrame(domain.from_unit(step.candidates), columns=list(domain.columns))
    else:
        names = [f"projected axis {j + 1}" for j in range(step.candidates.shape[1])]
        table = pd.DataFrame(step.candidates, columns=names)
    table.insert(0, "depth", step.depths)
    return table


def describe_candidates(step: CandidatesStep, *, domain: Domain) -> str:
    """The picture in words."""
    levels, sizes = np.unique(step.depths[step.depths >= 0], return_counts=True)
    by_depth = ", ".join(f"{size:,} at depth {level}" for level, size in zip(levels, sizes, strict=True))
    return f"{_finding(step)}. {by_depth}."


def _finding(step: CandidatesStep) -> str:
    found = step.depths[step.depths >= 0]
    if not len(found):
        return "No cube woke up: all candidates are public points"
    deepest = int(found.max())
    at_depth = int((found == deepest).sum())
    return opening(
        f"{things(len(step.depths), 'candidate')}, {at_depth:,} of them from the finest cubes (depth {deepest})"
    )


def _subtitle(step: CandidatesStep, view: View) -> str:
    added = int((step.depths < 0).sum())
    return clauses(step.title, f"{things(added, 'point')} added without data" if added else "", view.about)


def _depth_bar(deepest: int, palette: Palette) -> dict[str, object]:
    return {
        "orientation": "h",
        "title": {"text": "depth of the cube (deeper: more rows)", "side": "top", "font": {"size": NUMBER_SIZE}},
        **{"thickness": 10, "len": 1.0, "x": 0.5},
        "tickvals": list(range(deepest + 1)),
        "tickfont": {"size": NUMBER_SIZE, "color": palette.muted},
        "outlinewidth": 0,
    }
