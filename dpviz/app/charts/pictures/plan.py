"""A plan of the budget: what each stage will cost, divided into its parts, with the kind of noise on each."""

from __future__ import annotations

from typing import NamedTuple

import pandas as pd

from dpviz.algorithms import PlanStep
from dpviz.app.charts.canvas import NUMBER_SIZE, PlotCanvas, make_hidden_axis
from dpviz.app.charts.picture import Chart, RenderContext, find_kind
from dpviz.app.charts.plot import WORDS
from dpviz.words import capitalize_first, format_percent

# Height of a bar where rows are 1 apart, and how far above its middle the words stand.
_THICK, _WORDS_ABOVE = 0.42, 0.28
# A label fits where its characters take no more than this part of the picture each.
_PER_CHARACTER = 0.022
_HATCH = {"Gaussian": "", "Laplace": "/", "K-norm": "x", "exponential": "+"}
_FINDS = ("zoom", "look", "grid", "choose")


class _Part(NamedTuple):
    """A part in words: its stage, its round (0 where there are none), and what is asked."""

    stage: str
    round: int
    what: str


class _Block(NamedTuple):
    """A stretch of a bar, and its place in it, from 0."""

    stage: str
    label: str
    noise: str
    share: float
    start: float
    place: int
    hover: str


def draw_plan(step: PlanStep, context: RenderContext) -> Chart:
    """A bar for each stage, in the order of spending; hatched where the noise is not Gaussian."""
    parts, shares, finds = [_part(name) for name in step.names], dict[str, float](), 0.0
    for part, share in zip(parts, step.fractions.tolist(), strict=True):
        shares[part.stage] = shares.get(part.stage, 0.0) + share
        finds += share if part.stage in _FINDS else 0.0
    rest = "counts and measures" if "count" in shares else "measures them"
    title = f"{format_percent(round(finds, 2))} of ε finds clusters, the rest {rest}"
    listed = ", ".join(f"{stage} {format_percent(share)}" for stage, share in shares.items())

    def paint(canvas: PlotCanvas) -> None:
        plot, palette, blocks, kind = canvas.plot, canvas.palette, _list_blocks(step), find_kind(step)
        stages = list(dict.fromkeys(block.stage for block in blocks))
        shares = [sum(block.share for block in blocks if block.stage == stage) for stage in stages]
        rim, font = {"color": palette.surface, "width": 1.5}, {"size": NUMBER_SIZE, "color": palette.text}
        inside = {"textposition": "inside", "insidetextanchor": "middle", "textangle": 0, "constraintext": "none"}
        hatch = {"fillmode": "overlay", "fgcolor": palette.kind(kind), "fgopacity": 0.45, "size": 7, "solidity": 0.14}
        for noise in dict.fromkeys(block.noise for block in blocks):
            some = [block for block in blocks if block.noise == noise]
            colors = [canvas.color(kind, 0.2 if block.place % 2 else 0.38) for block in some]
            fits = [block.share / max(shares) >= _PER_CHARACTER * (len(block.label) + 1) for block in some]
            labels = [block.label if fit else "" for block, fit in zip(some, fits, strict=True)]
            marker = {"color": colors, "line": rim, "pattern": hatch | {"shape": _HATCH.get(noise, ".")}}
            trace = {"orientation": "h", "base": [block.start for block in some], "text": labels, **inside}
            x, y = [block.share for block in some], [-stages.index(block.stage) for block in some]
            told, notes = f"{noise} noise", [block.hover for block in some]
            canvas.bars(x, y, _THICK, told, kind, marker, notes=notes, trace=trace | {"textfont": font})
        for row, (stage, share) in enumerate(zip(stages, shares, strict=True)):
            title = f"<b>{capitalize_first(stage)} · {format_percent(share)}</b> · {WORDS.by_key[f'stage_{stage}']}"
            look_of = {"xanchor": "left", "yanchor": "bottom", "font": {"size": NUMBER_SIZE + 1}}
            canvas.note(title, 0, _WORDS_ABOVE - row, look_of)
        along = {"title_text": "share of ε", "tickformat": ".0%", "nticks": 6, "zeroline": False}
        plot.update_xaxes(range=[0, 1.02 * max(shares)], **along)
        plot.update_yaxes(**make_hidden_axis(), range=[0.4 - len(stages), 0.75])
        plot.update_layout(barmode="overlay", margin={"l": 16}, legend={"traceorder": "normal"})

    def tabulate() -> pd.DataFrame:
        stages = [f"{part.stage}{f', round {part.round}' if part.round else ''}" for part in parts]
        table = pd.DataFrame({"stage": stages, "what is asked": [part.what for part in parts]})
        table["share of ε (%)"], table["noise"] = 100 * step.fractions, list(step.noises)
        table["noise scale, where a person changes 1"] = [draw.multiplier for draw in step.draws]
        return table

    note = (step.title, "in the order of spending, as the meter will count it")
    words = f"{title}. Shares of ε by stage: {listed}. Noise: {', '.join(dict.fromkeys(step.noises))}."
    return Chart(context, title, note, words, paint, legend_lines=3, table=tabulate)


def _part(name: str) -> _Part:
    stem, _, last = name.rpartition("_")
    stage, what = WORDS.by_key[f"plan_round_{stem}" if last.isdigit() else f"plan_{name}"].split(": ")
    return _Part(stage, int(last) if last.isdigit() else 0, what)


def _list_blocks(step: PlanStep) -> list[_Block]:
    """Stretches of bar: a part, or all parts of a round that have the same noise."""
    asked: dict[tuple[str, str, str], list[tuple[float, str]]] = {}
    for name, noise, share in zip(step.names, step.noises, step.fractions.tolist(), strict=True):
        part = _part(name)
        one = (share, f"{part.what}: {format_percent(share)}")
        asked.setdefault((part.stage, str(part.round) if part.round else part.what, noise), []).append(one)
    shares = {which: sum(share for share, _ in parts) for which, parts in asked.items()}
    blocks: list[_Block] = []
    for (stage, label, noise), parts in asked.items():
        share, before = shares[stage, label, noise], [block for block in blocks if block.stage == stage]
        head = f"<b>{capitalize_first(stage)}{f', round {label}' if label.isdigit() else ''}</b>, {noise} noise"
        # A round with two kinds of noise has its number on the wider stretch.
        widest = max(wide for (of, other, _), wide in shares.items() if (of, other) == (stage, label))
        start, hover = sum(block.share for block in before), "<br>".join([head, *(said for _, said in parts)])
        blocks.append(_Block(stage, label if share >= widest else "", noise, share, start, len(before), hover))
    return blocks
