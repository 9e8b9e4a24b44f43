"""k-variates++: its noise, its budget, and the D² seeding that is left where noise vanishes."""

from __future__ import annotations

from math import log

import numpy as np
import pytest

from dpviz.algorithms.baselines.kvariates import CARD
from dpviz.core.losses import bound_distance
from dpviz.runs.one_run import run
from tests.contract.tables import PUBLIC, NeighborSetting

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
