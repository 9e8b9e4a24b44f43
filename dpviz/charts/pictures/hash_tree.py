"""The tree of hashes: every asked prefix with its noisy count, kept ones above those that were dropped."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dpviz.algorithms.hashes.lsh_coreset import HashTreeStep
from dpviz.arrays import Array, Flags
from dpviz.charts.canvas import NUMBER_SIZE, canvas, hidden_axis, legend_name, line_xy, marks_xy, name_kinds
from dpviz.charts.cells import segments
from dpviz.charts.revealed import RevealedView
from dpviz.charts.theme import Palette
from dpviz.charts.wording import clauses, number, percent, things
from dpviz.privacy.hash_partitions import level_of
from dpviz.privacy.path_counts import counts_at
from dpviz.privacy.sparse import SparseCounts

# Diameters in pixels of a node without rows and of one with all of them.
_SMALLEST, _LARGEST = 4.0, 26.0
_PREFIX_SHOWN = 24


def draw_hash_tree(step: HashTreeStep, *, palette: Palette, reveal: RevealedView | None = None) -> go.Figure:
    """Nodes by level, their area the noisy count; with revealed rows, orange rings of the true counts."""
    tree = step.tree
    figure = canvas(palette, title=hash_tree_finding(step), subtitle=_subtitle(step), legend_lines=3)
    place = node_places(step)
    sizes = _diameters(tree.noisy_counts, tree.noisy_counts[0])
    _draw_branches(figure, step, place, palette)
    leaf = tree.leaf
    kinds: tuple[tuple[str, Flags, dict[str, object]], ...] = (
        ("dropped", ~tree.kept, {"symbol": "circle-open", "color": palette.faded(palette.released, 0.4)}),
        ("inner nodes", tree.kept & ~leaf, {"color": palette.faded(palette.released, 0.45)}),
        ("leaves", leaf, {"symbol": "square", "color": palette.released}),
    )
    for name, which, marker in kinds:
        figure.add_trace(
            go.Scatter(
                **marks_xy(place[which]),
                mode="markers",
                name=legend_name(name, "released"),
                marker={"size": sizes[which], "line": {"width": 0.8, "color": palette.surface}, "opacity": 1.0}
                | marker,
                customdata=_hover(step, which),
                hovertemplate="%{customdata}<extra></extra>",
                cliponaxis=False,
                meta="released",
            )
        )
    if reveal is not None:
        rows = reveal.points if reveal.everyone is None else reveal.everyone
        _draw_true_counts(figure, step, rows, place, palette)
    figure.update_xaxes(**hidden_axis(), range=[-0.02, 1.02])
    figure.update_yaxes(
        range=[-tree.depth - 0.6, 0.6],
        tickvals=[-level for level in range(tree.depth + 1)],
        ticktext=_level_names(step),
        tickfont={"size": NUMBER_SIZE, "color": palette.text},
        showgrid=False,
        zeroline=False,
        fixedrange=True,
    )
    figure.update_layout(margin={"l": 78})
    return name_kinds(figure, palette)


def node_places(step: HashTreeStep) -> Array:
    """Where each node is drawn, shape (m, 2): ends side by side in the order of their codes, parents above the middle
    of their children, one row a level."""
    tree = step.tree
    level, x = level_of(tree.nodes), np.zeros(len(tree.nodes))
    ends = np.flatnonzero(~tree.split)
    by_code = ends[np.argsort(tree.nodes[ends] / 2.0 ** level[ends], kind="stable")]
    x[by_code] = (np.arange(len(by_code)) + 0.5) / len(by_code)
    for deeper in reversed(tree.levels()):
        parents, first = tree.children(deeper)
        x[parents] = (x[first] + x[first + 1]) / 2
    return np.column_stack([x, -level.astype(np.float64)])


def hash_tree_table(step: HashTreeStep) -> pd.DataFrame:
    """Every asked prefix with its noisy count and what became of it."""
    tree = step.tree
    return pd.DataFrame(
        {
            "level": level_of(tree.nodes),
            "prefix": [_prefix(int(node)) for node in tree.nodes],
            "noisy count": tree.noisy_counts,
            "kept": tree.kept,
            "leaf": tree.leaf,
        }
    )


def describe_hash_tree(step: HashTreeStep) -> str:
    """The picture in words."""
    return (
        f"{hash_tree_finding(step)}. {len(step.tree.nodes) - 1:,} prefixes of random hyperplane hashes were counted on "
        f"{things(step.tree.depth, 'level')}, each with {step.noise_name} noise of standard deviation "
        f"{number(step.count_sd)}. Nodes of {number(step.min_branch)} rows and more were split, those under "
        f"{number(step.min_node)} dropped."
    )


def hash_tree_finding(step: HashTreeStep) -> str:
    """How much of the rows the leaves hold, from released counts."""
    tree = step.tree
    leaves = int(tree.leaf.sum())
    held = float(tree.noisy_counts[tree.leaf].sum() / max(1.0, tree.noisy_counts[0]))
    share = percent(min(1.0, max(0.0, held)))
    verb = "holds" if leaves == 1 else "hold"
    return f"{leaves:,} {'leaf' if leaves == 1 else 'leaves'} {verb} {share} of the rows, by noisy counts"


def _subtitle(step: HashTreeStep) -> str:
    return clauses(
        f"split from {number(step.min_branch)} rows on, dropped under {number(step.min_node)}",
        f"{step.noise_name} noise on a count: sd {number(step.count_sd)}",
        "a mark's area is its noisy count",
    )


def _level_names(step: HashTreeStep) -> list[str]:
    depth = step.tree.depth
    every = 1 if depth <= 12 else 2
    return ["all rows" if level == 0 else f"bit {level}" if level % every == 0 else "" for level in range(depth + 1)]


def _prefix(node: int) -> str:
    """The bits of a heap number; a point for the root.

    >>> _prefix(1), _prefix(2), _prefix(13)
    ('·', '0', '101')
    """
    return bin(node)[3:] or "·"


def _hover(step: HashTreeStep, which: Flags) -> list[str]:
    tree = step.tree
    fate = np.where(tree.leaf, "a leaf", np.where(tree.kept, "split", "dropped"))
    return [
        f"<b>{_prefix(int(node))[:_PREFIX_SHOWN]}</b> (released)<br>noisy count: {number(float(noisy))}<br>{what}"
        for node, noisy, what in zip(tree.nodes[which], tree.noisy_counts[which], fate[which], strict=True)
    ]


def _diameters(counts: Array, whole: float) -> Array:
    part = np.sqrt(np.clip(counts / max(1.0, whole), 0.0, 1.0))
    sizes: Array = _SMALLEST + (_LARGEST - _SMALLEST) * part
    return sizes


def _draw_branches(figure: go.Figure, step: HashTreeStep, place: Array, palette: Palette) -> None:
    tree = step.tree
    parent = np.searchsorted(tree.nodes, tree.nodes[1:] >> 1)
    for which, strength in ((~tree.kept[1:], 0.18), (tree.kept[1:], 0.5)):
        figure.add_trace(
            go.Scatter(
                **line_xy(segments(place[parent][which], place[1:][which])),
                mode="lines",
                line={"color": palette.faded(palette.released, strength), "width": 1.0},
                hoverinfo="skip",
                showlegend=False,
                meta="released",
            )
        )


def _draw_true_counts(figure: go.Figure, step: HashTreeStep, rows: Array, place: Array, palette: Palette) -> None:
    tree = step.tree
    true_counts = counts_at(tree.nodes, SparseCounts.of(step.hashes.assign(rows), step.hashes.n_cells))
    figure.add_trace(
        go.Scatter(
            **marks_xy(place),
            mode="markers",
            name=legend_name("true counts", "revealed"),
            marker={
                "symbol": "circle-open",
                "size": _diameters(true_counts, float(len(rows))) + 1,
                "color": palette.revealed,
                "line": {"width": 1.4, "color": palette.revealed},
            },
            customdata=true_counts,
            hovertemplate="true count: %{customdata:,.0f} (revealed)<extra></extra>",
            cliponaxis=False,
            meta="revealed",
        )
    )
