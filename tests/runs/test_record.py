"""The record of a run: every field of it, for every kind of table, and no time anywhere."""

import dataclasses
import json
from typing import Any

import numpy as np

from docs.generators.run_document import RunDocument
from dpviz.core.check import RequestError
from dpviz.core.private_session import AccessKind
from dpviz.runs.one_run import run_steps
from dpviz.runs.record import BROKEN_OFF, ReleaseRecord
from dpviz.runs.request import Contender, Request
from dpviz.tables.declarations import apply_declaration
from dpviz.words.documents import read_document
from tests.cases import for_each
from tests.runs.declared import finished, open_persons, open_rows, open_sparse

TABLES = {
    "n bought": (open_rows, "bought"),
    "n declared": (lambda: open_rows(n_public=400), "declared"),
    "replace": (lambda: open_rows(relation="replace"), "by the replace relation"),
    "persons": (open_persons, "bought"),
    "sparse": (open_sparse, "bought"),
}
each_table = for_each(("make", "origin"), TABLES.values())


def told(record: ReleaseRecord) -> dict[str, Any]:
    """The record after a way through JSON; every key of it is one of the document's."""
    found: dict[str, Any] = json.loads(json.dumps(record.to_dict(), allow_nan=False))
    read_document(RunDocument, found, RequestError)
    return found


@each_table
def test_the_number_of_rows_says_where_it_is_from(make, origin):
    table = make()
    done = finished(table)
    said = told(ReleaseRecord.of(done, table))
    assert said["n_origin"] == origin
    assert said["n"] == done.n and said["n_public"] == (None if origin == "bought" else 400)
    bought = [entry for entry in said["ledger"]["entries"] if entry["note"] == "number of rows"]
    assert len(bought) == (origin == "bought")


@each_table
def test_the_declaration_is_told_as_a_sidecar_would(make, origin):
    table = make()
    said = told(ReleaseRecord.of(finished(table), table))
    declared = said["declaration"]
    bounds = table.declaration.list_bounds(table.declaration.columns)
    assert list(declared["bounds"]) == list(declared["origins"]) == declared["columns"]
    assert np.array_equal(list(declared["bounds"].values()), np.column_stack([bounds.lower, bounds.upper]))
    assert declared["relation"] == said["relation"] and declared["unit"] == said["unit"]
    assert declared["scaling"] == table.domain.scaling.value
    shared = ("bounds", "origins", "scaling", "relation", "unit_of_privacy", "id_column", "rows_per_person", "n_public")
    back = apply_declaration(json.dumps({name: declared[name] for name in shared}))
    assert back.list_bounds(back.columns).lower.tolist() == bounds.lower.tolist()
    assert (back.id_column, back.rows_per_person) == (table.declaration.id_column, table.declaration.rows_per_person)


def test_looks_are_counted_by_kind_and_a_proposal_is_one():
    table = open_rows(proposed=True)
    done = finished(table)
    assert told(ReleaseRecord.of(done, table))["looks"] == {"proposal": 1}
    accesses = {AccessKind.LOSS: 2, AccessKind.ROWS: 1, AccessKind.REFERENCE: 0}
    assert told(ReleaseRecord.of(done, table, accesses=accesses))["looks"] == {"rows": 1, "loss": 2, "proposal": 1}
    assert told(ReleaseRecord.of(finished(open_rows()), open_rows()))["looks"] == {}


def test_noise_that_is_no_release_says_so_in_a_field_a_sentence_and_a_mark():
    table = open_rows()
    seeded, fresh = (ReleaseRecord.of(finished(table, seed=seed), table) for seed in (0, None))
    hardened = dataclasses.replace(fresh, hardened=True)
    assert [told(one)["seeded"] for one in (seeded, fresh, hardened)] == [True, False, False]
    assert "follows from a seed" in seeded.note and "not hardened" in fresh.note and hardened.note == ""
    assert seeded.marks == fresh.marks == ("SIMULATION",) and hardened.marks == ()
    assert told(hardened)["noise"] == "release-grade" and "simulation" in told(fresh)["noise"]
    assert any("seeded" in warning for warning in seeded.warnings) and fresh.warnings == ()


def test_a_run_that_was_broken_off_has_spent_what_its_steps_spent_and_has_no_centres():
    table = open_rows(n_public=400)
    whole = finished(table, "balcan")
    *_, half, _ = run_steps(Request(Contender("balcan"), 3, seed=0), table.private)
    record = ReleaseRecord.of(half, table)
    assert record.centers is None and record.weights is None and BROKEN_OFF in record.warnings
    assert BROKEN_OFF not in ReleaseRecord.of(whole, table).warnings
    assert record.entries == half.entries and record.spent_epsilon == half.spent_epsilon <= record.epsilon
    assert told(record)["released"] == {"centers": None, "weights": None}
