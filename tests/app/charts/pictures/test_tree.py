from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from dpviz.algorithms.balcan2017.balcan import TreeStep
from dpviz.app.charts.canvas import RevealedView
from dpviz.app.charts.pictures.tree import (
    assign_rows,
    compute_activation,
    count_levels,
    draw_activation,
    draw_diagram,
    expect_empty,
    find_asleep_boxes,
    find_band_spans,
    find_drawn_boxes,
)
from dpviz.app.charts.registry import draw_picture
from dpviz.app.charts.view import make_view
from dpviz.core.domain import Domain, Region
from dpviz.core.partitions import CubeTree
from tests.app.charts.gallery import draw, look, title_of
from tests.app.charts.laws import is_sound


def grown(dim: int, depth: int, seed: int, share: float = 0.5) -> CubeTree:
    """A tree in which every child wakes up with probability ``share``."""
    rng = np.random.default_rng(seed)
    tree = CubeTree(np.full(dim, -2.0), 4.0)
    for _ in range(depth):
        tree = tree.with_level(np.flatnonzero(rng.random(tree.n_cells) < share).astype(np.int64))
    return tree


def step_of(tree: CubeTree, *, noise: str = "laplace", scale: float = 4.0, threshold: float = 30.0) -> TreeStep:
    region = Region.ball(tree.dim, 4.0)
    return TreeStep(
        **{"title": "a level", "tree": tree, "region": region, "threshold": threshold},
        **{"noise_name": noise, "noise_scale": scale, "shift": 1},
    )


@given(seed=st.integers(0, 10**6), dim=st.integers(1, 3), depth=st.integers(1, 4))
def test_children_hang_below_their_parent_side_by_side(seed: int, dim: int, depth: int) -> None:
    tree = grown(dim, depth, seed)
    starts, ends = zip(*find_band_spans(tree), strict=True)
    for level in range(1, depth + 1):
        parent = tree.parents(level)
        assert (starts[level] >= starts[level - 1][parent] - 1e-12).all()
        assert (ends[level] <= ends[level - 1][parent] + 1e-12).all()
        assert (starts[level][1:] >= ends[level][:-1] - 1e-12).all()
    assert starts[0][0] == 0 and ends[0][0] == pytest.approx(1)


def test_a_level_of_the_diagram_says_how_many_cubes_it_has() -> None:
    tree = grown(2, 3, seed=4)
    figure = draw(partial(draw_diagram, step_of(tree), []))
    is_sound(figure)
    for size, text in zip(count_levels(tree), figure.layout.yaxis.ticktext, strict=True):
        assert f"{size} cube" in text
    assert draw_picture(step_of(tree), look()).table()["cubes active"].tolist() == count_levels(tree)


def test_a_tree_that_has_died_out_is_drawn_to_its_end() -> None:
    nothing = np.zeros(0, dtype=np.int64)
    tree = grown(2, 2, seed=1).with_level(nothing).with_level(nothing)
    step = step_of(tree)
    is_sound(draw(step))
    assert "ends at level 2" in title_of(draw(partial(draw_diagram, step, [])))
    assert "asks no cube" in title_of(draw(step))


def test_twenty_thousand_cubes_stay_light() -> None:
    tree = grown(8, 2, seed=0, share=0.55)
    assert tree.n_active > 15_000
    step = step_of(tree)
    domain = Domain.of([f"c{j}" for j in range(8)], -1, 1)
    is_sound(draw(step, view=make_view(domain)))
    is_sound(draw(partial(draw_diagram, step, []), view=make_view(domain)))


@given(seed=st.integers(0, 10**6))
def test_each_cube_holds_the_rows_that_lie_in_it(seed: int) -> None:
    rng = np.random.default_rng(seed)
    tree, rows = grown(2, 3, seed), rng.uniform(-1, 1, (40, 2))
    held = assign_rows(tree, rows)
    for level in range(4):
        low = tree.corners(level)
        inside = ((rows[:, None] >= low) & (rows[:, None] < low + tree.edge(level))).all(axis=2).sum(axis=0)
        np.testing.assert_array_equal(held[level], inside)


@given(seed=st.integers(0, 10**6), dim=st.integers(1, 3))
def test_awake_and_asleep_cubes_are_all_that_were_asked(seed: int, dim: int) -> None:
    tree, view = grown(dim, 2, seed, share=0.6), make_view(Domain.of([f"c{j}" for j in range(dim)], -1, 1))
    tree = CubeTree(tree.origin / 2, 2.0, tree.levels)
    shown = min(dim, 2)
    parents = np.unique(tree.corners(1)[:, :shown], axis=0)
    awake, asleep = (
        {tuple(place) for place in found.low.round(6).tolist()}
        for found in (find_drawn_boxes(tree, 2, view), find_asleep_boxes(tree, view))
    )
    assert not awake & asleep and len(awake | asleep) == len(parents) << shown


def test_cubes_end_where_the_domain_ends_and_only_the_last_three_levels_are_veiled() -> None:
    step, view = step_of(grown(2, 6, seed=3, share=0.8)), make_view(Domain.of(["a", "b"], -1, 1))
    figure = draw(step, view=view)
    for trace in figure.data:
        for axis in (trace.x, trace.y):
            drawn = np.asarray(axis, dtype=float)
            assert np.nanmin(drawn) >= -1 and np.nanmax(drawn) <= 1
    nest = [trace for trace in figure.data if trace.fillpattern.shape is None]
    assert [trace.fill for trace in nest[-3:]] == ["toself"] * 3
    assert all(trace.fill is None for trace in nest[:-3])
    strengths = [float(trace.fillcolor.rsplit(",", 1)[1][:-1]) for trace in nest[-3:]]
    assert strengths == [0.07, 0.13, 0.34]
    assert nest[-1].line.width == 1.8 and all(trace.line.width < 1 for trace in nest[:-1])


def test_each_bar_knows_its_cube_and_tells_of_it_in_one_line() -> None:
    whole = grown(2, 4, seed=5, share=0.6)
    steps = [step_of(CubeTree(whole.origin, whole.side, whole.levels[:depth])) for depth in range(1, 5)]
    view = make_view(Domain.of(["a", "b"], -2, 2))
    figure = draw(partial(draw_diagram, steps[1], steps), view=view)
    (bars,) = [trace for trace in figure.data if trace.uid == "linked"]
    boxes = np.asarray(bars.customdata, dtype=float)
    sizes = count_levels(steps[1].tree)
    expected = np.concatenate([np.column_stack(find_drawn_boxes(steps[1].tree, level, view)) for level in range(3)])
    np.testing.assert_allclose(boxes[: sum(sizes)], expected, rtol=1e-6)
    asleep = len(bars.text) - sum(sizes)
    assert asleep == 4 * sizes[1] - sizes[2]
    assert set(bars.text[sum(sizes) :]) == {"level 2 stayed asleep: noisy count at most 30 rows"}
    assert bars.text[sum(sizes) - 1] == "level 2 woke up: noisy count over 30 rows"
    assert not np.asarray(bars.width)[sum(sizes) :].any()
    # The session of the whole tree is kept, and a bar stays where it is.
    assert figure.layout.yaxis.range == draw(partial(draw_diagram, steps[3], steps), view=view).layout.yaxis.range
    later = draw(partial(draw_diagram, steps[3], steps), view=view).data[0]
    np.testing.assert_allclose(np.asarray(later.x)[: sum(sizes)], np.asarray(bars.x)[: sum(sizes)])
    rows = np.zeros((7, 2))
    told = draw(partial(draw_diagram, steps[1], steps), view=view, reveal=RevealedView.of(rows, "look")).data[0].text
    assert told[0].endswith("truly 7 (revealed)")


def test_the_cubes_of_todays_centres_are_marked() -> None:
    step = step_of(grown(2, 3, seed=6))
    view, centers = make_view(Domain.of(["a", "b"], -4, 4)), step.tree.centers(3)[[0, 2]]
    figure = draw(partial(draw_diagram, step, [step], marked=centers), view=view)
    marked = np.flatnonzero(figure.data[0].marker.color)
    before = sum(count_levels(step.tree)[:3])
    assert marked.tolist() == [before, before + 2]
    assert "Two cubes of" in title_of(figure)


def test_empty_cubes_look_like_all_others_until_the_owner_looks() -> None:
    tree = grown(2, 3, seed=2)
    rows = np.repeat(tree.centers(3)[[np.abs(tree.centers(3)).max(axis=1).argmin()]], 5, axis=0)
    step, view = step_of(tree), make_view(Domain.of(["a", "b"], -1, 1))
    assert all(trace.meta == "released" for trace in draw(step, view=view).data)
    *_, marked, count = draw(step, view=view, reveal=RevealedView.of(rows, "look")).data
    assert marked.meta == "revealed" and len(marked.x) == tree.n_active - 1
    assert count.meta == "revealed" and count.text == ("5",)
    subsample = draw(step, view=view, reveal=RevealedView(rows, "look"))
    assert not any("awake" in (trace.name or "") and "empty" in trace.name for trace in subsample.data)


@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
def test_activation_is_the_probability_of_the_noisy_decision(noise: str) -> None:
    step = step_of(grown(2, 1, 0), noise=noise)
    law = stats.laplace(scale=4.0) if noise == "laplace" else stats.norm(scale=4.0)
    rows = np.array([20.0, 30.0, 36.0])
    np.testing.assert_allclose(compute_activation(step, rows), law.sf(30 - rows), rtol=1e-6)
    curve = draw(partial(draw_activation, step))
    is_sound(curve)
    assert curve.data[0].y[np.abs(curve.data[0].x - 30).argmin()] == pytest.approx(0.5, abs=0.05)


def test_the_title_names_what_wakes_a_cube_nine_times_in_ten_and_empty_cubes_are_expected_of_all_asked() -> None:
    # Pr[30 + m + Lap(4) > 30] = 0.9 at m = 4 ln 5 = 6.44.
    assert "about 37 rows" in title_of(draw(partial(draw_activation, step_of(grown(2, 1, 0)))))
    assert expect_empty(step_of(grown(3, 1, 0))) == pytest.approx(8 * np.exp(-30 / 4) / 2)
