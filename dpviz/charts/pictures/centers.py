"""Centres on the plane: how many rows each was measured to hold, how far noise may have moved it, where it belongs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar, NamedTuple

import numpy as np
import pandas as pd

from dpviz.algorithms.baselines.kmeans_plus_plus import ReferenceStep
from dpviz.algorithms.steps import CentersStep, Step
from dpviz.arrays import Array
from dpviz.charts.canvas import NUMBER_SIZE, ink_on
from dpviz.charts.cells import joined, segments, voronoi_polygons
from dpviz.charts.picture import Companion, Look, Picture, columns_of, points_table, told_of
from dpviz.charts.sheet import UNCUT, Sheet
from dpviz.charts.theme import CLUSTER_MARKS, Kind, center_marker, reference_marker
from dpviz.charts.wording import clauses, count, number, opening, percent, things
from dpviz.runs.evaluation import match
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
# Where counts are not known, marks are this part of the way from the smallest to the largest.
_UNMEASURED = 0.2
# The share of the gap to its nearest neighbour at which noise may carry a centre to somebody else's place.
_HALF_WAY = 0.5
_UNCOUNTED = ", and no row has been counted in their cells"


class CentersPicture(Picture[CentersStep]):
    """Released centres over their cells; with a reference, each tied to the k-means++ centre it is matched to."""

    called = "centres"

    counts_clusters: ClassVar[bool] = True
    """Whether the title may say how many clusters of the reference are found."""

    def finding(self, domain: Domain) -> str:
        return opening(self._noise(""))

    def title(self, look: Look) -> str:
        at = f"At ε = {look.epsilon:g}, " if look.epsilon is not None else ""
        if look.reference is not None and len(look.reference.centers) == len(self.step.centers) == 1:
            return opening(at + _lone(self.step.centers, look.reference.centers))
        found = self._found(look)
        return opening(self._noise(at) if found is None else at + found_words(found))

    def note(self, look: Look) -> str:
        unseen = "" if look.view.whole else "cells not drawn"
        crowd = "numbers on hover" if marks_of(len(self.step.centers)).number is None else ""
        beyond = look.view.beyond(self.step.centers)
        outside = f"{things(beyond, 'centre')} outside the picture" if beyond else ""
        rule = FOUND_RULE if self._found(look) is not None else ""
        return clauses(self.step.title, rule, look.view.about, unseen, outside, crowd)

    def paint(self, sheet: Sheet, look: Look) -> None:
        step, view = self.step, sheet.view
        sheet.rows(look.reveal)
        add_cells(sheet, step.centers)
        if step.center_noise_sd is not None:
            add_halos(sheet, step.centers, step.center_noise_sd)
        if step.previous is not None:
            moves = segments(view.plane(step.previous, "previous"), view.plane(step.centers))
            sheet.lines(moves, "last move", "released", strength=0.55, width=1.5, dash="dot")
        sizes = center_sizes(step)
        if look.reference is not None:
            _add_displacements(sheet, step.centers, look.reference.centers, sizes)
            add_reference(sheet, look.reference.centers)
        notes = told_of(step.centers, view.domain, "centre", {"noisy count": step.noisy_counts})
        add_centers(sheet, step.centers, sizes, notes=notes)
        sheet.plane()

    def table(self, domain: Domain) -> pd.DataFrame:
        table = points_table(self.step.centers, domain, "centre")
        if self.step.noisy_counts is not None:
            table["noisy count"] = self.step.noisy_counts
        if self.step.center_noise_sd is not None:
            table["noise sd (unit coordinates)"] = self.step.center_noise_sd
        return table

    def words(self, domain: Domain) -> str:
        counts = self.step.noisy_counts
        centers = things(len(self.step.centers), "released centre")
        text = f"{opening(centers)} over {columns_of(domain)}. {self.finding(domain)}."
        if counts is not None:
            text += f" Noisy counts run from {number(float(counts.min()))} to {number(float(counts.max()))}."
        return text

    def companions(self, look: Look, steps: Sequence[Step]) -> Iterator[Companion]:
        if look.reference is not None or look.reference_coming:
            centers = np.zeros((0, self.step.centers.shape[1])) if look.reference is None else look.reference.centers
            step = ReferenceStep(title="k-means++: the rows themselves, no privacy", centers=centers)
            yield Companion("k-means++", ReferencePicture(step), "revealed")

    def _found(self, look: Look) -> Found | None:
        """How many clusters are found, where there are clusters to be counted: one alone is told by its distance."""
        if not self.counts_clusters or look.reference is None or look.found is None:
            return None
        found = look.found(self.step.centers)
        return found if found is not None and found.clusters > 1 else None

    def _noise(self, at: str) -> str:
        """What noise does to the centres, from released values alone."""
        step = self.step
        k = len(self.step.centers)
        if step.center_noise_sd is None:
            untold = ": how far noise moved them is not told" if step.released else _UNCOUNTED
            return things(k, "centre") + untold
        gaps = neighbour_gaps(step.centers)
        if step.released and k > 1:
            part = percent(float(np.median(step.center_noise_sd / gaps)))
            return f"{at}noise moves a typical centre by {part} of the way to its neighbour"
        lost = int((step.center_noise_sd > _HALF_WAY * gaps).sum()) if k > 1 else 0
        if lost:
            return f"{at}noise reaches half-way to a neighbour of {things(lost, 'centre')}"
        typical = number(float(np.median(step.center_noise_sd)) / 2 * 100)
        return f"{at}noise moves a typical centre by {typical} % of the width"


class ReferencePicture(Picture[ReferenceStep]):
    """The non-private reference on its own: open diamonds over their cells, marked as revealed."""

    called = "k-means++"

    def finding(self, domain: Domain) -> str:
        if len(self.step.centers) == 0:
            return "k-means++ is being computed and will appear here"
        return opening(f"{things(len(self.step.centers), 'centre')} of k-means++, without any privacy")

    def note(self, look: Look) -> str:
        return clauses("computed from the rows themselves: revealed, never a release", look.view.about)

    def paint(self, sheet: Sheet, look: Look) -> None:
        sheet.rows(look.reveal)
        if len(self.step.centers):
            add_cells(sheet, self.step.centers, tinted=False)
            add_reference(sheet, self.step.centers)
        sheet.plane()

    def table(self, domain: Domain) -> pd.DataFrame:
        return points_table(self.step.centers, domain, "centre")

    def words(self, domain: Domain) -> str:
        return f"{self.finding(domain)} over {columns_of(domain)}: revealed, never a release."

    @property
    def kind(self) -> Kind:
        return "revealed"


def add_cells(sheet: Sheet, centers: Array, *, tinted: bool = True) -> None:
    """Voronoi cells, where the plane shows every axis; elsewhere they would not be what is seen.

    ``tinted`` cells carry the colour of their centre, where colours tell centres apart.
    """
    view = sheet.view
    k = len(centers)
    if not view.whole:
        return
    if view.flat:
        walls = np.sort(centers[:, 0])
        border = view.plane(((walls[1:] + walls[:-1]) / 2)[:, None])[:, 0]
        low, high = (np.column_stack([border, np.full(len(border), height)]) for height in view.extent[1])
        sheet.lines(segments(low, high), "", None, strength=0.4)
        return
    polygons = [view.plane(polygon) for polygon in voronoi_polygons(centers, view.region.half)]
    if tinted and k <= len(CLUSTER_MARKS):
        for i, polygon in enumerate(polygons):
            tint = sheet.palette.faded(sheet.palette.cluster(i, k).color, 0.12)
            sheet.lines(polygon, "", None, color=sheet.palette.grid, fill=tint)
    sheet.lines(joined(polygons), "", None, strength=0.4)


def add_reference(sheet: Sheet, centers: Array) -> None:
    """k-means++ centres: open diamonds."""
    mark = reference_marker(sheet.palette, marks_of(len(centers)).reference) | {"line": {"width": 1.6}}
    hover = "k-means++ (revealed)<br>%{x:.4g}, %{y:.4g}"
    sheet.marks(sheet.view.plane(centers, "reference"), "k-means++", "revealed", mark, hover=hover)


def marks_of(k: int) -> Marks:
    """The marks of ``k`` centres: smaller where there are many, and without numbers in a crowd.

    >>> marks_of(15).number, marks_of(64).number
    (11, None)
    """
    return next((marks for most, marks in _MARKS.items() if k <= most), _MARKS_OF_A_CROWD)


def add_centers(sheet: Sheet, centers: Array, sizes: Array | float, *, notes: list[str] | None = None) -> None:
    """Filled circles with their numbers (in a crowd, on hover), large ones first so that small ones stay visible."""
    k, number_size, sizes = len(centers), marks_of(len(centers)).number, np.broadcast_to(sizes, len(centers))
    order = np.argsort(-sizes, kind="stable")
    colors = [sheet.palette.cluster(int(i), k).color for i in order]
    inks = {"size": number_size or NUMBER_SIZE, "color": [ink_on(color) for color in colors]}
    sheet.marks(
        sheet.view.plane(centers)[order],
        "centres",
        "released",
        center_marker(sheet.palette, colors) | {"size": sizes[order]},
        hover="" if notes else "centre %{text}",
        notes=[notes[i] for i in order] if notes else None,
        trace={
            **{"mode": "markers+text" if number_size else "markers", **UNCUT},
            **{"text": [str(i + 1) for i in order], "textfont": inks},
        },
    )


def center_sizes(step: CentersStep) -> Array:
    """Marker diameters in pixels: the area grows with the noisy count."""
    counts = step.noisy_counts
    low, high, *_ = marks_of(len(step.centers))
    if counts is None:
        return np.full(len(step.centers), low + _UNMEASURED * (high - low))
    size = np.sqrt(np.maximum(counts, 0))
    sizes: Array = low + (high - low) * size / max(float(size.max()), 1e-9)
    return sizes


def add_halos(sheet: Sheet, centers: Array, sd: Array) -> None:
    """One standard deviation of the noise on a coordinate, around each centre; never more than the whole domain."""
    radii = np.minimum(sd, sheet.view.region.diameter)
    width = 6.0 if sheet.view.flat else 0.8
    fill = sheet.color("released", 0.14)
    sheet.halos(sheet.view.plane(centers), radii, "noise ±1 sd", "released", strength=0.5, width=width, fill=fill)


def found_words(found: Found) -> str:
    """How many clusters were found.

    >>> found_words(Found(0, 5)), found_words(Found(2, 15)), found_words(Found(15, 15))
    ('none of five clusters is found', 'two of 15 clusters are found', 'all 15 clusters are found')
    """
    every = things(found.clusters, "cluster")
    if found.found == found.clusters:
        return f"all {every} are found"
    return f"{count(found.found) if found.found else 'none'} of {every} {'are' if found.found > 1 else 'is'} found"


def _lone(centers: Array, reference: Array) -> str:
    away = float(np.linalg.norm(centers[0] - reference[0]))
    return f"the centre lies {number(away)} (unit coordinates) from that of k-means++"


def _add_displacements(sheet: Sheet, centers: Array, reference: Array, sizes: Array) -> None:
    """A thin grey arrow from each k-means++ centre to the released centre that it is matched to."""
    if len(reference) == len(centers):
        start = sheet.view.plane(reference, "reference")[match(centers, reference)]
        head = min(8.0, marks_of(len(centers)).smallest)
        sheet.arrows(start, sheet.view.plane(centers), "displacement", width=1.2, head=head, standoff=sizes / 2)
