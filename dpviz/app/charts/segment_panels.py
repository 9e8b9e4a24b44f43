"""Segment by segment: its size with its noise, and how the columns that tell it apart fall, in the owner's units."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from math import ceil, floor, log10
from typing import Any

import numpy as np
import pandas as pd

from dpviz.app.charts.canvas import AIR, NUMBER_SIZE, Panel, new_plot, spell_name
from dpviz.app.charts.diagram import Diagram, add_note
from dpviz.app.charts.plot import Plot
from dpviz.core import Array
from dpviz.tables import codings
from dpviz.words import Palette, capitalize_first, format_number, format_percent, format_things, shorten

# Panels side by side, and pixels: of a row of panels, of the gap above it for its heading, and below all of them.
_ACROSS, _ROW, _HEADING, _FOOT = 3, 120, 82, 50
_GAP, _ABOVE = 0.08, 38
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
    named = [_name_segment(segment, names) for segment in segments]
    shown = [_choose_columns(segment) for segment in segments]
    sizes = sorted(segment["size"]["value"] for segment in segments)
    finding = capitalize_first(format_things(len(sizes), "segment"))
    if len(sizes) > 1:
        finding += f", of about {_format_rows(max(sizes[0], 0))} to {_format_rows(sizes[-1])} rows"
    lines = [
        f"{name}: {_size(segment)}{_describe(segment, columns)}"
        for name, segment, columns in zip(named, segments, shown, strict=True)
    ]

    def paint(palette: Palette) -> Plot:
        high = len(shown) * ((_ROW if any(shown) else 0) + _HEADING)
        plot = new_plot(palette, height=AIR + high + _FOOT, legend_lines=0)
        plot.update_layout(margin={"b": _FOOT, "l": 24, "r": 12}, bargap=0.08)
        row, width = 1 / len(shown), (1 - _GAP * (_ACROSS - 1)) / _ACROSS
        for line, (name, segment, columns) in enumerate(zip(named, segments, shown, strict=True)):
            up = (1 - (line + 1) * row, 1 - line * row - _HEADING / high)
            _add_words(plot, f"<b>{spell_name(name)}</b>: {_size(segment)}", 0.0, up[1] + _ABOVE / high, palette.text)
            if segment["words"]:
                _add_words(plot, segment["words"], 0.0, up[1], palette.muted)
            for place, said in enumerate(columns):
                across = (place * (width + _GAP), place * (width + _GAP) + width)
                _add_panel(plot, Panel(line * _ACROSS + place, across, up), said, _sum_counts(said, segments), palette)
        if not any(shown):
            plot.update_xaxes(visible=False)
            plot.update_yaxes(visible=False)
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

    note = "areas: shares of a segment's rows, with noise; grey: of all rows; intervals cover nine in ten"
    return Diagram("segments", finding, note, f"{finding}. {'. '.join(lines)}.", paint, tabulate)


def _name_segment(segment: Said, names: Sequence[str]) -> str:
    place = segment["number"] - 1
    given = names[place] if place < len(names) else ""
    return shorten(given or f"Segment {segment['number']}", _LONGEST["segment"])


def _choose_columns(segment: Said) -> list[Said]:
    """Those that tell it apart, then the others in their order; none of a segment that is too small to say."""
    if segment["words"]:
        return []
    by_name = {said["column"]: said for said in segment["columns"] if said.get("shares") or said.get("median")}
    order = dict.fromkeys([*segment["telling"], *by_name])
    return [by_name[name] for name in order][:_ACROSS]


def _describe(segment: Said, columns: Sequence[Said]) -> str:
    if segment["words"]:
        return f", {segment['words']}"
    return "".join(f"; {said['column']} {_find_typical(said)}" for said in columns)


def _sum_counts(said: Said, segments: Sequence[Said]) -> Array:
    """Of the same column over all segments."""
    alike = [one for segment in segments for one in segment["columns"] if one["column"] == said["column"]]
    total: Array = np.sum([one["histogram"]["counts"] for one in alike], axis=0)
    return total


def _add_panel(plot: Plot, panel: Panel, said: Said, everybody: Array, palette: Palette) -> None:
    """One small histogram with its typical value above it."""
    shares, noise = _list_shares(said["histogram"]["counts"], said["histogram"]["sd"])
    x, width, ticks = _make_bins(said)
    # Bins differ in width: what is drawn is a density, so that areas are shares.
    dense = width / width.mean()
    mine, noise, all_of_them = shares / dense, noise / dense, _list_shares(everybody, 0.0)[0] / dense
    labels = zip(_format_labels(said), shares, strict=True)
    plot.add_trace(
        {
            **{"type": "bar", "x": x, "y": mine, "width": width, **panel.axes},
            **{"marker": {"color": palette.fade(palette.released, 0.55), "line": {"width": 0}}, "meta": "released"},
            "error_y": {"type": "data", "array": noise, "color": palette.released, "thickness": 1, "width": 0},
            "customdata": [f"{label}: {format_percent(max(share, 0))}" for label, share in labels],
            **{"hovertemplate": "%{customdata}<extra></extra>", "showlegend": False},
        }
    )
    steps = np.ravel(np.column_stack([x - width / 2, x + width / 2]))
    line = {"color": palette.muted, "width": 1}
    plot.add_scatter(steps, np.repeat(all_of_them, 2), "lines", line=line, **panel.axes)
    high = max(float((mine + noise).max()), float(all_of_them.max()), 0.05) * 1.05
    ends = [float(x[0] - width[0] / 2), float(x[-1] + width[-1] / 2)]
    axis = {"range": ends, "showgrid": False, "zeroline": False, "tickfont_size": NUMBER_SIZE, **ticks}
    panel.add(plot, palette, axis, {"range": [0, high], "visible": False, "fixedrange": True})
    name = ", ".join(filter(None, (shorten(said["column"], _LONGEST["column"]), said["unit"])))
    title = f"{spell_name(name)}<br>{_find_typical(said, write=_shorten, with_unit=False)}"
    _add_words(plot, title, panel.across[0], panel.up[1], palette.text)


def _add_words(plot: Plot, text: str, x: float, y: float, color: str) -> None:
    where = {"xref": "paper", "yref": "paper", "x": x, "y": y, "xanchor": "left", "yanchor": "bottom"}
    add_note(plot, text, color, where | {"align": "left"})


def _format_rows(size: float) -> str:
    return f"{size:,.0f}"


def _size(segment: Said) -> str:
    size = segment["size"]
    reach = max(size["high"] - size["value"], 0)
    return f"about {_format_rows(max(size['value'], 0))} ± {_format_rows(reach)} rows"


def _shorten(value: float) -> str:
    """A number that three panels side by side have room for on a telephone.

    >>> _shorten(56900.0), _shorten(2_500_000.0), _shorten(72.2), _shorten(-12000.0)
    ('56.9k', '2.5M', '72.2', '−12k')
    """
    size, unit = (1e6, "M") if abs(value) >= 1e6 else (1e3, "k") if abs(value) >= 1e4 else (1.0, "")
    return f"{format_number(value / size)}{unit}"


def _find_typical(said: Said, *, write: Callable[[float], str] = format_number, with_unit: bool = True) -> str:
    """The median, or the most frequent category, with its interval."""
    if said["histogram"]["labels"]:
        if not said["shares"]:
            return ""
        most = max(said["shares"], key=lambda one: one["share"]["value"])
        value, low, high = (f"{100 * most['share'][end]:.0f}" for end in ("value", "low", "high"))
        return f"{shorten(most['label'], _LONGEST['label'])} {value} % ({low}–{high})"
    median = said["median"]
    if median is None:
        return ""
    unit = f" {said['unit']}" if said["unit"] and with_unit else ""
    if median["range_only"]:
        return f"{write(median['low'])} to {write(median['high'])}{unit}"
    return f"{write(median['value'])}{unit} ({write(median['low'])}–{write(median['high'])})"


def _format_labels(said: Said) -> list[str]:
    histogram = said["histogram"]
    if histogram["labels"]:
        return list(histogram["labels"])
    return [f"{format_number(low)} to {format_number(high)}" for low, high in pairwise(histogram["edges"])]


def _list_shares(counts: Sequence[float] | Array, sd: float) -> tuple[Array, Array]:
    """Shares of the bins, none below 0, and 90 % whiskers."""
    values = np.asarray(counts, dtype=np.float64)
    total = max(float(values.sum()), 1e-9)
    shares = np.clip(values / total, 0.0, 1.0)
    return shares, np.full(len(values), min(1.75 * sd / total, 1.0))


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
    ticks = {"nticks": 4, "tickformat": "~s"}
    if (kind := histogram.get("kind", "number")) != "number":
        # Bins are even on the scale on which the column is clustered: on an even axis all would lie at one end.
        scale = codings.Stretched(kind)
        amounts = _list_amounts(kind, float(edges[0]), float(edges[-1]))
        edges = scale.stretch(edges)
        at = scale.stretch(np.array(amounts, dtype=np.float64)).tolist()
        ticks = {"tickvals": at, "ticktext": [_shorten(one) for one in amounts]}
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
