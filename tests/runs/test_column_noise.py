"""The noise that a declaration announces for each column is the noise of a round of DPLloyd on rows like these."""

import numpy as np
import pytest

from dpviz.core.check import RequestError
from dpviz.core.domain import Domain
from dpviz.core.private_session import PrivateTable
from dpviz.runs.advice.judgement import ASSUMED_ROWS, compute_column_noise, count_cluster_rows
from dpviz.runs.one_run import run

K, N = 4, 4_000


def test_centres_of_many_draws_spread_as_announced() -> None:
    domain = Domain.of(["age", "income"], [0, 0], [100, 2e5])
    table = PrivateTable(np.full((N, 2), [60.0, 1e5]), domain, n_public=N)
    once = {"preset": "su", "rounds": 1}
    runs = (run("dplloyd", table, k=1, epsilon=0.5, seed=seed, params=once) for seed in range(300))
    centers = np.array([one.centers for one in runs])
    announced = compute_column_noise(domain, rows=N, epsilon=0.5)
    np.testing.assert_allclose(centers[:, 0].std(axis=0), announced, rtol=0.2)


def test_wide_bounds_little_epsilon_and_few_rows_cost() -> None:
    narrow, wide = (Domain.of(["x", "y"], 0, [high, 1]) for high in (10, 20))
    usual = compute_column_noise(narrow, rows=100, epsilon=1.0)
    np.testing.assert_allclose(compute_column_noise(wide, rows=100, epsilon=1.0), usual * [2, 1])
    np.testing.assert_allclose(compute_column_noise(narrow, rows=50, epsilon=0.5, rows_per_person=3), usual * 12)
    np.testing.assert_allclose(compute_column_noise(narrow, rows=100, epsilon=1.0, relation="replace"), usual * 2)


def test_a_private_number_of_rows_is_replaced_by_an_assumed_one() -> None:
    assert count_cluster_rows(None, 7) == ASSUMED_ROWS and count_cluster_rows(700, 7) == 100
    with pytest.raises(RequestError):
        compute_column_noise(Domain.of(["x"], 0, 1), rows=0, epsilon=1.0)
