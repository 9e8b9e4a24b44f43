"""Hashing: the tree of asked prefixes with its noisy counts, and the coreset of its leaves."""

from __future__ import annotations

import numpy as np
import pandas as pd

from dpviz.algorithms.hashes.lsh_coreset import CoresetStep, HashTreeStep
from dpviz.arrays import Array, Flags
from dpviz.charts.canvas import NUMBER_SIZE, hidden_axis
from dpviz.charts.cells import segments
from dpviz.charts.picture import Look, Picture, columns_of, points_table, told_of
from dpviz.charts.sheet import UNCUT, Sheet
from dpviz.charts.wording import clauses, number, opening, percent, things
from dpviz.privacy.hash_partitions import level_of
from dpviz.privacy.queries import SparseCounts
from dpviz.privacy.sparse_mechanisms import counts_at
from dpviz.table.domain import Domain

# Diameters in pixels of a node or point without rows, and of one with all of them or the most.
_SMALLEST, _LARGEST = 4.0, 26.0
# Bits of a prefix that hovering shows.
_PREFIX_SHOWN = 24
# Up to so many levels each has its name.
_NAMED_LEVELS = 12
# Beyond this many points their halos would be one grey sheet.
_HALOS_UP_TO = 60


class HashTreePicture(Picture[HashTreeStep]):
    """Nodes by level, their area the noisy count; with revealed rows, orange rings of the true counts."""

    called = "hash tree"

    legend_lines = 3

    def finding(self, domain: Domain) -> str:
        tree = self.step.tree
        leaves = int(self.step.tree.leaf.sum())
        held = float(tree.noisy_counts[tree.leaf].sum() / max(1.0, tree.noisy_counts[0]))
        named = "1 leaf holds" if leaves == 1 else f"{leaves:,} leaves hold"
        return f"{named} {percent(min(1.0, max(0.0, held)))} of the rows, by noisy counts"

    def note(self, look: Look) -> str:
        step = self.step
        return clauses(
            f"split from {number(step.min_branch)} rows on, dropped under {number(step.min_node)}",
            f"{step.noise_name} noise on a count: sd {number(step.count_sd)}",
            "a mark's area is its noisy count",
        )

    def paint(self, sheet: Sheet, look: Look) -> None:
        tree, plot = self.step.tree, sheet.plot
        places = node_places(self.step)
        parent = np.searchsorted(tree.nodes, tree.nodes[1:] >> 1)
        for which, strength in ((~tree.kept[1:], 0.18), (tree.kept[1:], 0.5)):
            sheet.lines(segments(places[parent][which], places[1:][which]), "", "released", strength=strength)
        sizes = _diameters(tree.noisy_counts, tree.noisy_counts[0])
        rim = {"width": 0.8, "color": sheet.palette.surface}
        for name, which, symbol, strength in (
            ("dropped", ~tree.kept, "circle-open", 0.4),
            ("inner nodes", tree.kept & ~tree.leaf, "circle", 0.45),
            ("leaves", tree.leaf, "square", 1.0),
        ):
            marker = {"symbol": symbol, "size": sizes[which], "line": rim}
            notes = self._notes(which)
            sheet.marks(places[which], name, "released", marker, strength=strength, notes=notes, trace=UNCUT)
        if look.reveal is not None:
            rows = look.reveal.points if look.reveal.everyone is None else look.reveal.everyone
            hashes = self.step.hashes
            counts = counts_at(tree.nodes, SparseCounts.of(hashes.assign(rows), hashes.n_cells))
            line = {"width": 1.4, "color": sheet.palette.revealed}
            ring = {"symbol": "circle-open", "size": _diameters(counts, float(len(rows))) + 1, "line": line}
            hover = "true count: %{customdata:,.0f} (revealed)"
            sheet.marks(places, "true counts", "revealed", ring, hover=hover, notes=counts, trace=UNCUT)
        named = range(tree.depth + 1)
        every = 1 if tree.depth <= _NAMED_LEVELS else 2
        levels = ["all rows" if level == 0 else f"bit {level}" if level % every == 0 else "" for level in named]
        names = {"tickvals": [-level for level in named], "ticktext": levels}
        plot.update_xaxes(**hidden_axis(), range=[-0.02, 1.02])
        plot.update_yaxes(**names, range=[-tree.depth - 0.6, 0.6], showgrid=False, zeroline=False, fixedrange=True)
        plot.update_yaxes(tickfont={"size": NUMBER_SIZE, "color": sheet.palette.text})
        plot.update_layout(margin={"l": 78})

    def table(self, domain: Domain) -> pd.DataFrame:
        tree = self.step.tree
        return pd.DataFrame(
            {
                "level": level_of(tree.nodes),
                "prefix": [_prefix(int(node)) for node in tree.nodes],
                "noisy count": tree.noisy_counts,
                "kept": tree.kept,
                "leaf": tree.leaf,
            }
        )

    def words(self, domain: Domain) -> str:
        step = self.step
        return (
            f"{self.finding(domain)}. {len(step.tree.nodes) - 1:,} prefixes of random hyperplane hashes were counted "
            f"on {things(step.tree.depth, 'level')}, each with {step.noise_name} noise of standard deviation "
            f"{number(step.count_sd)}. Nodes of {number(step.min_branch)} rows and more were split, those under "
            f"{number(step.min_node)} dropped."
        )

    def _notes(self, which: Flags) -> list[str]:
        tree = self.step.tree
        fate = np.where(tree.leaf, "a leaf", np.where(tree.kept, "split", "dropped"))
        return [
            f"<b>{_prefix(int(node))[:_PREFIX_SHOWN]}</b> (released)<br>noisy count: {number(float(noisy))}<br>{became}"
            for node, noisy, became in zip(tree.nodes[which], tree.noisy_counts[which], fate[which], strict=True)
        ]


def node_places(step: HashTreeStep) -> Array:
    """Where each node is drawn, shape (m, 2): ends side by side in the order of their codes, parents above the middle
    of their children, one row a level."""
    tree = step.tree
    level = level_of(tree.nodes)
    x = np.zeros(len(tree.nodes))
    ends = np.flatnonzero(~tree.split)
    by_code = ends[np.argsort(tree.nodes[ends] / 2.0 ** level[ends], kind="stable")]
    x[by_code] = (np.arange(len(by_code)) + 0.5) / len(by_code)
    for deeper in reversed(tree.levels()):
        parents, first = tree.children(deeper)
        x[parents] = (x[first] + x[first + 1]) / 2
    return np.column_stack([x, -level.astype(np.float64)])


def _prefix(node: int) -> str:
    """The bits of a heap number; a point for the root.

    >>> _prefix(1), _prefix(2), _prefix(13)
    ('·', '0', '101')
    """
    return bin(node)[3:] or "·"


def _diameters(counts: Array, most: float) -> Array:
    """Diameters in pixels: the area grows with the count, up to that of ``most``."""
    part = np.sqrt(np.clip(counts / most if most > 0 else counts, 0.0, 1.0))
    sizes: Array = _SMALLEST + (_LARGEST - _SMALLEST) * part
    return sizes


class CoresetPicture(Picture[CoresetStep]):
    """Weighted points that stand for all rows: bubbles whose area is their weight, heavy ones under light ones."""

    called = "coreset"

    def finding(self, domain: Domain) -> str:
        typical = number(float(np.median(self.step.point_noise_sd)) / 2 * 100)
        return opening(f"{things(len(self.step.points), 'point')} for all rows, with noise of {typical} % of the width")

    def note(self, look: Look) -> str:
        beyond = look.view.beyond(self.step.points)
        outside = f"{things(beyond, 'point')} outside the picture" if beyond else ""
        return clauses("noisy means of the leaves, their area the noisy weight", look.view.about, outside)

    def paint(self, sheet: Sheet, look: Look) -> None:
        step = self.step
        places = sheet.view.plane(self.step.points)
        sheet.rows(look.reveal)
        if len(places) <= _HALOS_UP_TO:
            radii = np.minimum(step.point_noise_sd, sheet.view.region.diameter)
            width = 5.0 if sheet.view.flat else 0.8
            sheet.halos(places, radii, "noise ±1 sd", "released", strength=0.3, width=width)
        order = np.argsort(-step.weights, kind="stable")
        notes = told_of(step.points, sheet.view.domain, "point", {"weight": step.weights})
        sizes = _diameters(step.weights, float(step.weights.max(initial=0.0)))[order]
        sheet.marks(
            places[order],
            "coreset points",
            "released",
            {"size": sizes, "line": {"width": 1, "color": sheet.palette.surface}},
            strength=0.6,
            notes=[notes[i] for i in order],
            trace=UNCUT,
        )
        sheet.plane()

    def table(self, domain: Domain) -> pd.DataFrame:
        table = points_table(self.step.points, domain, "point")
        table["weight"], table["noise sd (unit coordinates)"] = self.step.weights, self.step.point_noise_sd
        return table

    def words(self, domain: Domain) -> str:
        weights = self.step.weights
        points = opening(things(len(self.step.points), "released coreset point"))
        return (
            f"{points} over {columns_of(domain)}. {self.finding(domain)}. In all they weigh "
            f"{number(float(weights.sum()))} rows, each from {number(float(weights.min()))} to "
            f"{number(float(weights.max()))}."
        )
