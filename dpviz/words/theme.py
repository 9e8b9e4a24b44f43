"""The one visual language of all charts: what a colour, a marker and an axis mean, in the light and the dark theme.

A figure is drawn with ``theme=None`` in Streamlit: `layout` sets everything that its own theme would.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, log10
from typing import Any, Literal, NamedTuple

Kind = Literal["public", "released", "revealed"]
"""What a shown value is: declared, noisy and paid for, or read from private rows for the owner's eyes."""

Theme = Literal["light", "dark"]

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'Liberation Sans', sans-serif"
TITLE_SIZE, TEXT_SIZE = 16, 13
HEIGHT = 420
"""Pixels; charts that replace each other share a height, so that the page does not jump."""


class ClusterMark(NamedTuple):
    """How the members of a cluster are drawn."""

    color: str
    symbol: str


# Okabe-Ito. No diamonds: open diamonds are k-means++.
CLUSTER_MARKS = (
    ClusterMark("#0072B2", "circle"),
    ClusterMark("#E69F00", "square"),
    ClusterMark("#009E73", "triangle-up"),
    ClusterMark("#D55E00", "cross"),
    ClusterMark("#CC79A7", "star"),
    ClusterMark("#56B4E9", "triangle-down"),
    ClusterMark("#F0E442", "hexagon"),
)


_EPSILON_TICKS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)


@dataclass(frozen=True)
class Palette:
    """The colours of one theme; each kind and each cluster also has a word, a number or a symbol.

    Parameters
    ----------
    text, muted : str
        Text, and text that may be overlooked.
    grid, outline : str
        Grid lines and cell borders; the rim of a marker, which keeps pale hues visible.
    surface : str
        The page behind the (transparent) chart.
    public, released, revealed : str
        The kinds of values.
    many : str
        The one hue of clusters beyond seven.
    diverging : tuple of (float, str)
        Signed values around 0, which is the surface itself: blue above, plum below.
    deep, below : str
        Of the largest counts, beyond blue; of what is below zero.
    tints, inks : tuple of four str
        Cells and marks of clusters: four colours tell neighbours apart on any map.
    tint_strength : float
        How strong the cells are.
    """

    text: str
    muted: str
    grid: str
    outline: str
    surface: str
    public: str
    released: str
    revealed: str
    many: str
    diverging: tuple[tuple[float, str], ...]
    deep: str
    below: str
    tints: tuple[str, str, str, str]
    inks: tuple[str, str, str, str]
    tint_strength: float
    sequential: str = "Cividis"
    background: str = "rgba(0,0,0,0)"

    def kind(self, kind: Kind) -> str:
        """The colour of a kind of value."""
        return {"public": self.public, "released": self.released, "revealed": self.revealed}[kind]

    @property
    def halo(self) -> str:
        """The shadow of words on a map, which keeps them apart from what is under them."""
        return ", ".join([f"0 0 2px {self.surface}"] * 4)

    def cluster(self, index: int, k: int) -> ClusterMark:
        """How cluster ``index`` of ``k`` is drawn: a colour and a symbol of its own up to seven clusters.

        Beyond seven all look the same, and a number on the marker tells them apart.

        Parameters
        ----------
        index : int
            From 0.
        k : int
            Clusters.

        Returns
        -------
        ClusterMark
            Colour and symbol.
        """
        return CLUSTER_MARKS[index] if k <= len(CLUSTER_MARKS) else ClusterMark(self.many, "circle")

    def fade(self, color: str, opacity: float = 0.25) -> str:
        """A hex ``color``, see-through: bands, and what lies under the noise.

        Parameters
        ----------
        color : str
            A colour, in hexadecimal digits.
        opacity : float
            Between 0 and 1.

        Returns
        -------
        str
            As CSS has it.
        """
        red, green, blue = (int(color[i : i + 2], 16) for i in (1, 3, 5))
        return f"rgba({red},{green},{blue},{opacity:g})"


_LIGHT = Palette(
    text="#111821",
    muted="#566273",
    grid="#dfe4ea",
    outline="#111821",
    surface="#ffffff",
    public="#566273",
    released="#0a62b0",
    revealed="#b04a00",
    many="#5c7f9e",
    diverging=((0.0, "#a85aa3"), (0.25, "#ecd0ea"), (0.5, "#ffffff"), (0.75, "#3f8fd0"), (1.0, "#021d40")),
    deep="#062f5c",
    below="#9b4f96",
    tints=("#4f9bd9", "#35a37c", "#8e72c9", "#d8b62c"),
    inks=("#0a62b0", "#0b7a56", "#6546a8", "#85690a"),
    tint_strength=0.17,
)
_DARK = Palette(
    text="#e8edf3",
    muted="#a7b3c2",
    grid="#2c3643",
    outline="#e8edf3",
    surface="#12171e",
    public="#a7b3c2",
    released="#6fb1f2",
    revealed="#f5a35c",
    many="#86a9c8",
    diverging=((0.0, "#b873b3"), (0.25, "#4a2449"), (0.5, "#12171e"), (0.75, "#3484cc"), (1.0, "#ecf6ff")),
    deep="#d4eaff",
    below="#c886c3",
    tints=("#5aa9e8", "#3fb58b", "#a48ae0", "#d9bd4a"),
    inks=("#7fbdf7", "#5fd3a8", "#bba5f2", "#ecd36a"),
    tint_strength=0.2,
)


def choose_palette(theme: Theme | str | None) -> Palette:
    """The palette of a theme; light where the theme is not known yet.

    >>> choose_palette("dark").text
    '#e8edf3'
    """
    return _DARK if theme == "dark" else _LIGHT


def make_layout(palette: Palette, *, height: int = HEIGHT) -> dict[str, Any]:
    """What every figure's layout starts from: transparent, system font, no words above the plot.

    Parameters
    ----------
    palette : Palette
        Colours, light or dark.
    height : int
        Pixels.

    Returns
    -------
    mapping of str to object
        Settings.
    """
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

    Parameters
    ----------
    name : str
        Of the quantity.
    unit : str
        "": none.

    Returns
    -------
    str
        For an axis.

    >>> make_axis_title("loss per row", "data units²"), make_axis_title("k")
    ('loss per row (data units²)', 'k')
    """
    return f"{name} ({unit})" if unit else name


def make_epsilon_axis(lowest: float = 0.1, highest: float = 10.0) -> dict[str, Any]:
    """A logarithmic axis over ``[lowest, highest]`` with the same round ticks wherever ε is drawn.

    Parameters
    ----------
    lowest : float
        The least ε.
    highest : float
        The largest ε.

    Returns
    -------
    mapping of str to object
        Settings.
    """
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

    Parameters
    ----------
    low, high : float
        Logarithm to base 10.

    Returns
    -------
    mapping of str to object
        Settings.

    >>> make_log_axis(0, 1)["ticktext"]
    ['1', '2', '5', '10', '20', '50']
    """
    steps = (1, 2, 5) if high - low < 2.5 else (1,)
    ticks = [step * 10.0**power for power in range(floor(low), ceil(high) + 1) for step in steps]
    return {"type": "log", "tickvals": ticks, "ticktext": [f"{tick:,g}" for tick in ticks]}


def make_reference_marker(palette: Palette, size: float = 11) -> dict[str, Any]:
    """k-means++: always open diamonds in the colour of what is revealed.

    Parameters
    ----------
    palette : Palette
        Colours, light or dark.
    size : float
        Pixels.

    Returns
    -------
    mapping of str to object
        Settings.
    """
    return {"symbol": "diamond-open", "size": size, "color": palette.revealed, "line": {"width": 1.8}}


def make_center_marker(palette: Palette, colors: str | Sequence[str] | None = None, size: float = 11) -> dict[str, Any]:
    """Released centres: small filled circles; their numbers stand outside.

    Parameters
    ----------
    palette : Palette
        Colours, light or dark.
    colors : str or sequence of str or None
        One, or one for each centre; None: that of what is released.
    size : float
        Pixels.

    Returns
    -------
    mapping of str to object
        Settings.
    """
    fill = palette.released if colors is None else colors
    return {"symbol": "circle", "size": size, "color": fill, "line": {"width": 1.5, "color": palette.surface}}
