"""What is shared out among parts comes back in place."""

from __future__ import annotations

import numpy as np

from dpviz.core.rows import count_dealt, join_lines, put_in_place, share_out


def test_lines_of_chosen_rows_come_back_in_their_own_order() -> None:
    who, sizes = np.array([7, 0, 5, 3, 4]), [3, 0, 2, 3]
    asked = share_out(who, sizes)
    assert [who[mine].tolist() for mine in asked] == [[0], [], [3, 4], [5, 7]]
    answers = [np.stack([who[mine], -who[mine]], axis=1) for mine in asked]
    np.testing.assert_array_equal(put_in_place(answers, asked), np.stack([who, -who], axis=1))
    assert [len(mine) for mine in share_out(np.zeros(0, dtype=np.int64), sizes)] == [0, 0, 0, 0]


def test_blocks_that_are_dealt_in_turn_are_joined_in_their_order() -> None:
    for number, hands in ((7, 3), (2, 5), (1, 1)):
        lines = np.arange(2.0 * number).reshape(number, 2)
        dealt = [lines[at::hands] for at in range(hands)]
        assert [len(hand) for hand in dealt] == [count_dealt(number, at, hands) for at in range(hands)]
        np.testing.assert_array_equal(join_lines(dealt, number), lines)
