"""Centres on the plane: how many rows each was measured to hold, how far noise may have moved it, where it belongs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dpviz.algorithms.steps import CentersStep
from dpviz.arrays import Array
from dpviz.charts.canvas import NUMBER_SIZE, canvas, ink_on, legend_name, line_xy, marks_xy, name_kinds, show_plane
from dpviz.charts.cells import circles, joined, segments, voronoi_polygons
from dpviz.charts.names import spelled
from dpviz.charts.revealed import RevealedView, draw_rows
from dpviz.charts.theme import CLUSTER_MARKS, Palette, center_marker, reference_marker
from dpviz.charts.view import View
from dpviz.charts.wording import clauses, count, number, opening, percent, things
from dpviz.runs.evaluation import Reference, match
from dpviz.runs.found import FOUND_RULE, Found, neighbour_gaps
from dpviz.table.domain import Domain


class Marks(NamedTuple):
    """How large centres are drawn, in pixels.

    Parameters
    ----------
    smallest, largest : float
        Diameters for the smallest and the largest noisy count.
    reference : float
        Of a k-means++ diamond: a little larger than a centre, so that on target its tips look out behind it.
    number : int or None
        Font size of the number on a centre; None where numbers would cover each other.
    """

    smallest: float
    largest: float
    reference: float
    number: int | None


# By the most centres that a picture of a phone's width holds with these marks.
_MARKS = {20: Marks(16, 22, 21, NUMBER_SIZE), 40: Marks(13, 17, 16, 9)}
_MARKS_OF_A_CROWD = Marks(6, 10, 10, None)
# The share of the gap to its nearest neighbour at which noise may carry a centre to somebody else's place.
_HALF_WAY = 0.5
_UNCOUNTED = ", and no row has been counted in their cells"


def draw_centers(
    step: CentersStep,
    *,
    view: View,
    palette: Palette,
    reveal: RevealedView | None = None,
    reference: Reference | None = None,
    found: Found | None = None,
    epsilon: float | None = None,
    title: str | None = None,
) -> go.Figure:
    """Released centres over their cells; with a ``reference``, each tied to the k-means++ centre it is matched to.

    ``found`` is how many of its clusters these centres find, for the title; ``title`` tells another finding.
    """
    rule = FOUND_RULE if title is None and reference is not None and _counts_found(found) else ""
    finding = title or _finding(step, reference, found, epsilon)
    figure = canvas(palette, title=finding, subtitle=_subtitle(step, view, rule))
    if reveal is not None:
        draw_rows(figure, reveal.points, view, palette)
    draw_cells(figure, step.centers, view, palette)
    if step.center_noise_sd is not None:
        draw_halos(figure, step.centers, step.center_noise_sd, view, palette)
    if step.previous is not None:
        _draw_trail(figure, step.previous, step.centers, view, palette)
    sizes = center_sizes(step)
    if reference is not None:
        _draw_displacements(figure, step.centers, reference.centers, sizes, view, palette)
        draw_reference(figure, reference.centers, view, palette)
    draw_center_marks(figure, step.centers, sizes, view, palette, hover=_hover(step, view.domain))
    show_plane(figure, view, palette)
    return name_kinds(figure, palette)


def centers_table(step: CentersStep, *, domain: Domain) -> pd.DataFrame:
    """Centres in data units, with what was released about each."""
    table = pd.DataFrame(domain.from_unit(step.centers), columns=list(domain.columns))
    table.insert(0, "centre", np.arange(1, len(table) + 1))
    if step.noisy_counts is not None:
        table["noisy count"] = step.noisy_counts
    if step.center_noise_sd is not None:
        table["noise sd (unit coordinates)"] = step.center_noise_sd
    return table


def describe_centers(step: CentersStep, *, domain: Domain) -> str:
    """The picture in words."""
    where = ", ".join(domain.columns[:4]) + (" …" if domain.dim > 4 else "")
    text = f"{opening(things(len(step.centers), 'released centre'))} over {where}. {_finding(step, None, None, None)}."
    if step.noisy_counts is not None:
        low, high = float(step.noisy_counts.min()), float(step.noisy_counts.max())
        text += f" Noisy counts run from {number(low)} to {number(high)}."
    return text


def draw_cells(figure: go.Figure, centers: Array, view: View, palette: Palette, *, tinted: bool = True) -> None:
    """Voronoi cells, where the plane shows every axis; elsewhere they would not be what is seen.

    ``tinted`` cells carry the colour of their centre, where colours tell centres apart.
    """
    if not view.whole:
        return
    if view.flat:
        _draw_cell_walls(figure, np.sort(centers[:, 0]), view, palette)
        return
    polygons = [view.plane(polygon) for polygon in voronoi_polygons(centers, view.region.half)]
    k = len(centers)
    if tinted and k <= len(CLUSTER_MARKS):
        for i, polygon in enumerate(polygons):
            color = palette.cluster(i, k).color
            _add_line(figure, polygon, palette.grid, 1.0, fill=palette.faded(color, 0.12))
    _add_line(figure, joined(polygons), palette.faded(palette.public, 0.4), 1.0)


def draw_reference(figure: go.Figure, centers: Array, view: View, palette: Palette) -> None:
    """k-means++ centres: open diamonds."""
    figure.add_trace(
        go.Scatter(
            **marks_xy(view.plane(centers, "reference")),
            mode="markers",
            name=legend_name("k-means++", "revealed"),
            marker=reference_marker(palette, marks_of(len(centers)).reference) | {"line": {"width": 1.6}},
            hovertemplate="k-means++ (revealed)<br>%{x:.4g}, %{y:.4g}<extra></extra>",
            meta="revealed",
        )
    )


def marks_of(k: int) -> Marks:
    """The marks of ``k`` centres: smaller where there are many, and without numbers in a crowd.

    >>> marks_of(15).number, marks_of(64).number
    (11, None)
    """
    return next((marks for most, marks in _MARKS.items() if k <= most), _MARKS_OF_A_CROWD)


def draw_center_marks(
    figure: go.Figure, centers: Array, sizes: Array, view: View, palette: Palette, *, hover: list[str] | None = None
) -> None:
    """Filled circles with their numbers (in a crowd, on hover), large ones first so that small ones stay visible."""
    k, number_size = len(centers), marks_of(len(centers)).number
    order = np.argsort(-sizes, kind="stable")
    colors = [palette.cluster(int(i), k).color for i in order]
    figure.add_trace(
        go.Scatter(
            **marks_xy(view.plane(centers)[order]),
            mode="markers+text" if number_size else "markers",
            name=legend_name("centres", "released"),
            marker=center_marker(palette, colors) | {"size": sizes[order], "opacity": 1.0},
            text=[str(i + 1) for i in order],
            textfont={"size": number_size or NUMBER_SIZE, "color": [ink_on(color) for color in colors]},
            customdata=[hover[i] for i in order] if hover else None,
            hovertemplate="%{customdata}<extra></extra>" if hover else "centre %{text}<extra></extra>",
            cliponaxis=False,
            meta="released",
        )
    )


def center_sizes(step: CentersStep) -> Array:
    """Marker diameters in pixels: the area grows with the noisy count."""
    k = len(step.centers)
    low, high, *_ = marks_of(k)
    if step.noisy_counts is None:
        return np.full(k, low + 0.2 * (high - low))
    size = np.sqrt(np.maximum(step.noisy_counts, 0))
    sizes: Array = low + (high - low) * size / max(float(size.max()), 1e-9)
    return sizes


def _finding(step: CentersStep, reference: Reference | None, found: Found | None, epsilon: float | None) -> str:
    k = len(step.centers)
    at = f"At ε = {epsilon:g}, " if epsilon is not None else ""
    if reference is not None and len(reference.centers) == k == 1:
        return opening(at + _lone(step.centers, reference.centers))
    if reference is not None and found is not None and _counts_found(found):
        return opening(at + found_words(found))
    if step.released and k > 1 and step.center_noise_sd is not None:
        part = percent(float(np.median(step.center_noise_sd / neighbour_gaps(step.centers))))
        return opening(at + f"noise moves a typical centre by {part} of the way to its neighbour")
    if step.center_noise_sd is None:
        untold = "how far noise moved them is not told"
        return f"{opening(things(k, 'centre'))}{f': {untold}' if step.released else _UNCOUNTED}"
    lost = int((step.center_noise_sd > _HALF_WAY * neighbour_gaps(step.centers)).sum()) if k > 1 else 0
    if lost:
        return opening(at + f"noise reaches half-way to a neighbour of {things(lost, 'centre')}")
    typical = number(float(np.median(step.center_noise_sd)) / 2 * 100)
    return opening(at + f"noise moves a typical centre by {typical} % of the width")


def found_words(found: Found) -> str:
    """How many clusters were found.

    >>> found_words(Found(0, 5)), found_words(Found(2, 15)), found_words(Found(15, 15))
    ('none of five clusters is found', 'two of 15 clusters are found', 'all 15 clusters are found')
    """
    every = things(found.clusters, "cluster")
    if found.found == found.clusters:
        return f"all {every} are found"
    return f"{count(found.found) if found.found else 'none'} of {every} {'are' if found.found > 1 else 'is'} found"


def _counts_found(found: Found | None) -> bool:
    """Whether there are clusters to be counted: one alone is told by its distance."""
    return found is not None and found.clusters > 1


def _lone(centers: Array, reference: Array) -> str:
    away = float(np.linalg.norm(centers[0] - reference[0]))
    return f"the centre lies {number(away)} (unit coordinates) from that of k-means++"


def _subtitle(step: CentersStep, view: View, rule: str) -> str:
    unseen = "" if view.whole else "cells not drawn"
    crowd = "numbers on hover" if marks_of(len(step.centers)).number is None else ""
    beyond = view.beyond(step.centers)
    outside = f"{things(beyond, 'centre')} outside the picture" if beyond else ""
    return clauses(step.title, rule, view.about, unseen, outside, crowd)


def _hover(step: CentersStep, domain: Domain) -> list[str]:
    values = domain.from_unit(step.centers)
    lines = [f"<b>centre {i + 1}</b> (released)" for i in range(len(values))]
    for j, name in enumerate(domain.columns[:6]):
        lines = [f"{line}<br>{spelled(name)}: {number(float(v))}" for line, v in zip(lines, values[:, j], strict=True)]
    if step.noisy_counts is not None:
        lines = [f"{line}<br>noisy count: {number(float(c))}" for line, c in zip(lines, step.noisy_counts, strict=True)]
    return lines


def draw_halos(figure: go.Figure, centers: Array, sd: Array, view: View, palette: Palette) -> None:
    """One standard deviation of the noise on a coordinate, around each centre."""
    drawn, radii = view.plane(centers), np.minimum(sd, view.region.diameter)
    if view.flat:
        reach = np.column_stack([radii * view.scale[0], np.zeros(len(radii))])
        outline, width, fill = segments(drawn - reach, drawn + reach), 6.0, None
    else:
        outline, width, fill = circles(drawn, radii, view.scale), 0.8, palette.faded(palette.released, 0.14)
    _add_line(
        figure, outline, palette.faded(palette.released, 0.5), width, fill=fill, name="noise ±1 sd", meta="released"
    )


def _draw_trail(figure: go.Figure, previous: Array, centers: Array, view: View, palette: Palette) -> None:
    outline = segments(view.plane(previous, "previous"), view.plane(centers))
    _add_line(
        figure, outline, palette.faded(palette.released, 0.55), 1.5, dash="dot", name="last move", meta="released"
    )


def _draw_displacements(
    figure: go.Figure, centers: Array, reference: Array, sizes: Array, view: View, palette: Palette
) -> None:
    """A thin grey arrow from each k-means++ centre to the released centre that it is matched to."""
    if len(reference) != len(centers):
        return
    partner = match(centers, reference)
    outline = segments(view.plane(reference, "reference")[partner], view.plane(centers))
    k = len(centers)
    figure.add_trace(
        go.Scatter(
            **line_xy(outline),
            mode="lines+markers",
            name="displacement",
            line={"color": palette.muted, "width": 1.2},
            marker={
                "symbol": ["circle", "arrow", "circle"] * k,
                "size": [0, min(8.0, marks_of(k).smallest), 0] * k,
                "color": palette.muted,
                "angleref": "previous",
                "standoff": np.column_stack([np.zeros(k), sizes / 2, np.zeros(k)]).ravel(),
            },
            hoverinfo="skip",
            showlegend=False,
        )
    )


def _draw_cell_walls(figure: go.Figure, centers: Array, view: View, palette: Palette) -> None:
    """Borders between the cells of a 1-D table."""
    border = view.plane(((centers[1:] + centers[:-1]) / 2)[:, None])[:, 0]
    low, high = (np.full(len(border), height) for height in view.extent[1])
    walls = segments(np.column_stack([border, low]), np.column_stack([border, high]))
    _add_line(figure, walls, palette.faded(palette.public, 0.4), 1.0)


def _add_line(
    figure: go.Figure,
    outline: Array,
    color: str,
    width: float,
    *,
    fill: str | None = None,
    dash: str = "solid",
    name: str = "",
    meta: str | None = None,
) -> None:
    figure.add_trace(
        go.Scatter(
            **line_xy(outline),
            mode="lines",
            line={"color": color, "width": width, "dash": dash},
            fill="toself" if fill else "none",
            fillcolor=fill,
            name=name,
            showlegend=bool(name),
            hoverinfo="skip",
            meta=meta,
        )
    )
