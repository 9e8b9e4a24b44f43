"""The outside auditor, where it lies beside the checkout: every algorithm, and which mistakes it has to object to.

``python -m benchmarks.outside_audit`` makes all pairs, and tries all mistakes.
"""

from collections import Counter

import pytest

from benchmarks.auditing.distances import DISTANCES
from benchmarks.auditing.outside import KINDS, PLACE, audit_named, audit_plan, list_plans, list_sample, load_auditor
from benchmarks.auditing.outside_mistakes import count_places, list_planted, read_reasons
from dpviz.algorithms.registry import list_private_cards
from dpviz.core.accounting import Accounting
from dpviz.core.private_session import MECHANISMS

PAIRS = 1
PLANTED = list_planted()
SHOWN = [planted for planted in PLANTED if planted.shown_by]
PLANS = {str(plan) for plan in list_plans()}
needs_auditor = pytest.mark.skipif(load_auditor() is None, reason=f"the outside auditor is not at {PLACE}")


def test_every_mechanism_has_a_distance():
    assert set(DISTANCES) == set(MECHANISMS)


@needs_auditor
def test_the_auditor_objects_to_no_algorithm_and_sees_every_mechanism():
    plans, called, refused = list(list_sample()), Counter(), 0
    assert {plan.card.id for plan in plans} == {card.id for card in list_private_cards()}
    assert {plan.accounting for plan in plans} == {*Accounting} - {Accounting.NONE}
    assert {plan.kind for plan in plans} == set(KINDS)
    for turn, plan in enumerate(plans):
        for found in audit_plan(plan, most=PAIRS, turn=turn):
            assert not found.objection, f"{plan}: {found.objection}"
            called.update(found.called)
            refused += found.refused
    assert set(called) == {mechanism.__name__ for mechanism in MECHANISMS} and refused <= 4


@needs_auditor
@pytest.mark.slow
@pytest.mark.parametrize("pair", sorted({planted.shown_by for planted in SHOWN}))
def test_the_auditor_objects_to_no_pair(pair):
    found = audit_named(pair)
    assert not found.objection, found.objection
    assert not found.refused, "stopped before a row is read"


def test_every_mistake_has_one_place_and_is_shown_or_named_as_out_of_reach():
    reasons = read_reasons()
    for planted in PLANTED:
        assert count_places(planted) == 1, planted.mistake.mistake
        assert (planted.shown_by.rpartition("#")[0] in PLANS) != (planted.outside in reasons), planted.mistake.mistake
    names = [planted.mistake.mistake for planted in PLANTED]
    assert len(set(names)) == len(names) and len(SHOWN) >= 60
