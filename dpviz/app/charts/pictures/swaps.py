"""Local search: candidate centres from the cubes of a partition, and the swaps between them, one by one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pandas as pd

from dpviz.algorithms import CandidatesStep, Step, SwapStep, TreeStep
from dpviz.app.charts.picture import Chart, Companion, RenderContext, list_alike, tabulate_points
from dpviz.app.charts.pictures.center_marks import add_centers
from dpviz.app.charts.pictures.centers import format_width
from dpviz.app.charts.pictures.tree import add_nest, draw_diagram, find_step_view
from dpviz.app.charts.plot_canvas import UNCUT, PlotCanvas
from dpviz.words import capitalize_first, format_count, format_things, join_clauses

# Diameters in pixels of the shallowest and the deepest candidate.
_SMALLEST, _LARGEST = 5.0, 13.0
# Candidates under the centres of a swap.
_CANDIDATES_SHOWN = 4000
# How strong the cubes under the candidates are.
_UNDER = 0.5
# Bars of the tree beside a swap that answer to pointing at them: each of many swaps has a tree.
_LINKED = 200


def draw_candidates(step: CandidatesStep, context: RenderContext) -> Chart:
    """Candidates on the plane, sized and shaded by the depth of their cube: the deeper, the more rows stood there."""
    context = context.on(find_step_view(step, context.view))
    view, grown = context.view, np.flatnonzero(step.depths >= 0)
    levels, sizes = np.unique(step.depths[grown], return_counts=True)
    by_depth = ", ".join(f"{size:,} at depth {level}" for level, size in zip(levels, sizes, strict=True))
    title = "No cube woke up: all candidates are public points"
    if len(grown):
        title = capitalize_first(f"{format_things(len(step.depths), 'candidate')}, {sizes[-1]:,} from the finest cubes")
    added = len(step.depths) - len(grown)

    def paint(canvas: PlotCanvas) -> None:
        places = view.plane(step.candidates)
        canvas.rows(context.reveal, step.region, step.frame)
        for grown_tree in _list_trees(context.list_before(step, "TreeStep")):
            add_nest(canvas, grown_tree.tree, strength=_UNDER)
        # Deep candidates last, so that they lie on top.
        order = grown[np.argsort(step.depths[grown], kind="stable")]
        depth, deepest = step.depths[order], max(1, int(step.depths.max(initial=1)))
        shades = [[0, canvas.color("released", 0.35)], [1, canvas.color("released")]]
        marker = {
            "size": _SMALLEST + (_LARGEST - _SMALLEST) * depth / deepest,
            **{"color": depth, "cmin": 0, "cmax": deepest, "colorscale": shades},
            "line": {"width": 1, "color": canvas.palette.surface},
        }
        hover = "candidate of depth %{customdata} (released)<br>%{x:.4g}, %{y:.4g}"
        canvas.marks(places[order], "candidates: larger is deeper", "released", marker, hover=hover, notes=depth)
        if added:
            hover = "a public point<br>%{x:.4g}, %{y:.4g}"
            ring = {"symbol": "circle-open", "size": 9}
            canvas.marks(places[step.depths < 0], "without data", "public", ring, hover=hover)
        canvas.plane()

    def tabulate() -> pd.DataFrame:
        table = tabulate_points(step.candidates, view.domain, projected=step.frame is not None)
        table.insert(0, "depth", step.depths)
        return table

    note = join_clauses(
        "the middle of every cube that woke up: no row is read again",
        f"{format_things(added, 'point')} added without data" if added else "",
        view.about,
    )
    return Chart(context, title, note, f"{title}. {by_depth}.", paint, legend_lines=5, table=tabulate)


def list_beside_candidates(step: CandidatesStep, steps: Sequence[Step], context: RenderContext) -> Iterator[Companion]:
    """The last tree that they come from."""
    trees = _list_trees(replace(context, steps=steps).list_before(step, "TreeStep"))
    if trees:
        yield Companion("Tree", draw_diagram(trees[-1], steps, context))


def draw_swap(step: SwapStep, context: RenderContext) -> Chart:
    """The centres after a swap; the removed one hollow, the added one ringed, an arrow between them."""
    context = context.on(find_step_view(step, context.view))
    view, changed = context.view, _find_changed(step)
    moved = np.flatnonzero(changed)
    title = "All centres stay where they are"
    if len(moved) > 1:
        title = f"{capitalize_first(format_things(len(moved), 'centre'))} change at once"
    elif len(moved):
        title = f"Centre {moved[0] + 1} jumps {format_width(_find_moved(step))}"

    def paint(canvas: PlotCanvas) -> None:
        canvas.rows(context.reveal, step.region, step.frame)
        candidates = step.candidates
        if len(candidates) > _CANDIDATES_SHOWN:
            candidates = candidates[np.linspace(0, len(candidates) - 1, _CANDIDATES_SHOWN).astype(np.int64)]
        canvas.marks(view.plane(candidates), "candidates", "released", {"size": 5}, strength=0.38)
        if len(moved):
            removed, added = view.plane(step.previous[changed]), view.plane(step.centers[changed])
            canvas.arrows(removed, added, "", width=1.5, head=11, standoff=np.full(len(added), 12.0))
            for what, places, symbol, size in (("removed", removed, "x-thin", 10), ("added", added, "circle-open", 22)):
                marker = {"symbol": symbol, "size": size, "line": {"width": 2, "color": canvas.palette.text}}
                marker["color"] = canvas.palette.text
                canvas.marks(places, what, "released", marker, hover=f"{what} (released)")
        add_centers(canvas, step.centers, final=context.final)
        canvas.plane()

    def tabulate() -> pd.DataFrame:
        table = tabulate_points(step.centers, view.domain, "centre", projected=step.frame is not None)
        table["change"] = np.where(changed, "new", "")
        return table

    candidates = format_things(len(step.candidates), "candidate")
    words = f"{title}, out of {candidates}; {len(step.centers)} centres remain."
    return Chart(context, title, join_clauses(step.title, view.about), words, paint, table=tabulate)


def list_beside_swap(step: SwapStep, steps: Sequence[Step], context: RenderContext) -> Iterator[Companion]:
    """The tree where there is but one, and all swaps so far."""
    swaps, trees = list_alike(step, steps), _list_trees(replace(context, steps=steps).list_before(step, "TreeStep"))
    if len(trees) == 1:
        diagram = draw_diagram(trees[0], steps, context, marked=step.centers, linked_at_most=_LINKED)
        yield Companion("Tree", diagram)
    yield Companion("Swap trace", draw_swap_trace(swaps[: swaps.index(step) + 1], swaps, context))


def draw_swap_trace(so_far: Sequence[SwapStep], swaps: Sequence[SwapStep], context: RenderContext) -> Chart:
    """How far each swap ``so_far`` moved a centre; axes are those of all ``swaps`` of the run, so that they stay."""
    moved, ever = (np.array([_find_moved(step) for step in steps]) for steps in (so_far, swaps))
    moves, number = int((moved != 0).sum()), format_things(len(moved), "swap")
    title = f"None of {number} moved a centre"
    if moves:
        farthest = int(np.argmax(moved)) + 1
        title = capitalize_first(f"{format_count(moves)} of {number} moved a centre; swap {farthest} moved it farthest")

    def paint(canvas: PlotCanvas) -> None:
        swap = np.arange(1, len(moved) + 1)
        canvas.bars(swap, moved, 0.5, "", "released", hover="swap %{x}: %{y:.3g}")
        idle = np.column_stack([swap, moved])[moved == 0]
        ring = {"symbol": "circle-open", "size": 9, "line": {"width": 2}}
        canvas.marks(idle, "", "released", ring, hover="swap %{x}: nothing moved", trace=UNCUT)
        top, most = 1.1 * float(ever.max()) or 1.0, len(ever)
        ticks = {} if ever.any() else {"tickvals": [0]}
        words = "distance moved<br>(unit coordinates)"
        canvas.plot.update_yaxes(title_text=words, range=[-0.04 * top, top], **ticks)
        canvas.plot.update_xaxes(title_text="swap", range=[0.4, most + 0.6], tick0=1, dtick=max(1, most // 10))

    note = join_clauses("each swap is one choice by the exponential mechanism", "circle: a swap that changed nothing")
    return Chart(context, title, note, f"How far each swap moved a centre. {title}.", paint, legend_lines=0)


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
