"""Categories, scales and weights in the owner's form: what is declared there is in the declaration, and comes back."""

from __future__ import annotations

import doctest

import pytest

from dpviz.app.ui import table_words
from dpviz.app.ui.data.column_rows import compare_noise_on_scales, remove_coding
from dpviz.tables.codings import Cycle, Nominal, Ordinal, Stretched
from dpviz.tables.declarations import ColumnBounds, Declaration
from dpviz.tables.loaded_table import IntakeError

START = Declaration(columns=("age", "pay"), lower=(0.0, 1.0), upper=(100.0, 60_000.0), n_public=5_000)


def test_the_examples_in_the_text_hold():
    assert doctest.testmod(table_words).failed == 0


def test_a_column_is_declared_and_clustered_and_taken_back():
    one = START.with_coding("region", {"categories": ["N", "S"]}, 1.0)
    assert one.columns == ("age", "pay", "region") and one.codings == {"region": Nominal(("N", "S"))}
    assert one.bounds["region"] == ColumnBounds(0.0, 3.0) and one.weights == {"region": 1.0}
    two = one.with_coding("pay", {"bounds": [1, 60_000], "scale": "log"}).with_coding("age", {"cycle": 100})
    assert two.coded == {"age": Cycle(100.0), "pay": Stretched("log"), "region": Nominal(("N", "S"))}
    again = remove_coding(remove_coding(two, "pay"), "region")
    assert again.columns == ("age", "pay") and again.bounds["pay"] == START.bounds["pay"] and not again.weights
    assert remove_coding(again, "age").bounds["age"] == ColumnBounds()
    other = one.with_coding("region", {"order": ["N", "S"]})
    assert other.codings == {"region": Ordinal(("N", "S"))} and not other.weights


def test_what_cannot_be_declared_is_one_sentence():
    for form, why in (
        ({"categories": []}, "not a list of texts"),
        ({"categories": ["a"], "closed": True}, "two make a coordinate"),
        ({"bounds": [0, 5], "scale": "log"}, "no 0"),
        ({"cycle": "x"}, "not a number above 0"),
        ({"dates": ["2015-01-01"]}, "not the first and the last"),
    ):
        with pytest.raises(IntakeError, match=why):
            START.with_coding("age", form)


def test_a_long_tail_costs_less_on_a_log_scale():
    even, stretched, middle = compare_noise_on_scales(START, "pay", "log")
    assert even == pytest.approx(84.85, rel=0.01) and middle == pytest.approx(60_000**0.5, rel=1e-6)
    assert stretched < even / 20
    zero = Declaration(columns=("pay",), lower=(0.0,), upper=(9.0,))
    assert (
        compare_noise_on_scales(zero, "pay", "log") is None and compare_noise_on_scales(zero, "pay", "root") is not None
    )
