"""What may be concluded from a release: the worst first, from released values, nothing beyond its noise."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from dpviz.algorithms.card import LossDiagnostic
from dpviz.algorithms.size_estimates import Sizes
from dpviz.releases.conclusions import Received
from dpviz.releases.intervals import Interval
from dpviz.releases.segments_report import QualityReport, QualityVerdict
from dpviz.runs.profiles import Profile, ProfileColumn
from dpviz.runs.verdict import Verdict
from tests.cases import about

COLUMNS = (
    ProfileColumn("age", 0.0, 100.0, "years"),
    ProfileColumn("income", 0.0, 1000.0),
    ProfileColumn("visits", 0.0, 10.0),
)
SCALE = np.array([50.0, 500.0, 5.0])
CENTERS = np.array([[20.0, 300.0, 5.0], [70.0, 600.0, 5.1], [40.0, 800.0, 4.9]])
GOOD = Profile(
    COLUMNS, CENTERS, np.tile([0.5, 5.0, 0.5], (3, 1)), SCALE, Sizes(np.array([900.0, 500.0, 300.0]), np.full(3, 9.0))
)


def quality_report(verdict: QualityVerdict = QualityVerdict.GOOD, *, high: float = 0.3) -> QualityReport:
    one = Interval(1.0, 0.9, 1.1)
    words = {QualityVerdict.GOOD: "Nothing speaks against it.", QualityVerdict.POOR: "A group was missed."}.get(
        verdict, "It is covered."
    )
    return QualityReport(one, one, one, (1, 1, 1), Interval(0.2, 0.1, high), one, (one, one), verdict, (words,))


def received(profile: Profile = GOOD, quality: QualityReport | None = None, **said) -> Received:
    given = {"epsilon": 1.0, "delta": 1e-6, "has_id": False, **said}
    return Received(profile, quality or quality_report(), **given)


LOST = replace(GOOD, sizes=Sizes(np.array([900.0, 20.0, 10.0]), np.full(3, 9.0)))
# Each: the release, and how its title begins.
ENDS = {
    "failed": (
        received(replace(LOST, centers=np.array([[0.0, 0, 0], [100, 600, 5], [40, 800, 5.0]])), epsilon=0.02),
        "At ε = 0.02, this release failed: it shows noise",
    ),
    "edge": (
        received(replace(GOOD, centers=np.array([[0.0, 1000, 5], [0, 0, 5], [40, 800, 5]]))),
        "2 of 3 centres lie at the edge",
    ),
    "sizes": (received(LOST), "At ε = 1, 2 of 3 sizes may be noise alone"),
    "noise": (
        received(replace(GOOD, center_sd=np.tile([20.0, 200.0, 2.0], (3, 1)))),
        "At ε = 1, 3 of 3 centres are lost in noise",
    ),
    "one": (received(quality=quality_report(high=1.2)), "3 centres may do no better than one"),
    "cannot tell": (received(quality=quality_report(QualityVerdict.CANNOT_TELL)), "At ε = 1, nobody can tell"),
    "poor": (received(quality=quality_report(QualityVerdict.POOR)), "Released values speak against the centres"),
    "": (received(), "3 segments, told apart most by age and income"),
}


@pytest.mark.parametrize("failed", ENDS)
def test_a_title_says_the_worst_thing_first(failed: str) -> None:
    made, begins = ENDS[failed]
    assert made.finding.failed == failed and made.finding.title.startswith(begins)
    assert len(made.finding.title) <= 50 and bool(made.finding.reason) == bool(failed)


def test_what_only_the_run_can_tell_is_told_of_its_release_too() -> None:
    loss = LossDiagnostic(0.95, 0.5, 1.5, ("A group could hide.",))
    for kind, sign, failed in (("refused", None, "refused"), ("doubted", None, "doubted"), ("fine", loss, "one")):
        run = SimpleNamespace(
            verdict=Verdict(kind, "the private test refused", "It did not pass."), loss_diagnostic=sign
        )
        found = Received(GOOD, None, 1.0, 1e-6, False, run=run).finding
        assert found.failed == failed and found.reason
    # A certificate was bought to tell how good the centres are: it goes before what the algorithm says of itself.
    doubted = SimpleNamespace(verdict=Verdict("doubted", "", "A group could hide."), loss_diagnostic=loss)
    assert received(run=doubted).finding.failed == ""


def test_what_may_be_concluded_follows_from_the_numbers() -> None:
    sizes, columns, quality = received().may
    assert sizes.sentence == "Segment 1 is the largest: 900 ± 16 rows, about 52.9 % of all." and sizes.good
    assert (
        columns.sentence.startswith("Segments differ in age, income: ")
        and "In visits nothing does." in columns.sentence
    )
    assert quality.good and "3 centres leave 0.200× the loss of one (at most 0.300×)" in quality.sentence
    near = replace(GOOD, sizes=Sizes(np.array([510.0, 500.0, 300.0]), np.full(3, 9.0)))
    assert "is among the largest" in received(near).may[0].sentence
    lost, noise, poor = received(
        replace(LOST, center_sd=np.full((3, 3), 400.0)), quality_report(QualityVerdict.POOR)
    ).may
    assert not (lost.good or noise.good or poor.good)
    assert lost.sentence.startswith("2 of 3 segments may hold nobody") and poor.sentence == "A group was missed."
    assert noise.sentence == "In no column does a segment stand out of the noise."
    bare = Received(GOOD, None, 1.0, 0.0, True).may[-1]
    assert not bare.good and "No quality report was bought" in bare.sentence


def test_what_may_not_is_bounded_by_the_ledger() -> None:
    row, small, smallest, groups = received().may_not
    for told in ("whether one row is in the table", "23.2 %", "73.2 %", "two rows in it, 88.1 %", "δ = 10⁻⁶"):
        with about(told):
            assert told in row
    assert "less than 1.2 years in age or 12 in income" in small and "k = 3 was chosen" in groups
    assert smallest.startswith("That no smaller group is there: of fewer than about 130 rows none would be seen")
    assert (
        "88.1" not in received(has_id=True).may_not[0]
        and "a person is in the table" in received(has_id=True).may_not[0]
    )
    assert "what one row says" in received(relation="replace").may_not[0]
    assert "δ" not in received(delta=0.0).may_not[0]
    hidden = received(replace(GOOD, center_sd=np.tile([40.0, 400.0, 4.0], (3, 1)))).may_not[1]
    assert hidden == "Any difference between two segments: all of them are within the noise."


def test_a_release_that_shows_noise_tells_no_column_apart() -> None:
    failed, _ = ENDS["failed"]
    assert failed.profile.telling.any(), "noise of single centres alone would not say so"
    assert not any(one.good for one in failed.may) or failed.may[-1].good
    assert failed.may[1].sentence == "In no column can segments be told apart: the release shows noise."
    assert failed.may_not[1] == "Any difference between two segments: all of them are within the noise."
    # Where one segment alone stands out, differences are not all within the noise.
    few = received(replace(GOOD, center_sd=np.array([[0.5, 5.0, 0.5], [40.0, 400.0, 4.0], [40.0, 400.0, 4.0]])))
    assert not few.shows_noise and few.profile.telling.any()
    assert few.may_not[1] == "A difference between most pairs of segments: it is within the noise."


def test_a_release_of_one_segment_one_column_or_unknown_noise_is_no_error() -> None:
    one = Profile(
        COLUMNS[:1], np.array([[30.0]]), np.array([[1.0]]), SCALE[:1], Sizes(np.array([100.0]), np.array([5.0]))
    )
    made = received(one)
    assert made.finding.title == "One segment: the middle of all rows"
    assert made.may[0].sentence == "The table has about 100 ± 8.8 rows." and "groups" not in " ".join(made.may_not)
    unknown = Received(replace(GOOD, center_sd=np.full((3, 3), np.nan), sizes=None), None, 1.0, 0.0, False)
    assert unknown.finding.title == "3 segments, whose noise cannot be told"
    assert not any(one.good for one in unknown.may) and len(unknown.may_not) == 2
    assert "nan" not in str(unknown.may) + str(unknown.may_not)
