"""Seeds of auto: solutions that differ, the reading of a histogram that its counts speak for, and what rows choose."""

from __future__ import annotations

import numpy as np
import pytest

from dpviz.algorithms.auto.auto import Seeds, choose_best_read, choose_by_rows
from dpviz.algorithms.auto.auto_plan import SolutionChoice, StagePart
from dpviz.algorithms.auto.view_synopsis import SynopsisStep
from dpviz.algorithms.tools.solvers import StartsStep
from dpviz.core.accounting import Accounting
from dpviz.core.arrays import Array
from dpviz.core.domain import Domain
from dpviz.core.exact_noise import ExactNoise
from dpviz.core.partitions import Grid
from dpviz.core.private_session import PrivateSession, PrivateTable
from tests.contract.sessions import open_seeded

GRID = Grid(np.ones(1), np.array([20]))


def synopsis_of(noisy: Array, sd: float) -> SynopsisStep:
    """Of cells of one column, two of which are full."""
    return SynopsisStep(
        **{"title": "cells", "grid": GRID, "codes": np.arange(20), "noisy_counts": noisy, "sd": sd, "frame": np.eye(1)},
        **{"kept": np.arange(20), "weights": noisy, "outside": np.zeros((0, 1)), "outside_weights": np.zeros(0)},
    )


def seeds_at(synopsis: SynopsisStep, *every: tuple[int, ...]) -> Seeds:
    """Solutions with centres in these cells."""
    centers = np.stack([GRID.centers(np.array(places)) for places in every])
    solved = StartsStep(title="", losses=np.ones(len(every)), chosen=0, centers=centers[0])
    return Seeds(synopsis, solved, centers, np.arange(1.0, len(every) + 1) / 100, 0)


@pytest.mark.parametrize("sd", [0.5, 500.0])
def test_noisy_counts_say_which_reading_of_them_is_right(sd):
    """Two clusters, and seeds that know of one of them only; where noise is large the first reading is kept."""
    counts = np.zeros(20)
    counts[[3, 16]] = 100.0
    synopsis = synopsis_of(counts + sd * np.random.default_rng(0).normal(size=20), sd)
    wrong, right = (seeds_at(synopsis, places) for places in ((3, 5), (3, 16)))
    assert choose_best_read([right, wrong]) is right
    assert choose_best_read([wrong, right]) is (right if sd < 1 else wrong)
    assert choose_best_read([wrong]) is wrong


def test_solutions_that_differ_come_with_the_best_first():
    """The second differs from the first in the order of its centres only, the fourth by less than a radius."""
    found = seeds_at(synopsis_of(np.ones(20), 1.0), (3, 16), (16, 3), (3, 9), (3, 16), (4, 16))
    assert [seeds.taken for seeds in found.list_distinct(9)] == [0, 2, 4]
    assert [seeds.taken for seeds in found.list_distinct(2)] == [0, 2]
    np.testing.assert_array_equal(found.list_distinct(9)[1].centers, found.every[2])


def room_of(epsilon: float, accounting: Accounting, seed: int) -> PrivateSession:
    """Rows in two places, most of them in one."""
    rows = np.repeat(GRID.centers(np.array([3, 16])), [300, 100], axis=0)
    table = PrivateTable(rows, Domain.of(["x"], -1.0, 1.0), n_public=len(rows))
    return open_seeded(table, accounting, epsilon=epsilon, delta=1e-6, seed=seed)


STAGE = SolutionChoice(StagePart("choice", "losses", "exponential", 1.0))


@pytest.mark.parametrize("accounting", [Accounting.PURE, Accounting.PLD])
def test_rows_choose_what_the_histogram_got_wrong(accounting):
    found = seeds_at(synopsis_of(np.ones(20), 1.0), (3, 5), (3, 16))
    session = room_of(2.0, accounting, 0)
    share = (
        session.budget if accounting is Accounting.PURE else session.calibrate(losses=STAGE.losses.draws())["losses"]
    )
    seeds, words = choose_by_rows(session, [found], STAGE, {STAGE.losses: share})
    assert seeds.taken == 1 and words == "Of 2 solutions that differ the rows choose one: the seeds"
    assert [(entry.mechanism, entry.query) for entry in session.ledger.entries] == [("exponential", "CappedLosses")]
    # A row counts up to twelve squared radii.
    assert session.ledger.entries[0].sensitivity == pytest.approx(12 * found.radius2)
    assert session.ledger.spent_epsilon == pytest.approx(2.0, rel=1e-3)


def test_cells_without_any_spread_leave_a_question_that_can_be_drawn_exactly():
    """A synopsis of noise alone can put every cell onto a centre: then radii are nothing, and so would noise be."""
    found = seeds_at(synopsis_of(np.ones(20), 1.0), (3, 5), (3, 16))._replace(radii2=np.full(2, 1e-14))
    table = PrivateTable(np.zeros((0, 1)), Domain.of(["x"], -1.0, 1.0))
    session = table.open(epsilon=1.0, delta=1e-6, accounting=Accounting.PURE, noise=ExactNoise())
    choose_by_rows(session, [found], STAGE, {STAGE.losses: session.budget})
    assert session.ledger.spent_epsilon == pytest.approx(1.0)
