"""Two releases compared: the gate, twice the noise, and that pairs of draws from the same rows hardly ever differ."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from statistics import NormalDist

import numpy as np
import pytest

from dpviz.algorithms.size_estimates import Sizes
from dpviz.core.check import RequestError
from dpviz.releases.two_releases import compare
from dpviz.runs.one_run import run
from dpviz.runs.open_table import declare
from dpviz.runs.profiles import ProfileColumn, make_profile
from dpviz.tables.named import sample
from tests.releases.test_conclusions import GOOD


def test_segments_are_paired_off_whatever_their_numbers() -> None:
    release_request = [2, 0, 1]
    other = replace(
        GOOD,
        centers=GOOD.centers[release_request],
        center_sd=GOOD.center_sd[release_request],
        sizes=GOOD.sizes.select(release_request),
    )
    found = compare(GOOD, other)
    assert found.partner.tolist() == [1, 2, 0] and found.passes and found.beyond == 0
    assert found.title == "Nothing differs beyond the noise" and not found.of_centers.any()
    assert found.table()["segments"].tolist() == ["1 ↔ 2", "2 ↔ 3", "3 ↔ 1"]
    assert found.comparisons == 12 and f"{found.limit:.1f} standard deviations" in found.words


@pytest.mark.parametrize(("times", "beyond"), [(1.0, 0), (1.9, 0), (2.1, 1)])
def test_a_difference_counts_beyond_twice_the_noise_of_both(times: float, beyond: int) -> None:
    alone = NormalDist().inv_cdf(1 - 0.05 / (2 * 12))  # one alarm in twenty by noise alone, of twelve comparisons
    centers = GOOD.centers.copy()
    centers[1, 0] += times * alone * np.sqrt(2) * GOOD.center_sd[1, 0]
    found = compare(GOOD, replace(GOOD, centers=centers))
    assert found.passes and found.beyond == beyond
    assert found.title == ("One number differs beyond the noise" if beyond else "Nothing differs beyond the noise")


def test_segments_that_do_not_pair_off_are_not_compared() -> None:
    centers = GOOD.centers.copy()
    centers[0] += 0.3 * GOOD.gaps[0] * GOOD.scale / np.sqrt(3)
    few = Sizes(np.array([900.0, 500.0, 20.0]), np.full(3, 9.0))
    for other in (replace(GOOD, centers=centers), replace(GOOD, sizes=few)):
        found = compare(GOOD, other)
        assert not found.passes and found.beyond == 0 and not len(found.table())
        assert found.title == "These two releases cut the rows into other segments"
        assert "Two draws from the same rows do that, too" in found.words


def test_what_cannot_be_laid_side_by_side_is_refused() -> None:
    other_bounds = (ProfileColumn("age", 0.0, 90.0, "years"), *GOOD.columns[1:])
    fewer = replace(GOOD, centers=GOOD.centers[:2], center_sd=GOOD.center_sd[:2], sizes=None)
    for other in (replace(GOOD, columns=other_bounds), fewer):
        with pytest.raises(RequestError, match="other columns, bounds or another k"):
            compare(GOOD, other)
    with pytest.raises(RequestError, match="is not known"):
        compare(GOOD, replace(GOOD, center_sd=np.full((3, 3), np.nan)))


@pytest.mark.slow
def test_draws_from_the_same_rows_hardly_ever_differ() -> None:
    """Noise alone, at the ledger's sd, would call more than a tenth of these pairs different."""
    loaded = sample("people").load()
    table = declare(loaded.table, loaded.declaration).private
    pairs = wrong = naive = 0
    for k in (4, 5):
        drawn = [make_profile(run("auto", table, k=k, epsilon=1.0, delta=1e-6, seed=seed)) for seed in range(8)]
        for one, other in combinations(drawn, 2):
            found = compare(one, other)
            pairs, wrong = pairs + 1, wrong + bool(found.beyond)
            naive += bool((np.abs(found.of_centers) > found.limit / 2).any())
    assert wrong <= 0.05 * pairs < 0.1 * pairs < naive, (wrong, naive, pairs)
