"""Groups of segments that hold at least so many rows, as far as a release can tell: small ones join their nearest.

A group's released size carries noise whose law is known: a sum of Laplace noise over the bins of all tallies. Its tail
says how many rows a group has at least, all groups of a release at once.

**Guarantee.** Post-processing: nothing here reads a row.
"""

from dataclasses import dataclass
from math import sqrt

import numpy as np

from dpviz.core import Array
from dpviz.releases.tallies import SegmentTallies, find_tail
from dpviz.tables import format_csv
from dpviz.words import format_percent, format_things, list_words, render

SURE = 0.99
"""In so many of all releases every group is as large as is promised."""


@dataclass(frozen=True)
class Group:
    """Segments that count as one, from 1 on; their released rows, the sd of the noise, and the least they may be."""

    segments: tuple[int, ...]
    size: float
    size_sd: float
    least: float


@dataclass(frozen=True)
class Groups:
    """All groups of a release, each of which was promised to have ``smallest`` rows."""

    smallest: int
    every: tuple[Group, ...]

    @property
    def kept(self) -> bool:
        """Whether each has: all segments together may be fewer."""
        return all(one.least >= self.smallest for one in self.every)

    @property
    def words(self) -> str:
        """What was promised, and which segments count as one because of it."""
        rows = format_things(self.smallest, "row")
        return render("groups.txt.j2", groups=self, rows=rows, sure=format_percent(SURE), words=list_words).strip()


def find_groups(tallies: SegmentTallies, centers: Array, smallest: int) -> Groups:
    """Join segments until each group has at least ``smallest`` rows, all at once.

    The group that may be the smallest joins the one whose centre is nearest; a group's centre is the mean of those of
    its segments, weighed by their released sizes. ``centers`` (k, d) as they are published, unit coordinates.
    """
    sizes, size_sd = tallies.released.sizes, tallies.size_sd
    weights = np.maximum(sizes, 1.0)
    weighed = centers * weights[:, None]
    laws = np.stack([(one.sd / sqrt(2) * size_sd**2 / one.variance, one.bins) for one in tallies.every])
    groups: list[tuple[int, ...]] = [(place,) for place in range(len(sizes))]
    while True:
        level = (1 - SURE) / len(groups)
        noise = [find_tail(laws[:, 0, [*one]].ravel(), laws[:, 1, [*one]].ravel(), level) for one in groups]
        least = [float(sizes[[*one]].sum() - off) for one, off in zip(groups, noise, strict=True)]
        worst = int(np.argmin(least))
        if least[worst] >= smallest or len(groups) == 1:
            break
        middles = np.array([weighed[[*one]].sum(axis=0) / weights[[*one]].sum() for one in groups])
        apart = ((middles - middles[worst]) ** 2).sum(axis=1)
        apart[worst] = np.inf
        pair = (worst, int(np.argmin(apart)))
        joined = tuple(sorted(groups[pair[0]] + groups[pair[1]]))
        groups = sorted([one for place, one in enumerate(groups) if place not in pair] + [joined])
    made = []
    for places, at_least in zip(groups, least, strict=True):
        size, sd = float(sizes[[*places]].sum()), sqrt(float((size_sd[[*places]] ** 2).sum()))
        made.append(Group(tuple(place + 1 for place in places), size, sd, max(at_least, 0.0)))
    return Groups(smallest, tuple(made))


def format_groups(groups: Groups) -> str:
    """``groups.csv``: a line a group."""
    lines = [
        [f"{number}", " ".join(map(str, one.segments)), f"{one.size:.0f}", f"{one.size_sd:.6g}", f"{int(one.least)}"]
        for number, one in enumerate(groups.every, start=1)
    ]
    return format_csv([["group", "segments", "noisy_size", "noisy_size_sd", "least_rows"], *lines])
