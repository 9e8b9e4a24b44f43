"""Local search: candidate centres from the cubes of a partition, and the swaps between them, one by one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pandas as pd

from dpviz.algorithms import CandidatesStep, Step, SwapStep, TreeStep
from dpviz.app.charts.picture import Companion, Drawing, Picture, RenderContext, tabulate_points
from dpviz.app.charts.pictures.center_marks import add_centers
from dpviz.app.charts.pictures.centers import format_width
from dpviz.app.charts.pictures.tree import add_nest, make_diagram
from dpviz.app.charts.plot_canvas import UNCUT, PlotCanvas
from dpviz.app.charts.view import View
from dpviz.core import Domain
from dpviz.words import capitalize_first, format_count, format_things, join_clauses

# Diameters in pixels of the shallowest and the deepest candidate.
_SMALLEST, _LARGEST = 5.0, 13.0
# Candidates under the centres of a swap.
_CANDIDATES_SHOWN = 4000
# How strong the cubes under the candidates are.
_UNDER = 0.5
# Bars of the tree beside a swap that answer to pointing at them: each of many swaps has a tree.
_LINKED = 200


class CandidatesPicture(Picture[CandidatesStep]):
    """Candidates on the plane, sized and shaded by the depth of their cube: the deeper, the more rows stood there."""

    called = "candidates"

    legend_lines = 5

    def view(self, view: View) -> View:
        return view.boxes() if self.step.frame is None else view.with_space(self.step.region)

    def finding(self, domain: Domain) -> str:
        depths = self.step.depths[self.step.depths >= 0]
        if not len(depths):
            return "No cube woke up: all candidates are public points"
        deepest = int(depths.max())
        candidates = format_things(len(self.step.depths), "candidate")
        finest = int((depths == deepest).sum())
        return capitalize_first(f"{candidates}, {finest:,} from the finest cubes")

    def note(self, context: RenderContext) -> str:
        added = int((self.step.depths < 0).sum())
        return join_clauses(
            "the middle of every cube that woke up: no row is read again",
            f"{format_things(added, 'point')} added without data" if added else "",
            context.view.about,
        )

    def paint(self, canvas: PlotCanvas, context: RenderContext) -> None:
        step = self.step
        places = canvas.view.plane(self.step.candidates)
        canvas.rows(context.reveal, step.region, step.frame)
        for grown_tree in _list_trees(context.list_before(step, "TreeStep")):
            add_nest(canvas, grown_tree.tree, strength=_UNDER)
        grown = np.flatnonzero(step.depths >= 0)
        # Deep candidates last, so that they lie on top.
        order = grown[np.argsort(step.depths[grown], kind="stable")]
        depth = step.depths[order]
        deepest = max(1, int(step.depths.max(initial=1)))
        shades = [[0, canvas.color("released", 0.35)], [1, canvas.color("released")]]
        marker = {
            "size": _SMALLEST + (_LARGEST - _SMALLEST) * depth / deepest,
            **{"color": depth, "cmin": 0, "cmax": deepest, "colorscale": shades},
            "line": {"width": 1, "color": canvas.palette.surface},
        }
        hover = "candidate of depth %{customdata} (released)<br>%{x:.4g}, %{y:.4g}"
        canvas.marks(places[order], "candidates: larger is deeper", "released", marker, hover=hover, notes=depth)
        if len(grown) < len(step.depths):
            hover = "a public point<br>%{x:.4g}, %{y:.4g}"
            ring = {"symbol": "circle-open", "size": 9}
            canvas.marks(places[step.depths < 0], "without data", "public", ring, hover=hover)
        canvas.plane()

    def table(self, domain: Domain) -> pd.DataFrame:
        table = tabulate_points(self.step.candidates, domain, projected=self.step.frame is not None)
        table.insert(0, "depth", self.step.depths)
        return table

    def words(self, domain: Domain) -> str:
        levels, sizes = np.unique(self.step.depths[self.step.depths >= 0], return_counts=True)
        by_depth = ", ".join(f"{size:,} at depth {level}" for level, size in zip(levels, sizes, strict=True))
        return f"{self.finding(domain)}. {by_depth}."

    def companions(self, context: RenderContext, steps: Sequence[Step]) -> Iterator[Companion]:
        trees = _list_trees(replace(context, steps=steps).list_before(self.step, "TreeStep"))
        if trees:
            yield Companion("Tree", make_diagram(trees[-1], steps))


class SwapPicture(Picture[SwapStep]):
    """The centres after a swap; the removed one hollow, the added one ringed, an arrow between them."""

    called = "swap"

    def view(self, view: View) -> View:
        return view.boxes() if self.step.frame is None else view.with_space(self.step.region)

    def finding(self, domain: Domain) -> str:
        changed = np.flatnonzero(_find_changed(self.step))
        if len(changed) == 0:
            return "All centres stay where they are"
        if len(changed) > 1:
            return f"{capitalize_first(format_things(len(changed), 'centre'))} change at once"
        return f"Centre {changed[0] + 1} jumps {format_width(_find_moved(self.step))}"

    def note(self, context: RenderContext) -> str:
        return join_clauses(self.step.title, context.view.about)

    def paint(self, canvas: PlotCanvas, context: RenderContext) -> None:
        step, view = self.step, canvas.view
        canvas.rows(context.reveal, step.region, step.frame)
        candidates = step.candidates
        if len(candidates) > _CANDIDATES_SHOWN:
            candidates = candidates[np.linspace(0, len(candidates) - 1, _CANDIDATES_SHOWN).astype(np.int64)]
        canvas.marks(view.plane(candidates), "candidates", "released", {"size": 5}, strength=0.38)
        changed = _find_changed(step)
        if changed.any():
            removed, added = view.plane(step.previous[changed]), view.plane(step.centers[changed])
            canvas.arrows(removed, added, "", width=1.5, head=11, standoff=np.full(len(added), 12.0))
            for what, places, symbol, size in (("removed", removed, "x-thin", 10), ("added", added, "circle-open", 22)):
                marker = {"symbol": symbol, "size": size, "line": {"width": 2, "color": canvas.palette.text}}
                marker["color"] = canvas.palette.text
                canvas.marks(places, what, "released", marker, hover=f"{what} (released)")
        add_centers(canvas, step.centers, final=context.final)
        canvas.plane()

    def table(self, domain: Domain) -> pd.DataFrame:
        table = tabulate_points(self.step.centers, domain, "centre", projected=self.step.frame is not None)
        table["change"] = np.where(_find_changed(self.step), "new", "")
        return table

    def words(self, domain: Domain) -> str:
        candidates = format_things(len(self.step.candidates), "candidate")
        return f"{self.finding(domain)}, out of {candidates}; {len(self.step.centers)} centres remain."

    def companions(self, context: RenderContext, steps: Sequence[Step]) -> Iterator[Companion]:
        swaps, step = self.list_alike(steps), self.step
        trees = _list_trees(replace(context, steps=steps).list_before(step, "TreeStep"))
        if len(trees) == 1:
            yield Companion("Tree", make_diagram(trees[0], steps, marked=step.centers, linked_at_most=_LINKED))
        yield Companion("Swap trace", SwapTrace(self.step, swaps[: swaps.index(self.step) + 1], swaps))


@dataclass(frozen=True, eq=False)
class SwapTrace(Drawing[SwapStep]):
    """How far each swap ``so_far`` moved a centre; axes are those of all ``swaps`` of the run, so that they stay."""

    so_far: Sequence[SwapStep]
    swaps: Sequence[SwapStep]
    legend_lines = 0

    def finding(self, domain: Domain) -> str:
        moved = np.array([_find_moved(step) for step in self.so_far])
        still, swaps = int((moved == 0).sum()), format_things(len(moved), "swap")
        if still == len(moved):
            return f"None of {swaps} moved a centre"
        some = f"{format_count(len(moved) - still)} of {swaps} moved a centre"
        return capitalize_first(f"{some}; swap {int(np.argmax(moved)) + 1} moved it farthest")

    def note(self, context: RenderContext) -> str:
        return join_clauses(
            "each swap is one choice by the exponential mechanism", "circle: a swap that changed nothing"
        )

    def paint(self, canvas: PlotCanvas, context: RenderContext) -> None:
        moved, ever = (np.array([_find_moved(step) for step in steps]) for steps in (self.so_far, self.swaps))
        swap = np.arange(1, len(moved) + 1)
        canvas.bars(swap, moved, 0.5, "", "released", hover="swap %{x}: %{y:.3g}")
        idle = np.column_stack([swap, moved])[moved == 0]
        ring = {"symbol": "circle-open", "size": 9, "line": {"width": 2}}
        canvas.marks(idle, "", "released", ring, hover="swap %{x}: nothing moved", trace=UNCUT)
        top = 1.1 * float(ever.max()) or 1.0
        most = len(ever)
        ticks = {} if ever.any() else {"tickvals": [0]}
        words = "distance moved<br>(unit coordinates)"
        canvas.plot.update_yaxes(title_text=words, range=[-0.04 * top, top], **ticks)
        canvas.plot.update_xaxes(title_text="swap", range=[0.4, most + 0.6], tick0=1, dtick=max(1, most // 10))

    def words(self, domain: Domain) -> str:
        return f"How far each swap moved a centre. {self.finding(domain)}."


def _list_trees(steps: Sequence[TreeStep]) -> list[TreeStep]:
    """The last step of every tree."""
    return list({step.shift: step for step in steps}.values())


def _find_changed(step: SwapStep) -> npt.NDArray[np.bool_]:
    """Which centres are not where they were."""
    changed: npt.NDArray[np.bool_] = (step.previous != step.centers).any(axis=1)
    return changed


def _find_moved(step: SwapStep) -> float:
    """The longest way of a centre."""
    return float(np.linalg.norm(step.previous - step.centers, axis=1).max())
