"""Profiles: every dot where its coordinate lies, hollow within its noise, inside its lane, none over another."""

from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pytest

from dpviz.algorithms.size_estimates import Sizes
from dpviz.app.charts.pictures.segment_profiles import MOST_COLUMNS, ProfilePicture, draw_overview
from dpviz.runs.profiles import Profile, ProfileColumn, compute_honest_noise
from dpviz.words import choose_palette
from tests.app.charts.laws import has_finite_coordinates, shows_kinds
from tests.cases import about

SIZES = list(product((2, 7, 15), (3, 6, 60)))


def made_profile(k: int, dim: int, *, seed: int = 3, with_reference: bool = True) -> Profile:
    """Segments of a survey: some columns tell, others do not; small segments have much noise."""
    rng = np.random.default_rng(seed)
    telling = rng.random(dim) < 0.4
    true = np.clip(5 + rng.normal(0, 0.25, (k, dim)) + telling * rng.normal(0, 1.9, (k, dim)), 0, 10)
    sizes = Sizes(np.round(rng.dirichlet(np.full(k, 2.0)) * 40_000), np.full(k, 70.0))
    sd = (0.2 * sizes.rows.mean() / np.maximum(sizes.rows, 1))[:, None] * np.ones((1, dim))
    sd = compute_honest_noise(sd, sizes, np.full(dim, 10.0))
    centers = np.clip(true + rng.normal(0, 1, (k, dim)) * sd, 0, 10)
    columns = tuple(ProfileColumn(f"question {place + 1}", 0.0, 10.0, "pt") for place in range(dim))
    return Profile(columns, centers, sd, np.full(dim, 5.0), sizes, true if with_reference else None)


def _dots(figure):
    """The traces of released coordinates: what a pointer reads."""
    return [trace for trace in figure.data if trace.type == "scatter" and trace.hovertemplate]


@pytest.mark.parametrize(("k", "dim"), SIZES, ids=str)
def test_every_coordinate_has_a_dot_on_its_lane(k: int, dim: int) -> None:
    made = made_profile(k, dim)
    for narrow, theme in product((False, True), ("light", "dark")):
        picture, colors = ProfilePicture(made, narrow=narrow), choose_palette(theme)
        figure = picture.draw(colors).figure()
        shown = min(dim, MOST_COLUMNS[narrow])
        with about(narrow, theme):
            has_finite_coordinates(figure)
            shows_kinds(figure, colors, {"public", "released", "revealed"})
            dots = _dots(figure)
            assert sum(len(trace.x) for trace in dots) == k * shown
            assert all(min(trace.x) >= 0 for trace in dots) and len(picture.pages) == -(-dim // MOST_COLUMNS[narrow])
            assert figure.layout.height < 1_700 and len(figure.to_json()) < 300_000
    if dim > 12:
        assert np.asarray(draw_overview(picture, colors).figure().data[0].z).shape == (k, dim)


def test_the_note_counts_columns_not_the_lanes_that_categories_have() -> None:
    made = made_profile(7, 6)
    lanes = [one._replace(source="ward") if place < 3 else one for place, one in enumerate(made.columns)]
    told = made.telling
    expected = int(told[:3].any()) + int(told[3:].sum())
    assert told[:3].sum() > 1
    note = ProfilePicture(replace(made, columns=tuple(lanes))).note
    assert note.endswith(f"{expected} of 4 columns beyond the noise")


def test_discs_of_the_narrow_form_cover_none_of_each_other() -> None:
    figure = ProfilePicture(made_profile(15, 6), narrow=True).draw(choose_palette("light")).figure()
    for trace in _dots(figure):
        for (x, y), (a, b) in combinations(zip(trace.x, trace.y, strict=True), 2):
            assert abs(x - a) * 340 >= 17 or abs(y - b) >= 17


def test_a_dot_lies_where_its_value_is_and_is_hollow_within_its_noise() -> None:
    made, colors = made_profile(7, 6), choose_palette("light")
    (dots,) = _dots(ProfilePicture(made, columns="file", rows="number").draw(colors).figure())
    x = np.asarray(dots.x).reshape(7, 6)
    part = (made.centers - made.lower) / made.width
    for column in range(6):
        assert np.corrcoef(x[:, column], part[:, column])[0, 1] == pytest.approx(1.0)
    assert (x[:, :-1].max(axis=0) < x[:, 1:].min(axis=0)).all(), "lanes cover each other"
    hollow = np.array([color == colors.surface for color in dots.marker.color]).reshape(7, 6)
    assert (hollow == made.in_noise).all() and hollow.any() and not hollow.all()


def test_the_line_of_all_rows_passes_through_no_value_and_icons_through_no_name() -> None:
    made, colors = made_profile(5, 6), choose_palette("light")
    plain, roomy = (ProfilePicture(made, room=room).draw(colors).figure() for room in (0, 28))
    (line,) = (trace for trace in plain.data if trace.line.dash == "dot")
    (values,) = (trace for trace in plain.data if trace.mode == "text" and len(trace.x) == 30)
    pixels = (plain.layout.height - plain.layout.margin.t - plain.layout.margin.b) / 5
    ups = np.array(line.y, dtype=float).reshape(-1, 3)[:, :2]
    for bottom in values.y:
        assert not ((ups[:, 0] < bottom) & (ups[:, 1] > bottom - values.textfont.size / pixels)).any()
    without = ProfilePicture(replace(made, reference=None)).draw(colors).figure()
    with_room = ProfilePicture(replace(made, reference=None), room=28).draw(colors).figure()
    assert roomy.layout.margin.t == plain.layout.margin.t, "where rows are marked there is room"
    assert with_room.layout.margin.t == without.layout.margin.t + 28


def test_names_from_outside_stay_names() -> None:
    made = made_profile(2, 3)
    columns = (ProfileColumn("<b>%{x}</b>", 0.0, 10.0, "<i>"), *made.columns[1:])
    for narrow in (False, True):
        text = (
            ProfilePicture(replace(made, columns=columns), narrow=narrow)
            .draw(choose_palette("light"))
            .figure()
            .to_json()
        )
        assert "<b>%{x}" not in text and "<i>" not in text


@pytest.mark.parametrize("narrow", [False, True])
def test_noise_that_is_longer_than_a_dot_has_a_line_at_the_end_of_a_lane_as_in_its_middle(narrow: bool) -> None:
    made = replace(made_profile(2, 6, with_reference=False), center_sd=np.full((2, 6), 0.2 if narrow else 0.6))
    for at in (5.0, 0.0, 10.0):
        figure = ProfilePicture(replace(made, centers=np.full((2, 6), at)), narrow=narrow).draw(choose_palette("light"))
        strokes = [one for one in figure.figure().data if one.type == "scatter" and one.marker.symbol == "line-ns-open"]
        assert sum(len(one.x) for one in strokes) == 24, at
