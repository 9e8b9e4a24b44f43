"""How every figure is laid out: axes, sizes, markers, and titles whose lines fit a phone.

A figure is drawn with ``theme=None`` in Streamlit: `make_layout` sets everything that its own theme would.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import ceil, floor, log10
from textwrap import wrap
from typing import Any

from dpviz.words import CLUSTER_MARKS, FONT, Palette

TITLE_SIZE, TEXT_SIZE = 16, 13
HEIGHT = 420
"""Pixels; charts that replace each other share a height, so that the page does not jump."""
PHONE = 360
"""The narrowest picture that must be readable, in pixels: titles are broken to fit it."""

_EPSILON_TICKS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
# Stands for a space at which no line is broken.
_GLUE = "\x1f"
# Width of an average character in pixels per pixel of font size, for a system sans-serif.
_CHARACTER = 0.53


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
        "gridcolor": palette.grid,
        "zerolinecolor": palette.grid,
        "linecolor": palette.grid,
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
    """An axis title with its unit.

    >>> make_axis_title("loss per row", "data units²"), make_axis_title("k")
    ('loss per row (data units²)', 'k')
    """
    return f"{name} ({unit})" if unit else name


def make_epsilon_axis(lowest: float = 0.1, highest: float = 10.0) -> dict[str, Any]:
    """A logarithmic axis over ``[lowest, highest]`` with the same round ticks wherever ε is drawn."""
    air = 0.04 * max(log10(highest / lowest), 0.5)
    ticks = [tick for tick in _EPSILON_TICKS if lowest / 1.01 <= tick <= highest * 1.01]
    return {
        "type": "log",
        "range": [log10(lowest) - air, log10(highest) + air],
        "tickvals": ticks,
        "ticktext": [f"{tick:g}" for tick in ticks],
        "title": {"text": make_axis_title("ε", "smaller: more private")},
    }


def make_log_axis(low: float, high: float) -> dict[str, Any]:
    """A logarithmic axis from 10^``low`` to 10^``high`` with ticks at 1, 2 and 5, where these do not crowd.

    Ticks are written out in full: those of the library between powers of ten show their first digit only.

    >>> make_log_axis(0, 1)["ticktext"]
    ['1', '2', '5', '10', '20', '50']
    """
    steps = (1, 2, 5) if high - low < 2.5 else (1,)
    ticks = [step * 10.0**power for power in range(floor(low), ceil(high) + 1) for step in steps]
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
    most = max(12, int(width / (_CHARACTER * size)))
    broken = _wrap(glued, most)
    least = max(12, len(text) // max(1, len(broken))) if even and len(broken) > 1 else most
    for narrower in range(least, most):
        if len(_wrap(glued, narrower)) == len(broken):
            broken = _wrap(glued, narrower)
            break
    return [line.replace(_GLUE, " ") for line in broken]


def _wrap(text: str, most: int) -> list[str]:
    return wrap(text, most, break_long_words=True, break_on_hyphens=False)
