"""The tree of hashes and its coreset as pictures."""

from __future__ import annotations

import numpy as np
import pytest

from dpviz.algorithms.hashes.lsh_coreset import CoresetStep, CountedTree, HashTreeStep
from dpviz.app.charts.canvas import RevealedView
from dpviz.app.charts.pictures.prefixes import place_nodes
from dpviz.app.charts.registry import draw_picture
from dpviz.app.charts.view import make_view
from dpviz.core.domain import Domain
from dpviz.core.partitions import HashCodes
from dpviz.core.queries import SparseCounts
from tests.app.charts.gallery import draw, look, title_of
from tests.app.charts.laws import is_sound


def step_of(counts: dict[int, float], *, n: float = 100.0, min_node: float = 10.0) -> HashTreeStep:
    released = SparseCounts(np.array(sorted(counts)), np.array([counts[node] for node in sorted(counts)]), 32)
    return HashTreeStep(
        title="a tree",
        hashes=HashCodes(np.random.default_rng(0).normal(size=(4, 2)), np.zeros(4)),
        tree=CountedTree.of(released, n=n, min_node=min_node),
        **{"min_node": min_node, "min_branch": 30.0, "count_sd": 4.0, "noise_name": "gaussian"},
    )


SMALL = {2: 62.0, 3: 35.0, 4: 58.0, 5: -3.0, 6: 20.0, 7: 14.0, 8: 28.0, 9: 29.0}


def test_parents_stand_above_the_middle_of_their_children() -> None:
    step = step_of(SMALL)
    place = dict(zip(step.tree.nodes.tolist(), place_nodes(step).tolist(), strict=True))
    for node, (x, y) in place.items():
        if 2 * node in place:
            assert x == pytest.approx((place[2 * node][0] + place[2 * node + 1][0]) / 2)
            assert place[2 * node][1] == y - 1
    ends = [place[node][0] for node in (8, 9, 5, 6, 7)]
    np.testing.assert_allclose(ends, [0.1, 0.3, 0.5, 0.7, 0.9])


def test_marks_tell_leaves_from_dropped_nodes_and_their_area_is_the_count() -> None:
    step = step_of(SMALL)
    figure = draw(step)
    is_sound(figure)
    traces = {trace.name: trace for trace in figure.data if trace.name}
    assert len(traces["leaves"].x) == 4 and len(traces["dropped"].x) == 1 and len(traces["inner nodes"].x) == 4
    assert traces["inner nodes"].marker.size[0] == max(max(trace.marker.size) for trace in traces.values())
    assert title_of(figure) == "4 leaves hold 91 % of the rows, by noisy counts"
    table = draw_picture(step, look()).table()
    assert table.loc[table["leaf"], "prefix"].tolist() == ["10", "11", "000", "001"]


def test_true_counts_are_drawn_for_the_owner_only() -> None:
    step = step_of(SMALL)
    rows = np.random.default_rng(1).uniform(-1, 1, (100, 2))
    assert all(trace.meta == "released" for trace in draw(step).data)
    shown = draw(step, reveal=RevealedView.of(rows, "test"))
    (truth,) = [trace for trace in shown.data if trace.meta == "revealed"]
    true_counts = dict(zip(step.tree.nodes.tolist(), truth.customdata, strict=True))
    assert true_counts[1] == 100 and true_counts[2] + true_counts[3] == 100
    assert true_counts[2] == (rows @ step.hashes.planes[0] >= 0).sum()


def test_a_tree_of_twenty_levels_and_thousands_of_nodes_stays_light_and_an_empty_one_is_one_leaf() -> None:
    nodes, heavy = [], [1]
    for _ in range(20):
        asked = [2 * node + side for node in heavy for side in (0, 1)]
        nodes += asked
        heavy = asked[:: max(1, len(asked) // 150)]
    figure = draw(step_of(dict.fromkeys(nodes, 40.0)))
    is_sound(figure)
    assert len([text for text in figure.layout.yaxis.ticktext if text]) <= 12
    empty = draw(step_of({2: 1.0, 3: -2.0}))
    is_sound(empty)
    assert title_of(empty).startswith("1 leaf holds 100 %")


@pytest.mark.parametrize("dim", [1, 2])
def test_heavier_points_are_larger(dim: int) -> None:
    rng = np.random.default_rng(0)
    weights = np.array([10.0, 400.0, 0.0, 90.0])
    step = CoresetStep(
        title="a coreset", points=rng.uniform(-1, 1, (4, dim)), weights=weights, point_noise_sd=np.full(4, 0.05)
    )
    figure = draw(step, view=make_view(Domain.of(["a", "b"][:dim], 0, 1)))
    is_sound(figure)
    bubbles = figure.data[-1]
    # Heavy ones first, so that light ones lie on top.
    assert (np.diff(bubbles.marker.size) < 0).all()
    assert "weight: 400" in bubbles.customdata[0]
    assert title_of(figure) == "Four points for all rows, with noise of 2.5 % of the width"
