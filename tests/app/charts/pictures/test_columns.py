import dataclasses
from functools import partial

import numpy as np
import pytest

from dpviz.algorithms.auto.private_projection import ProjectionStep
from dpviz.app.charts.canvas import RevealedView
from dpviz.app.charts.pictures.columns import draw_axes, draw_distances, find_clear_axes
from dpviz.app.charts.registry import draw_picture
from dpviz.app.charts.view import View, make_view
from dpviz.core.domain import Domain
from dpviz.words.theme import choose_palette
from tests.app.charts.gallery import Exhibit, draw, exhibit, look, look_step, subtitle_of, title_of
from tests.app.charts.laws import is_sound, shows_kinds

LIGHT = choose_palette("light")


@pytest.fixture(scope="module")
def shown() -> Exhibit:
    return exhibit(6, 5, n=1500)


def view(shown: Exhibit) -> View:
    return make_view(shown.table.domain)


def bars(figure) -> dict[str, np.ndarray]:
    return {trace.name: np.asarray(trace.x) for trace in figure.data if trace.type == "bar"}


def test_axes_under_the_noise_edge_are_faded_and_named(shown: Exhibit) -> None:
    step = look_step(shown, epsilon=0.3)
    clear = find_clear_axes(step)
    assert 0 < clear.sum() < 6
    figure = draw(step, view=view(shown))
    is_sound(figure)
    assert bars(figure)["may be noise"].tolist() == (np.flatnonzero(~clear) + 1).tolist()
    (band,) = figure.layout.shapes
    assert (band.y0, band.y1) == (0, pytest.approx(step.noise_edge))
    faded = draw(partial(draw_axes, step), view=view(shown)).layout.shapes
    assert len(faded) == (~clear[: step.axes]).sum()


def test_true_variances_stand_on_the_bars_where_noise_is_small(shown: Exhibit) -> None:
    step = look_step(shown, epsilon=100.0)
    figure = draw(step, view=view(shown), reveal=shown.reveal)
    shows_kinds(figure, LIGHT, {"released", "revealed"})
    true = next(trace for trace in figure.data if trace.meta == "revealed")
    np.testing.assert_allclose(true.y, step.projection.captured, rtol=0.1, atol=0.01)
    far = draw(partial(draw_distances, step), view=view(shown), reveal=shown.reveal)
    counts = next(trace for trace in far.data if trace.meta == "revealed")
    assert sum(counts.y) == 1500
    np.testing.assert_allclose(counts.y, step.noisy_radii, atol=10)


def test_the_map_of_axes_shows_every_column_of_a_narrow_table_and_the_foremost_of_a_wide_one(shown: Exhibit) -> None:
    step = look_step(shown)
    figure = draw(partial(draw_axes, step), view=view(shown))
    is_sound(figure)
    np.testing.assert_allclose(figure.data[0].z, step.projection.basis[:5].T, rtol=1e-5)
    wide = Domain.of([f"column {j}" for j in range(100)], 0.0, 1.0)
    basis = np.linalg.qr(np.random.default_rng(0).normal(size=(100, 100)))[0]
    basis[:, 7] *= 9
    seen = {"basis": basis, "captured": np.linspace(1, 0, 100), "middle": np.zeros(100)}
    many = dataclasses.replace(step, projection=dataclasses.replace(step.projection, **seen))
    figure = draw(partial(draw_axes, many), view=make_view(wide))
    is_sound(figure)
    assert len(figure.data[0].z) == 28 and "column 7" in figure.layout.yaxis.ticktext
    assert "28 of 100 columns" in subtitle_of(figure)
    assert len(draw(many, view=make_view(wide)).data) >= 2


def test_an_axis_along_a_column_says_so(shown: Exhibit) -> None:
    step = look_step(shown)
    along = dataclasses.replace(
        step, projection=dataclasses.replace(step.projection, basis=np.eye(6)[[3, 0, 1, 2, 4, 5]])
    )
    assert "Axis 1 is mostly income" in draw_axes(along, look(view(shown))).words
    mixed = np.full((6, 6), 6**-0.5)
    mixed = dataclasses.replace(step, projection=dataclasses.replace(step.projection, basis=mixed))
    assert "three of six make up half" in draw_axes(mixed, look(view(shown))).words


def test_the_reach_parts_the_histogram_of_distances(shown: Exhibit) -> None:
    step = look_step(shown)
    figure = draw(partial(draw_distances, step), view=view(shown))
    is_sound(figure)
    parts = bars(figure)
    assert parts["rows within the clipping radius"].max() < step.projection.clipping_radius < parts["beyond it"].min()
    assert any(shape.x0 == shape.x1 == step.projection.clipping_radius for shape in figure.layout.shapes)
    table = draw_distances(step, look(view(shown))).table()
    assert table.loc[table["within the clipping radius"], "to"].max() == pytest.approx(step.projection.clipping_radius)


def test_where_noise_hides_the_reach_it_is_said(shown: Exhibit) -> None:
    step = look_step(shown)
    hidden = dataclasses.replace(
        step, projection=dataclasses.replace(step.projection, clipping_radius=step.outer_radius)
    )
    assert draw_distances(hidden, look(view(shown))).words.startswith("Noise hides how far rows reach")


def test_axes_from_public_coins_are_public_and_distances_come_first(shown: Exhibit) -> None:
    step: ProjectionStep = look_step(shown, bought=False)
    assert step.noise_edge == 0 and find_clear_axes(step).all()
    looked = look(view(shown))
    assert title_of(draw(step, view=view(shown))) == title_of(draw(partial(draw_distances, step), view=view(shown)))
    shows_kinds(draw(partial(draw_axes, step), view=view(shown)), LIGHT, {"public"})
    assert list(draw_picture(step, looked).table()) == list(draw_distances(step, looked).table())
    assert list(draw_picture(look_step(shown), looked).table()) == list(draw_axes(step, looked).table())


def test_without_all_rows_nothing_true_is_drawn(shown: Exhibit) -> None:
    some = RevealedView(shown.reveal.points[:10], "made up")
    figure = draw(look_step(shown), view=view(shown), reveal=some)
    shows_kinds(figure, LIGHT, {"released"})
