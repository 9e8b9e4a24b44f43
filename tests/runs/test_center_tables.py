"""Released centres in the words of the declaration: what noise alone could make is not said."""

from __future__ import annotations

import json
import re
from math import nan

import numpy as np
import pytest

from dpviz.core.domain import Domain
from dpviz.runs.meaning import membership
from dpviz.runs.one_run import run
from dpviz.runs.profiles import describe_shares, read_shares
from dpviz.runs.record import ReleaseRecord
from dpviz.runs.synthetic_tables import synthesise_declared
from dpviz.tables.declarations import Declaration, FileKind, apply_declaration
from dpviz.words import PLUS_MINUS
from tests.cases import for_each

SAID = {
    "age": [17, 90],
    "income": {"bounds": [1, 1e6], "scale": "log"},
    "region": {"categories": ["N", "S"]},
    "sex": {"categories": ["F", "M"], "closed": True},
    "stage": {"order": ["I", "II", "III"]},
    "joined": {"dates": ["2015-01-01", "2024-12-31"]},
    "left": {"dates": ["2015-01-01", "2024-12-31"], "written": "dmy"},
    "hour": {"cycle": 24},
}


@pytest.fixture(scope="module")
def synthetic():
    declared = apply_declaration(json.dumps({"bounds": SAID, "title": "Visits", "weights": {"region": 1}})).validate()
    return synthesise_declared(declared, n=3_000, k=3)


@pytest.fixture(scope="module")
def done(synthetic):
    return run("auto", synthetic.private, k=3, epsilon=2.0, delta=1e-6, seed=0)


def test_a_synthetic_table_has_rows_of_every_declared_kind_and_no_incomplete_one(synthetic):
    assert synthetic.kind is FileKind.SIMULATED and synthetic.private.n_public == 3_000
    values = synthetic.loaded.encode_columns(synthetic.declaration.columns, synthetic.declaration.coded)
    assert np.isfinite(values).all() and values.shape == (3_000, 8)
    for place, (name, (low, high, _)) in enumerate(synthetic.declaration.bounds.items()):
        assert low <= values[:, place].min() and values[:, place].max() <= high, name
    # Declared names alone are made up: nobody is (any other) or (missing).
    assert {*np.unique(values[:, 2])} == {0.0, 1.0} and {*np.unique(values[:, 3])} == {0.0, 1.0}
    assert {*np.unique(values[:, 4])} == {1.0, 2.0, 3.0}
    rows = synthetic.private._rows.values
    np.testing.assert_array_equal(np.sort(rows[:, 2:6], axis=1)[:, :-1], 0)


def test_every_centre_is_told_column_by_column(done):
    lines = [done.profile.describe_center(place) for place in range(done.k)]
    assert len(lines) == 3 and all(list(line) == [*SAID] for line in lines)
    for line in lines:
        assert (
            " to " in line["income"] and "%" in line["region"] and line["stage"].split(" ± ")[0] in ("I", "II", "III")
        )
        assert re.fullmatch(r"20\d\d-\d\d-\d\d ± [\d,.]+ days", line["joined"])
        assert re.fullmatch(r"\d\d:\d\d ± [\d.]+ h|spread over the cycle", line["hour"])
    printed = str(done)
    assert "region" in printed and "region = N" not in printed and printed.count(PLUS_MINUS) == 1


def test_shares_add_up_and_stand_in_the_record(synthetic, done):
    shares = read_shares(done.domain, done.centers)
    assert list(shares) == ["region", "sex"]
    np.testing.assert_allclose(sum(shares["region"].values()), 1)
    said = ReleaseRecord.of(done, synthetic).to_dict()
    assert len(said["released"]["profiles"]) == 3 and list(said["released"]["profiles"][0]) == [*SAID]
    assert said["declaration"]["bounds"]["region"] == {"categories": ["N", "S"]}
    assert said["declaration"]["weights"] == {"region": 1.0}
    json.dumps(said)


def test_tables_of_numbers_say_what_they_always_said():
    plain = synthesise_declared(Declaration(columns=("a",), lower=(0.0,), upper=(1.0,)), n=300, k=2)
    finished = run("dplloyd", plain.private, k=2, epsilon=1.0, seed=0)
    said = ReleaseRecord.of(finished, plain).to_dict()
    assert list(said["released"]) == ["centers", "weights"] and "weights" not in said["declaration"]
    assert said["declaration"]["bounds"] == {"a": [0.0, 1.0]} and isinstance(finished.domain, Domain)


@for_each(
    "shares, reach, words",
    [
        ({"a": 1.0, "b": 0.0}, nan, "a 100 %, others under 1 %"),
        ({"a": 0.4, "b": 0.3, "c": 0.2, "d": 0.1}, 0.2, "a or b: 40 %, 30 %, c 20 %, others under 20 %; each ± 20 %"),
        ({"a": 0.4, "b": 0.3, "c": 0.2, "d": 0.1}, 0.09, "a 40 %, b 30 %, c 20 %, others up to 10 %; each ± 9 %"),
        ({"a": 0.4, "b": 0.39, "c": 0.21}, 0.1, "a or b: 40 %, 39 %, c 21 %; each ± 10 %"),
        ({"a": 0.6, "b": 0.4}, 1.8, "each up to 100 %"),
        ({"a": 0.3, "b": 0.1, "c": 0.0}, 0.35, "each up to 65 %"),
    ],
)
def test_shares_in_words(shares, reach, words):
    assert describe_shares(shares, reach) == words


def test_an_attack_knows_the_rows_of_a_mixed_table_too(synthetic):
    row = membership.find_farthest_row(synthetic)
    found = membership.make_neighbors(synthetic, row)
    assert found.person.shape == (1, synthetic.domain.dim)
    here, there = (len(table._rows) for table in (found.present, found.absent))
    assert here - there == 1
