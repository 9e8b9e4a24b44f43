import numpy as np
import pytest

from dpviz.charts.points import describe_points, draw_points
from dpviz.charts.theme import palette
from dpviz.charts.view import view_of
from dpviz.table.domain import Domain
from tests.charts.laws import is_sound, keeps_its_ranges

LIGHT = palette("light")
VIEW = view_of(Domain.of(["x", "y"], 0.0, 10.0))


def rows(n: int, dim: int = 2) -> np.ndarray:
    return np.random.default_rng(0).uniform(-1, 1, (n, dim))


@pytest.mark.parametrize("n", [0, 1, 2000, 50_000])
def test_up_to_fifty_thousand_rows_are_dots(n: int) -> None:
    figure = draw_points(rows(n), VIEW, palette=LIGHT, labels=np.arange(n) % 3)
    is_sound(figure)
    keeps_its_ranges(figure, VIEW)
    assert figure.data[0].type == "scattergl" and len(figure.data[0].x) == n


def test_beyond_they_are_a_density_that_counts_every_row() -> None:
    points = rows(60_000)
    figure = draw_points(points, VIEW, palette=LIGHT)
    is_sound(figure)
    keeps_its_ranges(figure, VIEW)
    assert figure.data[0].type == "heatmap"
    assert float(np.nansum(np.asarray(figure.data[0].z) ** 2)) == pytest.approx(60_000, rel=1e-4)
    assert "too many for dots" in figure.layout.title.subtitle.text.replace("<br>", " ")


def test_one_column_is_a_histogram() -> None:
    view = view_of(Domain.of(["x"], 0.0, 10.0))
    figure = draw_points(rows(500, 1), view, palette=LIGHT)
    is_sound(figure)
    assert float(np.sum(figure.data[0].y)) == 500
    assert describe_points(rows(500, 1), view) == "500 rows over x."


def test_rows_outside_the_bounds_are_counted() -> None:
    points = np.array([[0.0, 0.0], [3.0, 0.0]])
    figure = draw_points(points, VIEW, palette=LIGHT)
    assert "one row outside the picture" in figure.layout.title.subtitle.text
