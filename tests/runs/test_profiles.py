"""A profile: what stands out of its noise, what may be nobody, and noise that is not made smaller than it is."""

import csv
import io
import json
from dataclasses import replace

import numpy as np
import pytest

from dpviz.algorithms.size_estimates import Sizes
from dpviz.releases.render import make_centers_table
from dpviz.runs.profiles import Profile, ProfileColumn, compute_honest_noise, list_profile_columns
from dpviz.tables.codings import Nominal
from dpviz.tables.declarations import apply_declaration
from dpviz.words import NINE_IN_TEN

NAMES = ("age", "town", "hour", "joined", "stage")
COLUMNS = (ProfileColumn("age", 0.0, 100.0, "years"), ProfileColumn("income", 0.0, 1000.0))
MADE = Profile(
    COLUMNS,
    np.array([[20.0, 500.0], [80.0, 500.0], [50.0, 1000.0]]),
    np.array([[1.0, 10.0], [1.0, 10.0], [30.0, 500.0]]),
    np.array([50.0, 500.0]),
    Sizes(np.array([600.0, 300.0, 20.0]), np.full(3, 10.0)),
)


def test_what_stands_out_of_the_noise() -> None:
    overall = (600 * 20 + 300 * 80 + 20 * 50) / 920
    assert MADE.overall[0] == pytest.approx(overall)
    assert MADE.deviations[0, 0] == pytest.approx(20 - overall) and MADE.in_noise[2].all()
    assert MADE.telling.tolist() == [True, False] and MADE.lost.tolist() == [False, False, True]
    assert MADE.order_columns("most telling").tolist() == [0, 1] and MADE.order_columns("file").tolist() == [0, 1]
    assert MADE.order_rows("size").tolist() == [0, 1, 2] == MADE.order_rows("number").tolist()
    assert MADE.on_bound.tolist() == [[False, False], [False, False], [False, True]]
    assert MADE.order_rows("alike").tolist() in ([0, 2, 1], [1, 2, 0])


def test_a_share_of_nobody_or_of_all_is_at_no_edge() -> None:
    ward = [ProfileColumn(f"ward = {name}", 0.0, 1.0, source="ward", declared=Nominal(("a", "b"))) for name in "ab"]
    made = Profile((COLUMNS[0], *ward), np.array([[100.0, 0.0, 1.0]]), np.ones((1, 3)), np.ones(3))
    assert made.on_bound.tolist() == [[True, False, False]]
    assert ward[0].describe_reach(1.4) == "100 %" and COLUMNS[0].describe_reach(140.0) == "100 years"


def test_one_segment_and_noise_that_nobody_knows_are_no_error() -> None:
    one = Profile(
        COLUMNS[:1], np.array([[3.0]]), np.array([[1.0]]), np.ones(1), Sizes(np.array([0.0]), np.array([5.0]))
    )
    assert one.weights.tolist() == [1.0] and one.gaps.tolist() == [np.inf] and one.lost.tolist() == [True]
    assert one.order_rows("alike").tolist() == [0] and not one.telling.any()
    unknown = replace(MADE, center_sd=np.full((3, 2), np.nan))
    assert not unknown.noise_known and not unknown.in_noise.any() and not unknown.telling.any()


def test_fewer_rows_than_the_smallest_group_that_is_shown_may_be_lost_by_the_rule_of_a_verdict_and_no_more() -> None:
    def make(rows: float) -> Profile:
        sizes = Sizes(np.array([900.0, 900.0, rows]), np.full(3, 10.0))
        noise = 3000 / np.maximum(sizes.rows - 30, 1)[:, None]
        return Profile(COLUMNS[:1], np.array([[20.0], [50.0], [80.0]]), noise, np.array([50.0]), sizes)

    assert make(400).smallest_group == pytest.approx(30 + 3000 / 15)
    assert [make(rows).may_be_lost for rows in (20, 229, 231)] == [[3], [3], []]


def test_a_segment_of_few_rows_is_hardly_ever_farther_off_than_its_noise_says() -> None:
    """Its noisy size may come out large: over the size itself, noise would look too small then."""
    rng = np.random.default_rng(0)
    rows, size_sd, sum_sd = 60, 12.0, 40.0
    noisy = np.maximum(rows + rng.normal(0, size_sd, 4000), 1.0)
    error = rng.normal(0, sum_sd, 4000) / rows
    sizes = Sizes(noisy, np.full(4000, size_sd))
    said = compute_honest_noise((sum_sd / noisy)[:, None], sizes, np.array([100.0]))[:, 0]
    assert np.mean(np.abs(error) > 2 * said) < 0.05 < np.mean(np.abs(error) > 2 * sum_sd / noisy)


def test_on_a_log_scale_segments_lie_apart_by_factors() -> None:
    columns = (ProfileColumn("pay", 1.0, 10_000.0, "€", "log"), ProfileColumn("debt", -100.0, 100.0, "", "root"))
    centers = np.array([[10.0, -25.0], [1000.0, 25.0]])
    sd = np.array([10.0 * np.sinh(0.1), 1000.0 * np.sinh(0.1)])
    made = Profile(columns, centers, np.c_[sd, [10.0, 10.0]], np.array([np.log(100), 10.0]))
    assert made.overall == pytest.approx([100.0, 0.0]), "a geometric mean, and the square of a mean root"
    said = 'The mean of "pay" (log) is the geometric mean. The mean of "debt" (root) is the square of the mean root.'
    assert made.plus_minus.endswith(said)
    assert made.deviations[1] == pytest.approx([np.log(10) / 0.1, 5.0])
    assert made.parts_away[1] == pytest.approx([0.25, 0.25]) and not made.on_bound.any()
    assert made.gaps == pytest.approx(np.full(2, np.hypot(1.0, 1.0)))
    low, high = made.ends
    assert low[:, 0] == pytest.approx(centers[:, 0] / np.exp(NINE_IN_TEN / 10))
    assert high[:, 0] == pytest.approx(centers[:, 0] * np.exp(NINE_IN_TEN / 10))
    assert [low[1, 1], high[1, 1]] == pytest.approx([(5 - NINE_IN_TEN) ** 2, (5 + NINE_IN_TEN) ** 2])
    assert made.format_center(1, 0, noise=True) == "1,000 (840 to 1,190)"
    assert replace(made, centers=np.array([[10.0, 0.0], [1000.0, 0.0]])).even.center_sd[:, 1] == pytest.approx(10**0.5)


def make_mixed_profile() -> Profile:
    """Two segments of a table of numbers, categories, hours, dates and ranks."""
    said = {
        "bounds": {
            "age": [0, 100],
            "town": {"categories": ["North", "South"]},
            "hour": {"cycle": 24},
            "joined": {"dates": ["2020-01-01", "2020-12-31"]},
            "stage": {"order": ["I", "II", "III"]},
        }
    }
    domain = apply_declaration(json.dumps(said)).validate().make_domain()
    points = np.array([[0.0, 0.7, 0.2, 0.1, 0.0, 0.0, -0.5, 31.0, 2.2], [50.0, 0.0, 1.0, 0.0, 0.0, 0.5, 0.0, 0.0, 1.0]])
    return Profile(list_profile_columns(domain), points, np.full((2, 9), 0.05), np.ones(9))


def test_coordinates_of_declared_columns_say_shares_hours_dates_and_ranks() -> None:
    made = make_mixed_profile()
    told = [made.format_center(0, place) for place in range(9)]
    assert told == ["0", "70 %", "20 %", "10 %", "0 %", "18:00", "18:00", "2020-02-01", "II"]
    assert made.format_center(1, 5) == made.format_center(1, 6) == "00:00"
    assert made.count_lanes(made.dim) == "nine coordinates" and MADE.count_lanes(2) == "two columns"
    assert [column.title for column in made.columns[5:7]] == ["hour: 12:00 to 00:00", "hour: 18:00 to 06:00"]
    wide = replace(made, center_sd=made.center_sd * np.array([1, 1, 1, 1, 1, 1, 1, 20, 1]))
    assert wide.describe_center(0) == {
        "age": "0.000 (0.000 to 0.088)",
        "town": "North 70 %, South 20 %, (any other) 10 %, (missing) up to 8.8 %; each ± 8.8 %",
        "hour": "18:00 ± 0.67 h",
        "joined": "2020-02-01 ± 1.8 days",
        "stage": "II ± 0.088 ranks",
    }
    lost = replace(made, center_sd=made.center_sd * 9)
    assert lost.describe_center(0)["hour"] == "spread over the cycle"
    unknown = replace(made, center_sd=np.full((2, 9), np.nan)).describe_center(0)
    assert not any("±" in said or "nan" in said for said in unknown.values())
    assert {*made.list_columns(telling=True), *made.list_columns(telling=False)} == {*NAMES}
    header, first, _ = csv.reader(io.StringIO(make_centers_table(made, made.centers.astype(str).tolist())))
    assert dict(zip(header, first, strict=True)) | {"hour_in_words": "18:00"} == dict(zip(header, first, strict=True))
    assert header[-3:] == ["hour_in_words", "joined_in_words", "stage_in_words"] and first[-2:] == ["2020-02-01", "II"]
