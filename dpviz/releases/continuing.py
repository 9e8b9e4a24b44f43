"""A release that continues an earlier one: the earlier segments keep their names, and their rows are counted again.

Noise alone cuts the same rows into other segments, so that two releases cannot tell by where their centres lie what
became of a segment. What was released before is public: its segments are counted again, with a part of ε, and then a
difference is one of the rows. Which segment of the later release lies where an earlier one did is post-processing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

from dpviz.core import Accounting, Array, Domain, Entry, ExactSource, Flags, mechanisms, partitions, queries
from dpviz.releases.described_table import DescribedTable
from dpviz.releases.release_sentences import make_refusal
from dpviz.releases.tallies import find_tail
from dpviz.tables import format_csv
from dpviz.words import NINE_IN_TEN, format_percent, list_words, render

COUNTED_AGAIN = 0.5
"""Of what a release spends on segments, this part counts earlier ones; the noise of their earlier sizes is larger."""

# Chosen by hand; ``benchmarks/continued.py`` says how often what follows is right.
FALSE_ALARMS = 0.02  # of segments that did not change, so many are said to have
_NEAR = 0.5  # of the way to a neighbour: farther off it is another segment


class EarlierSegments(NamedTuple):
    """What an earlier release published: the hash of its transcript, centres (k, d), data units, sizes (k,) as all its
    tallies have them, and how far off these are, (k,)."""

    sha256: str
    centers: tuple[tuple[float, ...], ...]
    sizes: tuple[float, ...]
    size_sds: tuple[float, ...]

    def check(self, dim: int) -> None:
        """Refuse what no release of so many coordinates published."""
        numbers = np.array([*self.sizes, *self.size_sds, *(one for center in self.centers for one in center)])
        same = {len(self.centers), len(self.sizes), len(self.size_sds)}
        right = len(same) == 1 and self.centers and all(len(one) == dim for one in self.centers)
        if not right or not np.isfinite(numbers).all() or min(self.size_sds) <= 0:
            raise make_refusal("continues_other")

    def find_points(self, domain: Domain) -> Array:
        """Its centres (k, d), unit coordinates."""
        return domain.region.clip(domain.to_unit_coordinates(np.array(self.centers)))


class CountedAgain(NamedTuple):
    """The part that counts earlier segments: their rows now (k,), the sd of the noise on each, and its ledger."""

    sizes: Array
    sd: float
    entries: Sequence[Entry]


def count_again(
    earlier: EarlierSegments, described: DescribedTable, *, epsilon: float, noise: ExactSource
) -> CountedAgain:
    """The rows that lie in each segment of an earlier release now.

    **Guarantee.** ``epsilon``, pure ε-DP for the table's relation and unit of privacy: one count of each, side by side.
    """
    session = described.private.open(epsilon=epsilon, delta=0.0, accounting=Accounting.PURE, noise=noise, needs_n=False)
    description = described.description
    inner = description.domain.region
    seen = session if session.dim == inner.dim else session.project(description.frame, inner)
    cells = partitions.Voronoi(earlier.find_points(description.domain))
    note = "sizes of the segments of an earlier release"
    counted = seen.ask(queries.Count(cells), mechanisms.Laplace, session.budget, note=note)
    return CountedAgain(counted.value, counted.sd, tuple(session.ledger.entries))


@dataclass(frozen=True, eq=False)
class Continued:
    """What became of the segments of an earlier release: their rows then and now, and which segment of this release
    lies there, from 0 on, -1 where none does; (k,) each."""

    earlier: EarlierSegments
    now: CountedAgain
    places: Array

    @property
    def differences(self) -> Array:
        """Rows now less rows then, (k,)."""
        differences: Array = self.now.sizes - np.array(self.earlier.sizes)
        return differences

    @property
    def sd(self) -> Array:
        """Standard deviation of the noise on each of these, (k,)."""
        sd: Array = np.hypot(np.array(self.earlier.size_sds), self.now.sd)
        return sd

    @property
    def changed(self) -> Flags:
        """Which of them differ beyond noise, each tested by itself by the tail of a sum of two Laplace laws, (k,)."""
        scales = np.stack(np.broadcast_arrays(self.earlier.size_sds, self.now.sd)) / sqrt(2)
        changed: Flags = np.abs(self.differences) > find_tail(scales, np.ones(2), FALSE_ALARMS / 2)
        return changed

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as ``read --json`` prints them."""
        return {
            **self.earlier._asdict(),
            "sizes_now": self.now.sizes.tolist(),
            "sizes_now_sd": self.now.sd,
            "changed": self.changed.tolist(),
        }

    @property
    def words(self) -> str:
        """What came out, with what it may be read as."""
        changed = [
            f"{place + 1} ({'more' if self.differences[place] > 0 else 'fewer'} rows)"
            for place in np.flatnonzero(self.changed).tolist()
        ]
        said = {"changed": changed, "alarms": format_percent(FALSE_ALARMS), "words": list_words}
        return render("continued.txt.j2", earlier=self.earlier, **said).strip()


def find_continued(earlier: EarlierSegments, now: CountedAgain, domain: Domain, centers: Array) -> Continued:
    """What became of each earlier segment, with the released ``centers`` (k, d) of this release, unit coordinates."""
    then = earlier.find_points(domain)
    apart = cdist(then, centers)
    near = apart <= _NEAR * np.minimum(_find_gaps(then)[:, None], _find_gaps(centers))
    pairs = linear_sum_assignment(np.where(near, apart**2, apart.max() ** 2 + 1))
    places = np.full(len(then), -1)
    places[pairs[0]] = np.where(near[pairs], pairs[1], -1)
    return Continued(earlier, now, places)


def _find_gaps(points: Array) -> Array:
    """How far the nearest other one is from each of ``points`` (k, d)."""
    apart = cdist(points, points)
    np.fill_diagonal(apart, np.inf)
    gaps: Array = apart.min(axis=1)
    return gaps


def format_continued(continued: Continued) -> str:
    """``continued.csv``: a line an earlier segment."""
    earlier, now = continued.earlier, continued.now
    reach = NINE_IN_TEN * continued.sd
    lines = [
        [
            f"{place + 1}",
            f"{earlier.sizes[place]:.0f}",
            f"{now.sizes[place]:.0f}",
            f"{now.sd:.6g}",
            f"{difference - reach[place]:z.0f}",
            f"{difference + reach[place]:z.0f}",
            "yes" if continued.changed[place] else "",
            f"{continued.places[place] + 1}" if continued.places[place] >= 0 else "",
        ]
        for place, difference in enumerate(continued.differences.tolist())
    ]
    head = "earlier_segment noisy_size_then noisy_size_now noisy_size_now_sd change_low change_high changed segment"
    return format_csv([head.split(), *lines])
