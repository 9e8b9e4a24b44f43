"""A synthetic table has what was declared and nobody in it, and as much noise as the table that it stands for."""

from dataclasses import replace

import numpy as np
import pytest

from dpviz.runs.one_run import run_request
from dpviz.runs.request import Contender, Request
from dpviz.runs.synthetic_tables import synthesise_declared
from dpviz.tables.codings import Described
from dpviz.tables.declarations import Declaration, FileKind
from tests.cases import for_each

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
    assert table.domain.columns == DECLARED.columns and not table.declaration.describe
    np.testing.assert_array_equal(table.domain.upper, [100.0, 9e4])
    alone = synthesise_declared(replace(DECLARED, rows_per_person=1), n=500, k=3)
    assert alone.declaration.id_column is None


@for_each("most", [2, 3, 7])
def test_its_noise_is_that_of_as_many_rows_of_a_person_as_are_declared(most: int):
    request = Request(Contender("dplloyd"), 3, 1.0)
    alone, together = (
        run_request(replace(request, seed=0), synthesise_declared(declared, n=501, k=3).private)
        for declared in (replace(DECLARED, rows_per_person=1), replace(DECLARED, rows_per_person=most))
    )
    for one, other in zip(together.entries, alone.entries, strict=True):
        assert one.scale == pytest.approx(most * other.scale) and one.epsilon == other.epsilon
