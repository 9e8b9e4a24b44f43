"""Alg. 4: the private tree, candidate centres, private swaps, and the whole of it."""

from __future__ import annotations

from itertools import chain, combinations
from math import log

import numpy as np
import pytest

from dpviz.algorithms.balcan2017.balcan import (
    CARD,
    Candidates,
    CandidatesStep,
    SwapStep,
    TreeStep,
    compute_log_prior,
    compute_quiet_threshold,
    count_useful_swaps,
    grow_private_partition,
    grow_trees,
    list_candidates,
    local_swap,
)
from dpviz.algorithms.balcan2017.projection import Projection, draw_gaussian_frame, draw_orthonormal_frame, project
from dpviz.algorithms.steps import CentersStep
from dpviz.core.accounting import Accounting
from dpviz.core.domain import Region
from dpviz.core.losses import SwapLoss, compute_swap_gains
from dpviz.core.mechanisms import Gaussian, Laplace
from dpviz.core.partitions import CubeTree, Voronoi
from dpviz.core.private_session import PrivateSession
from dpviz.runs.one_run import Run, run
from tests.algorithms.fifteen import ratios
from tests.cases import for_each
from tests.contract.sessions import open_seeded
from tests.contract.tables import make_blobs, make_small_table
from tests.core.asked import asked
from tests.sequential import usually


def steps_of(made: Run, kind: type) -> list:
    return [frame.step for frame in made.frames if isinstance(frame.step, kind)]


def entries_of(made: Run, note: str) -> list:
    return [entry for entry in made.entries if entry.note.startswith(note)]


@for_each(
    ("dim", "n", "preset", "p"),
    [(6, 10**5, "practical", 6), (7, 10**5, "practical", 7), (100, 10**5, "practical", 8), (100, 1, "practical", 2),
     (5, 10**5, "paper", 5), (6, 10**5, "paper", 5), (100, 10**5, "paper", 5), (100, 2, "paper", 1)],
)  # fmt: skip
def test_dimensions_follow_the_rule(dim, n, preset, p):
    made = run(
        CARD, make_small_table(make_blobs(30, dim), n_public=n), k=1, epsilon=9, params={"preset": preset}, seed=0
    )
    step = steps_of(made, CandidatesStep)[0]
    assert step.candidates.shape[1] == p
    assert (step.frame is None) == (p == dim)


@for_each("frame_of", [draw_orthonormal_frame, draw_gaussian_frame])
def test_projections_keep_squared_norms_on_average(frame_of):
    rng = np.random.default_rng(0)
    x = np.r_[3.0, np.zeros(19)]
    squared = [((frame_of(5, 20, rng) @ x) ** 2).sum() for _ in range(2000)]
    assert np.mean(squared) == pytest.approx(9.0, rel=0.06)


def test_lifted_centres_project_back():
    session = open_seeded(make_small_table(make_blobs(10, 9)))
    view = project(session, draw_orthonormal_frame(3, 9, np.random.default_rng(1)))
    centers = np.random.default_rng(2).uniform(-0.3, 0.3, (4, 3))
    np.testing.assert_allclose(view.lift(centers, session.region) @ view.frame.T, centers, atol=1e-12)


def test_with_nothing_to_swap_the_means_get_the_share():
    # Four rows never reach a threshold: the root and sphere packing give exactly k candidates.
    table = make_small_table(np.zeros((4, 2)), n_public=5000)
    made = run(CARD, table, k=6, epsilon=0.2, seed=0)
    assert len(steps_of(made, CandidatesStep)[0].candidates) == 6
    assert not steps_of(made, SwapStep)
    start = steps_of(made, CentersStep)[0].previous
    np.testing.assert_array_equal(
        np.unique(start, axis=0), np.unique(steps_of(made, CandidatesStep)[0].candidates, axis=0)
    )
    means = sum(e.epsilon for name in ("recovery", "polishing") for e in entries_of(made, name))
    assert means == pytest.approx(0.2 * 0.7)


def test_more_rows_feed_more_polishing():
    def rounds(n: int, **params) -> int:
        return len(
            steps_of(run(CARD, make_small_table(n_public=n), k=3, epsilon=1.0, params=params, seed=0), CentersStep)
        )

    assert [rounds(10), rounds(10**6)] == [2, 4]
    assert rounds(10**6, polishing=0) == 1


def test_parameters_are_obeyed():
    asked = {"dimensions": 2, "shifts": 3, "levels": 4, "swaps": 5, "polishing": 1}
    made = run(CARD, make_small_table(make_blobs(500, 4), n_public=500), k=3, epsilon=50.0, params=asked, seed=0)
    assert [len(entries_of(made, name)) for name in ("tree 3", "tree 4", "swap", "polishing 1")] == [4, 0, 5, 2]
    assert steps_of(made, CandidatesStep)[0].candidates.shape[1] == 2
    assert not steps_of(run(CARD, make_small_table(), k=3, epsilon=50.0, params={"swaps": 0}, seed=0), SwapStep)


@pytest.mark.some(1)
@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_fifteen_clusters_at_epsilon_two(delta):
    assert usually(ratio < 2.0 for ratio in ratios("balcan", epsilon=2.0, delta=delta))


def open_session(values, *, epsilon=1.0, delta=0.0, kind=None, n=100, radius=None) -> PrivateSession:
    accounting = Accounting.ZCDP if delta else Accounting.PURE
    table = make_small_table(values, n_public=n, radius=radius)
    return open_seeded(table, accounting, epsilon=epsilon, delta=delta, kind=kind)


def trees_of(session: PrivateSession, shifts: int, depth: int, *, empty_rate=1e-3, seed=0) -> list[CubeTree]:
    last: dict[int, CubeTree] = {}
    coins = np.random.default_rng(seed)
    for step in grow_trees(Projection(session, None), session.budget, shifts, depth, coins, empty_rate=empty_rate):
        last[step.shift] = step.tree
    return list(last.values())


@for_each("radius", [None, 0.5])
def test_the_shifted_root_contains_the_whole_region(radius):
    session = open_session(make_blobs(), radius=radius)
    for seed in range(50):
        (tree,) = trees_of(session.project(np.eye(2), session.region), 1, depth=1, seed=seed)
        reach = np.minimum(session.region.half, session.region.radius)
        assert (tree.origin <= -reach).all()
        assert (tree.origin + tree.side >= reach).all()
        session.ledger.entries.clear()


def test_candidates_are_the_middles_of_all_cubes_inside_the_region():
    session = open_session(make_blobs(dim=3), epsilon=60.0, radius=1.0)
    trees = trees_of(session, 2, depth=4)
    found = list_candidates(trees, 2, session.region, np.random.default_rng(0))
    cubes = np.concatenate([tree.centers(level) for tree in trees for level in range(5)])
    assert len(found.points) == len(np.unique(session.region.clip(cubes), axis=0)) > 20
    np.testing.assert_array_equal(session.region.clip(found.points), found.points)
    assert len(np.unique(found.points, axis=0)) == len(found.points)
    assert set(found.depths) == set(range(5))


def test_the_finest_cubes_are_those_without_an_active_child():
    tree = CubeTree(np.array([-2.0]), 4.0, (np.array([0, 1]), np.array([2]), np.array([0, 1])))
    found = list_candidates([tree], 1, Region.ball(1, 2.0), np.random.default_rng(0))
    np.testing.assert_allclose(found.points.ravel(), [0, -1, 1, 0.5, 0.25, 0.75])
    np.testing.assert_array_equal(found.depths, [0, 1, 1, 2, 3, 3])
    np.testing.assert_array_equal(found.finest, [False, True, False, False, True, True])


@for_each("k", [1, 2, 9])
def test_too_few_candidates_are_filled_up_without_data(k):
    root_only = CubeTree(np.full(2, -1.8), 4.0)
    found = list_candidates([root_only], k, Region.ball(2, 1.0), np.random.default_rng(0))
    assert len(found.points) == k
    np.testing.assert_array_equal(found.depths, [0] + [-1] * (k - 1))
    assert (np.linalg.norm(found.points, axis=1) <= 1).all()


def test_thinning_keeps_the_finest_first():
    rng = np.random.default_rng(0)
    finest = rng.random(100) < 0.3
    all_of_them = Candidates(rng.normal(size=(100, 2)), np.arange(100), finest)
    few = all_of_them.thin(50, np.random.default_rng(1))
    assert len(few.points) == 50
    assert few.finest.sum() == finest.sum()
    np.testing.assert_array_equal(few.points, all_of_them.points[few.depths])
    assert all_of_them.thin(100, rng) is all_of_them


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
        assert (np.diff(losses) <= 1e-9).all()
        assert losses[-1] == losses[-2]


def test_the_choice_among_iterates_takes_the_best_and_pays_as_much_as_a_swap():
    # Swaps without a way to stay must leave the best centres: the last choice goes back to them.
    rows = np.repeat(np.array([[-0.8, 0.0], [0.8, 0.0]]), 50, axis=0)
    candidates = np.array([[-0.8, 0.0], [0.8, 0.0], [0.0, 0.9]])
    view = Projection(open_session(rows, epsilon=1e9, n=400), None)
    *_, last = local_swap(view, candidates, np.array([0, 2]), view.session.budget, 2, keep=0.0, choose_iterate=True)
    assert {tuple(center) for center in last.centers} == {(-0.8, 0.0), (0.8, 0.0)}
    assert "after swap 1" in last.title
    amounts = [entry.amount for entry in view.session.ledger.entries]
    assert len(amounts) == 3
    np.testing.assert_allclose(amounts, view.session.budget.amount / 3)


def test_the_prior_is_a_law_over_swaps_with_outsiders_and_over_staying():
    held = np.array([4, 1])
    for keep in (0.0, 0.7):
        prior = np.exp(compute_log_prior(held, 5, keep))
        assert prior.sum() == pytest.approx(1.0)
        assert prior[[0, 1], held].sum() == pytest.approx(keep)
        assert prior[0, 1] == prior[1, 4] == 0
        np.testing.assert_allclose(prior[:, [0, 2, 3]], (1 - keep) / 6)


def test_more_rows_feed_more_swaps():
    def count(n, k):
        session = open_session(make_blobs(), n=n)
        return count_useful_swaps(Projection(session, None), k, 100, session.budget)

    assert count(10, 30) == 3 < count(4 * 10**5, 30) < count(10**9, 30) == 20
    assert count(400, 2) == 2


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
    assert grown == wanted
    assert len(wanted) > depth


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
    kind = type("Playing", (Scripted,), {"script": outcome})
    session = open_session(rows, epsilon=epsilon, kind=kind)
    grow(session, len(outcome), empty_rate=0.2, root=CubeTree(np.array([-1.0]), 2.0))
    return sum(session.__dict__["played"])


# Two levels on a line: which halves wake up, then which halves of those.
OUTCOMES = [(first, second) for first in subsets(2) for second in subsets(2 * len(first))]


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_no_outcome_tells_an_empty_table_from_a_single_row_by_more_than_epsilon(epsilon):
    empty, single = np.empty((0, 1)), np.array([[0.3]])
    here = np.array([log_probability(empty, outcome, epsilon) for outcome in OUTCOMES])
    there = np.array([log_probability(single, outcome, epsilon) for outcome in OUTCOMES])
    assert np.exp(here).sum() == pytest.approx(1.0)
    assert np.exp(there).sum() == pytest.approx(1.0)
    ratio = np.abs(here - there).max()
    assert ratio <= epsilon * (1 + 1e-9)
    assert ratio >= 0.9 * epsilon  # the budget is used, not wasted


def test_codes_are_sorted_so_that_spurious_cubes_do_not_show():
    steps = grow(open_session(make_blobs(200, 3), epsilon=50.0), 4, empty_rate=0.2)
    assert sum(len(codes) for codes in steps[-1].tree.levels) > 100
    for codes in steps[-1].tree.levels:
        assert (np.diff(codes) > 0).all()


@for_each("p", [1, 8, 30])
@for_each("tau", [0.01, 0.2])
def test_the_threshold_keeps_spurious_children_below_tau(p, tau):
    laplace = compute_quiet_threshold(Laplace(1.0, 7.0), tau / 2**p)
    assert laplace == pytest.approx(7 * (p * log(2) + log(1 / (2 * tau))))
    for noise, threshold in (
        (Laplace(1.0, 7.0), laplace),
        (Gaussian(1.0, 7.0), compute_quiet_threshold(Gaussian(1.0, 7.0), tau / 2**p)),
    ):
        assert 2**p * np.exp(noise.log_above(np.array([threshold])))[0] == pytest.approx(tau)


def test_a_level_that_overflows_keeps_a_random_part_and_grows_on():
    steps = grow(open_session(make_blobs(400, 2), epsilon=1e4), 6, empty_rate=1e-6, most_cubes=40)
    tree = steps[-1].tree
    assert 1 + sum(len(codes) for codes in tree.levels) <= 40
    assert all((np.diff(codes) > 0).all() for codes in tree.levels)
