"""Parquet files as they come: kinds of columns, folders, pieces, and what cannot be read."""

import datetime
import os
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dpviz.runs.open_table import Plan, declare, prepare_rows
from dpviz.tables.arrow_intake import ParquetTable, Piece
from dpviz.tables.declarations import Declaration
from dpviz.tables.loaded_table import IntakeError, hash_ids
from dpviz.tables.prepared_rows import LatticeFile
from tests.cases import about

N = 1000


def columns() -> dict[str, pa.Array]:
    rng = np.random.default_rng(0)
    x = rng.normal(size=N)
    return {
        "x": pa.array(np.where(rng.random(N) < 0.05, np.nan, x)),
        "y": pa.array([None if i % 50 == 0 else i for i in range(N)], pa.int64()),
        "z": pa.array(x.astype(np.float32)),
        "money": pa.array([Decimal(i) / 4 for i in range(N)], pa.decimal128(12, 2)),
        "yes": pa.array(x > 0),
        "code": pa.array((x > 0).astype(np.int8)).dictionary_encode(),
        "infinite": pa.array(np.where(x > 1, np.inf, x)),
        "who": pa.array([None if i % 100 == 0 else f" p{i % 30} " for i in range(N)]),
        "coded": pa.array([f"p{i % 30}" for i in range(N)]).dictionary_encode(),
        "number": pa.array([2**53 + i % 30 for i in range(N)]),
        "exact": pa.array([Decimal(2**53 + i % 30) for i in range(N)], pa.decimal128(18, 2)),
        "day": pa.array([datetime.date(2020, 1, 1)] * N),
        "nested": pa.array([{"a": 1}] * N),
    }


def test_text_is_text_however_arrow_keeps_it(tmp_path: Path) -> None:
    cells = pa.array([b"a", b"\xff", None, b"a"]).view(pa.string())  # one is no UTF-8
    for kind in (pa.string(), pa.large_string(), pa.string_view()):
        pq.write_table(pa.table({"x": [1.0, 2, 3, 4], "who": cells.cast(kind)}), tmp_path / "t.parquet")
        with about(str(kind)):
            table = ParquetTable(tmp_path / "t.parquet")
            assert table.holds_text("who")
            assert table.read(["x"], text=["who"]).groups("who").tolist() == [0, 1, -1, 0]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "table.parquet"
    pq.write_table(pa.table(columns()), path, row_group_size=300)
    return path


NUMBERS = ("x", "y", "z", "money", "yes", "code", "infinite")


def expected(name: str) -> np.ndarray:
    column = columns()[name]
    if name == "code":
        column = column.dictionary_decode()
    values = np.array([np.nan if cell is None else float(cell) for cell in column.to_pylist()])
    return np.where(np.isfinite(values), values, np.nan)


def test_numbers_of_all_kinds(file: Path) -> None:
    table = ParquetTable(file)
    assert table.name == "table" and table.n_rows == N and table.columns == tuple(columns())
    assert set(NUMBERS) <= set(table.numeric_columns) and not {"who", "coded", "day", "nested"} & set(
        table.numeric_columns
    )
    loaded = table.read(NUMBERS)
    for name in NUMBERS:
        np.testing.assert_array_equal(loaded.columns([name])[:, 0], expected(name))


@pytest.mark.parametrize("id_column", [None, "who", "coded", "number", "exact", "y"])
def test_batches_and_pieces_hold_what_is_read_at_once(file: Path, id_column: str | None) -> None:
    table = ParquetTable(file)
    loaded = table.read(("z", "x"), text=() if id_column is None else (id_column,))
    batches = list(table.read_batches(("z", "x"), id_column=id_column))
    pieces = [piece.batch() for piece in table.pieces(("z", "x"), id_column=id_column)]
    assert batches[-1].read == 1.0
    for parts in (batches, pieces):
        np.testing.assert_array_equal(np.concatenate([part.values for part in parts]), loaded.columns(("z", "x")))
        if id_column is None:
            assert all(part.ids is None for part in parts)
        else:
            ids = hash_ids(pd.concat([part.ids for part in parts], ignore_index=True))
            np.testing.assert_array_equal(ids, loaded.identifiers(id_column))
            if id_column in ("number", "exact"):
                np.testing.assert_array_equal(loaded.groups(id_column), np.arange(N) % 30)


def test_pieces_are_whole_row_groups(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dpviz.tables.arrow_intake._NUMBERS_OF_A_PIECE", 600)
    assert [piece.groups for piece in ParquetTable(file).pieces(("x",))] == [(0, 1), (2, 3)]


def test_a_folder_is_its_files_in_order_of_their_names(tmp_path: Path, file: Path) -> None:
    whole = pq.read_table(file)
    folder = tmp_path / "parts"
    (folder / "deep").mkdir(parents=True)
    pq.write_table(whole.slice(0, 400), folder / "a.parquet")
    pq.write_table(whole.slice(400), folder / "deep" / "b.parquet")
    (folder / "_SUCCESS.parquet").write_bytes(b"")
    parts = ParquetTable(folder)
    assert parts.n_rows == N
    np.testing.assert_array_equal(
        parts.read(("x", "z")).columns(("x", "z")), ParquetTable(file).read(("x", "z")).columns(("x", "z"))
    )


def test_a_column_that_holds_no_numbers_is_told_by_its_type(file: Path) -> None:
    for asked, told in (("day", "holds date32.*numbers are in"), ("who", "holds string"), ("none", "no column")):
        with pytest.raises(IntakeError, match=told):
            next(ParquetTable(file).read_batches(("x", asked)))
        with pytest.raises(IntakeError, match=told):
            ParquetTable(file).read((asked,))


def test_an_id_is_text_or_a_number_and_no_float(file: Path) -> None:
    """Nor one that happens to be small or whole, in any door."""
    for id_column in ("nested", "day"):
        with pytest.raises(IntakeError, match="neither text nor numbers"):
            next(ParquetTable(file).read_batches(("x",), id_column=id_column))
    declared = Declaration(columns=("y",), lower=(0.0,), upper=(1.0,), id_column="z")
    with pytest.raises(IntakeError, match=r'"z" holds .*floats.*2\^53.*Int64'):
        declare(ParquetTable(file), declared)
    for read in (ParquetTable(file).read_batches, ParquetTable(file).pieces):
        with pytest.raises(IntakeError, match="floats"):
            list(read(("y",), id_column="x"))
    loaded = ParquetTable(file).read(("y",), text=("z",))
    with pytest.raises(IntakeError, match="floats"):
        loaded.identifiers("z")
    assert len(set(loaded.groups("z"))) == N


def test_a_table_that_changes_between_two_looks_is_refused(tmp_path: Path) -> None:
    """Wherever it does: a part is written again, comes or goes; before any of its rows counts."""
    declared = Declaration(columns=("x",), lower=(0.0,), upper=(9.0,))

    def written(name: str, n: int) -> None:
        pq.write_table(pa.table({"x": np.arange(float(n))}), tmp_path / name)

    changes = {
        "longer": lambda: written("b.parquet", 30),
        "another time": lambda: os.utime(tmp_path / "b.parquet", ns=(1, 1)),
        "one less": lambda: (tmp_path / "b.parquet").unlink(),
        "one more": lambda: written("c.parquet", 1),
    }
    for name, change in changes.items():
        written("a.parquet", 3), written("b.parquet", 3)
        table = ParquetTable(tmp_path)
        plan, pieces, batches = Plan.of(table, declared), table.pieces(("x",)), table.read_batches(("x",))
        next(batches)
        assert all(len(piece.batch().values) == 3 for piece in pieces)
        change()
        assert table.fingerprint != ParquetTable(tmp_path).fingerprint
        looks = [
            lambda batches=batches: list(batches),
            lambda table=table: table.read(("x",)),
            lambda plan=plan: list(prepare_rows(plan, LatticeFile(plan.domain.region))),
            pieces[-1].batch,
        ]
        for look in looks[:3] if name == "one more" else looks:
            with about(name), pytest.raises(IntakeError, match=r"changed while|no file"):
                look()


def test_whether_memory_holds_a_table_follows_from_its_bytes_not_from_its_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody may learn from what is refused beyond memory whether one more row is there."""
    declared = Declaration(columns=("x",), lower=(0.0,), upper=(1.0,))
    rows, paths = 70_000, [tmp_path / "few.parquet", tmp_path / "many.parquet"]
    for path, n in zip(paths, (10, rows), strict=True):
        pq.write_table(pa.table({"x": np.zeros(n), "y": np.zeros(n)}), path, row_group_size=2 * rows)
    few, many = (path.stat().st_size for path in paths)
    assert few < many < 8 * rows / 100  # packed, many rows that are alike take next to no room
    for most in (few - 1, few, many - 1, many):
        monkeypatch.setattr("dpviz.tables.arrow_intake._MOST_BYTES", most)
        held = [Plan.of(ParquetTable(path), declared).in_memory for path in paths]
        assert held == [few <= 2 * most, many <= 2 * most]  # one of two columns is read
        monkeypatch.setattr(ParquetTable, "n_rows", property(lambda table: pytest.fail("no row is counted")))
        assert [ParquetTable(path).fits(2) for path in paths] == [few <= most, many <= most]


def test_a_file_that_is_packed_beyond_memory_is_refused_unread_or_read_in_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows that are all alike take no room in a file; where their number is private, nothing but a sentence is told."""
    path, rows = tmp_path / "packed.parquet", 200_000
    pq.write_table(pa.table({"x": np.zeros(rows), "who": ["a"] * rows}), path)
    private = Declaration(columns=("x",), lower=(0.0,), upper=(1.0,))
    monkeypatch.setattr("dpviz.tables.arrow_intake._MOST_UNPACKED", 8 * rows - 1)
    assert path.stat().st_size < 8 * rows / 100
    for declared in (private, replace(private, id_column="who")):
        with monkeypatch.context() as patch:
            patch.setattr(pq, "read_table", lambda *args, **kwargs: pytest.fail("it is unpacked"))
            with pytest.raises(IntakeError, match="packed so tightly") as told:
                declare(ParquetTable(path), declared)
        assert not any(letter.isdigit() for letter in str(told.value))
    for public in (replace(private, n_public=rows), replace(private, relation="replace")):
        opened = declare(ParquetTable(path), public)
        assert not opened.private.in_memory and len(opened.private._rows) == rows
    monkeypatch.setattr("dpviz.tables.arrow_intake._MOST_UNPACKED", 8 * rows)
    assert declare(ParquetTable(path), private).private.in_memory


def test_damage_is_told_wherever_it_is(file: Path) -> None:
    whole = file.read_bytes()
    for damaged in (whole[: len(whole) // 2], b"x,y\n1,2\n", b"", whole[:200] + bytes(4000) + whole[4200:]):
        file.write_bytes(damaged)
        with pytest.raises(IntakeError, match="damaged") as told:
            list(ParquetTable(file).read_batches(("x", "z", "y")))
        assert told.value.__cause__ is None
        with pytest.raises(IntakeError, match="damaged"):
            list(map(Piece.batch, ParquetTable(file).pieces(("x", "z", "y"))))


def test_a_column_that_is_empty_in_a_file_is_of_the_type_of_the_others(tmp_path: Path) -> None:
    """Writers give it no type there: whether a file of rows holds one value must not show."""
    empty = pa.nulls(2)
    pq.write_table(pa.table({"x": empty, "who": ["a", "b"], "n": empty}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"x": [1.5], "who": pa.nulls(1), "n": pa.nulls(1)}), tmp_path / "b.parquet")
    pq.write_table(pa.table({"x": [2.5], "who": ["a"], "n": pa.nulls(1)}), tmp_path / "c.parquet")
    table = ParquetTable(tmp_path)
    assert table.numeric_columns == ("x", "n") and table.holds_text("who")
    loaded, batches = table.read(("x",), text=("who",)), list(table.read_batches(("x",), id_column="who"))
    pieces = [piece.batch() for piece in table.pieces(("x",), id_column="who")]
    for values in (loaded.columns(("x",)), *(np.concatenate([b.values for b in some]) for some in (batches, pieces))):
        np.testing.assert_array_equal(values[:, 0], [np.nan, np.nan, 1.5, 2.5])
    assert loaded.groups("who").tolist() == [0, 1, -1, 0]
    ids = hash_ids(pd.concat([batch.ids for batch in batches], ignore_index=True))
    np.testing.assert_array_equal(ids, loaded.identifiers("who"))
