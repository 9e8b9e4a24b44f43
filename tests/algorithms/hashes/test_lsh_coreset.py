"""The coreset of hashes: thresholds, ledger, and what it finds."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest

from dpviz.algorithms.hashes.lsh_coreset import CARD, CoresetStep, HashTreeStep
from dpviz.core.accounting import Accounting
from dpviz.core.partitions import find_level
from dpviz.runs.one_run import run
from tests.contract.tables import make_blobs, make_small_table

FEW = {"starts": 3}


def _steps(table, **request):
    done = run(CARD, table, **{"delta": 1e-6, "seed": 0, "params": FEW} | request)
    tree, coreset = done.frames[0].step, done.frames[1].step
    assert isinstance(tree, HashTreeStep) and isinstance(coreset, CoresetStep)
    assert (coreset.weights >= 0).all()
    return done, tree, coreset


def test_thresholds_of_the_paper():
    params = {**FEW, "preset": "paper"}
    table = make_small_table(make_blobs(20_000, 6, 8), n_public=20_000)
    done, tree, coreset = _steps(table, k=8, epsilon=1.0, params=params)
    assert done.accounting is Accounting.PLD
    of_tree, of_sums = done.entries
    alpha = of_sums.scale / table.domain.region.radius
    assert of_tree.scale == pytest.approx(20 * alpha)
    assert alpha == pytest.approx(4.32, abs=0.03)  # twenty counts: the twenty-first, of all rows, is public
    assert tree.min_node == min(int(10 * sqrt(6) * alpha), 20_000 // 16)
    assert tree.min_branch == 3 * tree.min_node
    assert tree.hashes.depth == 20
    assert (tree.hashes.offsets == 0).all()
    np.testing.assert_array_equal(coreset.weights, tree.tree.noisy_counts[tree.tree.leaf])
    # Neither a middle nor polishing was bought.
    assert [entry.note for entry in done.entries] == ["counts of hashes", "sums of leaves"]


def test_identical_rows_are_one_path_down_to_the_last_level():
    table = make_small_table(np.full((5000, 3), 0.4), n_public=5000)
    done, tree, coreset = _steps(table, k=2, epsilon=20.0, params={**FEW, "levels": 9, "centering": False})
    assert len(coreset.points) == 1
    assert find_level(tree.tree.leaves).tolist() == [9]
    np.testing.assert_allclose(coreset.points[0], 0.4, atol=0.02)
    assert np.linalg.norm(done.unit_centers - 0.4, axis=1).min() < 0.02


def test_planes_lie_through_the_middle_of_the_rows():
    rows = np.clip(make_blobs(6000, 4, 5) * 0.3 + 0.6, -1, 1)
    _, tree, _ = _steps(make_small_table(rows, n_public=6000), k=5, epsilon=2.0)
    away = tree.hashes.planes @ rows.mean(axis=0) - tree.hashes.offsets
    assert np.abs(away).max() < 0.1
    # Without that, most planes would not divide anything.
    assert np.abs(tree.hashes.offsets).max() > 0.5


def test_few_columns_get_shifted_planes():
    for dim, shifted in ((1, True), (2, True), (3, False)):
        params = {**FEW, "centering": False}
        _, tree, _ = _steps(make_small_table(make_blobs(500, dim), n_public=500), k=3, epsilon=1.0, params=params)
        assert (tree.hashes.offsets != 0).any() == shifted
