"""A whole run's privacy loss between neighbouring tables, added up release by release."""

from __future__ import annotations

import numpy as np
import pytest

from dpviz.privacy.queries import Relation
from tests.contract.checks import check_loss
from tests.contract.tables import OVER_BLOCKS, SETTINGS, WORLDS, in_worlds, lone_rows, named, neighbours

# Noise on several numbers has to point the right way for its loss to show.
_LONE_SEEDS = 12


# The other worlds are looked at with ε = 1.
AT_ANY_EPSILON = [
    world for world in WORLDS if world.name in {"n bought", "replace", "persons", "nine columns in a ball"}
]


def _least_reach(card, world):
    """The part of a release's bound that some pair has to use up.

    A row that comes moves a block's model from the middle, not from the opposite corner; a median it moves by one rank
    of many. A textbook's smooth noise is five times what its loss needs.
    """
    if card.id in OVER_BLOCKS:
        replaced = world.relation is Relation.REPLACE
        return {"gkm": 0.5 if replaced else 0.1, "sample-aggregate": 0.1 if replaced else 0.0}[card.id]
    return RARELY_NEAR.get(card.id, 0.5)


# Releases that seldom come near their bound: the losses of many draws average out, and a drawn row tells most where
# noise happens to fall far off. Their mechanisms' own tests (tests/privacy) have pairs and outcomes that attain it.
RARELY_NEAR = {"pgkm": 0.01, "kvariates": 0.01}
# A row that leaves one cell for another moves a sum by √2 of the 2 radii that one cell might see; K-norm noise hides
# more of it where it stands across.
RARELY_NEAR |= {"lsh-coreset": 0.3}


def _largest_reach(card, world, *, epsilon, seeds, few=False, **request):
    found = []
    for seed in seeds:
        for one, other in neighbours(world, seed, few=few):
            found += check_loss(card, one, other, k=3, epsilon=epsilon, seed=seed, **request).reach
    if card.id in OVER_BLOCKS:
        replaced = world.relation is Relation.REPLACE
        for seed in range(_LONE_SEEDS):
            for among in (0, 8):
                one, other = lone_rows(world, among)
                pair = (one, other if replaced else world.table(np.zeros((among, world.dim))))
                found += check_loss(card, *pair, k=1, epsilon=epsilon, seed=seed, **request).reach
    # Where all is released by (ε, δ) mechanisms, which have no bound on densities, there is nothing to reach.
    return max(found, default=1.0)


@pytest.mark.parametrize(
    ("card", "params", "delta", "world"),
    in_worlds("persons", "ball, replace", "nine columns in a ball", each=2),
    ids=named,
)
def test_no_neighbour_gains_more_than_declared_and_some_pair_a_good_part_of_it(card, params, delta, world):
    reached = _largest_reach(card, world, epsilon=1.0, seeds=[0], few=True, delta=delta, params=params)
    assert reached >= _least_reach(card, world)


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
    assert reached >= (_least_reach(card, world) if epsilon >= 1 else 0.0)
