"""k-variates++: its noise and its budget."""

import numpy as np
import pytest

from dpviz.algorithms.baselines.kvariates import CARD
from dpviz.runs.one_run import run
from tests.contract.tables import PUBLIC

DIAMETER = 2 * np.sqrt(2)


def test_local_spends_all_on_draws_with_the_noise_of_the_whole_domain():
    done = run(CARD, PUBLIC.table(), k=4, epsilon=2.0, seed=0, params={"preset": "local"})
    draws = [entry for entry in done.entries if entry.mechanism == "kernel draw"]
    assert len(draws) == 4
    for entry in draws:
        assert entry.epsilon == pytest.approx(2.0 / 4) and entry.scale == pytest.approx(DIAMETER / (2.0 / 4))
