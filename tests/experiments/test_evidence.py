"""Orderings of medians: how many places, which one decides, whose fault it is; and each verdict on planted tables."""

import pytest

from dpviz.app.charts.studies.stored_verdicts import Outcome
from experiments.evidence import compare_lines
from experiments.registry import CLAIMS
from tests.cases import for_each
from tests.experiments.planted import PLANTED, lines, table


def four_places(*worse):
    return table(lines({"a": 1.0, "b": loss}, epsilon=float(place)) for place, loss in enumerate(worse, start=1))


@for_each(("share", "holds", "margin"), [(1.0, False, 0.5), (0.75, True, 1.2), (0.5, True, 2.0)])
def test_the_place_that_decides_sets_the_margin(share, holds, margin):
    finding = compare_lines(four_places(0.5, 1.2, 2.0, 4.0), ["a"], ["b"], says="a is better", share=share)
    assert (finding.holds, finding.margin) == (holds, pytest.approx(margin))
    assert "in 3 of 4 places" in finding.found and "ε = 1" in finding.found


def test_all_of_the_better_ones_must_beat_all_of_the_worse_ones():
    found = table([lines({"a": 1.0, "b": 2.0, "c": 3.0, "d": 1.5})])
    assert compare_lines(found, ["a"], ["b", "c"], says="").margin == pytest.approx(2.0)
    assert not compare_lines(found, ["a", "b"], ["c", "d"], says="").holds
    assert not compare_lines(found, ["a"], ["b"], says="", factor=3.0).holds


def test_every_claim_has_planted_tables():
    assert set(PLANTED) == set(CLAIMS)
    assert len(CLAIMS) == 14


@pytest.mark.some(1)
@pytest.mark.parametrize("outcome", [Outcome.IN_PART, Outcome.HOLDS, Outcome.FAILS])
@for_each("claim_id", CLAIMS)
def test_what_was_planted_is_found(claim_id, outcome):
    verdict = CLAIMS[claim_id].judge(PLANTED[claim_id](outcome))
    said = "\n".join(f"{finding.holds} {finding.says}: {finding.found}" for finding in verdict.findings)
    assert verdict.outcome is outcome, said
    for finding in (*verdict.findings, *(verdict.today or verdict).findings):
        assert (finding.margin >= 1) == finding.holds, finding
        assert bool(finding.reason) != finding.holds, (
            f"{finding.says} fails without a named reason, or has one too many"
        )


def test_a_claim_may_hold_as_its_paper_ran_it_and_not_against_what_is_run_today():
    verdict = CLAIMS["google-coreset"].judge(PLANTED["google-coreset"](Outcome.HOLDS))
    assert (verdict.outcome, verdict.today.findings[0].outcome) == (Outcome.HOLDS, Outcome.FAILS)
    against, today = verdict.findings[0], verdict.findings[0].today
    assert "diffprivlib" in against.found and "DPLloyd (journal)" in today.found
    assert "printed constants" in today.reason and "borne out" in today.reason
