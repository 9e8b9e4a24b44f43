"""How competing algorithms are told apart, and how their scores are measured, named and put in order."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap
from typing import NamedTuple

import pandas as pd

from dpviz.charts.names import spelled
from dpviz.charts.theme import CLUSTER_MARKS
from dpviz.charts.wording import number, ratio

# Yellow is too pale for a line on white.
_COLORS = [mark.color for mark in CLUSTER_MARKS[:6]]
_SIGNS = {"circle": "●", "square": "■", "triangle-up": "▲", "cross": "✚", "star": "★", "triangle-down": "▼", "x": "✖"}
_MARKERS = list(_SIGNS)
_DASHES = ["solid", "dash", "dot", "dashdot", "longdash", "longdashdot"]
_NAME_WIDTH = 16


class Style(NamedTuple):
    """The looks of one algorithm."""

    color: str
    marker: str
    dash: str

    @property
    def sign(self) -> str:
        """The marker as a character in its colour."""
        return f'<span style="color:{self.color}">{_SIGNS[self.marker]}</span>'


class Measure(NamedTuple):
    """A score in words: what it is, in short, and with its unit on an axis that fits a phone."""

    name: str
    short: str
    on_axis: str = ""
    lower_is_better: bool = True
    ratio: bool = False

    @property
    def axis(self) -> str:
        return self.on_axis or self.name

    def text(self, value: float) -> str:
        """The value with three digits; ratios with their sign."""
        return ratio(value) if self.ratio else number(value)

    def first(self, medians: pd.Series[float]) -> str:
        """Who comes first of those whose ``medians`` these are, by name, and with what."""
        best = str(medians.idxmin() if self.lower_is_better else medians.idxmax())
        of = " k-means++" if self.ratio else ""
        return f"{best} comes first: {self.short} {self.text(medians[best])}{of}"


MEASURES = {
    "ratio": Measure("loss / loss of k-means++ (×)", "loss", ratio=True),
    "nicv": Measure("loss per row (unit coordinates²)", "loss per row"),
    "matched_error": Measure(
        "distance to the matched k-means++ centre (unit coordinates)",
        "matched error",
        "matched error (unit coordinates)",
    ),
    "distance_ratio": Measure(
        "distance to the nearest centre / that of k-means++ (×)",
        "distance",
        "distance / that of k-means++ (×)",
        ratio=True,
    ),
    "ari": Measure(
        "agreement with k-means++ (adjusted Rand)", "agreement", "agreement (adjusted Rand)", lower_is_better=False
    ),
    "share_gap": Measure(
        "largest error of a segment's share of the rows, against k-means++ (share)",
        "segment shares",
        "largest error of a share (of rows)",
    ),
    "label_accuracy": Measure(
        "rows in a cluster of their own label (share)",
        "label accuracy",
        "label accuracy (share of rows)",
        lower_is_better=False,
    ),
    "seconds": Measure("time of a run (seconds)", "time"),
}


def measure_of(name: str) -> Measure:
    """The words for a measure; its own name where there are none."""
    words = name.replace("_", " ")
    return MEASURES.get(name, Measure(words, words))


def styles_of(names: Sequence[str]) -> dict[str, Style]:
    """A style for each name, in order: thirty-six stay distinct in colour and dash together."""
    return {
        name: Style(
            _COLORS[i % len(_COLORS)],
            _MARKERS[(i % len(_COLORS) + i // len(_COLORS)) % len(_MARKERS)],
            _DASHES[i // len(_COLORS) % len(_DASHES)],
        )
        for i, name in enumerate(names)
    }


def names_in(runs: pd.DataFrame) -> list[str]:
    """Names of the algorithms in order of first appearance."""
    return list(dict.fromkeys(runs[name_column(runs)].astype(str)))


def name_column(runs: pd.DataFrame) -> str:
    """The column that names an algorithm: its label in a study, or its id."""
    return "contender" if "contender" in runs.columns else "algorithm"


def narrow(name: str, width: int = _NAME_WIDTH) -> str:
    """A name in lines of at most ``width`` characters."""
    return "<br>".join(map(spelled, wrap(name, width)))


def runs_text(numbers: Sequence[int]) -> str:
    """How many runs stand behind the lines of a chart.

    >>> runs_text([20, 20]), runs_text([3, 5])
    ('20 runs each', '3 to 5 runs each')
    """
    if not numbers:
        return ""
    low, high = min(numbers), max(numbers)
    return f"{high} run{'s' * (high != 1)} each" if low == high else f"{low} to {high} runs each"
