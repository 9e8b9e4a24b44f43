"""Codes of hyperplanes and the leaves of their prefix tree."""

from __future__ import annotations

import numpy as np
import pytest

from dpviz.core.partitions import HashCodes, HashTree, find_code_range, find_level
from tests.core.asked import exact


def _hashes(depth=7, dim=3, seed=0):
    rng = np.random.default_rng(seed)
    return HashCodes(rng.normal(size=(depth, dim)), rng.normal(0, 0.2, depth))


@pytest.mark.parametrize("depth", [7, 20])
def test_codes_are_the_sides_of_the_planes(depth):
    hashes, rows = _hashes(depth), exact(np.random.default_rng(1).normal(size=(500, 3)))
    sides = rows.values @ hashes.planes.T < hashes.offsets
    bits = ["".join("1" if side else "0" for side in row) for row in sides]
    for codes in (hashes.find_cells(rows), hashes.assign(rows.values)):
        np.testing.assert_array_equal(codes, [int(code, 2) for code in bits])
    assert hashes.n_cells == 2**depth


@pytest.mark.parametrize("leaves", [[1], [3, 4, 11], [7, 9, 130], []])
def test_a_row_is_in_the_leaf_whose_prefix_its_code_has(leaves):
    hashes, rows = _hashes(), exact(np.random.default_rng(2).normal(size=(400, 3)))
    tree = HashTree(hashes, np.array(leaves, dtype=np.int64))
    whole = hashes.find_cells(rows) + hashes.n_cells
    ancestors = [{int(node) >> up for up in range(hashes.depth + 1)} for node in whole]
    expected = [next((i for i, leaf in enumerate(leaves) if leaf in up), len(leaves)) for up in ancestors]
    np.testing.assert_array_equal(tree.find_cells(rows), expected)
    assert tree.n_cells == len(leaves) + 1


def test_levels_and_ranges_of_large_numbers():
    nodes = np.array([2**20 - 1, 2**20, 2**20 + 5, 2**45 + 1])
    assert find_level(nodes).tolist() == [19, 20, 20, 45]
    first, end = find_code_range(nodes[:3], 20)
    assert (end - first).tolist() == [2, 1, 1]
    assert first.tolist() == [2**20 - 2, 0, 5]
