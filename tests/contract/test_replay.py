"""A run spends its request and books what it drew; with its answers recorded and the rows taken away, the same steps
come out; and it holds no row.
"""

import pickle

import numpy as np
import pytest

from dpviz.runs.audits.contract import check_booked, check_replayed, record_run, run_card
from tests.cases import about
from tests.contract import tables

EPSILONS = [0.1, 1.0, 35.0]
# What an account depends on, each setting meets: how n is known, the relation, rows a person. Shapes are dealt in turn.
DECLARED = [tables.BOUGHT, tables.PUBLIC, tables.REPLACE, tables.PERSONS]
SHAPES = [case for case in tables.NEIGHBOR_SETTINGS if case not in DECLARED]


def accounts(turn: int) -> list[tuple[tables.NeighborSetting, float]]:
    """Cases and ε of a setting, in turn: all cases meet every ε, and the settings of a card every shape."""
    cases = [*DECLARED, SHAPES[turn % len(SHAPES)]]
    return [(case, EPSILONS[(turn // len(SHAPES) + place) % len(EPSILONS)]) for place, case in enumerate(cases)]


@pytest.mark.parametrize(
    ("card", "params", "delta", "turn"),
    [
        pytest.param(*setting, turn, marks=() if tables.is_fast(turn, 1) else pytest.mark.slow)
        for turn, setting in enumerate(tables.SETTINGS)
    ],
    ids=tables.named,
)
def test_a_run_books_what_it_drew_and_plays_again_without_rows(card, params, delta, turn):
    for case, epsilon in accounts(turn):
        with about(case, f"ε = {epsilon}"):
            table = case.table()
            request = {"k": 3, "epsilon": epsilon, "delta": delta, "params": params, "seed": 1}
            first = record_run(card, table, **request)
            check_booked(first)
            check_replayed(card, table, first, **request)


@pytest.mark.parametrize(("card", "params", "delta"), tables.in_turn(0), ids=tables.named)
def test_a_run_holds_releases_only(card, params, delta):
    table = tables.BOUGHT.table(tables.make_blobs(137))
    values = table._rows.values
    rows = {row.tobytes() for row in values}
    done = run_card(card, table, k=3, epsilon=2.0, delta=delta, params=params, seed=5)
    text = pickle.dumps(done)
    assert b"PrivateTable" not in text and b"PrivateSession" not in text and b"StudyNoise" not in text
    assert pickle.loads(text).centers.shape == (3, 2) and not any(row in text for row in rows)
    for frame in done.frames:
        for value in vars(frame.step).values():
            if isinstance(value, np.ndarray) and value.ndim == 2 and value.dtype == np.float64:
                assert not np.shares_memory(value, values) and not rows & {row.tobytes() for row in value}
    assert done.n_public is None
    assert done.n != 137 or done.n_origin == "not used"  # what was bought is noisy
    assert 137 not in [value for value in vars(done).values() if isinstance(value, int)]
