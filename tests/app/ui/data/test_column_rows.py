"""Bounds while they are declared, and what they do to revealed rows."""

from __future__ import annotations

import doctest
from dataclasses import replace

import numpy as np
import pytest

from dpviz.app.ui.data import column_rows, declaration_form, table_link
from dpviz.app.ui.data.column_rows import compute_noise_by_column, describe_lacks, read_bounds
from dpviz.app.ui.data.declaration_form import describe_moves
from dpviz.app.ui.data.draft import Draft
from dpviz.app.ui.data.table_summary import measure_clipping
from dpviz.app.ui.session import Source
from dpviz.core.domain import Domain
from dpviz.core.revealed_rows import Revealed
from dpviz.runs.column_noise import compute_column_noise
from dpviz.tables.csv_intake import open_csv
from dpviz.tables.declarations import ColumnBounds, Declaration
from dpviz.tables.loaded_table import IntakeError
from tests.cases import about

NAMES = ("age", "pay", "height, cm")


def _draft() -> Draft:
    source = Source(open_csv(b"age,pay\n1,2\n", name="people"), 1)
    start = Declaration(columns=("age",), lower=(0.0,), upper=(120.0,), origins=("law or physics",))
    draft = Draft(source, start, 1)
    draft.names = draft.numbers = ("age", "pay")
    draft.begin()
    return draft


def test_an_origin_holds_as_long_as_one_bound_is_what_it_was():
    draft = _draft()
    draft.type_bounds("age", upper=100.0)
    assert draft.bounds["age"] == ColumnBounds(0.0, 100.0, "law or physics")
    draft.type_bounds("age", lower=18.0)
    assert draft.bounds["age"] == ColumnBounds(18.0, 100.0, "")
    draft.type_bounds("age", lower=None, upper=None)
    assert draft.bounds["age"] == ColumnBounds()


def test_what_is_typed_is_used_and_what_is_emptied_stays_as_it_was():
    draft = _draft()
    draft.type_bounds("pay", upper=None)
    assert draft.columns == ("age",)
    draft.type_bounds("pay", lower=0.0)
    draft.units["pay"] = "k$"
    assert draft.columns == ("age", "pay")
    draft.leave_out("age")
    draft.say_columns()
    assert draft.declaration.bounds == {"pay": ColumnBounds(0.0)} and draft.declaration.units == {"pay": "k$"}
    draft.use("age")
    draft.say_columns()
    assert draft.declaration.bounds["age"].upper == 120.0, "known though it was not used for a while"


def test_pasted_lines_say_bounds_and_units():
    lines = ("age,0,120,years", "name,lower,upper,unit\nage,0,120,years\n", "age;0;120;years", "age\t0\t120\tyears")
    for text in (*lines, "\n age , 0 , 120 , years \n\n"):
        assert read_bounds(text, NAMES) == ({"age": ColumnBounds(0.0, 120.0)}, {"age": "years"}), text


def test_pasted_lines_may_leave_a_bound_or_the_unit_open_and_quote_a_name():
    told = read_bounds('"height, cm",,250\npay,-1e3,', NAMES)
    assert told == ({"height, cm": ColumnBounds(None, 250.0), "pay": ColumnBounds(-1e3, None)}, {})


def test_lines_that_cannot_be_read_are_refused_without_a_quotation():
    for text, told in {
        "": "no line",
        "name,lower,upper,unit": "no line",
        "age,0,120\nzip,7741.25,1": "Line 2 names no column",
        "age,0,7741.25x": "Line 1 is not",
        "age,0,inf": "Line 1 is not",
        "age,0,1,years,7741.25": "Line 1 is not",
        "age,0,1,7741.25 is too long": "The unit in line 1",
    }.items():
        with about(text), pytest.raises(IntakeError, match=told) as refused:
            read_bounds(text, NAMES)
        assert "7741" not in str(refused.value)


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


def test_what_is_lacking_is_one_sentence():
    names = tuple(f"c{j}" for j in range(9))
    none = Declaration(columns=names, lower=(None,) * 9, upper=(1.0,) * 9)
    assert describe_lacks(none) == (
        'Still needed: the lower bound of "c0"; the lower bound of "c1"; the lower bound of "c2"; '
        "bounds of 6 more columns."
    )
    assert describe_lacks(replace(none, lower=(0.0,) * 9)) is None
    assert "tick a column" in (describe_lacks(Declaration()) or "")


def test_rows_that_bounds_move_are_told_in_shares():
    told = Declaration(columns=("x", "y"), lower=(0.0, None), upper=(10.0, None))
    values = np.array([[1.0, np.nan], [2.0, np.inf], [11.0, 1.0], [3.0, 1.0]])
    assert describe_moves(values, told) == "50 % of the whole rows move to the bounds."
    assert describe_moves(values[3:], told) == "" == describe_moves(values[:0], told)


def test_examples_in_the_docstrings():
    for module in (column_rows, declaration_form, table_link):
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
