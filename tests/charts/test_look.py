import dataclasses

import numpy as np
import pytest

from dpviz.algorithms.auto.first_look import LookStep
from dpviz.charts.pictures.look import (
    axes_table,
    clear_axes,
    describe_axes,
    describe_distances,
    distances_table,
    draw_axes,
    draw_distances,
    draw_look,
    look_table,
)
from dpviz.charts.revealed import RevealedView
from dpviz.charts.theme import palette
from dpviz.table.domain import Domain
from tests.charts.gallery import Exhibit, exhibit, look_step
from tests.charts.laws import is_sound, shows_kinds

LIGHT = palette("light")


@pytest.fixture(scope="module")
def shown() -> Exhibit:
    return exhibit(6, 5, n=1500)


def bars(figure) -> dict[str, np.ndarray]:
    return {trace.name: np.asarray(trace.x) for trace in figure.data if trace.type == "bar"}


def test_axes_under_the_noise_edge_are_faded_and_named(shown: Exhibit) -> None:
    step = look_step(shown, epsilon=0.3)
    clear = clear_axes(step)
    assert 0 < clear.sum() < 6
    figure = draw_look(step, palette=LIGHT, domain=shown.table.domain)
    is_sound(figure)
    assert bars(figure)["may be noise"].tolist() == (np.flatnonzero(~clear) + 1).tolist()
    (band,) = figure.layout.shapes
    assert (band.y0, band.y1) == (0, pytest.approx(step.noise_edge))
    faded = draw_axes(step, palette=LIGHT, domain=shown.table.domain).layout.shapes
    assert len(faded) == (~clear[: step.axes]).sum()


def test_true_variances_stand_on_the_bars_where_noise_is_small(shown: Exhibit) -> None:
    step = look_step(shown, epsilon=100.0)
    figure = draw_look(step, palette=LIGHT, domain=shown.table.domain, reveal=shown.reveal)
    shows_kinds(figure, LIGHT, {"released", "revealed"})
    true = next(trace for trace in figure.data if trace.meta == "revealed")
    np.testing.assert_allclose(true.y, step.look.captured, rtol=0.1, atol=0.01)
    far = draw_distances(step, palette=LIGHT, domain=shown.table.domain, reveal=shown.reveal)
    counts = next(trace for trace in far.data if trace.meta == "revealed")
    assert sum(counts.y) == 1500
    np.testing.assert_allclose(counts.y, step.noisy_radii, atol=10)


def test_the_map_of_axes_shows_every_column_of_a_narrow_table_and_the_foremost_of_a_wide_one(shown: Exhibit) -> None:
    step = look_step(shown)
    figure = draw_axes(step, palette=LIGHT, domain=shown.table.domain)
    is_sound(figure)
    np.testing.assert_allclose(figure.data[0].z, step.look.basis[:5].T, rtol=1e-5)
    wide = Domain.of([f"column {j}" for j in range(100)], 0.0, 1.0)
    basis = np.linalg.qr(np.random.default_rng(0).normal(size=(100, 100)))[0]
    basis[:, 7] *= 9
    many = dataclasses.replace(step, look=dataclasses.replace(step.look, basis=basis, captured=np.linspace(1, 0, 100)))
    figure = draw_axes(many, palette=LIGHT, domain=wide)
    is_sound(figure)
    assert len(figure.data[0].z) == 28 and "column 7" in figure.layout.yaxis.ticktext
    assert "28 of 100 columns" in figure.layout.title.subtitle.text.replace("<br>", " ")
    assert len(draw_look(many, palette=LIGHT, domain=wide).data) >= 2


def test_an_axis_along_a_column_says_so(shown: Exhibit) -> None:
    step = look_step(shown)
    along = dataclasses.replace(step, look=dataclasses.replace(step.look, basis=np.eye(6)[[3, 0, 1, 2, 4, 5]]))
    assert "Axis 1 is mostly income" in describe_axes(along, domain=shown.table.domain)
    mixed = np.full((6, 6), 6**-0.5)
    mixed = dataclasses.replace(step, look=dataclasses.replace(step.look, basis=mixed))
    assert "three of six make up half" in describe_axes(mixed, domain=shown.table.domain)


def test_the_reach_parts_the_histogram_of_distances(shown: Exhibit) -> None:
    step = look_step(shown)
    figure = draw_distances(step, palette=LIGHT, domain=shown.table.domain)
    is_sound(figure)
    parts = bars(figure)
    assert parts["rows within the reach"].max() < step.look.reach < parts["beyond it"].min()
    assert any(shape.x0 == shape.x1 == step.look.reach for shape in figure.layout.shapes)
    table = distances_table(step)
    assert table.loc[table["within the reach"], "to"].max() == pytest.approx(step.look.reach)


def test_where_noise_hides_the_reach_it_is_said(shown: Exhibit) -> None:
    step = look_step(shown)
    hidden = dataclasses.replace(step, look=dataclasses.replace(step.look, reach=step.radii_reach))
    assert describe_distances(hidden).startswith("Noise hides how far rows reach")


def test_axes_from_public_coins_are_public_and_distances_come_first(shown: Exhibit) -> None:
    step: LookStep = look_step(shown, bought=False)
    assert step.noise_edge == 0 and clear_axes(step).all()
    domain = shown.table.domain
    main = draw_look(step, palette=LIGHT, domain=domain)
    assert main.layout.title.text == draw_distances(step, palette=LIGHT, domain=domain).layout.title.text
    shows_kinds(draw_axes(step, palette=LIGHT, domain=domain), LIGHT, {"public"})
    assert list(look_table(step, domain=domain)) == list(distances_table(step))
    assert list(look_table(look_step(shown), domain=domain)) == list(axes_table(step, domain=domain))


def test_without_all_rows_nothing_true_is_drawn(shown: Exhibit) -> None:
    some = RevealedView(shown.reveal.points[:10], "made up")
    figure = draw_look(look_step(shown), palette=LIGHT, domain=shown.table.domain, reveal=some)
    shows_kinds(figure, LIGHT, {"released"})
