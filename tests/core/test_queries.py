"""Answers against naive loops. That they add up over chunks, whatever is asked, is in contract/test_invariance."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpviz.core import losses
from dpviz.core.domain import Region
from dpviz.core.losses import Loss, SwapLoss
from dpviz.core.partitions import Everything, Voronoi
from dpviz.core.private_session import Tallies
from dpviz.core.queries import ChosenSum, Count, Relation, Sum
from dpviz.core.rows import Rows
from tests.core.asked import asked

SEEDS = st.integers(0, 2**32 - 1)


@pytest.mark.parametrize("dim", [1, 3])
def test_counts_found_beside_sums_are_those_of_counts_alone(dim):
    rng = np.random.default_rng(dim)
    rows = Rows.of(rng.uniform(-1, 1, (500, dim)), Region(np.ones(dim), float(np.sqrt(dim))), block_numbers=1)
    here, elsewhere = (Voronoi(rng.uniform(-1, 1, (k, dim))) for k in (7, 4))
    queries = (Count(here), Sum(here), Count(elsewhere), Sum(elsewhere), Count(here))
    together = rows.total(Tallies(queries), 7)
    for query, answer in zip(queries, together, strict=True):
        alone = rows.total(Tallies((query,)), 7)[0]
        assert answer.dtype == alone.dtype
        np.testing.assert_array_equal(answer, alone)


def _loss(rows, centers):
    return sum(min(((row - center) ** 2).sum() for center in centers) for row in rows)


@given(seed=SEEDS)
def test_swap_losses_are_losses_of_swapped_centres(seed):
    rng = np.random.default_rng(seed)
    dim, k, m = int(rng.integers(1, 4)), int(rng.integers(1, 5)), int(rng.integers(1, 5))
    rows, centers = rng.uniform(-1, 1, (int(rng.integers(0, 30)), dim)), rng.uniform(-1, 1, (k, dim))
    candidates = np.r_[rng.uniform(-1, 1, (m, dim)), centers[:1]]
    if k > 1 and rng.random() < 0.5:
        centers[1] = centers[0]
    expected = np.empty((k, m + 1))
    for i in range(k):
        for y in range(m + 1):
            swapped = centers.copy()
            swapped[i] = candidates[y]
            expected[i, y] = _loss(rows, swapped) - _loss(rows, centers)
    found = asked(SwapLoss(centers, candidates), rows)
    np.testing.assert_allclose(found, expected, atol=1e-4 * (len(rows) + 1))


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("k", [1, 4])
def test_candidates_that_are_left_out_save_nothing(order, k, monkeypatch):
    rng = np.random.default_rng(order)
    middles, compared, list_blocks = rng.uniform(-2, 2, (12, 2)), [], losses._list_blocks

    def watch(*given):
        for mine, within in list_blocks(*given):
            compared.append((mine.stop - mine.start) * within)
            yield mine, within

    rows = middles[rng.integers(0, 12, 900)] + rng.normal(0, 0.1, (900, 2))
    rows[:20] = rng.uniform(-4, 4, (20, 2))
    query = SwapLoss(middles[:k] + 0.05, np.r_[middles, rng.uniform(-4, 4, (60, 2))], order)
    monkeypatch.setattr(losses, "_list_blocks", watch)
    found = asked(query, rows)
    np.testing.assert_array_equal(asked(query, rows, block_numbers=1), found)
    few = sum(compared) / 2
    monkeypatch.setattr(losses, "_ROUNDED_UP", np.inf)
    compared.clear()
    np.testing.assert_array_equal(asked(query, rows), found)
    assert sum(compared) == 900 * 72
    assert k == 1 or few < 0.8 * sum(compared), "nothing was left out"


@given(seed=SEEDS)
def test_losses(seed):
    rng = np.random.default_rng(seed)
    sets, rows = rng.uniform(-1, 1, (3, 2, 2)), rng.uniform(-1, 1, (25, 2))
    expected = [_loss(rows, centers) for centers in sets]
    np.testing.assert_allclose(asked(Loss(sets), rows), expected, rtol=1e-4)


def test_a_row_moves_chosen_coordinates_by_its_few_entries():
    query, region = ChosenSum(Everything(), np.array([[0, 4, 7]])), Region(np.full(9, 0.5), 1.5)
    for relation in Relation:
        declared = query.sensitivity(relation, region)
        assert (declared.l1, declared.l2) == (3 * 0.5 * relation.rows, np.sqrt(3) * 0.5 * relation.rows)
