"""The shares that the plan of auto announces are those that the ledger counts afterwards."""

from dataclasses import replace

import numpy as np
import pytest

from dpviz.algorithms.auto.auto import find_regime
from dpviz.algorithms.auto.auto_plan import PlanStep, Zoom, count_smoothed_cells, make_plan
from dpviz.algorithms.auto.view_synopsis import SynopsisStep
from dpviz.algorithms.card import Setting, find_wide_columns
from dpviz.app.charts.result_charts import list_shares
from dpviz.core.domain import Domain, Scaling
from dpviz.core.private_session import PrivateTable
from dpviz.runs.one_run import run
from tests.app.charts.gallery import exhibit


@pytest.mark.parametrize(("dim", "epsilon", "delta"), [(2, 1.0, 0.0), (2, 2.0, 1e-6), (6, 8.0, 1e-6), (6, 8.0, 0.0)])
def test_the_plan_says_what_the_meter_will_count(dim: int, epsilon: float, delta: float) -> None:
    finished = run("auto", exhibit(dim, 3, n=3000).table, k=3, epsilon=epsilon, delta=delta, seed=0)
    frames, plan = finished.frames, finished.frames[0].step
    assert isinstance(plan, PlanStep) and plan.public
    assert plan.fractions.sum() == pytest.approx(1) and (plan.fractions > 0).all()
    announced = np.cumsum(plan.fractions)
    for counted in [frame.spent_fraction for frame in frames[1:]]:
        assert np.abs(announced - counted).min() < 2e-3
    looked = [frame.step.title for frame in frames if frame.step.title.startswith("A look")]
    assert len(looked) == (dim > 2) and all(f" {dim} coordinates, and where rows are clipped" in one for one in looked)
    polished = [part.stage for part in plan.parts].index("round")
    counted = list(list_shares(finished.ledger).values())
    assert counted[:polished] == pytest.approx(plan.fractions[:polished].tolist(), abs=2e-4), "question by question"
    assert sum(counted) == pytest.approx(finished.spent_fraction)


def test_cells_that_are_smoothed_grow_as_the_square_of_rows_over_noise() -> None:
    few, many = (count_smoothed_cells(n, 4, scale=1.0, axes=5, flat=True) for n in (1000, 2000))
    assert many == pytest.approx(4 * few)


@pytest.mark.parametrize(
    ("half", "wide"),
    [
        ([1.0, 0.001, 0.02, 0.01], [0, 2]),  # never one alone
        ([0.001, 0.3, 1.0, 0.01, 0.2], [1, 2, 4]),
        ([1.0, 0.3, 0.2, 0.1], [0, 1, 2]),  # three at most; beside them thin enough
        ([1.0, 0.3, 0.2, 0.17], [0, 1, 2, 3]),
        ([0.1, 1.0, 0.5, 0.4, 0.4, 0.3, 0.3], list(range(1, 7))),  # six no wider than three equal ones
        ([0.1, 1.0, 1.0, 1.0, 0.5, 0.4, 0.3], list(range(7))),  # wider than those
        ([1.0, *[0.04] * 30], list(range(31))),  # thin columns that together are wide
        ([1.0, 0.001, 0.001], [0, 1, 2]),  # three columns need no choice
        ([0.5] * 6, list(range(6))),
    ],
)
def test_the_wide_columns_are_those_beside_which_all_others_together_are_thin(half, wide) -> None:
    assert find_wide_columns(np.array(half)).tolist() == wide


@pytest.mark.parametrize(
    ("half", "k", "axes"),
    [
        ([1.0, 0.6, 0.5, 0.4, 0.3], 12, 5),
        ([1.0, 0.6, 0.5, 0.4, 0.3, 0.01], 12, 5),
        ([1.0, 0.6, 0.5, 0.4, 0.3, 0.01], 13, None),  # of many clusters
        ([1.0, 0.6, 0.5, 0.4, 0.3], 13, None),
        ([1.0] * 5, 12, None),
    ],
)
def test_a_grid_lies_over_more_than_three_columns_of_a_thin_box(half: list[float], k: int, axes: int | None) -> None:
    cube = Setting(len(half), k, 1.0, 1e-6, n=5000)
    setting = cube.within(np.array(half))
    plan = make_plan(setting, n_public=True)
    assert (plan.axes if isinstance(plan.first, Zoom) else None) == axes
    assert (plan == make_plan(cube, n_public=True)) is (axes is None)
    regimes = [find_regime(replace(setting, delta=delta)) for delta in (1e-6, 0.0)]
    assert regimes == (["few", "few, pure"] if k == 12 else ["many", "many, pure"])
    # Parts of ε are before all are calibrated together.
    found = sum(part.weight for part in plan.parts if part.noise == "Laplace" and not part.round)
    assert axes is None or found == pytest.approx(0.4)


@pytest.mark.parametrize("delta", [0.0, 1e-6])
@pytest.mark.parametrize("n_public", [True, False])
def test_the_middle_along_thin_columns_is_paid_by_what_finds_the_clusters(n_public: bool, delta: float) -> None:
    thin, narrow = (
        make_plan(Setting(12, 5, 1.0, delta, n=5000, wide=3, beside=beside), n_public=n_public)
        for beside in (0.04, 0.1)
    )
    assert isinstance(thin.first, Zoom) and thin.first.beside is None
    assert isinstance(narrow.first, Zoom) and narrow.first.beside is not None
    rounds, others = ([part for part in plan.parts if part.round] for plan in (thin, narrow))
    assert [part.weight for part in rounds] == pytest.approx([part.weight for part in others])
    assert narrow.first.beside.noise == others[-1].noise
    assert narrow.cells.grid.weight < thin.cells.grid.weight


def test_a_thin_column_has_one_cell() -> None:
    rows = np.random.default_rng(0).uniform(-1, 1, (4000, 2)) * [1.0, 0.02]
    domain = Domain.of(["wide", "thin"], [-1.0, -0.02], [1.0, 0.02], scaling=Scaling.COMMON)
    done = run("auto", PrivateTable(rows, domain, n_public=4000), k=4, epsilon=0.5, delta=1e-6, seed=0)
    grid = next(frame.step.grid for frame in done.frames if isinstance(frame.step, SynopsisStep))
    assert grid.cells_per_axis.tolist()[1] == 1
