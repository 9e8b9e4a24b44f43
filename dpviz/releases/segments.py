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
from math import log2, sqrt

import numpy as np

from dpviz.core import (
    FINE_PARTS,
    Accounting,
    Array,
    Budget,
    Flags,
    PrivateSession,
    SegmentHistogram,
    mechanisms,
    partitions,
    queries,
)
from dpviz.releases.described_table import FINEST, Description, SegmentColumn
from dpviz.releases.intervals import Interval, bound_by_range, bound_quantile, bound_share, bound_sum
from dpviz.releases.quality_report import Scales, cap_losses, make_quality_report, make_scales
from dpviz.releases.release_sentences import make_refusal
from dpviz.releases.segments_report import (
    TOO_SMALL,
    CategoriesSaid,
    CategoryShare,
    NumbersSaid,
    ReleasedHistogram,
    Segment,
    SegmentsReport,
)
from dpviz.releases.tallies import SegmentTallies, Tally

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
    by_distance = make_scales(cells, inner)
    noisy_sizes, noisy_scales = seen.ask_together(
        mechanisms.Question(queries.Count(cells), mechanisms.Laplace, shares.sizes),
        mechanisms.Question(by_distance, mechanisms.Laplace, shares.scales),
        note="sizes of segments, scales of distances",
    )
    scales = Scales.of(noisy_scales, by_distance, inner)
    tallies = SegmentTallies(
        (
            Tally(noisy_sizes.value[:, None], noisy_sizes.sd, np.ones((len(centers), 1), dtype=bool)),
            scales.tally,
            *_ask_histograms(session, centers, description, shares.get("columns"), noisy_sizes.value, scales),
        )
    )
    sizes = np.rint(tallies.released.sizes)
    losses = cap_losses(seen, cells.centers, sizes, scales, shares.losses)
    rows, rows_sd = _measure_rows(session, sizes, float(np.sqrt(np.mean(tallies.size_sd**2))))
    return SegmentsReport(
        _describe_columns(description, centers, tallies),
        make_quality_report(losses, scales, cells.centers, sizes, inner, rows, rows_sd, center_noise_sd),
        share.amount,
        notes=description.notes,
        tallies=tallies,
    )


def _measure_rows(session: PrivateSession, sizes: Array, sd: float) -> tuple[Interval, float]:
    """The number of rows, and the standard deviation of its noise: public, or the sum of the noisy sizes."""
    if session.n_is_public:
        return Interval(session.n, session.n, session.n), 0.0
    total_sd = sd * sqrt(len(sizes))
    return bound_sum(max(float(sizes.sum()), 1.0), total_sd, least=1.0), total_sd


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
    """Bins of a column of numbers, a power of two from 4 to 64, for segments of about ``size`` rows.

    The noise of a quantile grows with the root of their number, the width of an interval with that of a bin: together
    they are least at a number that grows as the size over the noise, to the power of two thirds.
    """
    scale = session.rows_per_person * session.relation.rows / epsilon
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
    in_units = column.coding.unstretch(edges)
    histogram = ReleasedHistogram(
        tuple(counts[:number].tolist()),
        sd,
        tuple(in_units.tolist()),
        missing=None if missing is None else float(missing),
        kind=column.coding.kind,
    )
    if small:
        return NumbersSaid(column.name, column.unit, None, None, None, None, histogram, column.first_day)
    even = (bound_by_range(bound_quantile(counts, edges, level, sd, size_sd), edges) for level in (0.25, 0.5, 0.75))
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
        others = values.sum(axis=0) - values
        (mine, my_sd), (theirs, their_sd) = (
            _split_shares(part, sd * sqrt(times), ordered=not column.labels)
            for part, times in ((values, 1), (others, k - 1))
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
