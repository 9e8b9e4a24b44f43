"""A release that continues an earlier one: its segments are counted again, and what is forged of them is named."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from functools import cache
from math import sqrt
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest

import dpviz
from dpviz.api import console
from dpviz.core.check import RequestError
from dpviz.releases.continuing import COUNTED_AGAIN, FALSE_ALARMS, CountedAgain, EarlierSegments, find_continued
from dpviz.releases.package import CENTERS, CONTINUED, DATAPACKAGE, GROUPS, LEDGER, PAGE, make_zip
from dpviz.releases.release_reader import ReadRelease, read_release
from dpviz.releases.release_request import OF_EARLIER, OF_SEGMENTS
from dpviz.releases.releasing import Preflight, Release, plan_release, preflight, publish
from dpviz.releases.render import render
from dpviz.releases.smallest_groups import Group, Groups, find_groups
from dpviz.releases.tallies import SegmentTallies, Tally
from dpviz.releases.transcript import Transcript
from dpviz.runs.request import Division
from dpviz.tables.named import open_file
from dpviz.words import NINE_IN_TEN, format_percent
from tests.releases.forging import findings, verdict_on
from tests.releases.people import WORDS, account_in, declare_people, order_for

K, SHARE = 3, 0.4


def plan(folder: Path, earlier: ReadRelease | None, *, rows: int = 900, **asked: Any) -> Preflight:
    """A release of the first ``rows`` of the table, which continues another one."""
    declared = {"release": WORDS, **asked.pop("declared", {})}
    data, said = declare_people(folder, **declared)
    lines = data.read_text().splitlines()
    data.write_text("\n".join(lines[: rows + 1]) + "\n")
    request = order_for(said, epsilon=1.0).request
    division = Division(asked.pop("segments", SHARE))
    account = account_in(folder)
    try:
        return plan_release(
            request, open_file(data), said, account, words={}, continues=earlier, division=division, **asked
        )
    finally:
        assert not account.standing().entries


@cache
def released(continues: bool) -> Release:
    earlier = read_release(released(False).data) if continues else None
    with TemporaryDirectory() as folder:
        return publish(plan(Path(folder), earlier))


def test_earlier_segments_are_counted_again_and_stand_where_they_are_looked_for() -> None:
    release, earlier = released(True), read_release(released(False).data)
    read = read_release(release.data)
    continued = release.played.continued
    assert read.holds and continued is not None and read.received is not None
    assert continued.earlier == earlier.segments
    assert (np.abs(continued.now.sizes - 300) < 8 * continued.now.sd).all()
    assert sorted(continued.places.tolist()) == [0, 1, 2]
    lines = list(csv.DictReader(io.StringIO(release.files[CONTINUED].decode())))
    assert [line["earlier_segment"] for line in lines] == ["1", "2", "3"]
    # Of three segments that did not change one is named in every hundredth release: then everywhere.
    named = [line["earlier_segment"] for line in lines if line["changed"]]
    assert named == [f"{place + 1}" for place in np.flatnonzero(continued.changed)]
    assert ("no earlier segment has changed" in continued.words) == (not named)
    assert continued.words in release.files[PAGE].decode()
    assert continued.words in [one.sentence for one in read.received.may]
    assert read.to_dict()["continued"]["sizes"] == continued.earlier.sizes and earlier.to_dict()["continued"] is None
    assert CONTINUED in release.files[DATAPACKAGE].decode() and CONTINUED not in released(False).files


def test_the_whole_epsilon_is_what_was_asked_for_and_the_ledger_tells_the_count() -> None:
    release = released(True)
    shares = release.played.shares
    assert sum(one.epsilon for one in shares.values()) == pytest.approx(1.0)
    assert shares[OF_EARLIER].epsilon == pytest.approx(SHARE / 2) == shares[OF_SEGMENTS].epsilon
    spent = [
        float(one["cost"])
        for one in csv.DictReader(io.StringIO(release.files[LEDGER].decode()))
        if one["part"] == OF_EARLIER
    ]
    assert sum(spent) == pytest.approx(SHARE / 2)


def test_what_counting_again_costs_and_how_often_it_errs_is_what_is_written_of_it() -> None:
    cost = {0.5: "with half of what segments cost"}[COUNTED_AGAIN]
    howto = (Path(__file__).parents[2] / "docs" / "howto" / "release.md").read_text("utf-8")
    for text in (howto, dpviz.release.__doc__, Path(console.__file__).with_name("options.toml").read_text("utf-8")):
        assert cost in " ".join((text or "").split())
    assert f"of segments that did not change {format_percent(FALSE_ALARMS)} at most are named" in howto


def test_a_forged_line_is_named() -> None:
    files = released(True).files
    text = files[CONTINUED]
    for other in (text.replace(b"\n1,", b"\n2,", 1), text.replace(b",,", b",yes,", 1), b""):
        assert other != text and CONTINUED in findings({**files, CONTINUED: other})


@pytest.mark.parametrize("what", ["centers", "sizes", "size_sds"])
def test_other_numbers_of_the_earlier_release_contradict_it(what: str) -> None:
    """A transcript that lies about them is made whole again: whoever has the earlier release is told."""
    genuine, earlier = released(True), read_release(released(False).data)
    assert read_release(genuine.data).find_contradiction(earlier) is None
    asked = dict(genuine.played.transcript.asked)
    numbers = [list(one) if isinstance(one, (list, tuple)) else one for one in asked["continues"][what]]
    if what == "centers":
        numbers[0][0] += 1.0
    else:
        numbers[0] += 1.0
    files = render(
        Transcript({**asked, "continues": {**asked["continues"], what: numbers}}, genuine.played.transcript.recordings)
    )
    assert verdict_on(files).holds
    lying = read_release(make_zip(files))
    assert "which it continues" in (lying.find_contradiction(earlier) or "")
    assert "which it continues" in (earlier.find_contradiction(lying) or "")


def test_what_cannot_be_continued_is_refused_before_the_charge(tmp_path: Path) -> None:
    earlier = read_release(released(False).data)
    damaged = read_release(make_zip({**released(False).files, CENTERS: b"segment\n"}))
    cases: list[tuple[ReadRelease, dict[str, Any], str]] = [
        (earlier, {"segments": 0.0}, "give them a part"),
        (damaged, {}, "not what it says"),
        (earlier, {"declared": {"bounds": {"age": [0, 110], "income": [0, 90000]}}}, "other columns, bounds"),
        (earlier, {"declared": {"weights": {"age": 2.0}}}, "other columns, bounds"),
        (earlier, {"declared": {"relation": "replace"}}, "other columns, bounds"),
    ]
    for place, (other, asked, said) in enumerate(cases):
        folder = tmp_path / str(place)
        folder.mkdir()
        with pytest.raises(RequestError, match=said):
            plan(folder, other, **asked)


def test_a_release_without_segments_is_not_continued(tmp_path: Path) -> None:
    bare = publish(plan(tmp_path, None, segments=0.0))
    (tmp_path / "later").mkdir()
    with pytest.raises(RequestError, match="Nothing was asked about the segments"):
        plan(tmp_path / "later", read_release(bare.data))


@pytest.mark.parametrize(
    "wrong",
    [
        {"sizes": (1.0,)},
        {"size_sds": (0.0, 1.0, 1.0)},
        {"centers": ((1.0,),) * 3},
        {"centers": (), "sizes": (), "size_sds": ()},
        {"sizes": (float("nan"), 1.0, 1.0)},
    ],
    ids=lambda wrong: "-".join(wrong),
)
def test_what_no_release_published_is_refused(wrong: dict[str, Any]) -> None:
    segments = EarlierSegments(64 * "0", ((1.0, 2.0),) * 3, (1.0,) * 3, (1.0,) * 3)
    segments.check(2)
    with pytest.raises(RequestError, match="give the zip itself"):
        segments._replace(**wrong).check(2)


def test_changes_are_told_beyond_the_noise_of_both_and_seldom_where_there_is_none() -> None:
    domain = released(True).played.run.domain
    rng = np.random.default_rng(5)
    centers = np.array([[20.0, 15_000], [45, 60_000], [75, 30_000]])
    told, held = [], []
    for _ in range(2_000):
        noise = rng.laplace(0, 10 / np.sqrt(2), (2, 3))
        earlier = EarlierSegments(
            "0" * 64, tuple(map(tuple, centers.tolist())), tuple((300 + noise[0]).tolist()), (10.0,) * 3
        )
        now = CountedAgain(np.array([300.0, 420, 180]) + noise[1], 10.0, ())
        found = find_continued(earlier, now, domain, domain.to_unit_coordinates(centers))
        told.append(found.changed)
        held.append(np.abs(found.differences - [0, 120, -120]) <= NINE_IN_TEN * found.sd)
    assert 0.89 < np.mean(held) < 0.95
    wrongly, more, fewer = np.mean(told, axis=0)
    assert wrongly < 0.03 and min(more, fewer) > 0.99


def test_a_segment_that_lies_elsewhere_has_no_partner() -> None:
    domain = released(True).played.run.domain
    centers = np.array([[20.0, 15_000], [45, 60_000], [75, 30_000]])
    earlier = EarlierSegments("0" * 64, tuple(map(tuple, centers.tolist())), (300.0,) * 3, (10.0,) * 3)
    moved = domain.to_unit_coordinates(np.array([[75.0, 30_000], [21, 16_000], [45, 5_000]]))
    now = CountedAgain(np.array([300.0, 300, 300]), 10.0, ())
    found = find_continued(earlier, now, domain, moved)
    assert found.places.tolist() == [1, -1, 0]
    assert "no earlier segment has changed" in found.words
    changed = find_continued(earlier, now._replace(sizes=np.array([300.0, 900, 20])), domain, moved)
    assert "2 (more rows) and 3 (fewer rows); of segments that did not change 2 % at most" in changed.words


# A smallest group: promised, kept in 99 of 100 releases, said wherever it matters, and made again without a row.


RNG = np.random.default_rng(7)
PLACES = np.linspace(-1, 1, 8)[:, None] * np.ones(2)
SDS, BINS = (14.0, 6.0, 9.0), (1, 24, 8)


def count(true: np.ndarray, rng: np.random.Generator) -> SegmentTallies:
    """Three tallies of segments of these sizes, each in its bins, with Laplace noise."""
    noisy = []
    for sd, bins in zip(SDS, BINS, strict=True):
        counts = np.zeros((len(true), bins))
        counts[:, 0] = true
        noisy.append(Tally(counts + rng.laplace(0, sd / sqrt(2), counts.shape), sd, np.ones(counts.shape, dtype=bool)))
    return SegmentTallies(tuple(noisy))


def count_rows(groups: Groups, true: np.ndarray) -> list[float]:
    return [float(true[[place - 1 for place in one.segments]].sum()) for one in groups.every]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["one row too few everywhere", "some far too few", "all enough"])
def test_a_promise_is_broken_in_at_most_one_release_of_a_hundred(kind: str) -> None:
    true = {
        "one row too few everywhere": np.full(8, 99.0),
        "some far too few": np.array([99.0, 400, 0, 60, 99, 800, 95, 120]),
        "all enough": np.full(8, 200.0),
    }[kind]
    rng = np.random.default_rng([3, len(kind)])
    made = [find_groups(count(true, rng), PLACES, 100) for _ in range(2_000)]
    broken = sum(one.kept and min(count_rows(one, true)) < 100 for one in made)
    assert broken <= 20
    if kind == "all enough":
        assert np.mean([len(one.every) for one in made]) > 7.5
    else:
        assert np.mean([len(one.every) for one in made]) > 2


def test_small_segments_join_their_nearest_and_all_are_in_one_group() -> None:
    true = np.array([500.0, 500, 5, 500, 500, 500, 500, 3])
    groups = find_groups(count(true, RNG), PLACES + np.array([0.0, 0.01]), 200)
    assert [one.segments for one in groups.every if len(one.segments) > 1] in ([(2, 3), (7, 8)], [(3, 4), (7, 8)])
    assert sorted(place for one in groups.every for place in one.segments) == [*range(1, 9)]
    assert groups.kept and all(one.least >= 200 for one in groups.every)
    assert "count as one group" in groups.words and "segments 7 and 8" in groups.words


def test_many_that_count_as_one_are_listed() -> None:
    every = (Group((1, 3, 4), 90.0, 5.0, 70.0), Group((2,), 60.0, 5.0, 50.0))
    assert Groups(50, every).words.endswith("50 rows: segments 1, 3 and 4 count as one group.")


def test_what_cannot_be_kept_is_said() -> None:
    groups = find_groups(count(np.full(8, 10.0), RNG), PLACES, 5_000)
    assert len(groups.every) == 1 and not groups.kept and "may be fewer than" in groups.words


@cache
def promised() -> Release:
    with TemporaryDirectory() as folder:
        data, said = declare_people(Path(folder))
        order = replace(order_for(said, segments=0.3), smallest_group=400)
        return publish(preflight(order, open_file(data), said, account_in(Path(folder))))


def test_groups_stand_in_the_zip_on_the_card_and_in_what_is_read() -> None:
    read = read_release(promised().data)
    assert read.holds and read.played is not None and read.played.groups is not None
    groups = read.played.groups
    rows = list(csv.DictReader(io.StringIO(promised().files[GROUPS].decode())))
    assert [row["segments"] for row in rows] == [" ".join(map(str, one.segments)) for one in groups.every]
    assert all(int(row["least_rows"]) >= 400 for row in rows) and len(rows) < 3
    assert groups.words in promised().files[PAGE].decode()
    assert groups.words in [one.sentence for one in read.received.may] if read.received else False
    assert read.to_dict()["groups"]["smallest"] == 400
    assert GROUPS in promised().files[DATAPACKAGE].decode()


def test_a_forged_group_is_named() -> None:
    text = promised().files[GROUPS]
    for other in (text.replace(b"1 ", b"", 1), text.replace(b"\n1,", b"\n2,", 1), b""):
        if other != text:
            assert GROUPS in findings({**promised().files, GROUPS: other})
    without = {name: data for name, data in promised().files.items() if name != GROUPS}
    assert not read_release(make_zip(without)).holds


@pytest.mark.parametrize(("segments", "smallest", "said"), [(0.0, 5, "give them a part"), (0.2, -1, "0 for none")])
def test_what_cannot_be_promised_is_refused_before_the_charge(
    tmp_path: Path, segments: float, smallest: int, said: str
) -> None:
    data, declared = declare_people(tmp_path)
    order = replace(order_for(declared, segments=segments), smallest_group=smallest)
    account = account_in(tmp_path)
    with pytest.raises(RequestError, match=said):
        preflight(order, open_file(data), declared, account)
    assert not account.standing().entries
