"""The table with one person and without."""

from dataclasses import replace

import numpy as np
import pytest

from dpviz.core.check import RequestError
from dpviz.runs.meaning.membership import make_neighbors
from dpviz.runs.open_table import declare
from dpviz.tables.declarations import FileKind
from tests.pages.site import sample_table


def test_one_row_is_gone_and_all_others_stay():
    pair = make_neighbors(sample_table("outlier"), 45)
    there, away = (one.reveal(note="test").points for one in (pair.present, pair.absent))
    np.testing.assert_array_equal(np.delete(there, 45, axis=0), away)
    np.testing.assert_array_equal(pair.person, there[45:46])


def test_under_replace_the_middle_of_the_bounds_stands_in():
    table = sample_table("outlier")
    declared = replace(table.declaration, relation="replace", id_column=None, n_public=None)
    pair = make_neighbors(declare(table.loaded, declared), 45)
    assert pair.present.n_public == pair.absent.n_public == 120
    # The rows that a session sees: as many, one of them the centre of the domain.
    rows = [np.asarray(one._rows.values) for one in (pair.present, pair.absent)]
    assert np.flatnonzero((rows[0] != rows[1]).any(axis=1)).tolist() == [45]
    np.testing.assert_allclose(rows[1][45], 0.0, atol=1e-12)


def test_all_rows_of_a_person_go():
    table = sample_table("fifteen")
    loaded = table.loaded
    frame = loaded.frame.assign(who=np.arange(len(loaded.frame)) // 4)
    declared = replace(table.declaration, id_column="who", rows_per_person=4, columns=table.declaration.columns)
    pair = make_neighbors(declare(replace(loaded, frame=frame), declared), 10)
    assert len(pair.person) == 4
    assert len(pair.present.reveal(note="test").points) - len(pair.absent.reveal(note="test").points) == 4


def test_a_private_table_and_a_row_that_is_not_there_are_refused():
    with pytest.raises(RequestError, match="public or simulated"):
        make_neighbors(sample_table("outlier", FileKind.PRIVATE), 0)
    for row in (-1, 120):
        with pytest.raises(RequestError, match="from 1 to 120"):
            make_neighbors(sample_table("outlier"), row)
