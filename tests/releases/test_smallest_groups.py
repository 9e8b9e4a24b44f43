"""A smallest group: promised, kept in 99 of 100 releases, said wherever it matters, and made again without a row."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from functools import cache
from math import sqrt
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest

from dpviz.core.check import RequestError
from dpviz.releases.package import DATAPACKAGE, GROUPS, PAGE, make_zip
from dpviz.releases.release_reader import read_release
from dpviz.releases.releasing import Release, preflight, publish
from dpviz.releases.smallest_groups import Group, Groups, find_groups
from dpviz.releases.tallies import SegmentTallies, Tally
from dpviz.tables.named import open_file
from tests.releases.forging import findings
from tests.releases.people import account_in, declare_people, order_for

RNG = np.random.default_rng(7)
CENTERS = np.linspace(-1, 1, 8)[:, None] * np.ones(2)
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
    made = [find_groups(count(true, rng), CENTERS, 100) for _ in range(2_000)]
    broken = sum(one.kept and min(count_rows(one, true)) < 100 for one in made)
    assert broken <= 20
    if kind == "all enough":
        assert np.mean([len(one.every) for one in made]) > 7.5
    else:
        assert np.mean([len(one.every) for one in made]) > 2


def test_small_segments_join_their_nearest_and_all_are_in_one_group() -> None:
    true = np.array([500.0, 500, 5, 500, 500, 500, 500, 3])
    groups = find_groups(count(true, RNG), CENTERS + np.array([0.0, 0.01]), 200)
    assert [one.segments for one in groups.every if len(one.segments) > 1] in ([(2, 3), (7, 8)], [(3, 4), (7, 8)])
    assert sorted(place for one in groups.every for place in one.segments) == [*range(1, 9)]
    assert groups.kept and all(one.least >= 200 for one in groups.every)
    assert "count as one group" in groups.words and "segments 7 and 8" in groups.words


def test_many_that_count_as_one_are_listed() -> None:
    every = (Group((1, 3, 4), 90.0, 5.0, 70.0), Group((2,), 60.0, 5.0, 50.0))
    assert Groups(50, every).words.endswith("50 rows: segments 1, 3 and 4 count as one group.")


def test_what_cannot_be_kept_is_said() -> None:
    groups = find_groups(count(np.full(8, 10.0), RNG), CENTERS, 5_000)
    assert len(groups.every) == 1 and not groups.kept and "may be fewer than" in groups.words


def test_where_all_are_large_each_is_a_group() -> None:
    groups = find_groups(count(np.full(8, 1e4), RNG), CENTERS, 100)
    assert len(groups.every) == 8 and "each segment is a group" in groups.words


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
