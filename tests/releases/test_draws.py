"""What tallies, means, draws and answers promise, on releases that are made here, whose truth is known."""

import io
from collections.abc import Iterator
from dataclasses import replace
from itertools import count

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtr

from dpviz.algorithms import PolishStep
from dpviz.core.check import RequestError
from dpviz.releases import tallies as counted
from dpviz.releases.asking import ReleaseQuestion, ask
from dpviz.releases.described_table import SegmentColumn
from dpviz.releases.tallies import Draws, SegmentTallies, Tally, bound_quantile, bound_share, estimate_means
from dpviz.runs.profiles import Profile, ProfileColumn
from dpviz.tables import codings
from dpviz.words import NINE_IN_TEN
from tests.cases import for_each
from tests.sequential import usually


def test_slack_and_reach_are_what_they_say_of_gaussians():
    """What is no larger than its noise needs no slack, and without a difference there may be any; a reach covers."""
    variances, (most, *_) = np.full(200, 0.01), counted._SLACKS[::-1]
    assert counted._find_slack(np.zeros(0), np.zeros(0), 0.1) == most
    assert counted._find_slack(variances, variances, 0.1) < 0.003 < counted._find_slack(4 * variances, variances, 0.1)
    off, sd = np.array([[0.0, 0.3, 2.0]]), np.array([[0.2, 0.1, 0.5]])
    reach = counted._find_reach(off, sd)
    np.testing.assert_allclose(ndtr((reach - off) / sd) - ndtr((-reach - off) / sd), counted._COVERED, atol=1e-6)


SIZES = np.array([900.0, 500.0, 60.0])
OF_X = np.array([[0.1, 0.4, 0.4, 0.1], [0.0, 0.1, 0.2, 0.7], [0.25, 0.25, 0.25, 0.25]])
PARTS = np.array([[0.1, 0.7, 0.2], [0.5, 0.3, 0.2], [1.0, 0.0, 0.0]])
MEANS = OF_X @ np.array([1.0, 3.0, 5.0, 7.0])
X = SegmentColumn("x", "km", 0, 1.0, 0.0, 8.0)
REGION = SegmentColumn("region", "", 1, 1.0, labels=("N", "S", "W"))
EVERY = np.ones((3, 1), dtype=bool)
NOISE = np.full(3, 0.2)


def make(seed: int, *, scale: float = 20.0, off: float = 0.0) -> tuple[SegmentTallies, Profile]:
    """Three segments: their sizes, x in four bins, and three regions, with Laplace noise; centres with noise of sd 0.2,
    ``off`` besides."""
    rng = np.random.default_rng(seed)
    true = SIZES[:, None], SIZES[:, None] * OF_X, SIZES[:, None] * PARTS
    noisy = [one + rng.laplace(0, scale, one.shape) for one in true]
    sd = scale * 2**0.5
    tallies = SegmentTallies(
        (
            Tally(noisy[0], sd, EVERY),
            Tally(noisy[1], sd, np.repeat(EVERY, 4, axis=1), X, np.linspace(0, 8, 5)),
            Tally(noisy[2], sd, np.repeat(EVERY, 3, axis=1), REGION),
        )
    )
    centers = (MEANS + rng.normal(0, 0.2, 3) + rng.normal(0, 1, 3) * off)[:, None]
    return tallies, Profile((ProfileColumn("x", 0, 8, "km"),), centers, NOISE[:, None], np.ones(1))


def draw(seed: int, *, algorithm: str = "auto", scale: float = 20.0, off: float = 0.0) -> Draws:
    tallies, made = make(seed, scale=scale, off=off)
    return counted.draw_versions(tallies, estimate_means(tallies, made, algorithm, NOISE), made, seed=f"{seed}")


def holds(question: ReleaseQuestion, truth: float, **more: float) -> Iterator[bool]:
    """Whether the answer's interval holds the truth, release after release."""
    for seed in count():
        answer = ask(draw(seed, **more), question)
        yield answer.low <= truth <= answer.high


COVERED = {
    "size": (ReleaseQuestion("size", (1, 2)), SIZES[:2].sum()),
    "size of a few": (ReleaseQuestion("size", (3,)), SIZES[2]),
    "difference": (ReleaseQuestion("larger", (1, 2)), SIZES[0] - SIZES[1]),
    "ratio": (ReleaseQuestion("ratio", (1, 2)), SIZES[0] / SIZES[1]),
    "part": (ReleaseQuestion("part", (3,)), SIZES[2] / SIZES.sum()),
    "share": (ReleaseQuestion("share", (1, 2), "region", "S"), (SIZES[:2] @ PARTS[:2, 1]) / SIZES[:2].sum()),
    "difference of shares": (ReleaseQuestion("more-often", (1, 2), "region", "N"), 100 * (PARTS[0, 0] - PARTS[1, 0])),
    "share of all": (ReleaseQuestion("share", (3,), "region", "N"), 1.0),
    "at least": (ReleaseQuestion("at-least", (2,), "x", value=6.0), 0.7),
    "mean": (ReleaseQuestion("mean", (1,), "x"), MEANS[0]),
    "mean of two": (ReleaseQuestion("mean", (1, 2), "x"), (SIZES[:2] @ MEANS[:2]) / SIZES[:2].sum()),
    "difference of means": (ReleaseQuestion("higher", (1, 2), "x"), MEANS[0] - MEANS[1]),
}


@pytest.mark.parametrize("kind", [*COVERED])
def test_nine_in_ten_intervals_hold_nine_in_ten_and_not_three_in_four(kind: str) -> None:
    assert usually(holds(*COVERED[kind]), often=0.9, rarely=0.75)


def test_a_share_is_told_with_the_noise_around_it_where_every_draw_lies_beyond_what_can_be() -> None:
    for kind, asked, value, least, most in (
        ("share", (3,), None, 0.0, 1.0),
        ("more-often", (3, 1), None, -100.0, 100.0),
        ("at-least", (3,), 1.0, 0.0, 1.0),
    ):
        about = {"column": "x", "value": value} if value else {"column": "region", "label": "N"}
        told = [ask(draw(seed), ReleaseQuestion(kind, asked, **about)) for seed in range(120)]
        assert all(least <= one.low <= one.value <= one.high <= most for one in told)
        assert min(one.high - one.low for one in told) > 0.1 * (most - least), kind
    said = [ask(draw(2), ReleaseQuestion("more-often", (1, place), "region", "N")).sentence for place in (2, 3)]
    assert [one.endswith("A histogram is too small to say.") for one in said] == [False, True]


@pytest.mark.parametrize(("algorithm", "off"), [("auto", 0.0), ("eugkm", 1.5)])
def test_what_is_printed_beside_a_centre_holds_the_mean_of_its_segment(algorithm: str, off: float) -> None:
    def hits() -> Iterator[bool]:
        for seed in count():
            tallies, made = make(seed, off=off, scale=5.0)
            reach = NINE_IN_TEN * estimate_means(tallies, made, algorithm, NOISE).error[:, 0]
            yield from (np.abs(made.centers[:, 0] - MEANS) <= reach).tolist()[:2]

    assert usually(hits(), often=0.92, rarely=0.75)


def test_the_noise_on_a_centre_is_what_its_algorithm_says_whatever_its_size_but_where_nobody_may_be() -> None:
    (tallies, made), (drowned, _) = make(0, scale=5.0), make(0, scale=400.0)
    assert tallies.clear.all() and not drowned.clear.any()
    assert (estimate_means(tallies, made, "auto", NOISE).centers_sd == 0.2).all()
    assert (estimate_means(drowned, made, "auto", NOISE).centers_sd == 4.0).all()


def test_centres_of_a_last_round_are_off_by_less_where_they_stay_and_by_more_where_rows_are_cut() -> None:
    sums, noise = np.array([[0.0, 0.02], [0.06, 0.05], [3.0, 4.0]]), np.full(3, 0.05)
    shrunk = np.maximum(0.0, 1 - 2 * noise**2 / (sums**2).sum(axis=1))
    step = PolishStep(
        title="",
        previous=np.zeros((3, 2)),
        centers=shrunk[:, None] * sums,
        center_noise_sd=noise,
        clipping_radius=0.5,
        noisy_counts=np.full(3, 500.0),
        count_noise_sd=10.0,
    )
    assert step.kept_part == pytest.approx(shrunk) and 0 == shrunk[0] < shrunk[1] < shrunk[2]

    def measure(near: float, far: float) -> np.ndarray:
        scales = Tally(np.tile([near, far], (3, 1)), 1e-6, np.ones((3, 2), dtype=bool), edges=np.array([0, 0.25, 1.0]))
        return counted.measure_polish_error(SegmentTallies((scales,)), step)

    within, cut = measure(100.0, 0.0), measure(50.0, 50.0)
    step = replace(step, noisy_counts=np.array([500.0, 19.0, 500.0]))
    assert np.isinf(measure(100.0, 0.0)).tolist() == [False, True, False], "nobody knows where its rows are"
    assert 0.7 * noise[0] < within[0] < within[1] < within[2] == pytest.approx(noise[2], rel=1e-3)
    # Half of the rows lie some 0.79 away and lose what is more than 0.5, perhaps all in one direction of two.
    assert (cut**2 - within**2) == pytest.approx((0.5 * (0.625**0.5 - 0.5)) ** 2 / 2, rel=1e-3)


def test_what_a_clipping_radius_takes_is_read_off_noisy_distances_however_far_out_rows_lie() -> None:
    edges = np.r_[0.0, 2.0 ** (np.arange(-23, 9) / 2)]
    middles, rows = np.sqrt((edges[:-1] + edges[1:]) / 2), np.zeros(32)
    rows[10:17], rows[20:24] = [100, 300, 700, 1200, 900, 500, 100], [50, 100, 70, 30]
    radius = middles[12]
    lost = rows @ np.maximum(middles - radius, 0.0) / rows.sum()

    def measure(seed: int) -> float:
        noisy = rows + np.random.default_rng(seed).laplace(0, 50, (1, 32))
        scales = Tally(noisy, 50 * 2**0.5, np.ones((1, 32), dtype=bool), edges=edges)
        return float(SegmentTallies((scales,)).find_shortening(np.array([radius]))[0])

    assert np.mean([measure(seed) for seed in range(40)]) == pytest.approx(lost, rel=0.25)


def test_shares_and_quantiles_of_counts_that_agree_hold_nine_in_ten() -> None:
    def hits(quantile: bool) -> Iterator[bool]:
        for seed in count():
            tallies, _ = make(seed)
            sd, size_sd = tallies.every[1].sd, float(tallies.size_sd[0])
            if quantile:
                told = bound_quantile(tallies.released.counts[1][0], np.linspace(0, 8, 5), 0.5, sd, size_sd)
                yield told.low <= 4.0 <= told.high
            else:
                told = bound_share(tallies.released.counts[2][0], 1, sd, size_sd)
                yield told.low <= PARTS[0, 1] <= told.high

    assert usually(hits(quantile=False), often=0.92, rarely=0.8)
    assert usually(hits(quantile=True), often=0.92, rarely=0.8)
    assert not usually(hits(quantile=False), often=0.99, rarely=0.92)


def test_tallies_add_up_to_the_size_in_every_draw_and_their_middle_is_what_was_released() -> None:
    drawn = draw(1)
    there = drawn.sizes > 0
    for counts in drawn.counts:
        assert np.allclose(counts.sum(axis=2)[there], drawn.sizes[there])
    assert (drawn.sizes >= 0).all() and len(drawn.sizes) == counted.DRAWS
    assert np.allclose(
        drawn.sizes[: counted.DRAWS // 2] + drawn.sizes[counted.DRAWS // 2 :], 2 * drawn.tallies.released.sizes, atol=80
    )
    told = drawn.tallies.released.sizes[:2]
    assert np.allclose(np.median(drawn.sizes, axis=0)[:2], told)


def test_the_file_of_draws_tells_sizes_means_and_a_share_of_each_category() -> None:
    told = pd.read_csv(io.StringIO(counted.format_draws(draw(1)))).groupby("segment").mean().drop(columns="draw")
    expected = np.column_stack([SIZES, MEANS, PARTS])[:2]
    np.testing.assert_allclose(told[:2], expected, rtol=0.1, atol=0.05)


def test_draws_spread_as_far_as_the_noise_of_the_released_size() -> None:
    drawn = draw(2)
    assert drawn.sizes.std(axis=0)[:2] == pytest.approx(drawn.tallies.size_sd[:2], rel=0.15)
    assert drawn.tallies.size_sd[0] < 20 * 2**0.5  # by several tallies more is known than by one
    # Laplace noise, by its kurtosis: Gaussian draws of the same spread would hold other tails.
    noise = counted.Bits("law").draw_laplace(3.0, 50_000)
    assert noise.std() == pytest.approx(3.0, rel=0.02) and (noise**4).mean() / 81 == pytest.approx(6.0, rel=0.1)
    assert np.allclose(noise[:50_000], -noise[50_000:])


def test_bins_of_every_kind_of_column_have_ends() -> None:
    tally = Tally(np.zeros((1, 3)), 1.0, np.ones((1, 3), dtype=bool))
    names = ("I", "II", "III")
    for coding, nth, ends in (
        *((codings.Ordinal(names), 0, [1, 2, 3]), (codings.Nominal(names), 1, [0, 1, 0])),
        *((codings.Cycle(24.0), 0, [-0.5, -1, -0.5]), (codings.Cycle(24.0), 1, [0, -(0.75**0.5), -1])),
    ):
        low, high = counted.find_bin_ends(tally, replace(REGION, labels=names, coding=coding), nth)
        assert low == pytest.approx(ends, abs=1e-6) and (low <= high).all()


def test_what_noise_hides_is_said_so() -> None:
    drawn, clear = draw(3, scale=400.0), ask(draw(3), ReleaseQuestion("larger", (1, 2)))
    assert "Noise hides this" in ask(drawn, ReleaseQuestion("larger", (1, 2))).sentence
    assert ask(drawn, ReleaseQuestion("share", (3,), "region", "N")).hidden
    often = ask(drawn, ReleaseQuestion("more-often", (1, 3), "region", "N")).sentence
    assert often.startswith("Noise hides this: ") and often.endswith("? A histogram is too small to say.")
    lost = ask(replace(drawn, sizes=np.where([False, True, False], 0.0, drawn.sizes)), ReleaseQuestion("ratio", (1, 2)))
    assert "segment 2 may hold nobody" in lost.sentence and lost.hidden and np.isnan(lost.high)
    assert len(ask(drawn, ReleaseQuestion("largest")).chosen) > 1
    assert clear.sentence.startswith("Segment 1 is larger than segment 2, by ") and clear.chosen == (1,)
    assert ask(draw(3), ReleaseQuestion("largest")).chosen == (1,)
    whole = ask(draw(3), ReleaseQuestion("part", (1, 2, 3))).sentence
    assert whole == "Segments 1, 2 and 3 together: 100 % of all rows in segments (100 to 100 % in nine of ten)."


@for_each(
    ("question", "words"),
    [
        (ReleaseQuestion("smallest"), "size, part, larger"),
        (ReleaseQuestion("size", (4,)), "from 1 to 3"),
        (ReleaseQuestion("size"), "1 or more"),
        (ReleaseQuestion("larger", (1, 1)), "named once"),
        (ReleaseQuestion("larger", (1, 2, 3)), "about 2 segments"),
        (ReleaseQuestion("mean", (1, 2, 3), "x"), "one or two segments.*do not hold"),
        (ReleaseQuestion("mean", (1,), "height"), "no mean is told.*x"),
        (ReleaseQuestion("mean", (1,)), "about column"),
        (ReleaseQuestion("size", (1,), "x"), "nothing but segments"),
        (ReleaseQuestion("share", (1,), "region", "E"), '"N", "S", "W"'),
        (ReleaseQuestion("share", (1,), "height", "E"), '"x", "region"'),
        (ReleaseQuestion("share", (1,), "x", "E"), "holds numbers"),
        (ReleaseQuestion("at-least", (1,), "region", value=1.0), "categories"),
    ],
)
def test_what_cannot_be_asked_is_refused_with_what_can(question: ReleaseQuestion, words: str) -> None:
    with pytest.raises(RequestError, match=words):
        ask(draw(0), question)


def test_a_release_that_tells_no_noise_has_means_by_its_histograms() -> None:
    tallies, made = make(0, scale=1.0)
    found = estimate_means(tallies, made, "hybrid", None)
    assert isinstance(found, counted.Means) and np.isfinite(found.error).all()
    assert np.abs(found.values[:, 0] - MEANS).max() < 1.0


# Intervals cover what is true in nine of ten releases, whatever the rows, and say nothing where noise drowns all.


SEEDS = st.integers(0, 2**32 - 1)
# Nine tenths, less three standard deviations of a share of so many draws.
TIMES = 600
LEAST = 0.9 - 3 * np.sqrt(0.09 / TIMES)
SHAPES = {
    "even": np.full(16, 60.0),
    "one heap": np.r_[np.zeros(7), 900.0, np.zeros(8)],
    "two heaps": np.r_[400.0, np.zeros(14), 400.0],
    "slope": np.arange(16) * 10.0,
    "few": np.full(16, 3.0),
    "one": np.r_[np.zeros(15), 1.0],
}


@pytest.mark.parametrize(("shape", "scale"), list(zip(SHAPES, [2.0, 40.0, 2.0, 1000.0, 40.0, 1000.0], strict=True)))
def test_a_quantile_is_covered_in_nine_of_ten_draws(shape, scale):
    rng, counts, edges = np.random.default_rng(1), SHAPES[shape], np.linspace(0, 32, 17)
    numbers = np.repeat((edges[1:] + edges[:-1]) / 2, counts.astype(int))
    for level in (0.25, 0.5):
        true = np.quantile(numbers, level, method="inverted_cdf")
        found = [bound_quantile(counts + rng.laplace(0, scale, 16), edges, level, scale * 2**0.5) for _ in range(TIMES)]
        assert np.mean([one.low <= true <= one.high for one in found]) >= LEAST
        assert all(0 <= one.low <= one.value <= one.high <= 32 for one in found)


@pytest.mark.parametrize(
    ("counts", "scale"),
    [([500.0, 300, 20, 0], 2.0), ([500.0, 300, 20, 0], 1000.0), ([0.0, 0, 0, 9], 2.0), ([50.0, 50, 50, 50], 40.0)],
    ids=str,
)
def test_a_share_is_covered_in_nine_of_ten_draws(counts, scale):
    rng, counts = np.random.default_rng(2), np.array(counts)
    noisy = counts + rng.laplace(0, scale, (TIMES, 4))
    for place in range(4):
        true, found = counts[place] / counts.sum(), [bound_share(one, place, scale * 2**0.5) for one in noisy]
        assert np.mean([one.low - 1e-12 <= true <= one.high + 1e-12 for one in found]) >= LEAST
        assert all(0 <= one.low <= one.value <= one.high <= 1 for one in found)


@given(SEEDS, st.integers(1, 40), st.floats(0.05, 0.95))
def test_without_noise_a_quantile_is_in_its_bin_and_a_share_is_itself(seed, m, level):
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 30, m).astype(float)
    counts[rng.integers(m)] += 1
    edges = np.sort(rng.uniform(-5, 5, m + 1)) + np.arange(m + 1)
    place = int(np.searchsorted(np.cumsum(counts), level * counts.sum()))
    found = bound_quantile(counts, edges, level, 0.0)
    assert found.low <= edges[place] + 1e-9 and edges[place] - 1e-9 <= found.value <= edges[place + 1] + 1e-9
    one = bound_share(counts, place, 0.0)
    assert one.low == pytest.approx(one.high, abs=1e-6) == pytest.approx(counts[place] / counts.sum(), abs=1e-6)


def test_sums_and_ratios():
    rng = np.random.default_rng(3)
    over, under = 300 + 15 * rng.normal(size=TIMES), 1000 + 120 * rng.normal(size=TIMES)
    found = [counted.bound_ratio(a, 15.0, b, 120.0) for a, b in zip(over, under, strict=True)]
    assert np.mean([one.low <= 0.3 <= one.high for one in found]) >= LEAST
    assert np.mean([one.low > 0.15 and one.high < 0.6 for one in found]) > 0.9
    assert counted.bound_ratio(0.25, 0.0, 0.5, 0.0) == counted.Interval(0.5, 0.5, 0.5)
    assert counted.bound_ratio(5.0, 1.0, 1.0, 10.0).high == np.inf and np.isnan(
        counted.bound_ratio(5.0, 1.0, -1.0, 1.0).value
    )
    assert counted.bound_sum(10.0, 100.0) == counted.Interval(10.0, 0.0, pytest.approx(185.07))


def test_the_ends_of_a_share_are_where_its_statistic_reaches_the_noise():
    counts, sd, normal = np.array([300.0, 500.0, 200.0, 50.0]), 12.0, counted.bound_sum(0.0, 1.0).high
    for place in range(4):
        found = bound_share(counts, place, sd)
        for p in (found.low, found.high):
            noise = sd * np.sqrt((1 - p) ** 2 + p**2 * (len(counts) - 1))
            assert abs(counts[place] - p * counts.sum()) == pytest.approx(normal * noise)
        assert found.low < found.value < found.high
    nobody, everybody = (bound_share(np.array([-90.0, 500.0]), place, sd) for place in (0, 1))
    assert nobody.low == nobody.value == 0 < nobody.high < 0.1 and everybody.high == 1 > everybody.low > 0.9


def test_counts_that_noise_made_negative_are_evened_out_from_both_sides():
    found = bound_quantile(np.array([10.0, -4.0, 10.0]), np.arange(4.0), 0.5, 0.1)
    assert found.value == 1.0  # up to the edges 0 to 3 lie 0, 8, 8 and 16
    assert bound_quantile(np.array([10.0, 30.0, 10.0]), np.arange(4.0), 0.4, 0.1).value == pytest.approx(4 / 3)
