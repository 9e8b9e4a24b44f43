"""Orderings of medians: how many places, which one decides, whose fault it is; and each verdict on planted tables."""

import re

import pytest

from dpviz.app.charts.studies.stored_verdicts import ClaimFinding, ClaimVerdict, Outcome
from experiments.evidence import (
    UNEXPLAINED,
    add_reason,
    compare_least,
    compare_lines,
    compare_most,
    compare_within_factor,
    compute_rank_correlation,
    conclude,
)
from experiments.material import SYNTHETIC
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


def test_lines_that_were_not_run_hold_nothing():
    found = table([lines({"a": 1.0})]).assign(line="a")
    missing = compare_lines(found[found["epsilon"] > 9], ["a"], ["a"], says="nothing")
    assert not missing.holds and missing.reason == "not run"


def test_what_the_paper_asks_for_stands_beside_what_was_found():
    places = compare_lines(four_places(0.5, 1.2, 2.0, 4.0), ["a"], ["b"], says="a is better", share=0.5, factor=1.1)
    assert (places.paper, places.ours) == ("2 of 4 places by 1.1×", "3 of 4")
    one = compare_lines(four_places(0.5), ["a"], ["b"], says="a is better", factor=10.0)
    assert (one.paper, one.ours) == ("at least 10×", "0.5×")
    bound = compare_least(3.0, 2.0, says="", found="", unit=" rows")
    assert (bound.paper, bound.ours) == ("at least 2 rows", "3 rows")
    spread = compare_within_factor([1.0, 3.0], 2.0, says="", names=["x", "y"])
    assert (spread.paper, spread.ours) == ("at most 2×", "3×")
    assert compare_most(3.0, 2.0, says="", found="", paper="two", ours="three").paper == "two"


def test_the_finding_that_decides_is_the_worst_one():
    few = [ClaimFinding("a", True, "", 1.5), ClaimFinding("b", False, "", 0.5), ClaimFinding("c", True, "", 1.1)]
    assert ClaimVerdict(tuple(few)).closest is few[1]
    assert ClaimVerdict((few[0], few[2])).closest is few[2]


def test_a_reason_says_whether_runs_bear_it_out():
    bad, good = ClaimFinding("x", False, "found", 0.5), ClaimFinding("x", True, "found otherwise", 2.0)
    assert add_reason(good, "why", bad) is good
    assert add_reason(bad, "why", good).reason == "why (borne out by our runs: found otherwise)"
    assert "not borne out" in add_reason(bad, "why", bad).reason


def test_a_failure_without_a_reason_gets_the_one_that_the_table_knows():
    bad, found = ClaimFinding("x", False, "", 0.5), four_places(1.0)
    assert conclude(found, bad).findings[0].reason == UNEXPLAINED
    assert "made up" in conclude(found.assign(origin=SYNTHETIC), bad).findings[0].reason


def test_rank_correlation():
    assert compute_rank_correlation([1, 2, 3, 4], [1, 10, 100, 1000]) == pytest.approx(1.0)
    assert compute_rank_correlation([1, 2, 3], [3, 2, 1]) == pytest.approx(-1.0)
    assert compute_rank_correlation([1, 2, 3], [5, 5, 5]) == 0.0


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


def test_a_factor_is_named_where_a_word_stands_for_it():
    for claim in CLAIMS.values():
        for finding in claim.judge(PLANTED[claim.id](Outcome.IN_PART)).findings:
            for word in ("much", "magnitude", "competitive", "comparably", "dominated"):
                assert word not in finding.says or re.search(r"\d×", finding.says), finding.says


def test_a_verdict_is_as_strong_as_its_findings():
    good, bad = ClaimFinding("a", True, "", 2.0), ClaimFinding("b", False, "", 0.5, "why")
    assert ClaimVerdict((good, good)).sentence == "holds: 2 of 2 findings hold; closest margin 2×"
    assert ClaimVerdict((good, bad)).outcome is Outcome.IN_PART
    assert ClaimVerdict((bad,)).sentence == "does not hold: 0 of 1 findings hold"
