"""Rounds on centres: polishing, with the clipping radius of rows, and splitting, with its gains and costs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
import pandas as pd

from dpviz.algorithms import PolishStep, SplitStep, Step
from dpviz.app.charts.canvas import NUMBER_SIZE
from dpviz.app.charts.layout import make_log_axis
from dpviz.app.charts.picture import Companion, Drawing, RenderContext, format_columns
from dpviz.app.charts.pictures.centers import CentersPicture
from dpviz.app.charts.plot_canvas import PlotCanvas
from dpviz.core import Array, Codes, Domain
from dpviz.words import capitalize_first, format_number, format_percent, format_ratio, format_things, join_clauses

# A value of 0 stands this far below the least other one on a logarithmic axis.
_BELOW = 3.0
# Places of a ranking that a phone shows.
_MOST_RANKS = 12
# More circles than this are one grey sheet.
_CROWD = 40
# No cost is divided by less.
_TINY = 1e-300


class PolishPicture(CentersPicture):
    """The centres after a round; around where they were, the clipping radius, beyond which a row pulls no harder.

    In a crowd, or among many columns, circles would be one grey sheet: only the largest cluster has one.
    """

    called = "round"

    step: PolishStep

    def paint(self, canvas: PlotCanvas, context: RenderContext) -> None:
        step = self.step
        assert step.previous is not None and step.noisy_counts is not None
        crowd = len(step.centers) > _CROWD or not canvas.view.whole
        shown = [int(step.noisy_counts.argmax())] if crowd else list(range(len(step.centers)))
        middles, radii = canvas.view.plane(step.previous[shown], "previous"), _compute_bounds(step)[shown]
        name = "clipping radius of the largest" if crowd else "clipping radius"
        width = 5.0 if canvas.view.flat else 1.0
        canvas.halos(middles, radii, name, "released", width=width, strength=0.5, dash="dash")
        super().paint(canvas, context)

    def table(self, domain: Domain) -> pd.DataFrame:
        table = super().table(domain)
        table["moved (unit coordinates)"] = _compute_moves(self.step)
        table["clipping radius (unit coordinates)"] = _compute_bounds(self.step)
        return table

    def words(self, domain: Domain) -> str:
        return (
            f"{super().words(domain)} Rows pulled from at most {format_number(self.step.clipping_radius)} "
            f"(unit coordinates); a typical centre moved {format_number(_find_typical_move(self.step))}."
        )

    def companions(self, context: RenderContext, steps: Sequence[Step]) -> Iterator[Companion]:
        # Of a round of polishing, k-means++ tells more.
        yield from super().companions(context, steps)
        rounds = self.list_alike(steps)
        yield Companion("Rounds", Rounds(self.step, rounds[: rounds.index(self.step) + 1], len(rounds)))


@dataclass(frozen=True, eq=False)
class Rounds(Drawing[PolishStep]):
    """Round by round up to now, of ``rounds``: the clipping radius, how far a typical centre moved, and the noise of a
    mean."""

    so_far: Sequence[PolishStep]
    rounds: int

    def finding(self, domain: Domain) -> str:
        last = len(self.so_far)
        moved = _find_typical_move(self.step)
        noise = _find_typical_noise(self.step)
        if moved > noise:
            return f"Round {last} moved a typical centre {format_number(moved / max(noise, _TINY))} times its noise"
        return f"Round {last} moved a typical centre no farther than its noise"

    def note(self, context: RenderContext) -> str:
        still = any(_find_typical_move(step) == 0 for step in self.so_far)
        return join_clauses(
            "a typical centre: the median",
            "noise: the length of a vector of 1 sd",
            "on the floor: not moved at all" if still else "",
        )

    def paint(self, canvas: PlotCanvas, context: RenderContext) -> None:
        clipping_radius = np.array([step.clipping_radius for step in self.so_far])
        moved, noise = (
            np.array([of(step) for step in self.so_far]) for of in (_find_typical_move, _find_typical_noise)
        )
        together = np.concatenate([clipping_radius, moved, noise])
        floor = float(together[together > 0].min(initial=1.0)) / (_BELOW if (together == 0).any() else 1.0)
        for what, values, dash, symbol in (
            ("clipping radius", clipping_radius, "dash", "line-ew-open"),
            ("move", moved, "solid", "circle"),
            ("noise of its mean", noise, "dot", "triangle-down"),
        ):
            marker = {"symbol": symbol, "size": 9, "color": canvas.palette.released}
            canvas.lines(
                np.column_stack([np.arange(1, len(values) + 1), np.maximum(values, floor)]),
                what,
                "released",
                strength=0.5 if what == "clipping radius" else 0.95,
                dash=dash,
                width=2,
                hover=f"round %{{x}}: {what} %{{customdata:.3g}} (released)",
                notes=values,
                trace={"mode": "lines+markers", "marker": marker},
            )
        low, high = np.log10(floor), np.log10(float(together.max()))
        canvas.plot.update_xaxes(range=[0.5, self.rounds + 0.5], title_text="round", tick0=1, dtick=1)
        canvas.plot.update_yaxes(title_text="length (unit coordinates)", **make_log_axis(low, high))
        canvas.plot.update_yaxes(range=[low - 0.1, high + 0.15])

    def words(self, domain: Domain) -> str:
        return (
            f"After {format_things(len(self.so_far), 'round')}: the clipping radius is "
            f"{format_number(self.step.clipping_radius)}, a typical centre "
            f"moved {format_number(_find_typical_move(self.step))}, the noise of its mean has a length of "
            f"{format_number(_find_typical_noise(self.step))}."
        )


class SplitPicture(CentersPicture):
    """The centres after the exchange: a ring where a cluster was split, a cross where a centre gave way."""

    called = "split"

    step: SplitStep
    counts_clusters = False

    def finding(self, domain: Domain) -> str:
        step = self.step
        if len(step.split) == 1:
            times = format_ratio(float(step.gains[0] / max(step.costs[0], _TINY)))
            return f"Cluster {step.split[0] + 1} is split: it saves {times} what centre {step.dropped[0] + 1} costs"
        if len(step.split):
            least = format_ratio(float((step.gains / np.maximum(step.costs, _TINY)).min()))
            return capitalize_first(
                f"{format_things(len(step.split), 'cluster')} are split, each saving at least {least} its cost"
            )
        best, least_cost = float(step.gain_of_each.max()), float(step.cost_of_each.min())
        if best == 0:
            return "No cluster is wider than noise would make it: nothing is split"
        return f"No split pays: the best saves {format_percent(best / least_cost)} of what dropping costs"

    def title(self, context: RenderContext) -> str:
        split, dropped = self.step.split, self.step.dropped
        if len(split) == 0:
            return capitalize_first(f"all {format_things(len(self.step.centers), 'cluster')} stay whole")
        if len(split) == 1:
            return f"Cluster {split[0] + 1} is split; centre {dropped[0] + 1} takes a half of it"
        return capitalize_first(f"{format_things(len(split), 'cluster')} are split, and as many centres give way")

    def paint(self, canvas: PlotCanvas, context: RenderContext) -> None:
        super().paint(canvas, context)
        step = self.step
        assert step.previous is not None
        for what, which, symbol, size in (
            ("split", step.split, "circle-open", 30),
            ("gave way", step.dropped, "x", 12),
        ):
            if len(which):
                places = canvas.view.plane(step.previous[which])
                hover = f"centre %{{customdata}} {what} (released)"
                marker = {"symbol": symbol, "size": size, "color": canvas.palette.text, "line": {"width": 2}}
                canvas.marks(places, what, "released", marker, hover=hover, notes=which + 1)

    def table(self, domain: Domain) -> pd.DataFrame:
        step = self.step
        table = super().table(domain)
        table["saved by splitting it"], table["lost by dropping it"] = step.gain_of_each, step.cost_of_each
        became = np.full(len(table), "", dtype=object)
        became[step.split], became[step.dropped] = "split", "gave way, took the other half"
        table["change"] = became
        return table

    def words(self, domain: Domain) -> str:
        step = self.step
        pairs = "; ".join(
            f"centre {i + 1} gave way to a half of cluster {j + 1}, saving {format_number(float(gain))} at a cost of "
            f"{format_number(float(cost))}"
            for j, i, gain, cost in zip(step.split, step.dropped, step.gains, step.costs, strict=True)
        )
        centers = capitalize_first(format_things(len(step.centers), "released centre"))
        text = f"{centers} over {format_columns(domain)}. {self.finding(domain)}."
        return f"{text} {capitalize_first(pairs)}." if pairs else text

    def companions(self, context: RenderContext, steps: Sequence[Step]) -> Iterator[Companion]:
        yield Companion("Gains and costs", Gains(self.step))
        yield from super().companions(context, steps)


class Gains(Drawing[SplitStep]):
    """The largest gains of splitting over the smallest costs of dropping: exchanges pay while the first lie above."""

    def finding(self, domain: Domain) -> str:
        return SplitPicture(self.step).finding(domain)

    def words(self, domain: Domain) -> str:
        return SplitPicture(self.step).words(domain)

    def note(self, context: RenderContext) -> str:
        floored = (self.step.gain_of_each[self._foremost(-self.step.gain_of_each)] == 0).any()
        return join_clauses(
            "an exchange pays where a gain is over a cost", "on the floor: just noise" if floored else ""
        )

    def paint(self, canvas: PlotCanvas, context: RenderContext) -> None:
        step, muted = self.step, canvas.palette.muted
        gainers, losers = self._foremost(-step.gain_of_each), self._foremost(step.cost_of_each)
        gains, costs = step.gain_of_each[gainers], step.cost_of_each[losers]
        together = np.r_[gains, costs]
        positive = together[together > 0]
        floor = float(positive.min()) / _BELOW if len(positive) else 1.0
        for what, values, centers, color, symbol, place in (
            ("saved by splitting it", gains, gainers, canvas.palette.released, "circle", "bottom center"),
            ("lost by dropping it", costs, losers, muted, "square-open", "top center"),
        ):
            marker = {"symbol": symbol, "size": 10, "color": color, "line": {"width": 1.5, "color": color}}
            numbers = {"text": [str(c + 1) for c in centers], "textfont": {"size": NUMBER_SIZE, "color": muted}}
            canvas.lines(
                np.column_stack([np.arange(1, len(values) + 1), np.maximum(values, floor)]),
                what,
                "released",
                color=color,
                width=1.2,
                notes=values,
                hover=f"centre %{{text}}: {what}: %{{customdata:.3g}} (released)",
                trace={"mode": "lines+markers+text", "marker": marker, "textposition": place, **numbers},
            )
        low, high = np.log10(floor), np.log10(max(float(together.max()), floor))
        ranks = {"range": [0.5, len(gains) + 0.5], "tick0": 1, "dtick": 1}
        canvas.plot.update_xaxes(title_text="centres: best to split, cheapest to drop, first", **ranks)
        canvas.plot.update_yaxes(title_text="loss (unit coordinates², all rows)", **make_log_axis(low, high))
        canvas.plot.update_yaxes(range=[low - 0.35, high + 0.35])

    def _foremost(self, values: Array) -> Codes:
        """The centres of least values, as many as are drawn."""
        return np.argsort(values, kind="stable")[:_MOST_RANKS]


def _compute_bounds(step: PolishStep) -> Array:
    """The clipping radius of each cluster, (k,)."""
    return np.full(len(step.centers), step.clipping_radius) if step.clipping_radii is None else step.clipping_radii


def _compute_moves(step: PolishStep) -> Array:
    assert step.previous is not None
    moves: Array = np.linalg.norm(step.centers - step.previous, axis=1)
    return moves


def _find_typical_move(step: PolishStep) -> float:
    return float(np.median(_compute_moves(step)))


def _find_typical_noise(step: PolishStep) -> float:
    assert step.center_noise_sd is not None
    return float(np.median(step.center_noise_sd)) * sqrt(step.centers.shape[1])
