"""Steps at which little happens still have a picture: one start, swaps that move nothing, coordinates within noise."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from dpviz.algorithms.balcan2017.balcan import SwapStep
from dpviz.algorithms.balcan2017.balcan_sparse import CoordinatesStep
from dpviz.algorithms.tools.solvers import StartsStep
from dpviz.app.charts.pictures.columns import round_up_range
from dpviz.app.charts.pictures.tree import draw_swap_trace
from dpviz.app.charts.view import make_view
from dpviz.core.domain import Domain, Region
from tests.app.charts.gallery import draw, title_of
from tests.app.charts.laws import is_sound

CENTERS = np.array([[0.1, 0.2], [-0.4, 0.0]])
IDLE = SwapStep(
    **{"title": "Swap", "candidates": CENTERS, "previous": CENTERS, "centers": CENTERS, "removed": 0, "added": 0},
    **{"region": Region.ball(2, 1.0), "frame": None},
)
MOVED = replace(IDLE, centers=CENTERS + np.array([[0.0, 0.3], [0.0, 0.0]]))


def test_swaps_that_move_nothing_are_marked_and_axes_stay_from_one_swap_to_the_next() -> None:
    every = [IDLE, MOVED, IDLE]
    drawn = [draw(partial(draw_swap_trace, every[:n], every)) for n in (1, 2, 3)]
    for figure in drawn:
        is_sound(figure)
        assert figure.layout.xaxis.range == drawn[-1].layout.xaxis.range
        assert figure.layout.yaxis.range == drawn[-1].layout.yaxis.range
    marks = [trace for trace in drawn[-1].data if trace.type == "scatter"]
    assert list(marks[0].x) == [1, 3] and list(marks[0].y) == [0, 0]
    assert drawn[-1].layout.yaxis.range[1] > 0.3
    still = draw(partial(draw_swap_trace, [IDLE], [IDLE, IDLE]))
    assert list(still.layout.yaxis.tickvals) == [0] and still.layout.xaxis.range[1] > 2


def test_starts_with_nothing_to_choose_from() -> None:
    for words, losses in {
        "One start on the synopsis: all": [1e-12],
        "One start": [2.0],
        "Two starts": [0.0, 0.0],
        "Two of three starts": [3.0, 3.0001, 9.0],
        "The best of three starts loses 50 % less": [3.0, 6.0, 9.0],
    }.items():
        figure = draw(StartsStep(title="starts", losses=np.array(losses), chosen=0, centers=CENTERS))
        is_sound(figure)
        assert title_of(figure).startswith(words)
        low, high = figure.layout.yaxis.range
        assert low < losses[0] < high


def coordinates_step(k: int, scale: float) -> CoordinatesStep:
    rng = np.random.default_rng(0)
    return CoordinatesStep(
        **{"title": "chosen", "coordinates": np.array([rng.choice(200, 8, replace=False) for _ in range(k)])},
        **{"noisy_means": scale * rng.normal(size=(k, 8)), "noise_sd": np.full(k, 0.1)},
        **{"noisy_counts": rng.uniform(10, 99, k), "nonzeros": 8},
    )


@pytest.mark.parametrize("k", [3, 30])
def test_clusters_stand_in_their_own_order_whatever_their_counts(k: int) -> None:
    domain = Domain.of([f"a column with a long name {j}" for j in range(200)], -1.0, 1.0)
    figure = draw(coordinates_step(k, 0.4), view=make_view(domain))
    is_sound(figure)
    shown = [int(name) for name in figure.layout.xaxis.ticktext]
    assert shown == sorted(shown) and len(shown) == min(k, 16)
    assert len(figure.layout.yaxis.ticktext) <= 20 and max(map(len, figure.layout.yaxis.ticktext)) <= 18
    (drawn,) = figure.data
    assert drawn.zmax == -drawn.zmin == round_up_range(float(np.nanmax(np.abs(drawn.z))))
    assert draw(coordinates_step(k, 0.0), view=make_view(domain)).data[0].zmax == 1.0, "all noise: blank"
