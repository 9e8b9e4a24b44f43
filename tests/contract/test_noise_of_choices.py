"""Through the room's general door come the choices that the ledger wrote down, and no others."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from dpviz.privacy.accounting import Accounting
from dpviz.privacy.kernel_draw import DistanceWeights, KernelDraw
from dpviz.privacy.losses import PoolLoss
from dpviz.privacy.mechanisms import Peeling
from dpviz.privacy.noise import StudyNoise
from tests.contract.laws import check_scale
from tests.contract.tables import blobs, small_table

SETS = np.array([[[0.5, 0.5]], [[-0.5, 0.5]], [[0.0, 0.0]], [[0.2, 0.1]]])


def _room(accounting=Accounting.PURE, rows=None):
    table = small_table(blobs(6) if rows is None else rows)
    noise = StudyNoise(np.random.default_rng(3))
    return table.open(epsilon=4.0, delta=1e-6, accounting=accounting, noise=noise, needs_n=False)


@pytest.mark.parametrize(
    "accounting", [Accounting.PURE, pytest.param(Accounting.ZCDP, marks=pytest.mark.slow)], ids=lambda a: a.value
)
@pytest.mark.slow
def test_peeling(accounting):
    room = _room(accounting)
    query = PoolLoss(SETS)
    share, picks = room.budget.fraction(0.5), []
    for _ in range(8000):
        picks.append(tuple(room.ask(query, Peeling, share, note="x", draws=2).value))
        entry, room.ledger.entries = room.ledger.entries[-1], []
    assert entry.sensitivity == pytest.approx(entry.draws * room.sensitivity(query).range)
    once = entry.sensitivity / entry.draws / entry.scale
    assert entry.amount == pytest.approx(2 * (once if accounting is Accounting.PURE else once**2 / 8))
    losses = room._true_answers([query])[0]
    for wrong in (1.0, 0.8, 1.25):
        first = np.exp(-(losses - losses.min()) / (entry.scale * wrong))
        law, seen = [], []
        for i in range(4):
            for j in set(range(4)) - {i}:
                law.append(first[i] / first.sum() * first[j] / (first.sum() - first[i]))
                seen.append(picks.count((i, j)))
        pvalue = stats.chisquare(seen, np.array(law) * len(picks)).pvalue
        assert (pvalue > 1e-3) if wrong == 1 else (pvalue < 1e-4)


@pytest.mark.slow
def test_a_kernel_draw_without_a_floor():
    # All rows in one place: what is released is that place and the noise.
    room = _room(rows=np.full((5, 2), 0.25))
    query, share, drawn = DistanceWeights(np.zeros((1, 2))), room.budget.fraction(0.5), []
    options = {"public_points": np.zeros((1, 2)), "public_weight": 0.0}
    for _ in range(2000):
        drawn.append(room.ask(query, KernelDraw, share, note="x", **options).value)
        entry, room.ledger.entries = room.ledger.entries[-1], []
    check_scale(np.linalg.norm(np.array(drawn) - 0.25, axis=1), stats.gamma, entry.scale, 2)
    # The whole diameter hides a row: ε is the diameter over the scale.
    assert entry.amount == pytest.approx(room.region.diameter / entry.scale, rel=1e-6)
    assert not drawn[0].flags.writeable
