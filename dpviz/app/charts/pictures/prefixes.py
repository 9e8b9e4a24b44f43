"""Trees of prefixes: made of messages in the local model, or of hashes, whose leaves become a coreset."""

from __future__ import annotations

import numpy as np
import pandas as pd

from dpviz.algorithms import CoresetStep, HashTreeStep, MessageStep, ServerTreeStep
from dpviz.app.charts.canvas import NUMBER_SIZE, UNCUT, PlotCanvas, make_hidden_axis
from dpviz.app.charts.cells import outline_segments
from dpviz.app.charts.picture import Chart, RenderContext, describe_step, format_columns, tabulate_points
from dpviz.core import Array, mechanisms, partitions, queries
from dpviz.words import capitalize_first, format_number, format_percent, format_things


def draw_message(step: MessageStep, context: RenderContext) -> Chart:
    """For each group the chance of sending the truth, with the made-up user's own prefix and what is sent instead."""
    number, groups = len(step.bits), np.arange(len(step.bits))
    sorts = zip(step.truths.tolist(), step.sent.tolist(), step.bits.tolist(), strict=True)
    prefixes = [(f"{own:0{bits}b}", f"{sent:0{bits}b}") for own, sent, bits in sorts]
    title = f"A made-up user lies in {int((step.truths != step.sent).sum())} of {number} groups"
    title += ", and the server sees no row"
    vectors = (step.point, step.noisy_point, step.noisy_point - step.point)
    row, sent, noise = (float(np.linalg.norm(vector)) for vector in vectors)
    times = format_number(noise / max(1e-12, row))

    def paint(canvas: PlotCanvas) -> None:
        plot, font = canvas.plot, {"size": NUMBER_SIZE, "color": canvas.palette.text}
        name, hover = "chance that the own prefix is sent", "the own prefix is sent with probability %{x:.3g}"
        written = {"text": [f"own {own}, sent {sent}" for own, sent in prefixes], "textposition": "outside"}
        trace = {"orientation": "h", **written, "textfont": font, **UNCUT}
        canvas.bars(step.honest, -groups, 0.55, name, "public", strength=0.55, hover=hover, trace=trace)
        guess = np.column_stack([2.0 ** -step.bits.astype(np.float64), -groups])
        stroke = {"symbol": "line-ns-open", "size": 20, "color": canvas.palette.text, "line": {"width": 2}}
        canvas.marks(guess, "chance by guessing", "public", stroke, hover="a guess: %{x:.3g}")
        shares = step.users / max(1, int(step.users.sum()))
        names = [f"{format_percent(float(part))}: {bits} bits" for part, bits in zip(shares, step.bits, strict=True)]
        plot.update_xaxes(range=[0, 1.9], tickvals=[0, 0.25, 0.5, 0.75, 1], title_text="probability")
        plot.update_yaxes(tickvals=list(-groups), ticktext=[*names[:-1], f"{names[-1]}<br>and the row"])
        plot.update_yaxes(tickfont=font, range=[-number + 0.4, 0.6], showgrid=False, zeroline=False)
        plot.update_layout(margin={"l": 104})

    def tabulate() -> pd.DataFrame:
        table = pd.DataFrame({"group": groups + 1, "users": step.users, "bits": step.bits})
        table[["own prefix", "sent prefix"]] = prefixes
        return table.assign(**{"chance of the own prefix": step.honest})

    note = (f"each message is {step.epsilon:g}-DP", f"the noise on the vector is {times} times as long as the row")
    groups_of = f"Users are in {number} groups; every message is {step.epsilon:g}-DP on its own"
    lengths = f"has length {format_number(row)}, what is sent of it {format_number(sent)} (unit coordinates)"
    words = f"{title}. {groups_of}. The row of the made-up user {lengths}."
    # It is made up, and no row is involved.
    return Chart(context, title, note, words, paint, legend_lines=2, table=tabulate, kind="public")


def draw_server_tree(step: ServerTreeStep, context: RenderContext) -> Chart:
    """Debiased counts by level with the threshold of each; what stands out is kept."""
    counts, kept = step.noisy_counts, step.kept
    prefixes = [bin(int(node))[3:] for node in step.nodes]
    title = f"{int(kept.sum()):,} of {len(kept):,} prefixes stand out of the noise of the messages"
    largest = format_percent(float(step.count_sd.max()) / step.n)

    def paint(canvas: PlotCanvas) -> None:
        # Levels side by side, nodes of a level in the order of their codes.
        levels, first, index = np.unique(partitions.find_level(step.nodes), return_index=True, return_inverse=True)
        width = 2.0 ** levels[index]
        # Part of the room of a level that its nodes take.
        across = index + 0.8 * ((step.nodes - width + 0.5) / width - 0.5)
        plot, places = canvas.plot, np.column_stack([across, counts / step.n])
        told = [
            f"{prefix}: {format_number(float(users))} users, sd {format_number(float(sd))}"
            for prefix, users, sd in zip(prefixes, counts, step.count_sd, strict=True)
        ]
        for name, which, symbol, strength in (("dropped", ~kept, "circle-open", 0.6), ("kept", kept, "circle", 1.0)):
            notes = [told[i] for i in np.flatnonzero(which)]
            canvas.marks(places[which], name, "released", {"symbol": symbol, "size": 9}, strength=strength, notes=notes)
        height = step.threshold * step.count_sd[first] / step.n
        middle = np.arange(len(levels), dtype=np.float64)
        # Half of the length of a threshold, where levels are 1 apart.
        left, right = (np.column_stack([middle + side * 0.45, height]) for side in (-1, 1))
        name = f"{step.threshold:g} sd of the noise"
        canvas.lines(outline_segments(left, right), name, "public", width=1.5, dash="dash")
        bits = [f"{level} bit{'s' * (level > 1)}" for level in levels.tolist()]
        plot.update_xaxes(tickvals=list(middle), ticktext=bits, range=[-0.5, len(levels) - 0.5])
        plot.update_xaxes(title_text="length of the prefix", showgrid=False)
        plot.update_yaxes(title_text="estimated share of the users", zeroline=True)

    def tabulate() -> pd.DataFrame:
        known = {"bits": partitions.find_level(step.nodes), "prefix": prefixes, "debiased count": counts}
        return pd.DataFrame(known | {"standard deviation": step.count_sd, "kept": kept})

    note = ("debiased: lies are expected and corrected", f"noise up to {largest} of the users (sd)")
    low, high = format_number(float(counts.min())), format_number(float(counts.max()))
    counted = f"The server estimates counts from {low} to {high} of {step.n:,} users"
    words = f"{title}. {counted}; a prefix is kept from {step.threshold:g} standard deviations on."
    return Chart(context, title, note, words, paint, legend_lines=2, table=tabulate)


# Diameters in pixels of a node or point without rows, and of one with all of them or the most.
_SMALLEST, _LARGEST = 4.0, 26.0
# Bits of a prefix that hovering shows.
_PREFIX_SHOWN = 24


def draw_hash_tree(step: HashTreeStep, context: RenderContext) -> Chart:
    """Nodes by level, their area the noisy count; with revealed rows, orange rings of the true counts."""
    # The bits of each heap number; a point for the root.
    tree, prefixes = step.tree, [bin(int(node))[3:] or "·" for node in step.tree.nodes]
    leaves, held = int(tree.leaf.sum()), float(tree.noisy_counts[tree.leaf].sum() / max(1.0, tree.noisy_counts[0]))
    named = "1 leaf holds" if leaves == 1 else f"{leaves:,} leaves hold"
    title = f"{named} {format_percent(max(0.0, held))} of the rows, by noisy counts"
    split, dropped, sd = (format_number(value) for value in (step.min_branch, step.min_node, step.count_sd))

    def paint(canvas: PlotCanvas) -> None:
        plot, places = canvas.plot, place_nodes(step)
        parent = np.searchsorted(tree.nodes, tree.nodes[1:] >> 1)
        for which, strength in ((~tree.kept[1:], 0.18), (tree.kept[1:], 0.5)):
            canvas.lines(outline_segments(places[parent][which], places[1:][which]), "", "released", strength=strength)
        sizes = _compute_diameters(tree.noisy_counts, tree.noisy_counts[0])
        rim = {"width": 0.8, "color": canvas.palette.surface}
        fate = np.where(tree.leaf, "a leaf", np.where(tree.kept, "split", "dropped"))
        told = [
            f"<b>{bits[:_PREFIX_SHOWN]}</b> (released)<br>noisy count: {format_number(float(noisy))}<br>{became}"
            for bits, noisy, became in zip(prefixes, tree.noisy_counts, fate, strict=True)
        ]
        for name, which, symbol, strength in (
            ("dropped", ~tree.kept, "circle-open", 0.4),
            ("inner nodes", tree.kept & ~tree.leaf, "circle", 0.45),
            ("leaves", tree.leaf, "square", 1.0),
        ):
            marker = {"symbol": symbol, "size": sizes[which], "line": rim}
            notes = [told[i] for i in np.flatnonzero(which)]
            canvas.marks(places[which], name, "released", marker, strength=strength, notes=notes, trace=UNCUT)
        if context.reveal is not None:
            rows = context.reveal.points if context.reveal.everyone is None else context.reveal.everyone
            hashed = queries.SparseCounts.of(step.hashes.assign(rows), step.hashes.n_cells)
            counts = mechanisms.count_below(tree.nodes, hashed)
            line = {"width": 1.4, "color": canvas.palette.revealed}
            ring = {"symbol": "circle-open", "size": _compute_diameters(counts, float(len(rows))) + 1, "line": line}
            hover = "true count: %{customdata:,.0f} (revealed)"
            canvas.marks(places, "true counts", "revealed", ring, hover=hover, notes=counts, trace=UNCUT)
        # Up to so many levels each has its name.
        every, levels = 1 if tree.depth <= 12 else 2, range(tree.depth + 1)
        names = ["all rows" if level == 0 else f"bit {level}" if level % every == 0 else "" for level in levels]
        plot.update_xaxes(**make_hidden_axis(), range=[-0.02, 1.02])
        plot.update_yaxes(tickvals=[-level for level in levels], ticktext=names, range=[-tree.depth - 0.6, 0.6])
        plot.update_yaxes(showgrid=False, zeroline=False, fixedrange=True)
        plot.update_yaxes(tickfont={"size": NUMBER_SIZE, "color": canvas.palette.text})
        plot.update_layout(margin={"l": 78})

    def tabulate() -> pd.DataFrame:
        known = {"level": partitions.find_level(tree.nodes), "prefix": prefixes, "noisy count": tree.noisy_counts}
        return pd.DataFrame(known | {"kept": tree.kept, "leaf": tree.leaf})

    ends, noise = f"split from {split} rows on, dropped under {dropped}", f"{step.noise_name} noise on a count: sd {sd}"
    note, levels = (ends, noise, "a mark's area is its noisy count"), format_things(tree.depth, "level")
    words = f"{title}. {len(tree.nodes) - 1:,} prefixes of random hyperplane hashes were counted on {levels}"
    words += f", each with {step.noise_name} noise of standard deviation {sd}."
    words += f" Nodes of {split} rows and more were split, those under {dropped} dropped."
    return Chart(context, title, note, words, paint, legend_lines=3, table=tabulate)


def place_nodes(step: HashTreeStep) -> Array:
    """Where each node is drawn, (m, 2): ends in the order of their codes, parents above their middle, a row a level."""
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


def _compute_diameters(counts: Array, most: float) -> Array:
    """Diameters in pixels: the area grows with the count, up to that of ``most``."""
    return _SMALLEST + (_LARGEST - _SMALLEST) * np.sqrt(np.clip(counts / most if most > 0 else counts, 0.0, 1.0))


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
        # Beyond this many points their halos would be one grey sheet.
        if len(places) <= 60:
            radii = np.minimum(step.point_noise_sd, view.region.diameter)
            canvas.halos(places, radii, "noise, 1 sd", "released", strength=0.3, width=5.0 if view.flat else 0.8)
        order = np.argsort(-weights, kind="stable")
        told = describe_step(points, view.domain, "point", {"weight": [*map(format_number, weights.tolist())]})
        notes = [told[i] for i in order]
        sizes = _compute_diameters(weights, float(weights.max(initial=0.0)))[order]
        marker = {"size": sizes, "line": {"width": 1, "color": canvas.palette.surface}}
        canvas.marks(places[order], "coreset points", "released", marker, strength=0.6, notes=notes, trace=UNCUT)
        canvas.plane()

    def tabulate() -> pd.DataFrame:
        table = tabulate_points(points, view.domain, "point")
        table["weight"], table["noise sd (unit coordinates)"] = weights, step.point_noise_sd
        return table

    note = ("noisy means of the leaves, their area the noisy weight", view.about, outside)
    released = capitalize_first(format_things(len(points), "released coreset point"))
    weigh = f"In all they weigh {whole} rows, each from {least} to {most}"
    words = f"{released} over {format_columns(view.domain)}. {title}. {weigh}."
    return Chart(context, title, note, words, paint, table=tabulate)
