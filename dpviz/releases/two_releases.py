"""Two releases beside each other: whether their segments pair off at all, and then what differs beyond the noise.

Noise alone makes two releases of the *same* rows differ: it moves centres, and now and then it cuts the rows into other
segments. Of 504 pairs on the same rows 49 % had a difference beyond the noise that their ledgers tell. So a pair has to
pass a gate first, and only what is beyond twice that noise counts: then 1.5 % of such pairs have one.
"""

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import pandas as pd

from dpviz.core import Array, Codes
from dpviz.releases.release_sentences import make_refusal
from dpviz.runs import profiles
from dpviz.words import render

# When two releases differ.
# Chosen by hand; ``tests/releases/test_release_reader.py`` draws from the same rows.

_FAR_MOVE = 0.25  # a centre that moved this part of the way to its neighbour may be another segment's
_FALSE_ALARMS = 0.05  # of all comparisons together this part raises a false alarm by noise alone
_NOISE_MARGIN = 2.0  # noise counts so many times beyond that


@dataclass(frozen=True, eq=False)
class Comparison:
    """Two releases, segment by segment.

    Attributes
    ----------
    one, other : Profile
        The second one with its segments in the order of the first.
    partner : int array of shape (k,)
        Which segment of the second release belongs to each of the first, from 0 on.
    moved, unclear : int
        Segments that moved far from their partner, and sizes that may be noise alone: the gate.
    of_centers : array of shape (k, d)
        Differences, second less first, in standard deviations of both noises together.
    of_sizes : array of shape (k,) or None
    """

    one: profiles.Profile
    other: profiles.Profile
    partner: Codes
    moved: int
    unclear: int
    of_centers: Array
    of_sizes: Array | None

    @property
    def passes(self) -> bool:
        """Whether the segments pair off, so that differences may be read at all."""
        return not (self.moved or self.unclear)

    @property
    def comparisons(self) -> int:
        """How many numbers are compared."""
        return self.of_centers.size + (0 if self.of_sizes is None else len(self.of_sizes))

    @property
    def limit(self) -> float:
        """Beyond so many standard deviations a difference counts."""
        return _NOISE_MARGIN * NormalDist().inv_cdf(1 - _FALSE_ALARMS / (2 * self.comparisons))

    @property
    def beyond(self) -> int:
        """Differences that count; 0 where the segments do not pair off."""
        if not self.passes:
            return 0
        sizes = 0 if self.of_sizes is None else int((np.abs(self.of_sizes) > self.limit).sum())
        return int((np.abs(self.of_centers) > self.limit).sum()) + sizes

    @property
    def title(self) -> str:
        """What came out."""
        if not self.passes:
            return "These two releases cut the rows into other segments"
        some = f"{self.beyond} of {self.comparisons} numbers differ" if self.beyond != 1 else "One number differs"
        return f"{some} beyond the noise" if self.beyond else "Nothing differs beyond the noise"

    @property
    def words(self) -> str:
        """Why, and what may be made of it."""
        single = self.limit / _NOISE_MARGIN
        return render("comparison.txt.j2", made=self, single=single, SURE=profiles.SURE).rstrip("\n")

    def table(self) -> pd.DataFrame:
        """Every difference in standard deviations, to a tenth; a row a segment of the first release, or none."""
        frame = pd.DataFrame(self.of_centers.round(1) + 0.0, columns=[column.name for column in self.one.columns])
        if self.of_sizes is not None:
            frame.insert(0, "rows", self.of_sizes.round(1) + 0.0)
        pairs = [f"{place + 1} ↔ {partner + 1}" for place, partner in enumerate(self.partner.tolist())]
        frame.insert(0, "segments", pairs)
        return frame if self.passes else frame.iloc[:0]


def compare(one: profiles.Profile, other: profiles.Profile) -> Comparison:
    """The second release against the first."""
    if one.columns != other.columns or one.k != other.k:
        raise make_refusal("not_comparable")
    if not (one.noise_known and other.noise_known):
        raise make_refusal("noise_unknown")
    here, there = one.even.centers / one.scale, other.even.centers / other.scale
    partner = one.find_partners(other)
    ordered = profiles.Profile(
        other.columns,
        other.centers[partner],
        other.center_sd[partner],
        other.scale,
        None if other.sizes is None else other.sizes.select(partner),
        drawn_sd=other.noise_sd[partner],
    )
    far = np.linalg.norm(there[partner] - here, axis=1)
    moved = int((far >= _FAR_MOVE * np.minimum(one.gaps, ordered.gaps)).sum())
    of_sizes = None
    mine, theirs = one.sizes, ordered.sizes
    if mine is not None and theirs is not None and mine.known and theirs.known:
        of_sizes = (theirs.rows - mine.rows) / np.hypot(mine.error, theirs.error)
    unclear = int(one.lost.sum()) + int(ordered.lost.sum())
    apart = (ordered.even.centers - one.even.centers) / np.sqrt(one.even.center_sd**2 + ordered.even.center_sd**2)
    return Comparison(one, ordered, partner, moved, unclear, apart, of_sizes)
