"""A figure in the making, as plain data that the drawing library reads, and how every figure is laid out.

A run is drawn a hundred times faster as plain data than as objects of the library, which check each attribute: whoever
wants these, a notebook or a file, asks for ``figure()``. A figure is drawn with ``theme=None`` in Streamlit:
`make_layout` sets everything that its own theme would.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping, Sequence
from math import ceil, floor, log10
from textwrap import wrap
from typing import Any

import numpy as np
import plotly.graph_objects as go

from dpviz.words import CLUSTER_MARKS, FONT, Palette, Sentences

WORDS = Sentences(__file__, "words.toml")
"""Of pictures, by key."""
TITLE_SIZE, TEXT_SIZE = 16, 13
HEIGHT = 420
"""Pixels; charts that replace each other share a height, so that the page does not jump."""
PHONE = 360
"""The narrowest picture that must be readable, in pixels: titles are broken to fit it."""

_EPSILON_TICKS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
# Stands for a space at which no line is broken.
_GLUE = "\x1f"


def make_layout(palette: Palette, *, height: int = HEIGHT) -> dict[str, Any]:
    """What every figure's layout starts from: transparent, system font, no words above the plot."""
    text = {"family": FONT, "size": TEXT_SIZE, "color": palette.text}
    return {
        "height": height,
        "margin": {"l": 56, "r": 16, "t": 52, "b": 48},
        "paper_bgcolor": palette.background,
        "plot_bgcolor": palette.background,
        "font": text,
        "xaxis": _make_axis(palette),
        "yaxis": _make_axis(palette),
        "colorway": [mark.color for mark in CLUSTER_MARKS],
        "coloraxis": {"colorscale": palette.sequential},
        "hoverlabel": {"bgcolor": palette.surface, "bordercolor": palette.grid, "font": text},
        "hovermode": "closest",
        "modebar": {"bgcolor": palette.surface, "color": palette.muted, "activecolor": palette.text},
        "legend": {"orientation": "h", "x": 0, "y": -0.16, "yanchor": "top", "bgcolor": palette.background},
        "uirevision": "keep",  # a zoom survives the next step of a run
    }


def _make_axis(palette: Palette) -> dict[str, Any]:
    return {
        **dict.fromkeys(("gridcolor", "zerolinecolor", "linecolor"), palette.grid),
        "tickfont": {"color": palette.muted},
        # Explicit, or the browser would enlarge it.
        "title": {"font": {"color": palette.text, "size": TEXT_SIZE}, "standoff": 8},
        "automargin": True,
    }


def make_config(filename: str) -> dict[str, Any]:
    """Mode bar of every chart: an SVG to download, and no button that would send the chart anywhere.

    >>> make_config("Trade-off: S1, k=15")["toImageButtonOptions"]["filename"]
    'trade-off-s1-k-15'
    """
    plain = re.sub(r"[^a-z0-9-]+", "-", filename.lower()).strip("-")
    return {
        "displaylogo": False,
        "showSendToCloud": False,
        "toImageButtonOptions": {"format": "svg", "filename": plain or "chart"},
        "modeBarButtonsToRemove": ["select2d", "lasso2d", "autoScale2d"],
        "responsive": True,
    }


def make_axis_title(name: str, unit: str = "") -> str:
    """An axis title with its unit."""
    return f"{name} ({unit})" if unit else name


def make_epsilon_axis(lowest: float = 0.1, highest: float = 10.0) -> dict[str, Any]:
    """A logarithmic axis over ``[lowest, highest]`` with the same round ticks wherever ε is drawn."""
    air = 0.04 * max(log10(highest / lowest), 0.5)
    ticks = [tick for tick in _EPSILON_TICKS if lowest / 1.01 <= tick <= highest * 1.01]
    axis: dict[str, Any] = {"type": "log", "range": [log10(lowest) - air, log10(highest) + air], "tickvals": ticks}
    axis["ticktext"] = [f"{tick:g}" for tick in ticks]
    return axis | {"title": {"text": make_axis_title("ε", "smaller: more private")}}


def make_log_axis(low: float, high: float) -> dict[str, Any]:
    """A logarithmic axis from 10^``low`` to 10^``high`` with ticks at 1, 2 and 5, where these do not crowd."""
    steps = (1, 2, 5) if high - low < 2.5 else (1,)
    ticks = [step * 10.0**power for power in range(floor(low), ceil(high) + 1) for step in steps]
    # Written out in full: ticks of the library between powers of ten show their first digit only.
    return {"type": "log", "tickvals": ticks, "ticktext": [f"{tick:,g}" for tick in ticks]}


def make_reference_marker(palette: Palette, size: float = 11) -> dict[str, Any]:
    """k-means++: always open diamonds in the colour of what is revealed."""
    return {"symbol": "diamond-open", "size": size, "color": palette.revealed, "line": {"width": 1.8}}


def make_center_marker(palette: Palette, colors: str | Sequence[str] | None = None, size: float = 11) -> dict[str, Any]:
    """Released centres: small filled circles; their numbers stand outside."""
    fill = palette.released if colors is None else colors
    return {"symbol": "circle", "size": size, "color": fill, "line": {"width": 1.5, "color": palette.surface}}


def wrap_lines(text: str, *, size: float, width: float = PHONE, even: bool = False) -> list[str]:
    """``text`` broken into lines that fit ``width`` pixels at a font ``size``; ``even`` lines are about equally long.

    A sign of equality or percent stays with its number.

    >>> wrap_lines("the noise is above Δ = 3", size=10, width=120)
    ['the noise is above', 'Δ = 3']
    >>> wrap_lines("one two three four", size=10, width=90, even=True)
    ['one two', 'three four']
    """
    glued = re.sub(r" (?==)|(?<==) |(?<=\d) (?=%)", _GLUE, text)
    # Width of an average character in pixels per pixel of font size, for a system sans-serif.
    most = max(12, int(width / (0.53 * size)))
    broken = _wrap(glued, most)
    least = max(12, len(text) // max(1, len(broken))) if even and len(broken) > 1 else most
    for narrower in range(least, most):
        if len(_wrap(glued, narrower)) == len(broken):
            broken = _wrap(glued, narrower)
            break
    return [line.replace(_GLUE, " ") for line in broken]


def _wrap(text: str, most: int) -> list[str]:
    return wrap(text, most, break_long_words=True, break_on_hyphens=False)


Data = dict[str, Any]

# Attributes whose own names have an underscore; in all others it stands between a part and its attribute.
_WHOLE = ("error_x", "error_y", "paper_bgcolor", "plot_bgcolor")
# Numbers as the browser takes them in without parsing; it knows no whole numbers of 64 bits.
_TYPED = {"f4": "<f4", "f8": "<f8", "i1": "<i1", "u1": "<u1", "i2": "<i2", "u2": "<u2", "i4": "<i4", "u4": "<u4"}


REVEALED_MARK = "◉ revealed: shows rows without privacy"
"""What stands in every picture of rows, and in each file that is made of it, whoever makes it."""
MADE_UP_MARK = "◉ made-up rows: nobody’s"
"""The same where the rows are of nobody."""
MARK_ROOM = 28
"""What is its own of the margin above a plot, at the top, in pixels."""
_MARK_HEIGHT = 22  # where there is less, room is made


class Plot:
    """Traces and a layout. Its methods are called as those of the library's own figure are."""

    mark = REVEALED_MARK

    def __init__(self, layout: Mapping[str, Any]) -> None:
        self.traces: list[Data] = []
        self.layout: Data = merge({}, layout)

    def add_trace(self, trace: Mapping[str, Any]) -> None:
        """One more trace; what is None is left out. One of what was revealed marks the picture."""
        if trace.get("meta") == "revealed":
            self.mark_revealed()
        self.traces.append({name: value for name, value in trace.items() if value is not None})

    def mark_revealed(self) -> None:
        """Say within the picture that it was drawn from rows without privacy, once: the mark leaves with any file."""
        if self.layout.get("meta"):
            return
        above = self.layout.get("margin", {}).get("t", 0)
        place: Data = {"x": 0, "y": 1, "xanchor": "left", "yanchor": "bottom"}
        if above > MARK_ROOM:  # over what else stands there
            place["yshift"] = above - MARK_ROOM
        elif above < _MARK_HEIGHT:  # from the edge on, above the name of the last tick
            margin = self.layout.setdefault("margin", {})
            place |= {"xshift": -margin.get("l", 0), "yshift": 5}
            margin["t"] = _MARK_HEIGHT
        look = {"xref": "paper", "yref": "paper", "showarrow": False, "font": {"size": 10}}
        self.add_annotation({"name": "revealed", "text": self.mark, **place, **look})
        self.layout["meta"] = self.mark

    def add_scatter(self, x: Any, y: Any, mode: str, **look: Any) -> None:
        """Marks or lines through places; ``look`` is as in `add_drawn`."""
        self.add_drawn({"type": "scatter", "x": x, "y": y, "mode": mode}, **look)

    def add_drawn(self, trace: Mapping[str, Any], *, listed: str = "", hover: str = "", **look: Any) -> None:
        """A trace that stands in the legend as ``listed``, or not at all, and tells what ``hover`` says, or nothing."""
        named = {"name": listed} if listed else {"showlegend": False}
        told = {"hovertemplate": f"{hover}<extra></extra>"} if hover else {"hoverinfo": "skip"}
        self.add_trace({**trace, **named, **told, **look})

    def add_shape(self, **shape: Any) -> None:
        """A line, a box or a circle."""
        self.layout.setdefault("shapes", []).append(merge({}, shape))

    def add_annotation(self, annotation: Mapping[str, Any]) -> None:
        """Words on the plot."""
        self.layout.setdefault("annotations", []).append(merge({}, annotation))

    def add_vline(self, x: float, **line: Any) -> None:
        """A line from top to bottom, whatever the other axis shows."""
        self.add_shape(type="line", x0=x, x1=x, y0=0, y1=1, yref="y domain", **line)

    def add_hline(self, y: float, **line: Any) -> None:
        """A line from left to right, whatever the other axis shows."""
        self.add_shape(type="line", y0=y, y1=y, x0=0, x1=1, xref="x domain", **line)

    def add_vrect(self, x0: float, x1: float, **rect: Any) -> None:
        """A band from top to bottom."""
        self.add_shape(type="rect", x0=x0, x1=x1, y0=0, y1=1, yref="y domain", **rect)

    def add_hrect(self, y0: float, y1: float, **rect: Any) -> None:
        """A band from left to right."""
        self.add_shape(type="rect", y0=y0, y1=y1, x0=0, x1=1, xref="x domain", **rect)

    def update_layout(self, **layout: Any) -> Plot:
        """Change the layout: what is said of a part leaves the rest of it as it is."""
        merge(self.layout, layout)
        return self

    def update_xaxes(self, **axis: Any) -> None:
        """Change the axis across."""
        merge(self.layout.setdefault("xaxis", {}), axis)

    def update_yaxes(self, **axis: Any) -> None:
        """Change the axis up."""
        merge(self.layout.setdefault("yaxis", {}), axis)

    def figure(self) -> go.Figure:
        """The library's own figure, every attribute checked."""
        return go.Figure({"data": self.traces, "layout": self.layout})

    def to_data(self) -> Data:
        """Everything as JSON can say it; arrays in the base64 form that the library reads."""
        made: Data = strip_tags({"data": self.traces, "layout": self.layout})
        return made


def merge(into: Data, more: Mapping[str, Any]) -> Data:
    """``into`` with all that ``more`` says: parts are merged, all else is replaced.

    >>> merge({"title": {"text": "a", "x": 0}}, {"title_text": "b"})
    {'title': {'text': 'b', 'x': 0}}
    """
    for name, value in more.items():
        part, _, rest = (name, "", "") if name in _WHOLE else name.partition("_")
        if rest:
            merge(into.setdefault(part, {}), {rest: value})
        elif isinstance(value, Mapping):
            known = into.get(part)
            into[part] = merge(known if isinstance(known, dict) else {}, value)
        else:
            into[part] = value
    return into


def strip_tags(value: Any) -> Any:
    """``value`` as JSON can say it: arrays in base64, numbers that are none as null."""
    if isinstance(value, Mapping):
        return {name: strip_tags(part) for name, part in value.items()}
    if isinstance(value, np.ndarray):
        return _read_array(value)
    if isinstance(value, (list, tuple)):
        return [strip_tags(part) for part in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not np.isfinite(value) else value


def _read_array(values: np.ndarray[Any, Any]) -> Any:
    if values.dtype.kind == "i" and values.itemsize == 8:
        values = values.astype(np.int32 if np.abs(values).max(initial=0) < 2**31 else np.float64)
    code = values.dtype.str[1:]
    if values.ndim > 2 or code not in _TYPED:
        return strip_tags(values.tolist())
    shape = {} if values.ndim == 1 else {"shape": ", ".join(map(str, values.shape))}
    return {"dtype": code, "bdata": base64.b64encode(values.astype(_TYPED[code]).tobytes()).decode(), **shape}


def pack(data: Mapping[str, Any]) -> str:
    """As text, without a blank too many."""
    return json.dumps(data, separators=(",", ":"), allow_nan=False)
