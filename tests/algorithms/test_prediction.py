"""Su et al.'s closed forms: their thresholds, their limits, and one check against runs."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from dpviz.algorithms import prediction
from dpviz.algorithms.card import Setting
from dpviz.algorithms.prediction import Prediction, predict_floor
from dpviz.algorithms.tools.lloyd_round import TYPICAL_OFFSET
from dpviz.core.domain import Domain, Region
from dpviz.core.queries import Relation
from dpviz.runs import advice
from dpviz.runs.request import Contender


def predict(contender: Contender, setting: Setting, region: Region) -> Prediction | None:
    return prediction.predict(contender.card, contender.settings, setting, region)


def dplloyd_error(dim: int, *, k: int, n: float, epsilon: float, rounds: int) -> float:
    """Eq. 7 in the unit cube (r = 1): squared error of a centre after one of ``rounds`` equal rounds."""
    return 2 * dim * (1 + TYPICAL_OFFSET**2) * (k * rounds * (dim + 1) / (n * epsilon)) ** 2


def test_the_su_preset_is_predicted_by_equation_7() -> None:
    for dim in (1, 2, 6):
        region = Domain.of([str(j) for j in range(dim)], -1.0, 1.0).region
        found = predict(Contender("dplloyd", {"preset": "su"}), Setting(dim, 5, 1.0, 0.0, n=50_000), region)
        assert found is not None
        assert found.excess == pytest.approx(dplloyd_error(dim, k=5, n=50_000, epsilon=1.0, rounds=5))


def test_the_floor_is_the_noise_of_known_clusters_of_like_size() -> None:
    """Drawn: a sum with K-norm noise, a point of the ball times a length of a Gamma law with d + 1 shapes."""
    n, k, dim, epsilon = 600, 3, 2, 1.0
    rng = np.random.default_rng(0)
    noise = rng.gamma(dim + 1, 1 / epsilon, (20_000, k)) * rng.random((20_000, k)) ** (1 / dim)
    # k means, each off by its noise over n/k rows, cost its n/k rows the square of that; the loss a row is 1.
    lost = float(((noise / (n / k)) ** 2).sum(axis=1).mean()) * (n / k) / n
    floor = predict_floor(Setting(dim, k, epsilon, 0.0, n=n))
    assert floor is not None and floor - 1 == pytest.approx(lost, rel=0.05)


def test_the_floor_depends_on_public_numbers_and_not_on_private_ones() -> None:
    wide = Setting(100, 64, 0.1, 0.0, n=100_000)
    assert predict_floor(replace(wide, n=None)) is None
    floors = [predict_floor(setting) for setting in (wide, replace(wide, delta=1e-6), replace(wide, n=50_000))]
    assert all(floor is not None and floor > 1 for floor in floors)
    assert floors[1] < floors[0] < floors[2]
    assert predict_floor(replace(wide, relation=Relation.REPLACE)) > floors[0]
    assert predict_floor(replace(wide, rows_per_person=3)) - 1 == pytest.approx(9 * (floors[0] - 1))


def test_no_run_of_the_stored_study_beats_the_floor_by_much_and_a_higher_one_would_be_beaten() -> None:
    runs = pd.read_csv(Path(advice.__file__).with_name("advice_study.csv"))
    settings = list(zip(*(runs[name] for name in ("d", "k", "epsilon", "delta", "n")), strict=True))
    found = {one: predict_floor(Setting(int(one[0]), int(one[1]), one[2], one[3], n=int(one[4]))) for one in settings}
    excess, floors = runs["ratio"].to_numpy() - 1, np.array([found[one] for one in settings]) - 1
    beaten = [int((excess < times * floors - 0.01).sum()) for times in (1, 3)]
    assert beaten[0] == 0 < beaten[1]


def test_a_grid_is_predicted_by_equations_9_and_10() -> None:
    for dim, n in ((2, 10_000), (6, 100_000)):
        region = Domain.of([str(j) for j in range(dim)], -1.0, 1.0).region
        found = predict(Contender("eugkm"), Setting(dim, 5, 1.0, 0.0, n=n), region)
        cells = float(round((n * 1.0 / 10) ** (2 / (2 + dim))) ** dim)  # the paper's number, of whole cells an axis
        assert found is not None
        # In the unit cube: by noise on so many counts, and by the rows' unknown places in their cells, at most.
        assert found.noise == pytest.approx(2 * dim * cells * 5 ** ((dim - 2) / dim) / (3 * n**2))
        assert found.bias_bound == pytest.approx(dim / cells ** (2 / dim))


def test_hybrid_is_predicted_as_a_grid_below_its_threshold_and_by_equation_13_above() -> None:
    region = Domain.of([str(j) for j in range(6)], -1.0, 1.0).region
    below, above = (Setting(6, 5, epsilon, 0.0, n=48_841) for epsilon in (0.06, 0.08))
    assert predict(Contender("hybrid"), below, region) == predict(Contender("eugkm"), below, region)
    found = predict(Contender("hybrid", {"preset": "su"}), above, region)
    assert found is not None and found.bias_bound == 0
    assert found.excess == pytest.approx(dplloyd_error(6, k=5, n=48_841, epsilon=0.04, rounds=1))
