"""What a release says of each segment: sizes, how its columns fall, what tells it apart, and a quality report.

All that is bought are whole tallies with Laplace noise: pure ε, added up over the questions by basic composition. One
row is in one segment and in one bin of a column, so that segments cost nothing more (parallel composition), and columns
are paid for one by one (sequential composition). Everything else is post-processing.

Every one of these tallies adds up to the size of a segment, too: what is published is one size, the released answers
combined by inverse variance. Bins of a clustered column lie close where released centres are, so that a few of them say
more than as many equal ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, exp, log2, sqrt
from typing import NamedTuple

import numpy as np
from scipy.spatial.distance import cdist
from scipy.special import lambertw

from dpviz.algorithms import draw_random_points, pack_spheres
from dpviz.core import (
    FINE_PARTS,
    Accounting,
    Array,
    Budget,
    DistanceScales,
    Flags,
    PrivateSession,
    Region,
    SegmentHistogram,
    losses,
    mechanisms,
    partitions,
    queries,
)
from dpviz.releases.described_table import FINEST, Description, SegmentColumn
from dpviz.releases.release_sentences import SENTENCES, make_refusal
from dpviz.releases.segments_report import (
    TOO_SMALL,
    CategoriesSaid,
    CategoryShare,
    NumbersSaid,
    QualityReport,
    QualityVerdict,
    ReleasedHistogram,
    Segment,
    SegmentsReport,
)
from dpviz.releases.tallies import Interval, SegmentTallies, Tally, bound_quantile, bound_ratio, bound_share, bound_sum
from dpviz.words import round_percent

# Parts of the share, fixed before a row is read. The scales of distances and the losses make the quality report.
WEIGHTS = {"sizes": 0.3, "columns": 0.24, "scales": 0.21, "losses": 0.25}


# How finely columns are counted, and when one is worth a word.
# Chosen by hand; ``benchmarks/segments.py`` says how often the intervals hold.

# A segment is too small to say anything of a column where noise of its whole histogram is this part of its noisy
# size.
_MOST_NOISE = 0.5
_FEWEST_BINS = 4  # bins of numbers, at least
# There are so many bins for each size over noise, to the power ⅔: noise of a quantile grows with them, and so does
# the width of an interval with that of a bin.
_BINS_PER_SIZE = 1.6
_EVEN_PART = 0.25  # the part of a public guess of how rows fall that is spread evenly between the bounds
_MOST_COLUMNS = 3  # columns named as telling a segment apart, at most
_LEAST_DIFFERENCE = 0.05  # the least difference of shares that is worth a word
_NINE_IN_TEN_SDS = 1.645  # half the width of an interval that nine values in ten lie in, in standard deviations


Noisy = mechanisms.Measurement[Array, mechanisms.Additive]


def ask_segments(
    session: PrivateSession,
    centers: Array,
    description: Description,
    share: Budget | None = None,
    *,
    center_noise_sd: Array | None = None,
) -> SegmentsReport:
    """What is said of the segments of released ``centers`` (k, d), unit coordinates, bought with ``share`` of
    ``session``; in data units, with intervals.

    Sizes and scales of distances are asked first. They decide how many bins a column of numbers has, and where losses
    are capped; what each question costs was decided before. ``center_noise_sd`` (k,) is what the algorithm said of the
    noise on a coordinate of each centre, where it could.

    **Guarantee.** ``share`` (all of the session's budget by default), pure ε-DP for the session's relation and unit of
    privacy.
    """
    if session.accounting is not Accounting.PURE:
        raise make_refusal("segments_pure")
    if centers.ndim != 2 or centers.shape[1] != description.domain.dim or session.dim != description.width:
        raise make_refusal("segments_shape", shape=centers.shape, columns=description.domain.dim)
    share = session.budget if share is None else share
    weights = {name: weight for name, weight in WEIGHTS.items() if name != "columns" or description.columns}
    shares = share.split(**weights)
    inner = description.domain.region
    seen = session if session.dim == inner.dim else session.project(description.frame, inner)
    cells = partitions.Voronoi(inner.clip(centers))
    by_distance = DistanceScales(cells, ceil(log2(inner.diameter**2)), 2 * _OCTAVES)  # all that the region allows
    noisy_sizes, noisy_scales = seen.ask_together(
        mechanisms.Question(queries.Count(cells), mechanisms.Laplace, shares.sizes),
        mechanisms.Question(by_distance, mechanisms.Laplace, shares.scales),
        note="sizes of segments, scales of distances",
    )
    scales = Scales.of(noisy_scales, by_distance, inner)
    tallies = SegmentTallies(
        (
            Tally(noisy_sizes.value[:, None], noisy_sizes.sd, np.ones((len(centers), 1), dtype=bool)),
            scales,
            *_ask_histograms(session, centers, description, shares.get("columns"), noisy_sizes.value, scales),
        )
    )
    sizes = np.rint(tallies.released.sizes)
    losses = cap_losses(seen, cells.centers, sizes, scales, shares.losses)
    # Not by a public number of rows: how many of them lack a number, or are too many of a person, is private.
    rows_sd = float(np.sqrt((tallies.size_sd**2).sum()))
    rows = bound_sum(max(float(sizes.sum()), 1.0), rows_sd, least=1.0)
    return SegmentsReport(
        _describe_columns(description, centers, tallies),
        make_quality_report(losses, scales, cells.centers, sizes, inner, rows, rows_sd, center_noise_sd),
        share.amount,
        notes=description.notes,
        tallies=tallies,
    )


def _ask_histograms(
    session: PrivateSession,
    centers: Array,
    description: Description,
    share: Budget | None,
    sizes: Array,
    scales: Scales,
) -> list[Tally]:
    """What is counted of each column, in bins that follow from what was released before."""
    if share is None:
        return []
    over, parts = description.cells(description.domain.region.clip(centers)), share.rounds(len(description.columns))
    large = sizes[sizes > 0]
    usual = float(np.median(large)) if len(large) else 1.0
    spread = scales.typical / sqrt(description.domain.dim)
    asked, edges = [], []
    for column, part in zip(description.columns, parts, strict=True):
        bins = len(column.labels) or make_bins(usual, part.amount, session)
        clustered = not column.labels and column.place < description.domain.dim
        starts = (
            find_bin_starts(centers[:, column.place] / column.half, spread / column.half, bins) if clustered else ()
        )
        query = SegmentHistogram(over, column.place, _count_along(column, bins), column.half, starts, column.shape)
        asked.append(mechanisms.Question(query, mechanisms.Laplace, part))
        edges.append(np.zeros(0) if column.labels else _list_edges(column, starts, bins))
    answers = session.ask_together(*asked, note="histograms of segments, column by column")
    return [
        Tally(answer.value, answer.sd, _find_possible(column, answer.value, one), column, one)
        for column, answer, one in zip(description.columns, answers, edges, strict=True)
    ]


def _find_possible(column: SegmentColumn, counts: Array, edges: Array) -> Flags:
    """In which bins along its coordinate a row can be, (k, m): those of values, and that of missing cells."""
    used = len(edges) - 1 + column.may_miss if len(edges) else counts.shape[1]
    return np.broadcast_to(np.arange(counts.shape[1]) < used, counts.shape)


def _list_edges(column: SegmentColumn, starts: Sequence[int], bins: int) -> Array:
    """Where the bins of a column of numbers begin and end, on its scale, shape (bins + 1,)."""
    parts = np.array([*starts, FINE_PARTS]) / FINE_PARTS if starts else np.linspace(0.0, 1.0, bins + 1)
    lower, upper = column.ends
    return lower + (upper - lower) * parts


def find_bin_starts(places: Array, spread: float, bins: int) -> tuple[int, ...]:
    """The first equal part of each of ``bins`` bins that lie close where released centres are; the first one is 0.

    ``places`` (k,) are one coordinate of the centres, in [-1, 1]. Bins hold equal parts of a public guess of how rows
    fall: around every centre alike, near it and with long tails, and some anywhere between the bounds. It follows from
    released values alone.
    """
    middles = (np.arange(FINE_PARTS) + 0.5) * 2 / FINE_PARTS - 1
    spread = max(spread, 2 / FINE_PARTS)
    around = np.abs(middles - np.clip(places, -1, 1)[:, None]) / spread
    guess = (1 / (1 + around**2)).sum(axis=0)
    guess = guess / guess.sum() + _EVEN_PART / FINE_PARTS
    below = np.cumsum(guess) / guess.sum()
    starts = np.searchsorted(below, np.arange(bins) / bins, side="left")
    starts[0] = 0
    # No bin without a part of its own, at either end.
    counted = np.arange(bins)
    starts = np.maximum.accumulate(starts - counted) + counted
    return tuple(np.minimum(starts, FINE_PARTS - bins + counted).tolist())


def _count_along(column: SegmentColumn, bins: int) -> int:
    """Bins along the coordinate: behind as many bins of values there is, first of all, that of missing cells."""
    return bins if column.labels or not column.may_miss else 2 * bins


def make_bins(size: float, epsilon: float, session: PrivateSession) -> int:
    """Bins of a column of numbers, a power of two from 4 to 64, for segments of about ``size`` rows."""
    scale = session.rows_per_person * session.relation.rows / epsilon
    # The noise of a quantile grows with the root of their number, the width of an interval with that of a bin: together
    # they are least at a number that grows as the size over the noise, to the power of two thirds.
    best = max(_BINS_PER_SIZE * size / scale, 1.0) ** (2 / 3)
    return int(np.clip(2 ** round(log2(best)), _FEWEST_BINS, FINEST))


def _describe_columns(description: Description, centers: Array, tallies: SegmentTallies) -> tuple[Segment, ...]:
    in_data_units, histograms = description.domain.from_unit(centers), [one for _, one, _ in tallies.described]
    apart = score_columns(description.columns, histograms) if histograms else np.zeros((len(centers), 0))
    names = [column.name for column in description.columns]
    found = []
    published = tallies.published
    ends = zip(published.rows.tolist(), published.low.tolist(), published.high.tolist(), strict=True)
    for place, (sd, told) in enumerate(zip(tallies.size_sd.tolist(), ends, strict=True)):
        said, size = Interval(*told), float(tallies.released.sizes[place])
        drowned = [sqrt(one.variance[place]) > _MOST_NOISE * size for one in histograms]
        small = said.low <= 0 or all(drowned or [sd > _MOST_NOISE * size])
        columns = tuple(
            _describe_column(column, one, tallies.released.counts[at][place], sd, small or hidden)
            for (at, one, column), hidden in zip(tallies.described, drowned, strict=True)
        )
        order = [
            j
            for j in np.argsort(-apart[place], kind="stable").tolist()
            if apart[place, j] >= _LEAST_DIFFERENCE and not drowned[j]
        ]
        found.append(
            Segment(
                place + 1,
                tuple(in_data_units[place].tolist()),
                said,
                sd,
                TOO_SMALL if small else "",
                columns,
                () if small else tuple(names[j] for j in order[:_MOST_COLUMNS]),
            )
        )
    return tuple(found)


def _describe_column(
    column: SegmentColumn, tally: Tally, counts: Array, size_sd: float, small: bool
) -> NumbersSaid | CategoriesSaid:
    sd, number = tally.sd, tally.values
    if column.labels:
        histogram = ReleasedHistogram(tuple(counts.tolist()), sd, labels=column.labels)
        shares = (CategoryShare(label, bound_share(counts, j, sd, size_sd)) for j, label in enumerate(column.labels))
        return CategoriesSaid(column.name, column.unit, () if small else tuple(shares), histogram)
    counts, edges = counts[: number + column.may_miss], tally.edges
    missing = counts[number] if column.may_miss else None
    histogram = ReleasedHistogram(
        tuple(counts[:number].tolist()),
        sd,
        tuple(column.coding.unstretch(edges).tolist()),
        missing=None if missing is None else float(missing),
        kind=column.coding.kind,
    )
    if small:
        return NumbersSaid(column.name, column.unit, None, None, None, None, histogram, column.first_day)
    even = (bound_quantile(counts, edges, level, sd, size_sd).mark_wide(edges) for level in (0.25, 0.5, 0.75))
    lower, median, upper = (_to_units(column, one) for one in even)
    without = None if missing is None else bound_share(counts, number, sd, size_sd)
    return NumbersSaid(column.name, column.unit, lower, median, upper, without, histogram, column.first_day)


def _to_units(column: SegmentColumn, interval: Interval) -> Interval:
    """An interval on the scale of a column in its units: quantiles go along with what keeps the order."""
    value, low, high = column.coding.unstretch(np.array([interval.value, interval.low, interval.high])).tolist()
    return Interval(value, low, high, interval.range_only)


def score_columns(columns: Sequence[SegmentColumn], histograms: Sequence[Tally]) -> Array:
    """How surely each column tells a segment apart from all others, shape (k, number of columns), 0 to 1.

    The largest difference between the segment's and the others' share of rows below an edge (of a category, for
    categories), less what noise alone would show once in ten draws. It is computed from the released histograms: post-
    processing, so that choosing columns costs nothing; a private selection would have to be paid for beside them.
    """
    k = histograms[0].counts.shape[0]
    scores = np.zeros((k, len(columns)))
    if k < 2:
        return scores
    for place, (column, one) in enumerate(zip(columns, histograms, strict=True)):
        values, sd = one.counts[:, : one.values], one.sd
        (mine, my_sd), (theirs, their_sd) = (
            _split_shares(part, sd * sqrt(times), ordered=not column.labels)
            for part, times in ((values, 1), (values.sum(axis=0) - values, k - 1))
        )
        gap = np.abs(mine - theirs) - _NINE_IN_TEN_SDS * np.sqrt(my_sd**2 + their_sd**2)
        scores[:, place] = np.clip(gap.max(axis=1), 0.0, 1.0)
    return scores


def _split_shares(counts: Array, sd: float, *, ordered: bool) -> tuple[Array, Array]:
    """Shares of bins, or of everything up to a bin where these are ordered, and the sd of their noise, both (k, m)."""
    m = counts.shape[1]
    total = np.maximum(counts.sum(axis=1, keepdims=True), sd * sqrt(m))
    parts = np.cumsum(counts, axis=1) if ordered else counts
    shares = np.clip(parts / total, 0.0, 1.0)
    terms = np.arange(1, m + 1) if ordered else np.ones(m)
    return shares, sd * np.sqrt(terms * (1 - shares) ** 2 + (m - terms) * shares**2) / total


# What is asked of distances and losses, and where a loss is called poor.
# Chosen by hand; ``benchmarks/quality_report.py`` says how many runs are flagged rightly.

_A_LITTLE_MORE = 1 + 1e-9  # distances are computed in floats
_OCTAVES = 24  # of distances, below the diameter of the domain
_POOR_PART = 0.55  # a loss is called poor where released values leave no more than this part of it to k other centres
_IDLE_PART = 0.1  # a centre is idle where its rows could do without it for so small a part of the loss
# Rows that a centre misses: fewer than this part of all, and so many times as far (squared) as half of all rows.
_FEW_ROWS = 0.25
_FAR_TIMES = 8.0
# What noise alone hardly exceeds in any of some hundred bins, in standard deviations; in all bins from one on; once in
# ten draws.
_SDS_OF_MANY = 6.0
_SDS_OF_SUMS = 4.0
_SDS_OF_TENTH = 1.3
_GROUP_OF_NOISE = 0.01  # the chance that noise alone shows a group far out, in any pair of neighbouring bins
_BIAS_WEIGHT = 2.0  # what is cut counts so many times as much as noise: it does not average out over releases
_TAIL_STEPS = 4  # a tail that noise covers goes on for so many half octaves
_TAIL_SDS = 0.5  # in each of these lie so many rows, in standard deviations of their noise
# What each of the three losses costs: that of the released centres is what the other two are compared with.
_LOSS_PARTS = (0.55, 0.3, 0.15)
_PLACES = 512  # public points that stand for the domain
_UNKNOWN_DISTANCE = 0.5  # how far rows may lie from their centres, unit coordinates, where noise hides it
_LEAST_SEEN = 0.75  # of less than this part of the rows it is seen how far they lie: then nothing is said


class Scales(Tally):
    """The tally of squared distances: bins between ``edges`` (bins + 1,); what is not ``possible`` counts 0."""

    @classmethod
    def of(cls, noisy: Noisy, asked: DistanceScales, region: Region) -> Scales:
        """What was released, without the noise of bins that no row of ``region`` can be in."""
        possible = find_possible_scales(asked, region)
        return cls(np.where(possible, noisy.value, 0.0), noisy.sd, possible, edges=asked.edges)

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
        """Counts that are more than noise, others 0, shape (k, bins)."""
        # Up to the last bin from which on all bins together stand out of their noise, one standard deviation is enough;
        # beyond, a bin has to stand out by itself.
        noise = self.sd * np.sqrt(self.possible[:, ::-1].cumsum(axis=1)[:, ::-1].sum(axis=0))
        inside = np.flatnonzero(self.counts[:, ::-1].cumsum(axis=1)[:, ::-1].sum(axis=0) > _SDS_OF_SUMS * noise)
        near = np.arange(len(self.middles)) <= (inside[-1] if len(inside) else -1)
        return np.where(self.counts > np.where(near, 1.0, _SDS_OF_MANY) * self.sd, self.counts, 0.0)


class NoisyLosses(NamedTuple):
    """Of the released, of one and of the blind centres: caps, noisy sums of capped squared distances, and the standard
    deviations of their noise, each of shape (3,)."""

    caps: Array
    values: Array
    sds: Array


def find_possible_scales(asked: DistanceScales, region: Region) -> Flags:
    """In which bins of squared distances a row of the region can be, (k, bins)."""
    farthest = np.linalg.norm(asked.over.centers, axis=1) + region.radius
    return np.asarray(asked.edges[:-1] <= _A_LITTLE_MORE * farthest[:, None] ** 2, dtype=np.bool_)


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
    blind = pack_spheres(len(centers), region, np.random.default_rng(0))  # the same for everybody
    sets = (centers, region.clip(overall)[None], blind)
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
    squared, mass = cdist(centers, points, "sqeuclidean").min(axis=1)[:, None] + scales.middles, scales.mass
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
    # No row is farther from a centre than bounds let it be.
    ends = np.linalg.norm(abs(centers) + region.half, axis=1), np.linalg.norm(centers, axis=1) + region.radius
    spread = np.minimum(np.sqrt(scales.edges), np.minimum(*ends).max())
    within = [bound_quantile(pooled, spread, level, scales.sd * sqrt(len(centers))) for level in (0.5, 0.9)]
    # Where a missed group could be: places anywhere in the region, at their mean squared distance to a centre.
    places = draw_random_points(_PLACES, region, np.random.default_rng(0))
    anywhere = float(cdist(places, centers, "sqeuclidean").min(axis=1).mean())
    verdict, words = _judge(values[0], sds[0], scales, centers, np.maximum(sizes, 0.0), anywhere, center_noise_sd)
    cut = (float(caps[0]), float(caps[1]), float(caps[2]))
    blind_ratio = bound_ratio(values[2], sds[2], values[1], sds[1])
    return QualityReport(released, one, blind, cut, ratio, blind_ratio, (within[0], within[1]), verdict, words)


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
    return QualityVerdict.GOOD, ("No distance that was released speaks against these centres.",)


def compute_cost_of_sparing_one(sizes: Array, centers: Array) -> float:
    """By how much the loss would grow if one centre were given up and its rows joined another's, at the cheapest.

    ``sizes`` (k,), noisy numbers of rows. In squared unit coordinates times rows.
    """
    if len(centers) < 2:
        return float("inf")
    cost = cdist(centers, centers, "sqeuclidean") * sizes[:, None] * sizes / np.maximum(sizes[:, None] + sizes, 1e-9)
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
    far = scales.possible[:, 1:] & (scales.edges[1:-1] >= _FAR_TIMES * usual)
    # Two Laplace draws of scale b come to more than x b together with a chance of (2 + x) exp(-x) / 4.
    level = _GROUP_OF_NOISE / max(int(far.sum()), 1)
    least = (-lambertw(-4 * level * exp(-2), -1).real - 2) * scales.sd / sqrt(2)
    seen = far & (windows > least) & (windows < _FEW_ROWS * rows)
    loss = np.where(seen, (windows - _SDS_OF_TENTH * sd) * scales.edges[1:-1], 0.0)
    most = windows > sizes[:, None] / 2
    return float(np.where(most, loss, 0.0).max(initial=0.0)), float(np.where(most, 0.0, loss).max(initial=0.0))
