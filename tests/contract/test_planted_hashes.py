"""Known mistakes of hash trees, planted one at a time: the contract must turn red for each."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest

import dpviz.privacy.hash_partitions
import dpviz.privacy.ledger
import tests.contract.test_path_noise as noise_tests
from dpviz.algorithms.registry import CARDS
from dpviz.privacy.ledger import BudgetExceeded, Entry
from dpviz.privacy.loss_distributions import Draws
from dpviz.privacy.queries import Relation, SparseCount, SparseCounts, Sum
from dpviz.privacy.room import DataRoom
from dpviz.privacy.sparse_mechanisms import PathCounts, children_of, counts_at
from tests.contract.checks import check_ledger, check_loss, check_replay, run_of
from tests.contract.rooms import Loss, Tape, loss_room, recording_room
from tests.contract.tables import PUBLIC, REPLACE, neighbours

CARD = CARDS["lsh-coreset"]
GAUSSIAN = {"k": 2, "epsilon": 1.0, "delta": 1e-6, "params": {"starts": 1}, "seed": 0}
PURE = {**GAUSSIAN, "delta": 0.0}
PAPER = {**GAUSSIAN, "params": {"starts": 1, "preset": "paper"}}

caught = pytest.raises(AssertionError)


def losses(world, **request) -> None:
    for one, other in neighbours(world, few=True):
        check_loss(CARD, one, other, **request)


@pytest.mark.some(2)
@pytest.mark.parametrize("request_", [GAUSSIAN, PURE, PAPER], ids=["gaussian", "pure", "paper"])
@pytest.mark.parametrize("world", [PUBLIC, REPLACE], ids=str)
def test_without_a_mistake_all_is_green(world, request_):
    losses(world, **request_)
    check_ledger(CARD, world.table(), **request_)


def test_one_count_paid_for_a_whole_path(monkeypatch):
    # Every level drawn with the noise that the whole share buys for one count.
    def short(cls, share, sensitivity, *, levels, min_branch):
        found = honest(share, sensitivity, levels=levels, min_branch=min_branch)
        kind = type(found.once)
        return cls(kind(found.once.sensitivity, found.once.scale / sqrt(levels)), levels, min_branch)

    honest = PathCounts.bought
    monkeypatch.setattr(PathCounts, "bought", classmethod(short))
    with pytest.raises(BudgetExceeded):
        losses(PUBLIC, **GAUSSIAN)
    # Nor may the booking keep silent about it.
    monkeypatch.setattr(PathCounts, "cost", lambda self, accounting: self.once.cost(accounting))
    monkeypatch.setattr(PathCounts, "sensitivity", property(lambda self: self.once.sensitivity))
    # A crowd in one place is a heavy path down to the last level.
    crowd = np.full((401, 2), 0.9)
    one, other = PUBLIC.table(crowd), PUBLIC.table(crowd[:-1])
    with caught:
        check_loss(CARD, one, other, **GAUSSIAN)


@pytest.mark.parametrize("request_", [GAUSSIAN, PURE], ids=["gaussian", "pure"])
def test_two_paths_under_replace_counted_as_one(request_, monkeypatch):
    declared = SparseCount.sensitivity
    monkeypatch.setattr(SparseCount, "sensitivity", lambda self, rel, r: declared(self, Relation.ADD_REMOVE, r))
    # Two rows that no plane sends the same way part at the root: two counts change on each level.
    with caught:
        for seed in range(6):
            losses(REPLACE, **{**request_, "seed": seed, "params": {"starts": 1, "levels": 1}})


def test_nodes_split_by_their_true_counts(monkeypatch):
    def peeking(self, truth, noise):
        asked, nodes, noisy = np.array([2, 3]), [], []
        for _ in range(self.levels):
            exact = counts_at(asked, truth)
            nodes.append(asked)
            noisy.append(self.once.draw(exact, noise))
            asked = children_of(asked[exact >= self.min_branch])
        return SparseCounts(np.concatenate(nodes), np.concatenate(noisy), 2 * truth.universe)

    monkeypatch.setattr(PathCounts, "draw", peeking)
    with caught:
        noise_tests.test_a_node_is_split_by_its_noisy_count_alone(*noise_tests.LAWS[1])


def test_empty_children_skipped(monkeypatch):
    def skipping(self, truth, noise):
        found = honest(self, truth, noise)
        seen = counts_at(found.codes, truth) > 0
        return SparseCounts(found.codes[seen], found.values[seen], found.universe)

    honest = PathCounts.draw
    monkeypatch.setattr(PathCounts, "draw", skipping)
    with caught:
        noise_tests.test_every_count_on_every_level_carries_the_same_noise(*noise_tests.LAWS[0], Relation.ADD_REMOVE)


def test_half_the_noise_on_deep_levels(monkeypatch):
    def thin(self, truth, noise):
        found = honest(self, truth, noise)
        exact = counts_at(found.codes, truth)
        part = np.where(found.codes >= 16, 0.5, 1.0)
        return SparseCounts(found.codes, exact + part * (found.values - exact), found.universe)

    honest = PathCounts.draw
    monkeypatch.setattr(PathCounts, "draw", thin)
    with caught:
        noise_tests.test_every_count_on_every_level_carries_the_same_noise(*noise_tests.LAWS[1], Relation.ADD_REMOVE)


def test_a_histogram_whose_row_counts_twice(monkeypatch):
    # Both sides of a plane for the rows that lie near it.
    honest = SparseCount.tally
    monkeypatch.setattr(SparseCount, "tally", lambda self, chunk, cell: honest(self, chunk, np.r_[cell, cell]))
    with caught:
        losses(PUBLIC, **GAUSSIAN)


def test_leaves_that_overlap(monkeypatch):
    # A row in a leaf and in the leaf below it, summed in both.
    def twice(self, rows, cell):
        return honest(self, rows, cell) + honest(self, rows, np.zeros_like(cell))

    honest = Sum.tally
    monkeypatch.setattr(Sum, "tally", twice)
    with caught:
        losses(PUBLIC, **GAUSSIAN)


def test_sums_of_leaves_without_those_that_are_empty(monkeypatch):
    def only_full(self, mechanism, truth):
        released = honest(self, mechanism, truth)
        if isinstance(truth, np.ndarray) and truth.ndim == 2:
            return np.where(np.abs(truth).sum(axis=1, keepdims=True) > 0, released, 0.0)
        return released

    honest = DataRoom._draw
    monkeypatch.setattr(DataRoom, "_draw", only_full)
    with caught:
        for one, other in neighbours(PUBLIC, few=True):
            tape, loss = Tape(), Loss()
            run_of(CARD, one, room=recording_room(tape), **GAUSSIAN)
            run_of(CARD, other, room=loss_room(tape, loss), **GAUSSIAN)
            zeros = [r for r, t in zip(tape.released, tape.truths, strict=True) if np.ndim(r) == 2 and (r == 0).any()]
            assert not zeros, "an empty leaf shows that it is empty"


def test_a_private_n_in_the_thresholds(monkeypatch):
    monkeypatch.setattr(DataRoom, "n", property(lambda self: max(1, len(self._rows))))
    # Thresholds move with n, and with them the questions that are asked.
    with pytest.raises((AssertionError, ValueError)):
        check_replay(CARD, PUBLIC.table(), **{**GAUSSIAN, "epsilon": 10.0})


def test_a_path_booked_as_a_single_laplace_draw(monkeypatch):
    honest = dpviz.privacy.ledger.draws_of

    def single(entry: Entry) -> Draws:
        found = honest(entry)
        return found._replace(times=1)

    monkeypatch.setattr(dpviz.privacy.ledger, "draws_of", single)
    with caught:
        check_ledger(CARD, PUBLIC.table(), **PAPER)
