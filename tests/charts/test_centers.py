import numpy as np
import plotly.graph_objects as go
import pytest

from dpviz.algorithms.steps import CentersStep
from dpviz.charts.pictures.centers import center_sizes
from dpviz.charts.view import view_of
from dpviz.runs.evaluation import Reference
from dpviz.runs.found import FOUND_RULE, found_in
from dpviz.table.domain import Domain
from tests.charts.gallery import draw, title_of

DOMAIN = Domain.of(["x", "y"], [0, 0], [100, 10])
VIEW = view_of(DOMAIN)
CORNERS = np.array([[-0.5, -0.5], [0.5, -0.5], [-0.5, 0.5], [0.5, 0.5]])
REFERENCE = Reference(CORNERS, 0.1, 1)


def trace(figure: go.Figure, name: str) -> go.Scatter:
    found = [trace for trace in figure.data if trace.name == name]
    assert len(found) == 1, f"{name}: {[t.name for t in figure.data]}"
    return found[0]


def step(centers: np.ndarray, **more: object) -> CentersStep:
    return CentersStep(title="a round", centers=centers, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("far", "title"),
    [
        (0, "At ε = 0.5, all four clusters are found"),
        (1, "At ε = 0.5, three of four clusters are found"),
        (3, "At ε = 0.5, one of four clusters is found"),
        (4, "At ε = 0.5, none of four clusters is found"),
    ],
)
def test_the_title_counts_the_clusters_that_are_found_and_the_subtitle_says_what_that_means(
    far: int, title: str
) -> None:
    rows = np.repeat(CORNERS, 50, axis=0) + np.random.default_rng(0).normal(0, 0.05, (200, 2))
    moved = CORNERS[[3, 1, 0, 2]].copy()
    moved[:far] += [0.0, 0.2]  # the spread of each is 0.07
    found = found_in(rows, moved, REFERENCE)
    figure = draw(step(moved), view=VIEW, reference=REFERENCE, found=lambda _: found, epsilon=0.5)
    assert title_of(figure) == title
    assert FOUND_RULE in figure.layout.meta["subtitle"].replace("\xa0", " ")


def test_without_a_count_nothing_is_said_of_clusters() -> None:
    figure = draw(step(CORNERS), view=VIEW, reference=REFERENCE, epsilon=0.5)
    assert "found" not in figure.layout.title.text + figure.layout.title.subtitle.text


def test_without_a_reference_the_title_speaks_of_noise_from_released_values() -> None:
    sd = np.array([0.1, 0.6, 0.7, 0.1])
    figure = draw(step(CORNERS, noisy_counts=np.ones(4), center_noise_sd=sd), view=VIEW)
    assert "reaches half-way to a neighbour of two centres" in title_of(figure)
    small = draw(step(CORNERS, noisy_counts=np.ones(4), center_noise_sd=sd / 100), view=VIEW)
    assert "0.175 % of the width" in title_of(small)


def test_each_arrow_leads_from_a_k_means_centre_to_its_own_released_twin() -> None:
    shuffled = CORNERS[[2, 0, 3, 1]] + 0.05
    figure = draw(step(shuffled), view=VIEW, reference=REFERENCE)
    arrows = trace(figure, "displacement")
    ends = np.column_stack([arrows.x, arrows.y]).reshape(4, 3, 2)
    np.testing.assert_allclose(ends[:, 1], VIEW.plane(shuffled), rtol=1e-5)
    np.testing.assert_allclose(ends[:, 0], VIEW.plane(shuffled - 0.05), rtol=1e-5)


def test_numbers_stay_with_their_centres_however_they_are_sorted() -> None:
    counts = np.array([5.0, 500.0, 50.0, -3.0])
    marks = trace(draw(step(CORNERS, noisy_counts=counts), view=VIEW), "centres")
    for text, x, y in zip(marks.text, marks.x, marks.y, strict=True):
        np.testing.assert_allclose([x, y], VIEW.plane(CORNERS[[int(text) - 1]])[0], rtol=1e-5)
    sizes = center_sizes(step(CORNERS, noisy_counts=counts))
    assert sizes.argsort().tolist() == [3, 0, 2, 1]
    assert list(marks.marker.size) == sorted(sizes, reverse=True)


def test_the_halo_is_one_standard_deviation_wide_in_data_units() -> None:
    sd = np.full(4, 0.08)
    figure = draw(step(CORNERS, noisy_counts=np.ones(4), center_noise_sd=sd), view=VIEW)
    halo = trace(figure, "noise ±1 sd")
    first = np.column_stack([halo.x, halo.y])[:48]
    np.testing.assert_allclose(np.ptp(first, axis=0), 2 * 0.08 * np.array([50, 5]), rtol=0.01)


def test_cells_are_drawn_only_where_the_plane_shows_every_axis() -> None:
    wide = Domain.of(["x", "y", "z"], 0, 1)
    centers = np.random.default_rng(0).uniform(-1, 1, (4, 3))
    figure = draw(step(centers), view=view_of(wide))
    assert [t.name for t in figure.data if t.name] == ["centres"] and len(figure.data) == 1
    subtitle = figure.layout.title.subtitle.text.replace("<br>", " ")
    assert "2 of 3 columns" in subtitle and "cells not drawn" in subtitle
    assert len(draw(step(CORNERS), view=VIEW).data) > 1


@pytest.mark.parametrize(("k", "hues"), [(7, 7), (8, 1)])
def test_up_to_seven_centres_have_a_hue_each(k: int, hues: int) -> None:
    centers = np.random.default_rng(0).uniform(-1, 1, (k, 2))
    marks = trace(draw(step(centers), view=VIEW), "centres")
    assert len(set(marks.marker.color)) == hues


def test_centres_outside_the_picture_are_counted() -> None:
    ball = Domain.of([f"c{j}" for j in range(64)], -1.0, 1.0, radius=1.0, scaling="common")
    centers = np.zeros((2, 64))
    centers[0, 0] = 0.95
    figure = draw(step(centers), view=view_of(ball, (0, 1)))
    assert "one centre outside the picture" in figure.layout.title.subtitle.text.replace("<br>", " ")


def test_one_centre_and_a_reference_of_another_size_are_no_trouble() -> None:
    lone = draw(step(CORNERS[:1]), view=VIEW, reference=Reference(CORNERS[1:2], 0.1, 1))
    assert "lies 1 (unit coordinates)" in lone.layout.title.text.replace("<br>", " ")
    other = draw(step(CORNERS[:3]), view=VIEW, reference=REFERENCE)
    assert not [t for t in other.data if t.name == "displacement"]


@pytest.mark.parametrize("k", [2, 20, 21, 40, 41, 64])
def test_marks_shrink_with_their_number_and_a_crowd_is_numbered_on_hover_only(k: int) -> None:
    centers = np.random.default_rng(0).uniform(-1, 1, (k, 2))
    figure = draw(step(centers, noisy_counts=np.arange(k, dtype=float)), view=VIEW)
    marks = trace(figure, "centres")
    # Even side by side, all of them fill less than half of a phone's square of 250 pixels.
    assert sum(np.square(marks.marker.size)) < 250**2 / 2
    crowd = k > 40
    assert (marks.mode == "markers") == crowd
    assert ("numbers on hover" in figure.layout.title.subtitle.text.replace("<br>", " ")) == crowd
    assert all(f"centre {text}<" in hover for text, hover in zip(marks.text, marks.customdata, strict=True))
