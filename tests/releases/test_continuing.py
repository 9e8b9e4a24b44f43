"""A release that continues an earlier one: its segments are counted again, and what is forged of them is named."""

import csv
import io
import json
from dataclasses import replace
from functools import cache
from math import sqrt
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest

from dpviz.core.check import RequestError
from dpviz.releases.continuing import CountedAgain, EarlierSegments, find_continued
from dpviz.releases.package import CARD, CENTERS, CONTINUED, DATAPACKAGE, DOSSIER, GROUPS, LEDGER, PAGE, make_zip
from dpviz.releases.release_reader import ReadRelease, read_release
from dpviz.releases.release_request import OF_EARLIER, OF_SEGMENTS
from dpviz.releases.releasing import Preflight, Release, plan_release, preflight, publish
from dpviz.releases.render import render
from dpviz.releases.smallest_groups import find_groups
from dpviz.releases.tallies import SegmentTallies, Tally
from dpviz.releases.transcript import Transcript
from dpviz.runs.request import Division
from dpviz.tables.named import open_file
from dpviz.words import NINE_IN_TEN
from tests.cases import about
from tests.releases.forging import findings, verdict_on
from tests.releases.people import WORDS, account_in, declare_people, order_for, unrehearsed

SHARE, MIDDLES = 0.4, np.array([[20.0, 15_000], [45, 60_000], [75, 30_000]])


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
    with TemporaryDirectory() as folder, unrehearsed():
        return publish(plan(Path(folder), earlier))


def test_earlier_segments_are_counted_again_and_stand_where_they_are_looked_for() -> None:
    release, earlier = released(True), read_release(released(False).data)
    read = read_release(release.data)
    continued = release.played.continued
    assert read.holds and continued is not None and read.received is not None
    assert continued.earlier == earlier.segments
    called, before = f"dpviz release {continued.earlier.sha256[:12]}", released(False).files
    assert f"calls {called}:" in continued.words and f"{called}." in before["README.txt"].decode()
    for file, told in ((CARD, "release_type: Many releases"), (DOSSIER, "stands in continued.csv")):
        assert told in release.files[file].decode() and told not in before[file].decode()
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
    text = release.files[CONTINUED]
    for other in (text.replace(b"\n1,", b"\n2,", 1), text.replace(b",,", b",yes,", 1), b""):
        assert other != text and CONTINUED in findings({**release.files, CONTINUED: other})


def test_the_whole_epsilon_is_what_was_asked_for_and_the_ledger_tells_the_count() -> None:
    shares = released(True).played.shares
    assert sum(one.epsilon for one in shares.values()) == pytest.approx(1.0)
    assert shares[OF_EARLIER].epsilon == pytest.approx(SHARE / 2) == shares[OF_SEGMENTS].epsilon
    ledger = csv.DictReader(io.StringIO(released(True).files[LEDGER].decode()))
    assert sum(float(one["cost"]) for one in ledger if one["part"] == OF_EARLIER) == pytest.approx(SHARE / 2)


@pytest.mark.parametrize("what", ["centers", "sizes", "size_sds"])
def test_other_numbers_of_the_earlier_release_contradict_it(what: str) -> None:
    """A transcript that lies about them is made whole again: whoever has the earlier release is told."""
    genuine, earlier = released(True), read_release(released(False).data)
    assert read_release(genuine.data).find_contradiction(earlier) is None
    transcript = genuine.played.transcript
    continues = json.loads(json.dumps(transcript.asked["continues"]))
    changed = continues[what][0] if what == "centers" else continues[what]
    changed[0] += 1.0
    files = render(Transcript({**transcript.asked, "continues": continues}, transcript.recordings))
    assert verdict_on(files).holds
    lying = read_release(make_zip(files))
    assert "which it continues" in (lying.find_contradiction(earlier) or "")
    assert "which it continues" in (earlier.find_contradiction(lying) or "")


def test_what_cannot_be_continued_is_refused_before_the_charge(tmp_path: Path) -> None:
    earlier = read_release(released(False).data)
    (bare_folder := tmp_path / "bare").mkdir()
    with unrehearsed():
        bare = read_release(publish(plan(bare_folder, None, segments=0.0)).data)
    damaged = read_release(make_zip({**released(False).files, CENTERS: b"segment\n"}))
    cases: list[tuple[ReadRelease, dict[str, Any], str]] = [
        (earlier, {"segments": 0.0}, "give them a part"),
        (bare, {}, "Nothing was asked about the segments"),
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


def earlier_of(centers: np.ndarray, sizes: Any = (300.0,) * 3) -> EarlierSegments:
    return EarlierSegments("0" * 64, tuple(map(tuple, centers.tolist())), tuple(sizes), (10.0,) * 3)


def test_what_no_release_published_is_refused() -> None:
    segments = earlier_of(MIDDLES)
    segments.check(2)
    for wrong in (
        *({"sizes": (1.0,)}, {"size_sds": (0.0, 1.0, 1.0)}, {"sizes": (float("nan"), 1.0, 1.0)}),
        *({"centers": ((1.0,),) * 3}, {"centers": (), "sizes": (), "size_sds": ()}),
    ):
        with about(wrong), pytest.raises(RequestError, match="give the zip itself"):
            segments._replace(**wrong).check(2)


def test_changes_are_told_beyond_the_noise_of_both_and_seldom_where_there_is_none() -> None:
    domain = released(True).played.run.domain
    rng, told, held = np.random.default_rng(5), [], []
    for _ in range(2_000):
        noise = rng.laplace(0, 10 / np.sqrt(2), (2, 3))
        now = CountedAgain(np.array([300.0, 420, 180]) + noise[1], 10.0, ())
        found = find_continued(earlier_of(MIDDLES, 300 + noise[0]), now, domain, domain.to_unit_coordinates(MIDDLES))
        told.append(found.changed)
        held.append(np.abs(found.differences - [0, 120, -120]) <= NINE_IN_TEN * found.sd)
    assert 0.89 < np.mean(held) < 0.95
    wrongly, more, fewer = np.mean(told, axis=0)
    assert wrongly < 0.03 and min(more, fewer) > 0.99


def test_a_segment_that_lies_elsewhere_has_no_partner() -> None:
    domain = released(True).played.run.domain
    moved = domain.to_unit_coordinates(np.array([[75.0, 30_000], [21, 16_000], [45, 5_000]]))
    now = CountedAgain(np.array([300.0, 300, 300]), 10.0, ())
    found = find_continued(earlier_of(MIDDLES), now, domain, moved)
    assert found.places.tolist() == [1, -1, 0]
    assert "no earlier segment has changed" in found.words
    changed = find_continued(earlier_of(MIDDLES), now._replace(sizes=np.array([300.0, 900, 20])), domain, moved)
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


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["one row too few everywhere", "some far too few", "all enough"])
def test_a_promise_is_broken_in_at_most_one_release_of_a_hundred(kind: str) -> None:
    true = {
        "one row too few everywhere": np.full(8, 99.0),
        "some far too few": np.array([99.0, 400, 0, 60, 99, 800, 95, 120]),
        "all enough": np.full(8, 200.0),
    }[kind]
    rng = np.random.default_rng([3, len(kind)])
    made = [find_groups(count(true, rng), PLACES, 100) for _ in range(500)]
    rows = [min(true[np.array(group.segments) - 1].sum() for group in one.every) for one in made]
    assert sum(one.kept and least < 100 for one, least in zip(made, rows, strict=True)) <= 5
    assert np.mean([len(one.every) for one in made]) > (7.5 if kind == "all enough" else 2)


def test_small_segments_join_their_nearest_and_all_are_in_one_group() -> None:
    true = np.array([500.0, 500, 5, 500, 500, 500, 500, 3])
    groups = find_groups(count(true, RNG), PLACES + np.array([0.0, 0.01]), 200)
    assert [one.segments for one in groups.every if len(one.segments) > 1] in ([(2, 3), (7, 8)], [(3, 4), (7, 8)])
    assert sorted(place for one in groups.every for place in one.segments) == [*range(1, 9)]
    assert groups.kept and all(one.least >= 200 for one in groups.every)
    assert "count as one group" in groups.words and "segments 7 and 8" in groups.words


def test_what_cannot_be_kept_is_said() -> None:
    groups = find_groups(count(np.full(8, 10.0), RNG), PLACES, 5_000)
    assert len(groups.every) == 1 and not groups.kept and "may be fewer than" in groups.words


@cache
def promised() -> Release:
    with TemporaryDirectory() as folder, unrehearsed():
        data, said = declare_people(Path(folder))
        order = replace(order_for(said, segments=0.3), smallest_group=400)
        return publish(preflight(order, open_file(data), said, account_in(Path(folder))))


def test_groups_stand_in_the_zip_on_the_card_and_in_what_is_read() -> None:
    read = read_release(promised().data)
    assert read.holds and read.played is not None and read.played.groups is not None and read.received
    groups, text = read.played.groups, promised().files[GROUPS]
    rows = list(csv.DictReader(io.StringIO(text.decode())))
    assert [row["segments"] for row in rows] == [" ".join(map(str, one.segments)) for one in groups.every]
    assert all(int(row["least_rows"]) >= 400 for row in rows) and len(rows) < 3
    assert groups.words in promised().files[PAGE].decode()
    assert groups.words in [one.sentence for one in read.received.may]
    assert read.to_dict()["groups"]["smallest"] == 400
    assert GROUPS in (told := promised().files[DATAPACKAGE].decode()) and groups.words in told
    for other in (text.replace(b"\n1", b"\n2", 1), b""):
        assert other != text and GROUPS in findings({**promised().files, GROUPS: other})
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
