"""SuLQ k-means: its rounds, its noise, and its random starts."""

from __future__ import annotations

import pytest

from dpviz.algorithms.baselines.sulq import CARD
from dpviz.core.accounting import gdp_mu
from dpviz.runs.one_run import run
from tests.contract.tables import PUBLIC, NeighborSetting

REQUEST = {"k": 3, "epsilon": 1.0, "delta": 1e-6, "seed": 0}


def test_the_paper_takes_twenty_rounds_of_equal_gaussian_noise():
    done = run(CARD, PUBLIC.table(), params={"preset": "paper"}, **REQUEST)
    assert [entry.query for entry in done.entries] == ["Count", "Sum"] * 20
    assert {entry.mechanism for entry in done.entries} == {"gaussian"}
    assert len({entry.scale for entry in done.entries}) == 2
    # μ² adds up: twenty rounds of (Δ/σ)².
    total = sum((entry.sensitivity / entry.scale) ** 2 for entry in done.entries)
    assert total == pytest.approx(gdp_mu(1.0, 1e-6) ** 2, rel=1e-9)


def test_tuned_takes_as_many_rounds_as_the_budget_feeds():
    rounds = []
    for epsilon in (0.1, 2.0, 10.0):
        done = run(CARD, NeighborSetting("p", n_public=400).table(), **{**REQUEST, "epsilon": epsilon})
        rounds.append(len(done.entries) // 2)
    assert rounds[0] == 2 and rounds[-1] == 7 and rounds == sorted(rounds)
