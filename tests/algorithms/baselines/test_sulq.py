"""SuLQ k-means: its rounds, its noise, and its random starts."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest

from dpviz.algorithms.baselines.sulq import CARD, SuLQParams
from dpviz.algorithms.card import Setting
from dpviz.core.accounting import gdp_mu
from dpviz.core.check import RequestError
from dpviz.runs.evaluation import nicv
from dpviz.runs.one_run import run
from tests.contract.tables import PUBLIC, REPLACE, NeighborSetting, make_blobs

REQUEST = {"k": 3, "epsilon": 1.0, "delta": 1e-6, "seed": 0}


def test_the_paper_takes_twenty_rounds_of_equal_gaussian_noise():
    done = run(CARD, PUBLIC.table(), params={"preset": "paper"}, **REQUEST)
    assert [entry.query for entry in done.entries] == ["Count", "Sum"] * 20
    assert {entry.mechanism for entry in done.entries} == {"gaussian"}
    assert len({entry.scale for entry in done.entries}) == 2
    # μ² adds up: twenty rounds of (Δ/σ)².
    total = sum((entry.sensitivity / entry.scale) ** 2 for entry in done.entries)
    assert total == pytest.approx(gdp_mu(1.0, 1e-6) ** 2, rel=1e-9)


def test_sensitivities_are_those_of_the_region():
    for case, count, total in (
        (PUBLIC, 1, sqrt(2)),
        (REPLACE, sqrt(2), 2 * sqrt(2)),
        (NeighborSetting("b", radius=0.5), 1, 0.5),
    ):
        entries = [e for e in run(CARD, case.table(), **REQUEST).entries if e.note != "number of rows"]
        for entry in entries:
            assert entry.sensitivity == pytest.approx(count if entry.query == "Count" else total)


def test_tuned_takes_as_many_rounds_as_the_budget_feeds():
    rounds = []
    for epsilon in (0.1, 2.0, 10.0):
        done = run(CARD, NeighborSetting("p", n_public=400).table(), **{**REQUEST, "epsilon": epsilon})
        rounds.append(len(done.entries) // 2)
    assert rounds[0] == 2 and rounds[-1] == 7 and rounds == sorted(rounds)


def test_without_delta_it_says_what_to_do():
    with pytest.raises(RequestError, match="delta > 0"):
        run(CARD, PUBLIC.table(), **{**REQUEST, "delta": 0.0})


def test_more_rounds_need_more_records():
    setting = Setting(2, 5, 1.0, 1e-6, n=1000)
    few, many = (CARD.smallest_n(setting, SuLQParams(rounds=rounds)) for rounds in (5, 20))
    assert many == pytest.approx(2 * few)
    assert CARD.smallest_n(setting, SuLQParams(preset="paper")) == many


def test_twenty_rounds_lose_to_a_few_where_the_budget_is_small():
    rows = make_blobs(600, k=3, seed=2)
    table = NeighborSetting("p", n_public=600).table(rows)
    request = {**REQUEST, "epsilon": 0.3}
    losses = {
        preset: [
            nicv(rows, run(CARD, table, params={"preset": preset}, **request | {"seed": s}).centers) for s in range(30)
        ]
        for preset in ("paper", "tuned")
    }
    assert np.median(losses["tuned"]) < np.median(losses["paper"])
