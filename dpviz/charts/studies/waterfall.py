"""From the loss of k-means++ to the private one in bars: what quantising, noise and the solver add."""

from __future__ import annotations

import pandas as pd
import plotly.graph_objects as go

from dpviz.charts.canvas import NUMBER_SIZE, canvas
from dpviz.charts.studies.contenders import runs_text
from dpviz.charts.theme import CLUSTER_MARKS, Palette
from dpviz.charts.wording import clauses, number, opening, percent, ratio
from dpviz.runs.error_parts import ErrorParts, Part

_HEIGHT = 440
# Beside the longest bar, for its number.
_AIR, _LITTLE_AIR = 0.36, 0.03
_LESS = CLUSTER_MARKS[2].color
# Parts below this share of the loss of k-means++ are not worth naming; below the other they are rounding.
_NOTHING, _ROUNDING = 0.005, 1e-9


def draw_waterfall(found: ErrorParts, *, palette: Palette, name: str, epsilon: float) -> go.Figure:
    """Bars from top to bottom, each beginning where the one before ends; in percent of the loss of k-means++, above it.

    Where k-means++ loses nothing, the unit is the loss per row itself.
    """
    unit = _unit(found)
    figure = canvas(
        palette,
        title=_finding(found, name, epsilon),
        subtitle=clauses(
            "bars: differences of median losses",
            runs_text([found.runs]),
            f"{name}, ε = {epsilon:g}",
            _left_out(found),
            _clipping(found),
        ),
        height=_HEIGHT,
        legend_lines=0,
    )
    bars, at = [("k-means++", 0.0, 0.0)], 0.0
    for part in found.parts:
        bars.append((part.name, at, part.value / unit))
        at += part.value / unit
    bars.append(("private", 0.0, (found.private - found.kmeans) / unit))
    ends = {0: found.kmeans / unit, len(bars) - 1: found.private / unit}
    percents = 100 if found.kmeans > 0 else 1
    colors = [
        palette.public if place in ends else palette.revealed if length >= 0 else _LESS
        for place, (_, _, length) in enumerate(bars)
    ]
    # The number stands right of the bar, whichever way the bar goes.
    reach = [max(base, base + length) for _, base, length in bars]
    names, places = [bar for bar, _, _ in bars], list(range(len(bars)))
    figure.add_trace(
        go.Bar(
            **{"y": places, "x": [percents * length for _, _, length in bars]},
            base=[percents * base for _, base, _ in bars],
            **{"orientation": "h", "width": 0.62, "marker": {"color": colors}, "meta": "bars", "showlegend": False},
            customdata=list(zip(names, ["", *(part.about for part in found.parts), ""], strict=True)),
            hovertemplate="<b>%{customdata[0]}</b>: %{x:.3g}<br>%{customdata[1]}<extra></extra>",
        )
    )
    for place, (_, base, length) in enumerate(bars):
        figure.add_annotation(
            text=_length(ends.get(place, length), found, end=place in ends),
            **{"x": percents * reach[place], "y": place},
            **{"xanchor": "left", "xshift": 5, "showarrow": False, "font": {"size": NUMBER_SIZE}},
        )
        if place + 1 < len(bars):
            edge = percents * (base + length)
            figure.add_shape(
                **{"type": "line", "x0": edge, "x1": edge, "y0": place - 0.31, "y1": place + 1.31},
                line={"color": palette.muted, "width": 1, "dash": "dot"},
                layer="below",
            )
    low, high = percents * min(min(base, base + length) for _, base, length in bars), percents * max(reach)
    span = (high - low) or 1.0
    figure.update_xaxes(
        **{"range": [low - _LITTLE_AIR * span, high + _AIR * span], "title_text": _axis(found)},
        **{"zeroline": True, "zerolinecolor": palette.muted},
    )
    figure.update_yaxes(range=[len(bars) - 0.5, -0.5], tickvals=places, ticktext=names, showgrid=False, zeroline=False)
    return figure


def describe_waterfall(found: ErrorParts, *, name: str, epsilon: float) -> str:
    """The picture in words."""
    unit = _unit(found)
    steps = ", ".join(f"{part.name} {_length(part.value / unit, found)}" for part in found.parts)
    ends = f"from {_length(found.kmeans / unit, found, end=True)} to {_length(found.private / unit, found, end=True)}"
    return f"{_finding(found, name, epsilon)}. Median loss {ends}: {steps}. {opening(_clipping(found))}."


def waterfall_table(found: ErrorParts) -> pd.DataFrame:
    """The bars in numbers, losses per row in unit coordinates squared, with what was switched off for each."""
    unit = _unit(found)
    whole = f"median of {found.runs} runs"
    rows = [("k-means++", found.kmeans, found.kmeans, found.kmeans, "on the clipped rows, without privacy")]
    rows += [(part.name, part.value, part.q25, part.q75, part.about) for part in found.parts]
    rows.append(("private", found.private, found.private, found.private, whole))
    if (clip := found.clip) is not None:
        rows.append((f"beside these: {clip.name}", clip.value, clip.q25, clip.q75, clip.about))
    table = pd.DataFrame(rows, columns=["part", "loss per row", "25 % of runs", "75 % of runs", "how it is measured"])
    table.insert(2, "of k-means++", table["loss per row"] / unit)
    return table


def _unit(found: ErrorParts) -> float:
    return found.kmeans if found.kmeans > 0 else 1.0


def _axis(found: ErrorParts) -> str:
    return "loss above k-means++ (%)" if found.kmeans > 0 else "loss per row (unit coordinates²)"


def _length(value: float, found: ErrorParts, *, end: bool = False) -> str:
    """The number of a bar in units of the axis: ends as they are, parts with their sign."""
    value = 0.0 if abs(value) <= _ROUNDING else value
    sign = "" if end else "+" if value > 0 else "−" if value < 0 else "±"
    length = value if end else abs(value)
    if found.kmeans > 0 and not end:
        return f"{sign}{percent(length)}"
    return sign + (ratio(length) if found.kmeans > 0 else number(length))


def _finding(found: ErrorParts, name: str, epsilon: float) -> str:
    excess, largest = found.private - found.kmeans, _largest(found)
    if abs(excess) <= _NOTHING * _unit(found):
        return f"At ε = {epsilon:g}, {name} loses next to nothing against k-means++"
    lost = percent(abs(excess) / _unit(found)) if found.kmeans > 0 else number(abs(excess))
    if excess < 0:
        return f"At ε = {epsilon:g}, {name} beats k-means++ by {lost}"
    return f"At ε = {epsilon:g}, {name} loses {lost} on top of k-means++, most of it to {_CAUSES[largest.name]}"


_CAUSES = {
    "quantise": "quantising",
    "noise": "noise",
    "solver": "its solver",
    "interaction": "noise and solver together",
}


def _largest(found: ErrorParts) -> Part:
    return max(found.parts, key=lambda part: part.value)


def _clipping(found: ErrorParts) -> str:
    """What the bounds cost beside the bars."""
    if found.clip is None:
        return "judged on rows inside the bounds"
    if found.clip.value == 0:
        return "the bounds clip no row"
    return f"judged on clipped rows; clipping alone moves them by {number(found.clip.value)} a row (unit coordinates²)"


def _left_out(found: ErrorParts) -> str:
    return "" if found.quantised else "no synopsis: rows are read to the end, so nothing is lost to quantising"
