"""A whole run's privacy loss between neighbouring tables, added up release by release."""

from __future__ import annotations

import numpy as np
import pytest

from dpviz.privacy.queries import Relation
from tests.contract.checks import check_loss
from tests.contract.reach import REACHES, USUAL, reach_of
from tests.contract.tables import SETTINGS, WORLDS, in_worlds, lone_rows, named, neighbours

# Noise on several numbers has to point the right way for its loss to show.
_LONE_SEEDS = 12
_REPLACE_SEEDS = 3


# The other worlds are looked at with ε = 1.
AT_ANY_EPSILON = [
    world for world in WORLDS if world.name in {"n bought", "replace", "persons", "nine columns in a ball"}
]


def _largest_reach(card, world, *, epsilon, seeds, few=False, **request):
    found = []
    for seed in seeds:
        for one, other in neighbours(world, seed, few=few):
            found += check_loss(card, one, other, k=3, epsilon=epsilon, seed=seed, **request).reach
    if reach_of(card).lone:
        replaced = world.relation is Relation.REPLACE
        for seed in range(_LONE_SEEDS):
            for among in (0, 8):
                one, other = lone_rows(world, among)
                pair = (one, other if replaced else world.table(np.zeros((among, world.dim))))
                found += check_loss(card, *pair, k=1, epsilon=epsilon, seed=seed, **request).reach
    # Where all is released by (ε, δ) mechanisms, which have no bound on densities, there is nothing to reach.
    return max(found, default=1.0)


@pytest.mark.some(20)
@pytest.mark.parametrize(
    ("card", "params", "delta", "world"),
    in_worlds("persons", "ball, replace", "nine columns in a ball"),
    ids=named,
)
def test_no_neighbour_gains_more_than_declared_and_some_pair_a_good_part_of_it(card, params, delta, world):
    # Noise on several numbers has to point the right way for its loss to show: under replace it seldom does at once.
    seeds = range(_REPLACE_SEEDS if world.relation is Relation.REPLACE else 1)
    reached = _largest_reach(card, world, epsilon=1.0, seeds=seeds, few=True, delta=delta, params=params)
    assert reached >= reach_of(card).least(world.relation)


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [0.1, 20.0])
@pytest.mark.parametrize("world", AT_ANY_EPSILON, ids=str)
@pytest.mark.parametrize(("card", "params", "delta"), SETTINGS, ids=named)
def test_no_neighbour_gains_more_at_any_epsilon(card, params, delta, world, epsilon):
    if "theta" in {knob.name for knob in card.params.knobs()}:
        # At little ε a grid has one cell, whose count is public under replace: nothing could be lost.
        params = {**params, "theta": epsilon}
    reached = _largest_reach(card, world, epsilon=epsilon, seeds=[1], delta=delta, params=params)
    # At a small budget a grid may be one single cell, which under replace tells nothing at all.
    assert reached >= (reach_of(card).least(world.relation) if epsilon >= 1 else 0.0)


def test_whoever_is_asked_for_less_says_why():
    assert REACHES.keys() <= {card.id for card, _, _ in SETTINGS}
    for name, reach in REACHES.items():
        assert reach.why and min(reach.added, reach.replaced) < USUAL.added, name
