"""Every algorithm at the floors and ceilings of a request: a result, or one sentence; never an overflow."""

from itertools import product

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
CLUSTERS = (1, 7)
# Relation, most rows of a person, public number of rows.
TABLES = (
    *(("add_remove", 1, None), ("add_remove", check.MOST_ROWS_PER_PERSON, None), ("add_remove", 1, 1)),
    *(("add_remove", 1, check.MOST_RECORDS), ("replace", 1, None)),
)
CORNERS = list(product(EPSILONS, DELTAS, CLUSTERS, TABLES, (0, check.MOST_SEED)))
# Dealt: each algorithm has others than its neighbours, and each two values of different settings meet many times.
DEALT = [(card_id, CORNERS[place % 31 :: 31]) for place, card_id in enumerate(CARDS)]


@pytest.mark.parametrize(("card_id", "corners"), DEALT, ids=CARDS)
def test_an_algorithm_serves_or_refuses(card_id: str, corners: list[tuple]) -> None:
    rows = np.clip(np.random.default_rng(0).normal(0, 0.3, (120, 2)), -1, 1)
    few = {"starts": 2} if hasattr(CARDS[card_id].params, "starts") else None  # those after them are like them
    for corner in corners:
        epsilon, delta, k, (relation, most, n_public), seed = corner
        whose = {"persons": np.arange(120) // 3, "rows_per_person": most} if most > 1 else {}
        table = PrivateTable(rows, Domain.of(["a", "b"], -1.0, 1.0), relation=relation, n_public=n_public, **whose)
        with about(corner):
            try:
                found = run(card_id, table, k=k, epsilon=epsilon, delta=delta, params=few, seed=seed)
            except RequestError:
                continue
            assert np.isfinite(found.centers).all() and found.centers.shape == (k, 2)
            assert found.spent_epsilon <= epsilon * (1 + 1e-9) or not found.private


@for_each(
    "beyond",
    [
        *({"epsilon": check.LEAST_EPSILON / 2}, {"epsilon": check.MOST_EPSILON * 2}, {"epsilon": float("inf")}),
        *({"delta": check.LEAST_DELTA / 2}, {"k": check.MOST_CLUSTERS + 1}, {"k": 10**400}),
        *({"seed": check.MOST_SEED + 1}, {"seed": -1}),
    ],
)
def test_beyond_the_corners_every_algorithm_refuses(beyond: dict[str, float]) -> None:
    table = PrivateTable(np.zeros((20, 2)), Domain.of(["a", "b"], -1.0, 1.0))
    for card_id in CARDS:
        with about(card_id), pytest.raises(RequestError, match=r"^(epsilon|delta|k|seed) is .*: give"):
            run(card_id, table, **({"k": 2, "epsilon": 1.0, "delta": 1e-6} | beyond))
