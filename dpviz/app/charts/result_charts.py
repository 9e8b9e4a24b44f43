"""Diagrams of one result: the budget as a bar, shares of declared values, and the panels of released segments."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from math import ceil, floor, inf, log10, sqrt
from typing import Any

import numpy as np
import pandas as pd

from dpviz.app.charts.canvas import AIR, NUMBER_SIZE, Diagram, Panel, add_note, make_hidden_axis, new_plot, spell_name
from dpviz.app.charts.plot import TEXT_SIZE, Data, Plot, make_layout
from dpviz.app.charts.view import shorten_amount
from dpviz.core import Accounting, Array, Ledger
from dpviz.tables import codings
from dpviz.words import (
    NINE_IN_TEN,
    Palette,
    capitalize_first,
    format_between,
    format_day,
    format_edges,
    format_noisy,
    format_number,
    format_percent,
    format_things,
    shorten,
)


def list_shares(ledger: Ledger) -> dict[str, float]:
    """What each purpose adds to what is spent, in its turn, as a share of the whole budget.

    "round 1", "round 2" are one purpose.
    """
    entries, planned = ledger.entries, ledger.draws if ledger.accounting is Accounting.PLD else ()
    so_far = (replace(ledger, entries=entries[:number], planned=planned) for number in range(len(entries) + 1))
    shares: dict[str, float] = {_describe_purpose(entry.note): 0.0 for entry in entries}
    for entry, (before, after) in zip(entries, pairwise(one.spent_fraction for one in so_far), strict=True):
        shares[_describe_purpose(entry.note)] += after - before
    return shares


def draw_spent(shares: Mapping[str, float], epsilon: float) -> Diagram:
    """A bar of the whole budget ``epsilon``, divided by the purposes for which it was spent."""
    finding = f"{format_percent(min(1.0, sum(shares.values())))} of ε = {epsilon:g} is spent"

    def paint(palette: Palette) -> Plot:
        plot, left = new_plot(palette, height=122, legend_lines=0), 0.0
        rim = {"color": palette.surface, "width": 1.5}
        for place, (purpose, share) in enumerate(shares.items()):
            hover = f"{purpose}: {format_number(100 * share)} % of ε, in its turn"
            for strength in (0.14, 0.85 if place % 2 else 0.65):
                marker = {"color": palette.fade(palette.released, strength), "line": rim}
                _add_block(plot, left, share, hover, marker=marker, meta="released")
            # Shares below this hold no label.
            if share >= 0.14:
                where = {"x": left + share / 2, "y": 0.62, "yanchor": "bottom"}
                add_note(plot, f"{purpose}<br>{format_percent(share)}", palette.muted, where)
            left += share
        plot.update_xaxes(**make_hidden_axis(), range=[0, 1])
        plot.update_yaxes(**make_hidden_axis(), range=[-0.6, 2.0])
        return plot.update_layout(barmode="overlay", margin={"l": 12, "r": 12, "b": 8})

    listed = ", ".join(f"{purpose} {format_percent(share)}" for purpose, share in shares.items())
    return Diagram("budget", finding, "", f"Shares of ε = {epsilon:g} by purpose: {listed}.", paint)


def _add_block(plot: Plot, left: float, width: float, hover: str, **look: Any) -> None:
    """A part of the bar."""
    bar = {"type": "bar", "orientation": "h", "x": [width], "y": [0], "base": [left], "width": [1.0]}
    plot.add_drawn(bar, hover=hover, **look)


def _describe_purpose(note: str) -> str:
    """A note without its numbers."""
    return re.sub(r"[\s,:]*\d.*$", "", note) or note


def find_left(cap: float, before: float, now: float) -> float:
    """What remains of the ε of an account after a release; 0 where it does not fit."""
    return max(0.0, cap - before - now)


def draw_account(cap: float, before: float, now: float) -> Diagram:
    """The ε of an account as a bar: spent before, for a release, and left; beyond the cap right of its line."""
    fits, left, whole = before + now <= cap * (1 + 1e-12), find_left(cap, before, now), max(cap, before + now)

    def paint(palette: Palette) -> Plot:
        plot, at = Plot(make_layout(palette, height=66)), 0.0
        refused = "#f2716b" if palette.surface != "#ffffff" else "#b3261e"
        parts = (
            ("before", before, palette.public, palette.surface),
            ("this release", now, palette.released if fits else refused, palette.surface),
            ("left", left, palette.fade(palette.public, 0.16), palette.text),
        )
        inside = {"textposition": "inside", "insidetextanchor": "middle", "textangle": 0, "cliponaxis": False}
        for name, value, color, ink in (part for part in parts if part[1] > 0):
            # Shares below this hold no words.
            labelled = value / whole >= 0.09 * (1 + len(name) / 12)
            label = {"text": [f"{name}: {format_number(value)}" if labelled else ""], **inside}
            look: Data = {"showlegend": None, "marker": {"color": color, "line": {"width": 0}}}
            look |= {"textfont": {"color": ink, "size": TEXT_SIZE}}
            _add_block(plot, at, value, f"{name}: ε = {format_number(value)}", **label, **look)
            at += value
        plot.add_shape(type="line", x0=cap, x1=cap, y0=-0.62, y1=0.62, line={"color": palette.text, "width": 2})
        where = {"x": cap, "y": 0.66, "xanchor": "right", "yanchor": "bottom"}
        add_note(plot, f"cap {format_number(cap)}", palette.text, where, size=TEXT_SIZE)
        plot.update_xaxes(range=[0, whole * 1.002], **make_hidden_axis())
        plot.update_yaxes(range=[-0.64, 1.3], **make_hidden_axis())
        return plot.update_layout(barmode="overlay", showlegend=False, margin={"l": 0, "r": 4, "t": 2, "b": 2})

    spent = f"{format_number(before)} spent before, {format_number(now)} for this release"
    rest = f"{format_number(left)} left after it{'' if fits else ', which is beyond the cap'}"
    return Diagram("account", "", "", f"The account's cap is ε = {format_number(cap)}: {spent}, {rest}.", paint)


# Columns drawn, values of each with a colour of their own, and pixels: of a bar, above a stack, and below all of them.
_MOST_COLUMNS, _MOST_VALUES = 6, 5
_BAR, _STACK_HEAD, _STACKS_FOOT = 24, 34, 44
_LONGEST_COLUMN, _LONGEST_VALUE = 40, 12
_REST = "all others"


Shares = Mapping[str, Mapping[str, Array]]


def draw_shares(shares: Shares, noise: Mapping[str, Array]) -> Diagram:
    """Released shares of clusters, a stack of bars for each column.

    ``shares`` (k,), they add up to 1 over the values of a column; ``noise`` (k,), what stands behind the ± of each;
    empty where it is not known.
    """
    k, shown = len(next(iter(next(iter(shares.values())).values()))), list(shares)[:_MOST_COLUMNS]
    gaps = {name: _measure_gap(np.array(list(values.values())), noise.get(name)) for name, values in shares.items()}
    telling = max(gaps, key=lambda name: gaps[name])
    finding = f"Clusters differ most in {shorten(telling, 24)}"
    if k == 1:
        finding = "One cluster: its shares are those of all rows"
    elif gaps[telling] <= 0:
        finding = "Noise hides every difference in shares"

    def paint(palette: Palette) -> Plot:
        high, row = len(shown) * (k * _BAR + _STACK_HEAD), 1 / len(shown)
        plot = new_plot(palette, height=AIR + high + _STACKS_FOOT, legend_lines=0)
        plot.update_layout(margin={"b": _STACKS_FOOT, "l": 44, "r": 12}, barmode="stack", bargap=0.12)
        across = {"range": [0, 1], "showgrid": False, "zeroline": False, "tickformat": ".0%", "fixedrange": True}
        along = {"autorange": "reversed", "type": "category", "showgrid": False, "fixedrange": True}
        for place, name in enumerate(shown):
            panel = Panel(place, (0.0, 1.0), (1 - (place + 1) * row, 1 - place * row - _STACK_HEAD / high))
            _add_stack(plot, panel, shares[name], noise.get(name, np.full(k, np.nan)), palette)
            ends = across | {"showticklabels": name == shown[-1]}
            panel.add(plot, palette, ends, {**along, "tickfont_size": NUMBER_SIZE})
            where = {"xref": "paper", "yref": "paper", "x": 0.0, "y": panel.up[1]}
            heading = f"<b>{spell_name(shorten(name, _LONGEST_COLUMN))}</b>"
            above = {**where, "xanchor": "left", "yanchor": "bottom"}
            add_note(plot, heading, palette.text, above, size=NUMBER_SIZE + 1)
        return plot

    def tabulate() -> pd.DataFrame:
        lines = [
            (name, value, j + 1, float(share), float(noise[name][j]) if name in noise else np.nan)
            for name, values in shares.items()
            for value, of_value in values.items()
            for j, share in enumerate(of_value)
        ]
        return pd.DataFrame(lines, columns=["column", "value", "cluster", "share", "±"])

    more = len(shares) - _MOST_COLUMNS
    rest = f"; {more} more columns in the table" if more > 0 else ""
    grey = f"; grey: {_REST}" if any(len(shares[name]) > _MOST_VALUES for name in shown) else ""
    note = f"share of each value in a cluster, released{grey}{rest}"
    told = []
    for name, values in shares.items():
        of, reach = np.array(list(values.values())), noise.get(name, np.full(k, np.nan))
        largest = zip(of.argmax(axis=0).tolist(), of.max(axis=0).tolist(), reach.tolist(), strict=True)
        listed = (f"{j} {list(values)[at]} {_tell_share(*one)}" for j, (at, *one) in enumerate(largest, start=1))
        told.append(f"{name}, largest share by cluster: {', '.join(listed)}")
    return Diagram("shares", finding, note, f"{finding}. {'. '.join(told)}.", paint, tabulate)


def _measure_gap(shares: Array, noise: Array | None) -> float:
    """How far the shares (v, k) of two clusters lie apart beyond noise, for the value where that is most."""
    gap = np.ptp(shares, axis=1)
    if noise is not None:
        gap = gap - np.hypot(noise[shares.argmin(axis=1)], noise[shares.argmax(axis=1)])
    return float(gap.max())


def _tell_share(share: float, reach: float) -> str:
    """A share to the digit of its noise, which stands beside it; ``reach`` is NaN where nobody can tell."""
    return f"{format_noisy(100 * share, 100 * reach)} %" if reach > 0 else format_percent(share)


def _add_stack(plot: Plot, panel: Panel, values: Mapping[str, Array], noise: Array, palette: Palette) -> None:
    """One column: a bar a cluster, the first on top; ``noise`` (k,) is that of each share."""
    order = sorted(values, key=lambda value: -float(values[value].sum()))
    parts = [(value, values[value]) for value in order[:_MOST_VALUES]]
    if len(order) > _MOST_VALUES:
        parts.append((_REST, np.sum([values[value] for value in order[_MOST_VALUES:]], axis=0)))
    clusters = [str(j + 1) for j in range(len(parts[0][1]))]
    for rank, (value, share) in enumerate(parts):
        color = palette.muted if value == _REST else palette.released
        strength = 0.25 if value == _REST else 0.75 - 0.6 * rank / _MOST_VALUES
        reach = noise * sqrt(len(order) - _MOST_VALUES if value == _REST else 1)
        # A share this wide has room for its name, if it is no noise alone.
        named = share >= np.fmax(0.16, reach)
        wide = [spell_name(shorten(value, _LONGEST_VALUE)) if one else "" for one in named]
        bar: Data = {"type": "bar", "orientation": "h", "x": share, "y": clusters, **panel.axes, "meta": "released"}
        bar["marker"] = {"color": palette.fade(color, strength), "line": {"width": 1, "color": palette.surface}}
        bar |= {"text": wide, "textposition": "inside", "insidetextanchor": "middle", "textangle": 0}
        bar["textfont"] = {"size": NUMBER_SIZE, "color": palette.text}
        told = [f"{value} {_tell_share(*one)}" for one in zip(share.tolist(), reach.tolist(), strict=True)]
        plot.add_drawn(bar, hover="cluster %{y}: %{customdata}", customdata=told)


# Panels side by side, and pixels: of a panel, of its labels (of categories they are slanted), of its title, of the name
# of a segment or the words in place of its panels.
_ACROSS, _GAP = 3, 0.08
_PANEL, _LABELS, _SLANTED, _TITLE_LINE, _LINE = 120, 26, 56, 15, 22
# Labels below a panel that do not run into each other.
_MOST_LABELS, _MOST_POWERS = 6, 3
_LONGEST = {"column": 16, "segment": 24, "label": 9}

# What a report says, as plain values: what ``SegmentsReport.to_dict`` gives.
Said = Mapping[str, Any]


def draw_segments(report: Said, names: Sequence[str] = ()) -> Diagram:
    """One row of panels a segment: up to three columns, those that tell it apart first.

    Areas of bars are shares of the segment's rows, their whiskers the noise; the grey steps are the same of all
    segments together. ``report`` is a report of segments as plain values; ``names`` are what the owner calls them.
    """
    segments: Sequence[Said] = report["segments"]
    given = dict(enumerate(names, start=1))
    numbers = [segment["number"] for segment in segments]
    named = [shorten(given.get(number, "") or f"Segment {number}", _LONGEST["segment"]) for number in numbers]
    shown = [_choose_columns(segment) for segment in segments]
    least, *_, most = sorted(segments, key=lambda segment: segment["size"]["value"]) * 2
    finding = capitalize_first(format_things(len(segments), "segment"))
    if len(segments) > 1:
        finding += f", of {_format_size(least)} to {_format_size(most)} rows"
    lines = [
        f"{name}: {_format_size(segment)} rows{_describe(segment, columns)}"
        for name, segment, columns in zip(named, segments, shown, strict=True)
    ]

    def paint(palette: Palette) -> Plot:
        tall = [_measure_rows(columns) for columns in shown]
        high, width = sum(map(sum, tall)), (1 - _GAP * (_ACROSS - 1)) / _ACROSS
        plot = new_plot(palette, height=AIR + high, legend_lines=0)
        plot.update_layout(margin={"b": 0, "l": 24, "r": 12}, bargap=0.08)
        bottom = 1.0
        for line, (name, segment, columns) in enumerate(zip(named, segments, shown, strict=True)):
            heading, panel, labels = (pixels / high for pixels in tall[line])
            top, bottom = bottom, bottom - heading - panel - labels
            up = (bottom + labels, bottom + labels + panel)
            head = f"<b>{spell_name(name)}</b>: {_format_size(segment)} rows"
            _add_words(plot, head, 0.0, top - _LINE / high, palette.text)
            if segment["words"]:
                _add_words(plot, segment["words"], 0.0, up[1], palette.muted)
            for place, said in enumerate(columns):
                across = (place * (width + _GAP), place * (width + _GAP) + width)
                others = [one for every in segments for one in every["columns"] if one["column"] == said["column"]]
                everybody = np.sum([one["histogram"]["counts"] for one in others], axis=0)
                _add_panel(plot, Panel(line * _ACROSS + place, across, up), said, everybody, palette)
        if not any(shown):
            plot.update_layout(xaxis_visible=False, yaxis_visible=False)
        return plot

    def tabulate() -> pd.DataFrame:
        """Noisy counts of every bin of every column of every segment."""
        rows = [
            (name, said["column"], label, count, said["histogram"]["sd"])
            for name, segment in zip(named, segments, strict=True)
            for said in segment["columns"]
            for label, count in zip(_format_labels(said), said["histogram"]["counts"], strict=True)
        ]
        return pd.DataFrame(rows, columns=["segment", "column", "bin", "noisy count", "noise sd"])

    note = "areas: shares by a segment's histogram, with noise; grey: of all rows"
    return Diagram("segments", finding, note, f"{finding}. {'. '.join(lines)}.", paint, tabulate)


def _choose_columns(segment: Said) -> list[Said]:
    """Those that tell it apart, then the others in their order; none of a segment that is too small to say."""
    if segment["words"]:
        return []
    by_name = {said["column"]: said for said in segment["columns"] if said.get("shares") or said.get("median")}
    return [by_name[name] for name in dict.fromkeys([*segment["telling"], *by_name])][:_ACROSS]


def _measure_rows(columns: Sequence[Said]) -> tuple[int, int, int]:
    """Pixels of a segment's heading, of its panels and of their labels."""
    if not columns:
        return 2 * _LINE, 0, _LINE // 2
    slanted = any(said["histogram"]["labels"] for said in columns)
    lines = max(_write_title(said).count("<br>") for said in columns) + 1
    return _LINE + _TITLE_LINE * lines, _PANEL, _SLANTED if slanted else _LABELS


def _write_title(said: Said) -> str:
    """Name and typical value of a column, in lines no wider than a panel on a telephone."""
    dated = bool(said.get("first_day"))
    name = ", ".join(filter(None, (shorten(said["column"], _LONGEST["column"]), "" if dated else said["unit"])))
    typical = _find_typical(said, with_unit=False).replace(" (", "<br>(").replace(": ", ":<br>")
    return f"{spell_name(name)}<br>{typical.replace(' to ', '<br>to ') if dated else typical}"


def _describe(segment: Said, columns: Sequence[Said]) -> str:
    if segment["words"]:
        return f", {segment['words']}"
    return "".join(f"; {said['column']} {_find_typical(said)}" for said in columns)


def _add_panel(plot: Plot, panel: Panel, said: Said, everybody: Array, palette: Palette) -> None:
    """One small histogram with its typical value above it."""
    shares, noise = _list_shares(said["histogram"]["counts"], said["histogram"]["sd"])
    x, width, ticks = _make_bins(said)
    # Lines show the noise of each; of a clustered column the card tells a share by its centre, which is nearer.
    labels = zip(_format_labels(said), shares.tolist(), strict=True)
    told = [f"{label}: {format_percent(max(share, 0.0))} by this histogram" for label, share in labels]
    # Bins differ in width: what is drawn is a density, so that areas are shares.
    dense = width / width.mean()
    mine, noise, all_of_them = shares / dense, noise / dense, _list_shares(everybody, 0.0)[0] / dense
    bar: Data = {"type": "bar", "x": x, "y": mine, "width": width, **panel.axes, "meta": "released"}
    bar["marker"] = {"color": palette.fade(palette.released, 0.55), "line": {"width": 0}}
    bar["error_y"] = {"type": "data", "array": noise, "color": palette.released, "thickness": 1, "width": 0}
    plot.add_drawn(bar, hover="%{customdata}", customdata=told)
    steps = np.ravel(np.column_stack([x - width / 2, x + width / 2]))
    plot.add_scatter(steps, np.repeat(all_of_them, 2), "lines", line={"color": palette.muted, "width": 1}, **panel.axes)
    high = max(float((mine + noise).max()), float(all_of_them.max()), 0.05) * 1.05
    ends = [float(x[0] - width[0] / 2), float(x[-1] + width[-1] / 2)]
    axis = {"range": ends, "showgrid": False, "zeroline": False, "tickfont_size": NUMBER_SIZE, **ticks}
    panel.add(plot, palette, axis, {"range": [0, high], "visible": False, "fixedrange": True})
    _add_words(plot, _write_title(said), panel.across[0], panel.up[1], palette.text)


def _add_words(plot: Plot, text: str, x: float, y: float, color: str) -> None:
    where = {"xref": "paper", "yref": "paper", "x": x, "y": y, "xanchor": "left", "yanchor": "bottom"}
    add_note(plot, text, color, where | {"align": "left"})


def _format_size(segment: Said) -> str:
    size = segment["size"]
    return format_noisy(size["value"], size["high"] - size["value"], whole=True, within=(0, inf))


def _find_typical(said: Said, *, with_unit: bool = True) -> str:
    """The median, or the most frequent category, with its interval."""
    if said["histogram"]["labels"]:
        if not said["shares"]:
            return ""
        most = max(said["shares"], key=lambda one: one["share"]["value"])
        low, high, value = (100 * most["share"][end] for end in ("low", "high", "value"))
        label = most["label"] if with_unit else shorten(most["label"], _LONGEST["label"])
        return f"{label} {format_between(low, high, value, unit='%')}"
    if (median := said["median"]) is None:
        return ""
    first_day, edges = said.get("first_day", ""), said["histogram"]["edges"]
    if median["range_only"] and median["low"] <= edges[0] and median["high"] >= edges[-1]:
        return "anywhere: noise hides it"
    value, unit = None if median["range_only"] else median["value"], said["unit"] if with_unit and not first_day else ""
    return format_between(median["low"], median["high"], value, edges=edges, unit=unit, first_day=first_day)


def _format_labels(said: Said) -> list[str]:
    histogram = said["histogram"]
    if histogram["labels"]:
        return list(histogram["labels"])
    return list(map(" to ".join, pairwise(format_edges(histogram["edges"], said.get("first_day", "")))))


def _list_shares(counts: Sequence[float] | Array, sd: float) -> tuple[Array, Array]:
    """Shares of the bins, none below 0, and what noise leaves open of each."""
    values = np.asarray(counts, dtype=np.float64)
    total = max(float(values.sum()), 1e-9)
    shares = np.clip(values / total, 0.0, 1.0)
    return shares, np.full(len(values), min(NINE_IN_TEN * sd / total, 1.0))


def _make_bins(said: Said) -> tuple[Array, Array, dict[str, Any]]:
    """Middles of bins, their widths, and the ticks of their axis."""
    histogram = said["histogram"]
    if histogram["labels"]:
        places = np.arange(len(histogram["labels"]), dtype=np.float64)
        names = [spell_name(shorten(label, _LONGEST["label"])) for label in histogram["labels"]]
        every = ceil(len(names) / _MOST_LABELS)
        ticks = {"tickvals": places.tolist()[::every], "ticktext": names[::every], "tickangle": 45}
        return places, np.ones(len(places)), ticks
    edges = np.asarray(histogram["edges"], dtype=np.float64)
    ticks = {"nticks": 3, "tickformat": "~s"}
    if first_day := said.get("first_day", ""):
        ends = edges[[0, -1]].tolist()
        days = [format_day(first_day, end) for end in ends]
        months = [day[:7] for day in days]
        ticks = {"tickvals": ends, "ticktext": months if len({*months}) == len(months) else days}
    if (kind := histogram.get("kind", "number")) != "number":
        # Bins are even on the scale on which the column is clustered: on an even axis all would lie at one end.
        scale = codings.Stretched(kind)
        amounts = _list_amounts(kind, float(edges[0]), float(edges[-1]))
        edges = scale.stretch(edges)
        at = scale.stretch(np.array(amounts, dtype=np.float64)).tolist()
        ticks = {"tickvals": at, "ticktext": [shorten_amount(one, 1e4) for one in amounts]}
    return (edges[:-1] + edges[1:]) / 2, np.diff(edges), ticks


def _list_amounts(kind: str, low: float, high: float) -> list[float]:
    """Round amounts to stand below an axis that is even in logarithms, or in roots.

    >>> _list_amounts("log", 10.0, 1e6), _list_amounts("root", -10_000.0, 40_000.0)
    ([10.0, 1000.0, 100000.0], [-10000.0, 0.0, 10000.0, 40000.0])
    """
    if kind == "root":
        size = min(abs(low), abs(high)) or max(abs(low), abs(high)) / 4
        return sorted({low, high, *(one for one in (-size, 0.0, size) if low < one < high)})
    powers = range(ceil(log10(low) - 1e-9), floor(log10(high) + 1e-9) + 1)
    return [10.0**power for power in powers][:: ceil(len(powers) / _MOST_POWERS)] or [low, high]
