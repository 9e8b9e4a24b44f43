"""A release read by whoever received it: typed numbers with their noise, whatever is wrong first, no row anywhere."""

import csv
import io
import re
import tempfile
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from statistics import NormalDist
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import dpviz
from dpviz.algorithms.card import LossDiagnostic
from dpviz.algorithms.size_estimates import Sizes
from dpviz.app.ui.release.read_page import SNIPPET
from dpviz.core.check import RequestError
from dpviz.releases.package import CENTERS, TRANSCRIPT, make_zip
from dpviz.releases.read_work import example_work
from dpviz.releases.release_reader import ReadRelease, Received, read_release
from dpviz.releases.releasing import publish
from dpviz.releases.segments_report import QualityReport, QualityVerdict
from dpviz.releases.tallies import Interval
from dpviz.releases.two_releases import compare
from dpviz.runs.one_run import run
from dpviz.runs.open_table import declare
from dpviz.runs.profiles import Profile, ProfileColumn, make_profile
from dpviz.runs.verdict import Verdict
from dpviz.tables.named import sample
from tests.cases import about
from tests.releases.forging import rehashed, released
from tests.releases.people import ready_in, unrehearsed
from tests.stored import compare_texts


@pytest.fixture(scope="module")
def good():
    return read_release(make_zip(released()))


def test_every_number_has_its_noise_or_an_interval_beside_it(good) -> None:
    assert good.holds and good.profile is not None and good.received is not None
    for one in good.numbers:
        assert one.error_sd is not None or (one.low is not None and one.high is not None)
        assert one.low is None or one.low <= one.high
        assert one.value is None or one.low <= one.value <= one.high
    frame = good.to_pandas()
    assert (frame.dtypes[["value", "low", "high", "error_sd"]] == "float64").all() and len(frame) == len(good.numbers)


def test_one_answer_a_quantity_in_every_file(good) -> None:
    files = released()
    rows = list(csv.DictReader(io.StringIO(files[CENTERS].decode())))
    said = list(csv.DictReader(io.StringIO(files["segments.csv"].decode())))
    sizes = {line["segment"]: line for line in said if line["statistic"] == "size"}
    frame = good.to_pandas().set_index(["segment", "column", "statistic"])
    told = [files["card.html"].decode(), files["dossier.html"].decode(), "".join(good.received.may_not)]
    assert len({re.search(r"fewer than about ([\d,]+) rows can be lost", one)[1] for one in told}) == 1
    for row in rows:
        size = sizes[row["segment"]]
        assert row["noisy_size"] == size["value"]
        assert float(row["noisy_size_sd"]) == pytest.approx(float(size["noise_sd"]))
        mine = frame.loc[(int(row["segment"]), "", "rows")]
        assert mine["value"] == float(row["noisy_size"])
        assert mine["error_sd"] == pytest.approx(float(size["noise_sd"]), rel=1e-5)
        for name in ("age", "income"):
            mine = frame.loc[(int(row["segment"]), name, "centre")]
            assert mine["value"] == float(row[name])
            assert mine["error_sd"] == pytest.approx(float(row[f"{name}_sd"]), rel=1e-5)


def test_the_tidy_file_and_the_snippet_work(good, tmp_path, monkeypatch, capsys) -> None:
    (tmp_path / "release_tidy.csv").write_text(good.to_csv(), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    back = pd.read_csv("release_tidy.csv", keep_default_na=True)
    assert len(back) == len(good.numbers) and back["value"].dtype == back["error_sd"].dtype == np.float64
    exec(compile(SNIPPET, "snippet", "exec"), {})
    assert "age" in capsys.readouterr().out


def test_a_forged_release_is_read_and_says_first_what_is_wrong(good) -> None:
    forged = read_release(make_zip(rehashed({**released(), CENTERS: released()[CENTERS].replace(b"1", b"2")})))
    assert not forged.holds and forged.verdict.findings[0].file == CENTERS
    assert forged.profile.centers == pytest.approx(good.profile.centers), "numbers are those of the transcript"
    said = forged.to_dict()
    assert next(iter(said)) == "verdict" and not said["verdict"]["holds"]
    damaged = read_release(make_zip(rehashed({**released(), TRANSCRIPT: b""})))
    assert not damaged.holds and damaged.profile is None and damaged.received is None and damaged.numbers == ()
    assert list(damaged.to_dict()) == ["verdict"] and damaged.to_csv().count("\n") == 1
    with pytest.raises(RequestError, match="nothing to compare"):
        good.compare_with(damaged)


@pytest.mark.parametrize("algorithm", ["auto", "eugkm", "lsh-coreset"])
def test_a_release_without_segments_is_read(tmp_path, algorithm) -> None:
    with unrehearsed():
        files = publish(ready_in(tmp_path, algorithm=algorithm)).files
    (tmp_path / "r.zip").write_bytes(make_zip(files))
    read = dpviz.read_release(str(tmp_path / "r.zip"))
    assert read.holds and read.report is None and read.received is not None and read.unit == "1 row (event level)"
    assert {one.statistic for one in read.numbers} <= {"rows", "centre"}
    assert "No quality report" in str(read.received.may) and read.to_dict()["certificate"] is None
    with pytest.raises(RequestError, match="a share for segments"):
        read.ask("larger", 1, 2)
    if algorithm == "auto":
        assert read.compare_with(read).beyond == 0
        return
    # Nothing was counted of their segments: how far off centres are, which their noise does not say, nobody can tell.
    assert all(one.error_sd is None for one in read.numbers if one.statistic == "centre")
    assert "how far off" in str(read.received.may)
    with pytest.raises(RequestError, match="not known"):
        read.compare_with(read)


# What may be concluded from a release: the worst first, from released values, nothing beyond its noise.


COLUMNS = (
    ProfileColumn("age", 0.0, 100.0, "years"),
    ProfileColumn("income", 0.0, 1000.0),
    ProfileColumn("visits", 0.0, 10.0),
)
SCALE = np.array([50.0, 500.0, 5.0])
MIDDLES = np.array([[20.0, 300.0, 5.0], [70.0, 600.0, 5.1], [40.0, 800.0, 4.9]])
GOOD = Profile(
    COLUMNS, MIDDLES, np.tile([0.5, 5.0, 0.5], (3, 1)), SCALE, Sizes(np.array([900.0, 500.0, 300.0]), np.full(3, 9.0))
)


def make_quality_report(verdict: QualityVerdict = QualityVerdict.GOOD, *, high: float = 0.3) -> QualityReport:
    one = Interval(1.0, 0.9, 1.1)
    words = {QualityVerdict.GOOD: "Nothing speaks against it.", QualityVerdict.POOR: "A group was missed."}.get(
        verdict, "It is covered."
    )
    return QualityReport(one, one, one, (1, 1, 1), Interval(0.2, 0.1, high), one, (one, one), verdict, (words,))


def received(profile: Profile = GOOD, quality: QualityReport | None = None, **said) -> Received:
    given = {"epsilon": 1.0, "delta": 1e-6, "has_id": False, **said}
    return Received(profile, quality or make_quality_report(), **given)


LOST = replace(GOOD, sizes=Sizes(np.array([900.0, 20.0, 10.0]), np.full(3, 9.0)))
HIDDEN = replace(GOOD, center_sd=np.tile([40.0, 400.0, 4.0], (3, 1)))
# By what is worst about them.
ENDS = {
    "failed": received(replace(LOST, centers=np.array([[0.0, 0, 0], [100, 600, 5], [40, 800, 5.0]])), epsilon=0.02),
    "edge": received(replace(GOOD, centers=np.array([[0.0, 1000, 5], [0, 0, 5], [40, 800, 5]]))),
    "sizes": received(LOST),
    "noise": received(replace(GOOD, center_sd=np.tile([20.0, 200.0, 2.0], (3, 1)))),
    "one": received(quality=make_quality_report(high=1.2)),
    "cannot tell": received(quality=make_quality_report(QualityVerdict.CANNOT_TELL)),
    "poor": received(quality=make_quality_report(QualityVerdict.POOR)),
    "": received(),
}
CASES = {
    **{f"worst: {name or 'nothing'}": made for name, made in ENDS.items()},
    "sizes nearly alike": received(replace(GOOD, sizes=Sizes(np.array([510.0, 500.0, 300.0]), np.full(3, 9.0)))),
    "all of it lost": received(
        replace(LOST, center_sd=np.full((3, 3), 400.0)), make_quality_report(QualityVerdict.POOR)
    ),
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


# Two releases compared: the gate, twice the noise, and that pairs of draws from the same rows hardly ever differ.


def test_segments_are_paired_off_whatever_their_numbers() -> None:
    order = [2, 0, 1]
    other = replace(GOOD, centers=GOOD.centers[order], center_sd=GOOD.center_sd[order], sizes=GOOD.sizes.select(order))
    found = compare(GOOD, other)
    assert found.partner.tolist() == [1, 2, 0] and found.passes and found.beyond == 0
    assert found.title == "Nothing differs beyond the noise" and not found.of_centers.any()
    assert found.table()["segments"].tolist() == ["1 ↔ 2", "2 ↔ 3", "3 ↔ 1"] and "rows" in found.table()
    assert found.comparisons == 12 and f"{found.limit:.1f} standard deviations" in found.words


@pytest.mark.parametrize(("times", "beyond"), [(-0.01, 0), (1.0, 0), (1.9, 0), (2.1, 1)])
def test_a_difference_counts_beyond_twice_the_noise_of_both(times: float, beyond: int) -> None:
    alone = NormalDist().inv_cdf(1 - 0.05 / (2 * 12))  # one alarm in twenty by noise alone, of twelve comparisons
    centers = GOOD.centers.copy()
    centers[1, 0] += times * alone * np.sqrt(2) * GOOD.center_sd[1, 0]
    found = compare(GOOD, replace(GOOD, centers=centers))
    assert found.passes and found.beyond == beyond
    assert found.title == ("One number differs beyond the noise" if beyond else "Nothing differs beyond the noise")
    assert not np.signbit(found.table().iloc[:, 1:]).any().any(), "no number is written as -0.0"


def test_segments_that_do_not_pair_off_are_not_compared() -> None:
    centers = GOOD.centers.copy()
    centers[0] += 0.3 * GOOD.gaps[0] * GOOD.scale / np.sqrt(3)
    few = Sizes(np.array([900.0, 500.0, 20.0]), np.full(3, 9.0))
    for other in (replace(GOOD, centers=centers), replace(GOOD, sizes=few)):
        found = compare(GOOD, other)
        assert not found.passes and found.beyond == 0 and not len(found.table())
        assert found.title == "These two releases cut the rows into other segments"
        assert "do that, too: no difference between segments laid side by side can be read as a change" in found.words
        assert "a release that continues the other: it counts" in found.words, "which tells what has changed"
        assert found.unclear == 0 or "1 size is within 3 sd of nobody." in found.words


def test_what_cannot_be_laid_side_by_side_is_refused() -> None:
    other_bounds = (ProfileColumn("age", 0.0, 90.0, "years"), *GOOD.columns[1:])
    fewer = replace(GOOD, centers=GOOD.centers[:2], center_sd=GOOD.center_sd[:2], sizes=None)
    for other in (replace(GOOD, columns=other_bounds), fewer):
        with pytest.raises(RequestError, match="other columns, bounds or another k"):
            compare(GOOD, other)
    with pytest.raises(RequestError, match="is not known"):
        compare(GOOD, replace(GOOD, center_sd=np.full((3, 3), np.nan)))


def test_draws_from_the_same_rows_hardly_ever_differ() -> None:
    """Noise alone, at the ledger's sd, would call more than a tenth of these pairs different."""
    loaded = sample("people").load()
    table = declare(loaded.table, loaded.declaration).private
    pairs = wrong = naive = 0
    for k in (4, 5):
        drawn = [make_profile(run("auto", table, k=k, epsilon=1.0, delta=1e-6, seed=seed)) for seed in range(8)]
        for one, other in combinations(drawn, 2):
            found = compare(one, other)
            pairs, wrong = pairs + 1, wrong + bool(found.beyond)
            naive += bool((np.abs(found.of_centers) > found.limit / 2).any())
    assert wrong <= 0.05 * pairs < 0.1 * pairs < naive, (wrong, naive, pairs)


# The example for whoever has no release at hand: one that holds, says that it is an example, and leaves no account.


def test_the_example_holds_says_what_it_is_and_leaves_nothing_behind(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    *_, example = example_work()
    assert isinstance(example, ReadRelease) and example.holds
    assert example.name == "People of a town (an example)" and example.report is not None
    assert example.received is not None and example.received.finding.failed != "failed"
    assert not list(tmp_path.iterdir())
