"""Samples load with what is declared about them; synthetic tables come from public numbers alone."""

from functools import cache

import numpy as np
import pytest

from dpviz.tables.declarations import FileKind
from dpviz.tables.loaded_table import IntakeError
from dpviz.tables.made_tables import SyntheticTable, simulate
from dpviz.tables.named import Sample, list_samples, sample
from tests.cases import about

loaded = cache(lambda name: sample(name).load())


@pytest.mark.parametrize(
    "entry",
    [
        pytest.param(one, id=one.id, marks=pytest.mark.slow if one.id in ("thermometers", "mixture64") else ())
        for one in list_samples()
    ],
)
def test_sample_loads_and_fits_its_declaration(entry: Sample) -> None:
    table, declared = loaded(entry.id)
    rows, bounds = table.columns(declared.columns), declared.list_bounds(declared.columns)
    assert entry.title == declared.title == table.name
    assert entry.description
    assert rows.shape == (declared.n_public, len(declared.columns))
    assert declared.kind == FileKind.PUBLIC
    assert (rows >= bounds.lower).all()
    assert (rows <= bounds.upper).all()
    if declared.label_column is not None:
        assert declared.label_column in table.frame.columns


def test_all_samples_are_listed_in_a_checkout() -> None:
    files = {"fifteen", "city", "people", "colours", "outlier", "towns", "laboratories"}
    assert {entry.id for entry in list_samples()} == files | {"thermometers", "mixture64", "words", "digits"}
    assert all(entry.clusters >= 2 for entry in list_samples())


@pytest.mark.slow
def test_mixture_is_sixty_four_tight_clusters_in_the_unit_ball() -> None:
    table, declared = loaded("mixture64")
    rows, label = table.columns(declared.columns), table.columns(["label"])[:, 0]
    assert rows.shape == (100_000, 100)
    assert declared.radius == 1.0
    assert declared.scaling == "common"
    assert np.linalg.norm(rows, axis=1).max() <= 1.0 + 1e-12
    assert set(label) == set(range(64))
    within = np.stack([rows[label == one].std(axis=0).mean() for one in range(64)])
    assert within == pytest.approx(0.0125, rel=0.05)
    centers = np.stack([rows[label == one].mean(axis=0) for one in range(64)])
    assert np.linalg.norm(centers, axis=1).max() <= 0.88


@pytest.mark.slow
def test_fixed_points_are_pairs_in_either_order_of_which_a_few_are_wrong() -> None:
    table, declared = loaded("thermometers")
    pairs = table.columns(declared.columns).reshape(-1, 2, 2)
    hotter = pairs[:, 0, 0] > pairs[:, 1, 0]
    assert 0.4 < hotter.mean() < 0.6
    ordered = np.where(hotter[:, None, None], pairs[:, ::-1], pairs)
    away = np.abs(ordered - np.array([[419.527, 253.8], [660.323, 332.9]])) / np.array([1.0, 0.5])
    assert np.median(away) == pytest.approx(0.674, abs=0.05)
    assert (away.max(axis=(1, 2)) > 8).sum() == 20
    assert (declared.relation, declared.scaling) == ("replace", "unit")
    assert (set(declared.lower), declared.upper) == ({0.0}, (1_000.0, 500.0) * 2)


def test_stand_in_repeats_with_its_seed_and_keeps_to_its_bounds() -> None:
    one, again, other = (simulate([0, -5], [1, 5], 2_000, 2, 4, seed, columns=["a", "b"]) for seed in (1, 1, 2))
    assert one.fingerprint == again.fingerprint != other.fingerprint
    rows = one.columns(["a", "b"])
    assert rows.shape == (2_000, 2)
    assert (rows >= [0, -5]).all()
    assert (rows <= [1, 5]).all()
    assert rows[:, 1].std() > 1


def test_what_may_be_made_of_numbers_is_known_before_it_is_made() -> None:
    usual = SyntheticTable(0.0, 100.0, 5_000, 2, 5, 0.05)
    made, declared = usual.make()
    assert (made.n_rows, declared.n_public, declared.kind) == (5_000, 5_000, FileKind.SIMULATED)
    for change in (
        *({"low": -1e308, "high": 1e308}, {"high": 1e308}, {"low": 100.0}, {"high": np.nan}, {"spread": 2.0}),
        *({"n": 0}, {"k": 1_001}, {"n": 5_000_000, "d": 11}),
    ):
        with about(change):
            assert usual.is_allowed and not usual._replace(**change).is_allowed  # type: ignore[arg-type]
    assert usual.seconds < 0.1 < usual._replace(n=1_000_000, d=2).seconds < usual._replace(k=1_000).seconds


def test_stand_in_takes_small_sizes_and_scalar_bounds() -> None:
    for n, d, k in ((1, 1, 1), (3, 2, 10), (50, 7, 3)):
        assert simulate(0.0, 1.0, n, d, k, seed=0).columns([f"x_{j}" for j in range(1, d + 1)]).shape == (n, d)


def test_stand_in_refuses_in_a_sentence() -> None:
    usual = {"lower": 0.0, "upper": 1.0, "n": 10, "d": 2, "k": 2, "seed": 0}
    for asked, said in (
        ({"n": 0}, "n is 0"),
        ({"k": 0}, "k is 0"),
        ({"d": 0}, "d is 0"),
        ({"n": 10**9}, "cells"),
        ({"lower": 1.0}, "lower < upper"),
        ({"upper": np.inf}, "finite"),
        ({"upper": [1.0, 2.0, 3.0]}, "shape"),
        ({"spread": 0.0}, "spread"),
    ):
        with about(said), pytest.raises(IntakeError, match=said):
            simulate(**(usual | asked))  # type: ignore[arg-type]
