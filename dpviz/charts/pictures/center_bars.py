"""What stands beside centres: how far each is from its k-means++ centre, and how many rows it was measured to hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpviz.algorithms.steps import CentersStep
from dpviz.arrays import Array, Codes
from dpviz.charts.canvas import NUMBER_SIZE, SCREEN
from dpviz.charts.picture import Drawing, Look
from dpviz.charts.pictures.center_marks import boxes_around, hues, partners_of
from dpviz.charts.sheet import LINKED, Sheet
from dpviz.charts.theme import Kind
from dpviz.charts.wording import clauses, number, percent
from dpviz.runs.found import neighbour_gaps
from dpviz.table.domain import Domain

# Bars that a companion holds with their numbers.
_MOST = 40
# A centre half-way to the next cluster belongs to neither; bars never reach beyond the whole way, twice over.
_HALF_WAY, _WAY = 0.5, 2.0
_TINY = 1e-12


@dataclass(frozen=True, eq=False)
class Distances(Drawing[CentersStep]):
    """How far each centre is from its k-means++ centre, as a part of the way from there to the next one."""

    reference: Array
    legend_lines = 0

    def parts(self) -> Array:
        """The part of the way of each centre, shape (k,)."""
        centers = self.step.centers
        partners = partners_of(centers, self.reference)
        gaps = np.maximum(neighbour_gaps(partners), _TINY)
        parts: Array = np.linalg.norm(centers - partners, axis=1) / gaps
        return parts

    def finding(self, domain: Domain) -> str:
        parts = self.parts()
        far = int(parts.argmax())
        return f"Farthest off: centre {far + 1}, {percent(float(parts[far]))} of the way"

    def note(self, look: Look) -> str:
        some = f"the {_MOST} farthest of {len(self.step.centers)}" if len(self.step.centers) > _MOST else ""
        return clauses("the way from k-means++ to its next neighbour", some)

    def paint(self, sheet: Sheet, look: Look) -> None:
        parts = self.parts()
        order = np.argsort(-parts, kind="stable")[:_MOST]
        shown = np.minimum(parts, _WAY)[order]
        partners = partners_of(self.step.centers, self.reference)
        boxes = boxes_around(look.view, self.step.centers, partners)[order]
        told = [f"centre {i + 1}: {percent(float(parts[i]))} of the way to a neighbour" for i in order]
        _add_bars(sheet, 100 * shown, order, told, boxes, "distance", "revealed", sheet.palette.revealed)
        line = {"color": sheet.palette.muted, "width": 1.2, "dash": "dot"}
        sheet.plot.add_vline(x=100 * _HALF_WAY, line=line)
        beside = {"xanchor": "right", "yanchor": "bottom", "xshift": -4, "yref": "paper"}
        sheet.note("half-way", 100 * _HALF_WAY, 0, beside)
        reach = max(1.2 * _HALF_WAY, 1.05 * float(shown.max()))
        sheet.plot.update_xaxes(range=[0, 100 * reach], ticksuffix=" %", nticks=5, zeroline=False)
        sheet.plot.update_xaxes(title_text="part of the way to a neighbour")

    def words(self, domain: Domain) -> str:
        return f"{self.finding(domain)} from its k-means++ centre to the next one: revealed, never a release."


@dataclass(frozen=True, eq=False)
class Sizes(Drawing[CentersStep]):
    """How many rows each centre was measured to hold, with the noise on it."""

    legend_lines = 0

    @property
    def counts(self) -> Array:
        """The noisy counts, shape (k,)."""
        assert self.step.noisy_counts is not None
        return self.step.noisy_counts

    def finding(self, domain: Domain) -> str:
        low, high = (number(float(round(end))) for end in (self.counts.min(), self.counts.max()))
        between = f"Sizes from {low} to {high} rows" if low != high else f"All sizes: {low} rows"
        noise = self.step.count_noise_sd
        return between if noise is None else f"{between}, each ±{number(noise)}"

    def note(self, look: Look) -> str:
        some = f"the {_MOST} largest of {len(self.counts)}" if len(self.counts) > _MOST else ""
        return clauses("noisy counts", "strokes: ±1 sd of the noise" if self.step.count_noise_sd else "", some)

    def paint(self, sheet: Sheet, look: Look) -> None:
        counts, noise = self.counts, self.step.count_noise_sd
        order = np.argsort(-counts, kind="stable")[:_MOST]
        hue = hues(look.view, self.step.centers, look.final)[order]
        give = "" if noise is None else f" ± {number(noise)}"
        told = [f"centre {i + 1}: {number(float(counts[i]))}{give} rows (noisy)" for i in order]
        colors = [sheet.palette.inks[h] for h in hue]
        boxes = boxes_around(look.view, self.step.centers)[order]
        spread = {"type": "constant", "value": noise, "color": sheet.palette.muted, "thickness": 1.2, "width": 3}
        more = {} if noise is None else {"error_x": spread}
        _add_bars(sheet, counts[order], order, told, boxes, "size", "released", colors, more)
        sheet.plot.update_xaxes(title_text="rows (noisy count)", rangemode="tozero", nticks=5)

    def words(self, domain: Domain) -> str:
        return f"How many rows each centre holds. {self.finding(domain)}."


def _add_bars(
    sheet: Sheet,
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
    linked = LINKED if sheet.bare else {"uid": LINKED["uid"]}
    sheet.bars(
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
    sheet.plot.update_yaxes(title_text="centre", range=[len(order) - 0.4, -0.6], **axis)
