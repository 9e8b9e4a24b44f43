"""Orderings of medians: how many places, which one decides, whose fault it is; and verdicts on turned losses."""

import pytest

from dpviz.app.charts.studies.stored_verdicts import FOLDER, STAND_INS
from experiments.evidence import compare_lines
from experiments.registry import CLAIMS
from experiments.stored_results import load_runs
from tests.cases import for_each
from tests.experiments.planted import lines, table


@for_each(("share", "holds", "margin"), [(1.0, False, 0.5), (0.75, True, 1.2), (0.5, True, 2.0)])
def test_the_place_that_decides_sets_the_margin(share, holds, margin):
    worse = enumerate((0.5, 1.2, 2.0, 4.0), start=1)
    found = table(lines({"a": 1.0, "b": loss}, epsilon=float(place)) for place, loss in worse)
    finding = compare_lines(found, ["a"], ["b"], says="a is better", share=share)
    assert (finding.holds, finding.margin) == (holds, pytest.approx(margin))
    assert "in 3 of 4 places" in finding.found and "ε = 1" in finding.found


def test_all_of_the_better_ones_must_beat_all_of_the_worse_ones():
    found = table([lines({"a": 1.0, "b": 2.0, "c": 3.0, "d": 1.5})])
    assert compare_lines(found, ["a"], ["b", "c"], says="").margin == pytest.approx(2.0)
    assert not compare_lines(found, ["a", "b"], ["c", "d"], says="").holds
    assert not compare_lines(found, ["a"], ["b"], says="", factor=3.0).holds


def _turn(turned):
    """What losses become; those of k-means, which all are measured by, stay."""
    measures = ["nicv", "samples", "error", "excess", "farthest", "alone", "tuples", "label_accuracy"]

    def of(found):
        return found.assign(**{name: turned(found[name]) for name in found.columns.intersection(measures)})

    return of


TURNED = [
    _turn(turned) for turned in (lambda x: x, lambda x: 1 / x, lambda x: x**3, lambda x: 1e9 * x, lambda x: x / 1e3)
]
# Findings that come out alike however losses are turned, by their place in a claim.
ALIKE = {
    **{"su-blocks": {2}, "su-genetic": {3}, "su-theory": {1, 6}, "balcan-small": {1}},
    **{"balcan-clusters": {1, 3}, "cohen-dimensions": {0, 2}, "cohen-naive": {1}},
}


@for_each("claim_id", CLAIMS)
def test_a_finding_holds_on_some_losses_and_on_turned_ones_it_does_not_with_a_reason(claim_id):
    claim, seen = CLAIMS[claim_id], {}
    tables = [load_runs(claim, folder).table for folder in (FOLDER, STAND_INS)]
    for found in (tables[0], *(turn(tables[1]) for turn in TURNED)):
        for place, finding in enumerate(claim.judge(found).findings):
            assert (finding.margin >= 1) == finding.holds != bool(finding.reason), finding
            seen.setdefault(place, set()).add(finding.holds)
    assert {place for place, outcomes in seen.items() if len(outcomes) == 1} == ALIKE.get(claim_id, set())


def test_a_claim_may_hold_as_its_paper_ran_it_and_not_against_what_is_run_today():
    claim = CLAIMS["google-coreset"]
    verdict = claim.judge(load_runs(claim).table)
    against, today = verdict.findings[0], verdict.findings[0].today
    assert against.holds and "diffprivlib" in against.found and not today.holds
    assert "printed constants" in today.reason and "borne out" in today.reason
