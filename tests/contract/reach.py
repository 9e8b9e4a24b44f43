"""How near some pair of tables has to come to a release's bound, card by card: without it a bound could be any number.

A reach is the part of its own bound that a release uses up. Every card is asked for half; a card that is asked for
less says why. What is left out here, the tests of the mechanisms themselves attain (tests/privacy).
"""

from __future__ import annotations

from typing import NamedTuple

from dpviz.algorithms.card import Card
from dpviz.privacy.queries import Relation


class Reach(NamedTuple):
    """The least reach of the best pair, and why it is not more."""

    added: float = 0.5
    replaced: float = 0.5
    why: str = ""
    # Crowds of equal rows never move the model of a block, which takes k distinct rows: lone rows do.
    lone: bool = False

    def least(self, relation: Relation) -> float:
        return self.replaced if relation is Relation.REPLACE else self.added


USUAL = Reach()
REACHES = {
    "gkm": Reach(
        0.1, why="a row that comes moves a block's model from the middle, not from the other corner", lone=True
    ),
    "sample-aggregate": Reach(
        0.0,
        0.1,
        "a row moves a median by one rank of many; a textbook's smooth noise is five times its loss",
        lone=True,
    ),
    "pgkm": Reach(0.01, 0.01, "a choice among 200 candidates seldom falls on one that tells"),
    "kvariates": Reach(0.01, 0.01, "a drawn row tells most where noise happens to fall far off"),
    "lsh-coreset": Reach(
        0.3, 0.3, "a row that changes its cell moves a sum by √2 of 2 radii; K-norm noise hides part of it"
    ),
}


def reach_of(card: Card) -> Reach:
    """What is asked of a card."""
    return REACHES.get(card.id, USUAL)
