"""Three columns that turn: which steps do, what is drawn of them, and that no row is unless it is revealed."""

from __future__ import annotations

import numpy as np
import pytest

from dpviz.app.charts.canvas import RevealedView
from dpviz.app.charts.picture import RenderContext
from dpviz.app.charts.pictures.space import describe_space, draw_space, list_turning_places
from dpviz.app.charts.view import make_view
from dpviz.core.domain import Domain
from dpviz.core.private_session import PrivateTable
from dpviz.runs.evaluation import Reference
from dpviz.runs.one_run import run
from dpviz.words.theme import choose_palette

LIGHT = choose_palette("light")


def table(dim=3, n=2_000):
    rng = np.random.default_rng(0)
    middles = np.array([[20.0] * dim, [80.0] * dim])
    rows = middles[np.arange(n) % 2] + rng.normal(0, 4, (n, dim))
    return PrivateTable(rows, Domain.of([f"x{j}" for j in range(dim)], 0.0, 100.0), n_public=n)


@pytest.fixture(scope="module")
def done():
    return run("balcan", table(), k=2, epsilon=5.0, seed=0)


def context(done, **more):
    return RenderContext(make_view(done.domain), LIGHT, **more).with_steps_of(done)


def test_trees_candidates_and_centres_of_three_columns_turn(done):
    steps = [frame.step for frame in done.frames]
    kinds = {type(steps[place]).__name__ for place in list_turning_places(steps, done.domain)}
    assert kinds == {"TreeStep", "CandidatesStep", "CentersStep"}
    for dim in (2, 4):
        other = run("dplloyd", table(dim), k=2, epsilon=1.0, seed=0)
        assert list_turning_places([frame.step for frame in other.frames], other.domain) == []


def test_each_step_is_drawn_in_the_columns_own_units_and_without_rows(done):
    steps = [frame.step for frame in done.frames]
    for place in list_turning_places(steps, done.domain):
        drawn, kind = draw_space(steps[place], context(done)), type(steps[place]).__name__
        figure = drawn.plot.figure()
        assert figure.layout.scene.xaxis.title.text == "x0" and drawn.title
        assert figure.layout.scene.zaxis.range == pytest.approx((0.0, 100.0)), "the declared bounds, at every step"
        assert not any("revealed" in trace.name for trace in figure.data)
        for trace in figure.data:
            values = np.array([trace.x, trace.y, trace.z], float)
            values = values[np.isfinite(values)]
            assert values.min() >= -1e-6 and values.max() <= 100 + 1e-6, kind
        if kind == "TreeStep" and steps[place].tree.depth > 0:
            awake = len(steps[place].tree.corners(steps[place].tree.depth))
            # Twelve edges a cube, each two ends and a gap.
            assert len(figure.data[-1].x) == 36 * min(awake, 600) and f"{awake:,} cubes" in figure.data[-1].name
        if kind == "CentersStep":
            assert list(figure.data[-1].text) == ["1", "2"]


def test_revealed_rows_and_k_means_are_named_as_what_they_are(done):
    rows = np.random.default_rng(1).uniform(-1, 1, (9_000, 3))
    reference = Reference(np.zeros((2, 3)), 0.1, 1)
    shown = context(done, reveal=RevealedView.of(rows, "test"), reference=reference)
    figure = draw_space(done.frames[-1].step, shown).plot.figure()
    named = {trace.name: trace for trace in figure.data if "revealed" in trace.name}
    assert set(named) == {"2,500 rows (revealed)", "k-means++ (revealed)"}
    assert all(trace.marker.color == LIGHT.revealed for trace in named.values())
    assert "In three dimensions" in describe_space(done.frames[-1].step, shown)
