"""A whole run's privacy loss between neighbouring tables, added up release by release."""

from __future__ import annotations

import pytest

from tests.contract.checks import check_loss
from tests.contract.tables import SETTINGS, WORLDS, named, neighbours, worlds


def _largest_reach(card, world, *, epsilon, seeds, few=False, **request):
    found = []
    for seed in seeds:
        for one, other in neighbours(world, seed, few=few):
            found += check_loss(card, one, other, k=3, epsilon=epsilon, seed=seed, **request).reach
    # Where all is released by (ε, δ) mechanisms, which have no bound on densities, there is nothing to reach.
    return max(found, default=1.0)


@pytest.mark.parametrize("world", worlds("persons", "ball, replace", "nine columns in a ball"), ids=str)
@pytest.mark.parametrize(("card", "params", "delta"), SETTINGS, ids=named)
def test_no_neighbour_gains_more_than_declared_and_some_pair_half_of_it(card, params, delta, world):
    assert _largest_reach(card, world, epsilon=1.0, seeds=[0], few=True, delta=delta, params=params) >= 0.5


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 20.0])
@pytest.mark.parametrize("world", WORLDS, ids=str)
@pytest.mark.parametrize(("card", "params", "delta"), SETTINGS, ids=named)
def test_no_neighbour_gains_more_at_any_epsilon(card, params, delta, world, epsilon):
    if "theta" in {knob.name for knob in card.params.knobs()}:
        # At little ε a grid has one cell, whose count is public under replace: nothing could be lost.
        params = {**params, "theta": epsilon}
    reached = _largest_reach(card, world, epsilon=epsilon, seeds=[1], delta=delta, params=params)
    # At a small budget a grid may be one single cell, which under replace tells nothing at all.
    assert reached >= (0.5 if epsilon >= 1 else 0.0)
