"""Rows in parts: what lies where, and the answers of all parts back in place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from dpviz.core.arrays import Array, Codes


class BlockModel(Protocol):
    """What is computed from each block of rows by itself, whatever the order of its rows and its own number."""

    def fit(self, rows: Array, block: Codes, number: int) -> Array:
        """A line for each block.

        Parameters
        ----------
        rows : array of shape (m, d)
            Unit coordinates.
        block : int array of shape (m,)
            Where each row lies.
        number : int
            How many blocks there are.

        Returns
        -------
        array of shape (number, ...)
            A line for each block.
        """
        ...


def count_dealt(number: int, at: int, hands: int) -> int:
    """How many blocks a hand gets where they are dealt in turn.

    Parameters
    ----------
    number : int
        Blocks.
    at : int
        Which hand, from 0.
    hands : int
        How many there are.

    Returns
    -------
    int
        Blocks of that hand.
    """
    return len(range(at, number, hands))


def join_lines(dealt: Sequence[Array], number: int) -> Array:
    """The lines of blocks that were dealt in turn, in the order of the blocks.

    Parameters
    ----------
    dealt : sequence of arrays
        Of each hand, a line for each of its blocks.
    number : int
        Blocks.

    Returns
    -------
    array of shape (number, ...)
        A line for each block.
    """
    lines = np.empty((number, dealt[0].shape[1]))
    for at, part in enumerate(dealt):
        lines[at :: len(dealt)] = part
    return lines


def share_out(who: Codes, sizes: Sequence[int]) -> list[Codes]:
    """Which of some rows lie in each part.

    Parameters
    ----------
    who : int array of shape (m,)
        Numbers of rows, from the first part to the last.
    sizes : sequence of int
        Rows of each part; the last may have fewer.

    Returns
    -------
    list of int arrays
        For each part, the places in ``who`` of its rows, ascending by row.
    """
    order = np.argsort(who, kind="stable")
    return np.split(order, np.searchsorted(who[order], np.cumsum(sizes)[:-1]))


def put_in_place(answers: Sequence[Any], asked: Sequence[Codes]) -> Any:
    """The lines of all parts, where those stand who were asked.

    Parameters
    ----------
    answers : sequence of arrays
        Of each part, a line for each row that was asked.
    asked : sequence of int arrays
        As ``share_out`` gives them.

    Returns
    -------
    array of shape (m, ...)
        In the order of the rows that were shared out.
    """
    together = np.concatenate(answers)
    lines = np.empty_like(together)
    lines[np.concatenate(asked)] = together
    return lines
