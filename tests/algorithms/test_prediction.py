"""The floor that no run beats: what noise alone costs, of public numbers, and against the runs of a stored study."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from dpviz.algorithms.card import Setting
from dpviz.algorithms.prediction import predict_floor
from dpviz.core.queries import Relation
from dpviz.runs import advice


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
