from functools import partial

import numpy as np
import pytest

from dpviz.algorithms.steps import GridStep
from dpviz.app.charts.canvas import RevealedView
from dpviz.app.charts.pictures.grids import draw_counts, draw_true_counts, find_shown_grid
from dpviz.app.charts.registry import draw_picture
from dpviz.app.charts.view import make_view
from dpviz.core.domain import Domain
from dpviz.core.partitions import Grid, UnevenGrid
from dpviz.words.theme import choose_palette
from tests.app.charts.gallery import draw, look, subtitle_of, title_of
from tests.app.charts.laws import is_sound, shows_kinds

LIGHT = choose_palette("light")


def domain(dim: int) -> Domain:
    return Domain.of([f"c{j}" for j in range(dim)], 0.0, 10.0)


def dense(dim: int, cells: int, *, sd: float = 1.0, seed: int = 0) -> GridStep:
    grid = Grid.over(domain(dim).region, cells)
    noisy = np.random.default_rng(seed).normal(0, sd, grid.n_cells)
    return GridStep(title="grid", grid=grid, codes=np.arange(grid.n_cells), noisy_counts=noisy, sd=sd)


@pytest.mark.parametrize("axes", [(0, 1), (2, 0)])
def test_other_axes_are_summed_and_the_noise_with_them(axes: tuple[int, int]) -> None:
    step = dense(3, 4)
    shown = find_shown_grid(step.grid, step.codes, step.noisy_counts, make_view(domain(3), axes))
    whole = step.noisy_counts.reshape(4, 4, 4)
    np.testing.assert_allclose(shown.values, whole.sum(axis=1).T if axes == (2, 0) else whole.sum(axis=2))
    assert (shown.summed == 4).all()
    figure = draw(step, view=make_view(domain(3), axes))
    assert "up to 4 cells added up: sd 2" in subtitle_of(figure)
    np.testing.assert_allclose(figure.data[0].customdata, shown.values.T, rtol=1e-5)


def test_a_single_cell_does_not_pass_for_a_finding() -> None:
    assert "says nothing" in draw_picture(dense(2, 1), look()).words
    assert "stand out" in draw_picture(dense(2, 4), look()).words


def test_a_million_cells_stay_light_and_lose_nothing() -> None:
    step = dense(2, 1000)
    figure = draw(step, view=make_view(domain(2)))
    is_sound(figure)
    assert figure.data[0].z.shape == (250, 250)
    assert float(np.sum(figure.data[0].customdata)) == pytest.approx(step.noisy_counts.sum(), rel=1e-3, abs=0.5)
    assert "up to 16 cells added up" in subtitle_of(figure)


def test_uneven_cells_are_drawn_between_their_borders() -> None:
    inner = [np.array([-0.8, -0.7, 0.4]), np.array([0.1])]
    grid = UnevenGrid.between(np.ones(2), inner, np.array([0.1, 0.0]))
    step = GridStep(title="grid", grid=grid, codes=np.arange(8), noisy_counts=np.arange(8.0), sd=1.0)
    shown = find_shown_grid(grid, step.codes, step.noisy_counts, make_view(domain(2)))
    np.testing.assert_allclose(shown.edges[0], np.array([-1.0, -0.8, -0.7, 0.4, 1.0]) + 0.1)
    np.testing.assert_allclose(shown.edges[1], [-1.0, 0.1, 1.0])
    np.testing.assert_allclose(shown.values, np.arange(8.0).reshape(4, 2))
    is_sound(draw(step, view=make_view(domain(2))))


def test_cells_stand_where_their_rows_are() -> None:
    grid = Grid.over(domain(2).region, 10)
    code = int(grid.assign(domain(2).to_unit(np.array([[9.5, 0.5]])))[0])
    counts = np.zeros(100)
    counts[code] = 7
    step = GridStep(title="grid", grid=grid, codes=np.arange(100), noisy_counts=counts, sd=1.0)
    drawn = draw(step, view=make_view(domain(2))).data[0]
    row, column = np.unravel_index(np.argmax(drawn.customdata), drawn.customdata.shape)
    assert drawn.x[column] == pytest.approx(9) and drawn.x[column + 1] == pytest.approx(10)
    assert drawn.y[row] == pytest.approx(0) and drawn.y[row + 1] == pytest.approx(1)


def test_colour_is_pale_within_three_sd_symmetric_and_monotone() -> None:
    grid = Grid.over(domain(1).region, 9)
    counts = np.array([-30, -12, -6, -2, 0, 2, 6, 12, 30.0])
    flat = GridStep(title="grid", grid=grid, codes=np.arange(9), noisy_counts=counts, sd=2.0)
    two = Grid(domain(2).region.half, np.array([9, 1]))
    step = GridStep(title="grid", grid=two, codes=np.arange(9), noisy_counts=counts, sd=2.0)
    drawn = draw(step, view=make_view(domain(2))).data[0]
    tone = drawn.z[0]
    assert (np.diff(tone) > 0).all() and tone[4] == 0
    np.testing.assert_allclose(tone, -tone[::-1])
    assert abs(tone[2]) == pytest.approx(0.16) and tone[8] == pytest.approx(1)
    bars = draw(flat, view=make_view(domain(1))).data[0].marker.color
    assert len(set(bars)) == 3 and set(bars[:4]) == {LIGHT.below}
    colors = [color for _, color in drawn.colorscale]
    assert colors[2].endswith(",0)") and colors[4].endswith(",0.16)") and colors[-1] == LIGHT.deep


def test_a_coarse_map_has_gaps_and_nothing_lies_under_it() -> None:
    rows = RevealedView.of(np.zeros((5, 2)), "look")
    for cells, gap in ((39, 1), (40, 0)):
        (drawn,) = draw(dense(2, cells), view=make_view(domain(2)), reveal=rows).data
        assert drawn.xgap == drawn.ygap == gap


@pytest.mark.parametrize("cells", [5, 60])
def test_all_counts_are_sorted_over_a_band_of_three_sd(cells: int) -> None:
    step = dense(2, cells, sd=2.0)
    figure = draw(partial(draw_counts, step))
    is_sound(figure)
    (bars,) = figure.data
    assert (np.diff(bars.y) <= 0).all() and len(bars.y) <= 500
    assert float(np.sum(bars.width)) == pytest.approx(cells**2, abs=float(max(bars.width)))
    (band,) = figure.layout.shapes
    assert (band.y0, band.y1) == (-6.0, 6.0)
    above = int((step.noisy_counts > 6).sum())
    assert title_of(figure).startswith(f"{above:,} of")
    # One word, one count: the map of the same cells says the same.
    assert title_of(draw(step, view=make_view(domain(2)))).startswith(f"{above:,} of")


def test_cells_that_were_not_released_are_unknown_not_zero() -> None:
    grid = Grid.over(domain(2).region, 6)
    step = GridStep(
        title="grid", grid=grid, codes=np.array([3, 20]), noisy_counts=np.array([9.0, -8.0]), sd=1.0, cutoff=7.0
    )
    figure = draw(step, view=make_view(domain(2)))
    assert int(np.isfinite(figure.data[0].z).sum()) == 2
    assert "not released (at most 7, up or down)" in subtitle_of(figure)


def test_true_counts_fill_the_same_cells_as_the_noisy_ones() -> None:
    rows = np.random.default_rng(1).uniform(-1, 1, (500, 2))
    step = dense(2, 8)
    (noisy,) = draw(step, view=make_view(domain(2))).data
    figure = draw(partial(draw_true_counts, step, rows), view=make_view(domain(2)))
    is_sound(figure)
    shows_kinds(figure, LIGHT, {"revealed"})
    assert title_of(figure).endswith("of 64 cells hold a row")
    (true,) = figure.data
    assert true.meta == "revealed" and float(np.sum(true.customdata)) == 500
    counts = np.bincount(step.grid.assign(rows), minlength=64).reshape(8, 8)
    np.testing.assert_array_equal(true.customdata, counts.T)
    np.testing.assert_array_equal(noisy.x, true.x)


def test_a_grid_of_more_cells_than_anybody_counts_has_a_short_title() -> None:
    grid = Grid.over(domain(60).region, 2)
    step = GridStep(title="grid", grid=grid, codes=np.array([5]), noisy_counts=np.array([9.0]), sd=1.0, cutoff=7.0)
    figure = draw(step, view=make_view(domain(60)))
    is_sound(figure)
    assert "1.15e18 cells" in title_of(figure)
