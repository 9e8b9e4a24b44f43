"""A dry run: synthetic tables of three shapes, inside the declared bounds, and losses over those of k-means++."""

from __future__ import annotations

import numpy as np
import pytest

from dpviz.runs.request import Contender, Request
from dpviz.runs.synthetic_tables import RUNS, SPREADS, Tried, dry_run_work, synthesise_declared
from dpviz.tables.codings import Described
from dpviz.tables.declarations import Declaration, FileKind

DECLARED = Declaration(
    columns=("age", "pay"),
    lower=(0.0, 0.0),
    upper=(100.0, 9e4),
    bounds_origin="law",
    id_column="who",
    rows_per_person=3,
    describe={"region": Described(("North", "South"))},
    title="Visitors",
)


def test_a_stand_in_has_the_declared_columns_and_bounds_and_nobody_in_it():
    table = synthesise_declared(DECLARED, n=500, k=3)
    assert table.kind is FileKind.SIMULATED and table.n_public == 500
    assert table.domain.columns == DECLARED.columns and table.declaration.id_column is None
    np.testing.assert_array_equal(table.domain.upper, [100.0, 9e4])
    assert not table.declaration.describe


@pytest.mark.slow
def test_every_shape_is_tried_as_often_and_losses_fall_with_epsilon():
    def tried(epsilon: float) -> list[Tried]:
        request = Request(Contender("dplloyd"), 3, epsilon, 1e-6)
        return [item for item in dry_run_work(request, DECLARED, 2_000) if isinstance(item, Tried)]

    low, high = tried(0.05), tried(5.0)
    assert [one.spread for one in high] == [spread for spread in SPREADS for _ in range(RUNS)]
    assert all(one.ratio > 0.99 for one in high)
    assert np.median([one.ratio for one in low]) > np.median([one.ratio for one in high])


def test_the_same_dry_run_twice_says_the_same():
    request = Request(Contender("dplloyd"), 3, 1.0, 1e-6)
    one, other = (list(dry_run_work(request, DECLARED, 800)) for _ in range(2))
    assert one == other
