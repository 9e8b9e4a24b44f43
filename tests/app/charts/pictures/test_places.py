"""What a picture draws stands where its numbers say; that it is drawn as it was, `test_special.py` sees."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpviz.algorithms import GridStep
from dpviz.app.charts.canvas import RevealedView
from dpviz.app.charts.picture import RenderContext
from dpviz.app.charts.pictures import tree
from dpviz.app.charts.pictures.blocks import RevealedTuples, draw_revealed_balls, draw_votes
from dpviz.app.charts.pictures.centers import find_partners
from dpviz.app.charts.pictures.grids import draw_true_counts
from dpviz.app.charts.pictures.space import describe_space, draw_space, list_turning_places
from dpviz.app.charts.view import make_view
from dpviz.core import Domain, PrivateTable, Region
from dpviz.core.partitions import CubeTree, Grid
from dpviz.core.tuples import count_misfits
from dpviz.runs import run
from dpviz.runs.evaluation import Reference
from dpviz.words import choose_palette
from tests.app.charts.gallery import draw, exhibit, look, title_of, tuple_test_step
from tests.app.charts.pictures.special import OBLONG, PREFIXES, centred, dense, domain, grown, hashed
from tests.cases import for_each
from tests.core.tuple_checks import tight_tuples

LIGHT = choose_palette("light")


@for_each("k", [5, 100])
def test_numbers_of_centres_cover_neither_marks_nor_each_other(k: int) -> None:
    view, centers = make_view(OBLONG), np.random.default_rng(1).normal(0, 0.2, (k, 2)).clip(-1, 1)
    (marks,) = [trace for trace in draw(centred(centers), view=view).data if trace.name == "centres"]
    font, size = marks.textfont.size, marks.marker.size
    # Even side by side, all of them fill less than half of a phone's square of 250 pixels.
    assert k * size**2 < 250**2 / 2
    low, high = np.array(view.range).T
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


def test_true_counts_of_prefixes_are_those_of_the_rows() -> None:
    step, rows = hashed(PREFIXES), np.random.default_rng(1).uniform(-1, 1, (100, 2))
    (truth,) = [trace for trace in draw(step, reveal=RevealedView.of(rows, "test")).data if trace.meta == "revealed"]
    counts = dict(zip(step.tree.nodes.tolist(), truth.customdata, strict=True))
    assert counts[1] == counts[2] + counts[3] == 100 and counts[2] == (rows @ step.hashes.planes[0] >= 0).sum()


@given(seed=st.integers(0, 10**6), dim=st.integers(1, 3), depth=st.integers(1, 4))
def test_children_hang_below_their_parent_side_by_side(seed: int, dim: int, depth: int) -> None:
    of = grown(dim, depth, seed)
    starts, ends = zip(*tree.find_band_spans(of), strict=True)
    for level in range(1, depth + 1):
        parent = of.parents(level)
        assert (starts[level] >= starts[level - 1][parent] - 1e-12).all()
        assert (ends[level] <= ends[level - 1][parent] + 1e-12).all()
        assert (starts[level][1:] >= ends[level][:-1] - 1e-12).all()
    assert starts[0][0] == 0 and ends[0][0] == pytest.approx(1)


@given(seed=st.integers(0, 10**6))
def test_each_cube_holds_the_rows_that_lie_in_it(seed: int) -> None:
    of, rows = grown(2, 3, seed), np.random.default_rng(seed).uniform(-1, 1, (40, 2))
    held = tree.assign_rows(of, rows)
    for level in range(4):
        low = of.corners(level)
        inside = ((rows[:, None] >= low) & (rows[:, None] < low + of.edge(level))).all(axis=2).sum(axis=0)
        np.testing.assert_array_equal(held[level], inside)


@given(seed=st.integers(0, 10**6), dim=st.integers(1, 3))
def test_awake_and_asleep_cubes_are_all_that_were_asked(seed: int, dim: int) -> None:
    of, view = grown(dim, 2, seed, share=0.6), make_view(domain(dim, -1, 1))
    of = CubeTree(of.origin / 2, 2.0, of.levels)
    shown = min(dim, 2)
    parents = np.unique(of.corners(1)[:, :shown], axis=0)
    awake, asleep = (
        {tuple(place) for place in low.round(6).tolist()}
        for low, _ in (tree.find_drawn_boxes(of, 2, view), tree.find_asleep_boxes(of, view))
    )
    assert not awake & asleep and len(awake | asleep) == len(parents) << shown


def test_given_tuples_are_shown_as_they_are_and_many_are_counted_by_a_part_of_them(monkeypatch) -> None:
    def reveal(number: int, misfits: int) -> tuple[RevealedTuples, np.ndarray, object]:
        given_step = replace(tuple_test_step(exhibit(2, 2, n=100)), given=True, number=number)
        points = tight_tuples(number, 2, dim=2, misfits=misfits).reshape(-1, 2)
        return RevealedTuples.of(given_step, points, Region(np.ones(2), 9.0)), points.reshape(-1, 2, 2), given_step

    revealed, tuples, step = reveal(80, 7)
    assert {one.tobytes() for one in revealed.tuples} == {one.tobytes() for one in tuples}
    assert revealed.unfit == count_misfits(revealed.one, tuples, step.far) == 7
    assert "another split" not in revealed.about[0] and "stays secret" in revealed.about[0]
    fitting = int((revealed.misfits <= step.misfit_limit).sum())
    assert title_of(draw(partial(draw_votes, step, revealed))).startswith(f"{fitting} of 9 tried tuples pass")
    assert "Seven tuples of 80" in title_of(draw(partial(draw_revealed_balls, step, revealed)))
    monkeypatch.setattr("dpviz.app.charts.pictures.blocks._MOST", 50)
    revealed, *_ = reveal(400, 80)
    assert len(revealed.tuples) == 50 and "50 of 400" in revealed.about[1] and 20 < revealed.unfit < 200


def two_groups(dim: int = 3, n: int = 2_000) -> PrivateTable:
    rows = np.where(np.arange(n)[:, None] % 2, 80.0, 20.0) + np.random.default_rng(0).normal(0, 4, (n, dim))
    return PrivateTable(rows, Domain.of([f"x{j}" for j in range(dim)], 0.0, 100.0), n_public=n)


def test_trees_candidates_and_centres_of_three_columns_turn_in_their_own_units_and_rows_are_named_revealed() -> None:
    done = run("balcan", two_groups(), k=2, epsilon=5.0, seed=0)
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
        if kind == "TreeStep" and steps[place].tree.depth > 0:
            awake = len(steps[place].tree.corners(steps[place].tree.depth))
            # Twelve edges a cube, each two ends and a gap.
            assert len(figure.data[-1].x) == 36 * min(awake, 600) and f"{awake:,} cubes" in figure.data[-1].name
        if kind == "CentersStep":
            assert list(figure.data[-1].text) == ["1", "2"]
    reveal = RevealedView.of(np.random.default_rng(1).uniform(-1, 1, (9_000, 3)), "test")
    shown = replace(context, reveal=reveal, reference=Reference(np.zeros((2, 3)), 0.1, 1))
    figure = draw_space(steps[-1], shown).plot.figure()
    named = {trace.name: trace for trace in figure.data if "revealed" in trace.name}
    assert set(named) == {"2,500 rows (revealed)", "k-means++ (revealed)"}
    assert all(trace.marker.color == LIGHT.revealed for trace in named.values())
    assert "In three dimensions" in describe_space(steps[-1], shown)


@for_each("dim", [2, 4])
def test_steps_of_more_or_fewer_columns_do_not_turn(dim: int) -> None:
    other = run("dplloyd", two_groups(dim), k=2, epsilon=1.0, seed=0)
    assert list_turning_places([frame.step for frame in other.frames], other.domain) == []
