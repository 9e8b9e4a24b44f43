"""The noisy excess over a threshold: its value, its noise, and that one row moves it by at most 1, exchanged or not."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpviz.core.accounting import Accounting, Budget
from dpviz.core.check import RequestError
from dpviz.core.mechanisms import Laplace, NoisyExcess
from dpviz.core.noise import StudyNoise
from dpviz.core.partitions import Grid
from dpviz.core.queries import Relation, Sensitivity, SparseCount, SparseCounts
from tests.contract.sessions import open_seeded
from tests.contract.tables import make_small_table


@given(st.lists(st.integers(0, 40), min_size=1, max_size=30), st.integers(0, 29), st.floats(0, 50, allow_nan=False))
def test_one_row_moves_it_by_at_most_one(counts, place, threshold):
    mechanism = NoisyExcess(Laplace(1.0, 1e-9), threshold)
    before = np.array(counts, dtype=float)
    after = before.copy()
    after[place % len(after)] += 1
    quiet = StudyNoise(np.random.default_rng(0))
    codes = np.arange(len(before))
    one, other = (mechanism.draw(SparseCounts(codes, values, 99), quiet)[0] for values in (before, after))
    # Nor does an exchanged row move it by more: one that goes takes at most 1, and one that comes brings it.
    assert -1e-6 <= other - one <= 1 + 1e-6
    assert one == pytest.approx(np.maximum(before - threshold, 0).sum(), abs=1e-6)


def _of(counts: np.ndarray, threshold: float) -> float:
    """The excess itself."""
    quiet, codes = StudyNoise(np.random.default_rng(0)), np.arange(len(counts))
    listed = SparseCounts(codes[counts > 0], counts[counts > 0], 99)
    return float(NoisyExcess(Laplace(1.0, 1e-9), threshold).draw(listed, quiet)[0])


@pytest.mark.parametrize("relation", Relation, ids=lambda r: r.value)
def test_its_noise_is_that_of_one_row_and_some_pair_moves_it_that_far(relation):
    table = make_small_table(np.r_[np.full((5, 2), 0.5), [[-0.9, -0.9]]], relation=relation)
    session = open_seeded(table)
    cells = SparseCount(Grid(session.region.half, np.array([4, 4])))
    bought = NoisyExcess.calibrated(Budget(Accounting.PURE, 0.5), session.sensitivity(cells), threshold=3.0)
    assert (bought.sensitivity, bought.scale) == (1.0, 2.0)
    # A row moves from a cell above the threshold to one below it.
    assert _of(np.array([5.0, 1.0]), 3.0) - _of(np.array([4.0, 2.0]), 3.0) == pytest.approx(1.0, abs=1e-6)


def test_a_threshold_below_which_empty_cells_would_count_is_refused():
    for threshold in (-1.0, -1e-9, float("nan")):
        with pytest.raises(RequestError, match="at least 0 rows"):
            NoisyExcess.calibrated(
                Budget(Accounting.PURE, 1.0), Sensitivity(1.0, 1.0, one_way=1.0), threshold=threshold
            )
