"""Release-grade noise: its laws, what OpenDP says it costs, and that no float touches a truth."""

import ast
import inspect
from dataclasses import replace
from math import exp

import numpy as np
import pytest
from scipy import stats

from dpviz.core import exact_draws, exact_noise
from dpviz.core.accounting import Accounting, gdp_delta
from dpviz.core.block_models import BlockKMeans
from dpviz.core.check import RequestError
from dpviz.core.domain import Domain
from dpviz.core.exact_draws import CostsMore, draw_discrete_gaussian, draw_discrete_laplace, draw_noisy_least
from dpviz.core.exact_noise import ExactNoise, WholeTruth
from dpviz.core.mechanisms import (
    Exponential,
    Gaussian,
    KNorm,
    Laplace,
    Mechanism,
    NoisyExcess,
    NoisyThreshold,
    PathCounts,
    SparseLaplace,
)
from dpviz.core.partitions import Everything
from dpviz.core.private_session import PrivateTable
from dpviz.core.queries import SparseCounts, Sum

PURE = Accounting.PURE
DRAWS = 4_000


def draws(mechanism: Mechanism, total, quantum=1.0, accounting=PURE):
    return ExactNoise().answer(mechanism, WholeTruth(total, quantum), accounting)


@pytest.mark.parametrize(
    ("mechanism", "law", "quantum"),
    [(Laplace(1.0, 2.5), stats.laplace, 1.0), (Gaussian(1.0, 2.5), stats.norm, 2.0**-20)],
)
def test_noise_has_the_law_of_the_ledger_and_no_other_scale(mechanism, law, quantum):
    noise = draws(mechanism, np.full(DRAWS, round(7 / quantum)), quantum) - 7
    assert stats.kstest(noise, law(scale=2.5).cdf).pvalue > 1e-4
    for wrong in (0.8, 1.25):
        # Lengths tell scales apart twice as well: these draws have no seed, and must tell every time.
        assert stats.kstest(np.abs(noise), lambda x, wrong=wrong: 2 * law(scale=2.5 * wrong).cdf(x) - 1).pvalue < 1e-4


@pytest.mark.parametrize("mechanism", [Laplace(3.0, 2.5), Gaussian(3.0, 2.5)])
def test_released_numbers_lie_on_a_public_grid_that_is_fine_beside_the_noise(mechanism):
    finer = exact_noise._Finer.of(mechanism, 1.0)
    noise = draws(mechanism, np.zeros(100, dtype=np.int64))
    assert np.array_equal(noise, np.round(np.ldexp(noise, finer.bits)) * 2.0**-finer.bits)
    assert finer.scale >= 2**24 and finer.sensitivity >= 2**24
    # A quantum more than the sensitivity, for rounding: the scale drawn is that much wider than the ledger says.
    assert finer.whole_sensitivity / finer.scale <= mechanism.sensitivity / mechanism.scale
    assert finer.scale <= np.ldexp(mechanism.scale, finer.bits) * (1 + 2.0**-15)


def test_no_float_touches_a_truth():
    """Where truths are, there is no true division, no float, and nothing that makes one."""
    tree = ast.parse(inspect.getsource(exact_draws))
    for function in (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)):
        for node in ast.walk(function):
            assert not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div)), function.name
            assert not (isinstance(node, ast.Constant) and isinstance(node.value, float)), function.name
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                assert node.func.id != "float", function.name
            if isinstance(node, ast.Attribute):
                assert node.attr not in {"float64", "float32", "astype", "random", "default_rng"}, function.name
    # In front of the draw, truths are only cut, shifted, compared and subtracted.
    source = inspect.getsource(exact_noise._Finer.truth)
    assert "float" not in source.split('"""')[2] and "/" not in source.split('"""')[2]


def test_the_source_is_hardened_and_has_coins_of_its_own():
    one, other = ExactNoise(), ExactNoise()
    assert one.hardened and one.coins != other.coins and exact_draws.name_library().startswith("OpenDP ")


def test_discrete_laplace_is_dominated_by_laplace_of_one_quantum_more():
    """The proof in numbers: no event of any probability is moved farther, for steps in one number or in several."""
    for t, steps in ((3.0, 4), (10.0, 25), (40.0, 7)):
        a, laplace = exp(-1 / t), stats.laplace(scale=t)
        for p in np.r_[np.geomspace(1e-9, 0.5, 200), 1 - np.geomspace(1e-9, 0.5, 200)]:
            moved = p
            for _ in range(steps):
                moved = min(moved / a, 1 - a * (1 - moved))
            assert moved <= laplace.cdf(laplace.ppf(p) + steps + 1) + 1e-12
            # One more is needed where the crossing lies between two steps: without it some event breaks the bound.
    a, laplace = exp(-1 / 3), stats.laplace(scale=3)
    broken = [min(p / a, 1 - a * (1 - p)) > laplace.cdf(laplace.ppf(p) + 1) + 1e-12 for p in np.linspace(0.3, 0.5, 50)]
    assert any(broken)


def test_the_discrete_gaussian_is_as_close_to_the_rounded_one_as_said():
    for sigma in (8.0, 30.0):
        x = np.arange(-int(14 * sigma), int(14 * sigma) + 1)
        discrete = np.exp(-(x**2) / (2 * sigma**2))
        discrete /= np.exp(-(np.arange(-60 * sigma, 60 * sigma + 1) ** 2) / (2 * sigma**2)).sum()
        # Differences of the distribution function cancel in the tails: take the side that is small.
        low = -np.abs(x)
        rounded = stats.norm.cdf((low + 0.5) / sigma) - stats.norm.cdf((low - 0.5) / sigma)
        ratio = np.abs(np.log(discrete / rounded))
        assert ratio.max() <= 8.3 / sigma**2 * 1.5  # the bound holds to first order; these σ are small
    fine = 2.0**24
    assert 2 * exact_noise.MOST_GAUSSIAN * 8.3 / fine**2 < exact_noise.EPSILON_SLACK


def test_one_discrete_gaussian_keeps_the_continuous_delta():
    sigma, shift = 400.0, 400
    x = np.arange(-9 * 400, 10 * 400)
    p = np.exp(-(x**2) / (2 * sigma**2))
    q = np.exp(-((x - shift) ** 2) / (2 * sigma**2))
    p, q = p / p.sum(), q / q.sum()
    for epsilon in (0.1, 0.5, 1.0, 2.0):
        delta = np.maximum(q - exp(epsilon) * p, 0).sum()
        assert delta == pytest.approx(gdp_delta(1.0, epsilon), rel=1e-4)


@pytest.mark.slow
def test_a_choice_follows_the_exponential_mechanism_with_its_prior():
    prior = np.log(np.array([0.25, 0.25, 0.5, 0.0]) + 1e-300)
    prior[3] = -np.inf
    mechanism = Exponential(2.0, 4.0, prior)
    losses = np.array([0, 4, 8, -100])
    chosen = np.array([draws(mechanism, losses, accounting=Accounting.ZCDP) for _ in range(3_000)])
    weights = np.exp(-losses / 4.0 + prior)
    weights /= weights.sum()
    expected = 3_000 * weights[:3]
    assert set(chosen) <= {0, 1, 2}
    assert stats.chisquare(np.bincount(chosen, minlength=3)[:3], expected).pvalue > 1e-4
    wrong = np.exp(-losses[:3] / 3.0) * np.exp(prior[:3])
    assert stats.chisquare(np.bincount(chosen, minlength=3)[:3], 3_000 * wrong / wrong.sum()).pvalue < 1e-3


def test_sparse_answers_are_dense_noise_and_a_cut():
    truth = SparseCounts(np.array([3, 9]), np.array([50.0, 40.0]), 200)
    listed = draws(SparseLaplace(Laplace(1.0, 2.0), 12.0), truth)
    assert set(listed.codes) >= {3, 9} and (np.abs(listed.values) > 12).all() and listed.universe == 200
    woken = np.concatenate([draws(NoisyThreshold(Laplace(1.0, 2.0), 4.0), truth) for _ in range(60)])
    empty = np.isin(woken, [3, 9], invert=True).sum()
    assert stats.binomtest(int(empty), 198 * 60, exp(-2) / 2).pvalue > 1e-4
    with pytest.raises(RequestError, match="every cell"):
        draws(SparseLaplace(Laplace(1.0, 2.0), 12.0), replace(truth, universe=2**40))


def test_an_excess_counts_what_lies_above_a_threshold():
    truth = SparseCounts(np.array([1, 2]), np.array([10.0, 3.0]), 2**50)
    excess = np.array([draws(NoisyExcess(Laplace(1.0, 0.5), 4.5), truth)[0] for _ in range(80)])
    assert stats.kstest(excess, stats.laplace(5.5, 0.5).cdf).pvalue > 1e-4


def test_what_has_no_exact_twin_is_refused_before_it_is_charged():
    table = PrivateTable(np.zeros((9, 2)), Domain.of(["a", "b"], -1, 1), n_public=9)
    session = table.open(epsilon=1.0, delta=0.0, accounting=PURE, noise=ExactNoise())
    with pytest.raises(RequestError, match="release-grade"):
        session.ask(Sum(Everything()), KNorm, session.budget, note="sums")
    with pytest.raises(RequestError, match="secret blocks"):
        session.blocks(BlockKMeans(np.zeros((2, 2))), 3)
    with pytest.raises(RequestError, match="whole numbers"):
        WholeTruth.of(object(), None, session.region)
    assert session.ledger.entries == []
    assert not session.spherical and session.noise_kind() is session.noise_kind(spherical=True) is Laplace


def test_too_little_noise_to_draw_is_refused():
    with pytest.raises(RequestError, match="smaller epsilon"):
        draws(Laplace(1.0, 2.0**-30), np.zeros(1, dtype=np.int64))


def test_gaussian_numbers_are_counted(monkeypatch):
    monkeypatch.setattr(exact_noise, "MOST_GAUSSIAN", 5)
    noise, mechanism = ExactNoise(), Gaussian(1.0, 1.0)
    noise.answer(mechanism, WholeTruth(np.zeros(5, dtype=np.int64), 1.0), Accounting.GDP)
    with pytest.raises(RequestError, match="at most 5 numbers"):
        noise.answer(mechanism, WholeTruth(np.zeros(1, dtype=np.int64), 1.0), Accounting.GDP)


@pytest.mark.parametrize("accounting", [Accounting.GDP, Accounting.PLD])
def test_a_room_keeps_back_what_discrete_gaussian_noise_needs(accounting):
    table = PrivateTable(np.zeros((9, 2)), Domain.of(["a", "b"], -1, 1), n_public=9)
    ledger = table.open(epsilon=1.0, delta=1e-6, accounting=accounting, noise=ExactNoise()).ledger
    assert ledger.epsilon <= 1 - exact_noise.EPSILON_SLACK and ledger.delta < 1e-6


def test_a_tree_of_counts_is_split_by_its_noisy_counts_alone():
    truth, mechanism = SparseCounts(np.array([3]), np.array([20.0]), 16), PathCounts(Laplace(1.0, 30.0), 4, 20.0)
    unlike_the_truth = 0
    for _ in range(20):
        grown = draws(mechanism, truth)
        heavy = grown.codes[(grown.values >= 20.0) & (grown.codes < 16)]
        assert sorted(grown.codes) == sorted([2, 3, *(2 * heavy), *(2 * heavy + 1)])
        unlike_the_truth += {*heavy.tolist()} != {2, 4, 9}
    assert unlike_the_truth


def test_a_draw_that_costs_a_millionth_more_than_its_charge_is_refused():
    truth = np.zeros(3, dtype=np.int64)
    draws_at = (
        lambda most: draw_discrete_laplace(truth, sensitivity=1, scale=2.0, most=0.5 * most),
        lambda most: draw_discrete_gaussian(truth, sensitivity=1.0, scale=2.0, most=0.125 * most),
        lambda most: draw_noisy_least(truth, sensitivity=1, scale=4.0, most=0.5 * most, concentrated=False),
        lambda most: draw_noisy_least(truth, sensitivity=1, scale=4.0, most=0.5**2 / 8 * most, concentrated=True),
    )
    for draw in draws_at:
        draw(1.0)
        with pytest.raises(CostsMore):
            draw(1 - 1e-6)


def test_opendp_holds_each_draw_against_what_the_ledger_books(monkeypatch):
    limits = {}
    for name in ("draw_discrete_laplace", "draw_discrete_gaussian", "draw_noisy_least"):
        drawn = getattr(exact_noise, name)

        def noticed(*given, name=name, drawn=drawn, **named):
            limits[name] = named["most"]
            return drawn(*given, **named)

        monkeypatch.setattr(exact_noise, name, noticed)
    truth = np.zeros(3, dtype=np.int64)
    for mechanism, name, accounting in (
        (Laplace(1.0, 4.0), "draw_discrete_laplace", PURE),
        (Gaussian(1.0, 4.0), "draw_discrete_gaussian", Accounting.ZCDP),
        (Exponential(1.0, 4.0), "draw_noisy_least", PURE),
        (Exponential(1.0, 4.0), "draw_noisy_least", Accounting.ZCDP),
    ):
        draws(mechanism, truth, accounting=accounting)
        # The ρ that OpenDP knows of a choice is ε²/8; the ledger books the exact one, which is a little less.
        own = 0.25**2 / 8 if (name, accounting) == ("draw_noisy_least", Accounting.ZCDP) else mechanism.cost(accounting)
        assert limits[name] == pytest.approx(own), name
        assert mechanism.cost(accounting) <= own
