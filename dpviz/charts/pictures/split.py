"""Splitting clusters and dropping centres: what gave way to what, and what each would save and cost."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dpviz.algorithms.auto.polishing import SplitStep
from dpviz.arrays import Codes
from dpviz.charts.canvas import NUMBER_SIZE, canvas, legend_name, marks_xy, name_kinds
from dpviz.charts.pictures.centers import centers_table, draw_centers
from dpviz.charts.revealed import RevealedView
from dpviz.charts.theme import Palette, log_axis
from dpviz.charts.view import View
from dpviz.charts.wording import clauses, number, opening, percent, ratio, things
from dpviz.runs.evaluation import Reference
from dpviz.table.domain import Domain

# Places of a ranking that a phone shows.
_MOST_RANKS = 12
# A value of 0 stands this far below the least other one on a logarithmic axis.
_BELOW = 3.0


def draw_split(
    step: SplitStep,
    *,
    view: View,
    palette: Palette,
    reveal: RevealedView | None = None,
    reference: Reference | None = None,
) -> go.Figure:
    """The centres after the exchange: a ring where a cluster was split, a cross where a centre gave way."""
    figure = draw_centers(step, view=view, palette=palette, reveal=reveal, reference=reference, title=_outcome(step))
    assert step.previous is not None
    for what, which, symbol, size in (("split", step.split, "circle-open", 30), ("gave way", step.dropped, "x", 12)):
        if len(which):
            figure.add_trace(
                go.Scatter(
                    **marks_xy(view.plane(step.previous[which])),
                    mode="markers",
                    name=legend_name(what, "released"),
                    marker={"symbol": symbol, "size": size, "color": palette.text, "line": {"width": 2}},
                    customdata=which + 1,
                    hovertemplate=f"centre %{{customdata}} {what} (released)<extra></extra>",
                    meta="released",
                )
            )
    return name_kinds(figure, palette)


def draw_gains(step: SplitStep, *, palette: Palette) -> go.Figure:
    """The largest gains of splitting over the smallest costs of dropping: exchanges pay while the first lie above."""
    shown = min(_MOST_RANKS, len(step.centers))
    gainers, losers = _best_gains(step)[:shown], _least_costs(step)[:shown]
    gains, costs = step.gain_of_each[gainers], step.cost_of_each[losers]
    together = np.r_[gains, costs]
    positive = together[together > 0]
    floor = float(positive.min()) / _BELOW if len(positive) else 1.0
    figure = canvas(
        palette,
        title=_finding(step),
        subtitle=clauses(
            "an exchange pays where a gain is over a cost",
            "on the floor: just noise" if (gains == 0).any() else "",
        ),
    )
    rank = np.arange(1, shown + 1)
    for what, values, centers, color, symbol in (
        ("saved by splitting it", gains, gainers, palette.released, "circle"),
        ("lost by dropping it", costs, losers, palette.muted, "square-open"),
    ):
        figure.add_trace(
            go.Scatter(
                **{"x": rank, "y": np.maximum(values, floor), "mode": "lines+markers+text"},
                name=legend_name(what, "released"),
                text=[str(c + 1) for c in centers],
                textposition="bottom center" if symbol == "circle" else "top center",
                textfont={"size": NUMBER_SIZE, "color": palette.muted},
                line={"color": color, "width": 1.2},
                marker={"symbol": symbol, "size": 10, "color": color, "line": {"width": 1.5, "color": color}},
                customdata=values,
                hovertemplate=f"centre %{{text}}: {what}: %{{customdata:.3g}} (released)<extra></extra>",
                meta="released",
            )
        )
    low, high = np.log10(floor), np.log10(max(float(together.max()), floor))
    figure.update_xaxes(
        range=[0.5, shown + 0.5], title_text="centres: best to split, cheapest to drop, first", tick0=1, dtick=1
    )
    figure.update_yaxes(title_text="loss (unit coordinates², all rows)", **log_axis(low, high))
    figure.update_yaxes(range=[low - 0.35, high + 0.35])
    return name_kinds(figure, palette)


def split_table(step: SplitStep, *, domain: Domain) -> pd.DataFrame:
    """Centres in data units, with what splitting each saves, what dropping it costs, and what became of it."""
    table = centers_table(step, domain=domain)
    table["saved by splitting it"], table["lost by dropping it"] = step.gain_of_each, step.cost_of_each
    became = np.full(len(table), "", dtype=object)
    became[step.split], became[step.dropped] = "split", "gave way, took the other half"
    table["change"] = became
    return table


def describe_split(step: SplitStep, *, domain: Domain) -> str:
    """The picture in words."""
    pairs = "; ".join(
        f"centre {i + 1} gave way to a half of cluster {j + 1}, saving {number(float(gain))} at a cost of "
        f"{number(float(cost))}"
        for j, i, gain, cost in zip(step.split, step.dropped, step.gains, step.costs, strict=True)
    )
    where = ", ".join(domain.columns[:4]) + (" …" if domain.dim > 4 else "")
    return f"{opening(things(len(step.centers), 'released centre'))} over {where}. {_finding(step)}." + (
        f" {opening(pairs)}." if pairs else ""
    )


def _best_gains(step: SplitStep) -> Codes:
    return np.argsort(-step.gain_of_each, kind="stable")


def _least_costs(step: SplitStep) -> Codes:
    return np.argsort(step.cost_of_each, kind="stable")


def _outcome(step: SplitStep) -> str:
    if len(step.split) == 0:
        return opening(f"all {things(len(step.centers), 'cluster')} stay whole: none of them is really two")
    if len(step.split) == 1:
        return f"Cluster {step.split[0] + 1} is split, and centre {step.dropped[0] + 1} gives way to its other half"
    return opening(f"{things(len(step.split), 'cluster')} are split, and as many centres give way")


def _finding(step: SplitStep) -> str:
    if len(step.split) == 1:
        times = ratio(float(step.gains[0] / max(step.costs[0], 1e-300)))
        return f"Cluster {step.split[0] + 1} is split: it saves {times} what centre {step.dropped[0] + 1} costs"
    if len(step.split):
        least = ratio(float((step.gains / np.maximum(step.costs, 1e-300)).min()))
        return opening(f"{things(len(step.split), 'cluster')} are split, each saving at least {least} its cost")
    best, least_cost = float(step.gain_of_each.max()), float(step.cost_of_each.min())
    if best == 0:
        return "No cluster is wider than noise would make it: nothing is split"
    return f"No split pays: the best saves {percent(best / least_cost)} of what dropping costs"
