"""How declared columns become coordinates, and back: each cell by itself, exactly, and with what the shares say."""

from datetime import date
from math import cos, sin, tau

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpviz.core.check import RequestError
from dpviz.core.domain import Domain
from dpviz.tables import codings
from tests.cases import about

KINDS = {
    "region": codings.Nominal(("N", "S", "E")),
    "sex": codings.Closed(("F", "M")),
    "stage": codings.Ordinal(("I", "II", "III")),
    "joined": codings.Dates(date(2015, 1, 1), date(2024, 12, 31)),
    "hour": codings.Cycle(24.0),
    "income": codings.Stretched("log"),
    "change": codings.Stretched("root"),
}


def domain(*names: str, **more) -> Domain:
    """The domain of these columns; what has no coding is a number from 0 to 10, amounts go from 1 to a million."""
    ends = {"income": (1.0, 1e6), "change": (-100.0, 900.0)}
    pairs = [(KINDS[name].ends if name in KINDS else None) or ends.get(name, (0.0, 10.0)) for name in names]
    lower, upper = zip(*pairs, strict=True)
    used = {name: KINDS[name] for name in names if name in KINDS}
    return codings.make_coded_domain(names, lower, upper, **{"codings": used, "weights": {}, **more})


ALL = domain("age", *KINDS)


def cells(*words: str | None) -> pd.Series:
    return pd.Series(words, dtype="str")


def test_cells_become_places_by_what_they_say_alone():
    for coding, column, numbers in (
        (KINDS["region"], cells("N", " S ", "north", None, "E"), [0, 1, 3, 4, 2]),
        (codings.Nominal(("1", "2")), cells("2.0", "1", "3", None), [1, 0, 2, 3]),
        (codings.Nominal(("1", "2")), pd.Series([2.0, np.nan, 1.0]), [1, 3, 0]),
        (KINDS["sex"], cells("M", "F", "x", None), [1, 0, np.nan, np.nan]),
        (codings.Closed(("False", "True")), pd.Series([True, False]), [1, 0]),
        (KINDS["stage"], cells("III", "I", "IV", None), [3, 1, np.nan, np.nan]),
        (KINDS["joined"], cells("2015-01-02", "2016/1/1", "20150131", "2015-02-30", "1.2.2015", None, "soon"),
         [1, 365, 30, np.nan, np.nan, np.nan, np.nan]),
        (KINDS["joined"], cells("2015-01-02 23:59", "2015-01-02T01:00Z"), [1, 1]),
        (KINDS["joined"], pd.Series(pd.to_datetime(["2015-01-02 13:00", None])), [1, np.nan]),
        (codings.Dates(date(2015, 1, 1), date(2016, 1, 1), "dmy"), cells("02.01.2015", "31/12/2015"), [1, 364]),
        (codings.Dates(date(2015, 1, 1), date(2016, 1, 1), "mdy"), cells("1/2/2015"), [1]),
        (KINDS["hour"], np.array([0.0, 24.0, 25.5, -1.0, np.nan, np.inf]), [0, 0, 1.5, 23, np.nan, np.nan]),
    ):  # fmt: skip
        with about(coding):
            np.testing.assert_array_equal(coding.numbers(column), numbers)


def test_two_different_categories_lie_the_declared_distance_apart_and_on_the_lattice():
    for weight, apart in ((None, np.sqrt(0.5)), (0.1, 0.1), (0.7, 0.7), (1.0, 1.0), (4.0, 4.0)):
        for name, values in (("region", 5), ("sex", 2)):
            with about(weight, name):
                one = domain(name, weights={} if weight is None else {name: weight})
                rows = one.region.rows(one.to_unit(np.arange(float(values))[:, None]))
                gaps = np.linalg.norm(rows[:, None] - rows[None], axis=2)[np.triu_indices(values, 1)]
                np.testing.assert_allclose(gaps, apart, atol=2.0**-17)
    usual = domain("region").region.rows(domain("region").to_unit(np.arange(5.0)[:, None]))
    np.testing.assert_array_equal(usual, np.eye(5) / 2)


def test_the_stored_circle_is_the_circle_is_no_longer_than_its_radius_and_hangs_on_no_last_bit():
    for radius in (0.5, 0.35, 2.0):
        circle = codings.make_circle(radius)
        assert np.linalg.norm(circle, axis=1).max() <= radius
        np.testing.assert_array_equal(circle * 2.0**20, np.rint(circle * 2.0**20))
        true = np.array([[cos(tau * i / 10_080), sin(tau * i / 10_080)] for i in range(10_080)]) * radius
        np.testing.assert_allclose(circle, true, atol=2.0**-20)
        # Another library's last bit must not move a point to the next step of the lattice.
        steps = np.abs(true) * 2.0**20 + 1e-6
        assert np.abs(steps - np.rint(steps)).min() > 1e-8
    late, early = domain("hour").to_unit(np.array([[23.0], [0.0]]))
    assert np.linalg.norm(late - early) == pytest.approx(2 * 0.5 * sin(tau / 48), abs=1e-5)


def test_log_and_root_scales_are_even_in_what_they_are_named_after():
    income = domain("income")
    np.testing.assert_allclose(income.to_unit(np.array([[1.0], [1e3], [1e6]]))[:, 0], [-1, 0, 1], atol=1e-12)
    np.testing.assert_allclose(income.from_unit(np.array([[-1.0], [0.0], [1.0]]))[:, 0], [1.0, 1e3, 1e6])
    change = domain("change")
    amounts = np.array([[-100.0], [0.0], [81.0]])
    np.testing.assert_allclose(change.from_unit(change.to_unit(amounts)), amounts, atol=1e-9)
    low, high = change.to_unit(np.array([[-100.0], [0.0]]))[:, 0]
    assert high - low == pytest.approx(2 * 10 / 40)


@given(st.integers(0, 2**32 - 1))
def test_rows_of_a_table_of_all_kinds_go_there_and_back(seed):
    rng = np.random.default_rng(seed)
    ends = np.array([(column.lower, column.upper) for column in ALL.declared])
    rows = rng.uniform(*ends.T, (30, ALL.width))
    for place, column in enumerate(ALL.declared):
        if column.coding.textual:
            rows[:, place] = np.rint(rows[:, place])
    points = ALL.to_unit(rows)
    assert points.shape == (30, ALL.dim) and np.isfinite(points).all() and ALL.coded_dim == 8
    back = ALL.to_rows(points)
    hour = ALL.names.index("hour")
    turned = np.abs(back[:, hour] - rows[:, hour]) % 24
    assert np.minimum(turned, 24 - turned).max() < 24 / 10_080
    back[:, hour] = rows[:, hour]
    np.testing.assert_allclose(back, rows, rtol=1e-9, atol=1e-9)
    inside = ALL.region.rows(points)
    np.testing.assert_allclose(inside, points, atol=2.0**-17)
    np.testing.assert_array_equal(ALL.region.rows(inside), inside)


def test_a_row_with_a_missing_number_is_the_middle_and_the_empty_category_and_not_the_first_one():
    placeholder = ALL.placeholder
    told = ALL.describe(ALL.from_unit(ALL.to_unit(placeholder[None]))[0])
    assert told["region"]["(missing)"] == 1.0 and told["age"] == 5.0 and told["stage"] == "II"
    assert told["sex"] == {"F": 0.5, "M": 0.5} and told["income"] == pytest.approx(1e6 / 2, rel=1e-3)


def test_a_weight_is_the_half_width_of_numbers_and_counts_once():
    one = domain("age", "region", weights={"age": 0.5, "region": 2.0})
    assert one.region.half[0] == 0.5
    np.testing.assert_allclose(one.to_unit(np.array([[10.0, 0.0]])), [[0.5, np.sqrt(2), 0, 0, 0, 0]], atol=1e-5)
    np.testing.assert_allclose(one.from_unit(one.to_unit(np.array([[7.0, 2.0]]))), [[7, 0, 0, 1, 0, 0]], atol=1e-9)


def test_coordinates_of_one_name_are_refused_and_so_are_tuples():
    with pytest.raises(RequestError, match="Two coordinates would be called 'region = N'"):
        domain("region", "region = N")
    with pytest.raises(RequestError, match="holds several points has plain numbers only"):
        domain("age", "region").unfold(2)


def test_what_are_no_categories_is_refused():
    for make, words in (
        (lambda: codings.Nominal(()), "No category"),
        (lambda: codings.Nominal(("a", " a")), "repeat"),
        (lambda: codings.Nominal(("a", " ")), "how an empty cell is written"),
        (lambda: codings.Nominal(tuple(map(str, range(codings.MOST_BINS)))), "common ones"),
    ):
        with about(words), pytest.raises(RequestError, match=words):
            make()


def test_under_common_scaling_categories_count_in_half_widths_of_the_widest_number():
    declared = {"lower": [0, 0, 0], "upper": [10, 1, 4], "codings": {"region": KINDS["region"]}, "weights": {}}
    one, cut = (
        codings.make_coded_domain(["a", "b", "region"], **declared, scaling="common", radius=radius)
        for radius in (None, 2.5)
    )
    np.testing.assert_allclose(one.region.half, [1, 0.1, *[0.5] * 5])
    assert cut.region.blocks.free_radius == pytest.approx(0.5)
    rows = cut.region.rows(cut.to_unit(np.array([[10.0, 1.0, 2.0]])))[0]
    assert np.linalg.norm(rows[:2]) <= 0.5 and rows[4] == 0.5
