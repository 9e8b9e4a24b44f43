"""Centres on the plane: small numbered marks, the cells around them, the noise on them, and those of k-means++."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.optimize import linear_sum_assignment

from dpviz.algorithms import size_estimates
from dpviz.app.charts.canvas import NUMBER_SIZE
from dpviz.app.charts.cells import choose_hues as choose_apart
from dpviz.app.charts.cells import compute_voronoi_polygons, join_outlines, outline_segments
from dpviz.app.charts.labels import LabelBoxes
from dpviz.app.charts.layout import make_center_marker, make_reference_marker
from dpviz.app.charts.plot_canvas import UNCUT, PlotCanvas
from dpviz.app.charts.view import View
from dpviz.core import Array, Codes


class Marks(NamedTuple):
    """How large centres are drawn, in pixels."""

    size: float
    number: int | None


# By the most centres that a picture of a phone's width holds with these marks.
_MARKS = {40: Marks(11, NUMBER_SIZE), 100: Marks(9, 10)}
_MARKS_OF_A_CROWD = Marks(6, None)
# A displacement shorter than this part of the picture hides under the marks.
_SHORT = 0.04
# How strong centres of earlier draws are.
_GHOST = 0.35
# A partner this part of the way to its neighbour costs half of one that is nowhere.
_HALF, _TINY = 0.5, 1e-300
# Of the words over a refused answer, in pixels.
_REFUSED_SIZE = 34
# Boxes around a centre that light up on the map reach this far, as a part of the picture.
_AROUND = 0.03


def choose_marks(k: int) -> Marks:
    """The marks of ``k`` centres: smaller where there are many, and without numbers in a crowd.

    >>> choose_marks(15).size, choose_marks(64).number, choose_marks(500).number
    (11, 10, None)
    """
    return next((marks for most, marks in _MARKS.items() if k <= most), _MARKS_OF_A_CROWD)


def choose_hues(view: View, centers: Array, final: Array | None) -> Codes:
    """Which of four colours each centre has: those of the map of the ``final`` centres, where these are as many.

    ``centers`` (k, d), released, unit coordinates; ``final`` (k, d), the centres that the run ends with, unit
    coordinates. Returns (k,), from 0 to 3.
    """
    known = final is not None and final.shape == centers.shape
    return choose_apart(view.plane(final if known and final is not None else centers) / view.scale)


def add_cells(canvas: PlotCanvas, centers: Array, final: Array | None = None, *, tinted: bool = True) -> None:
    """Voronoi cells, where the plane shows every axis; elsewhere they would not be what is seen.

    ``tinted`` cells have one of four colours, so that neighbours differ.

    ``centers`` (k, d), released, unit coordinates; ``final`` (k, d), the centres that the run ends with, unit
    coordinates.
    """
    view = canvas.view
    if not view.whole:
        return
    if view.flat:
        walls = np.sort(centers[:, 0])
        border = view.plane(((walls[1:] + walls[:-1]) / 2)[:, None])[:, 0]
        low, high = (np.column_stack([border, np.full(len(border), height)]) for height in view.extent[1])
        canvas.lines(outline_segments(low, high), "", None, strength=0.4)
        return
    polygons = [view.plane(polygon) for polygon in compute_voronoi_polygons(centers, view.region.half)]
    if not tinted:
        canvas.lines(join_outlines(polygons), "", None, strength=0.4)
        return
    palette, hue = canvas.palette, choose_hues(view, centers, final)
    for color, tint in enumerate(palette.tints):
        mine = [polygon for polygon, of in zip(polygons, hue, strict=True) if of == color]
        if mine:
            fill = palette.fade(tint, palette.tint_strength)
            canvas.lines(join_outlines(mine), "", None, color=palette.surface, width=2.0, fill=fill)


def add_centers(
    canvas: PlotCanvas,
    centers: Array,
    *,
    final: Array | None = None,
    away: Array | None = None,
    sizes: Array | None = None,
    notes: list[str] | None = None,
) -> None:
    """Filled circles in the colours of their cells, numbered on the side that is free.

    ``away`` (k, d) are the places that numbers keep away from; ``notes`` is what hovering tells.

    ``centers`` (k, d), released, unit coordinates; ``final`` (k, d), the centres that the run ends with, unit
    coordinates; ``away`` (k, d), places that numbers keep away from; ``sizes`` (k,), diameters, pixels.
    """
    view, palette, k = canvas.view, canvas.palette, len(centers)
    marks, places = choose_marks(k), view.plane(centers)
    inks = [palette.inks[hue] for hue in choose_hues(view, centers, final)]
    listed = [str(i + 1) for i in range(k)]
    numbers = {}
    if marks.number is not None:
        crowd = LabelBoxes(*np.array(view.range).T)
        crowd.takes(places, marks.size)
        free = np.zeros_like(places)
        if away is not None:
            crowd.takes(view.plane(away, "reference"), marks.size)
            free = places - view.plane(away, "reference")
        sides = crowd.places(listed, places, free, size=marks.size, font=marks.number)
        numbers = {
            "text": [number if side else "" for number, side in zip(listed, sides, strict=True)],
            "textposition": [side or "top right" for side in sides],
            "textfont": {"size": marks.number, "color": inks, "weight": 700, "shadow": canvas.palette.halo},
        }
    canvas.marks(
        places,
        "centres",
        "released",
        make_center_marker(palette, inks, marks.size) | ({} if sizes is None else {"size": sizes}),
        hover="%{customdata}" if notes else "centre %{customdata} (released)",
        notes=notes or listed,
        trace={"mode": "markers+text" if numbers else "markers", **UNCUT, **numbers, "uid": "centres"},
    )


def add_halos(canvas: PlotCanvas, centers: Array, sd: Array, *, doubtful: bool = False, at_least: bool = False) -> None:
    """One standard deviation of the noise on a coordinate, around each centre; never more than the whole domain.

    ``centers`` (k, d), released, unit coordinates; ``sd`` (k,), of the noise on a coordinate, unit coordinates.
    """
    palette, flat = canvas.palette, canvas.view.flat
    radii = np.minimum(sd, canvas.view.region.diameter)
    color, fill = palette.fade(palette.text, 0.45), palette.fade(palette.text, 0.08)
    places, width = canvas.view.plane(centers), 6.0 if flat else 1.0
    hidden = _is_hidden(canvas.view, sd, choose_marks(len(centers)).size)
    about = ", were sizes exact" if doubtful else " at least" if at_least else ", tiny" if hidden else ""
    canvas.halos(places, radii, f"noise ±1 sd{about}", "released", width=width, color=color, fill=fill)


def _is_hidden(view: View, sd: Array, size: float) -> bool:
    """Whether the noise of every centre is smaller than its mark of a diameter ``size``."""
    low, high = np.array(view.range).T
    at = LabelBoxes(low, high).pixels(low + sd.max() * view.scale)
    return bool(at[0 if view.flat else slice(None)].max() < size / 2)


def add_reference(canvas: PlotCanvas, centers: Array) -> None:
    """k-means++ centres: open diamonds.

    ``centers`` (k, d), of k-means++, unit coordinates.
    """
    mark = make_reference_marker(canvas.palette, choose_marks(len(centers)).size)
    hover = "k-means++ (revealed)<br>%{x:.4g}, %{y:.4g}"
    canvas.marks(canvas.view.plane(centers, "reference"), "k-means++", "revealed", mark, hover=hover)


def add_refused(canvas: PlotCanvas) -> None:
    """The answer of a private test that did not pass, over centres that know no data."""
    font = {"size": _REFUSED_SIZE, "color": canvas.color("released", 0.55)}
    canvas.note("refused (⊥)", 0.5, 0.5, {"xref": "paper", "yref": "paper", "font": font})


def add_displacements(canvas: PlotCanvas, centers: Array, partners: Array) -> None:
    """A thin grey arrow from each k-means++ centre to the released one that is matched to it, where it is far.

    ``centers`` (k, d), released, unit coordinates; ``partners`` (k, d), the centre of k-means++ for each, unit
    coordinates.
    """
    start, end = canvas.view.plane(partners, "reference"), canvas.view.plane(centers)
    far = ~find_near(canvas.view, centers, partners)
    if far.any():
        standoff = np.full(int(far.sum()), choose_marks(len(centers)).size / 2)
        canvas.arrows(start[far], end[far], "displacement", width=1.5, head=9, standoff=standoff)


def find_near(view: View, centers: Array, partners: Array, times: float = 1.0) -> npt.NDArray[np.bool_]:
    """Which centres lie so near their partners, on the picture, that an arrow between them would hide.

    ``times`` is how many times as far they may be apart.

    ``centers`` (k, d), released, unit coordinates; ``partners`` (k, d), the centre of k-means++ for each, unit
    coordinates. Returns (k,), which do.
    """
    gaps = (view.plane(centers) - view.plane(partners)) / np.ptp(np.array(view.extent), axis=1)
    close: npt.NDArray[np.bool_] = np.linalg.norm(gaps, axis=1) <= times * _SHORT
    return close


def add_ghosts(canvas: PlotCanvas, ghosts: tuple[Array, ...]) -> None:
    """Centres of earlier draws: faint small dots.

    ``ghosts`` (k, d), of earlier draws, unit coordinates.
    """
    if ghosts:
        places = canvas.view.plane(np.concatenate(ghosts))
        canvas.marks(places, "earlier draws", "released", {"size": 5}, strength=_GHOST)


def find_partners(centers: Array, reference: Array) -> Array:
    """The k-means++ centre that each of ``centers`` (k, d) belongs to, one to one.

    What is far costs hardly more than what is half-way: of two that changed places with a missed one in between, one
    goes far and the other stays, rather than each moving a little.

    ``centers`` (k, d), released, unit coordinates; ``reference`` (k, d), centres of k-means++, unit coordinates.
    """
    away = np.linalg.norm(centers[:, None, :] - reference[None, :, :], axis=2)
    gaps = size_estimates.measure_neighbour_gaps(reference) if len(reference) > 1 else np.ones(1)
    cost = away / np.maximum(away + _HALF * gaps, _TINY)
    partners: Array = reference[linear_sum_assignment(cost)[1]]
    return partners


def find_boxes(view: View, *places: Array) -> Array:
    """Boxes (m, 4) on the map around points of ``places`` (m, d) each: left, bottom, right, top in drawn units.

    ``*places``: unit coordinates.
    """
    air = _AROUND * np.ptp(np.array(view.extent), axis=1)
    drawn = np.stack([view.plane(some) for some in places])
    return np.column_stack([drawn.min(axis=0) - air, drawn.max(axis=0) + air])
