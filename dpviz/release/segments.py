"""What a release says of each segment: sizes, how its columns fall, what tells it apart, and a certificate.

All that is bought are whole tallies with Laplace noise: pure ε, added up over the questions by basic composition. One
row is in one segment and in one bin of a column, so that segments cost nothing more (parallel composition), and columns
are paid for one by one (sequential composition). Everything else is post-processing.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log2, sqrt

import numpy as np

from dpviz import check
from dpviz.arrays import Array
from dpviz.privacy.accounting import Accounting, Budget
from dpviz.privacy.mechanisms import Laplace
from dpviz.privacy.partitions import Voronoi
from dpviz.privacy.queries import Count
from dpviz.privacy.released import Question
from dpviz.privacy.room import DataRoom
from dpviz.privacy.segment_counts import SegmentHistogram
from dpviz.release.certificate import Scales, capped_losses, certificate, scales_of
from dpviz.release.described_table import FINEST, Description, SegmentColumn
from dpviz.release.intervals import Interval, laplace_reach, of_a_quantile, of_a_share, of_a_sum
from dpviz.release.segments_report import (
    TOO_SMALL,
    CategoriesSaid,
    CategoryShare,
    NumbersSaid,
    ReleasedHistogram,
    Segment,
    SegmentsReport,
)

# Parts of the share, fixed before a row is read. The scales of distances and the losses make the certificate.
WEIGHTS = {"sizes": 0.1, "columns": 0.26, "scales": 0.3, "losses": 0.34}
# A segment is too small to say anything of a column where noise of its whole histogram is this part of its noisy size.
_DROWNED = 0.5
# Bins of numbers: noise of a quantile grows with them, and so does the width of an interval with that of a bin.
_FEWEST, _BINS = 4, 1.6
# Columns named as telling a segment apart, at most, and the least difference of shares that is worth a word.
_TELLING, _WORTH = 3, 0.05
_SURE = 1.645


def segments(
    room: DataRoom,
    centers: Array,
    description: Description,
    share: Budget | None = None,
    *,
    center_noise_sd: Array | None = None,
) -> SegmentsReport:
    """What is said of the segments of released ``centers`` (k, d), unit coordinates, bought with ``share`` of ``room``.

    Sizes and scales of distances are asked first. They decide how many bins a column of numbers has, and where losses
    are capped; what each question costs was decided before. ``center_noise_sd`` (k,) is what the algorithm said of the
    noise on a coordinate of each centre, where it could.

    **Guarantee.** ``share`` (all of the room's budget by default), pure ε-DP for the room's relation and unit of
    privacy.

    Raises
    ------
    RequestError
        If the room's accounting is not pure ε, or the centres do not fit the description.
    """
    if room.accounting is not Accounting.PURE:
        raise check.RequestError("Segments are paid in pure ε: open their room with pure accounting and delta 0.")
    if centers.ndim != 2 or centers.shape[1] != description.domain.dim or room.dim != description.width:
        raise check.RequestError(
            f"The centres have shape {centers.shape}, and the clustering has {description.domain.dim} columns: give "
            "the released centres in unit coordinates, and the room of the described table."
        )
    share = room.budget if share is None else share
    weights = {name: weight for name, weight in WEIGHTS.items() if name != "columns" or description.columns}
    shares = share.split(**weights)
    inner = description.domain.region
    seen = room if room.dim == inner.dim else room.project(description.frame, inner)
    cells = Voronoi(inner.clip(centers))
    by_distance = scales_of(cells, inner)
    noisy_sizes, noisy_scales = seen.ask_together(
        Question(Count(cells), Laplace, shares.sizes),
        Question(by_distance, Laplace, shares.scales),
        note="sizes of segments, scales of distances",
    )
    scales = Scales.seen(noisy_scales, by_distance, inner)
    sizes = noisy_sizes.value
    histograms = _histograms(room, centers, description, shares.get("columns"), sizes)
    losses = capped_losses(seen, cells.centers, sizes, scales, shares.losses)
    rows, rows_sd = _rows(room, sizes, noisy_sizes.sd)
    return SegmentsReport(
        _said(description, centers, sizes, laplace_reach(noisy_sizes.mechanism.scale), histograms),
        certificate(losses, scales, cells.centers, sizes, inner, rows, rows_sd, center_noise_sd),
        share.amount,
        notes=description.notes,
    )


def _rows(room: DataRoom, sizes: Array, sd: float) -> tuple[Interval, float]:
    """The number of rows, and the standard deviation of its noise: public, or the sum of the noisy sizes."""
    if room.n_is_public:
        return Interval(room.n, room.n, room.n), 0.0
    total_sd = sd * sqrt(len(sizes))
    return of_a_sum(max(float(sizes.sum()), 1.0), total_sd, least=1.0), total_sd


def _histograms(
    room: DataRoom, centers: Array, description: Description, share: Budget | None, sizes: Array
) -> list[tuple[Array, float, int]]:
    """Noisy counts (k, bins along the column's coordinate), their sd, and the bins of values, column by column."""
    if share is None:
        return []
    over, parts = description.cells(description.domain.region.clip(centers)), share.rounds(len(description.columns))
    large = sizes[sizes > 0]
    usual = float(np.median(large)) if len(large) else 1.0
    bins = [
        len(column.labels) or bins_of_numbers(usual, part.amount, room) for column, part in _each(description, parts)
    ]
    asked = [
        Question(SegmentHistogram(over, column.place, _along(column, number), column.half), Laplace, part)
        for (column, part), number in zip(_each(description, parts), bins, strict=True)
    ]
    answers = room.ask_together(*asked, note="histograms of segments, column by column")
    return [(answer.value, answer.sd, number) for answer, number in zip(answers, bins, strict=True)]


def _each(description: Description, parts: Sequence[Budget]) -> list[tuple[SegmentColumn, Budget]]:
    return list(zip(description.columns, parts, strict=True))


def _along(column: SegmentColumn, bins: int) -> int:
    """Bins along the coordinate: behind as many bins of values there is, first of all, that of missing cells."""
    return bins if column.labels or not column.may_miss else 2 * bins


def bins_of_numbers(size: float, epsilon: float, room: DataRoom) -> int:
    """Bins of a column of numbers, a power of two from 4 to 64, for segments of about ``size`` rows.

    The noise of a quantile grows with the root of their number, the width of an interval with that of a bin: together
    they are least at a number that grows as the size over the noise, to the power of two thirds.
    """
    scale = room.rows_per_person * room.relation.rows / epsilon
    best = max(_BINS * size / scale, 1.0) ** (2 / 3)
    return int(np.clip(2 ** round(log2(best)), _FEWEST, FINEST))


def _said(
    description: Description,
    centers: Array,
    sizes: Array,
    reach: float,
    histograms: Sequence[tuple[Array, float, int]],
) -> tuple[Segment, ...]:
    in_data_units = description.domain.from_unit(centers)
    apart = telling_scores(description.columns, histograms) if histograms else np.zeros((len(sizes), 0))
    names = [column.name for column in description.columns]
    found = []
    for place, size in enumerate(sizes.tolist()):
        worst = max((sd * sqrt(counts.shape[1]) for counts, sd, _ in histograms), default=reach)
        small = size - reach <= 0 or worst > _DROWNED * size
        columns = tuple(
            _column(column, counts[place], sd, number, small)
            for column, (counts, sd, number) in zip(description.columns, histograms, strict=bool(histograms))
        )
        order = [j for j in np.argsort(-apart[place], kind="stable").tolist() if apart[place, j] >= _WORTH]
        found.append(
            Segment(
                place + 1,
                tuple(in_data_units[place].tolist()),
                Interval(max(size, 0.0), max(size - reach, 0.0), max(size + reach, 0.0)),
                TOO_SMALL if small else "",
                columns,
                () if small else tuple(names[j] for j in order[:_TELLING]),
            )
        )
    return tuple(found)


def _column(column: SegmentColumn, counts: Array, sd: float, number: int, small: bool) -> NumbersSaid | CategoriesSaid:
    if column.labels:
        histogram = ReleasedHistogram(tuple(counts.tolist()), sd, labels=column.labels)
        shares = (CategoryShare(label, of_a_share(counts, j, sd)) for j, label in enumerate(column.labels))
        return CategoriesSaid(column.name, column.unit, () if small else tuple(shares), histogram)
    values, edges = counts[:number], np.linspace(column.lower, column.upper, number + 1)
    missing = counts[number] if column.may_miss else None
    histogram = ReleasedHistogram(
        tuple(values.tolist()), sd, tuple(edges.tolist()), missing=None if missing is None else float(missing)
    )
    if small:
        return NumbersSaid(column.name, column.unit, None, None, None, None, histogram)
    lower, median, upper = (of_a_quantile(values, edges, level, sd) for level in (0.25, 0.5, 0.75))
    without = None if missing is None else of_a_share(counts[: number + 1], number, sd)
    return NumbersSaid(column.name, column.unit, lower, median, upper, without, histogram)


def telling_scores(columns: Sequence[SegmentColumn], histograms: Sequence[tuple[Array, float, int]]) -> Array:
    """How surely each column tells a segment apart from all others, shape (k, number of columns), 0 to 1.

    The largest difference between the segment's and the others' share of rows below an edge (of a category, for
    categories), less what noise alone would show once in ten draws. It is computed from the released histograms: post-
    processing, so that choosing columns costs nothing; a private selection would have to be paid for beside them.
    """
    k = histograms[0][0].shape[0]
    scores = np.zeros((k, len(columns)))
    if k < 2:
        return scores
    for place, (column, (counts, sd, number)) in enumerate(zip(columns, histograms, strict=True)):
        values = counts if column.labels else counts[:, :number]
        others = values.sum(axis=0) - values
        (mine, my_sd), (theirs, their_sd) = (
            _shares(part, sd * sqrt(times), ordered=not column.labels) for part, times in ((values, 1), (others, k - 1))
        )
        gap = np.abs(mine - theirs) - _SURE * np.sqrt(my_sd**2 + their_sd**2)
        scores[:, place] = np.clip(gap.max(axis=1), 0.0, 1.0)
    return scores


def _shares(counts: Array, sd: float, *, ordered: bool) -> tuple[Array, Array]:
    """Shares of bins, or of everything up to a bin where these are ordered, and the sd of their noise, both (k, m)."""
    m = counts.shape[1]
    total = np.maximum(counts.sum(axis=1, keepdims=True), sd * sqrt(m))
    parts = np.cumsum(counts, axis=1) if ordered else counts
    shares = np.clip(parts / total, 0.0, 1.0)
    terms = np.arange(1, m + 1) if ordered else np.ones(m)
    return shares, sd * np.sqrt(terms * (1 - shares) ** 2 + (m - terms) * shares**2) / total
