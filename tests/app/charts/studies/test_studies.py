"""What charts over many runs draw is what the runs come to."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpviz.app.charts.result_charts import MeterReading, list_shares
from dpviz.app.charts.studies.compare import find_crossings
from dpviz.app.charts.studies.curves import Curves, _spread_apart, choose_styles, draw_curves
from dpviz.runs.one_run import run
from dpviz.runs.study.study import summarise
from tests.app.charts.gallery import exhibit
from tests.app.charts.studies.special import LIGHT, NAMES, sized, study


@pytest.mark.parametrize("number", [1, 18])
def test_trade_off_draws_medians_and_middle_halves(number: int) -> None:
    table = study(NAMES[:number], [0.1, 1.0, 10.0])
    expected = summarise(table).set_index(["contender", "epsilon"])
    figure = draw_curves(Curves(table)).draw(LIGHT).plot.figure()
    for line in (trace for trace in figure.data if trace.meta == "median"):
        for epsilon, median, (low, high, runs) in zip(line.x, line.y, line.customdata, strict=True):
            row = expected.loc[(line.name, epsilon)]
            assert (median, low, high, runs) == pytest.approx((row["median"], row["q25"], row["q75"], 7))


def test_the_trade_off_axis_does_not_move_while_it_fills() -> None:
    table, every = study(NAMES[:3], [0.1, 1.0, 10.0]), [0.1, 1.0, 10.0]
    ranges = {
        draw_curves(Curves(runs, places=every)).draw(LIGHT).plot.figure().layout.xaxis.range
        for runs in (table, table[table.epsilon == 0.1], table[:0])
    }
    assert len(ranges) == 1


@given(st.lists(st.tuples(st.floats(0, 1), st.integers(1, 2)), min_size=1, max_size=18))
def test_labels_keep_their_distance_and_their_order(ends: list[tuple[float, int]]) -> None:
    heights, sizes = np.array([height for height, _ in ends]), np.array([0.025 * rows for _, rows in ends])
    placed = np.array(_spread_apart(heights.tolist(), sizes.tolist()))
    order = np.argsort(heights, kind="stable")
    apart = (sizes[order][1:] + sizes[order][:-1]) / 2
    assert (np.diff(placed[order]) >= apart - 1e-9).all()
    assert (placed - sizes / 2).min() >= -1e-9 and (placed + sizes / 2).max() <= 1 + 1e-9
    lone = len(ends) == 1 or (np.diff(heights[order]) >= apart).all()
    if lone and heights.min() >= 0.025 and heights.max() <= 0.975:
        np.testing.assert_allclose(placed, heights, atol=1e-9)


def test_all_algorithms_with_all_their_presets_look_different() -> None:
    styles = choose_styles([str(place) for place in range(36)])
    assert len({(style.color, style.dash) for style in styles.values()}) == 36
    assert len({(style.color, style.marker) for style in styles.values()}) == 36


def test_an_algorithm_looks_the_same_whichever_of_them_comes_first() -> None:
    table = study(NAMES[:3], [0.1, 1.0])
    named = table.assign(contender=pd.Categorical(table["contender"], NAMES[:3]))
    for runs in (named, named[::-1], named[named.contender == NAMES[2]]):
        assert Curves(runs).styles == choose_styles(NAMES[:3])
        assert list(Curves(runs).lines) == [name for name in NAMES[:3] if (runs.contender == name).any()]


def test_equal_losses_lie_where_n_times_epsilon_is_the_same() -> None:
    crossings = find_crossings(sized())
    products = {level: [c.n * c.epsilon for c in crossings if c.loss == level] for level in (1.1, 1.02)}
    for level, found in products.items():
        assert len(found) >= 2
        np.testing.assert_allclose(found, 100 / (level - 1), rtol=0.35)


def test_shares_of_the_budget_add_up_to_what_was_spent() -> None:
    finished = run("dplloyd", exhibit(2, 3, n=200).table, k=3, epsilon=1.0, seed=1)
    shares = list_shares(finished.entries, spent_fraction=finished.spent_fraction)
    assert sum(shares.values()) == pytest.approx(finished.spent_fraction) and list(shares) == ["round"]


def test_shares_follow_the_meter_where_amounts_do_not_add_up() -> None:
    finished = run("auto", exhibit(2, 3, n=2000).table, k=3, epsilon=2.0, delta=1e-6, seed=0)
    meter = [MeterReading(frame.entries, frame.spent_fraction) for frame in finished.frames]
    shares = list_shares(finished.entries, spent_fraction=finished.spent_fraction, meter=meter)
    after_grid = next(frame for frame in finished.frames if frame.entries == 2)
    assert shares["zoom: coarse cells"] + shares["grid cells"] == pytest.approx(after_grid.spent_fraction)
    assert sum(shares.values()) == pytest.approx(finished.spent_fraction)
