"""A figure in the making: plain data, as the drawing library in the browser reads it, without a check of every word.

A run is drawn a hundred times faster as plain data than as objects of the library, which check each attribute: whoever
wants these, a notebook or a file, asks for ``figure()``.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import plotly.graph_objects as go

Data = dict[str, Any]

# Attributes whose own names have an underscore; in all others it stands between a part and its attribute.
_WHOLE = ("error_x", "error_y", "paper_bgcolor", "plot_bgcolor")
# Numbers as the browser takes them in without parsing; it knows no whole numbers of 64 bits.
_TYPED = {"f4": "<f4", "f8": "<f8", "i1": "<i1", "u1": "<u1", "i2": "<i2", "u2": "<u2", "i4": "<i4", "u4": "<u4"}


REVEALED_MARK = "◉ revealed: shows rows without privacy"
"""What stands in every picture of rows, and in each file that is made of it, whoever makes it."""
MARK_ROOM = 28
"""What is its own of the margin above a plot, at the top, in pixels."""
_MARK_HEIGHT = 20  # where there is less, it stands inside


class Plot:
    """Traces and a layout. Its methods are called as those of the library's own figure are."""

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
        place: Data = {"x": 0, "y": 1, "xanchor": "left", "yanchor": "top" if above < _MARK_HEIGHT else "bottom"}
        if above > MARK_ROOM:  # over what else stands there
            place["yshift"] = above - MARK_ROOM
        look = {"xref": "paper", "yref": "paper", "showarrow": False, "font": {"size": 10}}
        self.add_annotation({"name": "revealed", "text": REVEALED_MARK, **place, **look})
        self.layout["meta"] = REVEALED_MARK

    def add_traces(self, traces: Iterable[Mapping[str, Any]]) -> None:
        """More traces, in their order."""
        for trace in traces:
            self.add_trace(trace)

    def add_scatter(self, x: Any, y: Any, mode: str, **look: Any) -> None:
        """Marks or lines through places, in no legend; without a template ``hover``, pointing at them tells nothing.

        **look
            ``hover`` and other settings of the trace.
        """
        hover = look.pop("hover", "")
        told = {"hovertemplate": f"{hover}<extra></extra>"} if hover else {"hoverinfo": "skip"}
        self.add_trace({"type": "scatter", "x": x, "y": y, "mode": mode, "showlegend": False, **told, **look})

    def add_shape(self, **shape: Any) -> None:
        """A line, a box or a circle."""
        self.layout.setdefault("shapes", []).append(merge({}, shape))

    def add_annotation(self, annotation: Mapping[str, Any]) -> None:
        """Words on the plot."""
        self.layout.setdefault("annotations", []).append(merge({}, annotation))

    def add_vline(self, x: float, **line: Any) -> None:
        """A line from top to bottom, whatever the other axis shows.

        **line
            Settings of the line.
        """
        self.add_shape(type="line", x0=x, x1=x, y0=0, y1=1, yref="y domain", **line)

    def add_hline(self, y: float, **line: Any) -> None:
        """A line from left to right, whatever the other axis shows.

        **line
            Settings of the line.
        """
        self.add_shape(type="line", y0=y, y1=y, x0=0, x1=1, xref="x domain", **line)

    def add_vrect(self, x0: float, x1: float, **rect: Any) -> None:
        """A band from top to bottom.

        **rect
            Settings of the band.
        """
        self.add_shape(type="rect", x0=x0, x1=x1, y0=0, y1=1, yref="y domain", **rect)

    def add_hrect(self, y0: float, y1: float, **rect: Any) -> None:
        """A band from left to right.

        **rect
            Settings of the band.
        """
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
    raw = base64.b64encode(values.astype(_TYPED[code]).tobytes()).decode()
    shape = {} if values.ndim == 1 else {"shape": ", ".join(map(str, values.shape))}
    return {"dtype": code, "bdata": raw, **shape}


def pack(data: Mapping[str, Any]) -> str:
    """As text, without a blank too many."""
    return json.dumps(data, separators=(",", ":"), allow_nan=False)
