"""Bounds while they are declared, and what they do to revealed rows."""

from __future__ import annotations

import doctest
from dataclasses import replace

import numpy as np

from dpviz.app.ui.bench import column_forms
from dpviz.app.ui.bench.column_forms import compute_noise_by_column, describe_moves
from dpviz.app.ui.data import table_link
from dpviz.app.ui.data.table_summary import measure_clipping
from dpviz.core.domain import Domain
from dpviz.core.revealed_rows import Revealed
from dpviz.runs.advice.judgement import compute_column_noise
from dpviz.tables.declarations import Declaration


def test_noise_is_known_of_a_column_as_soon_as_its_bounds_are():
    half = Declaration(columns=("x", "y"), lower=(0.0, None), upper=(10.0, 1.0), n_public=500)
    whole = replace(half, lower=(0.0, 0.0))
    told = {"k": 5, "epsilon": 1.0}
    assert compute_noise_by_column(half, **told) == {"x": compute_noise_by_column(whole, **told)["x"]}
    assert compute_noise_by_column(replace(half, scaling="common"), **told) == {}
    domain = Domain.of(["x", "y"], 0.0, [10.0, 1.0])
    np.testing.assert_allclose(
        [*compute_noise_by_column(whole, **told).values()], compute_column_noise(domain, rows=100, epsilon=1.0)
    )
    assert compute_noise_by_column(replace(whole, lower=(11.0, 0.0)), **told).keys() == {"y"}


def test_rows_that_bounds_move_are_told_in_shares():
    told = Declaration(columns=("x", "y"), lower=(0.0, None), upper=(10.0, None))
    values = np.array([[1.0, np.nan], [2.0, np.inf], [11.0, 1.0], [3.0, 1.0]])
    assert describe_moves(values, told) == "50 % of the whole rows move to the bounds."
    assert describe_moves(values[3:], told) == "" == describe_moves(values[:0], told)


def test_examples_in_the_docstrings():
    for module in (column_forms, table_link):
        tried = doctest.testmod(module)
        assert tried.attempted > 0 and tried.failed == 0, module.__name__


def test_clipping_counts_what_the_bounds_cut_and_how_far_means_move():
    domain = Domain.of(["x", "y"], 0.0, 10.0)
    values = np.array([[5.0, 5.0], [5.0, 20.0], [-10.0, 5.0], [5.0, 5.0]])
    cost = measure_clipping(Revealed(domain.to_unit(values), np.arange(4)), domain)
    assert cost.rows_moved == 0.5
    assert cost.by_column["below"].tolist() == [0.25, 0.0]
    assert cost.by_column["above"].tolist() == [0.0, 0.25]
    np.testing.assert_allclose(cost.by_column["mean shift"], [2.5, -2.5])


def test_clipping_counts_the_radius_too_and_bears_no_rows():
    ball = Domain.of(["x", "y"], -1.0, 1.0, radius=1.0)
    corner = Revealed(np.array([[0.9, 0.9], [0.0, 0.5]]), np.arange(2))
    assert measure_clipping(corner, ball).rows_moved == 0.5
    assert measure_clipping(Revealed(np.empty((0, 2)), np.arange(0)), ball).rows_moved == 0.0
