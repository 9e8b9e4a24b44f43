"""Every algorithm at the floors and ceilings of a request: a result, or one sentence; never an overflow."""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

import numpy as np
import pytest

from dpviz.algorithms.registry import CARDS
from dpviz.core import check
from dpviz.core.check import RequestError
from dpviz.core.domain import Domain
from dpviz.core.private_session import PrivateTable
from dpviz.runs.one_run import run
from tests.cases import about, for_each

pytestmark = pytest.mark.slow

EPSILONS = (check.LEAST_EPSILON, 1.0, check.MOST_EPSILON)
DELTAS = (0.0, check.LEAST_DELTA, 0.9 / check.MOST_RECORDS)
CLUSTERS = (1, 30)
# Relation, most rows of a person, public number of rows.
TABLES = (
    ("add_remove", 1, None),
    ("add_remove", check.MOST_ROWS_PER_PERSON, None),
    ("add_remove", 1, 1),
    ("add_remove", 1, check.MOST_RECORDS),
    ("replace", 1, None),
)
SEEDS = (0, check.MOST_SEED)


class Corner(NamedTuple):
    """One request at the edge of what is allowed."""

    epsilon: float
    delta: float
    k: int
    table: tuple[str, int, int | None]
    seed: int


def pairwise() -> list[Corner]:
    """Few corners in which every two values of different settings meet: the one that meets most goes first."""
    every = [Corner(*values) for values in product(EPSILONS, DELTAS, CLUSTERS, TABLES, SEEDS)]

    def pairs(corner: Corner) -> set[tuple[int, int, object, object]]:
        return {(i, j, corner[i], corner[j]) for i in range(len(corner)) for j in range(i)}

    left = set().union(*map(pairs, every))
    chosen = []
    while left:
        best = max(every, key=lambda corner: len(pairs(corner) & left))
        chosen.append(best)
        left -= pairs(best)
    return chosen


CORNERS = pairwise()


def test_every_two_values_meet_in_some_corner():
    assert len(CORNERS) < 30
    for epsilon, table in product(EPSILONS, TABLES):
        assert any((corner.epsilon, corner.table) == (epsilon, table) for corner in CORNERS)


# Dealt: each algorithm has every fifth corner, beginning with another one than its neighbours.
DEALT = [(card_id, CORNERS[place % 5 :: 5]) for place, card_id in enumerate(CARDS)]


@pytest.mark.parametrize(("card_id", "corners"), DEALT, ids=CARDS)
def test_an_algorithm_serves_or_refuses(card_id: str, corners: list[Corner]) -> None:
    for corner in corners:
        with about(corner):
            _serves_or_refuses(card_id, corner)


def _serves_or_refuses(card_id: str, corner: Corner) -> None:
    relation, rows_per_person, n_public = corner.table
    rows = np.clip(np.random.default_rng(0).normal(0, 0.3, (120, 2)), -1, 1)
    persons = np.arange(120) // 3 if rows_per_person > 1 else None
    table = PrivateTable(
        rows,
        Domain.of(["a", "b"], -1.0, 1.0),
        relation=relation,
        n_public=n_public,
        persons=persons,
        rows_per_person=rows_per_person,
    )
    asked = {"k": corner.k, "epsilon": corner.epsilon, "delta": corner.delta, "seed": corner.seed}
    try:
        found = run(card_id, table, **asked)
    except RequestError:
        return
    assert np.isfinite(found.centers).all() and found.centers.shape == (corner.k, 2)
    assert found.spent_epsilon <= corner.epsilon * (1 + 1e-9) or not found.private


@for_each(
    "beyond",
    [
        {"epsilon": check.LEAST_EPSILON / 2},
        {"epsilon": check.MOST_EPSILON * 2},
        {"epsilon": float("inf")},
        {"delta": check.LEAST_DELTA / 2},
        {"k": check.MOST_CLUSTERS + 1},
        {"seed": check.MOST_SEED + 1},
        {"seed": -1},
        {"k": 10**400},
    ],
)
def test_beyond_the_corners_every_algorithm_refuses(beyond: dict[str, float]) -> None:
    table = PrivateTable(np.zeros((20, 2)), Domain.of(["a", "b"], -1.0, 1.0))
    for card_id in CARDS:
        with about(card_id), pytest.raises(RequestError, match=r"^(epsilon|delta|k|seed) is .*: give"):
            run(card_id, table, **({"k": 2, "epsilon": 1.0, "delta": 1e-6} | beyond))
