"""With the answers on tape and the rows taken away, the same steps come out."""

from __future__ import annotations

import numpy as np
import pytest

from dpviz.algorithms.registry import private_cards
from tests.contract.checks import check_replay, frames_of
from tests.contract.tables import BOUGHT, LOCAL, SETTINGS, in_turn, in_worlds, named


@pytest.mark.parametrize(
    ("card", "params", "delta", "world"),
    in_worlds("n bought", "persons", "ball, replace", "nine columns in a ball", each=2),
    ids=named,
)
def test_steps_come_out_the_same_without_rows(card, params, delta, world):
    check_replay(card, world.table(), k=3, epsilon=2.0, delta=delta, params=params, seed=5)


@pytest.mark.parametrize(("card", "params", "delta"), in_turn(0), ids=named)
def test_no_step_holds_a_row(card, params, delta):
    # A release shares no memory with rows and has no row's exact coordinates.
    table = BOUGHT.table()
    rows = {row.tobytes() for row in table._rows.values}
    for frame in frames_of(card, table, k=3, epsilon=2.0, delta=delta, params=params, seed=5):
        for value in vars(frame.step).values():
            if isinstance(value, np.ndarray) and value.ndim == 2 and value.dtype == np.float64:
                assert not np.shares_memory(value, table._rows.values)
                assert not rows & {row.tobytes() for row in value}


def test_every_private_card_is_covered():
    assert {card.id for card, _, _ in SETTINGS} == {card.id for card in private_cards()} - LOCAL
