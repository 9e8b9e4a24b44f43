"""A table in a database file: the cells of a Parquet file, by an address, and a sentence for whatever fails."""

import os
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dpviz.api.commands import declare as propose_declaration
from dpviz.tables.arrow_intake import ParquetTable
from dpviz.tables.duckdb_intake import DuckTable
from dpviz.tables.loaded_table import IntakeError, hash_ids
from dpviz.tables.named import open_file, open_named
from tests.cases import about
from tests.tables.told import compare_cases

N = 3000
KINDS = """
    SELECT CASE WHEN i % 20 = 0 THEN NULL ELSE sin(i) END AS x, CASE WHEN i % 50 = 0 THEN NULL ELSE i END AS y,
    (i / 4)::DECIMAL(12, 2) AS money, i % 3 = 0 AS yes, CASE WHEN i % 7 = 0 THEN 'inf'::DOUBLE ELSE i END AS infinite,
    (i * 1000)::HUGEINT AS huge, ' p' || (i % 30) AS who, (9007199254740992 + i % 30)::BIGINT AS number,
    CASE WHEN i % 2 = 0 THEN 'North' ELSE 'South' END::ENUM('North', 'South') AS town, uuid() AS id,
    DATE '2020-01-01' + (i % 30)::INTEGER AS day, {'a': i} AS nested, 'b'::BLOB AS bytes FROM range(3000) t(i)
"""
NUMBERS = ("x", "y", "money", "yes", "infinite", "huge", "number")


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "crm.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(f"CREATE TABLE customers AS {KINDS}")
        connection.execute("CREATE SCHEMA other; CREATE TABLE other.few AS SELECT 1.5 AS x")
        connection.execute("CREATE VIEW seen AS SELECT x, y FROM customers")
        connection.execute('CREATE TABLE "a ""b""" AS SELECT 1.0 AS "c ""d""; DROP TABLE customers"')
        connection.execute(f"COPY customers TO '{tmp_path}/t.parquet'")
    return path


def at(path: Path, table: str = "customers") -> DuckTable:
    found = open_file(f"duckdb:///{path}?table={table}")
    assert isinstance(found, DuckTable)
    return found


def test_cells_are_those_of_a_parquet_file(database: Path, tmp_path: Path) -> None:
    here, there = at(database), ParquetTable(tmp_path / "t.parquet")
    assert here.name == "customers" and here.n_rows == N
    assert here.columns == there.columns and here.numeric_columns == NUMBERS
    np.testing.assert_array_equal(here.read(NUMBERS).columns(NUMBERS), there.read(NUMBERS).columns(NUMBERS))
    for id_column in ("who", "number", "town", "y"):
        batches = list(here.read_batches(("y", "x"), id_column=id_column))
        with about(id_column):
            values = np.concatenate([batch.values for batch in batches])
            np.testing.assert_array_equal(values, there.read(("y", "x")).columns(("y", "x")))
            ids = hash_ids(pd.concat([batch.ids for batch in batches], ignore_index=True))
            np.testing.assert_array_equal(ids, there.read((), text=(id_column,)).identifiers(id_column))
    assert batches[-1].read == 1.0


def test_an_address_may_name_a_schema_a_view_and_whatever_has_to_be_quoted(database: Path) -> None:
    assert at(database, "other.few").columns == ("x",) and at(database, "other.few").name == "few"
    assert at(database, "seen").columns == ("x", "y")
    odd = at(database, "a%20%22b%22")
    assert odd.columns == ('c "d"; DROP TABLE customers',) and odd.read(odd.columns).n_rows == 1
    assert at(database).n_rows == N


def refuse(address: str) -> str:
    with pytest.raises(IntakeError) as told:
        open_named(address)
    return str(told.value)


def test_an_address_that_names_no_table_is_told_how_to_be_written() -> None:
    """Of a database file, and of a server of Spark Connect."""
    compare_cases("addresses.txt", refuse)


def test_what_is_not_there_is_told(database: Path, tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_bytes(b"no database" * 1000)
    os.mkfifo(tmp_path / "pipe")
    for table, words in (
        (at(tmp_path / "none.duckdb"), 'no file "none.duckdb"'),
        (at(database, "custmers"), 'no table "custmers" in the database'),
        (at(database, "main.other.few"), "no table"),
        (at(tmp_path / "t.txt"), "cannot be read: it is damaged"),
        (at(tmp_path / "pipe"), "cannot be read"),
        (at(tmp_path), "it is a folder"),
    ):
        with about(table.path.name), pytest.raises(IntakeError, match=words) as told:
            _ = table.columns
        assert str(told.value).count("\n") == 0 and not (tmp_path / "none.duckdb").exists()


def test_a_file_that_changes_or_breaks_off_is_told(database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = at(database)
    batches = table.read_batches(("x",))
    next(batches)
    os.utime(database, ns=(1, 1))
    with pytest.raises(IntakeError, match="changed while it was read"):
        list(batches)

    def breaks_off(self: DuckTable, columns: tuple[str, ...], rows: int):  # type: ignore[no-untyped-def]
        with self._refuse_damaged():
            yield pa.record_batch({"x": [1.0]})
            raise duckdb.IOException("Could not read row 4711: 123.5")

    monkeypatch.setattr(DuckTable, "_read_parts", breaks_off)
    with pytest.raises(IntakeError, match="it went away") as told:
        list(at(database).read_batches(("x",)))
    assert "4711" not in str(told.value)


def test_nothing_that_the_file_says_opens_another_one(database: Path, tmp_path: Path) -> None:
    """A view is a question that its author wrote."""
    pq.write_table(pa.table({"secret": [1.0]}), tmp_path / "other.parquet")
    with duckdb.connect(str(database)) as connection:
        connection.execute(f"CREATE VIEW outside AS SELECT * FROM '{tmp_path}/other.parquet'")
    with pytest.raises(IntakeError):
        _ = at(database, "outside").columns


def test_a_proposal_reads_names_and_types_alone(database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(DuckTable, "_read_parts", lambda *_: pytest.fail("a row is read"))
    monkeypatch.setattr(DuckTable, "_read_whole", lambda *_: pytest.fail("rows are read"))
    proposed = propose_declaration(f"duckdb:///{database}?table=customers")
    assert proposed.columns == NUMBERS and not proposed.proposed
