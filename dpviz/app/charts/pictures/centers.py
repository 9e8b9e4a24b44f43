"""Centres on the plane: how many rows each was measured to hold, how far noise may have moved it, where it belongs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from dpviz.algorithms import CentersStep, ReferenceStep, Step, size_estimates
from dpviz.app.charts.canvas import NUMBER_SIZE, SCREEN
from dpviz.app.charts.cells import outline_segments
from dpviz.app.charts.picture import (
    Companion,
    Drawing,
    Picture,
    RenderContext,
    describe_step,
    format_columns,
    tabulate_points,
)
from dpviz.app.charts.pictures.center_marks import (
    add_cells,
    add_centers,
    add_displacements,
    add_ghosts,
    add_halos,
    add_reference,
    add_refused,
    choose_hues,
    choose_marks,
    find_boxes,
    find_near,
    find_partners,
)
from dpviz.app.charts.plot_canvas import LINKED, PlotCanvas
from dpviz.core import Array, Codes, Domain
from dpviz.runs import collect_evidence, evaluation
from dpviz.words import (
    Kind,
    capitalize_first,
    format_count,
    format_number,
    format_percent,
    format_ratio,
    format_things,
    join_clauses,
)

# Ends that are told even where truth is shown, if the loss is so many times that of k-means++ or not known.
_BAD_ENDS, _LOST = ("refused", "dropped", "failed", "edge"), 1.5
_UNTOLD = "whose noise cannot be told"


class CentersPicture(Picture[CentersStep]):
    """Released centres over their cells; with a reference, each tied to the k-means++ centre it is matched to."""

    called = "centres"

    counts_clusters: ClassVar[bool] = True
    """Whether the title may say how many clusters of the reference are found."""

    def finding(self, domain: Domain) -> str:
        return capitalize_first(self._noise(domain))

    def title(self, context: RenderContext) -> str:
        at = f"At ε = {context.epsilon:g}, " if context.epsilon is not None else ""
        at = at if context.is_last(self.step) else "So far, "
        verdict = context.verdict if context.is_last(self.step) else None
        lost = context.ratio(self.step.centers) if context.ratio is not None and context.is_last(self.step) else None
        if verdict is not None and verdict.kind in _BAD_ENDS and (lost is None or lost >= _LOST):
            return capitalize_first(at + verdict.title)
        if context.reference is not None and len(context.reference.centers) == len(self.step.centers) == 1:
            return capitalize_first(at + _describe_lone(self.step.centers, context.reference.centers))
        found = self._measure_recovery(context)
        if found is not None:
            return capitalize_first(at + describe_recovery(found))
        if lost is not None:
            return capitalize_first(f"{at}the loss is {format_ratio(lost)} that of k-means++")
        if verdict is not None and not verdict.fine:
            return capitalize_first(at + verdict.title)
        if verdict is not None and verdict.error is not None and not self.step.released:
            return capitalize_first(f"{at}noise moves a centre {format_width(verdict.error)}")
        if self._is_solved(context):
            return capitalize_first(self._least_noise(context.view.domain))
        return capitalize_first(
            (at if self.step.center_noise_sd is not None else "") + self._noise(context.view.domain)
        )

    def note(self, context: RenderContext) -> str:
        step, view = self.step, context.view
        marks = choose_marks(len(step.centers))
        verdict = context.verdict if context.is_last(step) else None
        return join_clauses(
            "refused (⊥)" if verdict is not None and verdict.kind == "refused" else "",
            self._farthest(context),
            view.about,
            evaluation.FOUND_RULE if self._measure_recovery(context) is not None else "",
            "" if view.whole else "cells not drawn",
            self._outside(context),
            "numbers on hover" if marks.number is None else "",
        )

    def paint(self, canvas: PlotCanvas, context: RenderContext) -> None:
        step, view = self.step, canvas.view
        canvas.rows(context.reveal)
        add_cells(canvas, step.centers, context.final)
        if step.center_noise_sd is not None:
            sizes = size_estimates.estimate_sizes((step,))
            doubtful = sizes is not None and bool(sizes.unclear.any())
            at_least = self._is_solved(context)
            add_halos(canvas, step.centers, step.center_noise_sd, doubtful=doubtful, at_least=at_least)
        if step.previous is not None:
            # A move shorter than a mark hides under it.
            far = ~find_near(view, step.centers, step.previous, 0.5)
            moves = outline_segments(view.plane(step.previous, "previous")[far], view.plane(step.centers)[far])
            if far.any():
                canvas.lines(moves, "last move", "released", strength=0.55, width=1.5, dash="dot")
        if context.is_last(step):
            add_ghosts(canvas, context.ghosts)
        partners = self._partners(context)
        if context.reference is not None:
            if partners is not None:
                add_displacements(canvas, step.centers, partners)
            add_reference(canvas, context.reference.centers)
        notes = describe_step(step.centers, view.domain, "centre", {"noisy count": step.noisy_counts})
        add_centers(canvas, step.centers, final=context.final, away=partners, notes=notes)
        if context.is_last(step) and context.verdict is not None and context.verdict.kind == "refused":
            add_refused(canvas)
        canvas.plane()

    def table(self, domain: Domain) -> pd.DataFrame:
        table = tabulate_points(self.step.centers, domain, "centre")
        if self.step.noisy_counts is not None:
            table["noisy count"] = self.step.noisy_counts
        if self.step.center_noise_sd is not None:
            table["noise sd (unit coordinates)"] = self.step.center_noise_sd
        return table

    def words(self, domain: Domain) -> str:
        counts = self.step.noisy_counts
        centers = format_things(len(self.step.centers), "released centre")
        text = f"{capitalize_first(centers)} over {format_columns(domain)}. {self.finding(domain)}."
        if counts is not None:
            text += (
                f" Noisy counts run from {format_number(float(counts.min()))} to {format_number(float(counts.max()))}."
            )
        return text

    def companions(self, context: RenderContext, steps: Sequence[Step]) -> Iterator[Companion]:
        if self._partners(context) is not None and context.reference is not None and len(self.step.centers) > 1:
            yield Companion("Distances", SeedDistances(self.step, context.reference.centers), "revealed")
        if self.step.noisy_counts is not None:
            yield Companion("Sizes", CenterSizes(self.step))
        if context.reference is not None or context.reference_coming:
            centers = (
                np.zeros((0, self.step.centers.shape[1])) if context.reference is None else context.reference.centers
            )
            step = ReferenceStep(title="k-means++: the rows themselves, no privacy", centers=centers)
            yield Companion("k-means++", ReferencePicture(step), "revealed")

    def _measure_recovery(self, context: RenderContext) -> evaluation.ClusterRecovery | None:
        """How many clusters are found, where there are clusters to be counted: one alone is told by its distance."""
        return context.clusters_found(self.step.centers) if self.counts_clusters else None

    def _partners(self, context: RenderContext) -> Array | None:
        """The k-means++ centres that the centres belong to, one to one; None where pairs would say nothing.

        They say nothing where nobody knows how many clusters there are: the title then tells the loss instead.
        """
        if context.reference is None or len(context.reference.centers) != len(self.step.centers):
            return None
        known = context.ratio is None or context.clusters_found(self.step.centers) is not None
        reference, step = context.reference, self.step
        return (
            context.once(("pairs", id(step)), lambda: find_partners(step.centers, reference.centers)) if known else None
        )

    def _farthest(self, context: RenderContext) -> str:
        """Which centre is farthest from where it was, if nothing else says which one is farthest off."""
        step, partners = self.step, self._partners(context)
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
        return f"moved farthest: centre {int(moved.argmax()) + 1}, {format_width(float(moved.max()))}"

    @staticmethod
    def _describe_beyond(context: RenderContext, points: Array, what: str) -> str:
        beyond = context.view.count_beyond(points) if len(points) else 0
        return f"{format_things(beyond, what)} outside the picture" if beyond else ""

    def _outside(self, context: RenderContext) -> str:
        theirs = (
            ""
            if context.reference is None
            else self._describe_beyond(context, context.reference.centers, "centre of k-means++")
        )
        rows = (
            0.0
            if context.reveal is None
            else context.view.count_beyond(context.reveal.points) / max(1, len(context.reveal.points))
        )
        return join_clauses(
            self._describe_beyond(context, self.step.centers, "centre"),
            theirs.replace("centre of k-means++s", "centres of k-means++"),
            f"{format_percent(rows)} of the rows outside the picture" if rows else "",
        )

    def _is_solved(self, context: RenderContext) -> bool:
        """Whether a solver placed the centres on noisy points: what noise did to them is more than it says."""
        place = next((i for i, other in enumerate(context.steps) if other is self.step), 0)
        return (
            place > 0 and type(context.steps[place - 1]).__name__ == "StartsStep" and self.step.count_noise_sd is None
        )

    def _least_noise(self, domain: Domain) -> str:
        """What noise surely does to centres that were solved: it moved the points of each, and whose they are, too."""
        seen = collect_evidence((self.step,), domain.region)
        if seen is None or seen.errors is None:
            return f"{format_things(len(self.step.centers), 'centre')} {_UNTOLD}"
        return f"noise moves a centre at least {format_width(float(np.median(seen.errors)))}"

    def _noise(self, domain: Domain) -> str:
        """What noise does to the centres, from released values alone: all of it, over the least size that is likely."""
        step, seen = self.step, collect_evidence((self.step,), domain.region)
        k = len(self.step.centers)
        if step.center_noise_sd is None:
            return f"{format_things(k, 'centre')} {'placed before any row is read' if step.public else _UNTOLD}"
        if seen is None or seen.errors is None:
            return f"{format_things(k, 'centre')} {_UNTOLD}"
        if step.released and k > 1:
            return f"noise moves a centre {format_percent(float(np.median(seen.errors / seen.gaps)))} toward the next"
        lost = int(seen.lost.sum())
        if lost:
            return f"{format_count(lost)} of {format_things(k, 'centre')} {'is' if lost == 1 else 'are'} lost in noise"
        return f"noise moves a centre {format_width(float(np.median(seen.errors)))}"


class ReferencePicture(Picture[ReferenceStep]):
    """The non-private reference on its own: open diamonds over their cells, marked as revealed."""

    called = "k-means++"

    def finding(self, domain: Domain) -> str:
        if len(self.step.centers) == 0:
            return "k-means++ is being computed and will appear here"
        return capitalize_first(f"{format_things(len(self.step.centers), 'centre')} of k-means++, without any privacy")

    def note(self, context: RenderContext) -> str:
        return join_clauses("computed from the rows themselves: revealed, never a release", context.view.about)

    def paint(self, canvas: PlotCanvas, context: RenderContext) -> None:
        canvas.rows(context.reveal)
        if len(self.step.centers):
            add_cells(canvas, self.step.centers, tinted=False)
            add_reference(canvas, self.step.centers)
        canvas.plane()

    def table(self, domain: Domain) -> pd.DataFrame:
        return tabulate_points(self.step.centers, domain, "centre")

    def words(self, domain: Domain) -> str:
        return f"{self.finding(domain)} over {format_columns(domain)}: revealed, never a release."

    @property
    def kind(self) -> Kind:
        return "revealed"


def describe_recovery(found: evaluation.ClusterRecovery) -> str:
    """How many clusters were found.

    >>> recovered = evaluation.ClusterRecovery
    >>> describe_recovery(recovered(0, 5)), describe_recovery(recovered(2, 15))
    ('none of five clusters is found', 'two of 15 clusters are found')
    >>> describe_recovery(recovered(15, 15))
    'all 15 clusters are found'
    """
    every = format_things(found.clusters, "cluster")
    if found.found == found.clusters:
        return f"all {every} are found"
    return (
        f"{format_count(found.found) if found.found else 'none'} of {every} {'are' if found.found > 1 else 'is'} found"
    )


def _describe_lone(centers: Array, reference: Array) -> str:
    away = float(np.linalg.norm(centers[0] - reference[0]))
    return f"the centre lies {format_width(away)} from k-means++"


def format_width(length: float) -> str:
    """A length, unit coordinates, as a part of the width of the domain.

    >>> format_width(0.01)
    '0.5 % of the width'
    """
    return f"{format_percent(length / 2)} of the width"


# Bars that a companion holds with their numbers.
_MOST = 40
# A centre half-way to the next cluster belongs to neither; bars never reach beyond the whole way, twice over.
_HALF_WAY, _WAY = 0.5, 2.0
_TINY = 1e-12


@dataclass(frozen=True, eq=False)
class SeedDistances(Drawing[CentersStep]):
    """How far each centre is from its k-means++ centre, as a part of the way from there to the next one."""

    reference: Array
    legend_lines = 0

    def parts(self) -> Array:
        """The part of the way of each centre, shape (k,)."""
        centers = self.step.centers
        partners = find_partners(centers, self.reference)
        gaps = np.maximum(size_estimates.measure_neighbour_gaps(partners), _TINY)
        parts: Array = np.linalg.norm(centers - partners, axis=1) / gaps
        return parts

    def finding(self, domain: Domain) -> str:
        parts = self.parts()
        far = int(parts.argmax())
        return f"Farthest off: centre {far + 1}, {format_percent(float(parts[far]))} of the way"

    def note(self, context: RenderContext) -> str:
        some = f"the {_MOST} farthest of {len(self.step.centers)}" if len(self.step.centers) > _MOST else ""
        return join_clauses("the way from k-means++ to its next neighbour", some)

    def paint(self, canvas: PlotCanvas, context: RenderContext) -> None:
        parts = self.parts()
        order = np.argsort(-parts, kind="stable")[:_MOST]
        shown = np.minimum(parts, _WAY)[order]
        partners = find_partners(self.step.centers, self.reference)
        boxes = find_boxes(context.view, self.step.centers, partners)[order]
        told = [f"centre {i + 1}: {format_percent(float(parts[i]))} of the way to a neighbour" for i in order]
        _add_bars(canvas, 100 * shown, order, told, boxes, "distance", "revealed", canvas.palette.revealed)
        line = {"color": canvas.palette.muted, "width": 1.2, "dash": "dot"}
        canvas.plot.add_vline(x=100 * _HALF_WAY, line=line)
        beside = {"xanchor": "right", "yanchor": "bottom", "xshift": -4, "yref": "paper"}
        canvas.note("half-way", 100 * _HALF_WAY, 0, beside)
        reach = max(1.2 * _HALF_WAY, 1.05 * float(shown.max()))
        canvas.plot.update_xaxes(range=[0, 100 * reach], ticksuffix=" %", nticks=5, zeroline=False)
        canvas.plot.update_xaxes(title_text="part of the way to a neighbour")

    def words(self, domain: Domain) -> str:
        return f"{self.finding(domain)} from its k-means++ centre to the next one: revealed, never a release."


@dataclass(frozen=True, eq=False)
class CenterSizes(Drawing[CentersStep]):
    """How many rows each centre was measured to hold in this step, with its noise; a run's sizes join all steps."""

    legend_lines = 0

    @property
    def counts(self) -> Array:
        """The noisy counts, shape (k,)."""
        assert self.step.noisy_counts is not None
        return self.step.noisy_counts

    def finding(self, domain: Domain) -> str:
        low, high = (format_number(float(round(end))) for end in (self.counts.min(), self.counts.max()))
        between = f"Counts from {low} to {high} rows" if low != high else f"All counts: {low} rows"
        noise = self.step.count_noise_sd
        return between if noise is None else f"{between}, each ±{format_number(noise)}"

    def note(self, context: RenderContext) -> str:
        some = f"the {_MOST} largest of {len(self.counts)}" if len(self.counts) > _MOST else ""
        return join_clauses(
            "noisy counts of this step", "strokes: ±1 sd of the noise" if self.step.count_noise_sd else "", some
        )

    def paint(self, canvas: PlotCanvas, context: RenderContext) -> None:
        counts, noise = self.counts, self.step.count_noise_sd
        order = np.argsort(-counts, kind="stable")[:_MOST]
        hue = choose_hues(context.view, self.step.centers, context.final)[order]
        give = "" if noise is None else f" ± {format_number(noise)}"
        told = [f"centre {i + 1}: {format_number(float(counts[i]))}{give} rows (noisy)" for i in order]
        colors = [canvas.palette.inks[h] for h in hue]
        boxes = find_boxes(context.view, self.step.centers)[order]
        spread = {"type": "constant", "value": noise, "color": canvas.palette.muted, "thickness": 1.2, "width": 3}
        more = {} if noise is None else {"error_x": spread}
        _add_bars(canvas, counts[order], order, told, boxes, "size", "released", colors, more)
        canvas.plot.update_xaxes(title_text="rows (noisy count)", rangemode="tozero", nticks=5)

    def words(self, domain: Domain) -> str:
        return f"How many rows each centre holds. {self.finding(domain)}."


def _add_bars(
    canvas: PlotCanvas,
    values: Array,
    order: Codes,
    told: list[str],
    boxes: Array,
    name: str,
    kind: Kind,
    color: str | Sequence[str],
    more: dict[str, Any] | None = None,
) -> None:
    """Lying bars from the top, named by the numbers of centres; each knows its box on the map."""
    ranks = np.arange(len(order))
    linked = LINKED if canvas.bare else {"uid": LINKED["uid"]}
    canvas.bars(
        values.astype(SCREEN),
        ranks,
        0.62,
        name,
        kind,
        {"color": color},
        hover="%{text}",
        notes=boxes.astype(SCREEN),
        trace={"orientation": "h", "text": told, "textposition": "none", **linked, **(more or {})},
    )
    size = NUMBER_SIZE if len(order) <= 24 else 8
    numbers = [str(i + 1) for i in order]
    axis = {"tickvals": ranks, "ticktext": numbers, "tickfont": {"size": size}, "showgrid": False, "zeroline": False}
    canvas.plot.update_yaxes(title_text="centre", range=[len(order) - 0.4, -0.6], **axis)
