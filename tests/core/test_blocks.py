"""Disjoint secret blocks: one row changes one model, and the models are those of k-means on each block."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpviz.core.block_models import BlockKMeans
from dpviz.core.check import RequestError
from dpviz.core.queries import Relation
from tests.contract.sessions import open_seeded
from tests.contract.tables import make_blobs, make_small_table
from tests.examples import examples

ANCHORS = np.array([[-0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]])


def _session(values=None, **declared):
    return open_seeded(make_small_table(values, **declared))


@pytest.mark.slow
@settings(max_examples=examples(60))
@given(seed=st.integers(0, 2**32 - 1), size=st.integers(1, 60), number=st.integers(1, 8), match=st.booleans())
def test_a_row_changes_the_model_of_its_own_block_only(seed, size, number, match):
    rng = np.random.default_rng(seed)
    rows, block = np.round(rng.uniform(-1, 1, (size, 2)), 1), rng.integers(0, number, size)
    model = BlockKMeans(ANCHORS, match=match, salt=seed % 7)
    whole = model.fit(rows, block, number)
    gone = int(rng.integers(size))
    without = model.fit(np.delete(rows, gone, axis=0), np.delete(block, gone), number)
    others = np.arange(number) != block[gone]
    np.testing.assert_array_equal(whole[others], without[others])
    moved = rows.copy()
    moved[gone] = 1.0
    np.testing.assert_array_equal(whole[others], model.fit(moved, block, number)[others])


def test_blocks_without_enough_distinct_rows_answer_with_the_anchors():
    rows, block = np.array([[0.1, 0.2], [0.1, 0.2], [0.3, 0.3], [0.9, 0.9]]), np.array([0, 0, 0, 2])
    np.testing.assert_array_equal(BlockKMeans(ANCHORS).fit(rows, block, 4), np.tile(ANCHORS.ravel(), (4, 1)))


def test_the_room_of_models_is_public_in_n_and_replaces_one_line():
    session = _session(make_blobs(300), n_public=300)
    models = session.blocks(BlockKMeans(ANCHORS), 20)
    assert (models.relation, models.n, models.dim, models.rows_per_person) == (Relation.REPLACE, 20, 6, 1)
    assert models.ledger is session.ledger and models.region.radius == pytest.approx(np.sqrt(3) * session.region.radius)


def test_a_model_that_nobody_proved_is_refused():
    class Peeking(BlockKMeans):
        pass

    with pytest.raises(RequestError, match="not a model of blocks"):
        _session().blocks(Peeking(ANCHORS), 3)
