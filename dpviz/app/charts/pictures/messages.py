"""The local model: the message of one made-up user, and the counts that the server makes of all messages."""

from __future__ import annotations

import numpy as np
import pandas as pd

from dpviz.algorithms import MessageStep, ServerTreeStep
from dpviz.app.charts.canvas import NUMBER_SIZE
from dpviz.app.charts.cells import outline_segments
from dpviz.app.charts.picture import Chart, RenderContext
from dpviz.app.charts.plot_canvas import UNCUT, PlotCanvas
from dpviz.core import Array, partitions
from dpviz.words import format_number, format_percent, join_clauses

# Part of the room of a level that its nodes take.
_WIDE = 0.8
# Half of the length of a threshold, where levels are 1 apart.
_HALF_WALL = 0.45


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
        canvas.bars(
            step.honest,
            -groups,
            0.55,
            "chance that the own prefix is sent",
            "public",
            strength=0.55,
            hover="the own prefix is sent with probability %{x:.3g}",
            trace={
                "orientation": "h",
                "text": [f"own {own}, sent {sent}" for own, sent in prefixes],
                **{"textposition": "outside", "textfont": font, **UNCUT},
            },
        )
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
        sides = {"own prefix": [own for own, _ in prefixes], "sent prefix": [sent for _, sent in prefixes]}
        known = {"group": groups + 1, "users": step.users, "bits": step.bits}
        return pd.DataFrame(known | sides | {"chance of the own prefix": step.honest})

    note = join_clauses(
        f"each message is {step.epsilon:g}-DP", f"the noise on the vector is {times} times as long as the row"
    )
    words = (
        f"{title}. Users are in {number} groups; every message is {step.epsilon:g}-DP on its own. The row of the "
        f"made-up user has length {format_number(row)}, what is sent of it {format_number(sent)} (unit coordinates)."
    )
    # It is made up, and no row is involved.
    return Chart(context, title, note, words, paint, legend_lines=2, table=tabulate, kind="public")


def draw_server_tree(step: ServerTreeStep, context: RenderContext) -> Chart:
    """Debiased counts by level with the threshold of each; what stands out is kept."""
    counts, kept = step.noisy_counts, step.kept
    prefixes = [bin(int(node))[3:] for node in step.nodes]
    title = f"{int(kept.sum()):,} of {len(kept):,} prefixes stand out of the noise of the messages"
    largest = format_percent(float(step.count_sd.max()) / step.n)

    def paint(canvas: PlotCanvas) -> None:
        plot, places = canvas.plot, np.column_stack([place_server_nodes(step), counts / step.n])
        told = [
            f"{prefix}: {format_number(float(users))} users, sd {format_number(float(sd))}"
            for prefix, users, sd in zip(prefixes, counts, step.count_sd, strict=True)
        ]
        for name, which, symbol, strength in (("dropped", ~kept, "circle-open", 0.6), ("kept", kept, "circle", 1.0)):
            notes = [told[i] for i in np.flatnonzero(which)]
            marker = {"symbol": symbol, "size": 9}
            canvas.marks(places[which], name, "released", marker, strength=strength, notes=notes)
        levels, first = np.unique(partitions.find_level(step.nodes), return_index=True)
        height = step.threshold * step.count_sd[first] / step.n
        middle = np.arange(len(levels), dtype=np.float64)
        left, right = (np.column_stack([middle + side * _HALF_WALL, height]) for side in (-1, 1))
        name = f"{step.threshold:g} sd of the noise"
        canvas.lines(outline_segments(left, right), name, "public", width=1.5, dash="dash")
        bits = [f"{level} bit{'s' * (level > 1)}" for level in levels.tolist()]
        plot.update_xaxes(tickvals=list(middle), ticktext=bits, range=[-0.5, len(levels) - 0.5])
        plot.update_xaxes(title_text="length of the prefix", showgrid=False)
        plot.update_yaxes(title_text="estimated share of the users", zeroline=True)

    def tabulate() -> pd.DataFrame:
        known = {"bits": partitions.find_level(step.nodes), "prefix": prefixes, "debiased count": counts}
        return pd.DataFrame(known | {"standard deviation": step.count_sd, "kept": kept})

    note = join_clauses("debiased: lies are expected and corrected", f"noise up to {largest} of the users (sd)")
    words = (
        f"{title}. The server estimates counts from {format_number(float(counts.min()))} to "
        f"{format_number(float(counts.max()))} of {step.n:,} users; a prefix is kept from {step.threshold:g} standard "
        f"deviations on."
    )
    return Chart(context, title, note, words, paint, legend_lines=2, table=tabulate)


def place_server_nodes(step: ServerTreeStep) -> Array:
    """Where each node stands along the axis: levels side by side, nodes of a level in the order of their codes."""
    levels, index = np.unique(partitions.find_level(step.nodes), return_inverse=True)
    width = 2.0 ** levels[index]
    places: Array = index + _WIDE * ((step.nodes - width + 0.5) / width - 0.5)
    return places
