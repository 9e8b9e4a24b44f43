"""Known mistakes of the k-median variant, planted one at a time: the contract must turn red for each."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dpviz.algorithms.registry import CARDS
from dpviz.privacy.losses import SwapLoss
from dpviz.privacy.queries import Relation
from dpviz.privacy.sums import Pull
from dpviz.table.lattice import ROW_BITS
from tests.contract.checks import check_loss
from tests.contract.questions import check_move, regions, room_over
from tests.contract.tables import PUBLIC, REPLACE, neighbours

CARD = CARDS["balcan-kmedian"]
PURE = {"k": 3, "epsilon": 1.0, "delta": 0.0, "seed": 0}
APPROX = {**PURE, "delta": 1e-6}
caught = pytest.raises(AssertionError)


def losses(world, **request) -> None:
    """The loss replay over the neighbours of a world, with some draws of the noise: a mistake shows in one of them."""
    for seed in range(4):
        for one, other in neighbours(world, few=True):
            check_loss(CARD, one, other, **{**request, "seed": seed})


@pytest.mark.parametrize("request_", [PURE, APPROX], ids=["pure", "approx"])
def test_half_the_pull_of_a_row(request_, monkeypatch):
    whole = Pull.sensitivity

    def half(self, relation, region):
        declared = whole(self, relation, region)
        return replace(declared, l1=declared.l1 / 2, l2=declared.l2 / 2, block=declared.block / 2)

    monkeypatch.setattr(Pull, "sensitivity", half)
    with caught:
        losses(PUBLIC, **request_)


@pytest.mark.parametrize("request_", [PURE, APPROX], ids=["pure", "approx"])
def test_a_row_that_is_exchanged_pulls_twice(request_, monkeypatch):
    whole = Pull.sensitivity
    monkeypatch.setattr(Pull, "sensitivity", lambda self, relation, region: whole(self, Relation.ADD_REMOVE, region))
    with caught:
        losses(REPLACE, **request_)


def test_pulls_that_grow_with_the_distance(monkeypatch):
    def far_rows_pull_harder(self, rows, cell):
        away = rows.values - self.at[cell]
        return np.stack([away[cell == j].sum(axis=0) for j in range(self.over.n_cells)]) * 2**ROW_BITS

    monkeypatch.setattr(Pull, "tally", far_rows_pull_harder)
    with caught:
        losses(PUBLIC, **APPROX)


def test_the_range_of_distances_taken_for_that_of_squares(monkeypatch):
    # In a small domain squares are smaller than distances: the selection would be sharper than paid.
    whole = SwapLoss.sensitivity
    squares = lambda self, relation, region: whole(replace(self, order=2), relation, region)  # noqa: E731
    monkeypatch.setattr(SwapLoss, "sensitivity", squares)
    domain = regions(2)["ball"]
    small = replace(domain, radius=0.3)
    far = np.full(2, 0.3 / np.sqrt(2)) * (1 - 1e-9)
    query = SwapLoss(np.stack([far]), np.stack([far, -far]), order=1)
    with caught:
        rooms = (
            room_over(rows, small, Relation.ADD_REMOVE) for rows in (np.zeros((3, 2)), np.r_[np.zeros((3, 2)), [far]])
        )
        check_move(query, *rooms)
