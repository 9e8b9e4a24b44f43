"""How far apart two neighbouring tables put the input of a mechanism, in the units of the sensitivity that it claims.

Written from what each mechanism says of its input, not from the questions that compute sensitivities: an auditor
compares the two. What noise hides in a norm is measured in that norm; what a choice hides, by the range of the change;
of rows, tuples and messages, how many of them are others. A secret order is none of the input: sets are compared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from math import expm1, inf, log1p, sqrt
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

from dpviz.core.accounting import LossKind
from dpviz.core.arrays import Array, Codes
from dpviz.core.exact_noise import WholeTruth
from dpviz.core.kernel_draw import KernelDraw, WeightedRows
from dpviz.core.local_model import LocalNoise, LocalReports, UserAnswers
from dpviz.core.mechanisms import (
    Exponential,
    Gaussian,
    KNorm,
    Laplace,
    Mechanism,
    NoisyExcess,
    NoisyThreshold,
    PathCounts,
    Peeling,
    SparseLaplace,
)
from dpviz.core.quantiles import ClippedColumns, ExponentialQuantile, SmoothMedian
from dpviz.core.queries import SparseCounts
from dpviz.core.tuples import NoisyCenters, TupleAverages, TupleTable

Distance = Callable[[Any, Any, Any], float]
"""Of a mechanism and its input on two tables: never above the sensitivity it claims if these are neighbours."""


def measure_distance(mechanism: Mechanism[Any], one: Any, other: Any) -> float:
    """How far apart the inputs are, in the units of the mechanism's sensitivity; inf where they are of unlike kinds."""
    return DISTANCES[type(mechanism)](mechanism, *(_read_units(truth) for truth in (one, other)))


def _read_units(truth: Any) -> Any:
    """Of whole numbers of a quantum, the answer in unit coordinates."""
    if not isinstance(truth, WholeTruth):
        return truth
    return truth.total if isinstance(truth.total, SparseCounts) else np.asarray(truth.total) * truth.quantum


def _measure_norm(mechanism: Mechanism[Any], change: Array) -> float:
    """Of what is added to it: l2 for Gaussian noise, the sum of row norms for K-norm noise, else l1."""
    if mechanism.loss is LossKind.GAUSSIAN:
        return float(np.linalg.norm(change))
    if isinstance(mechanism, KNorm):
        return float(np.linalg.norm(change, axis=-1).sum())
    return float(np.abs(change).sum())


def _measure_array(mechanism: Mechanism[Any], one: Array, other: Array) -> float:
    return _measure_norm(mechanism, one - other) if one.shape == other.shape else inf


def _find_changes(one: SparseCounts, other: SparseCounts) -> tuple[Codes, Array]:
    """Cells whose counts differ, and by how much."""
    codes = np.union1d(one.codes, other.codes)
    change: Array = one.get_counts(codes) - other.get_counts(codes)
    return codes[change != 0], change[change != 0]


def _measure_sparse(mechanism: Any, one: SparseCounts, other: SparseCounts) -> float:
    same = one.universe == other.universe
    return _measure_norm(mechanism.once, _find_changes(one, other)[1]) if same else inf


def _measure_excess(mechanism: NoisyExcess, one: SparseCounts, other: SparseCounts) -> float:
    here, there = (np.maximum(counts.values - mechanism.threshold, 0).sum() for counts in (one, other))
    return float(abs(here - there))


def _measure_paths(mechanism: PathCounts, one: SparseCounts, other: SparseCounts) -> float:
    """The level that moves most, as often as there are levels: each is drawn with the same noise."""
    codes, change = _find_changes(one, other)
    depth, most = one.universe.bit_length() - 1, 0.0
    for level in range(1, mechanism.levels + 1):
        nodes, place = np.unique(codes >> max(0, depth - level), return_inverse=True)
        of_nodes = np.bincount(place, weights=change, minlength=len(nodes)).astype(np.float64)
        most = max(most, _measure_norm(mechanism.once, of_nodes))
    gaussian = mechanism.loss is LossKind.GAUSSIAN
    return most * (sqrt(mechanism.levels) if gaussian else mechanism.levels)


def _measure_range(change: Array) -> float:
    return float(change.max() - change.min()) if change.size else 0.0


def _measure_choice(mechanism: Exponential, one: Array, other: Array) -> float:
    """Entries without a chance by the public prior take no part."""
    if one.shape != other.shape:
        return inf
    change = (one - other).ravel()
    return _measure_range(change if mechanism.log_prior is None else change[np.isfinite(mechanism.log_prior.ravel())])


def _measure_peeled(mechanism: Peeling, one: Array, other: Array) -> float:
    """Lines are drawn side by side: their ranges add up, and so do the draws of each."""
    if one.shape != other.shape:
        return inf
    change = np.abs(one) - np.abs(other) if mechanism.magnitudes else one - other
    return mechanism.draws * sum(_measure_range(line) for line in np.atleast_2d(change))


def _measure_quantiles(mechanism: ExponentialQuantile, one: ClippedColumns, other: ClippedColumns) -> float:
    """Ranges of the changes of all scores, each over every place where one may be drawn, beside those claimed."""
    ranges = []
    for column in range(one.values.shape[1]):
        here, there = (np.sort(table.values[:, column]) for table in (one, other))
        places = np.unique(np.r_[here, there, one.lower[column], one.upper[column]])
        middles = (places[1:] + places[:-1]) / 2
        for level in one.levels:
            scores = [np.abs(np.searchsorted(x, middles) - level * len(x)) for x in (here, there)]
            ranges.append(_measure_range(scores[0] - scores[1]))
    total, largest = sum(ranges), max(ranges, default=0.0)
    parts = [total / mechanism.total, largest / mechanism.range]
    if mechanism.sensitivity < mechanism.total:  # paid under zCDP, where squares add up
        parts.append(float(np.linalg.norm(ranges)) / mechanism.sensitivity)
    return mechanism.sensitivity * max(parts)


def _measure_median(mechanism: SmoothMedian, one: ClippedColumns, other: ClippedColumns) -> float:
    """Values that are others, over columns."""
    if one.values.shape != other.values.shape:
        return inf
    changed = [_find_others(a[:, None], b[:, None])[0] for a, b in zip(one.values.T, other.values.T, strict=True)]
    return float(sum(map(len, changed)))


def _find_others(one: Array, other: Array) -> tuple[Array, Array]:
    """Of two sets of rows (n, d) and (m, d), in any order, those that the other one has not."""
    here, there = (Counter(map(bytes, np.ascontiguousarray(rows + 0.0))) for rows in (one, other))
    width = one.shape[1]
    only = ([*(first - second).elements()] for first, second in ((here, there), (there, here)))
    left, right = (np.frombuffer(b"".join(rows)).reshape(len(rows), width) for rows in only)
    return left, right


def _measure_kernel(mechanism: KernelDraw, one: WeightedRows, other: WeightedRows) -> float:
    """What the mixtures of these very rows may differ by, from how much weight has moved and how far.

    A part λ of a mixture that is exchanged for another, no farther than r, changes a density by a factor of at most
    1 + λ (e^(r/b) - 1).
    """
    (middles, here), (others, there) = (_find_mixture(mechanism, table) for table in (one, other))
    both = np.concatenate([middles, others])
    names = [bytes(place) for place in np.ascontiguousarray(both + 0.0)]
    number = {name: i for i, name in enumerate(dict.fromkeys(names))}
    which = np.array([number[name] for name in names])
    before = np.bincount(which[: len(here)], weights=here, minlength=len(number))
    after = np.bincount(which[len(here) :], weights=there, minlength=len(number))
    atoms = both[np.unique(which, return_index=True)[1]]
    moved = np.abs(after - before) > 1e-12 * max(before.sum(), after.sum())
    if not moved.any():
        return 0.0
    of_kernel = float(cdist(atoms[moved], atoms).max()) / mechanism.scale
    parts = [np.maximum(before - after, 0).sum() / before.sum(), np.maximum(after - before, 0).sum() / after.sum()]
    return mechanism.scale * min(of_kernel, sum(log1p(part * expm1(of_kernel)) for part in parts))


def _find_mixture(mechanism: KernelDraw, table: WeightedRows) -> tuple[Array, Array]:
    """The middles of the kernels, and how much each weighs."""
    weights, tau = table.compute_weights(), mechanism.public_weight
    rows = np.concatenate([np.asarray(chunk, dtype=np.float64) for chunk in table.rows])
    if tau:
        public = np.full(len(mechanism.points), tau / len(mechanism.points))
        return np.concatenate([rows, mechanism.points]), np.r_[weights, public]
    if not len(rows):
        return np.zeros((1, table.dim)), np.ones(1)
    return rows, weights if weights.any() else np.ones(len(rows))


def _measure_tuples(mechanism: NoisyCenters | TupleAverages, one: TupleTable, other: TupleTable) -> float:
    """Tuples that are others; their number is public."""
    if not len(one) == len(other) == mechanism.number:
        return inf
    left, _ = _find_others(one.values.reshape(len(one), -1), other.values.reshape(len(other), -1))
    return float(len(left))


def _measure_messages(one: Array, other: Array, silent: Array, places: int) -> tuple[int, float]:
    """How many of ``places`` are taken by others, and how far those are apart altogether, paired as near as can be.

    The ``silent`` row takes a place for which there is nobody.
    """
    full = max(places, len(one), len(other))
    here, there = (np.concatenate([rows, np.tile(silent, (full - len(rows), 1))]) for rows in (one, other))
    left, right = _find_others(here, there)
    apart = cdist(left, right)
    return len(left), float(apart[linear_sum_assignment(apart)].sum())


def _measure_rows(mechanism: LocalNoise, one: TupleTable, other: TupleTable) -> float:
    here, there = (table.values[:, 0] for table in (one, other))
    return _measure_messages(here, there, np.zeros((1, here.shape[1])), mechanism.number)[1]


def _measure_reports(mechanism: LocalReports, one: UserAnswers, other: UserAnswers) -> float:
    """Messages that are others, each of which may be told from any; or vectors apart, in diameters of the region."""
    silent, seats = np.zeros((1, one.vectors.shape[1])), len(mechanism.groups)
    here, there = (np.column_stack([users.codes, users.vectors]) for users in (one, other))
    messages, _ = _measure_messages(here, there, np.column_stack([[mechanism.middle], silent]), seats)
    _, apart = _measure_messages(one.vectors, other.vectors, silent, seats)
    return max(float(messages), apart / mechanism.diameter)


DISTANCES: dict[type, Distance] = {
    **dict.fromkeys((Laplace, Gaussian, KNorm), _measure_array),
    **dict.fromkeys((NoisyThreshold, SparseLaplace), _measure_sparse),
    **dict.fromkeys((NoisyCenters, TupleAverages), _measure_tuples),
    Exponential: _measure_choice,
    Peeling: _measure_peeled,
    NoisyExcess: _measure_excess,
    PathCounts: _measure_paths,
    KernelDraw: _measure_kernel,
    ExponentialQuantile: _measure_quantiles,
    SmoothMedian: _measure_median,
    LocalNoise: _measure_rows,
    LocalReports: _measure_reports,
}
"""Of every mechanism that the session knows."""
