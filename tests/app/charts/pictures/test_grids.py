import numpy as np
import pytest

from dpviz.algorithms.steps import GridStep
from dpviz.app.charts.canvas import RevealedView
from dpviz.app.charts.pictures.grids import draw_true_counts, find_shown_grid, format_axis_names
from dpviz.app.charts.view import make_view
from dpviz.core.partitions import Grid
from tests.app.charts.gallery import beside, draw, look
from tests.app.charts.pictures.special import dense, domain, in_a_view


@pytest.mark.parametrize("axes", [(0, 1), (2, 0)])
def test_other_axes_are_summed_and_the_noise_with_them(axes: tuple[int, int]) -> None:
    step = dense(3, 4)
    shown = find_shown_grid(step.grid, step.codes, step.noisy_counts, make_view(domain(3), axes))
    whole = step.noisy_counts.reshape(4, 4, 4)
    np.testing.assert_allclose(shown.values, whole.sum(axis=1).T if axes == (2, 0) else whole.sum(axis=2))
    assert (shown.summed == 4).all()


def test_cells_stand_where_their_rows_are() -> None:
    grid = Grid.over(domain(2).region, 10)
    code = int(grid.assign(domain(2).to_unit(np.array([[9.5, 0.5]])))[0])
    counts = np.where(np.arange(100) == code, 7.0, 0.0)
    step = GridStep(title="grid", grid=grid, codes=np.arange(100), noisy_counts=counts, sd=1.0)
    drawn = draw(step, view=make_view(domain(2))).data[0]
    row, column = np.unravel_index(np.argmax(drawn.customdata), drawn.customdata.shape)
    assert drawn.x[column] == pytest.approx(9) and drawn.x[column + 1] == pytest.approx(10)
    assert drawn.y[row] == pytest.approx(0) and drawn.y[row + 1] == pytest.approx(1)


def test_true_counts_are_those_of_the_rows_in_the_cells_of_the_noisy_ones() -> None:
    rows = np.random.default_rng(1).uniform(-1, 1, (500, 2))
    step = dense(2, 8)
    (true,) = draw_true_counts(step, rows, look(make_view(domain(2)))).draw().plot.figure().data
    counts = np.bincount(step.grid.assign(rows), minlength=64).reshape(8, 8)
    np.testing.assert_array_equal(true.customdata, counts.T)


def test_over_a_view_rows_fall_into_the_cells_of_its_own_axes() -> None:
    rows = np.r_[np.tile([0.2, 0.2, 0.2, 0.9], (6, 1)), np.tile([0.75, -0.05, 0.2, 0.0], (2, 1))]
    revealed = beside([in_a_view(5, 4, 3)], view=make_view(domain(4)), reveal=RevealedView.of(rows, "test"))
    (true,) = revealed["True counts"].draw().plot.figure().data
    counts = np.asarray(true.customdata)
    # The edges of the middle cell hold 0; the second group lies in the last column of the lowest row.
    assert counts.sum() == 8 and counts[0, 4] == 2 and counts[2, 2] == 6


def test_axes_are_named_after_the_column_that_they_mostly_are() -> None:
    names = format_axis_names(np.array([[0.9, 0.1, 0.3, 0.3], [0.5, 0.5, 0.5, 0.5]]), domain(4))
    assert names == ("axis 1 of the view, mostly c0", "axis 2 of the view")
