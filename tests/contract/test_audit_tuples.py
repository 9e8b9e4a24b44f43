"""A lower bound on ε of mechanisms on tuples, from frequencies on neighbouring tables; they have no densities to weigh.

Looked at: the status, and a projection of a released point. The bound has little power on the points, which rest on
one tuple in a thousand: their noise is checked part by part elsewhere.
"""

from __future__ import annotations

import numpy as np
import pytest

from dpviz.privacy.local_model import LocalNoise
from dpviz.privacy.mechanisms import KNorm
from dpviz.privacy.noise import StudyNoise
from dpviz.privacy.tuples.center_noise import NoisyCenters
from dpviz.privacy.tuples.tuple_averages import TupleAverages
from dpviz.privacy.tuples.tuples import TupleTable
from tests.contract.test_audit import lower_bound
from tests.privacy.tuple_checks import CHEAP, tight_tuples

RUNS = 6000
MECHANISMS = {
    "noisy centres": NoisyCenters(**CHEAP, far=1400.0),
    "noisy centres, printed": NoisyCenters(**CHEAP | {"number": 700}, far=1400.0, printed=True),
    "noisy centres, balls as near as allowed": NoisyCenters(**CHEAP, far=7.0),
    "averages": TupleAverages(**CHEAP, dim=1, finest=1e-3, bound=1.0, printed=True),
}
ALONE = TupleAverages(**CHEAP | {"k": 1, "number": 40}, dim=1, finest=0.05, bound=1.0, printed=True)


def _misfit_pair(number):
    """Tables one of whose tuples more does not fit, near the limit of the test."""
    one = tight_tuples(number, dim=1, misfits=110)
    other = one.copy()
    other[number - 111, 0] = other[number - 111, 1]
    return one, other


def _far_pair(number):
    """Tables of equal tuples, one of which is pulled as far apart as fits."""
    one = tight_tuples(number, dim=1)
    other = one.copy()
    other[7] = other[7] * 1.0005
    return one, other


def _found(mechanism, tuples, seed, runs=RUNS):
    """Status and smallest point as one number: ⊥ lies below everything."""
    noise = StudyNoise(np.random.default_rng(seed))
    released = [mechanism.draw(TupleTable(tuples), noise) for _ in range(runs)]
    return np.array([r.centers[0, 0] if r.centers is not None else -np.inf for r in released])


def _refuted(mechanism, pair, runs=RUNS):
    one, other = pair
    here, there = _found(mechanism, one, 1, runs), _found(mechanism, other, 2, runs)
    bounds = []
    for a, b in ((here, there), (there, here)):
        for sign in (1, -1):
            finite = [np.nan_to_num(sign * x, neginf=-1e300, posinf=1e300) for x in (a, b)]
            bounds.append(lower_bound(*finite, mechanism.delta))
    return max(bounds)


@pytest.mark.slow
@pytest.mark.parametrize("pair", [_misfit_pair, _far_pair], ids=["a misfit more", "a tuple farther apart"])
@pytest.mark.parametrize("name", MECHANISMS)
def test_frequencies_do_not_refute_the_claim(name, pair):
    mechanism = MECHANISMS[name]
    assert _refuted(mechanism, pair(mechanism.number)) <= mechanism.epsilon


@pytest.mark.slow
def test_an_average_without_a_test_is_not_refuted():
    tuples = np.full((40, 1, 1), 0.2)
    other = tuples.copy()
    other[0] = -0.9
    assert _refuted(ALONE, (tuples, other)) <= ALONE.epsilon


@pytest.mark.slow
@pytest.mark.parametrize("times", [1, 4])
def test_noise_on_a_row_is_not_refuted_but_a_quarter_of_it_is(times):
    mechanism = LocalNoise(KNorm(2.0, 2.0 / times), 1)
    here, there = (
        np.array([mechanism.draw(TupleTable(row), StudyNoise(rng))[0, 0] for _ in range(20_000)])
        for row, rng in zip(np.array([[[[1.0]]], [[[-1.0]]]]), map(np.random.default_rng, (1, 2)), strict=True)
    )
    assert (lower_bound(here, there, 0.0) <= 1.0) == (times == 1)


@pytest.mark.slow
def test_frequencies_refute_a_test_with_hardly_any_noise(monkeypatch):
    laplace = StudyNoise.laplace
    monkeypatch.setattr(StudyNoise, "laplace", lambda self, scale, shape: laplace(self, scale / 100, shape))
    mechanism = MECHANISMS["noisy centres"]
    limit = int(mechanism.test.misfit_limit)
    one = tight_tuples(mechanism.number, dim=1, misfits=limit)
    other = one.copy()
    other[mechanism.number - limit - 1, 0] = other[mechanism.number - limit - 1, 1]
    assert _refuted(mechanism, (one, other), 1500) > mechanism.epsilon


@pytest.mark.slow
def test_frequencies_refute_an_average_with_hardly_any_noise(monkeypatch):
    for name in ("laplace", "normal", "gumbel"):
        whole = getattr(StudyNoise, name)
        monkeypatch.setattr(StudyNoise, name, lambda self, scale, shape, whole=whole: whole(self, scale / 100, shape))
    tuples = np.full((40, 1, 1), 0.2)
    other = tuples.copy()
    other[0] = -0.9
    assert _refuted(ALONE, (tuples, other), 1500) > ALONE.epsilon
