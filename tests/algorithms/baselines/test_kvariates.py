"""k-variates++: its noise, its budget, and the D² seeding that is left where noise vanishes."""

from __future__ import annotations

from math import log

import numpy as np
import pytest
from scipy import stats

from dpviz.algorithms.baselines.kvariates import CARD, KVariatesParams, SeedStep
from dpviz.algorithms.card import Level, Setting
from dpviz.algorithms.steps import CentersStep
from dpviz.core.losses import bound_distance
from dpviz.core.queries import Relation
from dpviz.runs.advice.judgement import Judgement
from dpviz.runs.one_run import run
from tests.cases import for_each
from tests.contract.tables import PUBLIC, REPLACE, NeighborSetting, make_blobs, make_small_table

LOCAL, CAPPED = {"preset": "local"}, {"preset": "capped"}
DIAMETER = 2 * np.sqrt(2)


def _draws(params, case=PUBLIC, **request):
    done = run(CARD, case.table(), **{"k": 4, "epsilon": 2.0, "seed": 0, **request}, params=params)
    return [entry for entry in done.entries if entry.mechanism == "kernel draw"]


def test_local_spends_all_on_draws_with_the_noise_of_the_whole_domain():
    draws = _draws(LOCAL)
    assert len(draws) == 4
    for entry in draws:
        assert entry.epsilon == pytest.approx(2.0 / 4)
        assert entry.scale == pytest.approx(DIAMETER / (2.0 / 4))


@pytest.mark.parametrize("people", [1, 3])
def test_capped_draws_hide_a_row_among_n(people):
    case = NeighborSetting("p", n_public=400, rows_per_person=people)
    done = run(CARD, case.table(), k=4, epsilon=2.0, params=CAPPED, seed=0)
    first, *others = [entry for entry in done.entries if entry.mechanism == "kernel draw"]
    step = np.exp(2.0 / 2 / 4) - 1
    # The first draw weighs every row 1 beside a floor of α n; later ones by how far it may lie from all seeds.
    assert first.scale == pytest.approx(DIAMETER / log(1 + step * (1 + 0.05 * 400 / people)), rel=1e-6)
    region = case.table().domain.region
    for number, entry in enumerate(others, start=1):
        weight = bound_distance(done.frames[number - 1].step.centers[None], region) ** 2 / region.radius**2
        part = 0.05 * 400 / weight / people
        assert entry.scale == pytest.approx(DIAMETER / log(1 + step * (1 + part)), rel=1e-3)
        assert 0.1 < weight <= 4 * (1 + 1e-9)
    assert first.scale < others[0].scale < DIAMETER / (2.0 / 2 / 4)


def test_replace_costs_twice_a_step_but_never_more_than_the_kernel():
    for params, scale in ((LOCAL, DIAMETER / 0.5), (CAPPED, None)):
        draws = _draws(params, REPLACE)
        assert draws[-1].scale == pytest.approx(scale) if scale else draws[-1].scale > _draws(params)[-1].scale


@for_each(("params", "rounds"), [(LOCAL, 0), (CAPPED, 3), ({**LOCAL, "means": 2}, 2), ({"means": 0}, 0)])
def test_means_take_half_of_the_budget_where_there_are_any(params, rounds):
    done = run(CARD, PUBLIC.table(), k=3, epsilon=2.0, params=params, seed=0)
    means = [entry.amount for entry in done.entries if entry.mechanism != "kernel draw"]
    assert len(means) == 2 * rounds
    assert sum(means) == pytest.approx(1.0 if rounds else 0.0)
    assert [type(frame.step) for frame in done.frames] == [SeedStep] * 3 + [CentersStep] * max(1, rounds)


@pytest.mark.slow
def test_where_noise_vanishes_seeds_are_rows_drawn_by_squared_distance():
    rows = np.repeat([[-0.9], [-0.5], [0.9]], [6, 3, 1], axis=0)
    table = make_small_table(rows, n_public=10)
    pairs = [
        tuple(np.round(run(CARD, table, k=2, epsilon=1e7, params=LOCAL, seed=seed).centers.ravel(), 3))
        for seed in range(600)
    ]
    law = {}
    weights = {-0.9: 6, -0.5: 3, 0.9: 1}
    for first, much in weights.items():
        pull = {place: count * (place - first) ** 2 for place, count in weights.items()}
        law |= {(first, second): much / 10 * pull[second] / sum(pull.values()) for second in weights if second != first}
    counts = [pairs.count(pair) for pair in law]
    assert sum(counts) == 600
    expected = np.array(list(law.values())) * 600
    assert stats.chisquare(counts, expected).pvalue > 1e-3


def test_a_public_part_of_all_draws_is_no_row():
    rows = np.full((20, 1), 0.5)
    table = make_small_table(rows, n_public=20)
    params = {"preset": "capped", "alpha": 1.0, "means": 0}
    seeds = [run(CARD, table, k=1, epsilon=1e6, params=params, seed=seed).centers[0, 0] for seed in range(300)]
    # τ = 20 beside twenty rows of weight 1: half of the seeds are public points.
    assert stats.binomtest(int((np.abs(np.array(seeds) - 0.5) > 1e-3).sum()), 300, 0.5).pvalue > 1e-3


def test_seeds_stay_in_the_region_although_noise_does_not():
    done = run(CARD, NeighborSetting("b", n_public=400, radius=0.5).table(), k=5, epsilon=0.5, params=LOCAL, seed=0)
    for frame in done.frames:
        assert np.linalg.norm(frame.step.centers, axis=1).max() <= 0.5


def test_the_card_says_that_local_is_out_of_reach_at_any_n():
    small = Judgement.of(CARD, Setting(2, 5, 1.0, 0.0, n=10**9), KVariatesParams(preset="local"))
    assert small.level is Level.RED and "out of reach" in small.message
    assert Judgement.of(CARD, Setting(1, 1, 50.0, 0.0, n=100), KVariatesParams(preset="local")).like is Level.GREEN
    # With a floor, records help, if only like their logarithm.
    setting = Setting(1, 2, 4.0, 0.0, n=1000)
    needed = CARD.smallest_n(setting, KVariatesParams())
    assert 10 < needed < 1e6
    at = _draws({**CAPPED}, NeighborSetting("l", dim=1, n_public=int(needed)), k=2, epsilon=4.0)[-1]
    # The card cannot know the seeds: it counts with a row as far from them as can be.
    assert 0.4 < at.scale * np.sqrt(2) < 0.505
    twice = CARD.smallest_n(Setting(1, 2, 4.0, 0.0, relation=Relation.REPLACE, n=1000), KVariatesParams())
    assert twice > needed


def test_means_mend_seeds():
    rows = make_blobs(2000, k=3, seed=1)
    table = NeighborSetting("p", n_public=2000).table(rows)

    def loss(params, seed):
        centers = run(CARD, table, k=3, epsilon=3.0, params=params, seed=seed).centers
        return ((rows[:, None] - centers) ** 2).sum(axis=2).min(axis=1).mean()

    medians = [np.median([loss(params, seed) for seed in range(9)]) for params in (LOCAL, CAPPED)]
    assert medians[1] < medians[0] / 3
