"""Each verdict on planted tables: it must say holds, holds in part and does not where that was planted."""

import re

import pytest

from dpviz.app.charts.studies.stored_verdicts import ClaimFinding, ClaimVerdict, Outcome
from experiments.registry import CLAIMS
from tests.cases import for_each
from tests.experiments.planted import PLANTED


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
