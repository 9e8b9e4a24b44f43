"""Segments keep the contract of every release, and say what is so."""

import csv
import io
import re
from dataclasses import replace
from datetime import date
from itertools import product
from math import inf

import numpy as np
import pandas as pd
import pytest

from dpviz.algorithms.size_estimates import Sizes
from dpviz.core.accounting import Accounting
from dpviz.core.check import RequestError
from dpviz.releases.described_table import make_described_table
from dpviz.releases.segments import Scales, ask_segments, estimate_far_rows, score_columns
from dpviz.releases.segments_report import (
    RANGE,
    TOO_SMALL,
    NumbersSaid,
    QualityVerdict,
    choose_shares,
    describe_quality,
    format_segments,
    list_half,
    repeat_shares,
    split_median,
)
from dpviz.releases.tallies import Interval, Tally
from dpviz.runs import profiles
from dpviz.runs.open_table import declare
from dpviz.tables import codings
from dpviz.tables.codings import MISSING_LABEL, OTHER
from dpviz.tables.named import sample
from tests.cases import about
from tests.contract.sessions import RecordedLoss, Recording, open_seeded
from tests.releases import made_played
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


def _check_losses(*tables, least: float, centers=CENTERS) -> None:
    """What releases about one table are likelier there than about its neighbour is bounded, and nearly reached."""
    largest = -inf
    for (here, there), seed in product(tables, range(3)):
        recording, loss = Recording(), RecordedLoss()
        one = report_of(here, centers, seed=seed, kind=recording.make_recording_session())
        other = report_of(there, centers, seed=seed, kind=recording.make_loss_session(loss))
        assert len(loss.fractions_of_bound) == len(recording.released) and one.to_dict() == other.to_dict()
        assert max(*loss.fractions_of_bound, loss.log_ratio) <= 1 + 1e-8
        largest = max(largest, loss.log_ratio)
    assert largest > least


@pytest.mark.parametrize("name", NEIGHBOURS)
def test_no_neighbour_gains_more_than_declared_and_one_a_good_part_of_it(name):
    declared, rows, others = NEIGHBOURS[name]
    pairs = [(rows, others)] if "relation" in declared else [(rows, others), (others, rows)]
    _check_losses(*([described(one, **declared) for one in pair] for pair in pairs), least=0.3)


@pytest.mark.parametrize("name", MIXED_NEIGHBOURS)
def test_nor_does_a_neighbour_of_a_table_of_every_kind(name):
    """Categories, ranks, dates, hours and amounts on a log scale, one of a weight; beside them one that describes."""
    declared, *frames = MIXED_NEIGHBOURS[name]
    more = {"weights": {"region": 2.0}, "describe": {"town": {"categories": ["X"]}}}
    here, there = (described_mixed(frame, **declared, **more) for frame in frames)
    _check_losses((here, there), least=0.1, centers=middles(here.description))


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
    for line in csv.DictReader(io.StringIO(format_segments(report))):
        if line["column"] == "joined" and ("quartile" in line["statistic"] or line["statistic"] == "median"):
            days = (date.fromisoformat(line["words"].split()[0]) - date(2020, 1, 1)).days
            assert days == round(float(line["value"])), line
        elif line["column"] in ("joined", "age"):
            assert line["words"] == ""


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


def test_one_centre_has_nothing_to_be_told_apart_from():
    report = report_of(clustered_only(rows_of(2000)[:, :2]), np.zeros((1, 2)), epsilon=50.0)
    assert len(report.segments) == 1 and report.segments[0].telling == ()
    two = report_of(clustered_only(rows_of(2000)[:, :2]), np.array([[-0.5, 0.0], [0.5, 0.0]]), epsilon=50.0)
    assert all(segment.telling for segment in two.segments)
    assert report.quality_report.ratio.value == pytest.approx(1.0, abs=0.1)


def test_a_session_that_is_not_pure_and_other_centres_are_refused():
    table = described(ROWS)
    for delta, centers, told in ((1e-6, CENTERS, "pure"), (0.0, np.zeros((2, 4)), "shape")):
        session = open_seeded(table.private, Accounting.GDP if delta else Accounting.PURE, delta=delta)
        with pytest.raises(RequestError, match=told):
            ask_segments(session, centers, table.description)


def test_sparse_rows_have_sizes_and_a_certificate():
    source, declared = sample("words").load()
    table = make_described_table(declare(source, declared), source)
    report = report_of(table, np.eye(3, table.description.width) * 0.5, epsilon=10.0)
    assert all(segment.columns == () and segment.telling == () for segment in report.segments)
    assert sum(segment.size.value for segment in report.segments) == pytest.approx(len(table.private._rows), rel=0.01)
    assert report.quality_report.released.value > 0 and report.notes


def test_noise_alone_tells_nothing_apart():
    columns, found = described(ROWS).description.columns[:2], []
    rng, edges, every = np.random.default_rng(0), np.linspace(-1, 1, 9), np.ones((3, 8), bool)
    for _ in range(50):
        tally = Tally(20.0 + rng.laplace(0, 30, (3, 8)), 30 * 2**0.5, every, edges=edges)
        found.append(score_columns(columns, [tally, tally]))
    assert np.mean(np.array(found) > 0.05) < 0.2


def test_a_quantile_that_is_hardly_known_is_a_range_without_a_value():
    report = report_of(described(rows_of(3000)), epsilon=0.2)
    said = [column.median for one in report.segments for column in one.columns if isinstance(column, NumbersSaid)]
    wide = [one for one in said if one is not None and one.range_only]
    assert wide and any(one is not None and not one.range_only for one in said)
    lines = [line for line in csv.DictReader(io.StringIO(format_segments(report))) if line["statistic"] == "median"]
    for line in lines:
        assert (line["value"] == "") == (line["words"] != "") and (line["words"] in ("", RANGE, TOO_SMALL))
    assert [line["words"] for line in lines].count(RANGE) == len(wide)


# The quality report says how near rows lie, and what released values say against the centres.


MIDDLES = np.array([[-0.6, -0.6], [0.6, 0.6], [0.6, -0.6]])


def _groups(*sizes: int, width: float = 0.03) -> np.ndarray:
    rng = np.random.default_rng(0)
    each = zip(MIDDLES, sizes, strict=True)
    return np.concatenate([middle + width * rng.normal(size=(size, 2)) for middle, size in each])


def _report(rows, centers, *, epsilon=1.0, seed=0, **more):
    table = clustered_only(rows)
    session = open_seeded(table.private, epsilon=epsilon, seed=seed)
    return ask_segments(session, centers, table.description, **more).quality_report


def test_a_loss_is_that_of_the_rows_that_are_in_a_segment():
    rows = _groups(4000, 3000, 2000, width=0.15)
    whole = _report(rows, MIDDLES, epsilon=1e5)
    lacking = _report(np.concatenate([rows, np.full((6000, 2), np.nan)]), MIDDLES, epsilon=1e5)
    assert lacking.released.value == pytest.approx(whole.released.value, rel=0.02)


def test_the_ratio_is_near_the_revealed_one():
    rows = _groups(4000, 3000, 2000, width=0.15)
    away = [((rows[:, None] - one) ** 2).sum(axis=2).min(axis=1).mean() for one in (MIDDLES, rows.mean(axis=0)[None])]
    for seed in range(4):
        said = _report(rows, MIDDLES, epsilon=0.5, seed=seed)
        with about(seed):
            assert said.ratio.value == pytest.approx(away[0] / away[1], rel=0.1) and said.verdict is QualityVerdict.GOOD
            assert sum("×" in words for words in describe_quality(said)) == 2
            assert said.ratio_blind.value > said.ratio.value
            assert said.released.low < said.released.value < said.released.high


# Two of the centres share the largest group, and nobody serves the smallest one.
MISSED = np.array([[-0.62, -0.6], [-0.58, -0.6], [0.6, 0.6]])
RESOURCES = MIDDLES + np.array([[0, 0], [0, 0], [0.3, 0.1]])


@pytest.mark.parametrize(("centers", "word"), [(MISSED, "missed"), (RESOURCES, "beside")], ids=["missed", "beside"])
def test_a_missed_group_and_a_centre_beside_its_rows_are_flagged(centers, word):
    for seed in range(4):
        said = _report(_groups(9000, 3000, 600), centers, epsilon=0.5, seed=seed)
        with about(seed):
            assert said.verdict is QualityVerdict.POOR and any(word in words for words in said.words)


def test_noise_of_the_centres_themselves_is_flagged():
    rows, noise_sd = _groups(9000, 3000, 6000), np.full(3, 0.05)
    said = _report(rows, MIDDLES + 0.05, epsilon=2.0, center_noise_sd=noise_sd)
    # Of 2 · 0.05² + 2 · 0.03², which a row lies from its centre, squared, 0.005.
    assert said.verdict is QualityVerdict.POOR
    assert re.match("About 7. % of the loss is noise of the centres", said.words[0])
    assert _report(rows, MIDDLES, epsilon=2.0, center_noise_sd=noise_sd / 50).verdict is QualityVerdict.GOOD


def test_rows_anywhere_are_no_missed_group():
    rng = np.random.default_rng(1)
    rows = np.r_[_groups(3000, 3000, 3000), rng.uniform(-1, 1, (4500, 2))]
    assert _report(rows, MIDDLES, epsilon=2.0).verdict is QualityVerdict.GOOD


def test_where_a_group_could_hide_nothing_is_said():
    for seed in range(4):
        said = _report(_groups(900, 300, 5), MIDDLES, epsilon=0.1, seed=seed)
        assert said.verdict is QualityVerdict.CANNOT_TELL
        assert (*describe_quality(said),) == said.words, "no ratio of noise is printed"
        assert said.distances[1].high <= 1.6 * 2**0.5 + 1e-9, "from a centre to the farthest corner"


def test_far_rows_stand_apart_from_noise_alone():
    edges, rng, found = 2.0 ** (np.arange(-40, 5) / 2), np.random.default_rng(0), []
    for _ in range(600):
        counts = np.zeros((4, 44))
        counts[:, 18:23] = 500
        noisy = Scales(counts + rng.laplace(0, 20, counts.shape), 20 * 2**0.5, counts >= 0, edges=edges)
        found.append(max(estimate_far_rows(noisy, np.full(4, 2500.0))))
    assert np.mean(np.array(found) > 0) < 0.03, "in one of a hundred releases, over all segments and distances"


def test_an_end_of_a_bin_is_written_in_one_way_in_every_line_about_its_column() -> None:
    edges = (0.0, 2.274, 2.81, 3.31, 4.1396, 9.0)
    quartiles = (Interval(2.5, 2.274, 2.81), Interval(2.96, 2.274, 4.1396), Interval(4.1, 2.81, 9.0))
    bins = replace(made_played.numbers("x").histogram, edges=edges)
    said = NumbersSaid("x", "", *quartiles, None, bins)
    lines = [" ".join(split_median(said)), *list_half(said)]
    assert lines == ["2.96 (2.27 to 4.14)", "from 2.50 (2.27 to 2.81)", "to 4.10 (2.81 to 9.0)"]


@pytest.mark.parametrize(("center_sd", "told", "reach"), [(0.02, 0.3, 0.035), (0.4, 0.8, 0.1)])
def test_a_share_is_told_by_its_centre_or_by_its_histogram_where_that_is_nearer(center_sd, told, reach):
    column = profiles.ProfileColumn("town = S", 0.0, 1.0, source="town", declared=codings.Closed(("N", "S")))
    sd, scale = np.full((1, 1), center_sd), np.ones(1)
    made = profiles.Profile((column,), np.full((1, 1), 0.3), sd, scale, sizes=Sizes(np.array([100.0]), np.array([5.0])))
    told_of = made_played.shares("town", N=0.2, S=0.8)
    report = made_played.reported(made_played.segment(1, told_of, name=TOO_SMALL))
    chosen = choose_shares(made, report)
    assert chosen.centers[0, 0] == told and chosen.reach[0, 0] == pytest.approx(reach, rel=0.01)
    (said,) = repeat_shares(report, chosen).segments
    south = said.columns[0].shares[1].share
    assert (said.words, south.value) == ("", told) and (south.low, south.high) == pytest.approx(
        (told - reach, told + reach), abs=1e-3
    )
    # A size that may be nobody's tells no share.
    (kept,) = repeat_shares(report, replace(chosen, sizes=Sizes(np.array([10.0]), np.array([5.0])))).segments
    assert kept.columns == report.segments[0].columns
