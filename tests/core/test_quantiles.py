"""Private quantiles and medians: exact densities, bounds that hold on all small tables, noise nobody can read off."""

import itertools
from functools import cache
from math import exp

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpviz.core.quantiles
from dpviz.core.accounting import Accounting, Budget, compute_choice_rho, zcdp_epsilon
from dpviz.core.check import RequestError
from dpviz.core.domain import Region
from dpviz.core.ledger import Entry
from dpviz.core.noise import StudyNoise
from dpviz.core.quantiles import (
    ClippedColumns,
    ExponentialQuantile,
    Medians,
    Quantiles,
    SmoothMedian,
    compute_smooth_sensitivity,
    find_median_place,
)
from dpviz.core.queries import Relation, Sensitivity
from tests.cases import about

LINE = Region(np.ones(1), 1.0)
ENDS = (np.array([-1.0]), np.array([1.0]))
REPLACED = Medians(*ENDS).sensitivity(Relation.REPLACE, LINE)
BASIC, PURE, ZCDP = Accounting.BASIC, Accounting.PURE, Accounting.ZCDP


def _column(values, level=0.5):
    return ClippedColumns(np.array(values, dtype=float).reshape(-1, 1), *ENDS, (level,))


def _by_definition(edges, place, beta):
    """Smooth sensitivity as it is defined: all t, all s, ranks beyond the ends standing for the ends."""
    last = len(edges) - 1
    return max(
        exp(-beta * t) * (edges[min(place + s, last)] - edges[max(place + s - t - 1, 0)])
        for t in range(last)
        for s in range(t + 2)
    )


@given(st.integers(0, 2**32 - 1))
def test_the_smooth_bound_is_what_its_definition_says(seed):
    rng = np.random.default_rng(seed)
    values = rng.uniform(-1, 1, rng.integers(0, 12)).round(int(rng.integers(1, 9)))
    edges, beta = np.r_[-1, np.sort(values), 1], rng.choice([1e-3, 0.1, 1.0, 5.0, 50.0])
    place = find_median_place(len(values))
    found = compute_smooth_sensitivity(edges, place, beta)
    assert found == pytest.approx(_by_definition(edges, place, beta), rel=1e-9)


def test_the_density_of_a_quantile_adds_up_to_one_over_the_box():
    mechanism = ExponentialQuantile(2.0, 0.7, 2.0, 2.0)
    for level in (0.25, 0.5, 1.0):
        column = _column([-0.4, 0.1, 0.1, 0.35, 1.0], level)
        ends = column.edges[:, 0]
        mass = sum(
            (right - left) * exp(mechanism.log_density(np.array([[(left + right) / 2]]), column))
            for left, right in itertools.pairwise(ends)
        )
        assert mass == pytest.approx(1.0, rel=1e-12), level


@pytest.mark.parametrize("relation", Relation, ids=lambda r: r.value)
@pytest.mark.parametrize("level", [0.25, 0.9])
def test_no_small_table_loses_more_than_it_pays_for_a_quantile_and_some_lose_nearly_all(relation, level):
    epsilon, places = 1.0, (-1.0, -0.98, 0.97, 1.0)
    query = Quantiles(*ENDS, (level,))
    mechanism = ExponentialQuantile.calibrated(Budget(PURE, epsilon), query.sensitivity(relation, LINE))

    @cache
    def densities(rows):
        column = _column(rows, level)
        return np.array([mechanism.log_density(np.array([[place]]), column) for place in (-0.99, 0.0, 0.98)])

    most = 0.0
    for rows in (*itertools.product(places, repeat=1), *itertools.combinations_with_replacement(places, 4)):
        others = [rows[1:]] if relation is Relation.ADD_REMOVE else [(new, *rows[1:]) for new in places]
        most = max(most, *(np.abs(densities(rows) - densities(tuple(sorted(other)))).max() for other in others))
    # At the ends a score's range takes longer tables to show.
    assert (0.55 if 0.2 < level < 0.8 else 0.05) * epsilon <= most <= epsilon * (1 + 1e-12)


@pytest.mark.parametrize(("epsilon", "tight"), [(0.1, True), (20.0, False)])
def test_cauchy_noise_never_loses_more_than_it_pays(epsilon, tight):
    rng = np.random.default_rng(3)
    mechanism = SmoothMedian.calibrated(Budget(PURE, epsilon), REPLACED, tight=tight)
    assert mechanism.cost(PURE) == pytest.approx(epsilon)
    most = 0.0
    for _ in range(60):
        one = rng.choice([-1.0, 0.0, 1.0, rng.uniform(-1, 1)], int(rng.integers(1, 9)))
        other = np.r_[rng.choice([-1.0, 1.0]), one[1:]]
        for released in rng.uniform(-3, 3, 10):
            here, there = (mechanism.log_density(np.array([released]), _column(t)) for t in (one, other))
            most = max(most, abs(here - there))
    assert most <= epsilon * (1 + 1e-9)
    # The textbook's constant is several times too careful.
    assert most >= (0.2 if tight else 0.04) * epsilon


def test_laplace_noise_by_a_smooth_bound_keeps_its_delta():
    # The worst pair: the median moves by the whole bound, and the bound changes by all that smoothness allows.
    for epsilon, delta in ((0.05, 1e-3), (0.05, 1e-12), (1.0, 1e-6), (30.0, 1e-3), (30.0, 1e-12)):
        for tight in (True, False):
            with about(f"ε = {epsilon}, δ = {delta}", tight):
                check_delta(SmoothMedian(1.0, 1 / epsilon, delta, tight), epsilon, delta)


def check_delta(mechanism, epsilon, delta):
    for change in (mechanism.smoothness, mechanism.smoothness / 2, -mechanism.smoothness, 0.0):
        here, there = mechanism.noise_per_bound, mechanism.noise_per_bound * exp(change)
        shift = min(1.0, exp(change))
        reach = 200 * max(here, there)
        at = np.unique(np.r_[np.linspace(-reach, reach, 60_001), np.linspace(-3, 3, 60_001)])
        one, other = (-np.abs(at - m) / s - np.log(2 * s) for m, s in ((0.0, here), (shift, there)))
        excess = np.maximum(np.exp(one) - np.exp(np.minimum(epsilon + other, 700)), 0)
        assert np.trapezoid(excess, at) <= delta * (1 + 1e-4)  # the trapezoids beside a kink


def needed_delta(mechanism, one, other, epsilon):
    """The least δ for which the released median of ``one`` is no more than e^ε times as likely as that of ``other``."""
    (middle, spread), (there, other_spread) = (
        [part[0] for part in mechanism._compute_law(column)] for column in (one, other)
    )
    away = spread * np.linspace(0, 100, 400_001)
    points = np.r_[middle - away[::-1], middle + away]
    likely = np.exp(-np.abs(points - middle) / spread) / (2 * spread)
    also = np.exp(epsilon - np.abs(points - there) / other_spread) / (2 * other_spread)
    return float(np.trapezoid(np.maximum(likely - also, 0.0), points))


def _stretched(beta):
    """Two tables of three values: exchanged, one moves the median by all it may and the bound by a factor of e^β."""
    one, other = [-1.0, 1.0, 1.0], [-1.0, 1.0 - 2 * exp(-beta), 1.0]
    return _column(one), _column(other)


@pytest.mark.parametrize(("epsilon", "delta"), [(0.5, 1e-2), (1.0, 1e-6)])
def test_some_pair_of_tables_needs_all_of_delta(epsilon, delta, monkeypatch):
    mechanism = SmoothMedian(1.0, 1 / epsilon, delta)
    pair = _stretched(mechanism.smoothness)
    bounds = [compute_smooth_sensitivity(column.edges[:, 0], 2, mechanism.smoothness) for column in pair]
    assert bounds == pytest.approx([2.0, 2 * exp(-mechanism.smoothness)])
    assert 0.99 * delta < needed_delta(mechanism, *pair, epsilon) <= delta * (1 + 1e-3)
    # A bound that is smooth by a twentieth less is found out; and the textbook's leaves nearly all of δ.
    assert needed_delta(SmoothMedian(1.0, 1 / epsilon, delta, tight=False), *pair, epsilon) < 0.3 * delta
    true = dpviz.core.quantiles.compute_laplace_smoothness
    monkeypatch.setattr(dpviz.core.quantiles, "compute_laplace_smoothness", lambda *given: 1.05 * true(*given))
    assert needed_delta(mechanism, *_stretched(mechanism.smoothness), epsilon) > 1.1 * delta


@pytest.mark.parametrize("columns", [7])
def test_a_column_of_many_has_the_noise_of_its_own_part_of_both_budgets(columns):
    for tight in (True, False):
        many = Sensitivity(columns, np.sqrt(columns))
        whole = SmoothMedian.calibrated(Budget(BASIC, 0.6 * columns, 1e-6), many, tight=tight)
        part = SmoothMedian.calibrated(Budget(BASIC, 0.6, 1e-6 / columns), REPLACED, tight=tight)
        assert whole.cost(BASIC) == pytest.approx(0.6 * columns) and whole.epsilon_of_one == pytest.approx(0.6)
        assert whole.smoothness == pytest.approx(part.smoothness)
        assert whole.noise_per_bound == pytest.approx(part.noise_per_bound)


def test_the_ledger_of_a_smooth_median_says_nothing_of_its_noise():
    mechanism = SmoothMedian.calibrated(Budget(BASIC, 1.0, 1e-6), REPLACED)
    entry = Entry.of(mechanism, "Medians", BASIC, delta=1e-6, note="x")
    assert entry.mechanism == "laplace smooth median"
    assert SmoothMedian.calibrated(Budget(PURE, 1.0), REPLACED).name == "cauchy smooth median"
    assert (entry.sensitivity, entry.scale, entry.epsilon, entry.delta) == (1.0, 1.0, 1.0, 1e-6)
    spreads = [mechanism._compute_law(_column(values))[1][0] for values in ([0.0] * 300, [-1.0, 1.0] * 150)]
    assert spreads[0] < 0.1 * spreads[1]


def test_where_all_values_agree_noise_is_still_noise():
    mechanism = SmoothMedian(1.0, 1 / 500)
    column = _column([0.25] * 4000)
    released = mechanism.draw(column, StudyNoise(np.random.default_rng(0)))
    assert released[0] != 0.25 and np.isfinite(mechanism.log_density(released, column))


def test_many_quantiles_in_one_entry_are_priced_one_by_one_under_zcdp():
    query = Quantiles(np.full(30, -1.0), np.full(30, 1.0), (0.25, 0.75))
    sensitivity = query.sensitivity(Relation.REPLACE, LINE)
    mechanism = ExponentialQuantile.calibrated(Budget(ZCDP, 0.02), sensitivity)
    each = sensitivity.range / mechanism.scale
    assert mechanism.cost(ZCDP) == pytest.approx(60 * compute_choice_rho(each)) == pytest.approx(0.02)
    assert mechanism.cost(PURE) == pytest.approx(60 * each)
    entry = Entry.of(mechanism, "Quantiles", ZCDP, delta=1e-6, note="x")
    assert (entry.epsilon, entry.delta) == (pytest.approx(zcdp_epsilon(0.02, 1e-6)), 1e-6)
    assert entry.epsilon < mechanism.cost(PURE)


def test_what_is_not_proved_is_refused():
    with pytest.raises(RequestError, match="fixed number of rows"):
        SmoothMedian.calibrated(Budget(PURE, 1.0), Medians(*ENDS).sensitivity(Relation.ADD_REMOVE, LINE))
    with pytest.raises(RequestError, match="cannot be paid under zcdp"):
        SmoothMedian.calibrated(Budget(ZCDP, 1.0), REPLACED)
    with pytest.raises(RequestError, match="cannot be paid under gdp"):
        ExponentialQuantile.calibrated(
            Budget(Accounting.GDP, 1.0), Quantiles(*ENDS, (0.5,)).sensitivity(Relation.REPLACE, LINE)
        )
    for kind in (Medians, lambda *box: Quantiles(*box, (0.5,))):
        with pytest.raises(RequestError, match="needs width"):
            kind(np.zeros(2), np.array([1.0, 0.0]))
    with pytest.raises(RequestError, match="level"):
        Quantiles(*ENDS, (1.5,))
    with pytest.raises(TypeError):
        Medians(*ENDS, (0.25,))  # the noise of a smooth median is proved for the middle alone
