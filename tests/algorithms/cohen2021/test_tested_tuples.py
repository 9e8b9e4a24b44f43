"""Algorithms on tuples on a table that is easy for them, and on one that is not."""

import numpy as np
import pytest

from dpviz.algorithms.cohen2021.tested_tuples import MixtureStep, TupleTestStep, halve_budget
from dpviz.core.accounting import Accounting, Budget
from dpviz.core.domain import Domain
from dpviz.core.private_session import PrivateTable
from dpviz.runs.one_run import run
from tests.cases import for_each

# Half as many rows as the sample of two towns, at δ = 1e-5: as cheap as it gets.
MIDDLES, SD, ROWS = np.array([[-0.65, -0.35], [0.7, 0.42]]), 5e-4, 120_000
REQUEST = {"k": 2, "epsilon": 1.0, "delta": 8e-6}


def _table(values, **declared):
    return PrivateTable(values, Domain.of(["x", "y"], -1.0, 1.0), n_public=len(values), **declared)


@pytest.fixture(scope="module")
def easy():
    rng = np.random.default_rng(0)
    return _table(MIDDLES[(rng.random(ROWS) < 0.4).astype(int)] + SD * rng.standard_normal((ROWS, 2)))


@pytest.fixture(scope="module")
def hard():
    return _table(np.random.default_rng(0).uniform(-1, 1, (ROWS, 2)))


def _test_of(done) -> TupleTestStep:
    (step,) = [frame.step for frame in done.frames if isinstance(frame.step, TupleTestStep)]
    return step


def _first_that_passed(algorithm, table, **request):
    """On rows that are easy the test of tuples fails by chance, but not three times in a row."""
    answers = (run(algorithm, table, **request, seed=seed) for seed in range(3))
    return next(done for done in answers if _test_of(done).passed)


@pytest.mark.some(1)
@pytest.mark.parametrize(("algorithm", "near"), [("k-noisy-centers", 0.6), ("stable-kmeans", 0.02)])
def test_far_clusters_are_found(easy, algorithm, near):
    done = _first_that_passed(algorithm, easy, **REQUEST)
    centers = done.centers[np.argsort(done.centers[:, 0])]
    assert np.abs(centers - MIDDLES).max() < near and done.spent_fraction >= 0.99


def test_a_mixture_is_measured(easy):
    done = _first_that_passed("gaussian-mixture", easy, **REQUEST)
    (mixture,) = [frame.step for frame in done.frames if isinstance(frame.step, MixtureStep)]
    order = np.argsort(mixture.centers[:, 0])
    np.testing.assert_allclose(mixture.weights[order], [0.6, 0.4], atol=0.01)
    np.testing.assert_allclose(mixture.centers[order], MIDDLES, atol=2e-4)
    sd = np.sqrt(np.diagonal(mixture.covariances, axis1=1, axis2=2))
    np.testing.assert_allclose(sd, SD, rtol=0.25)
    assert mixture.clip_radius == pytest.approx(0.001 * (np.sqrt(2) + np.sqrt(2 * np.log(ROWS))))


@pytest.mark.some(1)
@pytest.mark.parametrize("algorithm", ["k-noisy-centers", "stable-kmeans", "gaussian-mixture"])
def test_rows_without_far_clusters_are_answered_bottom_and_paid_for(hard, algorithm):
    done = run(algorithm, hard, **REQUEST, seed=1)
    step = _test_of(done)
    assert not step.passed and step.centers is None and step.number == step.needed
    assert step.title.startswith("⊥") and done.spent_fraction >= 0.99
    assert "⊥" in done.frames[2].step.title
    if algorithm == "k-noisy-centers":
        np.testing.assert_array_equal(done.unit_centers, step.anchors)


@for_each("epsilon", [0.3, 1.0, 2.0, 40.0])
@for_each("part", [0.5, 1.0])
def test_halves_are_the_whole_and_the_test_gets_at_most_one(epsilon, part):
    tuples, means = halve_budget(Budget(Accounting.BASIC, epsilon, 1e-6), part)
    assert tuples.amount <= 1 and tuples.amount == pytest.approx(min(part * epsilon, 1))
    rest = (means.amount, means.delta) if means is not None else (0.0, 0.0)
    assert 0.999 * epsilon < tuples.amount + rest[0] <= epsilon and 0.999e-6 < tuples.delta + rest[1] <= 1e-6
    assert (means is None) == (part == 1.0 and epsilon <= 1)
