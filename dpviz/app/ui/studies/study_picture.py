"""What a picture of many runs can do."""

from __future__ import annotations

from typing import Protocol

import pandas as pd

from dpviz.app.charts.canvas import TitledPlot
from dpviz.words import Palette


class PictureNumbers(Protocol):
    """What is behind a picture of many runs, what that says, and what a file of it is called."""

    @property
    def stem(self) -> str: ...
    @property
    def finding(self) -> str: ...
    def table(self) -> pd.DataFrame: ...


class StudyPicture(PictureNumbers, Protocol):
    """A picture of many runs."""

    def draw(self, palette: Palette) -> TitledPlot: ...
    def words(self) -> str: ...
