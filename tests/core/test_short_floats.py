"""Short numbers of NumPy: what is asked with them is planned, charged and drawn as with long ones."""

import numpy as np
import pytest

from dpviz.core.accounting import Accounting
from dpviz.core.exact_noise import ExactNoise
from dpviz.core.noise import StudyNoise
from dpviz.core.partitions import Everything
from dpviz.core.queries import Count
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
