"""EUGkM: the size and shape of its grid, what it releases, which cells it believes, and how good it is."""

from math import sqrt

import numpy as np
import pytest

from dpviz.algorithms.steps import GridStep
from dpviz.algorithms.su2016 import eugkm
from dpviz.algorithms.su2016.eugkm import compute_cells_per_axis, describe_grid, find_clear_cells
from dpviz.algorithms.tools.solvers import make_cube_grid
from dpviz.core.domain import Region
from dpviz.core.partitions import Grid
from dpviz.core.queries import Relation
from dpviz.runs.clipped_rows import clip_rows
from dpviz.runs.evaluation import nicv
from dpviz.runs.one_run import run
from tests.algorithms.fifteen import ratios
from tests.cases import for_each
from tests.contract.tables import make_blobs, make_small_table
from tests.sequential import usually


def cubes(region: Region, per_axis: float) -> Grid:
    return make_cube_grid(region.half, max(1, round(per_axis)) ** region.dim)


def box(*half: float) -> Region:
    return Region(np.array(half, dtype=float), float(np.linalg.norm(half)))


@for_each(
    ("n", "dim", "wanted"),
    [(1e4, 2, 31.6), (1e4, 6, 5.62), (1e4, 10, 3.2), (1e6, 2, 316), (1e6, 6, 17.8), (1e6, 10, 6.8)],
)
def test_the_papers_grid_sizes(n, dim, wanted):
    assert compute_cells_per_axis(int(n), 1.0, 10.0, dim) == pytest.approx(wanted, rel=0.02)
    assert compute_cells_per_axis(int(n) // 10, 1.0, 1.0, dim) == pytest.approx(wanted, rel=0.02)


def test_the_grid_uses_the_epsilon_that_a_row_has():
    """Half of it under replace, a third with three rows a person; and less n·ε means fewer cells: √(nε/10) an axis."""
    persons = {"n_public": 900, "persons": np.arange(900) // 3, "rows_per_person": 3}
    for declared, scale, per_axis in (
        ({"n_public": 900}, 0.5, 13),
        ({"relation": Relation.REPLACE}, 1.0, 9),
        (persons, 1.5, 8),
    ):
        result = run("eugkm", make_small_table(make_blobs(900), **declared), k=3, epsilon=2.0, seed=0)
        assert result.entries[-1].scale == pytest.approx(scale)
        assert result.frames[0].step.grid.n_cells == per_axis**2
    assert describe_grid(cubes(box(1), 0.1)) == "One cell, the whole box"


def test_a_sparse_grid_gives_the_centres_of_a_dense_one(monkeypatch):
    table = make_small_table(make_blobs(5000, dim=3, k=4, seed=2), n_public=5000)
    revealed = clip_rows(table.reveal(note="test"), table.domain.region)
    dense = run("eugkm", table, k=4, epsilon=2.0, seed=0)
    monkeypatch.setattr(eugkm, "DENSE_CELLS", 1)
    monkeypatch.setattr(eugkm, "LISTED_CELLS", 100.0)
    sparse = run("eugkm", table, k=4, epsilon=2.0, seed=0)
    assert dense.frames[0].step.cutoff is None and sparse.frames[0].step.cutoff > 0
    assert len(sparse.frames[0].step.codes) < 0.5 * len(dense.frames[0].step.codes)
    losses = [nicv(revealed.points, r.unit_centers) for r in (dense, sparse)]
    assert losses[1] == pytest.approx(losses[0], rel=0.05)


def _step(true_counts: np.ndarray, grid: Grid, scale: float, seed: int) -> GridStep:
    noisy = true_counts + np.random.default_rng(seed).laplace(0, scale, grid.n_cells)
    return GridStep(title="", grid=grid, codes=np.arange(grid.n_cells), noisy_counts=noisy, sd=sqrt(2) * scale)


def test_only_noise_does_not_stand_out():
    region = box(1, 1, 1, 1)
    grid = cubes(region, 9)
    kept = [len(find_clear_cells(_step(np.zeros(grid.n_cells), grid, 2.0, seed), region)) for seed in range(20)]
    assert np.mean(kept) < 0.002 * grid.n_cells


def test_a_heavy_cell_stands_out_alone_and_a_thin_crowd_together():
    region, scale = box(1, 1, 1), 1.0
    grid = cubes(region, 20)
    true_counts = np.zeros(grid.n_cells)
    places = grid.places(np.arange(grid.n_cells))
    crowd = (places >= 10).all(axis=1) & (places < 14).all(axis=1)
    true_counts[crowd] = 6.0  # below ln 8000 = 9
    true_counts[0] = 100.0
    sums = []
    for seed in range(30):
        step = _step(true_counts, grid, scale, seed)
        cells = find_clear_cells(step, region)
        middles = {tuple(np.round(c, 4)) for c in cells.columns.T.astype(float)}
        assert tuple(np.round(grid.centers(np.array([0]))[0], 4)) in middles
        inside = sum(tuple(np.round(c, 4)) in middles for c in grid.centers(np.flatnonzero(crowd)))
        assert inside >= 0.9 * crowd.sum() and len(cells) < 3 * crowd.sum()
        sums.append(cells.weights.sum() / true_counts.sum())
    assert np.mean(sums) == pytest.approx(1.0, abs=0.05)
    rng, presets = np.random.default_rng(0), (eugkm.EUGkMParams("tuned"), eugkm.EUGkMParams("su"))
    solved = [len(eugkm.make_problem(step, 3, region, params, rng)[0]) for params in presets]
    assert solved == [len(cells), grid.n_cells]


@pytest.mark.slow
def test_fifteen_clusters_usually_cost_at_most_a_twentieth():
    assert usually(ratio <= 1.05 for ratio in ratios("eugkm", epsilon=1.0))
