"""What a picture draws stands where its numbers say; that it is drawn as it was, `test_special.py` sees."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpviz.algorithms import GridStep
from dpviz.app.charts.canvas import RevealedView
from dpviz.app.charts.picture import RenderContext
from dpviz.app.charts.pictures import tree
from dpviz.app.charts.pictures.centers import find_partners
from dpviz.app.charts.pictures.grids import draw_true_counts
from dpviz.app.charts.pictures.space import describe_space, draw_space, list_turning_places
from dpviz.app.charts.view import make_view
from dpviz.core import Domain, PrivateTable
from dpviz.core.partitions import Grid
from dpviz.runs import run
from dpviz.runs.evaluation import Reference
from dpviz.words import choose_palette
from tests.app.charts.gallery import draw, look
from tests.app.charts.pictures.special import dense, domain, grown

LIGHT = choose_palette("light")


def test_a_missed_cluster_makes_one_long_arrow_and_no_chain() -> None:
    theirs = np.column_stack([np.linspace(-0.9, 0.9, 7), np.zeros(7)])
    # Six are where they belong; the first cluster is missed, and its centre stands beyond the last.
    partners = find_partners(np.vstack([theirs[1:], [[0.95, 0.1]]]), theirs)
    np.testing.assert_allclose(partners, np.vstack([theirs[1:], theirs[:1]]))


def test_cells_stand_where_their_rows_are_and_true_counts_are_those_of_the_rows() -> None:
    grid = Grid.over(domain(2).region, 10)
    code = int(grid.assign(domain(2).to_unit(np.array([[9.5, 0.5]])))[0])
    counts = np.where(np.arange(100) == code, 7.0, 0.0)
    step = GridStep(title="grid", grid=grid, codes=np.arange(100), noisy_counts=counts, sd=1.0)
    drawn = draw(step, view=make_view(domain(2))).data[0]
    row, column = np.unravel_index(np.argmax(drawn.customdata), drawn.customdata.shape)
    assert [*drawn.x[column : column + 2], *drawn.y[row : row + 2]] == pytest.approx([9, 10, 0, 1])
    rows, step = np.random.default_rng(1).uniform(-1, 1, (500, 2)), dense(2, 8)
    (true,) = draw_true_counts(step, rows, look(make_view(domain(2)))).draw().plot.figure().data
    np.testing.assert_array_equal(true.customdata, np.bincount(step.grid.assign(rows), minlength=64).reshape(8, 8).T)


@given(seed=st.integers(0, 10**6))
def test_each_cube_holds_the_rows_that_lie_in_it(seed: int) -> None:
    of, rows = grown(2, 3, seed), np.random.default_rng(seed).uniform(-1, 1, (40, 2))
    held = tree.assign_rows(of, rows)
    for level in range(4):
        low = of.corners(level)
        inside = ((rows[:, None] >= low) & (rows[:, None] < low + of.edge(level))).all(axis=2).sum(axis=0)
        np.testing.assert_array_equal(held[level], inside)


def test_trees_candidates_and_centres_of_three_columns_turn_in_their_own_units_and_rows_are_named_revealed() -> None:
    rows = np.where(np.arange(2_000)[:, None] % 2, 80.0, 20.0) + np.random.default_rng(0).normal(0, 4, (2_000, 3))
    two_groups = PrivateTable(rows, Domain.of(["x0", "x1", "x2"], 0.0, 100.0), n_public=2_000)
    done = run("balcan", two_groups, k=2, epsilon=5.0, seed=0)
    steps = [frame.step for frame in done.frames]
    context = RenderContext(make_view(done.domain), LIGHT).with_steps_of(done)
    places = list_turning_places(steps, done.domain)
    assert {type(steps[place]).__name__ for place in places} == {"TreeStep", "CandidatesStep", "CentersStep"}
    for place in places:
        drawn, kind = draw_space(steps[place], context), type(steps[place]).__name__
        figure = drawn.plot.figure()
        assert figure.layout.scene.xaxis.title.text == "x0" and drawn.title
        assert figure.layout.scene.zaxis.range == pytest.approx((0.0, 100.0)), "the declared bounds, at every step"
        assert not any("revealed" in trace.name for trace in figure.data)
        values = np.concatenate([np.ravel([trace.x, trace.y, trace.z]).astype(float) for trace in figure.data])
        assert np.nanmin(values) >= -1e-6 and np.nanmax(values) <= 100 + 1e-6, kind
        if kind == "CentersStep":
            assert list(figure.data[-1].text) == ["1", "2"]
    reveal = RevealedView.of(np.random.default_rng(1).uniform(-1, 1, (9_000, 3)), "test")
    shown = replace(context, reveal=reveal, reference=Reference(np.zeros((2, 3)), 0.1, 1))
    figure = draw_space(steps[-1], shown).plot.figure()
    named = {trace.name: trace for trace in figure.data if "revealed" in trace.name}
    assert set(named) == {"2,500 rows (revealed)", "k-means++ (revealed)"}
    assert all(trace.marker.color == LIGHT.revealed for trace in named.values())
    assert "In three dimensions" in describe_space(steps[-1], shown)
