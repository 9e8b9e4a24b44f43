"""The local model: the message of one made-up user, and the counts that the server makes of all messages."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dpviz.algorithms.hashes.lsh_local import MessageStep, ServerTreeStep
from dpviz.arrays import Array
from dpviz.charts.canvas import NUMBER_SIZE, canvas, legend_name, line_xy, marks_xy, name_kinds
from dpviz.charts.cells import segments
from dpviz.charts.theme import Palette
from dpviz.charts.wording import clauses, number, percent
from dpviz.privacy.hash_partitions import level_of

# Part of the room of a level that its nodes take.
_WIDE = 0.8


def draw_message(step: MessageStep, *, palette: Palette) -> go.Figure:
    """For each group the chance of sending the truth, with the made-up user's own prefix and what is sent instead."""
    figure = canvas(palette, title=message_finding(step), subtitle=_message_subtitle(step), legend_lines=2)
    groups = np.arange(len(step.bits))
    figure.add_trace(
        go.Bar(
            **{"x": step.honest, "y": -groups, "orientation": "h", "width": 0.55},
            name=legend_name("chance that the own prefix is sent", "public"),
            marker={"color": palette.faded(palette.public, 0.55), "line": {"width": 0}},
            text=[
                f"own {_bits(int(own), int(bits))}, sent {_bits(int(sent), int(bits))}"
                for own, sent, bits in zip(step.truths, step.sent, step.bits, strict=True)
            ],
            textposition="outside",
            textfont={"size": NUMBER_SIZE, "color": palette.text},
            cliponaxis=False,
            hovertemplate="the own prefix is sent with probability %{x:.3g}<extra></extra>",
            meta="public",
        )
    )
    figure.add_trace(
        go.Scatter(
            **{"x": 2.0 ** -step.bits.astype(np.float64), "y": -groups.astype(np.float64), "mode": "markers"},
            name=legend_name("chance by guessing", "public"),
            marker={"symbol": "line-ns-open", "size": 20, "color": palette.text, "line": {"width": 2}},
            hovertemplate="a guess: %{x:.3g}<extra></extra>",
            meta="public",
        )
    )
    figure.update_xaxes(range=[0, 1.9], tickvals=[0, 0.25, 0.5, 0.75, 1], title_text="probability")
    figure.update_yaxes(
        tickvals=list(-groups),
        ticktext=_group_names(step),
        tickfont={"size": NUMBER_SIZE, "color": palette.text},
        range=[-len(groups) + 0.4, 0.6],
        showgrid=False,
        zeroline=False,
    )
    figure.update_layout(margin={"l": 104})
    return name_kinds(figure, palette)


def message_table(step: MessageStep) -> pd.DataFrame:
    """Groups with their users, the length of their prefix, and the made-up user's own and sent prefix."""
    rows = zip(step.truths.tolist(), step.sent.tolist(), step.bits.tolist(), strict=True)
    words = [(_bits(own, bits), _bits(sent, bits)) for own, sent, bits in rows]
    return pd.DataFrame(
        {
            "group": np.arange(1, len(step.bits) + 1),
            "users": step.users,
            "bits": step.bits,
            "own prefix": [own for own, _ in words],
            "sent prefix": [sent for _, sent in words],
            "chance of the own prefix": step.honest,
        }
    )


def describe_message(step: MessageStep) -> str:
    """The picture in words."""
    return (
        f"{message_finding(step)}. Users are in {len(step.bits)} groups; every message is {step.epsilon:g}-DP on its "
        f"own. The row of the made-up user has length {number(float(np.linalg.norm(step.point)))}, what is sent of it "
        f"{number(float(np.linalg.norm(step.noisy_point)))} (unit coordinates)."
    )


def message_finding(step: MessageStep) -> str:
    """How often the made-up user lies."""
    lies = int((step.truths != step.sent).sum())
    return f"A made-up user lies in {lies} of {len(step.bits)} groups, and the server sees no row"


def draw_server(step: ServerTreeStep, *, palette: Palette) -> go.Figure:
    """Debiased counts by level with the threshold of each; what stands out is kept."""
    figure = canvas(palette, title=server_finding(step), subtitle=_server_subtitle(step), legend_lines=2)
    places = np.column_stack([server_places(step), step.noisy_counts / step.n])
    for name, which, marker in (
        ("dropped", ~step.kept, {"symbol": "circle-open", "color": palette.faded(palette.released, 0.6)}),
        ("kept", step.kept, {"color": palette.released}),
    ):
        figure.add_trace(
            go.Scatter(
                **marks_xy(places[which]),
                mode="markers",
                name=legend_name(name, "released"),
                marker={"size": 9} | marker,
                customdata=[
                    f"{bin(int(node))[3:]}: {number(float(value))} users, sd {number(float(sd))}"
                    for node, value, sd in zip(
                        step.nodes[which], step.noisy_counts[which], step.count_sd[which], strict=True
                    )
                ],
                hovertemplate="%{customdata}<extra></extra>",
                meta="released",
            )
        )
    levels, first = np.unique(level_of(step.nodes), return_index=True)
    height = step.threshold * step.count_sd[first] / step.n
    middle = np.arange(len(levels), dtype=np.float64)
    walls = segments(np.column_stack([middle - 0.45, height]), np.column_stack([middle + 0.45, height]))
    figure.add_trace(
        go.Scatter(
            **line_xy(walls),
            mode="lines",
            name=legend_name(f"{step.threshold:g} sd of the noise", "public"),
            line={"color": palette.public, "width": 1.5, "dash": "dash"},
            hoverinfo="skip",
            meta="public",
        )
    )
    figure.update_xaxes(
        tickvals=list(middle),
        ticktext=[f"{level} bit{'s' * (level > 1)}" for level in levels.tolist()],
        range=[-0.5, len(levels) - 0.5],
        title_text="length of the prefix",
        showgrid=False,
    )
    figure.update_yaxes(title_text="estimated share of the users", zeroline=True)
    return name_kinds(figure, palette)


def server_places(step: ServerTreeStep) -> Array:
    """Where each node stands along the axis: levels side by side, nodes of a level in the order of their codes."""
    levels = level_of(step.nodes)
    found, index = np.unique(levels, return_inverse=True)
    prefix = step.nodes - 2.0**levels
    places: Array = index + _WIDE * ((prefix + 0.5) / 2.0 ** found[index] - 0.5)
    return places


def server_table(step: ServerTreeStep) -> pd.DataFrame:
    """Prefixes with their debiased counts."""
    return pd.DataFrame(
        {
            "bits": level_of(step.nodes),
            "prefix": [bin(int(node))[3:] for node in step.nodes],
            "debiased count": step.noisy_counts,
            "standard deviation": step.count_sd,
            "kept": step.kept,
        }
    )


def describe_server(step: ServerTreeStep) -> str:
    """The picture in words."""
    low, high = float(step.noisy_counts.min()), float(step.noisy_counts.max())
    return (
        f"{server_finding(step)}. The server estimates counts from {number(low)} to {number(high)} of {step.n:,} "
        f"users; a prefix is kept from {step.threshold:g} standard deviations on."
    )


def server_finding(step: ServerTreeStep) -> str:
    """How many prefixes stand out."""
    return f"{int(step.kept.sum()):,} of {len(step.kept):,} prefixes stand out of the noise of the messages"


def _message_subtitle(step: MessageStep) -> str:
    noisier = float(np.linalg.norm(step.noisy_point - step.point) / max(1e-12, float(np.linalg.norm(step.point))))
    return clauses(
        f"each message is {step.epsilon:g}-DP", f"the noise on the vector is {number(noisier)} times as long as the row"
    )


def _server_subtitle(step: ServerTreeStep) -> str:
    typical = percent(float(step.count_sd.max()) / step.n)
    return clauses("debiased: lies are expected and corrected", f"noise up to {typical} of the users (sd)")


def _group_names(step: MessageStep) -> list[str]:
    share = step.users / max(1, int(step.users.sum()))
    names = [f"{percent(float(part))}: {bits} bits" for part, bits in zip(share, step.bits, strict=True)]
    return [*names[:-1], f"{names[-1]}<br>and the row"]


def _bits(prefix: int, length: int) -> str:
    return format(prefix, f"0{length}b")
