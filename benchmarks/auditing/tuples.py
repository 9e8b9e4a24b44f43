"""Mechanisms on tuples, which have no densities to weigh, and messages of single users.

Looked at of tuples: the status, and a projection of a released point. The bound has little power on the points, which
rest on one tuple in a thousand: their noise is checked part by part elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.auditing.bounds import Audit, lower_bound
from benchmarks.auditing.runs import thinner_noise
from dpviz.core.accounting import Accounting, Budget
from dpviz.core.arrays import Array
from dpviz.core.local_model import LocalNoise, LocalReports, UserAnswers
from dpviz.core.mechanisms import KNorm
from dpviz.core.noise import StudyNoise
from dpviz.core.partitions import HashCodes
from dpviz.core.queries import Sensitivity
from dpviz.core.tuples import NoisyCenters, TupleAverages, TupleTable
from tests.core.tuple_checks import CHEAP, tight_tuples

# With the noise of a hundredth, a test is all but certain.
THINNED = 100
Pair = tuple[Array, Array]
_CHEAP: dict[str, Any] = CHEAP
MECHANISMS: dict[str, NoisyCenters | TupleAverages] = {
    "noisy centres": NoisyCenters(**_CHEAP, far=1400.0),
    "noisy centres, printed": NoisyCenters(**_CHEAP | {"number": 700}, far=1400.0, printed=True),
    "noisy centres, balls as near as allowed": NoisyCenters(**_CHEAP, far=7.0),
    "averages": TupleAverages(**_CHEAP, dim=1, finest=1e-3, bound=1.0, printed=True),
}
ALONE = TupleAverages(**_CHEAP | {"k": 1, "number": 40}, dim=1, finest=0.05, bound=1.0, printed=True)


def misfit_pair(mechanism: NoisyCenters | TupleAverages) -> Pair:
    """Tables one of whose tuples more does not fit, at the limit of the test."""
    number, limit = mechanism.number, int(mechanism.test.misfit_limit)
    one = tight_tuples(number, dim=1, misfits=limit)
    other = one.copy()
    other[number - limit - 1, 0] = other[number - limit - 1, 1]
    return one, other


def far_pair(mechanism: NoisyCenters | TupleAverages) -> Pair:
    """Tables of equal tuples, one of which is pulled as far apart as fits."""
    one = tight_tuples(mechanism.number, dim=1)
    other = one.copy()
    other[7] = other[7] * 1.0005
    return one, other


def lone_pair(mechanism: NoisyCenters | TupleAverages) -> Pair:
    """One of whose points is far from all others."""
    one = np.full((mechanism.number, 1, 1), 0.2)
    other = one.copy()
    other[0] = -0.9
    return one, other


def _found(mechanism: NoisyCenters | TupleAverages, tuples: Array, seed: int, draws: int) -> Array:
    """Status and smallest point as one number: ⊥ lies below everything."""
    noise = StudyNoise(np.random.default_rng(seed))
    released = [mechanism.draw(TupleTable(tuples), noise) for _ in range(draws)]
    return np.array([-np.inf if each.centers is None else each.centers[0, 0] for each in released])


def excess(mechanism: NoisyCenters | TupleAverages, pair: Pair, draws: int) -> float:
    """By how much the ε that frequencies refute exceeds the claim."""
    here, there = (_found(mechanism, tuples, seed, draws) for seed, tuples in enumerate(pair, start=1))
    bounds = []
    for a, b in ((here, there), (there, here)):
        for sign in (1, -1):
            one, other = (np.nan_to_num(sign * x, neginf=-1e300, posinf=1e300) for x in (a, b))
            bounds.append(lower_bound(one, other, mechanism.delta))
    return max(bounds) - mechanism.epsilon


def audit_of_tuples(
    mechanism: NoisyCenters | TupleAverages, pair_of: Callable[[NoisyCenters | TupleAverages], Pair]
) -> Audit:
    """Of a mechanism between two tables of tuples, and of a twin with hardly any noise, which points do not show."""
    pair = pair_of(mechanism)

    def of_twin(draws: int) -> float:
        with thinner_noise(THINNED):
            return excess(mechanism, pair, draws)

    return Audit(lambda draws: excess(mechanism, pair, draws), None if pair_of is far_pair else of_twin)


def audit_of_rows() -> Audit:
    """Of noise on a single row, and of a quarter of it."""

    def of(times: float, draws: int) -> float:
        mechanism = LocalNoise(KNorm(2.0, 2.0 / times), 1)
        here, there = (
            np.array([mechanism.draw(TupleTable(row), StudyNoise(rng))[0, 0] for _ in range(draws)])
            for row, rng in zip(np.array([[[[1.0]]], [[[-1.0]]]]), map(np.random.default_rng, (1, 2)), strict=True)
        )
        return lower_bound(here, there, 0.0) - 1.0

    return Audit(lambda draws: of(1, draws), lambda draws: of(4, draws))


def audit_of_messages(group: int, epsilon: float) -> Audit:
    """Of messages of one seat, for a row on one rim and on the other; and of messages with twice the ε."""
    hashes = HashCodes(np.random.default_rng(0).normal(size=(3, 2)), np.zeros(3))
    far = np.array([[0.6, 0.8]])
    ends = [UserAnswers(hashes.assign(side), side) for side in (far, -far)]

    def reports(of: float) -> LocalReports:
        options: dict[str, Any] = {"bits": (2, 3, 3), "depth": 3, "middle": int(hashes.assign(np.zeros((1, 2)))[0])}
        options["groups"] = np.zeros(1, dtype=np.int64)
        made = LocalReports.calibrated(Budget(Accounting.PURE, of), Sensitivity(1.0, 1.0, 2.0), **options)
        return replace(made, groups=np.array([group]))

    def against(drawn: LocalReports, draws: int) -> float:
        claimed, noise, found = reports(epsilon), StudyNoise(np.random.default_rng(group)), []
        for own in ends:
            sent = [drawn.messages(own, noise) for _ in range(draws)]
            found.append(np.array([claimed.log_density(s, ends[0]) - claimed.log_density(s, ends[1]) for s in sent]))
        return lower_bound(found[0], found[1], 0.0) - epsilon

    return Audit(lambda draws: against(reports(epsilon), draws), lambda draws: against(reports(2 * epsilon), draws))
