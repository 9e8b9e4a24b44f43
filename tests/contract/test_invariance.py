"""Not a byte depends on the order of rows, on chunks, threads or the size of floats; centres move with the units."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpviz.core.rows
from dpviz.algorithms.registry import CARDS
from dpviz.core.domain import Domain, Region
from dpviz.core.private_session import PrivateTable
from dpviz.core.quantiles import ClippedColumns
from dpviz.runs.audits.contract import run_card
from tests.cases import about
from tests.contract import tables
from tests.contract.checks import collect_frames, list_arrays
from tests.contract.questions import QUESTIONS
from tests.core.asked import asked
from tests.examples import examples

REQUEST = {"k": 3, "epsilon": 4.0, "seed": 11}
IN_A_BALL = tables.NeighborSetting("nine columns in a ball", dim=9, radius=1.0)
# The local model and the reference have no neighbouring tables to deal; their bytes count all the same.
RESOURCES = [
    (card, params, delta, (tables.BOUGHT,))
    for card in CARDS.values()
    if card.id in tables.LOCAL or not card.private
    for _, params, delta in tables.list_settings(card)[:1] or [(card, {}, 0.0)]
]
IN_SOME_WORLD = pytest.mark.parametrize(
    ("card", "params", "delta", "hand"),
    tables.hands([tables.BOUGHT, tables.PERSONS, tables.REPLACE, IN_A_BALL]) + RESOURCES,
    ids=tables.named,
)

# Rows of a chunk are so many that each has some, and that there are many chunks.
CHUNK = 256


def _bytes_of(card, table, request):
    """Everything that a run shows, as it lies in memory."""
    return [
        (frame.step.title, [(array.dtype, array.shape, array.tobytes()) for array in list_arrays(frame.step)])
        for frame in collect_frames(card, table, **request)
    ]


@IN_SOME_WORLD
def test_the_bytes_of_a_run_know_neither_order_nor_chunks_nor_threads_nor_the_size_of_floats(
    card, params, delta, hand, monkeypatch
):
    (case,) = hand
    rows, order = tables.make_blobs(700, case.dim), np.random.default_rng(0).permutation(700)
    persons = None if case.rows_per_person == 1 else np.arange(700) // 5
    request = {**REQUEST, "delta": delta, "params": params}
    expected = _bytes_of(card, case.table(rows, persons), request)
    with about("the order of rows"):
        shuffled = case.table(rows[order], None if persons is None else persons[order])
        assert _bytes_of(card, shuffled, request) == expected
    with about("the size of chunks"):
        assert _bytes_of(card, case.table(rows, persons, block_numbers=CHUNK), request) == expected
    with about("the number of threads"), monkeypatch.context() as more:
        more.setattr(dpviz.core.rows, "_count_threads", lambda: 3)
        assert _bytes_of(card, case.table(rows, persons, block_numbers=CHUNK), request) == expected
    with about("the size of floats"), monkeypatch.context() as larger:
        larger.setattr(Region, "number_type", np.float64)
        assert _bytes_of(card, case.table(rows, persons), request) == expected
    if card.private:
        # That a seed repeats a run to the last byte is tested with runs (tests/runs/test_one_run.py).
        with about("no seed"):
            # Not by the centres: where noise drowns all, they lie on corners, and two draws may choose the same.
            fresh = [_bytes_of(card, case.table(rows, persons), {**request, "seed": None}) for _ in range(2)]
            assert fresh[0] != fresh[1]


@pytest.mark.parametrize("question", QUESTIONS)
@settings(max_examples=examples(15))
@given(seed=st.integers(0, 2**32 - 1), dim=st.integers(1, 5), size=st.integers(0, 200))
def test_the_bytes_of_every_true_answer(question, seed, dim, size):
    rng, region = np.random.default_rng(seed), Region.ball(dim, float(2.0 ** (seed % 4 - 1)))
    query, values = QUESTIONS[question](region, rng), rng.normal(0, 0.6, (size, dim)) * region.radius
    expected = _bytes(asked(query, values, region))
    assert _bytes(asked(query, rng.permutation(values), region)) == expected
    assert _bytes(asked(query, values, region, block_numbers=1)) == expected


def _bytes(answer):
    """Of a bag, what mechanisms see: its rows in their order, or its columns sorted."""
    answer = answer.edges if isinstance(answer, ClippedColumns) else answer
    return [array.tobytes() for array in list_arrays(answer)]


@pytest.mark.parametrize(
    ("card", "params", "delta", "hand"), tables.hands(["unit", "common"], turn=1), ids=tables.named
)
def test_the_units_of_the_columns(card, params, delta, hand):
    (scaling,) = hand
    rows = tables.make_blobs(300)
    # Powers of two and short sums: the rows themselves must not change by rounding.
    rows = np.round(rows * 2**10) / 2**10
    stretch = np.array([64.0, 0.25]) if scaling == "unit" else np.array([64.0, 64.0])
    shift = np.array([-128.0, 3.0])
    here = Domain.of(["x", "y"], -1.0, 1.0, scaling=scaling)
    there = Domain.of(["x", "y"], -stretch + shift, stretch + shift, scaling=scaling)
    one = run_card(card, PrivateTable(rows, here), delta=delta, params=params, **REQUEST)
    other = run_card(card, PrivateTable(rows * stretch + shift, there), delta=delta, params=params, **REQUEST)
    np.testing.assert_allclose(other.centers, one.centers * stretch + shift, rtol=1e-9, atol=1e-9)
