"""A certificate: whether the released centres describe the rows well, from released values alone.

Who reads a release has no rows, and centres alone do not show that a group was missed. So the losses of three sets of
centres are bought, with a histogram of how far rows lie from their centres, and post-processing asks three questions:
is a good part of the loss noise of the centres themselves; do many rows of one segment lie far beyond the others of it,
while another centre could be spared; could such rows hide in the noise?
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations
from math import ceil, log2, sqrt

import numpy as np

from dpviz.algorithms.tools.public_points import sphere_packing
from dpviz.arrays import Array
from dpviz.privacy.accounting import Budget
from dpviz.privacy.losses import CappedLosses
from dpviz.privacy.mechanisms import Additive, Laplace
from dpviz.privacy.partitions import Voronoi
from dpviz.privacy.released import Question, Released
from dpviz.privacy.room import DataRoom
from dpviz.privacy.segment_counts import DistanceScales
from dpviz.release.intervals import Interval, of_a_quantile, of_a_ratio
from dpviz.release.segments_report import Certificate, Verdict
from dpviz.table.domain import Region

_OCTAVES = 24
# A loss is called poor where k centres with so small a part of it are within reach.
_HALF = 0.55
# A centre is idle where its rows could do without it for so small a part of the loss.
_IDLE = 0.15
# What noise alone exceeds once in a hundred draws, in standard deviations; once in ten; in none of some hundred bins.
_RARELY, _ONE_IN_TEN, _NEVER = 2.6, 1.3, 4.0


@dataclass(frozen=True, eq=False)
class Scales:
    """Noisy counts (k, bins) of squared distances between ``edges`` (bins + 1,), each with noise of ``sd``."""

    counts: Array
    edges: Array
    sd: float

    @classmethod
    def seen(cls, noisy: Released[Array, Additive], asked: DistanceScales, region: Region) -> Scales:
        """What was released, without the noise of bins that no row of the region can be in."""
        farthest = np.linalg.norm(asked.over.centers, axis=1) + region.radius
        return cls(np.where(asked.edges[:-1] <= farthest[:, None] ** 2, noisy.value, 0.0), asked.edges, noisy.sd)

    @property
    def middles(self) -> Array:
        """Middle of each bin, shape (bins,)."""
        middles: Array = (self.edges[:-1] + self.edges[1:]) / 2
        return middles

    @property
    def mass(self) -> Array:
        """Counts that noise alone does not show, others 0, shape (k, bins)."""
        return np.where(self.counts > _NEVER * self.sd, self.counts, 0.0)


def scales_of(cells: Voronoi, region: Region) -> DistanceScales:
    """How far rows lie from their centres, over all distances that the region allows."""
    return DistanceScales(cells, ceil(log2(region.diameter**2)), 2 * _OCTAVES)


def blind_centers(k: int, region: Region) -> Array:
    """k centres that know nothing of any row, the same for everybody, shape (k, d)."""
    return sphere_packing(k, region, np.random.default_rng(0))


def capped_losses(
    room: DataRoom, centers: Array, sizes: Array, scales: Scales, share: Budget
) -> tuple[CappedLosses, Array, Array]:
    """The questions that were asked, noisy capped losses of the released, of one and of the blind centres (3,), and
    the standard deviations of their noise (3,).

    A cap is as large as its noise allows: where it cuts more, rows are cut for nothing; where it cuts less, noise
    grows. Both are worked out from what was released before.

    **Guarantee.** ``share``, for the room's relation and unit of privacy.
    """
    region = room.region
    parts = share.rounds(3, [0.5, 0.3, 0.2])
    weights = np.maximum(sizes, 0.0)
    overall = weights @ centers / weights.sum() if weights.any() else np.zeros(region.dim)
    sets = (centers, region.clip(overall)[None], blind_centers(len(centers), region))
    asked = [
        CappedLosses(one[None], caps=np.array([_cap(one, centers, scales, region, part.amount / room.rows_per_person)]))
        for one, part in zip(sets, parts, strict=True)
    ]
    questions = (Question(query, Laplace, part) for query, part in zip(asked, parts, strict=True))
    answers = room.ask_together(*questions, note="losses of the released, of one and of blind centres")
    caps = np.concatenate([query.caps for query in asked])
    values = np.concatenate([answer.value for answer in answers])
    together = CappedLosses(np.zeros((3, 1, region.dim)), caps=caps)
    return together, values, np.array([answer.sd for answer in answers])


def _cap(points: Array, centers: Array, scales: Scales, region: Region, amount: float) -> float:
    """The cap at which what is cut and what noise adds are least together, from released values.

    A row of a segment is taken to lie as far from a point as its centre does, and as far from the centre as the scales
    say, at a right angle.
    """
    apart = ((centers[:, None] - points) ** 2).sum(axis=2).min(axis=1)
    squared, mass = apart[:, None] + scales.middles, scales.mass
    caps = scales.edges[1:]
    if not mass.any():
        return float(min(caps[-1], region.radius**2))
    cut = np.array([(mass * np.maximum(squared - cap, 0.0)).sum() for cap in caps])
    return float(caps[np.argmin(cut + sqrt(2) * caps / amount)])


def certificate(
    losses: tuple[CappedLosses, Array, Array],
    scales: Scales,
    centers: Array,
    sizes: Array,
    rows: Interval,
    rows_sd: float,
    center_noise_sd: Array | None,
) -> Certificate:
    """The certificate that released values make.

    Parameters
    ----------
    losses : as ``capped_losses`` gives them
    scales : Scales
    centers : array of shape (k, d)
        Unit coordinates.
    sizes : array of shape (k,)
        Noisy.
    rows : Interval
        The public or noisy number of rows, and ``rows_sd`` the standard deviation of its noise, 0 if public.
    center_noise_sd : array of shape (k,) or None
        Of the noise on a coordinate of each centre, where the algorithm can tell.
    """
    asked, values, sds = losses
    released, one, blind = (of_a_ratio(value, sd, rows.value, rows_sd) for value, sd in zip(values, sds, strict=True))
    ratio = of_a_ratio(values[0], sds[0], values[1], sds[1])
    pooled = scales.counts.sum(axis=0)
    spread = np.sqrt(scales.edges)
    within = [of_a_quantile(pooled, spread, level, scales.sd * sqrt(len(centers))) for level in (0.5, 0.9)]
    verdict, words = _judged(values, sds, scales, centers, np.maximum(sizes, 0.0), center_noise_sd)
    return Certificate(
        released,
        one,
        blind,
        (float(asked.caps[0]), float(asked.caps[1]), float(asked.caps[2])),
        ratio,
        of_a_ratio(values[2], sds[2], values[1], sds[1]),
        (within[0], within[1]),
        verdict,
        words,
    )


def _judged(
    values: Array, sds: Array, scales: Scales, centers: Array, sizes: Array, noise_sd: Array | None
) -> tuple[Verdict, tuple[str, ...]]:
    """The verdict, and sentences that say why.

    The loss that k centres could have, as far as released values tell, is what is left without the noise of the
    centres, and without the rows of a segment that lie far beyond its others, if they had a centre of their own; the
    centre whose rows can do best without it would have to be theirs.
    """
    loss, one = max(values[0], sds[0]), max(values[1], sds[1])
    noise = 0.0 if noise_sd is None else float((sizes * centers.shape[1] * noise_sd**2).sum())
    spared = cost_of_sparing_one(sizes, centers)
    far = far_beyond(scales)
    hidden = _ONE_IN_TEN * sqrt(2) * scales.sd * 2 * one / max(float(sizes.sum()), 1.0)
    words = []
    if noise > (1 - _HALF) * loss:
        words.append(
            f"About {min(noise / loss, 1):.0%} of the loss is noise of the centres themselves: more rows, fewer "
            "clusters or a larger ε would bring them nearer to the middles of their segments."
        )
    if far - spared > (1 - _HALF) * loss:
        words.append(
            "Many rows of one segment lie far beyond all its others, while another centre could be spared: a group was "
            "probably missed."
        )
    if words or noise + max(far - spared, 0.0) > (1 - _HALF) * loss:
        return Verdict.POOR, tuple(words) or ("Noise and a group that was probably missed make half of the loss.",)
    if loss - 2 * sds[0] <= 0:
        return Verdict.CANNOT_TELL, ("The noise is as large as the loss itself.",)
    if spared < _IDLE * loss and hidden > (1 - _HALF) * loss:
        return Verdict.CANNOT_TELL, (
            "One of the centres serves hardly any rows of its own, and a group small enough to hide in the noise could "
            "carry half of the loss: it may have been missed.",
        )
    return Verdict.GOOD, ("Nothing that was released speaks against these centres.",)


def cost_of_sparing_one(sizes: Array, centers: Array) -> float:
    """By how much the loss would grow if one centre were given up and its rows joined another's, at the cheapest."""
    pairs = np.array([*permutations(range(len(centers)), 2)]).reshape(-1, 2)
    if not len(pairs):
        return float("inf")
    one, other = pairs.T
    apart = ((centers[one] - centers[other]) ** 2).sum(axis=1)
    return float((apart * sizes[one] * sizes[other] / np.maximum(sizes[one] + sizes[other], 1e-9)).min())


def far_beyond(scales: Scales) -> float:
    """The loss of rows of one segment that lie far beyond its others, with a gap between: the most that is certain.

    Over two neighbouring bins, a factor of 2 of squared distance. What noise alone shows once in a hundred draws is
    not counted.
    """
    windows = scales.counts[:, :-1] + scales.counts[:, 1:]
    reach = _RARELY * sqrt(2) * scales.sd
    found = 0.0
    for window, mass in zip(windows, scales.mass, strict=True):
        if not mass.any():
            continue
        middle = int(np.searchsorted(np.cumsum(mass), mass.sum() / 2))
        lowest = np.minimum.accumulate(window[middle + 1 :])
        gap = window[middle + 3 :] - np.maximum(lowest[:-2], 0.0) - reach
        far = (window[middle + 3 :] - _ONE_IN_TEN * sqrt(2) * scales.sd) * scales.edges[middle + 4 : -1]
        found = max(found, float(np.where(gap > 0, far, 0.0).max(initial=0.0)))
    return found
