"""Each verdict on planted tables: it must say holds, holds in part and does not where that was planted."""

import pytest

from dpviz.claims.claim import Finding, Outcome, Verdict
from dpviz.claims.registry import CLAIMS
from tests.claims.planted import PLANTED


def test_every_claim_has_planted_tables():
    assert set(PLANTED) == set(CLAIMS)
    assert len(CLAIMS) == 12


@pytest.mark.some(12)
@pytest.mark.parametrize("outcome", Outcome)
@pytest.mark.parametrize("claim_id", list(CLAIMS))
def test_what_was_planted_is_found(claim_id, outcome):
    verdict = CLAIMS[claim_id].judge(PLANTED[claim_id](outcome))
    said = "\n".join(f"{finding.holds} {finding.says}: {finding.found}" for finding in verdict.findings)
    assert verdict.outcome is outcome, said
    for finding in verdict.findings:
        assert (finding.margin >= 1) == finding.holds, finding
        assert bool(finding.reason) != finding.holds, (
            f"{finding.says} fails without a named reason, or has one too many"
        )


def test_a_verdict_is_as_strong_as_its_findings():
    good, bad = Finding("a", True, "", 2.0), Finding("b", False, "", 0.5, "why")
    assert Verdict((good, good)).sentence == "holds: 2 of 2 findings; closest margin 2×"
    assert Verdict((good, bad)).outcome is Outcome.IN_PART
    assert Verdict((bad,)).sentence == "does not hold: 0 of 1 findings"
