"""The same rows through every door make the same release, byte for byte, under the same noise; what breaks is free.

Through that of Spark, whose server is dear, they go in ``tests/tables/test_spark_intake.py``.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import duckdb
import pandas as pd
import pytest

from dpviz.releases import account as accounts
from dpviz.releases.account import Account
from dpviz.releases.releasing import preflight, publish
from dpviz.releases.render import render
from dpviz.releases.transcript import read_transcript
from dpviz.runs.open_table import OpenTable, declare_on_cluster
from dpviz.tables.csv_intake import CsvOnDisk
from dpviz.tables.declarations import Declaration, apply_declaration
from dpviz.tables.duckdb_intake import DuckTable
from dpviz.tables.named import Content, open_file
from tests.cases import about
from tests.command_line import call
from tests.releases.people import order_for, unrehearsed
from tests.releases.pinned_noise import PINNED, noise_of_its_truth
from tests.releases.test_release_bytes import write_rows

BOUNDS = {"age": [0, 100], "income": {"bounds": [100, 900_000], "scale": "log"}}
SAID = {"title": "Visitors", "bounds": BOUNDS, "bounds_origin": "law", "id_column": "who", "rows_per_person": 2}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One table, as a CSV file, as Parquet in several row groups, and in a database."""
    folder = tmp_path_factory.mktemp("doors")
    people = pd.read_csv(write_rows(folder, "rows", 0, 900))
    people.to_parquet(folder / "rows.parquet", row_group_size=200)
    with duckdb.connect(str(folder / "crm.duckdb")) as connection:
        connection.execute("CREATE TABLE rows AS SELECT * FROM people")
    return folder


def declared(**said: object) -> Declaration:
    return apply_declaration(json.dumps({**SAID, **said})).validate()


def files_of(source: Content, said: Declaration, place: Path, opened: OpenTable | None = None) -> Mapping[str, bytes]:
    """What leaves, but for the day, the machine and the account."""
    with noise_of_its_truth(), unrehearsed(), patch.object(accounts, "_read_time", lambda: "2026-11-24T00:00:00+00:00"):
        account = Account.new(place, name="people", cap_epsilon=9.0, cap_delta=1e-5)
        request = order_for(said, epsilon=4.0, segments=0.2)
        made = publish(preflight(request, source, said, account, opened=opened)).files
    whole = read_transcript(made["transcript.npz"]).whole
    whole_account = {**whole.asked["account"], "sha256": "b" * 64, "previous_sha256": "a" * 64}
    return render(replace(whole, asked={**whole.asked, **PINNED, "account": whole_account}))


def test_a_release_has_the_same_bytes_from_every_door(folder: Path, tmp_path: Path, monkeypatch) -> None:
    said = declared()
    expected = files_of(open_file(folder / "rows.csv"), said, tmp_path / "csv.sqlite")
    database = f"duckdb:///{folder}/crm.duckdb?table=rows"
    doors = {"parquet": open_file(folder / "rows.parquet"), "duckdb": open_file(database)}
    found = {name: files_of(source, said, tmp_path / f"{name}.sqlite") for name, source in doors.items()}
    dask = open_file(folder / "rows.parquet")
    found["dask"] = files_of(dask, said, tmp_path / "dask.sqlite", declare_on_cluster(dask, said))
    monkeypatch.setattr("dpviz.tables.arrow_intake._MOST_BYTES", 10)
    found["csv, in pieces"] = files_of(CsvOnDisk(folder / "rows.csv"), said, tmp_path / "pieces.sqlite")
    for name, address in (("parquet", str(folder / "rows.parquet")), ("duckdb", database)):
        found[f"{name}, in pieces"] = files_of(open_file(address), said, tmp_path / f"{name}-pieces.sqlite")
    for name, files in found.items():
        with about(name):
            assert files.keys() == expected.keys()
            assert not [file for file in files if files[file] != expected[file]]


def test_a_database_that_goes_away_is_one_sentence_and_nothing_is_charged(
    folder: Path, tmp_path: Path, capsys, monkeypatch
) -> None:
    account = Account.new(tmp_path / "people.sqlite", name="people", cap_epsilon=9.0, cap_delta=1e-5)
    asked = ("--k", 3, "--epsilon", 1, "--account", account.path, "--yes", "--segments", 0, "--out", tmp_path / "r.zip")

    def release(table: str, bounds: Mapping[str, object] = BOUNDS):
        (tmp_path / "people.json").write_text(json.dumps({**SAID, "bounds": bounds}))
        return call(capsys, "release", tmp_path / "people.json", f"duckdb:///{folder}/{table}", *asked)

    def breaks_off(self: DuckTable, columns, rows):
        with self._refuse_damaged():
            yield from ()
            raise duckdb.IOException("a block of rows could not be read: 17")

    whole = "crm.duckdb?table=rows"
    refused = [
        (release("crm.duckdb?table=no"), "no table"),
        (release(whole, {"age": [0, 100], "town": [0, 9]}), '"town" holds string'),
    ]
    with monkeypatch.context() as patched:
        patched.setattr("dpviz.tables.arrow_intake._MOST_BYTES", 10)
        patched.setattr(DuckTable, "_read_parts", breaks_off)
        refused.append((release(whole), "it went away"))
    for said, word in refused:
        with about(word):
            assert said.code != 0 and word in said.err and "Traceback" not in said.err
            assert len([line for line in said.err.splitlines() if line.startswith("dpviz: ")]) == 1
    assert account.standing().entries == () and not (tmp_path / "r.zip").exists()
    done = release(whole)
    assert done.code == 0 and len(account.standing().entries) == 1, done.err
