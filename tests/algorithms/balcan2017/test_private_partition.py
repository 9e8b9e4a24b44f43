"""The private tree: its law on tiny universes, its noiseless twin, its threshold, and what it pays."""

from __future__ import annotations

from itertools import chain, combinations
from math import log

import numpy as np
import pytest

from dpviz.algorithms.balcan2017.balcan import TreeStep, compute_quiet_threshold, grow_private_partition
from dpviz.algorithms.balcan2017.projection import Projection
from dpviz.core.accounting import Accounting
from dpviz.core.mechanisms import Gaussian, Laplace
from dpviz.core.partitions import CubeTree
from dpviz.core.private_session import PrivateSession
from tests.cases import for_each
from tests.contract.sessions import open_seeded
from tests.contract.tables import make_blobs, make_small_table


def open_session(values, *, epsilon=1.0, delta=0.0, kind=None) -> PrivateSession:
    accounting = Accounting.ZCDP if delta else Accounting.PURE
    table = make_small_table(values, n_public=100)
    return open_seeded(table, accounting, epsilon=epsilon, delta=delta, kind=kind)


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
