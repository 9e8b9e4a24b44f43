"""Samples load with what is declared about them; synthetic tables come from public numbers alone."""

import ast
from functools import cache

import numpy as np
import pytest

from dpviz.core.check import RequestError
from dpviz.tables.loaded_table import IntakeError
from dpviz.tables.made_tables import SyntheticTable, simulate
from dpviz.tables.named import list_samples, sample
from tests.proof.kept import hash_bytes
from tests.tables.told import compare_cases

loaded = cache(lambda name: sample(name).load())


def test_all_samples_are_listed_in_a_checkout() -> None:
    files = {"fifteen", "city", "people", "colours", "outlier", "towns", "laboratories"}
    assert {entry.id for entry in list_samples()} == files | {"thermometers", "mixture64", "words", "digits"}
    assert all(entry.clusters >= 2 for entry in list_samples())
    with pytest.raises(RequestError, match="sample_id is 'nope': choose one of fifteen, city"):
        sample("nope")


@pytest.mark.slow
def test_a_sample_that_is_made_is_the_same_table_for_everybody() -> None:
    """Pairs in either order, twenty of which are far off; sixty-four tight clusters in the unit ball."""
    for name, made, said in (
        ("thermometers", "d9c8f5874965", ("replace", "unit", None)),
        ("mixture64", "277e7816bb2d", ("add_remove", "common", 1.0)),
    ):
        table, declared = loaded(name)
        assert (declared.relation, declared.scaling, declared.radius) == said
        # Of rounded cells: libraries of linear algebra differ in their last bits.
        cells = np.round(table.columns(table.numeric_columns), 6) + 0.0
        assert hash_bytes(cells.tobytes()) == made


def test_what_may_be_made_of_numbers_is_known_before_it_is_made() -> None:
    usual, wide = SyntheticTable(0.0, 100.0, 5_000, 2, 5, 0.05), {"low": -1e308, "high": 1e308}
    assert usual.is_allowed and usual.make()[0].n_rows == usual.make()[1].n_public == 5_000
    for change in (wide, {"high": np.nan}, {"spread": 2}, {"n": 0}, {"k": 1_001}, {"n": 5_000_000, "d": 11}):
        assert not usual._replace(**change).is_allowed, change
    assert usual.seconds < 0.1 < usual._replace(n=1_000_000, d=2).seconds < usual._replace(k=1_000).seconds


def tell(case: str) -> str:
    """How many rows and columns a stand-in has and where its cells lie, or why there is none."""
    usual = {"lower": 0.0, "upper": 1.0, "n": 10, "d": 2, "k": 2, "seed": 0}
    try:
        made = simulate(**(usual | ast.literal_eval(case)))
    except IntakeError as refused:
        return str(refused)
    cells = made.columns(made.numeric_columns)
    return f"{made.n_rows} rows of {made.numeric_columns}: {cells.min():.3f} to {cells.max():.3f}"


def test_a_stand_in_of_any_size_is_made_or_refused_in_a_sentence() -> None:
    compare_cases("made_tables.txt", tell)
