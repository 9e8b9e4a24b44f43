"""From the loss of k-means++ to the private one in bars: what quantising, noise and the solver add."""

from __future__ import annotations

from typing import NamedTuple

import pandas as pd

from dpviz.app.charts.canvas import new_plot
from dpviz.app.charts.diagram import Diagram, add_note
from dpviz.app.charts.plot import Plot
from dpviz.app.charts.studies.contenders import describe_runs
from dpviz.runs import error_parts
from dpviz.words import (
    CLUSTER_MARKS,
    Palette,
    capitalize_first,
    format_number,
    format_percent,
    format_ratio,
    join_clauses,
)

_HEIGHT = 358
# Beside the longest bar, for its number.
_AIR, _LITTLE_AIR = 0.36, 0.03
_LESS = CLUSTER_MARKS[2].color
# Parts below this share of the loss of k-means++ are not worth naming; below the other they are rounding.
_NOTHING, _ROUNDING = 0.005, 1e-9
_CAUSES = {
    "quantise": "quantising",
    "noise": "noise",
    "solver": "its solver",
    "interaction": "noise and solver together",
}


class _Bar(NamedTuple):
    """From ``base`` on, in units of the loss of k-means++ above it; the number beside it."""

    name: str
    base: float
    length: float
    text: str
    about: str = ""

    @property
    def tip(self) -> float:
        return self.base + self.length


def draw_waterfall(error: error_parts.ErrorParts, name: str, epsilon: float) -> Diagram:
    """Bars from top to bottom, each beginning where the one before ends; in percent of the loss of k-means++, above it.

    Where k-means++ loses nothing, the unit is the loss per row itself.
    """
    relative = error.kmeans > 0
    unit, scale = (error.kmeans, 100) if relative else (1.0, 1)
    finding, clipping = f"At ε = {epsilon:g}, {_describe_excess(error, name)}", _describe_clipping(error)
    bars = _list_bars(error, unit)

    def paint(palette: Palette) -> Plot:
        plot = new_plot(palette, height=_HEIGHT, legend_lines=0)
        inner = [palette.revealed if bar.length >= 0 else _LESS for bar in bars[1:-1]]
        colors, places = [palette.public, *inner, palette.public], list(range(len(bars)))
        plot.add_trace(
            {
                **{"type": "bar", "orientation": "h", "width": 0.62, "y": places},
                **{"x": [scale * bar.length for bar in bars], "base": [scale * bar.base for bar in bars]},
                **{"marker": {"color": colors}, "customdata": [(bar.name, bar.about) for bar in bars]},
                "hovertemplate": "<b>%{customdata[0]}</b>: %{x:.3g}<br>%{customdata[1]}<extra></extra>",
                **{"meta": "bars", "showlegend": False},
            }
        )
        for place, bar in enumerate(bars):
            # The number stands right of the bar, whichever way the bar goes.
            right = scale * max(bar.base, bar.tip)
            add_note(plot, bar.text, palette.text, {"x": right, "y": place, "xanchor": "left", "xshift": 5})
        dotted = {"color": palette.muted, "width": 1, "dash": "dot"}
        for place, bar in enumerate(bars[:-1]):
            x = {"x0": scale * bar.tip, "x1": scale * bar.tip}
            plot.add_shape(type="line", **x, y0=place - 0.31, y1=place + 1.31, line=dotted, layer="below")
        ends = [scale * end for bar in bars for end in (bar.base, bar.tip)]
        span = (max(ends) - min(ends)) or 1.0
        axis = "loss above k-means++ (%)" if relative else "loss per row (unit coordinates²)"
        plot.update_xaxes(range=[min(ends) - _LITTLE_AIR * span, max(ends) + _AIR * span], title_text=axis)
        plot.update_xaxes(zeroline=True, zerolinecolor=palette.muted)
        plot.update_yaxes(range=[len(bars) - 0.5, -0.5], tickvals=places, ticktext=[bar.name for bar in bars])
        plot.update_yaxes(showgrid=False, zeroline=False)
        return plot

    def tabulate() -> pd.DataFrame:
        """Losses per row in unit coordinates squared, with what was switched off for each."""
        rows = [("k-means++", error.kmeans, error.kmeans, error.kmeans, "on the clipped rows, without privacy")]
        rows += [(part.name, part.value, part.q25, part.q75, part.about) for part in error.parts]
        rows.append(("private", error.private, error.private, error.private, f"median of {error.runs} runs"))
        if (clip := error.clip) is not None:
            rows.append((f"beside these: {clip.name}", clip.value, clip.q25, clip.q75, clip.about))
        names = ["part", "loss per row", "25 % of runs", "75 % of runs", "how it is measured"]
        table = pd.DataFrame(rows, columns=names)
        table.insert(2, "of k-means++", table["loss per row"] / unit)
        return table

    note = join_clauses(
        "bars: differences of median losses",
        describe_runs([error.runs]),
        f"{name}, ε = {epsilon:g}",
        "" if error.quantised else "no synopsis: rows are read to the end, so quantising loses nothing",
        clipping,
    )
    first, *parts, last = bars
    steps = ", ".join(f"{bar.name} {bar.text}" for bar in parts)
    words = f"{finding}. Median loss from {first.text} to {last.text}: {steps}. {capitalize_first(clipping)}."
    return Diagram("where-the-error-comes-from", finding, note, words, paint, tabulate)


def _describe_excess(error: error_parts.ErrorParts, name: str) -> str:
    """How much is lost on top of k-means++, and to what most of it."""
    excess, relative = error.private - error.kmeans, error.kmeans > 0
    unit = error.kmeans if relative else 1.0
    if abs(excess) <= _NOTHING * unit:
        return f"{name} loses next to nothing against k-means++"
    lost = format_percent(abs(excess) / unit) if relative else format_number(abs(excess))
    if excess < 0:
        return f"{name} beats k-means++ by {lost}"
    largest = max(error.parts, key=lambda part: part.value)
    return f"{name} loses {lost} on top of k-means++, most of it to {_CAUSES[largest.name]}"


def _list_bars(error: error_parts.ErrorParts, unit: float) -> list[_Bar]:
    """k-means++, what each part adds, and the private loss."""
    whole, part_of = (format_ratio, format_percent) if error.kmeans > 0 else (format_number, format_number)
    kmeans, private = error.kmeans / unit, error.private / unit
    bars = [_Bar("k-means++", 0.0, 0.0, whole(kmeans))]
    for part in error.parts:
        length = part.value / unit
        shown = 0.0 if abs(length) <= _ROUNDING else length
        sign = "+" if shown > 0 else "−" if shown < 0 else "±"
        bars.append(_Bar(part.name, bars[-1].tip, length, sign + part_of(abs(shown)), part.about))
    return [*bars, _Bar("private", 0.0, private - kmeans, whole(private))]


def _describe_clipping(error: error_parts.ErrorParts) -> str:
    """What the bounds cost beside the bars."""
    if error.clip is None:
        return "judged on rows inside the bounds"
    if error.clip.value == 0:
        return "the bounds clip no row"
    moved = format_number(error.clip.value)
    return f"judged on clipped rows; clipping alone moves them by {moved} a row (unit coordinates²)"
