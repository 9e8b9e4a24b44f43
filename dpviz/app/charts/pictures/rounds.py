"""Rounds on centres: polishing, with the clipping radius of rows, and splitting, with its gains and costs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import sqrt
from typing import Any

import numpy as np
import pandas as pd

from dpviz.algorithms import PolishStep, SplitStep, Step
from dpviz.app.charts.canvas import NUMBER_SIZE
from dpviz.app.charts.layout import make_log_axis
from dpviz.app.charts.picture import Chart, Companion, RenderContext, format_columns, list_alike
from dpviz.app.charts.pictures.centers import draw_centers, list_beside_centers
from dpviz.app.charts.plot_canvas import PlotCanvas
from dpviz.core import Array
from dpviz.words import capitalize_first, format_number, format_percent, format_ratio, format_things, join_clauses

# A value of 0 stands this far below the least other one on a logarithmic axis.
_BELOW = 3.0
# Places of a ranking that a phone shows.
_MOST_RANKS = 12
# More circles than this are one grey sheet.
_CROWD = 40
# No cost is divided by less.
_TINY = 1e-300


def draw_polish(step: PolishStep, context: RenderContext) -> Chart:
    """The centres after a round; around where they were, the clipping radius, beyond which a row pulls no harder.

    In a crowd, or among many columns, circles would be one grey sheet: only the largest cluster has one.
    """
    centers = draw_centers(step, context)
    bounds = step.clipping_radii
    if bounds is None:
        bounds = np.full(len(step.centers), step.clipping_radius)

    def paint(canvas: PlotCanvas) -> None:
        assert step.previous is not None and step.noisy_counts is not None
        crowd = len(step.centers) > _CROWD or not canvas.view.whole
        shown = [int(step.noisy_counts.argmax())] if crowd else list(range(len(step.centers)))
        name = "clipping radius of the largest" if crowd else "clipping radius"
        middles, width = canvas.view.plane(step.previous[shown], "previous"), 5.0 if canvas.view.flat else 1.0
        canvas.halos(middles, bounds[shown], name, "released", width=width, strength=0.5, dash="dash")
        centers.paint(canvas)

    def tabulate() -> pd.DataFrame:
        table = centers.table()
        table["moved (unit coordinates)"] = _compute_moves(step)
        table["clipping radius (unit coordinates)"] = bounds
        return table

    words = (
        f"{centers.words} Rows pulled from at most {format_number(step.clipping_radius)} (unit coordinates); a typical "
        f"centre moved {format_number(_find_typical_move(step))}."
    )
    return replace(centers, words=words, paint=paint, table=tabulate)


def list_beside_polish(step: PolishStep, steps: Sequence[Step], context: RenderContext) -> Iterator[Companion]:
    """What stands beside centres, of which k-means++ tells more, and all rounds so far."""
    yield from list_beside_centers(step, steps, context)
    rounds = list_alike(step, steps)
    yield Companion("Rounds", draw_rounds(rounds[: rounds.index(step) + 1], len(rounds), context))


def draw_rounds(so_far: Sequence[PolishStep], rounds: int, context: RenderContext) -> Chart:
    """Round by round up to now, of ``rounds``: the clipping radius, how far a typical centre moved, and the noise of a
    mean."""
    lines = np.array([(step.clipping_radius, _find_typical_move(step), _find_typical_noise(step)) for step in so_far]).T
    (radius, moved, noise), last = lines[:, -1].tolist(), len(so_far)
    far = f"{format_number(moved / max(noise, _TINY))} times" if moved > noise else "no farther than"
    title = f"Round {last} moved a typical centre {far} its noise"

    def paint(canvas: PlotCanvas) -> None:
        floor = _find_floor(np.append(lines, 1.0), lower=bool((lines == 0).any()))
        for what, values, dash, symbol, strength in (
            ("clipping radius", lines[0], "dash", "line-ew-open", 0.5),
            ("move", lines[1], "solid", "circle", 0.95),
            ("noise of its mean", lines[2], "dot", "triangle-down", 0.95),
        ):
            look = {"mode": "lines+markers", "marker": {"symbol": symbol, "size": 9, "color": canvas.palette.released}}
            hover = f"round %{{x}}: {what} %{{customdata:.3g}} (released)"
            _add_ranks(canvas, values, floor, what, hover, look, strength=strength, dash=dash, width=2)
        canvas.plot.update_xaxes(range=[0.5, rounds + 0.5], title_text="round", tick0=1, dtick=1)
        _set_log_axis(canvas, "length (unit coordinates)", floor, float(lines.max()), below=0.1, above=0.15)

    note = join_clauses(
        "a typical centre: the median",
        "noise: the length of a vector of 1 sd",
        "on the floor: not moved at all" if (lines[1] == 0).any() else "",
    )
    words = (
        f"After {format_things(last, 'round')}: the clipping radius is {format_number(radius)}, a typical centre moved "
        f"{format_number(moved)}, the noise of its mean has a length of {format_number(noise)}."
    )
    return Chart(context, title, note, words, paint)


def draw_split(step: SplitStep, context: RenderContext) -> Chart:
    """The centres after the exchange: a ring where a cluster was split, a cross where a centre gave way."""
    centers, split, dropped = draw_centers(step, context, counts_clusters=False), step.split, step.dropped
    title = capitalize_first(f"{format_things(len(split), 'cluster')} are split, and as many centres give way")
    if len(split) == 0:
        title = capitalize_first(f"all {format_things(len(step.centers), 'cluster')} stay whole")
    elif len(split) == 1:
        title = f"Cluster {split[0] + 1} is split; centre {dropped[0] + 1} takes a half of it"

    def paint(canvas: PlotCanvas) -> None:
        centers.paint(canvas)
        assert step.previous is not None
        for what, which, symbol, size in (("split", split, "circle-open", 30), ("gave way", dropped, "x", 12)):
            if len(which):
                places, hover = canvas.view.plane(step.previous[which]), f"centre %{{customdata}} {what} (released)"
                marker = {"symbol": symbol, "size": size, "color": canvas.palette.text, "line": {"width": 2}}
                canvas.marks(places, what, "released", marker, hover=hover, notes=which + 1)

    def tabulate() -> pd.DataFrame:
        table = centers.table()
        table["saved by splitting it"], table["lost by dropping it"] = step.gain_of_each, step.cost_of_each
        became = np.full(len(table), "", dtype=object)
        became[split], became[dropped] = "split", "gave way, took the other half"
        table["change"] = became
        return table

    words = _tell_exchange(step, context)
    return replace(centers, title=title, words=words, paint=paint, table=tabulate)


def list_beside_split(step: SplitStep, steps: Sequence[Step], context: RenderContext) -> Iterator[Companion]:
    """What was weighed, and what stands beside centres."""
    yield Companion("Gains and costs", draw_gains(step, context))
    yield from list_beside_centers(step, steps, context)


def _describe_exchange(step: SplitStep) -> str:
    if len(step.split) == 1:
        times = format_ratio(float(step.gains[0] / max(step.costs[0], _TINY)))
        return f"Cluster {step.split[0] + 1} is split: it saves {times} what centre {step.dropped[0] + 1} costs"
    if len(step.split):
        least = format_ratio(float((step.gains / np.maximum(step.costs, _TINY)).min()))
        clusters = format_things(len(step.split), "cluster")
        return capitalize_first(f"{clusters} are split, each saving at least {least} its cost")
    best, least_cost = float(step.gain_of_each.max()), float(step.cost_of_each.min())
    if best == 0:
        return "No cluster is wider than noise would make it: nothing is split"
    return f"No split pays: the best saves {format_percent(best / least_cost)} of what dropping costs"


def _tell_exchange(step: SplitStep, context: RenderContext) -> str:
    pairs = "; ".join(
        f"centre {i + 1} gave way to a half of cluster {j + 1}, saving {format_number(float(gain))} at a cost of "
        f"{format_number(float(cost))}"
        for j, i, gain, cost in zip(step.split, step.dropped, step.gains, step.costs, strict=True)
    )
    centers = capitalize_first(format_things(len(step.centers), "released centre"))
    text = f"{centers} over {format_columns(context.view.domain)}. {_describe_exchange(step)}."
    return f"{text} {capitalize_first(pairs)}." if pairs else text


def draw_gains(step: SplitStep, context: RenderContext) -> Chart:
    """The largest gains of splitting over the smallest costs of dropping: exchanges pay while the first lie above."""
    gainers, losers = (np.argsort(one, kind="stable")[:_MOST_RANKS] for one in (-step.gain_of_each, step.cost_of_each))
    gains, costs = step.gain_of_each[gainers], step.cost_of_each[losers]

    def paint(canvas: PlotCanvas) -> None:
        muted, together = canvas.palette.muted, np.r_[gains, costs]
        floor = _find_floor(together, lower=True)
        for what, values, centers, color, symbol, place in (
            ("saved by splitting it", gains, gainers, canvas.palette.released, "circle", "bottom center"),
            ("lost by dropping it", costs, losers, muted, "square-open", "top center"),
        ):
            marker = {"symbol": symbol, "size": 10, "color": color, "line": {"width": 1.5, "color": color}}
            numbers = {"text": [str(c + 1) for c in centers], "textfont": {"size": NUMBER_SIZE, "color": muted}}
            look = {"mode": "lines+markers+text", "marker": marker, "textposition": place, **numbers}
            hover = f"centre %{{text}}: {what}: %{{customdata:.3g}} (released)"
            _add_ranks(canvas, values, floor, what, hover, look, color=color, width=1.2)
        ranks = {"range": [0.5, len(gains) + 0.5], "tick0": 1, "dtick": 1}
        canvas.plot.update_xaxes(title_text="centres: best to split, cheapest to drop, first", **ranks)
        top = max(float(together.max()), floor)
        _set_log_axis(canvas, "loss (unit coordinates², all rows)", floor, top, below=0.35, above=0.35)

    floored = "on the floor: just noise" if (gains == 0).any() else ""
    note = join_clauses("an exchange pays where a gain is over a cost", floored)
    return Chart(context, _describe_exchange(step), note, _tell_exchange(step, context), paint)


def _find_floor(values: Array, *, lower: bool) -> float:
    """Where 0 stands on a logarithmic axis: at the least positive one of ``values``, or below it."""
    positive = values[values > 0]
    return float(positive.min()) / (_BELOW if lower else 1.0) if len(positive) else 1.0


def _add_ranks(canvas: PlotCanvas, values: Array, floor: float, what: str, hover: str, trace: Any, **look: Any) -> None:
    """A line through ``values`` (m,), one at each place from 1 on; 0 stands on the ``floor``.

    **look
        Other settings of the line.
    """
    path = np.column_stack([np.arange(1, len(values) + 1), np.maximum(values, floor)])
    canvas.lines(path, what, "released", hover=hover, notes=values, trace=trace, **look)


def _set_log_axis(canvas: PlotCanvas, title: str, floor: float, top: float, *, below: float, above: float) -> None:
    """The axis of a ranking, with some air in powers of ten."""
    low, high = np.log10(floor), np.log10(top)
    canvas.plot.update_yaxes(title_text=title, **make_log_axis(low, high))
    canvas.plot.update_yaxes(range=[low - below, high + above])


def _compute_moves(step: PolishStep) -> Array:
    assert step.previous is not None
    moves: Array = np.linalg.norm(step.centers - step.previous, axis=1)
    return moves


def _find_typical_move(step: PolishStep) -> float:
    return float(np.median(_compute_moves(step)))


def _find_typical_noise(step: PolishStep) -> float:
    assert step.center_noise_sd is not None
    return float(np.median(step.center_noise_sd)) * sqrt(step.centers.shape[1])
