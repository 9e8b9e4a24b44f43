"""Of a declared number of rows some are left out, as a cell is missing: released counts tell how many are there."""

from types import SimpleNamespace

import numpy as np

from dpviz.algorithms.auto.zooming import count_rows
from dpviz.core.domain import Domain, Scaling
from dpviz.core.private_session import PrivateTable
from dpviz.runs.one_run import run
from tests.cases import for_each

CELLS = np.r_[600.0, np.zeros(255)]


def steps_of(dim: int, left_out: float) -> tuple[np.ndarray, dict[str, object]]:
    """The complete ones of 8,000 rows, off the middle of their bounds, and the steps of a run by their names."""
    rng = np.random.default_rng(1)
    middles, some = rng.uniform(0.15, 0.6, (3, dim)) / np.sqrt(max(dim, 4) / 4), rng.random(8000) < left_out
    rows = middles[rng.integers(0, 3, 8000)] + 0.06 * rng.normal(size=(8000, dim))
    radius = 1.0 if dim > 3 else None
    domain = Domain.of([f"x{j}" for j in range(dim)], -1.0, 1.0, radius=radius, scaling=Scaling.COMMON)
    table = PrivateTable(np.where(some[:, None], np.nan, rows), domain, n_public=8000)
    done = run("auto", table, k=3, epsilon=1.0, delta=1e-6, seed=0)
    return rows[~some], {type(frame.step).__name__: frame.step for frame in done.frames}


def test_rows_are_missed_only_where_counts_say_so_clearly():
    public, bought = (SimpleNamespace(n=1000, n_is_public=known) for known in (True, False))
    assert (count_rows(public, (CELLS, 1.0)), count_rows(bought, (CELLS, 1.0))) == (600.0, 1000)
    assert count_rows(public, (CELLS, 20.0)) == 1000, "the noise of all cells is 320 rows"
    assert count_rows(public, (CELLS, 20.0), (CELLS[:4], 1.0)) == 600.0
    assert count_rows(SimpleNamespace(n=9000, n_is_public=True), (0 * CELLS, 100.0)) == 1600.0, "no less than its noise"
    noisy = CELLS + np.r_[400.0, np.zeros(255)] + np.random.default_rng(0).laplace(size=(5000, 256))
    assert np.mean([count_rows(public, (one, np.sqrt(2))) < 1000 for one in noisy]) < 0.002


def test_a_box_holds_nearly_all_rows_that_are_there():
    rows, steps = steps_of(2, 0.4)
    zoomed, synopsis = steps["ZoomStep"], steps["SynopsisStep"]
    assert zoomed.box is not None
    assert abs(synopsis.rows_kept / len(rows) - 1) < 0.05


@for_each("left_out", [0.2, 0.5])
def test_a_look_tells_the_middle_and_the_spread_of_the_rows_that_are_there(left_out):
    rows, steps = steps_of(5, left_out)
    look, synopsis = steps["ProjectionStep"], steps["SynopsisStep"]
    assert np.linalg.norm(look.projection.middle - rows.mean(axis=0)) < 0.05
    spread = ((rows - rows.mean(axis=0)) ** 2).sum(axis=1).mean()
    assert abs(look.projection.spread / spread - 1) < 0.2
    assert abs(look.rows / len(rows) - 1) < 0.05 and abs(synopsis.rows_kept / len(rows) - 1) < 0.05
