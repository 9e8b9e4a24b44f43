"""Where the nodes of trees of prefixes stand, and how many rows each holds."""

from __future__ import annotations

import numpy as np
import pytest

from dpviz.app.charts.canvas import RevealedView
from dpviz.app.charts.pictures.prefixes import place_nodes, place_server_nodes
from tests.app.charts.gallery import draw
from tests.app.charts.pictures.special import PREFIXES, SERVER, hashed


def test_parents_stand_above_the_middle_of_their_children() -> None:
    step = hashed(PREFIXES)
    place = dict(zip(step.tree.nodes.tolist(), place_nodes(step).tolist(), strict=True))
    for node, (x, y) in place.items():
        if 2 * node in place:
            assert x == pytest.approx((place[2 * node][0] + place[2 * node + 1][0]) / 2)
            assert place[2 * node][1] == y - 1
    ends = [place[node][0] for node in (8, 9, 5, 6, 7)]
    np.testing.assert_allclose(ends, [0.1, 0.3, 0.5, 0.7, 0.9])


def test_true_counts_are_those_of_the_rows() -> None:
    step, rows = hashed(PREFIXES), np.random.default_rng(1).uniform(-1, 1, (100, 2))
    (truth,) = [trace for trace in draw(step, reveal=RevealedView.of(rows, "test")).data if trace.meta == "revealed"]
    true_counts = dict(zip(step.tree.nodes.tolist(), truth.customdata, strict=True))
    assert true_counts[1] == 100 and true_counts[2] + true_counts[3] == 100
    assert true_counts[2] == (rows @ step.hashes.planes[0] >= 0).sum()


def test_prefixes_of_the_server_stand_in_the_order_of_their_codes_level_by_level() -> None:
    places = place_server_nodes(SERVER)
    assert (np.diff(places) > 0).all()
    assert (np.abs(places[:4]) < 0.5).all() and (np.abs(places[4:] - 1) < 0.5).all()
