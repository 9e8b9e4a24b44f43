"""Bounds while they are declared, and what they do to revealed rows."""

from __future__ import annotations

import numpy as np

from dpviz.privacy.room import Revealed
from dpviz.table.declaration import ColumnBounds
from dpviz.table.domain import Domain
from dpviz.ui.data.declaration_form import as_frame, from_frame
from dpviz.ui.data.preview import clipping


def test_the_editor_gives_back_what_it_was_given():
    bounds = {"a": ColumnBounds(0.0, 1.0, "a guess"), "b": ColumnBounds(None, 2.0, "")}
    assert from_frame(as_frame(["a", "b", "c"], bounds)) == {**bounds, "c": ColumnBounds()}


def test_clipping_counts_what_the_bounds_cut_and_how_far_means_move():
    domain = Domain.of(["x", "y"], 0.0, 10.0)
    values = np.array([[5.0, 5.0], [5.0, 20.0], [-10.0, 5.0], [5.0, 5.0]])
    cost = clipping(Revealed(domain.to_unit(values), np.arange(4)), domain)
    assert cost.rows_moved == 0.5
    assert cost.by_column["below"].tolist() == [0.25, 0.0]
    assert cost.by_column["above"].tolist() == [0.0, 0.25]
    np.testing.assert_allclose(cost.by_column["mean shift"], [2.5, -2.5])


def test_clipping_counts_the_radius_too_and_bears_no_rows():
    ball = Domain.of(["x", "y"], -1.0, 1.0, radius=1.0)
    corner = Revealed(np.array([[0.9, 0.9], [0.0, 0.5]]), np.arange(2))
    assert clipping(corner, ball).rows_moved == 0.5
    assert clipping(Revealed(np.empty((0, 2)), np.arange(0)), ball).rows_moved == 0.0
