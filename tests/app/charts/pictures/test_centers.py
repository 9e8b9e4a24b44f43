from dataclasses import replace
from functools import partial

import numpy as np
import plotly.graph_objects as go
import pytest

from dpviz.algorithms.size_estimates import Sizes
from dpviz.algorithms.steps import CentersStep
from dpviz.app.charts.pictures.centers import draw_seed_distances, draw_sizes, find_partners
from dpviz.app.charts.view import make_view
from dpviz.core.domain import Domain
from dpviz.runs.evaluation import FOUND_RULE, Reference, measure_recovery
from dpviz.runs.profiles import make_bare_profile
from dpviz.words import NINE_IN_TEN
from dpviz.words.theme import choose_palette
from tests.app.charts.gallery import draw, subtitle_of, title_of

DOMAIN = Domain.of(["x", "y"], [0, 0], [100, 10])
VIEW = make_view(DOMAIN)
CORNERS = np.array([[-0.5, -0.5], [0.5, -0.5], [-0.5, 0.5], [0.5, 0.5]])
REFERENCE = Reference(CORNERS, 0.1, 1)


def trace(figure: go.Figure, name: str) -> go.Scatter:
    found = [trace for trace in figure.data if trace.name == name]
    assert len(found) == 1, f"{name}: {[t.name for t in figure.data]}"
    return found[0]


def step(centers: np.ndarray, **more: object) -> CentersStep:
    return CentersStep(title="a round", centers=centers, **more)  # type: ignore[arg-type]


def test_the_title_counts_the_clusters_that_are_found_and_the_subtitle_says_what_that_means() -> None:
    rows = np.repeat(CORNERS, 50, axis=0) + np.random.default_rng(0).normal(0, 0.05, (200, 2))
    for far, said in ((0, "all four clusters are"), (1, "three of four clusters are"), (3, "one of four clusters is")):
        moved = CORNERS[[3, 1, 0, 2]].copy()
        moved[:far] += [0.0, 0.2]  # the spread of each is 0.07
        found = measure_recovery(rows, moved, REFERENCE)
        figure = draw(step(moved), view=VIEW, reference=REFERENCE, found=lambda _, found=found: found, epsilon=0.5)
        assert title_of(figure) == f"At ε = 0.5, {said} found"
        assert FOUND_RULE in subtitle_of(figure).replace("\xa0", " ")
    untold = draw(step(CORNERS), view=VIEW, reference=REFERENCE, epsilon=0.5)
    assert "found" not in title_of(untold) + subtitle_of(untold)


def test_without_a_reference_the_title_speaks_of_noise_from_released_values() -> None:
    sd = np.array([0.1, 0.6, 0.7, 0.1])
    figure = draw(step(CORNERS, noisy_counts=np.ones(4), center_noise_sd=sd), view=VIEW)
    assert title_of(figure) == "Two of four centres are lost in noise"
    small = draw(step(CORNERS, noisy_counts=np.ones(4), center_noise_sd=sd / 100), view=VIEW)
    # The noise of both coordinates: √2 times 0.175 %.
    assert "0.247 % of the width" in title_of(small)


def test_each_arrow_leads_from_a_k_means_centre_to_its_own_released_twin() -> None:
    shuffled = CORNERS[[2, 0, 3, 1]] + 0.1
    figure = draw(step(shuffled), view=VIEW, reference=REFERENCE)
    arrows = trace(figure, "displacement")
    ends = np.column_stack([arrows.x, arrows.y]).reshape(4, 3, 2)
    np.testing.assert_allclose(ends[:, 1], VIEW.plane(shuffled), rtol=1e-5)
    np.testing.assert_allclose(ends[:, 0], VIEW.plane(shuffled - 0.1), rtol=1e-5)
    shorter_than_marks = draw(step(CORNERS + 0.05), view=VIEW, reference=REFERENCE)
    assert not [t for t in shorter_than_marks.data if t.name == "displacement"]


def test_marks_are_small_in_their_order_and_numbered_away_from_k_means() -> None:
    theirs = CORNERS + np.array([[0.2, 0.2], [-0.2, 0.2], [0.2, -0.2], [-0.2, -0.2]])
    marks = trace(draw(step(CORNERS), view=VIEW, reference=Reference(theirs, 0.1, 1)), "centres")
    assert list(marks.text) == ["1", "2", "3", "4"] and marks.uid == "centres" and marks.marker.size == 11
    for text, x, y in zip(marks.text, marks.x, marks.y, strict=True):
        np.testing.assert_allclose([x, y], VIEW.plane(CORNERS[[int(text) - 1]])[0], rtol=1e-5)
    assert list(marks.textposition) == ["bottom left", "bottom right", "top left", "top right"]
    assert marks.marker.line.color == choose_palette("light").surface


def test_cells_keep_the_colours_that_the_final_centres_give_them() -> None:
    rng = np.random.default_rng(5)
    final, early = rng.uniform(-1, 1, (12, 2)), rng.uniform(-1, 1, (12, 2))
    colors = [
        list(trace(draw(step(centers), view=VIEW, final=final), "centres").marker.color) for centers in (early, final)
    ]
    assert colors[0] == colors[1] and len(set(colors[0])) == 4
    assert choose_palette("light").revealed not in colors[0]


def test_earlier_draws_lie_under_the_last_step_only() -> None:
    first, last = step(CORNERS), step(CORNERS + 0.01)
    more = {"view": VIEW, "ghosts": (CORNERS + 0.1, CORNERS - 0.1), "steps": (first, last), "final": CORNERS}
    ghosts = trace(draw(last, **more), "earlier draws")
    np.testing.assert_allclose(np.column_stack([ghosts.x, ghosts.y])[:4], VIEW.plane(CORNERS + 0.1), rtol=1e-5)
    assert len(ghosts.x) == 8 and not [t for t in draw(first, **more).data if t.name == "earlier draws"]


def test_the_way_to_a_neighbour_is_told_of_every_centre_the_farthest_first() -> None:
    moved = CORNERS + np.array([[0.1, 0], [0, 0.4], [0, 0], [0, -0.2]])
    figure = draw(partial(draw_seed_distances, step(moved), CORNERS), view=VIEW)
    (bars,) = [t for t in figure.data if t.type == "bar"]
    np.testing.assert_allclose(bars.x, [40, 20, 10, 0], atol=1e-4)
    assert list(figure.layout.yaxis.ticktext) == ["2", "4", "1", "3"] and bars.meta == "revealed"
    assert any(shape.x0 == 50 for shape in figure.layout.shapes)
    assert title_of(figure) == "Farthest off: centre 2, 40 % of the way"
    low, high = np.asarray(bars.customdata)[0].reshape(2, 2)
    inside = VIEW.plane(np.stack([moved[1], CORNERS[1]]))
    assert (inside > low).all() and (inside < high).all()


def test_sizes_stand_with_their_noise() -> None:
    counts = np.array([5.0, 500.0, 50.0, -3.0])
    figure = draw(partial(draw_sizes, step(CORNERS, noisy_counts=counts, count_noise_sd=4.0)), view=VIEW)
    (bars,) = figure.data
    assert list(bars.x) == [500, 50, 5, 0] and list(bars.error_x.array) == pytest.approx([7.0028] * 4)
    assert list(figure.layout.yaxis.ticktext) == ["2", "3", "1", "4"]
    assert title_of(figure) == "From 0 ± 7 to 500 ± 7 rows"
    # Its last step says what the whole run says.
    whole = Sizes(np.array([10.0, 480.0, 60.0, 1.0]), np.array([1.0, 2.0, 3.0, 4.0]))
    made = replace(make_bare_profile(VIEW.domain, VIEW.domain.from_unit(CORNERS)), sizes=whole)
    figure = draw(partial(draw_sizes, step(CORNERS, noisy_counts=counts, count_noise_sd=4.0)), view=VIEW, profile=made)
    assert list(figure.data[0].x) == [480, 60, 10, 1] and title_of(figure) == "From 1 ± 7 to 480 ± 3.5 rows"


def test_where_nobody_knows_the_number_of_clusters_the_title_tells_the_loss_and_nothing_is_paired() -> None:
    figure = draw(step(CORNERS + 0.2), view=VIEW, reference=REFERENCE, ratio=lambda _: 1.046, epsilon=2.0)
    assert title_of(figure) == "At ε = 2, the loss is 1.05× that of k-means++"
    assert not [t for t in figure.data if t.name == "displacement"]


def test_the_halo_is_nine_in_ten_of_the_noise_wide_in_data_units() -> None:
    sd = np.full(4, 0.08)
    figure = draw(step(CORNERS, noisy_counts=np.ones(4), center_noise_sd=sd), view=VIEW)
    halo = trace(figure, "noise ±")
    first = np.column_stack([halo.x, halo.y])[:48]
    np.testing.assert_allclose(np.ptp(first, axis=0), 2 * NINE_IN_TEN * 0.08 * np.array([50, 5]), rtol=0.01)


def test_cells_are_drawn_only_where_the_plane_shows_every_axis() -> None:
    wide = Domain.of(["x", "y", "z"], 0, 1)
    centers = np.random.default_rng(0).uniform(-1, 1, (4, 3))
    figure = draw(step(centers), view=make_view(wide))
    assert [t.name for t in figure.data if t.name] == ["centres"] and len(figure.data) == 1
    subtitle = subtitle_of(figure)
    assert "2 of 3 columns" in subtitle and "cells not drawn" in subtitle
    assert len(draw(step(CORNERS), view=VIEW).data) > 1


def test_centres_outside_the_picture_are_counted() -> None:
    ball = Domain.of([f"c{j}" for j in range(64)], -1.0, 1.0, radius=1.0, scaling="common")
    centers = np.zeros((2, 64))
    centers[0, 0] = 0.95
    figure = draw(step(centers), view=make_view(ball, (0, 1)))
    assert "one centre outside the picture" in subtitle_of(figure)


def test_one_centre_and_a_reference_of_another_size_are_no_trouble() -> None:
    lone = draw(step(CORNERS[:1]), view=VIEW, reference=Reference(CORNERS[1:2], 0.1, 1))
    assert "lies 50 % of the width from k-means++" in title_of(lone)
    other = draw(step(CORNERS[:3]), view=VIEW, reference=REFERENCE)
    assert not [t for t in other.data if t.name == "displacement"]


@pytest.mark.parametrize("k", [2, 100, 101])
def test_marks_shrink_with_their_number_and_a_crowd_is_numbered_on_hover_only(k: int) -> None:
    centers = np.random.default_rng(0).uniform(-1, 1, (k, 2))
    figure = draw(step(centers, noisy_counts=np.arange(k, dtype=float)), view=VIEW)
    marks = trace(figure, "centres")
    # Even side by side, all of them fill less than half of a phone's square of 250 pixels.
    assert k * marks.marker.size**2 < 250**2 / 2
    crowd = k > 100
    assert (marks.mode == "markers") == crowd
    assert ("numbers on hover" in subtitle_of(figure)) == crowd
    assert all(f"centre {i + 1}</b>" in hover for i, hover in enumerate(marks.customdata))


@pytest.mark.parametrize("k", [5, 100])
def test_numbers_cover_neither_marks_nor_each_other(k: int) -> None:
    centers = np.random.default_rng(1).normal(0, 0.2, (k, 2)).clip(-1, 1)
    marks = trace(draw(step(centers), view=VIEW), "centres")
    font, size = marks.textfont.size, marks.marker.size
    low, high = np.array(VIEW.range).T
    at = (np.column_stack([marks.x, marks.y]) - low) / (high - low) * 420
    boxes = [np.r_[place - size / 2, place + size / 2] for place in at]
    for place, text, side in zip(at, marks.text, marks.textposition, strict=True):
        if text:
            toward = np.array([("right" in side) - ("left" in side), ("top" in side) - ("bottom" in side)])
            half = np.array([0.6 * font * len(text), font]) / 2
            middle = place + toward * (size / 1.6 + 1 + half)
            boxes.append(np.r_[middle - half, middle + half])
    for i in range(k, len(boxes)):
        others = np.array(boxes[:i] + boxes[i + 1 :])
        assert not ((others[:, :2] < boxes[i][2:]) & (others[:, 2:] > boxes[i][:2])).all(axis=1).any()
    assert sum(bool(text) for text in marks.text) >= (k if k <= 5 else 0.3 * k)


def test_a_missed_cluster_makes_one_long_arrow_and_no_chain() -> None:
    theirs = np.column_stack([np.linspace(-0.9, 0.9, 7), np.zeros(7)])
    # Six are where they belong; the first cluster is missed, and its centre stands beyond the last.
    mine = np.vstack([theirs[1:], [[0.95, 0.1]]])
    partners = find_partners(mine, theirs)
    np.testing.assert_allclose(partners[:6], theirs[1:])
    np.testing.assert_allclose(partners[6], theirs[0])
