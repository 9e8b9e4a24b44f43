"""A chart that needs no plane and no step: of many runs, of what ε means."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from dpviz.app.charts.canvas import NUMBER_SIZE, TitledPlot
from dpviz.app.charts.plot import Plot
from dpviz.words import Palette


@dataclass(frozen=True, eq=False)
class Diagram:
    """What it found, as its title; a note on how to read it; itself in words; and how it is painted.

    ``stem`` is what a file of it is called, ``table`` gives the numbers behind it.
    """

    stem: str
    finding: str
    note: str
    words: str
    paint: Callable[[Palette], Plot]
    table: Callable[[], pd.DataFrame] = pd.DataFrame

    def draw(self, palette: Palette) -> TitledPlot:
        """The plot under its title."""
        return TitledPlot(self.finding, self.note, self.paint(palette))


def add_note(plot: Plot, text: str, color: str, where: Mapping[str, Any], *, size: float = NUMBER_SIZE) -> None:
    """Words beside what they are about."""
    font = {"size": size, "color": color}
    plot.add_annotation({"text": text, "showarrow": False, "font": font, **where})
