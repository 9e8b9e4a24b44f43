"""Short numbers of NumPy: what is asked with them is planned, charged and drawn as with long ones."""

from __future__ import annotations

import numpy as np
import pytest

from dpviz.core.accounting import Accounting, Budget
from dpviz.core.exact_noise import ExactNoise
from dpviz.core.ledger import Ledger
from dpviz.core.mechanisms import Gaussian, Laplace
from dpviz.core.noise import StudyNoise
from dpviz.core.partitions import Everything
from dpviz.core.private_session import PrivateTable
from dpviz.core.queries import Count, Sensitivity
from dpviz.runs.one_run import run
from tests.contract.tables import make_blobs, make_small_table

RNG, SMALL = np.random.default_rng(0), np.float16(1e-4)
SHORT = [np.float16(0.1), np.float32(0.1), np.float32(0.7), np.float32(1 / 3), np.longdouble(0.1)]


@pytest.mark.parametrize("accounting", [Accounting.PURE, Accounting.GDP, Accounting.ZCDP])
def test_short_floats_spend_what_the_ledger_says(accounting: Accounting) -> None:
    """Every door: a session, a budget and its parts, a mechanism; all of it can be spent, and no more is."""
    for short in SHORT:
        exact = float(short)
        session, plain = (
            make_small_table(make_blobs(50)).open(
                epsilon=epsilon, delta=delta, accounting=accounting, noise=StudyNoise(RNG), needs_n=False
            )
            for epsilon, delta in ((short, SMALL), (exact, float(SMALL)))
        )
        assert session.ledger == plain.ledger and type(session.ledger.epsilon) is float
        # What is kept back of a release is kept back of the whole number.
        asked = {"delta": 1e-6, "accounting": accounting, "noise": ExactNoise(), "needs_n": False}
        one, other = (make_small_table().open(epsilon=epsilon, **asked) for epsilon in (short, exact))
        assert one.ledger == other.ledger
        for share in session.budget.rounds(3, [short, np.float16(0.3), np.float32(0.2)]):
            released = session.release(Count(Everything()), share, note="a part")
            assert type(released.mechanism.scale) is type(released.mechanism.sensitivity) is float
        assert session.ledger.spent_epsilon <= exact and session.ledger.spent_fraction > 0.99


def test_short_floats_are_calibrated_as_long_ones() -> None:
    for short in SHORT:
        budget = Budget(Accounting.PURE, short)
        assert (budget.amount, type(budget.amount)) == (float(short), float)
        assert budget.fraction(np.float16(0.5)) == Budget(Accounting.PURE, float(short)).fraction(0.5)
        assert type(Ledger(Accounting.PURE, short, np.float16(0)).epsilon) is float
        assert type(Sensitivity(short, short).times(3).l1) is float
        for kind in (Laplace, Gaussian):
            assert kind(short, np.float16(3)) == kind(float(short), 3.0)
            assert type(kind(short, np.float16(3)).scale) is float
        assert kind.calibrated(Budget(Accounting.GDP, short), Sensitivity(short, short)).scale > 0


def test_small_integers_do_not_overflow() -> None:
    table = PrivateTable(
        make_blobs(50),
        make_small_table(make_blobs(50)).domain,
        persons=np.arange(50),
        rows_per_person=np.int8(100),
        n_public=np.int8(50),
    )
    assert type(table.n_public) is type(table.rows_per_person) is int
    found, plain = (
        run("dplloyd", make_small_table(make_blobs(300)), k=number(3), epsilon=real(0.5), seed=number(1))
        for number, real in ((np.int8, np.float16), (int, float))
    )
    assert found.centers.tobytes() == plain.centers.tobytes() and type(found.epsilon) is float
