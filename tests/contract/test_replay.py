"""With the answers on tape and the rows taken away, the same steps come out."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from dpviz.algorithms.registry import private_cards
from dpviz.runs.run import Frame, run_frames
from tests.contract.rooms import Tape, recording_room, replaying_room
from tests.contract.tables import SETTINGS, small_table


def _arrays(step: object) -> list[np.ndarray]:
    values = [getattr(step, f.name) for f in dataclasses.fields(step)]  # type: ignore[arg-type]
    return [value for value in values if isinstance(value, np.ndarray)]


@pytest.mark.parametrize(("card", "params", "delta"), SETTINGS, ids=lambda value: str(getattr(value, "id", value)))
def test_steps_come_out_the_same_without_rows(card, params, delta):
    tape = Tape()
    table = small_table()
    request = {"k": 3, "epsilon": 2.0, "delta": delta, "params": params, "seed": 5}
    first = [f for f in run_frames(card, table, room=recording_room(tape), **request) if isinstance(f, Frame)]
    again = [f for f in run_frames(card, table, room=replaying_room(tape), **request) if isinstance(f, Frame)]
    assert len(first) == len(again)
    for one, other in zip(first, again, strict=True):
        assert one.step.title == other.step.title
        for a, b in zip(_arrays(one.step), _arrays(other.step), strict=True):
            np.testing.assert_array_equal(a, b)


def test_every_private_card_is_covered():
    assert {card.id for card, _, _ in SETTINGS} == {card.id for card in private_cards()}
