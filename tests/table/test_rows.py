"""Rows as chunks, and the rule that keeps at most m rows of a person."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from threadpoolctl import threadpool_limits

import dpviz.table.rows
from dpviz.table.domain import Region
from dpviz.table.rows import Rows, keep_rows_per_person, products, rows_in_use
from tests.cases import about

SEEDS = st.integers(0, 2**32 - 1)


@pytest.mark.parametrize("n", [0, 1, 63, 64, 65, 1000])
def test_chunks_are_all_the_rows_in_order(n):
    values = np.arange(n * 2.0).reshape(n, 2)
    for width, block in product((1, 7, 10**9), (1, 4096, 2**18)):
        with about(f"width {width}, blocks of {block} numbers"):
            chunks = list(Rows(values, block_numbers=block).chunks(width))
            assert len(chunks) >= 1
            np.testing.assert_array_equal(np.concatenate(chunks), values)
            assert max(len(chunk) for chunk in chunks) * width <= max(block, 64 * width)
            assert len({len(chunk) for chunk in chunks[:-1]}) <= 1


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("n", [0, 1, 64, 65, 1000])
def test_total_adds_every_row_once(n, threads, monkeypatch):
    monkeypatch.setattr(dpviz.table.rows, "_threads", lambda: threads)
    rows = Rows(np.arange(float(n))[:, None], block_numbers=64)
    counted, added = rows.total(lambda chunk: [len(chunk), chunk.sum()], 1)
    assert (counted, added) == (n, n * (n - 1) / 2)


@pytest.mark.parametrize(("asked", "meant"), [("1", 1), ("3", 3), ("0", 1), ("4,2", None), ("many", None), ("", None)])
def test_the_number_of_threads_as_others_write_it(asked, meant, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", asked)
    monkeypatch.setattr("os.cpu_count", lambda: 6)
    assert dpviz.table.rows._threads() == (meant or 6)


_QUICK = {(1, 1), (5, 2), (17, 1), (40, 2)}


@pytest.mark.some(2)
@pytest.mark.parametrize(
    ("dim", "threads"),
    [
        pytest.param(*pair, marks=() if pair in _QUICK else pytest.mark.slow)
        for pair in product((1, 2, 5, 17, 40, 100, 784), (1, 2))
    ],
)
def test_products_are_matrix_products_whose_rows_do_not_know_each_other(dim, threads):
    rng = np.random.default_rng(dim)
    for n_points in (1, 2, 3, 8, 15, 16, 65, 257):
        rows, points = rng.normal(size=(3500, dim)), rng.normal(size=(n_points, dim))
        with threadpool_limits(threads):
            product = products(points, rows)
            np.testing.assert_allclose(product, points @ rows.T, atol=1e-11)
            for kept in (slice(1, None), slice(63, None), slice(1000, 1003), slice(0, 1600), slice(None, None, -1)):
                np.testing.assert_array_equal(products(points, rows[kept]), product[:, kept])


def test_a_projection_is_clipped_and_does_not_depend_on_chunks():
    rng = np.random.default_rng(0)
    values, frame = rng.normal(size=(300, 4)), rng.normal(size=(2, 4))
    region = Region.ball(2, 1.0)
    whole = Rows(values).project(frame, region)
    np.testing.assert_allclose(whole.values, region.clip(values @ frame.T))
    np.testing.assert_array_equal(Rows(values, block_numbers=1).project(frame, region).values, whole.values)
    assert (np.linalg.norm(whole.values, axis=1) <= 1.0).all()


@given(SEEDS, st.integers(1, 4))
def test_at_most_m_rows_of_a_person_are_kept_and_nobody_else_can_change_which(seed, most):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(0, 40))
    values, persons = rng.integers(0, 4, (n, 2)).astype(float), rng.integers(0, 6, n)
    kept = keep_rows_per_person(values, persons, most)
    assert (np.diff(kept) > 0).all()
    numbers = np.bincount(persons, minlength=6)
    np.testing.assert_array_equal(np.bincount(persons[kept], minlength=6), np.minimum(numbers, most))
    # Without one person, and in another order, the others keep the same rows (as values).
    order = rng.permutation(np.flatnonzero(persons != 3))
    again = order[keep_rows_per_person(values[order], persons[order], most)]
    for person in set(persons) - {3}:
        mine = np.sort(values[kept[persons[kept] == person]], axis=0)
        np.testing.assert_array_equal(mine, np.sort(values[again[persons[again] == person]], axis=0))


def test_which_rows_are_kept_does_not_follow_from_their_order():
    values = np.random.default_rng(1).normal(size=(200, 2))
    kept = keep_rows_per_person(values, np.zeros(200, dtype=int), 50)
    assert abs(kept.mean() - 100) < 25


def test_a_row_of_nobody_does_not_count() -> None:
    values = np.array([[0.1], [0.2], [0.3], [0.4]])
    kept = rows_in_use(values, np.array([0, -1, -1, 1]), 1, drop_incomplete=True)
    assert kept.tolist() == [0, 3]
