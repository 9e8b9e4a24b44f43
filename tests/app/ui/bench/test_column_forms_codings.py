"""Categories, scales and weights in the owner's form: what is declared there is in the declaration, and comes back."""

from __future__ import annotations

import doctest

import pytest

from dpviz.app.ui import table_words
from dpviz.app.ui.bench.column_forms import describe_noise
from dpviz.app.ui.bench.hand import Hand
from dpviz.runs.request import Contender, Request
from dpviz.tables.codings import Cycle, Nominal, Ordinal, Stretched
from dpviz.tables.csv_intake import open_csv
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
    hand = in_hand(two)
    plain = hand.say_column("pay", {"bounds": [1, 60_000], "scale": "linear"}).choose_columns(["age", "pay"])
    again = plain.declaration
    assert again.columns == ("age", "pay") and again.bounds["pay"] == START.bounds["pay"] and not again.weights
    number = plain.say_column("age", {"bounds": [None, None], "scale": "linear"}).declaration
    assert number.bounds["age"] == ColumnBounds() and not number.codings
    other = hand.say_column("region", {"order": ["N", "S"]}).declaration
    assert other.codings["region"] == Ordinal(("N", "S")) and not other.weights


def in_hand(declared):
    file = open_csv(b"age,pay,region\n1,2,N\n", name="people")
    return Hand(1, file, declared, Request(Contender("auto"), 5, 1.0, 1e-6))


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
    alone = in_hand(Declaration(columns=("pay",), lower=(1.0,), upper=(60_000.0,), n_public=5_000))
    even = describe_noise(alone, "pay", "linear")
    assert even == "± 150 on a centre of 1,000 rows at ε = 1"
    stretched = describe_noise(alone, "pay", "log")
    assert stretched == "± 6.7 at 245, where numbers as they are have ± 150, on a centre of 1,000 rows at ε = 1"
    zero = in_hand(Declaration(columns=("pay",), lower=(0.0,), upper=(9.0,)))
    assert "±" not in describe_noise(zero, "pay", "log") and "±" in describe_noise(zero, "pay", "root")
