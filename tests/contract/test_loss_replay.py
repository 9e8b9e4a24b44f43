"""A whole run's privacy loss between neighbouring tables, added up release by release."""

from typing import NamedTuple

import numpy as np
import pytest

from dpviz.algorithms.card import Card
from dpviz.core.queries import Relation
from dpviz.runs.audits.contract import check_loss
from tests.cases import about
from tests.contract import tables

# Noise on several numbers has to point the right way for its loss to show: under replace it seldom does at once.
_LONE_SEEDS = 12
_REPLACE_SEEDS = 3
IN_A_BALL = tables.NEIGHBOR_SETTINGS[-1]
AT_ANY_EPSILON = [
    *((tables.BOUGHT, 0.1), (tables.REPLACE, 20.0), (tables.PERSONS, 0.1), (IN_A_BALL, 20.0)),
    *((tables.BOUGHT, 20.0), (tables.REPLACE, 0.1), (tables.PERSONS, 20.0), (IN_A_BALL, 0.1)),
]
OTHERS = [case for case in tables.NEIGHBOR_SETTINGS if case not in (tables.PUBLIC, tables.PERSONS)]


class Reach(NamedTuple):
    """How near the best pair of tables has to come to a release's bound, without which a bound could be any number.

    The least part of its own bound that a release uses up, and why it is not more. Every card is asked for half. What
    is left out here, the tests of the mechanisms themselves attain (tests/privacy).
    """

    added: float = 0.5
    replaced: float = 0.5
    why: str = ""
    # Crowds of equal rows never move the model of a block, which takes k distinct rows: lone rows do.
    lone: bool = False

    def least(self, relation: Relation) -> float:
        return self.replaced if relation is Relation.REPLACE else self.added


USUAL = Reach()
REACHES = {
    "gkm": Reach(0.1, 0.5, "a row that comes moves a block's model from the middle, not from a corner", lone=True),
    "sample-aggregate": Reach(0.0, 0.1, "a row moves a median by one rank, and smooth noise is large", lone=True),
    "pgkm": Reach(0.01, 0.01, "a choice among 200 candidates seldom falls on one that tells"),
    "kvariates": Reach(0.01, 0.01, "a drawn row tells most where noise happens to fall far off"),
    "lsh-coreset": Reach(0.3, 0.3, "a row that changes its cell moves a sum by √2 of 2 radii under K-norm noise"),
}


def reach_of(card: Card) -> Reach:
    """What is asked of a card."""
    return REACHES.get(card.id, USUAL)


def least_reach(card: Card, case: tables.NeighborSetting) -> float:
    """What a card has to reach there: under replace nothing, where a grid over seven coordinates is one cell."""
    one_cell = case.mixed and case.relation is Relation.REPLACE and card.most_coded is not None
    return 0.0 if one_cell else reach_of(card).least(case.relation)


def check_reach(card, case, least, *, epsilon, **request):
    """Between none of these neighbours is more lost than declared, and between some at least a part of the bound.

    More seeds are tried as long as no pair has lost that much.
    """
    replaced, found = case.relation is Relation.REPLACE, []

    def reached():
        # Where all is released by (ε, δ) mechanisms, which have no bound on densities, there is nothing to reach.
        return max(found, default=1.0) >= least

    for seed in range(_REPLACE_SEEDS if replaced else 1):
        if seed == 0 or not reached():
            for one, other in tables.list_neighbours(case, seed, few=True):
                found += check_loss(card, one, other, k=3, epsilon=epsilon, seed=seed, **request).fractions_of_bound
    for seed in range(_LONE_SEEDS if reach_of(card).lone else 0):
        if seed == 0 or not reached():
            for among in (0, 8):
                one, other = tables.make_lone_rows(case, among)
                pair = (one, other if replaced else case.table(np.zeros((among, case.dim))))
                found += check_loss(card, *pair, k=1, epsilon=epsilon, seed=seed, **request).fractions_of_bound
    assert reached()


@pytest.mark.parametrize(("card", "params", "delta", "cases"), tables.hands(OTHERS, each=2), ids=tables.named)
def test_no_neighbour_gains_more_than_declared_and_some_pair_a_good_part_of_it(card, params, delta, cases):
    for case in cases:
        with about(case):
            check_reach(card, case, least_reach(card, case), epsilon=1.0, delta=delta, params=params)


@pytest.mark.slow
@pytest.mark.parametrize(("card", "params", "delta", "hand"), tables.hands(AT_ANY_EPSILON, each=1), ids=tables.named)
def test_no_person_gains_more_nor_anybody_at_any_epsilon(card, params, delta, hand):
    for case, epsilon in ((tables.PERSONS, 1.0), *hand):
        with about(case, f"ε = {epsilon}"):
            # At little ε a grid has one cell, whose count is public under replace: nothing could be lost.
            more = {"theta": epsilon} if "theta" in {one.name for one in card.params.param_fields()} else {}
            # At a small budget a grid may be one single cell, which under replace tells nothing at all.
            least = reach_of(card).least(case.relation) if epsilon >= 1 else 0.0
            check_reach(card, case, least, epsilon=epsilon, delta=delta, params={**params, **more})


def test_whoever_is_asked_for_less_says_why():
    assert REACHES.keys() <= {card.id for card, _, _ in tables.SETTINGS}
    for name, reach in REACHES.items():
        assert reach.why and min(reach.added, reach.replaced) < USUAL.added, name
