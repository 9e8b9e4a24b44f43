"""Nothing depends on the order of rows or the size of chunks, and centres move with the units of the columns."""

from __future__ import annotations

import numpy as np
import pytest

import dpviz.table.rows
from dpviz.privacy.room import PrivateTable
from dpviz.table.domain import Domain
from tests.cases import about
from tests.contract.checks import arrays_in, frames_of, run_of
from tests.contract.rooms import BlocksByContent
from tests.contract.tables import BOUGHT, REPLACE, World, blobs, dealt, in_turn, named

REQUEST = {"k": 3, "epsilon": 4.0, "seed": 11}
IN_A_BALL = World("nine columns in a ball", dim=9, radius=1.0)
IN_SOME_WORLD = pytest.mark.parametrize(
    ("card", "params", "delta", "world"),
    dealt([BOUGHT, REPLACE, IN_A_BALL], fast=[BOUGHT, IN_A_BALL], turn=0),
    ids=named,
)


# Rows of a chunk are so many that each has some, and that there are many chunks.
CHUNK = 256


def _same(first, second):
    """The same steps to within rounding; what was counted before any average is the same to the last bit."""
    assert [frame.step.title for frame in first] == [frame.step.title for frame in second]
    exact = True
    for left, right in zip(first, second, strict=True):
        for a, b in zip(arrays_in(left.step), arrays_in(right.step), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9)
        counts = [getattr(frame.step, "noisy_counts", None) for frame in (left, right)]
        if counts[0] is not None and exact:
            np.testing.assert_array_equal(*counts)
            exact = False  # later cells rest on averages, whose last bits depend on the order of adding


@IN_SOME_WORLD
def test_the_order_of_rows_the_size_of_chunks_and_the_number_of_threads(card, params, delta, world, monkeypatch):
    rows = blobs(700, world.dim)
    shuffled = np.random.default_rng(0).permutation(rows)
    request = {**REQUEST, "delta": delta, "params": params, "room": BlocksByContent}
    whole, in_another_order, in_chunks = (
        frames_of(card, table, **request)
        for table in (world.table(rows), world.table(shuffled), world.table(rows, block_numbers=CHUNK))
    )
    with about("the order of rows"):
        _same(whole, in_another_order)
    with about("the size of chunks"):
        _same(whole, in_chunks)
    monkeypatch.setattr(dpviz.table.rows, "_threads", lambda: 3)
    again = frames_of(card, world.table(rows, block_numbers=CHUNK), **request)
    with about("the number of threads"):
        for left, right in zip(in_chunks, again, strict=True):
            for a, b in zip(arrays_in(left.step), arrays_in(right.step), strict=True):
                np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize(("card", "params", "delta", "scaling"), dealt(["unit", "common"], turn=1), ids=named)
def test_the_units_of_the_columns(card, params, delta, scaling):
    rows = blobs(300)
    # Powers of two and short sums: the rows themselves must not change by rounding.
    rows = np.round(rows * 2**10) / 2**10
    stretch = np.array([64.0, 0.25]) if scaling == "unit" else np.array([64.0, 64.0])
    shift = np.array([-128.0, 3.0])
    here = Domain.of(["x", "y"], -1.0, 1.0, scaling=scaling)
    there = Domain.of(["x", "y"], -stretch + shift, stretch + shift, scaling=scaling)
    one = run_of(card, PrivateTable(rows, here), delta=delta, params=params, **REQUEST)
    other = run_of(card, PrivateTable(rows * stretch + shift, there), delta=delta, params=params, **REQUEST)
    np.testing.assert_allclose(other.centers, one.centers * stretch + shift, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(("card", "params", "delta"), in_turn(1), ids=named)
def test_without_a_seed_no_run_is_repeated(card, params, delta):
    """That a seed repeats a run to the last byte is tested with runs (tests/runs/test_run.py)."""
    request = {"k": 3, "epsilon": 4.0, "delta": delta, "params": params}
    one, other = (run_of(card, BOUGHT.table(), seed=None, **request).centers for _ in range(2))
    assert (one != other).any()
