"""Segments keep the contract of every release, and say what is so."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from itertools import chain
from math import inf

import numpy as np
import pandas as pd
import pytest

from dpviz.core.accounting import Accounting, Budget
from dpviz.core.check import RequestError
from dpviz.core.ledger import BudgetExceeded, Ledger
from dpviz.core.partitions import Voronoi
from dpviz.core.queries import FINE_PARTS, SegmentHistogram
from dpviz.releases.described_table import make_described_table
from dpviz.releases.segments import (
    WEIGHTS,
    _measure_rows,
    _split_shares,
    ask_segments,
    find_bin_starts,
    make_bins,
    score_columns,
)
from dpviz.releases.segments_report import RANGE, TOO_SMALL, NumbersSaid, QualityVerdict, format_segments
from dpviz.releases.tallies import Tally
from dpviz.runs.open_table import declare
from dpviz.tables.arrow_intake import ParquetTable
from dpviz.tables.codings import MISSING_LABEL, OTHER
from dpviz.tables.csv_intake import CsvOnDisk, open_csv
from dpviz.tables.declarations import Declaration, apply_declaration
from dpviz.tables.named import sample
from tests.contract.questions import check_move, room_over
from tests.contract.sessions import RecordedLoss, Recording, open_seeded
from tests.releases.segment_tables import (
    CENTERS,
    KINDS,
    clustered_only,
    described,
    described_mixed,
    middles,
    mixed_frame,
    report_of,
    rows_of,
)

ROWS = rows_of(60)
# Neighbours: one row less, all rows of a person less, one row exchanged for another one.
ELSEWHERE = np.array([0.9, 0.9, 1.9, 2.0, 0.0])
NEIGHBOURS = {
    "a row less": ({}, ROWS, ROWS[:-1]),
    "a person less": ({"id_column": "who", "rows_per_person": 2}, ROWS, ROWS[:-2]),
    "a row exchanged": ({"relation": "replace"}, ROWS, np.r_[ROWS[:-1], ELSEWHERE[None]]),
}


MIXED = mixed_frame(60)
MIXED_NEIGHBOURS = {
    "a row less": ({}, MIXED, MIXED[:-1]),
    "a person less": ({"id_column": "who", "rows_per_person": 2}, MIXED, MIXED[:-2]),
    "a row exchanged": ({"relation": "replace"}, MIXED, pd.concat([MIXED[:-1], mixed_frame(1, seed=9)])),
}


def _losses(here, there, *, seeds: int, centers=CENTERS) -> Iterator[RecordedLoss]:
    """What releases about one table are likelier there than about its neighbour."""
    for seed in range(seeds):
        recording, loss = Recording(), RecordedLoss()
        one = report_of(here, centers, seed=seed, kind=recording.make_recording_session())
        other = report_of(there, centers, seed=seed, kind=recording.make_loss_session(loss))
        assert len(loss.fractions_of_bound) == len(recording.released) and one.to_dict() == other.to_dict()
        yield loss


def _check_losses(name, *, seeds: int) -> float:
    """No transcript is likelier than declared on one of two neighbours; the largest loss that was found."""
    declared, rows, others = NEIGHBOURS[name]
    pairs = [(rows, others)] if "relation" in declared else [(rows, others), (others, rows)]
    tables = [[described(one, **declared) for one in pair] for pair in pairs]
    return _find_largest(chain.from_iterable(_losses(*pair, seeds=seeds) for pair in tables))


def _find_largest(losses) -> float:
    largest = -inf
    for loss in losses:
        largest = max(largest, loss.log_ratio)
        assert max(loss.fractions_of_bound) <= 1 + 1e-8
        assert largest <= 1 + 1e-8
    return largest


@pytest.mark.parametrize("name", NEIGHBOURS)
def test_no_neighbour_gains_more_than_declared_and_one_a_good_part_of_it(name):
    assert _check_losses(name, seeds=3) > 0.3


@pytest.mark.parametrize("name", MIXED_NEIGHBOURS)
def test_nor_does_a_neighbour_of_a_table_of_every_kind(name):
    """Categories, ranks, dates, hours and amounts on a log scale, one of a weight; beside them one that describes."""
    declared, *frames = MIXED_NEIGHBOURS[name]
    more = {"weights": {"region": 2.0}, "describe": {"town": {"categories": ["X"]}}}
    here, there = (described_mixed(frame, **declared, **more) for frame in frames)
    assert _find_largest(_losses(here, there, seeds=3, centers=middles(here.description))) > 0.1


def _every_column_the_whole(self, number, weights=None):
    """Shares as they are, but for those of columns: each is all of it."""
    return [self] * number if weights is None else [self.fraction(part / sum(weights)) for part in weights]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["a row less", "a person less"])
def test_two_columns_charged_once_are_caught(name, monkeypatch):
    charge = Ledger.charge
    monkeypatch.setattr(Ledger, "charge", lambda self, *entries: charge(self, *entries[:1]))
    monkeypatch.setattr(Budget, "rounds", _every_column_the_whole)
    with pytest.raises(AssertionError):
        _check_losses(name, seeds=40)


def test_columns_that_share_one_charge_are_refused_by_the_ledger(monkeypatch):
    monkeypatch.setattr(Budget, "rounds", _every_column_the_whole)
    with pytest.raises(BudgetExceeded):
        report_of(described(ROWS))


def test_a_histogram_of_two_columns_at_the_price_of_one_is_caught(monkeypatch):
    tally = SegmentHistogram.tally

    def twice(self, rows, cell):
        return tally(self, rows, cell) + tally(replace(self, column=1 - self.column), rows, cell)

    monkeypatch.setattr(SegmentHistogram, "tally", twice)
    domain = clustered_only(ROWS[:, :2]).description.domain
    one, other = (room_over(rows, domain, described(ROWS).private.relation) for rows in (ROWS[:, :2], ROWS[:-1, :2]))
    with pytest.raises(AssertionError):
        check_move(SegmentHistogram(Voronoi(CENTERS), 0, 8), one, other)


@pytest.mark.parametrize("declared", [{}, {"n_public": 60}, {"relation": "replace"}], ids=str)
def test_everything_follows_from_what_was_released_and_all_of_the_share_is_spent(declared):
    table, recording = described(ROWS, **declared), Recording()
    first = open_seeded(table.private, kind=recording.make_recording_session())
    one = ask_segments(first, CENTERS, table.description)
    again = ask_segments(
        open_seeded(table.private, kind=recording.make_replaying_session()), CENTERS, table.description
    )
    assert one.to_dict() == again.to_dict()
    assert 0.999 < first.ledger.spent_fraction <= 1
    assert [(m.name, m.scale) for m in recording.mechanisms] == [(e.mechanism, e.scale) for e in first.ledger.entries]
    part = open_seeded(table.private)
    assert ask_segments(part, CENTERS, table.description, part.budget.fraction(0.25)).epsilon == pytest.approx(0.25)
    assert part.ledger.spent_fraction == pytest.approx(0.25)


def test_a_great_deal_of_epsilon_says_what_is_so():
    rows = rows_of(3000)
    table = described(rows, n_public=3000)
    report = report_of(table, epsilon=1e6)
    cell = ((rows[:, None, :2] - CENTERS) ** 2).sum(axis=2).argmin(axis=1)
    for j, segment in enumerate(report.segments):
        mine = rows[cell == j]
        assert segment.size.value == pytest.approx(len(mine), abs=0.1) and segment.words == ""
        assert segment.center == tuple(CENTERS[j])
        x, _, height, region = segment.columns
        assert x.median.low <= np.median(mine[:, 0]) <= x.median.high < x.median.low + 0.07
        assert height.missing.value == pytest.approx(np.isnan(mine[:, 2]).mean(), abs=1e-3)
        known = mine[~np.isnan(mine[:, 2]), 2]
        assert height.upper_quartile.low <= np.quantile(known, 0.75) <= height.upper_quartile.high
        shares = {one.label: one.share.value for one in region.shares}
        assert shares["2"] == pytest.approx((mine[:, 3] == 2).mean(), abs=1e-3) and shares["(missing)"] < 1e-3
    # Only the second segment is in the other region, and only the first one is left of the middle.
    assert "region" in report.segments[1].telling and "x" in report.segments[0].telling
    loss = ((rows[:, None, :2] - CENTERS) ** 2).sum(axis=2).min(axis=1).mean()
    quality_report = report.quality_report
    assert quality_report.released.value == pytest.approx(loss, rel=0.02)
    assert quality_report.verdict is QualityVerdict.GOOD
    assert quality_report.distances[0].low <= np.sqrt(np.median(((rows[:, :2] - CENTERS[cell]) ** 2).sum(axis=1)))


def test_a_great_deal_of_epsilon_says_what_is_so_of_every_kind():
    frame = mixed_frame(3000)
    table = described_mixed(frame, n_public=3000, units={"pay": "€"})
    report = report_of(table, middles(table.description), epsilon=1e6)
    for j, segment in enumerate(report.segments):
        mine, (age, pay, region, sex, stage, joined, hour) = frame[j::3], segment.columns
        assert segment.size.value == pytest.approx(len(mine), abs=0.1) and pay.unit == "€"
        for said, values in ((age, mine["age"]), (pay, mine["pay"])):
            for level, one in ((0.25, said.lower_quartile), (0.5, said.median), (0.75, said.upper_quartile)):
                assert one.low <= np.quantile(values, level) <= one.high < 1.15 * one.low + 2 and not one.range_only
        assert pay.histogram.edges[0] == pytest.approx(100) and pay.histogram.edges[-1] == pytest.approx(100_000)
        days = (pd.to_datetime(mine["joined"]) - pd.Timestamp("2020-01-01")).dt.days
        assert joined.median.low <= np.median(days) <= joined.median.high
        texts = mine["region"].fillna(MISSING_LABEL).replace("elsewhere", OTHER)
        for said, cells in ((region, texts), (sex, mine["sex"]), (stage, mine["stage"])):
            for one in said.shares:
                assert one.share.value == pytest.approx((cells == one.label).mean(), abs=1e-3), one.label
        eighths = np.bincount((mine["hour"] // 3).astype(int), minlength=8) / len(mine)
        # An hour is rounded to the stored circle: a few rows beside an edge are counted on its other side.
        assert [one.share.value for one in hour.shares] == pytest.approx(eighths.tolist(), abs=5e-3)
        assert segment.telling[0] in ("stage", "pay", "age", "joined")
    lines = [line for line in csv.DictReader(io.StringIO(format_segments(report))) if line["column"] == "joined"]
    for line in lines:
        if "quartile" in line["statistic"] or line["statistic"] == "median":
            days = (date.fromisoformat(line["words"].split()[0]) - date(2020, 1, 1)).days
            assert days == round(float(line["value"])), line
        else:
            assert line["words"] == ""
    assert not any(
        line["words"] for line in csv.DictReader(io.StringIO(format_segments(report))) if line["column"] == "age"
    )


def test_intervals_of_every_kind_hold_the_truth_in_nine_of_ten():
    """Quartiles of amounts on a log scale and of dates, shares of categories, of one of two values and of ranks."""
    frame = mixed_frame(3000)
    table = described_mixed(frame)
    frame["region"] = frame["region"].fillna(MISSING_LABEL).replace("elsewhere", OTHER)
    frame["joined"] = (pd.to_datetime(frame["joined"]) - pd.Timestamp("2020-01-01")).dt.days
    held = {name: [] for name in ("age", "pay", "region", "sex", "stage", "joined")}
    for seed in range(30):
        report = report_of(table, middles(table.description), epsilon=4.0, seed=seed)
        for j, segment in enumerate(report.segments):
            for said in segment.columns[:-1]:  # an hour is counted on the stored circle
                cells = frame[j::3][said.column]
                truths = [(one.share, (cells == one.label).mean()) for one in getattr(said, "shares", ())]
                if isinstance(said, NumbersSaid):
                    ends = (said.lower_quartile, said.median, said.upper_quartile)
                    truths = [
                        (one, np.quantile(cells, level)) for level, one in zip((0.25, 0.5, 0.75), ends, strict=True)
                    ]
                held[said.column] += [one.low <= truth <= one.high for one, truth in truths]
    # Of some hundred intervals a few less may hold by chance.
    assert min(map(len, held.values())) >= 180 and min(map(np.mean, held.values())) > 0.87, held


def test_one_column_that_drowns_does_not_hide_the_others():
    """Of very many categories noise is larger than of two: what can be said of the others is said."""
    many = {"region": {"categories": [*"NS", *map(str, range(400))]}}
    table = described_mixed(mixed_frame(900), bounds={**KINDS, **many})
    report = report_of(table, middles(table.description), epsilon=4.0)
    for segment in report.segments:
        about_region, about_sex = segment.columns[2:4]
        assert segment.words == "" and about_region.shares == () and len(about_sex.shares) == 2
        assert segment.telling and "region" not in segment.telling


def test_what_drowns_is_not_said_and_only_its_noisy_size_decides():
    report = report_of(described(ROWS), epsilon=0.05)
    assert {segment.words for segment in report.segments} == {TOO_SMALL}
    for segment in report.segments:
        assert segment.telling == () and segment.columns[3].shares == ()
        assert all(said.median is None for said in segment.columns if isinstance(said, NumbersSaid))
    lines = list(csv.DictReader(io.StringIO(format_segments(report))))
    medians = [line for line in lines if line["statistic"] == "median"]
    assert {(line["value"], line["words"]) for line in medians} == {("", TOO_SMALL)}


def test_the_file_is_tidy_and_the_report_is_json():
    report = report_of(described(rows_of(3000)), epsilon=100.0)
    lines = list(csv.DictReader(io.StringIO(format_segments(report))))
    assert list(lines[0]) == ["segment", "column", "statistic", "value", "low", "high", "noise_sd", "unit", "words"]
    assert {line["segment"] for line in lines} == {"1", "2", "3", ""}
    for statistic in ("size", "median", "share of missing cells", "share of 2", "verdict"):
        assert any(line["statistic"] == statistic for line in lines), statistic
    for line in lines:
        for name in ("value", "low", "high", "noise_sd"):
            assert line[name] == "" or np.isfinite(float(line[name])), line
        if line["low"] and line["value"]:
            assert float(line["low"]) <= float(line["value"]) <= float(line["high"])
        if line["statistic"] == "size":
            assert 0 < float(line["noise_sd"]) < float(line["high"]) - float(line["low"])
    assert json.loads(json.dumps(report.to_dict(), allow_nan=False))["certificate"]["verdict"] == "good"


def test_what_does_not_fit_is_refused():
    table = described(ROWS)
    session = open_seeded(table.private, Accounting.GDP, delta=1e-6)
    with pytest.raises(RequestError, match="pure"):
        ask_segments(session, CENTERS, table.description)
    with pytest.raises(RequestError, match="shape"):
        ask_segments(open_seeded(table.private), np.zeros((2, 4)), table.description)
    with pytest.raises(RequestError, match="shape"):
        ask_segments(open_seeded(clustered_only(ROWS[:, :2]).private), CENTERS, table.description)


def test_one_centre_has_nothing_to_be_told_apart_from():
    report = report_of(clustered_only(rows_of(2000)[:, :2]), np.zeros((1, 2)), epsilon=50.0)
    assert len(report.segments) == 1 and report.segments[0].telling == ()
    assert report.quality_report.ratio.value == pytest.approx(1.0, abs=0.1)


def test_rows_that_memory_does_not_hold_have_the_same_segments(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("x,y\n" + "".join(f"{x:.6f},{y:.6f}\n" for x, y in rows_of(500)[:, :2]), encoding="utf-8")
    declared = Declaration(columns=("x", "y"), lower=(-1.0, -1.0), upper=(1.0, 1.0))
    one, other = (
        report_of(make_described_table(declare(source, declared), source))
        for source in (CsvOnDisk(path), open_csv(path))
    )
    assert one.to_dict() == other.to_dict()


def test_rows_of_every_kind_have_the_same_segments_in_memory_and_beyond_it(tmp_path):
    frame, reports = mixed_frame(300), []
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_parquet(tmp_path / "t.parquet")
    said = apply_declaration(json.dumps({"bounds": KINDS})).validate()
    for source in (open_csv(tmp_path / "t.csv"), CsvOnDisk(tmp_path / "t.csv"), ParquetTable(tmp_path / "t.parquet")):
        table = make_described_table(declare(source, said), source)
        reports.append(report_of(table, middles(table.description), epsilon=20.0).to_dict())
    assert reports[0] == reports[1] == reports[2] and reports[0]["segments"][0]["words"] == ""


def test_sparse_rows_have_sizes_and_a_certificate():
    source, declared = sample("words").load()
    table = make_described_table(declare(source, declared), source)
    centers = np.eye(3, table.description.width) * 0.5
    report = report_of(table, centers, epsilon=10.0)
    assert all(segment.columns == () and segment.telling == () for segment in report.segments)
    assert sum(segment.size.value for segment in report.segments) == pytest.approx(len(table.private._rows), rel=0.01)
    assert report.quality_report.released.value > 0 and report.notes


def test_numbers_have_more_bins_where_there_is_less_noise():
    session = open_seeded(described(ROWS).private)
    few = [make_bins(size, 0.05, session) for size in (1, 100, 10_000, 10**9)]
    assert few == sorted(few) and (few[0], few[-1]) == (4, 64)
    assert all(bins & (bins - 1) == 0 for bins in few)
    # Of eight times as many rows four times as many: what noise and width of bins cost stays balanced.
    size = next(size for size in range(10**6) if make_bins(size, 0.05, session) == 8)
    assert make_bins(8 * size, 0.05, session) == 32


def test_noise_alone_tells_nothing_apart():
    columns = described(ROWS).description.columns[:2]
    rng = np.random.default_rng(0)
    found = [
        score_columns(
            columns,
            [Tally(20.0 + rng.laplace(0, 30, (3, 8)), 30 * 2**0.5, np.ones((3, 8), bool), edges=np.linspace(-1, 1, 9))]
            * 2,
        )
        for _ in range(50)
    ]
    assert np.mean(np.array(found) > 0.05) < 0.2


def test_a_size_is_said_once_and_by_every_tally_of_its_rows():
    rows = rows_of(3000)
    cell = ((rows[:, None, :2] - CENTERS) ** 2).sum(axis=2).argmin(axis=1)
    true = np.bincount(cell, minlength=3)
    reports = [report_of(described(rows), epsilon=0.5, seed=seed) for seed in range(60)]
    errors = np.array([[segment.size.value for segment in report.segments] - true for report in reports])
    sd = np.array([segment.size_sd for segment in reports[0].segments])
    alone = 2**0.5 / (0.5 * WEIGHTS["sizes"])
    assert (sd < 0.99 * alone).all() and errors.std() == pytest.approx(float(sd.mean()), rel=0.25)
    assert abs(errors.mean()) < 0.25 * sd.mean()


def test_bins_lie_close_where_centres_are_and_each_has_a_part_of_its_own():
    starts = find_bin_starts(np.array([-0.9, -0.85]), 0.05, 16)
    assert starts[0] == 0 and sum(start < FINE_PARTS // 8 for start in starts) > 8
    for places, spread, bins in (([0.0], 0.0, 64), ([5.0, -5.0], 1e-9, 64), ([1.0], 9.0, FINE_PARTS), ([0.3], 1.0, 1)):
        starts = np.array(find_bin_starts(np.array(places), spread, bins))
        assert len(starts) == bins and starts[0] == 0 and (np.diff(starts) > 0).all() and starts[-1] < FINE_PARTS


def test_a_quantile_that_is_hardly_known_is_a_range_without_a_value():
    report = report_of(described(rows_of(3000)), epsilon=0.2)
    said = [column.median for one in report.segments for column in one.columns if isinstance(column, NumbersSaid)]
    wide = [one for one in said if one is not None and one.range_only]
    assert wide and any(one is not None and not one.range_only for one in said)
    lines = [line for line in csv.DictReader(io.StringIO(format_segments(report))) if line["statistic"] == "median"]
    for line in lines:
        assert (line["value"] == "") == (line["words"] != "") and (line["words"] in ("", RANGE, TOO_SMALL))
    assert [line["words"] for line in lines].count(RANGE) == len(wide)


@pytest.mark.slow
def test_every_kind_of_interval_covers_the_truth_on_people():
    """Of sizes, medians, quartiles, shares, missing cells and capped losses, nine in ten each; fewer seeds than in
    ``benchmarks/segments.py``."""
    from benchmarks.segments import covered

    found = covered(seeds=20, clusterings=1)
    assert {"size", "median", "lower quartile", "upper quartile", "share", "loss"} <= found.keys()
    for kind, shares in found.items():
        assert np.mean(shares) >= 0.88, kind


def test_people_are_described_as_they_are():
    source, declared = sample("people").load()
    table = make_described_table(declare(source, declared), source)
    centers = np.vstack([np.full(6, -0.4), np.r_[0.5, -0.7, -0.95, -0.9, -0.6, -0.2]])
    report = report_of(table, centers, epsilon=0.2)
    assert [said.column for said in report.segments[0].columns][-1] == "region"
    assert all(segment.words == "" and segment.telling for segment in report.segments)


@pytest.mark.parametrize(("n", "sd"), [(900, 0.0), (None, 2.0)])
def test_of_a_public_number_of_rows_nothing_is_noise(n, sd):
    session = open_seeded(described(rows_of(900), n_public=n).private)
    rows, rows_sd = _measure_rows(session, np.full(4, 225.0), 1.0)
    assert (rows.value, rows_sd) == (900.0, sd)


@pytest.mark.parametrize("ordered", [False, True])
def test_the_noise_of_a_share_is_as_wide_as_it_is_said_to_be(ordered):
    rng, sd = np.random.default_rng(0), 20.0
    counts = np.array([500.0, 300.0, 150.0, 50.0]) + rng.normal(0, sd, (4_000, 4))
    shares, said = _split_shares(counts, sd, ordered=ordered)
    seen = slice(0, 3 if ordered else 4)  # of all bins together the share is 1
    np.testing.assert_allclose(shares.std(axis=0)[seen], said.mean(axis=0)[seen], rtol=0.06)
