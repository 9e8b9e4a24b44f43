"""Centres on the plane: small numbered marks, the cells around them, the noise on them, and those of k-means++."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.optimize import linear_sum_assignment

from dpviz.arrays import Array, Codes
from dpviz.charts.canvas import NUMBER_SIZE
from dpviz.charts.cells import joined, segments, voronoi_polygons
from dpviz.charts.labels import Crowd
from dpviz.charts.sheet import UNCUT, Sheet
from dpviz.charts.theme import center_marker, reference_marker
from dpviz.charts.tints import hues_of
from dpviz.charts.view import View
from dpviz.runs.found import neighbour_gaps


class Marks(NamedTuple):
    """How large centres are drawn, in pixels.

    Parameters
    ----------
    size : float
        Diameter of a centre and of a diamond.
    number : int or None
        Font size of the number beside a centre; None where there are too many.
    """

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


def marks_of(k: int) -> Marks:
    """The marks of ``k`` centres: smaller where there are many, and without numbers in a crowd.

    >>> marks_of(15).size, marks_of(64).number, marks_of(500).number
    (11, 10, None)
    """
    return next((marks for most, marks in _MARKS.items() if k <= most), _MARKS_OF_A_CROWD)


def hues(view: View, centers: Array, final: Array | None) -> Codes:
    """Which of four colours each centre has: those of the map of the ``final`` centres, where these are as many."""
    known = final is not None and final.shape == centers.shape
    return hues_of(view.plane(final if known and final is not None else centers) / view.scale)


def add_cells(sheet: Sheet, centers: Array, final: Array | None = None, *, tinted: bool = True) -> None:
    """Voronoi cells, where the plane shows every axis; elsewhere they would not be what is seen.

    ``tinted`` cells have one of four colours, so that neighbours differ.
    """
    view = sheet.view
    if not view.whole:
        return
    if view.flat:
        walls = np.sort(centers[:, 0])
        border = view.plane(((walls[1:] + walls[:-1]) / 2)[:, None])[:, 0]
        low, high = (np.column_stack([border, np.full(len(border), height)]) for height in view.extent[1])
        sheet.lines(segments(low, high), "", None, strength=0.4)
        return
    polygons = [view.plane(polygon) for polygon in voronoi_polygons(centers, view.region.half)]
    if not tinted:
        sheet.lines(joined(polygons), "", None, strength=0.4)
        return
    palette, hue = sheet.palette, hues(view, centers, final)
    for color, tint in enumerate(palette.tints):
        mine = [polygon for polygon, of in zip(polygons, hue, strict=True) if of == color]
        if mine:
            fill = palette.faded(tint, palette.tint_strength)
            sheet.lines(joined(mine), "", None, color=palette.surface, width=2.0, fill=fill)


def add_centers(
    sheet: Sheet,
    centers: Array,
    *,
    final: Array | None = None,
    away: Array | None = None,
    sizes: Array | None = None,
    notes: list[str] | None = None,
) -> None:
    """Filled circles in the colours of their cells, numbered on the side that is free.

    ``away`` (k, d) are the places that numbers keep away from; ``notes`` is what hovering tells.
    """
    view, palette, k = sheet.view, sheet.palette, len(centers)
    marks, places = marks_of(k), view.plane(centers)
    inks = [palette.inks[hue] for hue in hues(view, centers, final)]
    listed = [str(i + 1) for i in range(k)]
    numbers = {}
    if marks.number is not None:
        crowd = Crowd(*np.array(view.range).T)
        crowd.takes(places, marks.size)
        free = np.zeros_like(places)
        if away is not None:
            crowd.takes(view.plane(away, "reference"), marks.size)
            free = places - view.plane(away, "reference")
        sides = crowd.places(listed, places, free, size=marks.size, font=marks.number)
        numbers = {
            "text": [number if side else "" for number, side in zip(listed, sides, strict=True)],
            "textposition": [side or "top right" for side in sides],
            "textfont": {"size": marks.number, "color": inks, "weight": 700, "shadow": sheet.palette.halo},
        }
    sheet.marks(
        places,
        "centres",
        "released",
        center_marker(palette, inks, marks.size) | ({} if sizes is None else {"size": sizes}),
        hover="%{customdata}" if notes else "centre %{customdata} (released)",
        notes=notes or listed,
        trace={"mode": "markers+text" if numbers else "markers", **UNCUT, **numbers, "uid": "centres"},
    )


def add_halos(sheet: Sheet, centers: Array, sd: Array) -> None:
    """One standard deviation of the noise on a coordinate, around each centre; never more than the whole domain."""
    palette, flat = sheet.palette, sheet.view.flat
    radii = np.minimum(sd, sheet.view.region.diameter)
    color, fill = palette.faded(palette.text, 0.45), palette.faded(palette.text, 0.08)
    places, width = sheet.view.plane(centers), 6.0 if flat else 1.0
    name = "noise ±1 sd" + (", tiny" if _hidden(sheet.view, sd, marks_of(len(centers)).size) else "")
    sheet.halos(places, radii, name, "released", width=width, color=color, fill=fill)


def _hidden(view: View, sd: Array, size: float) -> bool:
    """Whether the noise of every centre is smaller than its mark of a diameter ``size``."""
    low, high = np.array(view.range).T
    at = Crowd(low, high).pixels(low + sd.max() * view.scale)
    return bool(at[0 if view.flat else slice(None)].max() < size / 2)


def add_reference(sheet: Sheet, centers: Array) -> None:
    """k-means++ centres: open diamonds."""
    mark = reference_marker(sheet.palette, marks_of(len(centers)).size)
    hover = "k-means++ (revealed)<br>%{x:.4g}, %{y:.4g}"
    sheet.marks(sheet.view.plane(centers, "reference"), "k-means++", "revealed", mark, hover=hover)


def add_refused(sheet: Sheet) -> None:
    """The answer of a private test that did not pass, over centres that know no data."""
    font = {"size": _REFUSED_SIZE, "color": sheet.color("released", 0.55)}
    sheet.note("refused (⊥)", 0.5, 0.5, {"xref": "paper", "yref": "paper", "font": font})


def add_displacements(sheet: Sheet, centers: Array, partners: Array) -> None:
    """A thin grey arrow from each k-means++ centre to the released one that is matched to it, where it is far."""
    start, end = sheet.view.plane(partners, "reference"), sheet.view.plane(centers)
    far = ~near(sheet.view, centers, partners)
    if far.any():
        standoff = np.full(int(far.sum()), marks_of(len(centers)).size / 2)
        sheet.arrows(start[far], end[far], "displacement", width=1.5, head=9, standoff=standoff)


def near(view: View, centers: Array, partners: Array, times: float = 1.0) -> npt.NDArray[np.bool_]:
    """Which centres lie so near their partners, on the picture, that an arrow between them would hide.

    ``times`` is how many times as far they may be apart.
    """
    gaps = (view.plane(centers) - view.plane(partners)) / np.ptp(np.array(view.extent), axis=1)
    close: npt.NDArray[np.bool_] = np.linalg.norm(gaps, axis=1) <= times * _SHORT
    return close


def add_ghosts(sheet: Sheet, ghosts: tuple[Array, ...]) -> None:
    """Centres of earlier draws: faint small dots."""
    if ghosts:
        places = sheet.view.plane(np.concatenate(ghosts))
        sheet.marks(places, "earlier draws", "released", {"size": 5}, strength=_GHOST)


def partners_of(centers: Array, reference: Array) -> Array:
    """The k-means++ centre that each of ``centers`` (k, d) belongs to, one to one.

    What is far costs hardly more than what is half-way: of two that changed places with a missed one in between, one
    goes far and the other stays, rather than each moving a little.
    """
    away = np.linalg.norm(centers[:, None, :] - reference[None, :, :], axis=2)
    gaps = neighbour_gaps(reference) if len(reference) > 1 else np.ones(1)
    cost = away / np.maximum(away + _HALF * gaps, _TINY)
    partners: Array = reference[linear_sum_assignment(cost)[1]]
    return partners


def boxes_around(view: View, *places: Array) -> Array:
    """Boxes (m, 4) on the map around points of ``places`` (m, d) each: left, bottom, right, top in drawn units."""
    air = _AROUND * np.ptp(np.array(view.extent), axis=1)
    drawn = np.stack([view.plane(some) for some in places])
    return np.column_stack([drawn.min(axis=0) - air, drawn.max(axis=0) + air])
