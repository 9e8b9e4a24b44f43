"""Centres on the plane: how many rows each was measured to hold, how far noise may have moved it, where it belongs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

import numpy as np
import pandas as pd

from dpviz.algorithms.baselines.kmeans_plus_plus import ReferenceStep
from dpviz.algorithms.steps import CentersStep, Step
from dpviz.arrays import Array
from dpviz.charts.cells import segments
from dpviz.charts.picture import Companion, Look, Picture, columns_of, points_table, told_of
from dpviz.charts.pictures.center_bars import Distances, Sizes
from dpviz.charts.pictures.center_marks import (
    add_cells,
    add_centers,
    add_displacements,
    add_ghosts,
    add_halos,
    add_reference,
    add_refused,
    marks_of,
    near,
    partners_of,
)
from dpviz.charts.sheet import Sheet
from dpviz.charts.theme import Kind
from dpviz.charts.wording import clauses, count, number, opening, percent, ratio, things
from dpviz.runs.found import FOUND_RULE, Found
from dpviz.runs.verdict import evidence_of
from dpviz.table.domain import Domain

# Ends that are told even where truth is shown, if the loss is so many times that of k-means++ or not known.
_BAD_ENDS, _LOST = ("refused", "dropped", "failed", "edge"), 1.5
_UNTOLD = "whose noise cannot be told"


class CentersPicture(Picture[CentersStep]):
    """Released centres over their cells; with a reference, each tied to the k-means++ centre it is matched to."""

    called = "centres"

    counts_clusters: ClassVar[bool] = True
    """Whether the title may say how many clusters of the reference are found."""

    def finding(self, domain: Domain) -> str:
        return opening(self._noise(domain))

    def title(self, look: Look) -> str:
        at = f"At ε = {look.epsilon:g}, " if look.epsilon is not None else ""
        at = at if look.last(self.step) else "So far, "
        verdict = look.verdict if look.last(self.step) else None
        lost = look.ratio(self.step.centers) if look.ratio is not None and look.last(self.step) else None
        if verdict is not None and verdict.kind in _BAD_ENDS and (lost is None or lost >= _LOST):
            return opening(at + verdict.title)
        if look.reference is not None and len(look.reference.centers) == len(self.step.centers) == 1:
            return opening(at + _lone(self.step.centers, look.reference.centers))
        found = self._found(look)
        if found is not None:
            return opening(at + found_words(found))
        if lost is not None:
            return opening(f"{at}the loss is {ratio(lost)} that of k-means++")
        if verdict is not None and not verdict.fine:
            return opening(at + verdict.title)
        if verdict is not None and verdict.error is not None and not self.step.released:
            return opening(f"{at}noise moves a centre {of_width(verdict.error)}")
        if self._solved(look):
            return opening(f"{things(len(self.step.centers), 'centre')} {_UNTOLD}")
        return opening((at if self.step.center_noise_sd is not None else "") + self._noise(look.view.domain))

    def note(self, look: Look) -> str:
        step, view = self.step, look.view
        marks = marks_of(len(step.centers))
        verdict = look.verdict if look.last(step) else None
        return clauses(
            "refused (⊥)" if verdict is not None and verdict.kind == "refused" else "",
            self._farthest(look),
            view.about,
            FOUND_RULE if self._found(look) is not None else "",
            "" if view.whole else "cells not drawn",
            self._outside(look),
            "numbers on hover" if marks.number is None else "",
        )

    def paint(self, sheet: Sheet, look: Look) -> None:
        step, view = self.step, sheet.view
        sheet.rows(look.reveal)
        add_cells(sheet, step.centers, look.final)
        if step.center_noise_sd is not None:
            add_halos(sheet, step.centers, step.center_noise_sd)
        if step.previous is not None:
            # A move shorter than a mark hides under it.
            far = ~near(view, step.centers, step.previous, 0.5)
            moves = segments(view.plane(step.previous, "previous")[far], view.plane(step.centers)[far])
            if far.any():
                sheet.lines(moves, "last move", "released", strength=0.55, width=1.5, dash="dot")
        if look.last(step):
            add_ghosts(sheet, look.ghosts)
        partners = self._partners(look)
        if look.reference is not None:
            if partners is not None:
                add_displacements(sheet, step.centers, partners)
            add_reference(sheet, look.reference.centers)
        notes = told_of(step.centers, view.domain, "centre", {"noisy count": step.noisy_counts})
        add_centers(sheet, step.centers, final=look.final, away=partners, notes=notes)
        if look.last(step) and look.verdict is not None and look.verdict.kind == "refused":
            add_refused(sheet)
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
        if self._partners(look) is not None and look.reference is not None and len(self.step.centers) > 1:
            yield Companion("Distances", Distances(self.step, look.reference.centers), "revealed")
        if self.step.noisy_counts is not None:
            yield Companion("Sizes", Sizes(self.step))
        if look.reference is not None or look.reference_coming:
            centers = np.zeros((0, self.step.centers.shape[1])) if look.reference is None else look.reference.centers
            step = ReferenceStep(title="k-means++: the rows themselves, no privacy", centers=centers)
            yield Companion("k-means++", ReferencePicture(step), "revealed")

    def _found(self, look: Look) -> Found | None:
        """How many clusters are found, where there are clusters to be counted: one alone is told by its distance."""
        return look.clusters_found(self.step.centers) if self.counts_clusters else None

    def _partners(self, look: Look) -> Array | None:
        """The k-means++ centres that the centres belong to, one to one; None where pairs would say nothing.

        They say nothing where nobody knows how many clusters there are: the title then tells the loss instead.
        """
        if look.reference is None or len(look.reference.centers) != len(self.step.centers):
            return None
        known = look.ratio is None or look.clusters_found(self.step.centers) is not None
        reference, step = look.reference, self.step
        return look.once(("pairs", id(step)), lambda: partners_of(step.centers, reference.centers)) if known else None

    def _farthest(self, look: Look) -> str:
        """Which centre is farthest from where it was, if nothing else says which one is farthest off."""
        step, partners = self.step, self._partners(look)
        if len(step.centers) < 2:
            return ""
        if partners is not None:
            # What stands beside the picture names it.
            return ""
        if step.previous is None or step.previous.shape != step.centers.shape:
            return ""
        moved = np.linalg.norm(step.centers - step.previous, axis=1)
        if not moved.any():
            return ""
        return f"moved farthest: centre {int(moved.argmax()) + 1}, {of_width(float(moved.max()))}"

    @staticmethod
    def _beyond(look: Look, points: Array, what: str) -> str:
        beyond = look.view.beyond(points) if len(points) else 0
        return f"{things(beyond, what)} outside the picture" if beyond else ""

    def _outside(self, look: Look) -> str:
        theirs = "" if look.reference is None else self._beyond(look, look.reference.centers, "centre of k-means++")
        rows = 0.0 if look.reveal is None else look.view.beyond(look.reveal.points) / max(1, len(look.reveal.points))
        return clauses(
            self._beyond(look, self.step.centers, "centre"),
            theirs.replace("centre of k-means++s", "centres of k-means++"),
            f"{percent(rows)} of the rows outside the picture" if rows else "",
        )

    def _solved(self, look: Look) -> bool:
        """Whether a solver placed the centres on noisy points: what noise did to them is more than it says."""
        place = next((i for i, other in enumerate(look.steps) if other is self.step), 0)
        return place > 0 and type(look.steps[place - 1]).__name__ == "StartsStep" and self.step.count_noise_sd is None

    def _noise(self, domain: Domain) -> str:
        """What noise does to the centres, from released values alone: all of it, over the least size that is likely."""
        step, seen = self.step, evidence_of((self.step,), domain.region)
        k = len(self.step.centers)
        if step.center_noise_sd is None:
            return f"{things(k, 'centre')} {'placed before any row is read' if step.public else _UNTOLD}"
        if seen is None or seen.errors is None:
            return f"{things(k, 'centre')} {_UNTOLD}"
        if step.released and k > 1:
            return f"noise moves a centre {percent(float(np.median(seen.errors / seen.gaps)))} toward the next"
        lost = int(seen.lost.sum())
        if lost:
            return f"{count(lost)} of {things(k, 'centre')} {'is' if lost == 1 else 'are'} lost in noise"
        return f"noise moves a centre {of_width(float(np.median(seen.errors)))}"


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
    return f"the centre lies {of_width(away)} from k-means++"


def of_width(length: float) -> str:
    """A length, unit coordinates, as a part of the width of the domain.

    >>> of_width(0.01)
    '0.5 % of the width'
    """
    return f"{percent(length / 2)} of the width"
