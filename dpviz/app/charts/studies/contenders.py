"""How competing algorithms are told apart, and how their scores are measured, named and put in order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cache
from textwrap import wrap
from typing import NamedTuple

import pandas as pd

from dpviz.algorithms import CARDS
from dpviz.app.charts.canvas import spell_name
from dpviz.words import format_number, format_ratio

# One colour and one marker for each algorithm, in every chart and in both themes: each stands out from a white page and
# from a dark one by 3:1 at least. None is orange, which is what was revealed. Like hues have unlike markers.
LOOKS = {
    "auto": ("#1c6acd", "circle"),
    "kmeans++": ("#6b737f", "diamond"),
    "eugkm": ("#088133", "triangle-up"),
    "hybrid": ("#62a10a", "square"),
    "dplloyd": ("#c82e5e", "square"),
    "sulq": ("#a19501", "triangle-up"),
    "pgkm": ("#ef58a5", "circle"),
    "kvariates": ("#e7667c", "triangle-down"),
    "gkm": ("#747708", "triangle-left"),
    "sample-aggregate": ("#b536a1", "star"),
    "balcan": ("#9446cb", "triangle-down"),
    "balcan-sparse": ("#a87ae6", "triangle-right"),
    "balcan-kmedian": ("#6852db", "star"),
    "lsh-coreset": ("#08a19d", "star"),
    "lsh-local": ("#02778b", "triangle-right"),
    "k-noisy-centers": ("#039ad5", "triangle-down"),
    "k-averages": ("#7587eb", "square"),
    "stable-kmeans": ("#01a56c", "triangle-left"),
    "gaussian-mixture": ("#037a70", "circle"),
}
# What papers call them.
_ALIASES = {
    "Lloyd": "kmeans++",
    "gridding": "eugkm",
    "Gene": "pgkm",
    "SuLQ": "sulq",
    "sample & aggregate": "sample-aggregate",
    "Averages": "k-averages",
    "NoisyCenters": "k-noisy-centers",
}
_SIGNS = {
    **{"circle": "●○", "square": "■□", "diamond": "◆◇", "star": "★☆", "triangle-up": "▲△"},
    **{"triangle-down": "▼▽", "triangle-left": "◄◁", "triangle-right": "►▷"},
}
_DASHES = ["dash", "dot", "dashdot", "longdash", "longdashdot"]
_FILLS = ["-open", "-open-dot", "-dot"]
_NAME_WIDTH = 16


class Style(NamedTuple):
    """The looks of one algorithm."""

    color: str
    marker: str
    dash: str

    @property
    def sign(self) -> str:
        """The marker as a character in its colour."""
        shape, *_ = self.marker.split("-open")
        return f'<span style="color:{self.color}">{_SIGNS[shape.removesuffix("-dot")]["-open" in self.marker]}</span>'


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

    def format(self, value: float) -> str:
        """The value with three digits; ratios with their sign."""
        return format_ratio(value) if self.ratio else format_number(value)

    def describe_first(self, medians: pd.Series[float]) -> str:
        """Who comes first of those whose ``medians`` these are, by name, and with what."""
        best = str(medians.idxmin() if self.lower_is_better else medians.idxmax())
        of = " k-means++" if self.ratio else ""
        return f"{best} comes first: {self.short} {self.format(medians[best])}{of}"


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


def find_measure(name: str) -> Measure:
    """The words for a measure; its own name where there are none."""
    words = name.replace("_", " ")
    return MEASURES.get(name, Measure(words, words))


def choose_styles(names: Sequence[str]) -> dict[str, Style]:
    """A style for each name: that of its algorithm, in every chart; variants differ by dash and by an open marker.

    What is no algorithm of the registry takes, in order, looks that none of the others has.
    """
    known = {name: algorithm for name in names if (algorithm := find_algorithm(name)) is not None}
    free = [look for algorithm, look in LOOKS.items() if algorithm not in known.values()] or list(LOOKS.values())
    strangers = [name for name in names if name not in known]
    styles = {name: _choose_style(free[i % len(free)], i // len(free)) for i, name in enumerate(strangers)}
    variants: Counter[str] = Counter()
    for name, algorithm in known.items():
        if name not in _list_titles():
            variants[algorithm] += 1
        styles[name] = _choose_style(LOOKS[algorithm], variants[algorithm] if name not in _list_titles() else 0)
    return {name: styles[name] for name in names}


def find_algorithm(name: str) -> str | None:
    """The id of the algorithm that a line is named after; None if it is none.

    >>> find_algorithm("EUGkM, θ = 40"), find_algorithm("Balcan et al., sparse")
    ('eugkm', 'balcan-sparse')
    >>> find_algorithm("Balcan et al. (practical)")
    'balcan'
    """
    begun = [title for title in _list_titles() if name.startswith(title) and not name[len(title) :][:1].isalnum()]
    return _list_titles()[max(begun, key=len)] if begun else None


@cache
def _list_titles() -> dict[str, str]:
    """Ids of algorithms by what they are called here and in papers."""
    return {CARDS[algorithm].title: algorithm for algorithm in LOOKS} | _ALIASES


def _choose_style(look: tuple[str, str], variant: int) -> Style:
    """The looks of an algorithm itself, or of its ``variant`` counted from 1."""
    color, marker = look
    if variant == 0:
        return Style(color, marker, "solid")
    again, place = divmod(variant - 1, len(_DASHES))
    return Style(color, marker + _FILLS[again % len(_FILLS)], _DASHES[place])


def list_names(runs: pd.DataFrame) -> list[str]:
    """Names of the algorithms: all that may come, where the column says so, else in order of first appearance."""
    names = runs[name_column(runs)]
    return list(map(str, names.cat.categories if isinstance(names.dtype, pd.CategoricalDtype) else names.unique()))


def name_column(runs: pd.DataFrame) -> str:
    """The column that names an algorithm: its label in a study, or its id."""
    return "contender" if "contender" in runs.columns else "algorithm"


def narrow(name: str, width: int = _NAME_WIDTH) -> str:
    """A name in lines of at most ``width`` characters."""
    return "<br>".join(map(spell_name, wrap(name, width)))


def describe_runs(numbers: Sequence[int]) -> str:
    """How many runs stand behind the lines of a chart.

    >>> describe_runs([20, 20]), describe_runs([3, 5])
    ('20 runs each', '3 to 5 runs each')
    """
    if not numbers:
        return ""
    low, high = min(numbers), max(numbers)
    return f"{high} run{'s' * (high != 1)} each" if low == high else f"{low} to {high} runs each"
