"""Hashing: the tree of asked prefixes with its noisy counts, and the coreset of its leaves."""

from __future__ import annotations

import numpy as np
import pandas as pd

from dpviz.algorithms import CoresetStep, HashTreeStep
from dpviz.app.charts.canvas import NUMBER_SIZE, make_hidden_axis
from dpviz.app.charts.cells import outline_segments
from dpviz.app.charts.picture import Chart, RenderContext, describe_step, format_columns, tabulate_points
from dpviz.app.charts.plot_canvas import UNCUT, PlotCanvas
from dpviz.core import Array, Flags, mechanisms, partitions, queries
from dpviz.words import capitalize_first, format_number, format_percent, format_things, join_clauses

# Diameters in pixels of a node or point without rows, and of one with all of them or the most.
_SMALLEST, _LARGEST = 4.0, 26.0
# Bits of a prefix that hovering shows.
_PREFIX_SHOWN = 24
# Up to so many levels each has its name.
_NAMED_LEVELS = 12
# Beyond this many points their halos would be one grey sheet.
_HALOS_UP_TO = 60


def draw_hash_tree(step: HashTreeStep, context: RenderContext) -> Chart:
    """Nodes by level, their area the noisy count; with revealed rows, orange rings of the true counts."""
    tree = step.tree
    leaves, held = int(tree.leaf.sum()), float(tree.noisy_counts[tree.leaf].sum() / max(1.0, tree.noisy_counts[0]))
    named = "1 leaf holds" if leaves == 1 else f"{leaves:,} leaves hold"
    title = f"{named} {format_percent(min(1.0, max(0.0, held)))} of the rows, by noisy counts"
    split, dropped, sd = (format_number(value) for value in (step.min_branch, step.min_node, step.count_sd))

    def paint(canvas: PlotCanvas) -> None:
        plot, places = canvas.plot, place_nodes(step)
        parent = np.searchsorted(tree.nodes, tree.nodes[1:] >> 1)
        for which, strength in ((~tree.kept[1:], 0.18), (tree.kept[1:], 0.5)):
            canvas.lines(outline_segments(places[parent][which], places[1:][which]), "", "released", strength=strength)
        sizes = _compute_diameters(tree.noisy_counts, tree.noisy_counts[0])
        rim = {"width": 0.8, "color": canvas.palette.surface}
        for name, which, symbol, strength in (
            ("dropped", ~tree.kept, "circle-open", 0.4),
            ("inner nodes", tree.kept & ~tree.leaf, "circle", 0.45),
            ("leaves", tree.leaf, "square", 1.0),
        ):
            marker = {"symbol": symbol, "size": sizes[which], "line": rim}
            notes = _describe_nodes(step, which)
            canvas.marks(places[which], name, "released", marker, strength=strength, notes=notes, trace=UNCUT)
        if context.reveal is not None:
            rows = context.reveal.points if context.reveal.everyone is None else context.reveal.everyone
            hashed = queries.SparseCounts.of(step.hashes.assign(rows), step.hashes.n_cells)
            counts = mechanisms.count_below(tree.nodes, hashed)
            line = {"width": 1.4, "color": canvas.palette.revealed}
            ring = {"symbol": "circle-open", "size": _compute_diameters(counts, float(len(rows))) + 1, "line": line}
            hover = "true count: %{customdata:,.0f} (revealed)"
            canvas.marks(places, "true counts", "revealed", ring, hover=hover, notes=counts, trace=UNCUT)
        every, levels = 1 if tree.depth <= _NAMED_LEVELS else 2, range(tree.depth + 1)
        names = ["all rows" if level == 0 else f"bit {level}" if level % every == 0 else "" for level in levels]
        plot.update_xaxes(**make_hidden_axis(), range=[-0.02, 1.02])
        plot.update_yaxes(tickvals=[-level for level in levels], ticktext=names, range=[-tree.depth - 0.6, 0.6])
        plot.update_yaxes(showgrid=False, zeroline=False, fixedrange=True)
        plot.update_yaxes(tickfont={"size": NUMBER_SIZE, "color": canvas.palette.text})
        plot.update_layout(margin={"l": 78})

    def tabulate() -> pd.DataFrame:
        prefixes = [_format_prefix(int(node)) for node in tree.nodes]
        known = {"level": partitions.find_level(tree.nodes), "prefix": prefixes, "noisy count": tree.noisy_counts}
        return pd.DataFrame(known | {"kept": tree.kept, "leaf": tree.leaf})

    note = join_clauses(
        f"split from {split} rows on, dropped under {dropped}",
        f"{step.noise_name} noise on a count: sd {sd}",
        "a mark's area is its noisy count",
    )
    words = (
        f"{title}. {len(tree.nodes) - 1:,} prefixes of random hyperplane hashes were counted on "
        f"{format_things(tree.depth, 'level')}, each with {step.noise_name} noise of standard deviation {sd}. Nodes of "
        f"{split} rows and more were split, those under {dropped} dropped."
    )
    return Chart(context, title, note, words, paint, legend_lines=3, table=tabulate)


def _describe_nodes(step: HashTreeStep, which: Flags) -> list[str]:
    tree = step.tree
    fate = np.where(tree.leaf, "a leaf", np.where(tree.kept, "split", "dropped"))
    return [
        f"<b>{_format_prefix(int(node))[:_PREFIX_SHOWN]}</b> (released)<br>noisy count: "
        f"{format_number(float(noisy))}<br>{became}"
        for node, noisy, became in zip(tree.nodes[which], tree.noisy_counts[which], fate[which], strict=True)
    ]


def place_nodes(step: HashTreeStep) -> Array:
    """Where each node is drawn, shape (m, 2): ends side by side in the order of their codes, parents above the middle
    of their children, one row a level."""
    tree = step.tree
    level = partitions.find_level(tree.nodes)
    x = np.zeros(len(tree.nodes))
    ends = np.flatnonzero(~tree.split)
    by_code = ends[np.argsort(tree.nodes[ends] / 2.0 ** level[ends], kind="stable")]
    x[by_code] = (np.arange(len(by_code)) + 0.5) / len(by_code)
    for deeper in reversed(tree.levels()):
        parents, first = tree.children(deeper)
        x[parents] = (x[first] + x[first + 1]) / 2
    return np.column_stack([x, -level.astype(np.float64)])


def _format_prefix(node: int) -> str:
    """The bits of a heap number; a point for the root.

    >>> _format_prefix(1), _format_prefix(2), _format_prefix(13)
    ('·', '0', '101')
    """
    return bin(node)[3:] or "·"


def _compute_diameters(counts: Array, most: float) -> Array:
    """Diameters in pixels: the area grows with the count, up to that of ``most``."""
    part = np.sqrt(np.clip(counts / most if most > 0 else counts, 0.0, 1.0))
    sizes: Array = _SMALLEST + (_LARGEST - _SMALLEST) * part
    return sizes


def draw_coreset(step: CoresetStep, context: RenderContext) -> Chart:
    """Weighted points that stand for all rows: bubbles whose area is their weight, heavy ones under light ones."""
    view, points, weights = context.view, step.points, step.weights
    typical = format_number(float(np.median(step.point_noise_sd)) / 2 * 100)
    number = format_things(len(points), "point")
    title = capitalize_first(f"{number} for all rows, with noise of {typical} % of the width")
    beyond = view.count_beyond(points)
    outside = f"{format_things(beyond, 'point')} outside the picture" if beyond else ""
    whole, least, most = (format_number(float(value)) for value in (weights.sum(), weights.min(), weights.max()))

    def paint(canvas: PlotCanvas) -> None:
        places = view.plane(points)
        canvas.rows(context.reveal)
        if len(places) <= _HALOS_UP_TO:
            radii = np.minimum(step.point_noise_sd, view.region.diameter)
            canvas.halos(places, radii, "noise ±1 sd", "released", strength=0.3, width=5.0 if view.flat else 0.8)
        order = np.argsort(-weights, kind="stable")
        told = describe_step(points, view.domain, "point", {"weight": weights})
        notes = [told[i] for i in order]
        sizes = _compute_diameters(weights, float(weights.max(initial=0.0)))[order]
        marker = {"size": sizes, "line": {"width": 1, "color": canvas.palette.surface}}
        canvas.marks(places[order], "coreset points", "released", marker, strength=0.6, notes=notes, trace=UNCUT)
        canvas.plane()

    def tabulate() -> pd.DataFrame:
        table = tabulate_points(points, view.domain, "point")
        table["weight"], table["noise sd (unit coordinates)"] = weights, step.point_noise_sd
        return table

    note = join_clauses("noisy means of the leaves, their area the noisy weight", view.about, outside)
    released = capitalize_first(format_things(len(points), "released coreset point"))
    words = (
        f"{released} over {format_columns(view.domain)}. {title}. In all they weigh {whole} rows, each from {least} to "
        f"{most}."
    )
    return Chart(context, title, note, words, paint, table=tabulate)
