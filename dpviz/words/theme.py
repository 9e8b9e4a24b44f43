"""The one visual language of pages, cards and charts: what a colour and a marker mean, light and dark."""

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from dpviz.words.resources import read_toml

Kind = Literal["public", "released", "revealed"]
"""What a shown value is: declared, noisy and paid for, or read from private rows for the owner's eyes."""

Theme = Literal["light", "dark"]

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'Liberation Sans', sans-serif"


class ClusterMark(NamedTuple):
    """How the members of a cluster are drawn."""

    color: str
    symbol: str


_TOLD = read_toml(__file__, "theme.toml")
CLUSTER_MARKS = tuple(ClusterMark(*mark) for mark in _TOLD["marks"])


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


def _read_palette(said: dict[str, Any]) -> Palette:
    lists = {name: tuple(value) for name, value in said.items() if isinstance(value, list)}
    return Palette(**said | lists | {"diverging": tuple(map(tuple, said["diverging"]))})


_LIGHT, _DARK = _read_palette(_TOLD["light"]), _read_palette(_TOLD["dark"])


def choose_palette(theme: Theme | str | None) -> Palette:
    """The palette of a theme; light where the theme is not known yet.

    >>> choose_palette("dark").text
    '#e8edf3'
    """
    return _DARK if theme == "dark" else _LIGHT
