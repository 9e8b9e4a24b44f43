"""Alg. 4: the private tree, candidate centres, private swaps, and the whole of it."""

from itertools import chain, combinations

import numpy as np
import pytest

from dpviz.algorithms.balcan2017.balcan import (
    Candidates,
    TreeStep,
    compute_log_prior,
    count_useful_swaps,
    grow_private_partition,
    local_swap,
)
from dpviz.algorithms.balcan2017.projection import Projection
from dpviz.algorithms.steps import CentersStep
from dpviz.core.accounting import Accounting
from dpviz.core.losses import SwapLoss, compute_swap_gains
from dpviz.core.partitions import CubeTree, Voronoi
from dpviz.core.private_session import PrivateSession
from dpviz.runs.one_run import run
from tests.algorithms.fifteen import ratios
from tests.cases import for_each
from tests.contract.sessions import open_seeded
from tests.contract.tables import make_blobs, make_small_table
from tests.core.asked import asked
from tests.sequential import usually


@pytest.mark.some(1)
@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_fifteen_clusters_at_epsilon_two(delta):
    assert usually(ratio < 2.0 for ratio in ratios("balcan", epsilon=2.0, delta=delta))


def open_session(values, *, epsilon=1.0, delta=0.0, kind=None, n=100, radius=None) -> PrivateSession:
    accounting = Accounting.ZCDP if delta else Accounting.PURE
    table = make_small_table(values, n_public=n, radius=radius)
    return open_seeded(table, accounting, epsilon=epsilon, delta=delta, kind=kind)


def plain_loss(rows: np.ndarray, weights: np.ndarray, centers: np.ndarray, order: int = 2) -> float:
    return sum(w * min(np.linalg.norm(x - c) ** order for c in centers) for x, w in zip(rows, weights, strict=True))


def plain_gains(
    rows: np.ndarray, weights: np.ndarray, centers: np.ndarray, candidates: np.ndarray, order: int = 2
) -> np.ndarray:
    """Change of the loss for every swap, each computed from scratch."""
    gains = np.empty((len(centers), len(candidates)))
    for i in range(len(centers)):
        for y, candidate in enumerate(candidates):
            swapped = centers.copy()
            swapped[i] = candidate
            gains[i, y] = plain_loss(rows, weights, swapped, order) - plain_loss(rows, weights, centers, order)
    return gains


@for_each("k", [1, 2, 4])
@for_each("dim", [1, 3])
@for_each("order", [1, 2])
def test_all_gains_at_once_are_those_of_the_plain_loop(k, dim, order):
    rng = np.random.default_rng(k)
    rows, candidates = make_blobs(60, dim), rng.uniform(-1, 1, (7, dim))
    centers = candidates[:k]
    cells = Voronoi(centers).assign(rows)
    weights = rng.exponential(size=60)
    ones = plain_gains(rows, np.ones(60), centers, candidates, order)
    np.testing.assert_allclose(asked(SwapLoss(centers, candidates, order), rows), ones, atol=60 * 2.0**-15)
    # The root of a squared distance that vanishes is known to half the digits only.
    close = {"atol": 1e-9 if order == 2 else 1e-6}
    weighted = plain_gains(rows, weights, centers, candidates, order)
    found = compute_swap_gains(rows, weights, cells, centers, candidates, order=order)
    np.testing.assert_allclose(found, weighted, **close)
    nothing = compute_swap_gains(rows[:0], weights[:0], cells[:0], centers, candidates)
    np.testing.assert_array_equal(nothing, np.zeros((k, 7)))


@pytest.mark.some(1)
@pytest.mark.parametrize("keep", [0.0, 0.99])
def test_without_noise_it_is_greedy_local_search(keep):
    rng = np.random.default_rng(3)
    rows, candidates, k = make_blobs(80, 2, k=4), rng.uniform(-1, 1, (9, 2)), 4
    held = np.arange(k)
    view = Projection(open_session(rows, epsilon=1e9, n=400), None)
    losses = [plain_loss(rows, np.ones(80), candidates[held])]
    for step in local_swap(view, candidates, held, view.session.budget, 5, keep=keep, choose_iterate=False):
        gains = plain_gains(rows, np.ones(80), candidates[held], candidates)
        gains[:, held] = np.inf
        removed, added = divmod(int(gains.argmin()), 9)
        if keep and gains[removed, added] > 0:
            np.testing.assert_array_equal(step.centers, step.previous)
            assert (step.candidates[step.added] == step.previous[step.removed]).all()
            assert "the centres stay" in step.title
        else:
            held = np.where(np.arange(k) == removed, added, held)
            assert (step.removed, step.added) == (removed, added)
        np.testing.assert_array_equal(step.centers, candidates[held])
        losses.append(plain_loss(rows, np.ones(80), step.centers))
    if keep:
        assert (np.diff(losses) <= 1e-9).all() and losses[-1] == losses[-2]


def test_the_choice_among_iterates_takes_the_best_and_pays_as_much_as_a_swap():
    # Swaps without a way to stay must leave the best centres: the last choice goes back to them.
    rows = np.repeat(np.array([[-0.8, 0.0], [0.8, 0.0]]), 50, axis=0)
    candidates = np.array([[-0.8, 0.0], [0.8, 0.0], [0.0, 0.9]])
    view = Projection(open_session(rows, epsilon=1e9, n=400), None)
    *swaps, last = local_swap(view, candidates, np.array([0, 2]), view.session.budget, 2, keep=0.0, choose_iterate=True)
    assert {tuple(center) for center in last.centers} == {(-0.8, 0.0), (0.8, 0.0)}
    assert "after swap 1" in last.title and [step.of_iterates for step in (*swaps, last)] == [False, False, True]
    amounts = [entry.amount for entry in view.session.ledger.entries]
    assert len(amounts) == 3
    np.testing.assert_allclose(amounts, view.session.budget.amount / 3)


def test_the_prior_is_a_law_over_swaps_with_outsiders_and_over_staying():
    held = np.array([4, 1])
    for keep in (0.0, 0.7):
        prior = np.exp(compute_log_prior(held, 5, keep))
        assert prior.sum() == pytest.approx(1.0) and prior[[0, 1], held].sum() == pytest.approx(keep)
        assert prior[0, 1] == prior[1, 4] == 0
        np.testing.assert_allclose(prior[:, [0, 2, 3]], (1 - keep) / 6)


def test_more_rows_feed_more_swaps_and_more_polishing():
    def count(n, k):
        view = Projection(open_session(make_blobs(), n=n), None)
        return count_useful_swaps(view, k, 100, view.session.budget)

    assert count(10, 30) == 3 < count(4 * 10**5, 30) < count(10**9, 30) == 20 and count(400, 2) == 2
    few, many = (run("balcan", make_small_table(n_public=n), k=3, epsilon=1.0, seed=0) for n in (10, 10**6))
    assert [sum(isinstance(frame.step, CentersStep) for frame in one.frames) for one in (few, many)] == [2, 4]
    (origin,) = {tuple(step.tree.origin) for step in many.steps if isinstance(step, TreeStep)}
    assert origin[0] != origin[1] and min(origin) >= -3 and max(origin) <= -1, "a shift along each axis, and all inside"


def grow(
    session: PrivateSession, depth: int, *, empty_rate: float, root: CubeTree | None = None, **more
) -> list[TreeStep]:
    root = root or CubeTree(origin=np.full(session.dim, -1.5), side=3.0)
    coins = np.random.default_rng(1)
    return list(
        grow_private_partition(
            Projection(session, None), session.budget, root, depth, coins, empty_rate=empty_rate, **more
        )
    )


def crowded_cubes(
    rows: np.ndarray, low: np.ndarray, edge: float, depth: int, threshold: float
) -> set[tuple[float, ...]]:
    """Middles of all cubes below a cube that hold more rows than the threshold, as a plain recursion."""
    if depth == 0:
        return set()
    found = set()
    for upper in np.ndindex(*(2,) * rows.shape[1]):
        corner = low + np.array(upper) * edge / 2
        inside = rows[((rows >= corner) & (rows < corner + edge / 2)).all(axis=1)]
        if len(inside) > threshold:
            found.add(tuple(np.round(corner + edge / 4, 9)))
            found |= crowded_cubes(inside, corner, edge / 2, depth - 1, threshold)
    return found


@for_each(("dim", "depth"), [(1, 6), (2, 5), (3, 4)])
@for_each("delta", [0.0, 1e-6])
def test_without_noise_it_is_the_tree_of_crowded_cubes(dim, depth, delta):
    rows = make_blobs(300, dim)
    steps = grow(open_session(rows, epsilon=1e4, delta=delta), depth, empty_rate=1e-300)
    threshold = steps[-1].threshold
    assert 0.01 < threshold - np.floor(threshold) < 0.99  # no count is near enough to it for noise to matter
    tree = steps[-1].tree
    grown = {tuple(np.round(c, 9)) for level in range(1, depth + 1) for c in tree.centers(level)}
    wanted = crowded_cubes(rows, np.full(dim, -1.5), 3.0, depth, threshold)
    assert grown == wanted and len(wanted) > depth


def subsets(size: int) -> list[tuple[int, ...]]:
    return list(chain.from_iterable(combinations(range(size), r) for r in range(size + 1)))


class Scripted(PrivateSession):
    """Plays releases that a test chose, and adds up how likely they were."""

    script: tuple[tuple[int, ...], ...] = ()

    def _draw(self, mechanism, truth):
        played = self.__dict__.setdefault("played", [])
        codes = np.array(self.script[len(played)], dtype=np.int64)
        played.append(mechanism.log_density(codes, truth))
        return codes


def log_probability(rows: np.ndarray, outcome: tuple[tuple[int, ...], ...], epsilon: float) -> float:
    session = open_session(rows, epsilon=epsilon, kind=type("Playing", (Scripted,), {"script": outcome}))
    grow(session, len(outcome), empty_rate=0.2, root=CubeTree(np.array([-1.0]), 2.0))
    return sum(session.__dict__["played"])


@for_each("epsilon", [0.5, 2.0])
def test_no_outcome_tells_an_empty_table_from_a_single_row_by_more_than_epsilon(epsilon):
    """Two levels on a line: which halves wake up, then which halves of those."""
    outcomes = [(first, second) for first in subsets(2) for second in subsets(2 * len(first))]
    tables = (np.empty((0, 1)), np.array([[0.3]]))
    here, there = np.array([[log_probability(rows, told, epsilon) for told in outcomes] for rows in tables])
    np.testing.assert_allclose([np.exp(here).sum(), np.exp(there).sum()], 1.0)
    # The budget is used, not wasted.
    assert 0.9 * epsilon <= np.abs(here - there).max() <= epsilon * (1 + 1e-9)


def test_thinning_keeps_the_finest_first():
    rng = np.random.default_rng(0)
    finest = rng.random(100) < 0.3
    all_of_them = Candidates(rng.normal(size=(100, 2)), np.arange(100), finest)
    few = all_of_them.thin(50, np.random.default_rng(1))
    assert len(few.points) == 50 and few.finest.sum() == finest.sum()
    np.testing.assert_array_equal(few.points, all_of_them.points[few.depths])
    assert all_of_them.thin(100, rng) is all_of_them
