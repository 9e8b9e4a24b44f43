"""What may be concluded from a release: the worst first, from released values, nothing beyond its noise."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from dpviz.algorithms.card import LossDiagnostic
from dpviz.algorithms.size_estimates import Sizes
from dpviz.releases.release_reader import Received
from dpviz.releases.segments_report import QualityReport, QualityVerdict
from dpviz.releases.tallies import Interval
from dpviz.runs.profiles import Profile, ProfileColumn
from dpviz.runs.verdict import Verdict
from tests.cases import about
from tests.stored import compare_texts

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
HIDDEN = replace(GOOD, center_sd=np.tile([40.0, 400.0, 4.0], (3, 1)))
# By what is worst about them.
ENDS = {
    "failed": received(replace(LOST, centers=np.array([[0.0, 0, 0], [100, 600, 5], [40, 800, 5.0]])), epsilon=0.02),
    "edge": received(replace(GOOD, centers=np.array([[0.0, 1000, 5], [0, 0, 5], [40, 800, 5]]))),
    "sizes": received(LOST),
    "noise": received(replace(GOOD, center_sd=np.tile([20.0, 200.0, 2.0], (3, 1)))),
    "one": received(quality=quality_report(high=1.2)),
    "cannot tell": received(quality=quality_report(QualityVerdict.CANNOT_TELL)),
    "poor": received(quality=quality_report(QualityVerdict.POOR)),
    "": received(),
}
CASES = {
    **{f"worst: {name or 'nothing'}": made for name, made in ENDS.items()},
    "sizes nearly alike": received(replace(GOOD, sizes=Sizes(np.array([510.0, 500.0, 300.0]), np.full(3, 9.0)))),
    "all of it lost": received(replace(LOST, center_sd=np.full((3, 3), 400.0)), quality_report(QualityVerdict.POOR)),
    "no report": Received(GOOD, None, 1.0, 0.0, True),
    "persons": received(has_id=True),
    "one exchanged": received(relation="replace"),
    "pure": received(delta=0.0),
    "hidden by noise": received(HIDDEN),
    "one that stands out": received(replace(HIDDEN, center_sd=np.vstack([GOOD.center_sd[:1], HIDDEN.center_sd[1:]]))),
    "one segment": received(
        Profile(
            COLUMNS[:1], np.array([[30.0]]), np.array([[1.0]]), SCALE[:1], Sizes(np.array([100.0]), np.array([5.0]))
        )
    ),
    "unknown noise": Received(replace(GOOD, center_sd=np.full((3, 3), np.nan), sizes=None), None, 1.0, 0.0, False),
}


def test_the_worst_is_said_first_and_what_may_be_concluded_is_what_it_was() -> None:
    told = []
    for name, made in CASES.items():
        with about(name):
            assert len(made.finding.title) <= 50 and bool(made.finding.reason) == bool(made.finding.failed)
            assert "nan" not in str(made.may) + str(made.may_not)
        may = [f"{'may' if one.good else 'hardly'}: {one.sentence}" for one in made.may]
        lines = [f"title: {made.finding.title}", f"reason: {made.finding.reason}", *may]
        told.append((name, "\n".join([*lines, *(f"may not: {words}" for words in made.may_not)])))
    compare_texts(Path(__file__).parent / "stored" / "conclusions.txt", told)
    assert [made.finding.failed for made in ENDS.values()] == [*ENDS]
    assert ENDS["failed"].profile.telling.any(), "noise of single centres alone would not say so"


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


def test_what_is_within_the_noise_is_said_for_each_pair_and_not_one_number_for_all() -> None:
    """The third segment has ten times the noise of the others: a median would call its noise a difference."""
    made = replace(GOOD, center_sd=np.array([[0.5, 5.0, 0.5], [0.6, 6.0, 0.6], [5.0, 50.0, 5.0]]))
    (said,) = (words for words in received(made).may_not if words.startswith("A small difference"))
    table = received(made).tabulate_pairs().set_index("segments")
    assert list(table.index) == ["1 and 2", "1 and 3", "2 and 3"]
    for place, column in ((0, "age"), (1, "income")):
        of_pair = {
            f"{i + 1} and {j + 1}": made.columns[place].describe_reach(float(np.hypot(*made.reach[[i, j], place])))
            for i, j in ((0, 1), (0, 2), (1, 2))
        }
        assert table[column].to_dict() == of_pair
        assert f"{of_pair['1 and 2']} (segments 1 and 2) to {of_pair['2 and 3']} (segments 2 and 3) in {column}" in said
    (alike,) = (words for words in received(GOOD).may_not if words.startswith("A small difference"))
    assert "segments 1" not in alike and received(CASES["unknown noise"].profile).tabulate_pairs().empty
