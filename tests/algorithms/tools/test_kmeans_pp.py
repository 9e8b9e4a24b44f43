"""k-means++: seeds are drawn as the paper says, and what saves time changes none of them."""

import numpy as np
import pytest
from scipy import stats

from dpviz.algorithms.tools import solvers
from dpviz.algorithms.tools.solvers import draw_kmeans_pp_seeds, draw_many_kmeans_pp_seeds
from tests.cases import for_each


def scatter(dim: int, m: int = 700) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(dim)
    return rng.uniform(-1, 1, (m, dim)), rng.exponential(1.0, m)


@for_each("dim", [1, 2, 3])
@for_each("in_order", [True, False])
def test_seeds_of_short_lists_are_those_of_all_distances(dim, in_order, monkeypatch):
    points, weights = scatter(dim)
    points = np.round(points, 1)  # many lie alike, and many distances are equal
    points = points[np.lexsort(points.T[::-1])] if in_order else points
    find_near, lists, drawn = solvers._SeedField._find_near, [], []
    with monkeypatch.context() as patched:
        patched.setattr(solvers, "_SHORT", 1)
        patched.setattr(solvers._SeedField, "_find_near", lambda *all_: lists.append(find_near(*all_)) or lists[-1])
        for worth in (0, 2**62):
            patched.setattr(solvers, "_WORTH_A_LIST", worth)
            drawn.append(draw_kmeans_pp_seeds(points, weights, 60 if dim > 1 else 15, np.random.default_rng(0)))
            assert any(lists) == (worth == 0)
            lists.clear()
    np.testing.assert_array_equal(*drawn)


def draw_both(points: np.ndarray, weights: np.ndarray, k: int, starts: int = 4) -> list[np.ndarray]:
    """The seeds of starts side by side and one by one, and the next coin."""
    both = []
    for some in (starts, 1):
        rng = np.random.default_rng(k)
        seeds = [one for _ in range(starts // some) for one in draw_many_kmeans_pp_seeds(points, weights, k, some, rng)]
        both.append(np.concatenate([*seeds, rng.random(1)]))
    return both


@for_each("dim", [1, 2, 3])
@for_each("m", [520, 700])
def test_seeds_side_by_side_are_those_of_one_start_after_the_other(dim, m, monkeypatch):
    monkeypatch.setattr(solvers, "_SEED_LEAF", 8)
    take, measured = solvers._SideBySide._take_best_of_one, []
    monkeypatch.setattr(solvers._SideBySide, "_take_best_of_one", lambda *a: measured.append(1) or take(*a))
    points, weights = scatter(dim, m)
    weights[::7] = -1.0
    np.testing.assert_array_equal(*draw_both(points, weights, 80, starts=3))
    assert len(measured) < 3 * 80 / 2, "nothing was saved"


@for_each("dim", [1, 2])
def test_what_rounding_would_decide_is_added_up_in_the_order_of_one_start(dim, monkeypatch):
    """Mirrored points weigh the same: many proposals save the same, in one order of sums or another a bit more."""
    monkeypatch.setattr(solvers, "_SEED_LEAF", 8)
    monkeypatch.setattr(solvers, "_MANY_BOXES", 2.0)
    points, _ = scatter(dim, 90)
    points = np.concatenate([points, points * np.r_[-1, [1] * (dim - 1)], points[:3] + 1])
    np.testing.assert_array_equal(*draw_both(points, np.full(len(points), 0.1), 70, starts=12))


def test_coins_on_the_border_of_two_points_draw_the_one_that_a_single_start_draws():
    points, _ = scatter(2, 300)
    beside = solvers._SideBySide(points, np.ones(300), 64, 2)
    beside._mass = np.zeros((2, 320))
    beside._mass[:, :300] = [np.full(300, 0.1), np.where(np.arange(300) % 5, 0.1, 0.0)]
    cumulative = np.cumsum(beside._mass[:, :300], axis=1)
    borders = np.minimum(cumulative / cumulative[:, -1:], 1 - 2.0**-53)
    coins = np.concatenate([borders, np.random.default_rng(0).random((2, 300)), np.zeros((2, 1))], axis=1)
    sums = np.cumsum(beside._mass.reshape(2, 5, 64).sum(axis=2), axis=1)
    alone = [solvers._find_drawn(one, some) for one, some in zip(cumulative, coins, strict=True)]
    np.testing.assert_array_equal(beside._draw_proposals(sums, coins), alone)


def test_starts_side_by_side_use_the_coins_of_one_start_where_points_run_out():
    points = np.repeat(np.arange(50.0), 3)[:, None]
    np.testing.assert_array_equal(*draw_both(points, np.ones(150), 64))
    np.testing.assert_array_equal(*draw_both(points, np.zeros(150), 64))


@pytest.mark.slow
def test_a_seed_is_drawn_by_its_weight_and_its_squared_distance():
    points = np.array([[0.0], [1.0], [3.0]])
    weights = np.array([1.0, 2.0, -5.0])
    rng = np.random.default_rng(0)
    first = np.bincount([draw_kmeans_pp_seeds(points, weights, 1, rng)[0] for _ in range(3000)], minlength=3)
    assert first[2] == 0, "a negative weight counts as nothing"
    assert stats.chisquare(first[:2], [1000, 2000]).pvalue > 1e-4
    # Once 0 is taken, 1 and 3 have mass 2 · 1 and 1 · 9; the better of two proposals is 3 unless both are 1.
    seconds = []
    while len(seconds) < 3000:
        one, other = draw_kmeans_pp_seeds(points, np.array([1.0, 2.0, 1.0]), 2, rng)
        seconds += [other] if one == 0 else []
    assert stats.binomtest(seconds.count(1), 3000, (2 / 11) ** 2).pvalue > 1e-4
