"""A plan of the budget: what each stage will cost, divided into its parts, with the kind of noise on each."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import pandas as pd

from dpviz.algorithms import PlanStep
from dpviz.app.charts.canvas import NUMBER_SIZE, PlotCanvas, make_hidden_axis
from dpviz.app.charts.picture import Chart, RenderContext, find_kind
from dpviz.words import capitalize_first, format_percent, join_clauses

# Height of a bar where rows are 1 apart, and how far above its middle the words stand.
_THICK, _WORDS_ABOVE = 0.42, 0.28
# A label fits where its characters take no more than this part of the picture each.
_PER_CHARACTER = 0.022
_HATCH = {"Gaussian": "", "Laplace": "/", "K-norm": "x", "exponential": "+"}
_FINDS = ("count", "zoom", "look", "grid", "choose")


class _Stage(NamedTuple):
    name: str
    about: str


_STAGES = {
    **{"rows": _Stage("count", "how many rows there are"), "zoom": _Stage("zoom", "where rows are at all")},
    **dict.fromkeys(("middle", "near", "radii", "axes"), _Stage("look", "how rows spread")),
    **dict.fromkeys(("fine_test", "finer_test", "finest_test", "grid"), _Stage("grid", "which clusters there are")),
    "losses": _Stage("choose", "which solution is polished"),
}
_POLISH = _Stage("polish", "where they lie, by round")
_SPLIT = _Stage("split", "which is really two, by round")
_PARTS = {
    **{"rows": "number of rows", "zoom": "coarse cells", "middle": "middle", "radii": "distances", "axes": "axes"},
    **{"near": "middle of near rows", "fine_test": "would fine cells do?", "finer_test": "would finer cells do?"},
    **{"finest_test": "or still finer ones?", "grid": "cells"},
    "losses": "losses of solutions",
    **{"counts": "sizes of clusters", "sums": "their means"},
    **{"swap_counts": "sizes of clusters", "swap_spread": "their spreads"},
}
_ROUND_RADII = "distances from centres"


class _Part(NamedTuple):
    """A part in words: its stage, its round (0 where there are none), and what is asked."""

    stage: _Stage
    round: int
    what: str


def draw_plan(step: PlanStep, context: RenderContext) -> Chart:
    """A bar for each stage, in the order of spending; hatched where the noise is not Gaussian."""
    parts, shares = [_part(name) for name in step.names], dict[str, float]()
    for part, share in zip(parts, step.fractions, strict=True):
        shares[part.stage.name] = shares.get(part.stage.name, 0.0) + float(share)
    finds = sum(float(share) for part, share in zip(parts, step.fractions, strict=True) if part.stage.name in _FINDS)
    title = f"{format_percent(round(finds, 2))} of ε finds clusters, the rest measures them"
    listed = ", ".join(f"{stage} {format_percent(share)}" for stage, share in shares.items())
    noises = ", ".join(dict.fromkeys(step.noises))

    def tabulate() -> pd.DataFrame:
        return pd.DataFrame(
            {
                "stage": [f"{part.stage.name}{f', round {part.round}' if part.round else ''}" for part in parts],
                "what is asked": [part.what for part in parts],
                "share of the budget (%)": 100 * step.fractions,
                "noise": step.noises,
                "noise scale, where a person changes 1": [draw.multiplier for draw in step.draws],
            }
        )

    note = join_clauses(step.title, "in the order of spending, as the meter will count it")
    words = f"{title}. Shares of ε by stage: {listed}. Noise: {noises}."
    return Chart(context, title, note, words, partial(_paint_plan, step), legend_lines=3, table=tabulate)


def _paint_plan(step: PlanStep, canvas: PlotCanvas) -> None:
    plot, palette, blocks, kind = canvas.plot, canvas.palette, _blocks(step), find_kind(step)
    stages = list(dict.fromkeys(blocks["stage"]))
    shares = [float(blocks.loc[blocks["stage"] == stage, "share"].sum()) for stage in stages]
    rim = {"color": palette.surface, "width": 1.5}
    inside = {"textposition": "inside", "insidetextanchor": "middle", "textangle": 0, "constraintext": "none"}
    hatch = {"fillmode": "overlay", "fgcolor": palette.kind(kind), "fgopacity": 0.45, "size": 7, "solidity": 0.14}
    for noise, some in blocks.groupby("noise", sort=False):
        colors = [canvas.color(kind, 0.2 if place % 2 else 0.38) for place in some["place"]]
        words = zip(some["label"], some["share"] / max(shares), strict=True)
        labels = [label if wide >= _PER_CHARACTER * (len(label) + 1) else "" for label, wide in words]
        canvas.bars(
            some["share"].to_numpy(),
            [-stages.index(stage) for stage in some["stage"]],
            _THICK,
            f"{noise} noise",
            kind,
            {"color": colors, "line": rim, "pattern": hatch | {"shape": _HATCH.get(str(noise), ".")}},
            notes=some["hover"].to_numpy(),
            trace={"orientation": "h", "base": some["start"].to_numpy(), "text": labels, **inside}
            | {"textfont": {"size": NUMBER_SIZE, "color": palette.text}},
        )
    for row, (stage, share) in enumerate(zip(stages, shares, strict=True)):
        title = f"<b>{capitalize_first(stage.name)} · {format_percent(share)}</b> · {stage.about}"
        look_of = {"xanchor": "left", "yanchor": "bottom", "font": {"size": NUMBER_SIZE + 1}}
        canvas.note(title, 0, _WORDS_ABOVE - row, look_of)
    along = {"title_text": "share of the budget", "tickformat": ".0%", "nticks": 6, "zeroline": False}
    plot.update_xaxes(range=[0, 1.02 * max(shares)], **along)
    plot.update_yaxes(**make_hidden_axis(), range=[0.4 - len(stages), 0.75])
    plot.update_layout(barmode="overlay", margin={"l": 16}, legend={"traceorder": "normal"})


def _part(name: str) -> _Part:
    stem, _, last = name.rpartition("_")
    if not last.isdigit():
        return _Part(_STAGES[name], 0, _PARTS[name])
    what = _ROUND_RADII if stem == "radii" else _PARTS[stem]
    return _Part(_SPLIT if stem.startswith("swap") else _POLISH, int(last), what)


def _blocks(step: PlanStep) -> pd.DataFrame:
    """Stretches of bar: a part, or all parts of a round that have the same noise."""
    parts = [_part(name) for name in step.names]
    table = pd.DataFrame(
        {
            "stage": [part.stage for part in parts],
            "label": [str(part.round) if part.round else part.what for part in parts],
            "noise": step.noises,
            "share": step.fractions,
            "hover": [f"{part.what}: {format_percent(f)}" for part, f in zip(parts, step.fractions, strict=True)],
        }
    )
    whole = table.groupby(["stage", "label", "noise"], sort=False, as_index=False).agg(
        {"share": "sum", "hover": "<br>".join}
    )
    whole["start"] = whole.groupby("stage", sort=False)["share"].cumsum() - whole["share"]
    whole["place"] = whole.groupby("stage", sort=False).cumcount()
    head = [
        f"<b>{capitalize_first(stage.name)}{f', round {label}' if label.isdigit() else ''}</b>, {noise} noise"
        for stage, label, noise in zip(whole["stage"], whole["label"], whole["noise"], strict=True)
    ]
    whole["hover"] = [f"{first}<br>{rest}" for first, rest in zip(head, whole["hover"], strict=True)]
    # A round with two kinds of noise has its number on the wider stretch.
    widest = whole.groupby(["stage", "label"])["share"].transform("max")
    whole.loc[whole["share"] < widest, "label"] = ""
    return whole
