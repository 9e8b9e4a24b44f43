"""A tree of cubes, as an icicle and as cubes in cubes, the candidates that come of it, and the swaps between them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import sqrt
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.spatial import cKDTree

from dpviz.algorithms import CandidatesStep, Step, SwapStep, TreeStep
from dpviz.app.charts.canvas import NUMBER_SIZE, SCREEN, UNCUT, PlotCanvas, make_hidden_axis
from dpviz.app.charts.cells import LabelBoxes, outline_boxes
from dpviz.app.charts.picture import Chart, Companion, RenderContext, list_alike, tabulate_points
from dpviz.app.charts.pictures.centers import add_centers, format_width
from dpviz.app.charts.plot import Data
from dpviz.app.charts.view import View
from dpviz.core import Array, Codes, check, mechanisms, partitions
from dpviz.words import NINE_IN_TEN, capitalize_first, format_count, format_number, format_plus_minus, format_things

# Of the height of a level, this part is filled.
_BAND = 0.8


def find_step_view(step: Any, view: View) -> View:
    """The view of a step of cubes: two columns, or the first axes of the space that its ``frame`` maps rows to."""
    return view.boxes() if step.frame is None else view.with_space(step.region)


def draw_diagram(step: TreeStep, steps: Sequence[Step], context: RenderContext, marked: Array | None = None) -> Chart:
    """Levels of active cubes after ``step``, each bar as wide as the ends below it in the tree that the run ends with.

    Children hang below their parent. ``marked`` (k, p), today's centres: the bars of their cubes stand out.
    """
    context, tree = context.on(find_step_view(step, context.view)), step.tree
    own = [other for other in list_alike(step, steps) if other.shift == step.shift] or [step]
    so_far = own[: next((i for i, other in enumerate(own) if other is step), 0) + 1]
    known = [other.threshold for other in so_far] if len(so_far) == tree.depth else []
    known = known or [step.threshold] * (tree.depth == 1)
    chosen = None
    if marked is not None:  # which cubes, counted from the root on, have a marked centre for their middle
        middles = np.concatenate([step.region.clip(tree.centers(level)) for level in range(tree.depth + 1)])
        away, nearest = cKDTree(middles).query(marked, p=np.inf)
        chosen = sorted({int(place) for place in np.atleast_1d(nearest)[np.atleast_1d(away) <= 1e-9]})
    spans, final = find_band_spans(own[-1].tree)[: tree.depth + 1], own[-1].tree.depth
    sizes = count_levels(tree)
    cubes, awake = format_things(sum(sizes), "cube"), int(np.flatnonzero(sizes)[-1])
    title = f"The tree so far: {cubes}, {format_things(sizes[-1], 'new one')}"
    if chosen is not None:
        carry = "carries" if len(chosen) == 1 else "carry"
        title = capitalize_first(f"{format_things(len(chosen), 'cube')} of {sum(sizes):,} {carry} a centre")
    elif awake < tree.depth:
        title = f"The tree ends at level {awake}: {cubes} in all"

    def paint(canvas: PlotCanvas) -> None:
        plot = canvas.plot
        # Bars that are linked to the map, in all; levels beyond are drawn as runs of neighbours. Beside swaps they are
        # fewer: each of many swaps has a tree.
        most = 500 if marked is None else 200
        linked = int((np.cumsum(sizes) <= most).sum())
        if linked:
            _add_bars(canvas, context, step, _LinkedBars(spans[:linked], final, known, chosen, most))
        for level in range(linked, tree.depth + 1):
            left, right = spans[level]
            # More slices than this in a level are thinner than a pixel.
            if len(left) > 1500:  # runs of touching ones, where there are too many to tell apart
                first = np.flatnonzero(np.r_[True, left[1:] > right[:-1] + 1e-12])
                left, right = left[first], right[np.r_[first[1:] - 1, len(right) - 1]]
            low = np.column_stack([left, np.full(len(left), -level - _BAND)])
            high = np.column_stack([right, np.full(len(right), -float(level))])
            fill = canvas.color("released", 0.2 + 0.65 * level / max(tree.depth, 1))
            width = 1 if len(left) < 200 else 0.3
            canvas.lines(outline_boxes(low, high), "", "released", color=canvas.palette.surface, width=width, fill=fill)
        plot.update_xaxes(**make_hidden_axis(), range=[0, 1])
        heights, words = [-level - _BAND / 2 for level in range(len(sizes))], "awake, level by level"
        told, font = [f"{size:,} cube{'s' * (size != 1)}" for size in sizes], {"size": NUMBER_SIZE}
        plot.update_yaxes(tickvals=heights, ticktext=told, tickfont=font | {"color": canvas.palette.muted})
        plot.update_yaxes(range=[-final - _BAND - 0.1, 0.1], title_text=words)
        plot.update_yaxes(showgrid=False, zeroline=False, fixedrange=True)
        plot.update_layout(margin={"b": 12, "l": 78}, bargap=0, barmode="overlay")

    bars = "each bar is a cube: point at it" if marked is None else "strong bars: cubes of today's centres"
    note = (bars, "as wide as the branches below it")
    return Chart(context, title, note, f"The partition tree by level. {title}.", paint, legend_lines=0)


class _LinkedBars(NamedTuple):
    """The levels whose cubes are bars of their own, in a diagram of ``final`` levels, and what is told of them."""

    spans: Sequence[Spans]
    final: int
    thresholds: Sequence[float]
    chosen: Sequence[int] | None
    at_most: int


def _add_bars(canvas: PlotCanvas, context: RenderContext, step: TreeStep, bars: _LinkedBars) -> None:
    tree, view, palette = step.tree, context.view, canvas.palette
    held = count_truly_held(context, step) if bars.chosen is None else None
    start, end = (np.concatenate(ends) for ends in zip(*bars.spans, strict=True))
    level = np.repeat(np.arange(len(bars.spans)), [len(starts) for starts, _ in bars.spans])
    drawn = [np.column_stack(find_drawn_boxes(tree, at, view)) for at in range(len(bars.spans))]
    told: list[str] = []
    for at, (starts, _) in enumerate(bars.spans):
        line = _describe_node(at, bars.thresholds)
        truly = [""] * len(starts) if held is None else [f", truly {int(count):,} (revealed)" for count in held[at]]
        told += [line + more for more in truly]
    if len(bars.spans) == tree.depth + 1 and tree.depth:
        # Cubes that stayed asleep have no bar, but the map knows them.
        asleep = np.column_stack(find_asleep_boxes(tree, view))[: bars.at_most]
        nothing = np.zeros(len(asleep))
        start, end = np.r_[start, nothing], np.r_[end, nothing]
        level = np.r_[level, np.full(len(asleep), tree.depth)]
        drawn = [*drawn, asleep]
        told += [_describe_node(tree.depth, bars.thresholds, awake=False)] * len(asleep)
    marker: Data = {"color": level.astype(np.int16), "cmin": 0, "cmax": max(bars.final, 1)}
    rim = {"width": 1 if len(level) < 400 else 0.3, "color": palette.surface}
    marker |= {"colorscale": canvas.shades("released", 0.2, 0.85), "line": rim}
    if bars.chosen is not None:
        marker["color"] = np.isin(np.arange(len(level)), bars.chosen).astype(np.int8)
        # How strong a bar is where others are marked.
        marker |= {"cmax": 1, "colorscale": canvas.shades("released", 0.3)}
    x, width = ((start + end) / 2).astype(SCREEN), (end - start).astype(SCREEN)
    trace = {"base": (-level - _BAND).astype(SCREEN), "text": told, "textposition": "none"} | canvas.linked
    boxes, high = np.concatenate(drawn).astype(SCREEN), np.full(len(level), _BAND, dtype=SCREEN)
    canvas.bars(x, high, width, "cubes", "released", marker, hover="%{text}", notes=boxes, trace=trace)


def _describe_node(level: int, thresholds: Sequence[float], *, awake: bool = True) -> str:
    if level == 0:
        return "level 0: the whole, always awake"
    woke = f"level {level} {'woke up' if awake else 'stayed asleep'}"
    if level > len(thresholds):
        return woke
    return f"{woke}: noisy count {'over' if awake else 'at most'} {format_number(thresholds[level - 1])} rows"


# Where the cubes of a level stand: from starts to ends (m,) within [0, 1].
Spans = tuple[Array, Array]


def find_band_spans(tree: partitions.CubeTree) -> list[Spans]:
    """The interval of [0, 1] above which each cube stands, by level: a parent spans its children exactly."""
    sizes = count_levels(tree)
    leaves: list[Array] = [np.ones(size) for size in sizes]
    for level in range(tree.depth, 0, -1):
        leaves[level - 1] = np.maximum(np.bincount(tree.parents(level), leaves[level], sizes[level - 1]), 1)
    starts = [np.zeros(1)]
    for level in range(1, tree.depth + 1):
        parent = tree.parents(level)
        width = leaves[level]
        # Keys are sorted, so siblings are neighbours: a cube's place is what the siblings before it take.
        before = np.cumsum(width) - width
        starts.append(starts[level - 1][parent] + before - before[np.searchsorted(parent, parent)])
    whole = float(leaves[0][0])
    return [(start / whole, (start + width) / whole) for start, width in zip(starts, leaves, strict=True)]


# Outlines of one level that a picture can carry.
_DRAWN_AT_MOST = 3000
# How strong the newest level is veiled, and those before it.
_VEILS = (0.34, 0.13, 0.07)


# Lower and upper corners of boxes (m, 2), drawn units.
Boxes = tuple[Array, Array]


def count_levels(tree: partitions.CubeTree) -> list[int]:
    """Active cubes of levels 0, 1, ..., as many as the tree is deep."""
    return [1, *(len(keys) for keys in tree.levels)]


def find_drawn_boxes(tree: partitions.CubeTree, level: int, view: View) -> Boxes:
    """The active cubes of a level on the plane, cut at the domain, in their order."""
    return _make_boxes(tree.corners(level), tree.edge(level), level, tree.depth, view)


def assign_rows(tree: partitions.CubeTree, rows: Array) -> list[Array]:
    """How many ``rows`` (n, p) each active cube truly holds, by level from the root."""
    held, node = [np.array([float(len(rows))])], np.zeros(len(rows), dtype=np.int64)
    bit = np.int64(1) << np.arange(tree.dim, dtype=np.int64)
    for level, keys in enumerate(tree.levels, start=1):
        key = (node << tree.dim) | ((rows >= tree.corners(level - 1)[node] + tree.edge(level)) @ bit)
        place = np.minimum(np.searchsorted(keys, key), max(0, len(keys) - 1))
        alive = keys[place] == key if len(keys) else np.zeros(len(key), dtype=np.bool_)
        rows, node = rows[alive], place[alive]
        held.append(np.bincount(node, minlength=len(keys)).astype(np.float64))
    return held


def count_truly_held(context: RenderContext, step: TreeStep) -> list[Array] | None:
    """How many revealed rows each active cube holds, by level from the root; None unless rows are handed over."""
    if context.reveal is None or context.reveal.everyone is None:
        return None
    # A tree only grows: the last one of a run answers for those before.
    grown = [other for other in list_alike(step, context.steps) if other.shift == step.shift]
    last: TreeStep = grown[-1] if any(other is step for other in grown) else step

    def count() -> list[Array]:
        rows = context.find_rows(step.region, step.frame)
        assert rows is not None
        return assign_rows(last.tree, rows)

    return context.once(("held", id(last)), count)[: step.tree.depth + 1]


def add_nest(canvas: PlotCanvas, tree: partitions.CubeTree, *, strength: float = 1.0) -> None:
    """Active cubes of all levels: the last three veiled, older ones hairlines, the newest with a rim.

    At less than full ``strength`` they lie under something else, and the newest has no rim.
    """
    for level in range(tree.depth + 1):
        newest, age = level == tree.depth and strength == 1, tree.depth - level
        low, high = _drop_repeated(*find_drawn_boxes(tree, level, canvas.view))
        if not len(low):
            continue
        veil = _VEILS[age] * strength if age < len(_VEILS) and level else 0.0
        if age == 0:
            widest = float((high - low)[:, 0].max() / np.ptp(canvas.view.extent[0]))
            # New cubes wider than this part of the picture are veiled less, so that rows under them keep their colour.
            veil *= min(1.0, 0.12 / widest)
        fill = canvas.color("released", round(veil, 4)) if veil else ""
        rim = 1.0 if newest else (0.16 + 0.34 * level / max(1, tree.depth)) * strength
        name = "" if level < tree.depth or not tree.depth else "awake: stronger is deeper"
        # Rims of the newest level and of others, in pixels.
        width = 1.8 if newest else 0.8
        canvas.lines(outline_boxes(low, high), name, "released", strength=round(rim, 4), width=width, fill=fill)


def find_asleep_boxes(tree: partitions.CubeTree, view: View) -> Boxes:
    """Where the last level asked cubes and none woke up; each place of the plane once."""
    if tree.depth == 0:
        return np.zeros((0, 2)), np.zeros((0, 2))
    edge, axes = tree.edge(tree.depth), list(view.axes or (0,))
    above = tree.corners(tree.depth - 1)[_find_first(tree.corners(tree.depth - 1)[:, axes])]
    children = []
    for bits in range(1 << len(axes)):
        corner = above.copy()
        corner[:, axes] += edge * np.array([bits >> j & 1 for j in range(len(axes))])
        children.append(corner)
    asked = np.concatenate(children)
    awake = {tuple(place) for place in tree.corners(tree.depth)[:, axes].round(9)}
    asleep = np.array([tuple(place) not in awake for place in asked[:, axes].round(9)], dtype=np.bool_)
    return _make_boxes(asked[asleep], edge, tree.depth, tree.depth, view)


def _make_boxes(corner: Array, edge: float, level: int, depth: int, view: View) -> Boxes:
    low, high = view.plane(corner), view.plane(corner + edge)
    first, last = np.array(view.extent).T
    low, high = np.clip(low, first, last), np.clip(high, first, last)
    if view.flat:
        # In one dimension levels lie below each other; these many rows are kept free for them.
        rows = max(12, depth + 1)
        low[:, 1], high[:, 1] = 1 - (2 * level + 1.4) / rows, 1 - 2 * level / rows
    return low, high


def _drop_repeated(low: Array, high: Array) -> Boxes:
    """Each outline that is not cut away once; evenly picked ones where there are too many."""
    seen = (high > low).all(axis=1)
    low, high = low[seen], high[seen]
    first = _find_first(np.column_stack([low, high]))
    if len(first) > _DRAWN_AT_MOST:
        first = first[np.linspace(0, len(first) - 1, _DRAWN_AT_MOST).astype(np.int64)]
    return low[first], high[first]


def _find_first(places: Array) -> Codes:
    return np.unique(places.round(9), axis=0, return_index=True)[1].astype(np.int64)


# A cube has room for its count from this width and height in pixels on.
_ROOM = (30.0, 17.0)


def draw_tree(step: TreeStep, context: RenderContext) -> Chart:
    """Active cubes, the last three levels veiled, the newest rimmed; those that were asked and stayed asleep hatched.

    Empty ones look like all others. With revealed rows, those that woke up are marked, and cubes tell what they hold.
    """
    context, tree = context.on(find_step_view(step, context.view)), step.tree
    sizes = count_levels(tree)
    title = "The root cube holds every row"
    if tree.depth:
        children = sizes[-2] << tree.dim
        # Up to so many cubes, digits are as long as a reader takes them in.
        asked = f"{children:,}" if children < 1e6 else format_number(children)
        title = f"At level {tree.depth}, {sizes[-1]:,} of {asked} cubes woke up"
        if children == 0:
            title = f"Level {tree.depth} asks no cube: the tree has stopped growing"

    def paint(canvas: PlotCanvas) -> None:
        canvas.rows(context.reveal, step.region, step.frame)
        # Cubes that the last level asked and that stayed asleep, where all of them did that lie behind each other.
        low, high = _drop_repeated(*find_asleep_boxes(tree, canvas.view))
        hatch = {"shape": "/", "fillmode": "overlay", "size": 7, "solidity": 0.12}
        hatch |= {"fgcolor": canvas.palette.public, "fgopacity": 0.3, "bgcolor": canvas.palette.background}
        look: Any = {"color": canvas.color("public", 0.3), "width": 0.6, "fill": canvas.color("public", 0.02)}
        if len(low):
            outlines, name = outline_boxes(low, high), "asked, stayed asleep"
            canvas.lines(outlines, name, "released", **look, trace={"fillpattern": hatch})
        add_nest(canvas, tree)
        held = count_truly_held(context, step)
        if held is not None and tree.depth > 0:
            _add_truth(canvas, tree, held[-1])
        canvas.plane()

    def tabulate() -> pd.DataFrame:
        levels, asked = np.arange(len(sizes)), [1, *(size << tree.dim for size in sizes[:-1])]
        cubes = {"level": levels, "cubes asked": asked, "cubes active": sizes}
        return pd.DataFrame(cubes | {"edge (unit coordinates)": [tree.edge(level) for level in levels.tolist()]})

    awake = f"awake: noisy count over {format_number(step.threshold)} rows"
    shift = f"shift {step.shift}" if step.shift > 1 else ""
    note = (awake, f"noise {format_plus_minus(_compute_sd(step))}", shift, context.view.about)
    listed = ", ".join(f"{size:,}" for size in sizes)
    noise = f"The {step.noise_name} noise on a count has scale {format_number(step.noise_scale)}"
    words = (
        f"Private partition over {len(step.region.half)} axes. {title}. Active cubes by level from the root: {listed}."
    )
    return Chart(context, title, note, f"{words} {noise}.", paint, legend_lines=3, table=tabulate)


def list_beside_tree(step: TreeStep, steps: Sequence[Step], context: RenderContext) -> Iterator[Companion]:
    """All levels at once, and the curve behind each decision."""
    yield Companion("Tree", draw_diagram(step, steps, context))
    yield Companion("Activation", draw_activation(step, context))


def draw_activation(step: TreeStep, context: RenderContext) -> Chart:
    """f(m) = Pr[m + noise > threshold] against the rows m of a cube: the curve behind every decision of the tree."""
    # By a fine grid of m, to well over where any noise could matter.
    fine = np.linspace(0, step.threshold + 40 * step.noise_scale, 4001)
    # A cube surely wakes up, as the title of the curve has it, at this chance.
    needed = float(fine[np.searchsorted(compute_activation(step, fine), 0.9)])
    title = f"A cube needs about {format_number(np.ceil(needed))} rows to wake up nine times in ten"
    empty = float(compute_activation(step, np.zeros(1))[0])

    def paint(canvas: PlotCanvas) -> None:
        plot, threshold, reach = canvas.plot, step.threshold, NINE_IN_TEN * _compute_sd(step)
        top = threshold + 8 * step.noise_scale
        rows = np.linspace(0, top, 241)
        canvas.band(threshold - reach, threshold + reach, strength=0.15, upright=True)
        plot.add_vline(x=threshold, line={"color": canvas.palette.public, "width": 1.5, "dash": "dash"})
        curve, hover = np.column_stack([rows, compute_activation(step, rows)]), "%{x:.0f} rows: %{y:.3g}"
        canvas.lines(curve, "", "public", color=canvas.palette.text, width=2.5, hover=hover)
        height, side, shift = (0.92, "right", -8) if threshold > top / 2 else (0.08, "left", 8)
        beside = {"xanchor": side, "align": side, "xshift": shift, "bgcolor": canvas.palette.surface, "opacity": 0.9}
        words = f"threshold {format_number(threshold)}<br>band: noise {format_plus_minus(_compute_sd(step))}"
        canvas.note(words, threshold, height, beside)
        plot.update_xaxes(range=[0, top], title_text="rows in the cube", zeroline=False)
        plot.update_yaxes(range=[-0.02, 1.04], title_text="probability to wake up", tickformat=".0%", zeroline=False)

    # How many cubes of the last level noise alone would wake, if all that were asked were empty.
    asked = (len(step.tree.levels[-2]) if step.tree.depth > 1 else 1) << step.tree.dim
    alone = f"of all cubes asked, noise alone wakes about {format_number(empty * asked)}"
    note = (f"an empty cube wakes up with probability {format_number(empty)}", alone)
    return Chart(context, title, note, f"How many rows wake a cube. {title}.", paint, legend_lines=0, kind="public")


def _add_truth(canvas: PlotCanvas, tree: partitions.CubeTree, held: Array) -> None:
    """What the newest cubes truly hold, where there is room for the number; a cross where that is nothing."""
    low, high = find_drawn_boxes(tree, tree.depth, canvas.view)
    middle, empty = (low + high) / 2, held == 0
    if empty.any():
        cross = {"symbol": "x-thin", "size": 9, "line": {"width": 2.2, "color": canvas.palette.revealed}}
        hover = "no row in this cube: noise woke it (revealed)"
        canvas.marks(middle[empty], f"{int(empty.sum()):,} empty, awake", "revealed", cross, hover=hover)
    crowd = LabelBoxes(*np.array(canvas.view.range).T)
    wide, tall = (crowd.pixels(high) - crowd.pixels(low)).T
    room = np.flatnonzero((wide >= _ROOM[0]) & (tall >= _ROOM[1]) & ~empty)
    # Cubes of more than two axes may lie behind each other.
    single = np.unique(middle[room].round(9), axis=0, return_counts=True)[1]
    # Counts beyond this many are a grey of digits.
    if not 0 < len(room) <= 150 or (single > 1).any():
        return
    font = {"size": NUMBER_SIZE, "color": canvas.palette.revealed, "weight": 700, "shadow": canvas.palette.halo}
    text = {"mode": "text", "text": [f"{int(count):,}" for count in held[room]], "textfont": font}
    canvas.marks(middle[room], "", "revealed", {}, trace=text)


def compute_activation(step: TreeStep, rows: Array) -> Array:
    """Probability that a cube of so many ``rows``, of any shape, wakes up."""
    check.one_of((mechanisms.Laplace.name, mechanisms.Gaussian.name), noise=step.noise_name)
    kind = mechanisms.Laplace if step.noise_name == mechanisms.Laplace.name else mechanisms.Gaussian
    return np.exp(kind(1.0, step.noise_scale).log_above(step.threshold - rows))


def _compute_sd(step: TreeStep) -> float:
    return step.noise_scale * (sqrt(2) if step.noise_name == mechanisms.Laplace.name else 1.0)


# Diameters in pixels of the shallowest and the deepest candidate.
_SMALLEST, _LARGEST = 5.0, 13.0
# Candidates under the centres of a swap.
_CANDIDATES_SHOWN = 4000


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
            # How strong the cubes under the candidates are.
            add_nest(canvas, grown_tree.tree, strength=0.5)
        # Deep candidates last, so that they lie on top.
        order = grown[np.argsort(step.depths[grown], kind="stable")]
        depth, deepest = step.depths[order], max(1, int(step.depths.max(initial=1)))
        size, rim = _SMALLEST + (_LARGEST - _SMALLEST) * depth / deepest, {"width": 1, "color": canvas.palette.surface}
        marker = {"size": size, "color": depth, "cmin": 0, "cmax": deepest}
        marker |= {"colorscale": canvas.shades("released", 0.35), "line": rim}
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

    more = f"{format_things(added, 'point')} added without data" if added else ""
    note = ("the middle of every cube that woke up: no row is read again", more, view.about)
    return Chart(context, title, note, f"{title}. {by_depth}.", paint, legend_lines=5, table=tabulate)


def list_beside_candidates(step: CandidatesStep, steps: Sequence[Step], context: RenderContext) -> Iterator[Companion]:
    """The last tree that they come from."""
    if trees := _list_trees(replace(context, steps=steps).list_before(step, "TreeStep")):
        yield Companion("Tree", draw_diagram(trees[-1], steps, context))


def draw_swap(step: SwapStep, context: RenderContext) -> Chart:
    """The centres after a swap; the removed one hollow, the added one ringed, an arrow between them."""
    context = context.on(find_step_view(step, context.view))
    view, changed = context.view, (step.previous != step.centers).any(axis=1)
    moved = np.flatnonzero(changed)
    title = "All centres stay where they are"
    if len(moved) > 1:
        title = f"{capitalize_first(format_things(len(moved), 'centre'))} change at once"
    elif len(moved):
        title = f"Centre {moved[0] + 1} jumps {format_width(_find_moved(step))}"

    def paint(canvas: PlotCanvas) -> None:
        canvas.rows(context.reveal, step.region, step.frame)
        number = len(step.candidates)
        candidates = step.candidates[np.linspace(0, number - 1, min(number, _CANDIDATES_SHOWN)).astype(np.int64)]
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
    return Chart(context, title, (step.title, view.about), words, paint, table=tabulate)


def list_beside_swap(step: SwapStep, steps: Sequence[Step], context: RenderContext) -> Iterator[Companion]:
    """The tree where there is but one, and all swaps so far."""
    alike, trees = list_alike(step, steps), _list_trees(replace(context, steps=steps).list_before(step, "TreeStep"))
    if len(trees) == 1:
        yield Companion("Tree", draw_diagram(trees[0], steps, context, step.centers))
    swaps = [swap for swap in alike if not swap.of_iterates]
    yield Companion("Swap trace", draw_swap_trace(swaps[: alike.index(step) + 1], swaps, context))


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
        canvas.plot.update_yaxes(title_text="distance moved<br>(unit coordinates)", range=[-0.04 * top, top], **ticks)
        canvas.plot.update_xaxes(title_text="swap", range=[0.4, most + 0.6], tick0=1, dtick=max(1, most // 10))

    note = ("each swap is one choice by the exponential mechanism", "circle: a swap that changed nothing")
    return Chart(context, title, note, f"How far each swap moved a centre. {title}.", paint, legend_lines=0)


def _list_trees(steps: Sequence[TreeStep]) -> list[TreeStep]:
    """The last step of every tree."""
    return list({step.shift: step for step in steps}.values())


def _find_moved(step: SwapStep) -> float:
    """The longest way of a centre."""
    return float(np.linalg.norm(step.previous - step.centers, axis=1).max())
