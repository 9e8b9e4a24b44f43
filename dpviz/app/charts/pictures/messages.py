"""The local model: the message of one made-up user, and the counts that the server makes of all messages."""

from __future__ import annotations

import numpy as np
import pandas as pd

from dpviz.algorithms import MessageStep, ServerTreeStep
from dpviz.app.charts.canvas import NUMBER_SIZE
from dpviz.app.charts.cells import outline_segments
from dpviz.app.charts.picture import Picture, RenderContext
from dpviz.app.charts.plot_canvas import UNCUT, PlotCanvas
from dpviz.core import Array, Domain, partitions
from dpviz.words import Kind, format_number, format_percent, join_clauses

# Part of the room of a level that its nodes take.
_WIDE = 0.8
# Half of the length of a threshold, where levels are 1 apart.
_HALF_WALL = 0.45


class MessagePicture(Picture[MessageStep]):
    """For each group the chance of sending the truth, with the made-up user's own prefix and what is sent instead."""

    called = "message"

    legend_lines = 2

    def finding(self, domain: Domain) -> str:
        lies = int((self.step.truths != self.step.sent).sum())
        return f"A made-up user lies in {lies} of {len(self.step.bits)} groups, and the server sees no row"

    def note(self, context: RenderContext) -> str:
        step = self.step
        row, noise = (float(np.linalg.norm(vector)) for vector in (step.point, step.noisy_point - step.point))
        times = format_number(noise / max(1e-12, row))
        return join_clauses(
            f"each message is {step.epsilon:g}-DP", f"the noise on the vector is {times} times as long as the row"
        )

    def paint(self, canvas: PlotCanvas, context: RenderContext) -> None:
        step, plot = self.step, canvas.plot
        groups = np.arange(len(step.bits))
        font = {"size": NUMBER_SIZE, "color": canvas.palette.text}
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
                "text": [f"own {own}, sent {sent}" for own, sent in self._prefixes()],
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
        plot.update_yaxes(tickfont=font, range=[-len(groups) + 0.4, 0.6], showgrid=False, zeroline=False)
        plot.update_layout(margin={"l": 104})

    def table(self, domain: Domain) -> pd.DataFrame:
        step = self.step
        prefixes = self._prefixes()
        return pd.DataFrame(
            {
                "group": np.arange(1, len(step.bits) + 1),
                "users": step.users,
                "bits": step.bits,
                "own prefix": [own for own, _ in prefixes],
                "sent prefix": [sent for _, sent in prefixes],
                "chance of the own prefix": step.honest,
            }
        )

    def words(self, domain: Domain) -> str:
        step = self.step
        row, sent = (format_number(float(np.linalg.norm(vector))) for vector in (step.point, step.noisy_point))
        return (
            f"{self.finding(domain)}. Users are in {len(step.bits)} groups; every message is {step.epsilon:g}-DP on "
            f"its own. The row of the made-up user has length {row}, what is sent of it {sent} (unit coordinates)."
        )

    @property
    def kind(self) -> Kind:
        """Public: it is made up, and no row is involved."""
        return "public"

    def _prefixes(self) -> list[tuple[str, str]]:
        """The own prefix and the one that is sent, in bits, by group."""
        groups = zip(self.step.truths.tolist(), self.step.sent.tolist(), self.step.bits.tolist(), strict=True)
        return [(f"{own:0{bits}b}", f"{sent:0{bits}b}") for own, sent, bits in groups]


class ServerTreePicture(Picture[ServerTreeStep]):
    """Debiased counts by level with the threshold of each; what stands out is kept."""

    called = "server tree"

    legend_lines = 2

    def finding(self, domain: Domain) -> str:
        kept = self.step.kept
        return f"{int(kept.sum()):,} of {len(kept):,} prefixes stand out of the noise of the messages"

    def note(self, context: RenderContext) -> str:
        largest = format_percent(float(self.step.count_sd.max()) / self.step.n)
        return join_clauses("debiased: lies are expected and corrected", f"noise up to {largest} of the users (sd)")

    def paint(self, canvas: PlotCanvas, context: RenderContext) -> None:
        step, plot = self.step, canvas.plot
        places = np.column_stack([place_server_nodes(step), step.noisy_counts / step.n])
        told = [
            f"{bin(int(node))[3:]}: {format_number(float(users))} users, sd {format_number(float(sd))}"
            for node, users, sd in zip(step.nodes, step.noisy_counts, step.count_sd, strict=True)
        ]
        for name, which, symbol, strength in (
            ("dropped", ~step.kept, "circle-open", 0.6),
            ("kept", step.kept, "circle", 1.0),
        ):
            marker = {"symbol": symbol, "size": 9}
            notes = [told[i] for i in np.flatnonzero(which)]
            canvas.marks(places[which], name, "released", marker, strength=strength, notes=notes)
        levels, first = np.unique(partitions.find_level(step.nodes), return_index=True)
        height = step.threshold * step.count_sd[first] / step.n
        middle = np.arange(len(levels), dtype=np.float64)
        left, right = (np.column_stack([middle + side * _HALF_WALL, height]) for side in (-1, 1))
        name = f"{step.threshold:g} sd of the noise"
        canvas.lines(outline_segments(left, right), name, "public", width=1.5, dash="dash")
        plot.update_xaxes(
            tickvals=list(middle),
            ticktext=[f"{level} bit{'s' * (level > 1)}" for level in levels.tolist()],
            range=[-0.5, len(levels) - 0.5],
            title_text="length of the prefix",
            showgrid=False,
        )
        plot.update_yaxes(title_text="estimated share of the users", zeroline=True)

    def table(self, domain: Domain) -> pd.DataFrame:
        step = self.step
        return pd.DataFrame(
            {
                "bits": partitions.find_level(step.nodes),
                "prefix": [bin(int(node))[3:] for node in step.nodes],
                "debiased count": step.noisy_counts,
                "standard deviation": step.count_sd,
                "kept": step.kept,
            }
        )

    def words(self, domain: Domain) -> str:
        step = self.step
        low, high = format_number(float(step.noisy_counts.min())), format_number(float(step.noisy_counts.max()))
        return (
            f"{self.finding(domain)}. The server estimates counts from {low} to {high} of {step.n:,} users; a prefix "
            f"is kept from {step.threshold:g} standard deviations on."
        )


def place_server_nodes(step: ServerTreeStep) -> Array:
    """Where each node stands along the axis: levels side by side, nodes of a level in the order of their codes."""
    levels, index = np.unique(partitions.find_level(step.nodes), return_inverse=True)
    width = 2.0 ** levels[index]
    places: Array = index + _WIDE * ((step.nodes - width + 0.5) / width - 0.5)
    return places
