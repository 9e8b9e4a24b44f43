import dataclasses
from functools import partial

import numpy as np
import plotly.graph_objects as go
import pytest

from dpviz.algorithms.auto.view_synopsis import SynopsisStep
from dpviz.app.charts.canvas import RevealedView
from dpviz.app.charts.pictures.grids import draw_kept, format_axis_names
from dpviz.app.charts.registry import draw_picture
from dpviz.app.charts.view import View, make_view
from dpviz.core.domain import Domain
from dpviz.core.partitions import Grid, UnevenGrid
from dpviz.words.theme import choose_palette
from tests.app.charts.gallery import beside, boxed_synopsis, draw, exhibit, look, subtitle_of, title_of, zoom_step
from tests.app.charts.laws import is_sound, keeps_its_ranges, shows_kinds

LIGHT = choose_palette("light")
DOMAIN = Domain.of([f"c{j}" for j in range(4)], 0.0, 10.0)


def truth(step: SynopsisStep, rows: np.ndarray, view: View) -> go.Figure:
    """The true counts of rows (n, d), unit coordinates."""
    companions = beside([step], view=view, reveal=RevealedView.of(rows, "test"))
    return companions["True counts"].draw().headed(LIGHT)


def in_a_view(*cells: int, kept: int = 3, frame: np.ndarray | None = None) -> SynopsisStep:
    """A dense synopsis over axes of a view, off the middle of the domain."""
    axes = len(cells)
    grid = Grid(np.linspace(0.6, 0.3, axes), np.array(cells), np.full(axes, 0.2))
    noisy = np.random.default_rng(0).normal(0, 1.0, grid.n_cells)
    noisy[:kept] = 40.0
    return SynopsisStep(
        **{"title": "cells", "grid": grid, "codes": np.arange(grid.n_cells), "noisy_counts": noisy, "sd": 1.0},
        **{"kept": np.arange(kept), "weights": np.arange(kept) + 10.0, "frame": frame or np.eye(4)[:axes]},
        **{"outside": np.zeros((0, axes)), "outside_weights": np.zeros(0)},
    )


@pytest.mark.parametrize("dim", [1, 2])
def test_a_box_is_framed_and_coarse_cells_lie_around_it(dim: int) -> None:
    zoomed, step, domain = boxed_synopsis(dim)
    assert zoomed.box is not None and step.around is not None and len(step.outside) > 0
    view = make_view(domain)
    for figure in (draw(zoomed, view=view), draw(step, view=view)):
        is_sound(figure)
        low, high = view.boxes().plane(zoomed.box)
        assert any(
            shape.x0 == pytest.approx(low[0]) and shape.x1 == pytest.approx(high[0]) for shape in figure.layout.shapes
        )
    assert "Nearly all rows lie in" in title_of(draw(zoomed, view=view))
    coarse, fine = draw(step, view=view).data
    assert np.ptp(np.asarray(coarse.x)) > np.ptp(np.asarray(fine.x))


def test_without_a_box_nothing_is_framed() -> None:
    shown = exhibit(2, 5, n=1500)
    step = dataclasses.replace(zoom_step(shown), box=None)
    figure = draw(step, view=make_view(shown.table.domain))
    assert "No small box" in title_of(figure) and len(figure.layout.shapes) == 1


def test_where_most_rows_lie_is_framed_and_what_widens_around_a_box_is_drawn_as_wide_as_it_is() -> None:
    zoomed, step, domain = boxed_synopsis(2)
    core = np.array([[-0.5, 0.25], [-0.25, 0.5]])
    figure = draw(dataclasses.replace(zoomed, box=None, core=core), view=make_view(domain))
    assert "Most rows lie in 1.56 % of the domain" in title_of(figure)
    low, high = make_view(domain).boxes().plane(core)
    assert any(
        shape.x0 == pytest.approx(low[0]) and shape.x1 == pytest.approx(high[0]) for shape in figure.layout.shapes
    )
    assert step.around is not None and isinstance(step.around.grid, UnevenGrid)
    coarse, _ = draw(step, view=make_view(domain)).data
    sides = np.diff(np.asarray(coarse.x))
    assert sides.max() > 2 * sides.min()


@pytest.mark.parametrize("dim", [1, 2])
def test_what_is_kept_adds_up_to_the_rows_wherever_it_lies_over_the_axes_of_the_noisy_counts(dim: int) -> None:
    _, step, domain = boxed_synopsis(dim)
    figure, noisy = draw(partial(draw_kept, step), view=make_view(domain)), draw(step, view=make_view(domain))
    assert noisy.layout.xaxis.range == figure.layout.xaxis.range
    assert noisy.layout.yaxis.range == figure.layout.yaxis.range is not None
    is_sound(figure)
    shows_kinds(figure, LIGHT, {"released"})
    drawn = sum(np.nansum(np.asarray(trace.customdata if dim == 2 else trace.y)) for trace in figure.data)
    assert drawn == pytest.approx(20_000, rel=1e-4)
    assert "20,000 rows" in draw_kept(step, look(make_view(domain))).words


def test_a_closer_look_shows_the_box_and_little_more_and_true_counts_outside_belong_to_the_coarse_cells() -> None:
    _, step, domain = boxed_synopsis(2)
    figure = draw(partial(draw_kept, step, in_its_box=True), view=make_view(domain))
    low, high = figure.layout.xaxis.range
    width = 2 * step.grid.half[0] * domain.scale[0]
    assert width < high - low < 1.2 * width
    rows = np.r_[np.full((30, 2), step.grid.middle), np.full((7, 2), 0.9)]
    coarse, fine = truth(step, rows, make_view(domain)).data
    assert np.nansum(coarse.customdata) == 7 and np.nansum(fine.customdata) == 30


def test_over_a_view_the_axes_range_over_the_grid_and_rows_fall_into_its_cells() -> None:
    step, view = in_a_view(5, 4, 3), make_view(DOMAIN)
    figure = draw(step, view=view)
    is_sound(figure)
    keeps_its_ranges(figure, draw_picture(step, look(view)).context.view)
    (drawn,) = figure.data
    assert drawn.x[0] == pytest.approx(-0.6) and drawn.x[-1] == pytest.approx(0.6)
    np.testing.assert_allclose(drawn.customdata, step.noisy_counts.reshape(5, 4, 3).sum(axis=2).T, rtol=1e-5)
    assert "first two of 3 axes" in subtitle_of(figure)
    rows = np.r_[np.tile([0.2, 0.2, 0.2, 0.9], (6, 1)), np.tile([0.75, -0.05, 0.2, 0.0], (2, 1))]
    (true,) = truth(step, rows, view).data
    counts = np.asarray(true.customdata)
    # The edges of the middle cell hold 0; the second group lies in the last column of the lowest row.
    assert counts.sum() == 8 and counts[0, 4] == 2 and counts[2, 2] == 6


def test_axes_are_named_after_the_column_that_they_mostly_are() -> None:
    names = format_axis_names(np.array([[0.9, 0.1, 0.3, 0.3], [0.5, 0.5, 0.5, 0.5]]), DOMAIN)
    assert names == ("axis 1 of the view, mostly c0", "axis 2 of the view")


def test_one_axis_of_a_view_is_drawn_as_bars() -> None:
    shown = exhibit(4, 3, n=500)
    step, view = in_a_view(12), make_view(shown.table.domain)
    for figure in (draw(step, view=view, reveal=shown.reveal), draw(partial(draw_kept, step), view=view)):
        is_sound(figure)
        assert figure.data[0].type == "bar"
    true = draw(step, view=view, reveal=shown.reveal).data[-1]
    assert true.meta == "revealed" and sum(true.y) == 500


def test_the_table_says_what_was_kept_of_the_largest_cells() -> None:
    table = draw_picture(in_a_view(5, 4), look(make_view(DOMAIN))).table()
    assert table["count kept"][:3].tolist() == [10.0, 11.0, 12.0] and (table["count kept"][3:] == 0).all()
    assert (table["noisy count"].diff().dropna() <= 0).all()
    smoothed = beside([in_a_view(5, 4)], view=make_view(DOMAIN))
    assert "Details" not in smoothed and "What is kept" in smoothed, "without blocks there is no tree"


def test_a_few_of_three_million_cells_stay_light_and_lose_nothing() -> None:
    cells = np.array([9, 8, 8, 7, 6, 5, 5, 4])
    grid = Grid(cells / 10.0, cells)
    codes = np.sort(np.random.default_rng(1).choice(grid.n_cells, 5000, replace=False))
    step = SynopsisStep(
        **{"title": "fine cells", "grid": grid, "codes": codes, "noisy_counts": np.full(5000, 60.0), "sd": 4.0},
        **{"cutoff": 50.0, "frame": np.eye(8), "kept": np.arange(5000), "weights": np.full(5000, 60.0)},
        **{"outside": np.zeros((0, 8)), "outside_weights": np.zeros(0)},
    )
    assert grid.n_cells > 2e6
    view = make_view(Domain.of([f"c{j}" for j in range(8)], 0.0, 1.0))
    for figure in (draw(step, view=view), draw(partial(draw_kept, step), view=view)):
        is_sound(figure)
        assert float(np.sum(figure.data[0].customdata)) == pytest.approx(300_000)
    assert "not released" in subtitle_of(draw(step, view=view))
    assert len(draw_picture(step, look(view)).table()) == 1000


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_blocks_say_how_finely_each_cell_is_told(dim: int) -> None:
    _, step, domain = boxed_synopsis(dim)
    assert step.details is not None
    view = make_view(domain)
    figure = beside([step], view=view)["Details"].draw().headed(LIGHT)
    is_sound(figure)
    shows_kinds(figure, LIGHT, {"released"})
    sides = np.asarray(figure.data[0].customdata)
    finest = step.details.blocks.min(axis=2).T if dim == 3 else step.details.blocks.T
    np.testing.assert_array_equal(sides, finest)
    share = 100 * np.mean(step.details.blocks == 1)
    assert title_of(figure).startswith(f"{share:.3g}"[:3])


def test_the_tree_counts_what_stood_out_and_what_was_shared() -> None:
    _, step, domain = boxed_synopsis(2)
    details = step.details
    assert details is not None
    chart = beside([step], view=make_view(domain))["Tree of details"]
    figure = chart.draw().headed(LIGHT)
    is_sound(figure)
    shows_kinds(figure, LIGHT, {"released"})
    heights = np.sum([np.asarray(trace.y) for trace in figure.data], axis=0)
    np.testing.assert_allclose(heights, 1.0, rtol=1e-5)
    stood, everything = (details.kept + details.shrunk).sum(), sum((details.kept, details.shrunk, details.shared)).sum()
    assert title_of(figure) == f"{stood:,} of {everything:,} details stand out of the noise"
    assert chart.table()["kept"].tolist() == details.kept.tolist()
    assert "at a side of 1" in chart.words
