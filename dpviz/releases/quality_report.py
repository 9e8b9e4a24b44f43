"""A quality report: whether the released centres describe the rows well, from released values alone.

Who reads a release has no rows, and centres alone do not show that a group was missed. So the losses of three sets of
centres are bought, with a histogram of how far rows lie from their centres, and post-processing asks three questions:
is a good part of the loss noise of the centres themselves; do many rows of one segment lie far beyond the others of it,
while another centre could be spared; could such rows hide in the noise?
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, log2, sqrt
from typing import NamedTuple

import numpy as np
from scipy.spatial.distance import cdist

from dpviz.algorithms import draw_random_points, pack_spheres
from dpviz.core import Array, Budget, DistanceScales, Flags, PrivateSession, Region, losses, mechanisms, partitions
from dpviz.releases.intervals import Interval, bound_quantile, bound_ratio
from dpviz.releases.release_sentences import SENTENCES
from dpviz.releases.segments_report import QualityReport, QualityVerdict
from dpviz.releases.tallies import Tally
from dpviz.words import round_percent

# What is asked of distances and losses, and where a loss is called poor.
# Chosen by hand; ``benchmarks/quality_report.py`` says how many runs are flagged rightly.

_A_LITTLE_MORE = 1 + 1e-9  # distances are computed in floats
_OCTAVES = 24  # of distances, below the diameter of the domain
_POOR_PART = 0.55  # a loss is called poor where released values leave no more than this part of it to k other centres
_IDLE_PART = 0.1  # a centre is idle where its rows could do without it for so small a part of the loss
# Rows that a centre misses: fewer than this part of all, and so many times as far (squared) as half of all rows.
_FEW_ROWS = 0.25
_FAR_TIMES = 8.0
# What noise alone hardly exceeds in any of some hundred bins, in standard deviations; in any pair of neighbours, or
# in all bins from one on; once in ten draws.
_SDS_OF_MANY = 6.0
_SDS_OF_PAIRS = 4.0
_SDS_OF_TENTH = 1.3
_BIAS_WEIGHT = 2.0  # what is cut counts so many times as much as noise: it does not average out over releases
_TAIL_STEPS = 4  # a tail that noise covers goes on for so many half octaves
_TAIL_SDS = 0.5  # in each of these lie so many rows, in standard deviations of their noise
# What each of the three losses costs: that of the released centres is what the other two are compared with.
_LOSS_PARTS = (0.55, 0.3, 0.15)
_PLACES = 512  # public points that stand for the domain
_UNKNOWN_DISTANCE = 0.5  # how far rows may lie from their centres, unit coordinates, where noise hides it
_LEAST_SEEN = 0.75  # of less than this part of the rows it is seen how far they lie: then nothing is said


@dataclass(frozen=True, eq=False)
class Scales:
    """Noisy counts (k, bins) of squared distances between ``edges`` (bins + 1,), each with noise of ``sd``.

    ``possible`` (k, bins) are the bins that a row of the region can be in; the others count 0.
    """

    counts: Array
    edges: Array
    sd: float
    possible: Flags

    @classmethod
    def of(
        cls, noisy: mechanisms.Measurement[Array, mechanisms.Additive], asked: DistanceScales, region: Region
    ) -> Scales:
        """What was released, without the noise of bins that no row of ``region`` can be in."""
        possible = find_possible_scales(asked, region)
        return cls(np.where(possible, noisy.value, 0.0), asked.edges, noisy.sd, possible)

    @property
    def tally(self) -> Tally:
        """The same as a tally of the rows of each segment."""
        return Tally(self.counts, self.sd, self.possible, edges=self.edges)

    @property
    def middles(self) -> Array:
        """Middle of each bin, shape (bins,)."""
        return (self.edges[:-1] + self.edges[1:]) / 2

    @property
    def typical(self) -> float:
        """The distance within which half of the rows lie that stand out of the noise; half a unit where none do."""
        seen = self.mass.sum(axis=0).cumsum()
        if not seen[-1] > 0:
            return _UNKNOWN_DISTANCE
        return float(sqrt(self.edges[1:][int(np.searchsorted(seen, seen[-1] / 2))]))

    @property
    def mass(self) -> Array:
        """Counts that are more than noise, others 0, shape (k, bins).

        Up to the last bin from which on all bins together stand out of their noise, one standard deviation is enough;
        beyond, a bin has to stand out by itself.
        """
        beyond = self.counts[:, ::-1].cumsum(axis=1)[:, ::-1].sum(axis=0)
        noise = self.sd * np.sqrt(self.possible[:, ::-1].cumsum(axis=1)[:, ::-1].sum(axis=0))
        inside = np.flatnonzero(beyond > _SDS_OF_PAIRS * noise)
        near = np.arange(len(self.middles)) <= (inside[-1] if len(inside) else -1)
        return np.where(self.counts > np.where(near, 1.0, _SDS_OF_MANY) * self.sd, self.counts, 0.0)


class NoisyLosses(NamedTuple):
    """Of the released, of one and of the blind centres: caps, noisy sums of capped squared distances, and the standard
    deviations of their noise, each of shape (3,)."""

    caps: Array
    values: Array
    sds: Array


def make_scales(cells: partitions.Voronoi, region: Region) -> DistanceScales:
    """How far rows lie from their centres, over all distances that the region allows."""
    return DistanceScales(cells, ceil(log2(region.diameter**2)), 2 * _OCTAVES)


def find_possible_scales(asked: DistanceScales, region: Region) -> Flags:
    """In which bins of squared distances a row of the region can be, (k, bins)."""
    farthest = np.linalg.norm(asked.over.centers, axis=1) + region.radius
    possible: Flags = asked.edges[:-1] <= _A_LITTLE_MORE * farthest[:, None] ** 2
    return possible


def draw_blind_centers(k: int, region: Region) -> Array:
    """k centres in the ``region`` that know nothing of any row, the same for everybody, shape (k, d)."""
    return pack_spheres(k, region, np.random.default_rng(0))


def cap_losses(session: PrivateSession, centers: Array, sizes: Array, scales: Scales, share: Budget) -> NoisyLosses:
    """Noisy capped losses of the released, of one and of the blind centres, squared unit coordinates.

    A cap is as large as its noise allows: where it cuts more, rows are cut for nothing; where it cuts less, noise
    grows. Both are worked out from what was released before, of which ``centers`` (k, d) and noisy ``sizes`` (k,) are
    a part.

    **Guarantee.** ``share``, for the session's relation and unit of privacy.
    """
    region = session.region
    parts = share.rounds(3, _LOSS_PARTS)
    weights = np.maximum(sizes, 0.0)
    overall = weights @ centers / weights.sum() if weights.any() else np.zeros(region.dim)
    sets = (centers, region.clip(overall)[None], draw_blind_centers(len(centers), region))
    asked = [
        losses.CappedLosses(
            one[None], caps=np.array([_choose_cap(one, centers, scales, region, part.amount / session.rows_per_person)])
        )
        for one, part in zip(sets, parts, strict=True)
    ]
    questions = (mechanisms.Question(query, mechanisms.Laplace, part) for query, part in zip(asked, parts, strict=True))
    answers = session.ask_together(*questions, note="losses of the released, of one and of blind centres")
    return NoisyLosses(
        np.concatenate([query.caps for query in asked]),
        np.concatenate([answer.value for answer in answers]),
        np.array([answer.sd for answer in answers]),
    )


def _choose_cap(points: Array, centers: Array, scales: Scales, region: Region, amount: float) -> float:
    """The cap at which what is cut and what noise adds are least together, from released values.

    A row of a segment is taken to lie as far from a point as its centre does, and as far from the centre as the scales
    say, at a right angle.
    """
    apart = cdist(centers, points, "sqeuclidean").min(axis=1)
    squared, mass = apart[:, None] + scales.middles, scales.mass
    caps = scales.edges[1:]
    if not mass.any():
        return float(min(caps[-1], region.radius**2))
    # A tail is there as far as it is seen, and may go on where noise covers it.
    last = int(np.flatnonzero(mass.any(axis=0))[-1])
    unseen = slice(last + 1, last + 1 + _TAIL_STEPS)
    mass[:, unseen] = np.maximum(mass[:, unseen], _TAIL_SDS * scales.sd / sqrt(len(mass)))
    cut = np.array([(mass * np.maximum(squared - cap, 0.0)).sum() for cap in caps])
    return float(caps[np.argmin(_BIAS_WEIGHT * np.maximum(cut, 0.0) + sqrt(2) * caps / amount)])


def make_quality_report(
    noisy_losses: NoisyLosses,
    scales: Scales,
    centers: Array,
    sizes: Array,
    region: Region,
    rows: Interval,
    rows_sd: float,
    center_noise_sd: Array | None,
) -> QualityReport:
    """The quality report that released values make.

    ``centers`` (k, d), unit coordinates; ``sizes`` (k,), noisy; ``center_noise_sd`` (k,), of the noise on a
    coordinate of each centre, where the algorithm can tell.
    """
    caps, values, sds = noisy_losses
    released, one, blind = (bound_ratio(value, sd, rows.value, rows_sd) for value, sd in zip(values, sds, strict=True))
    ratio = bound_ratio(values[0], sds[0], values[1], sds[1])
    pooled = scales.counts.sum(axis=0)
    spread = np.sqrt(scales.edges)
    within = [bound_quantile(pooled, spread, level, scales.sd * sqrt(len(centers))) for level in (0.5, 0.9)]
    anywhere = _compute_anywhere(centers, region)
    verdict, words = _judge(values[0], sds[0], scales, centers, np.maximum(sizes, 0.0), anywhere, center_noise_sd)
    return QualityReport(
        released,
        one,
        blind,
        (float(caps[0]), float(caps[1]), float(caps[2])),
        ratio,
        bound_ratio(values[2], sds[2], values[1], sds[1]),
        (within[0], within[1]),
        verdict,
        words,
    )


def _compute_anywhere(centers: Array, region: Region) -> float:
    """Mean squared distance to the nearest centre of places anywhere in the region: where a missed group could be."""
    places = draw_random_points(_PLACES, region, np.random.default_rng(0))
    return float(cdist(places, centers, "sqeuclidean").min(axis=1).mean())


def _judge(
    loss: float, loss_sd: float, scales: Scales, centers: Array, sizes: Array, anywhere: float, noise_sd: Array | None
) -> tuple[QualityVerdict, tuple[str, ...]]:
    """The verdict, and sentences that say why.

    A run has lost half of what it could have had where half of its loss is noise of the centres, or belongs to few rows
    that lie together, far from their centre. If these are most of their segment, its centre is beside them; if not,
    they are a group of their own, and a centre that could be spared would have to be theirs.
    """
    part, loss = 1 - _POOR_PART, max(loss, loss_sd)
    noise = 0.0 if noise_sd is None else float((sizes * centers.shape[1] * noise_sd**2).sum())
    spared = compute_cost_of_sparing_one(sizes, centers)
    beside, missed = estimate_far_rows(scales, sizes)
    words = []
    if noise > part * loss:
        words.append(SENTENCES.fill("noise_of_centres", part=round_percent(min(noise / loss, 1))))
    if beside > part * loss:
        words.append("The rows of one small segment lie far from its centre, which is beside them.")
    if missed - spared > part * loss:
        words.append(SENTENCES.fill("group_missed"))
    if scales.mass.sum() < _LEAST_SEEN * sizes.sum():
        return QualityVerdict.CANNOT_TELL, ("Noise covers how far a good part of the rows lie from their centres.",)
    if words:
        return QualityVerdict.POOR, tuple(words)
    hidden = _SDS_OF_TENTH * sqrt(2) * scales.sd * anywhere
    if loss <= 2 * loss_sd or hidden > part * loss:
        could = (
            "A group of rows small enough to hide in the noise could carry half of the loss: it may have been missed."
        )
        idle = "One of the centres serves hardly any rows of its own, as one does where a group was missed."
        return QualityVerdict.CANNOT_TELL, (could, idle) if spared < _IDLE_PART * loss else (could,)
    return QualityVerdict.GOOD, ("Nothing that was released speaks against these centres.",)


def compute_cost_of_sparing_one(sizes: Array, centers: Array) -> float:
    """By how much the loss would grow if one centre were given up and its rows joined another's, at the cheapest.

    ``sizes`` (k,), noisy numbers of rows. In squared unit coordinates times rows.
    """
    if len(centers) < 2:
        return float("inf")
    together = np.maximum(sizes[:, None] + sizes, 1e-9)
    cost = cdist(centers, centers, "sqeuclidean") * sizes[:, None] * sizes / together
    np.fill_diagonal(cost, np.inf)
    return float(cost.min())


def estimate_far_rows(scales: Scales, sizes: Array) -> tuple[float, float]:
    """The loss of few rows of one segment that lie far from its centre together: most of the segment, or less of it.

    Together means in two neighbouring bins, a factor of 2 of squared distance; far, at least eight times as far as half
    of all rows. What noise alone could show is not counted, and of the rest only what is there in nine of ten draws.
    Losses are in squared unit coordinates times rows, of which ``sizes`` (k,) are noisy numbers.
    """
    windows = scales.counts[:, :-1] + scales.counts[:, 1:]
    pooled = np.cumsum(scales.mass.sum(axis=0))
    usual = scales.edges[1:][min(int(np.searchsorted(pooled, pooled[-1] / 2)), len(pooled) - 1)]
    sd, rows = sqrt(2) * scales.sd, float(sizes.sum())
    seen = (windows > _SDS_OF_PAIRS * sd) & (windows < _FEW_ROWS * rows) & (scales.edges[1:-1] >= _FAR_TIMES * usual)
    loss = np.where(seen, (windows - _SDS_OF_TENTH * sd) * scales.edges[1:-1], 0.0)
    most = windows > sizes[:, None] / 2
    return float(np.where(most, loss, 0.0).max(initial=0.0)), float(np.where(most, 0.0, loss).max(initial=0.0))
