import dataclasses
from functools import partial

import numpy as np
import pytest

from dpviz.algorithms.auto.polishing import PolishStep, SplitStep
from dpviz.app.charts.pictures.centers import draw_gains, draw_rounds
from dpviz.app.charts.registry import draw_picture
from dpviz.app.charts.view import make_view
from dpviz.core.domain import Domain
from dpviz.words.theme import choose_palette
from tests.app.charts.gallery import draw, exhibit, look, split_step, title_of
from tests.app.charts.laws import is_sound, shows_kinds

LIGHT = choose_palette("light")
DOMAIN = Domain.of(["x", "y"], [0, 0], [100, 10])


def polish(
    k: int = 4, *, clipping_radius: float = 0.2, moved: float = 0.05, sd: float = 0.01, dim: int = 2
) -> PolishStep:
    before = np.random.default_rng(0).uniform(-0.5, 0.5, (k, dim))
    return PolishStep(
        **{
            "title": "Round 1 of 3",
            "centers": before + moved / np.sqrt(dim),
            "previous": before,
            "clipping_radius": clipping_radius,
        },
        **{"noisy_counts": np.arange(k) + 5.0, "center_noise_sd": np.full(k, sd), "count_noise_sd": 1.0},
    )


def reach_of(figure) -> np.ndarray:
    (trace,) = [trace for trace in figure.data if trace.name and trace.name.startswith("clipping radius")]
    return np.column_stack([trace.x, trace.y])


def test_the_reach_is_an_ellipse_in_data_units_around_where_centres_were() -> None:
    step = polish()
    figure = draw(step, view=make_view(DOMAIN))
    is_sound(figure)
    first = reach_of(figure)[:48]
    np.testing.assert_allclose(np.ptp(first, axis=0), 2 * 0.2 * np.array([50, 5]), rtol=0.01)
    middle = DOMAIN.from_unit(step.previous)[0]
    np.testing.assert_allclose((first.min(axis=0) + first.max(axis=0)) / 2, middle, rtol=0.01)


def test_the_reach_keeps_its_radius_in_any_plane_one_column_has_stretches_and_a_crowd_one_circle() -> None:
    wide = Domain.of([f"c{j}" for j in range(6)], -1.0, 1.0)
    for view in (make_view(wide), make_view(wide, projection_seed=0)):
        first = reach_of(draw(polish(dim=6), view=view))[:48]
        np.testing.assert_allclose(np.ptp(first, axis=0), 0.4, rtol=0.01)
    line = Domain.of(["x"], 0.0, 10.0)
    stretch = reach_of(draw(polish(dim=1), view=make_view(line)))
    assert len(stretch) == 3 * 4 and stretch[1, 0] - stretch[0, 0] == pytest.approx(2 * 0.2 * 5)
    assert len(reach_of(draw(polish(64), view=make_view(DOMAIN)))) == 49
    assert len(reach_of(draw(polish(20), view=make_view(DOMAIN)))) == 20 * 49


def test_the_table_and_the_words_say_how_far_centres_moved() -> None:
    chart = draw_picture(polish(), look(make_view(DOMAIN)))
    table = chart.table()
    np.testing.assert_allclose(table["moved (unit coordinates)"], 0.05)
    assert (table["clipping radius (unit coordinates)"] == 0.2).all()
    assert "at most 0.2" in chart.words


def test_rounds_are_compared_with_their_noise() -> None:
    steps = [polish(clipping_radius=0.4, moved=0.3), polish(moved=0.01), polish(moved=0.0)]
    figure = draw(partial(draw_rounds, steps, 5))
    is_sound(figure)
    assert "no farther than its noise" in title_of(figure)
    lines = {trace.name: trace for trace in figure.data}
    np.testing.assert_allclose(lines["clipping radius"].y, [0.4, 0.2, 0.2])
    assert lines["move"].customdata[-1] == 0 and lines["move"].y[-1] < lines["move"].y[-2]
    assert figure.layout.xaxis.range[1] == 5.5
    early = draw(partial(draw_rounds, steps[:1], 5))
    assert "21.2 times its noise" in title_of(early)


@pytest.mark.parametrize("splits", [0, 1, 2])
def test_a_split_marks_what_was_split_and_what_gave_way(splits: int) -> None:
    shown = exhibit(2, 5, n=200)
    step = split_step(shown, splits=splits)
    figure = draw(step, view=make_view(shown.table.domain))
    is_sound(figure)
    shows_kinds(figure, LIGHT, {"released", "public"})
    marks = {trace.name: trace for trace in figure.data if trace.name in ("split", "gave way")}
    assert len(marks) == (2 if splits else 0)
    if splits:
        where = shown.table.domain.from_unit(step.previous[step.dropped])
        np.testing.assert_allclose(np.column_stack([marks["gave way"].x, marks["gave way"].y]), where, rtol=1e-5)
    heads = {0: "All five clusters stay whole", 1: "Cluster 1 is split", 2: "Two clusters are split"}
    assert title_of(figure).startswith(heads[splits])
    chart = draw_picture(step, look(make_view(shown.table.domain)))
    changes = chart.table()["change"].tolist()
    assert changes.count("split") == splits and len([c for c in changes if c.startswith("gave way")]) == splits
    assert chart.words.count("gave way") == splits


def test_gains_fall_costs_rise_zero_stands_on_the_floor_and_without_any_no_cluster_is_wide() -> None:
    step: SplitStep = split_step(exhibit(2, 5, n=200))
    figure = draw(partial(draw_gains, step))
    is_sound(figure)
    gains, costs = figure.data
    assert (np.diff(gains.y) <= 0).all() and (np.diff(costs.y) >= 0).all()
    assert gains.y[-1] > 0 == gains.customdata[-1]
    np.testing.assert_allclose(costs.customdata, np.sort(step.cost_of_each))
    assert [int(text) - 1 for text in gains.text] == np.argsort(-step.gain_of_each).tolist()
    none = {name: np.array([], dtype=int) for name in ("split", "dropped", "gains", "costs")}
    flat = dataclasses.replace(step, gain_of_each=np.zeros(5), **none)
    figure = draw(partial(draw_gains, flat))
    is_sound(figure)
    assert "nothing is split" in title_of(figure)
