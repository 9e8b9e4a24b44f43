"""The one visual language of pages, cards and charts: what a colour and a marker mean, light and dark."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

Kind = Literal["public", "released", "revealed"]
"""What a shown value is: declared, noisy and paid for, or read from private rows for the owner's eyes."""

Theme = Literal["light", "dark"]

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'Liberation Sans', sans-serif"


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
        """
        return CLUSTER_MARKS[index] if k <= len(CLUSTER_MARKS) else ClusterMark(self.many, "circle")

    def fade(self, color: str, opacity: float = 0.25) -> str:
        """A hex ``color``, see-through: bands, and what lies under the noise."""
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
