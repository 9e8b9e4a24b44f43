"""Rows as chunks on their lattice: all of them, added up once, and exact whatever stands beside them."""

from concurrent.futures import ThreadPoolExecutor
from itertools import product
from threading import Event

import numpy as np
import pytest
from scipy import sparse
from threadpoolctl import threadpool_limits

import dpviz.core.rows
from dpviz.core import lattice
from dpviz.core.check import RequestError
from dpviz.core.domain import Domain, Region
from dpviz.core.lattice import multiply
from dpviz.core.losses import Loss
from dpviz.core.partitions import Voronoi
from dpviz.core.private_session import PrivateTable
from dpviz.core.queries import Sum, Tallies
from dpviz.core.rows import Rows, find_rows_in_use
from tests.cases import about
from tests.waiting import SECONDS

WIDE = Region.ball(2, 8.0)


def test_chunks_are_all_the_rows_in_order():
    for n, width, block in product((0, 1, 63, 64, 65, 1000), (1, 7, 10**9), (1, 4096, 2**18)):
        values = np.arange(n * 2.0).reshape(n, 2) / 512
        with about(f"{n} rows, width {width}, blocks of {block} numbers"):
            chunks = [chunk.values.copy() for chunk in Rows.of(values, WIDE, block_numbers=block).chunks(width)]
            assert len(chunks) >= 1
            np.testing.assert_array_equal(np.concatenate(chunks), values)
            assert max(len(chunk) for chunk in chunks) * width <= max(block, 64 * width)
            assert len({len(chunk) for chunk in chunks[:-1]}) <= 1


def test_total_adds_every_row_once(monkeypatch):
    for n, threads in product((0, 1, 64, 65, 1000), (1, 2, 5)):
        monkeypatch.setattr(dpviz.core.rows, "_count_threads", lambda number=threads: number)
        rows = Rows.of(np.arange(float(n))[:, None] / 1024, Region.ball(1, 1.0), block_numbers=64)
        counted, added = rows.total(lambda chunk: [len(chunk), chunk.values.sum() * 1024], 1)
        assert (counted, added) == (n, n * (n - 1) / 2), (n, threads)


def test_a_total_does_not_wait_for_threads_that_are_at_work_elsewhere(monkeypatch):
    release = Event()
    with ThreadPoolExecutor(1) as busy:
        busy.submit(release.wait, SECONDS)
        monkeypatch.setattr(dpviz.core.rows, "_count_threads", lambda: 3)
        monkeypatch.setattr(dpviz.core.rows, "_open_pool", lambda process: busy)
        rows = Rows.of(np.zeros((1000, 1)), Region.ball(1, 1.0), block_numbers=64)
        assert rows.total(lambda chunk: [len(chunk)], 1) == [1000]
        assert not release.is_set()
        release.set()


def test_rows_are_held_in_small_floats_where_these_are_exact():
    values = np.random.default_rng(0).uniform(-1, 1, (50, 2))
    for radius, size in ((1.0, 4), (16.0, 4), (17.0, 8)):
        rows = Rows.of(values * radius, Region.ball(2, radius))
        assert rows._stored.itemsize == size
        np.testing.assert_array_equal(rows.values, Region.ball(2, radius).rows(values * radius))


def test_sparse_rows_stay_sparse_and_say_the_same():
    region = Region.ball(30, 1.0)
    dense = region.rows(np.random.default_rng(0).uniform(-1, 1, (40, 30)) * (np.random.default_rng(1).random(30) < 0.2))
    points = lattice.round_points(np.random.default_rng(2).normal(size=(3, 30)))
    plus = np.arange(3.0)
    found = [
        multiply(points, chunk, plus=plus)
        for table in (Rows.of(dense, region), Rows(sparse.csr_array(dense), region))
        for chunk in table.chunks(1)
    ]
    np.testing.assert_array_equal(*found)
    thin, whole = (Rows(sparse.csr_array(dense), region), Rows.of(dense, region))
    queries = (Sum(Voronoi(points)), Loss(points[None]), Loss(points[None], order=1))
    for one, other in zip(*(rows.total(Tallies(queries), 9) for rows in (thin, whole)), strict=True):
        np.testing.assert_array_equal(one, other)
    for most in (1, 3, 30):
        fewer = [rows.sparsify(most, region).values for rows in (thin, whole)]
        np.testing.assert_array_equal(fewer[0].toarray(), fewer[1])


@pytest.mark.parametrize("dim", [1, 17, pytest.param(784, marks=pytest.mark.slow)])
def test_products_are_exact_so_that_rows_do_not_know_each_other(dim):
    rng, region = np.random.default_rng(dim), Region.ball(dim, 1.0)
    for n_points, threads in product((1, 2, 3, 8, 16, 65), (1, 2)):
        rows = Rows.of(rng.normal(size=(700, dim)), region, block_numbers=700).values
        points, plus = lattice.round_points(rng.normal(size=(n_points, dim))), rng.integers(-9, 9, n_points) / 8
        # Whole numbers, added up as such: no float has a say in them.
        quanta = lattice.count_quanta(points, lattice.POINT_BITS) @ lattice.count_quanta(rows[:20], region.row_bits).T
        with about(f"{n_points} points, {threads} threads"), threadpool_limits(threads):
            found = multiply(points, _chunk(rows, region), plus=plus)
            np.testing.assert_array_equal(
                found[:, :20] - plus[:, None], quanta * 2.0 ** -(lattice.POINT_BITS + region.row_bits)
            )
            for kept in (slice(1, None), slice(63, None), slice(500, 503), slice(0, 600), slice(None, None, -1)):
                np.testing.assert_array_equal(multiply(points, _chunk(rows[kept], region), plus=plus), found[:, kept])


def _chunk(rows, region):
    return lattice.ExactRows.dense(rows, region.row_bits, region.radius)


def test_a_projection_is_clipped_and_does_not_depend_on_chunks():
    rng, region = np.random.default_rng(0), Region.ball(2, 1.0)
    rows, frame = Rows.of(rng.normal(size=(300, 4)), Region.ball(4, 2.0)), rng.normal(size=(2, 4))
    whole = rows.project(frame, region)
    np.testing.assert_allclose(whole.values, region.clip(rows.values @ frame.T), atol=1e-4)
    in_chunks = Rows.of(rows.values, Region.ball(4, 2.0), block_numbers=1)
    np.testing.assert_array_equal(in_chunks.project(frame, region).values, whole.values)
    assert (np.linalg.norm(whole.values, axis=1) <= 1.0).all()


def test_a_row_of_nobody_does_not_count() -> None:
    values = np.array([[0.1], [0.2], [0.3], [0.4]])
    assert find_rows_in_use(values, np.array([0, -1, -1, 1]), drop_incomplete=True).tolist() == [0, 3]


@pytest.mark.parametrize("relation", ["add_remove", "replace"])
def test_a_sparse_table_holds_and_reveals_the_rows_of_the_dense_one(relation):
    rng = np.random.default_rng(0)
    dense = rng.uniform(-3, 3, (60, 30)) * (rng.random((60, 30)) < 0.3)
    dense[5, 2], dense[9, 0] = np.nan, np.inf
    names = [f"c{j}" for j in range(30)]
    domain = Domain.of(names, -2, 2, radius=1.5)
    whole, thin = (PrivateTable(values, domain, relation=relation) for values in (dense, sparse.csr_array(dense)))
    np.testing.assert_allclose(thin._rows.values.toarray(), whole._rows.values, atol=2.0**-19)
    assert sparse.linalg.norm(thin._rows.values, axis=1).max() <= domain.region.radius
    shown = [table.reveal(note="a look") for table in (whole, thin)]
    np.testing.assert_array_equal(shown[0].kept, shown[1].kept)
    np.testing.assert_allclose(shown[1].points.toarray(), domain.region.rows(shown[0].points), atol=2.0**-19)
    with pytest.raises(RequestError, match="evenly around 0"):
        PrivateTable(sparse.csr_array(dense), Domain.of(names, -2, 3), relation=relation)
