"""Neighbours at the doors for rows in memory and in typed files: a row that comes, goes or changes changes no other.

Whatever library holds the rows makes the type of a column of all its cells. For each door, type of cells, coding and
odd cell: both neighbours are taken, or both refused with one sentence, and all other rows are the same bit for bit.
"""

from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from functools import lru_cache
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple
from uuid import UUID

import dask
import dask.dataframe as dd
import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dpviz
from dpviz.core.check import RequestError
from dpviz.tables.arrow_intake import ArrowTable, ParquetTable
from dpviz.tables.csv_intake import load_csv
from dpviz.tables.duckdb_intake import DuckTable
from dpviz.tables.given_rows import DeclaredFrame, GivenRows
from dpviz.tables.loaded_table import find_number, find_text, list_numbers, list_texts, make_numeric_table, take_frame
from tests.cases import about

LARGE = 2**53
SOME = {
    "truths": [True, False, False, True],
    "whole numbers": [7, 1, 2, 7],
    "large numbers": [LARGE + 1, LARGE + 3, LARGE + 1, 4 * LARGE],
    "floats": [2.5, -0.0, 7.0, 1e-3],
    "decimals": [Decimal("2.5"), Decimal("7.00"), Decimal("0.10"), Decimal("1")],
    "texts": ["u", "7", " v ", "NA"],
    "midnights": [datetime(2024, 1, 2), datetime(2024, 1, 3), datetime(2024, 1, 2), datetime(2024, 5, 2)],
    "times of day": [datetime(2024, 1, 2, 3, 4, 5, 600), datetime(2024, 1, 3), datetime(2024, 1, 2), datetime(1, 1, 2)],
    "moments": [datetime(2024, 1, day, tzinfo=UTC) for day in (2, 3, 2, 5)],
    "days": [date(2024, 1, 2), date(2024, 1, 3), date(500, 1, 2), date(2024, 5, 2)],
    "spans": [timedelta(1), timedelta(hours=3), timedelta(1), timedelta(0)],
    "nothing": [None, None, None, None],
}
"""Cells of one column, all of one type."""
ODD = [
    *(None, np.nan, pd.NaT, pd.NA, np.datetime64("NaT", "s"), "", "x", "7", "7.0", " 2.5 ", "٣", "nan", b"7", True),
    *(np.bool_(0), 7, 2.5, -0.0, LARGE, LARGE + 1, -LARGE, 2**63, 10**400, np.inf, 1j, Decimal("1.5"), Decimal("NaN")),
    *(np.float32(0.1), np.uint8(7), datetime(2024, 1, 2), datetime(2024, 1, 2, 3), date(2024, 1, 2), time(3)),
    *(datetime(2024, 1, 2, 3, tzinfo=UTC), np.datetime64("2024-01", "M")),
    pd.Timestamp("2024-01-02 00:00:00.000000001"),
    *(timedelta(1), np.timedelta64(1, "D"), UUID(int=7), [7], {"a": 7}, object),
]  # fmt: skip
CODINGS: dict[str, Any] = {
    "numbers": [-1.0, 10.0],
    "log": {"bounds": [1, 1e17], "scale": "log"},
    "categories": {"categories": ["True", "7", "2.5", "2024-01-02", "u", str(LARGE), str(LARGE + 3)]},
    "closed": {"categories": ["False", "True"], "closed": True},
    "order": {"order": ["1", "2", "7"]},
    "dates": {"dates": ["2024-01-01", "2024-12-31"]},
    "dates, day first": {"dates": ["2024-01-01", "2024-12-31"], "written": "dmy"},
    "cycle": {"cycle": 24},
}


class Door(NamedTuple):
    """A way in: ``hold`` makes what holds a column of cells, by its schema if it has one; ``read`` makes numbers (n,).

    ``every``: so many cases apart are the ones that are tried here.
    """

    hold: Callable[[list[Any], Any], Any]
    read: Callable[[Any, Any], np.ndarray]
    every: int = 61


@lru_cache
def declare(coding: str) -> DeclaredFrame:
    return DeclaredFrame.of(["c"], {"c": CODINGS[coding]}, None, None)


def read_frame(held: Any, coding: str) -> np.ndarray:
    """As ``PrivateKMeans`` reads it."""
    given, declared = GivenRows.read(held), declare(coding)
    given.refuse_other_types(declared.textual)
    return declared.encode(given.values)[:, 0]


def read_loaded(loaded: Any, coding: str) -> np.ndarray:
    return loaded.encode_columns(("c",), declare(coding).codings)[:, 0]


def read_table(held: Any, coding: str) -> np.ndarray:
    """As ``open_table`` and ``release`` read it."""
    return read_loaded(make_numeric_table(held), coding)


def read_array(held: Any, coding: str) -> np.ndarray:
    """As ``PrivateKMeans`` reads what has no names: numbers."""
    return np.asarray(GivenRows.read(held).list_numbers(), dtype=np.float64)[:, 0]


def read_parts(held: Any, coding: str) -> np.ndarray:
    frames = dask.compute(*GivenRows.read(held).values.to_delayed(), scheduler="sync")
    return np.concatenate([read_frame(frame, coding) for frame in frames])


def read_typed(table: ArrowTable, coding: str) -> np.ndarray:
    """In memory and in batches, which are the same."""
    codings = declare(coding).codings
    (batch,) = table.read_batches(("c",), codings=codings)
    textual = declare(coding).textual
    loaded = table.read([] if textual else ["c"], coded=textual).encode_columns(("c",), codings)
    np.testing.assert_array_equal(batch.values, loaded)
    return loaded[:, 0]


def name(column: Any, schema: Any = None) -> pd.DataFrame:
    return pd.DataFrame({"c": column})


def in_schema(column: list[Any], schema: Any) -> Any:
    """A table of Arrow: what does not fit was missing before it came."""
    made = []
    for cell in column:
        try:
            pa.array([cell], schema)
        except (pa.ArrowException, TypeError, ValueError, OverflowError):
            cell = None
        made.append(cell)
    return pa.table({"c": pa.array(made, schema)})


def in_file(column: list[Any], schema: Any) -> ParquetTable:
    path = Path(FOLDER.name) / "c.parquet"
    pq.write_table(in_schema(column, schema), path)
    return ParquetTable(path)


def in_database(column: list[Any], schema: Any) -> DuckTable:
    path, cells = Path(FOLDER.name) / "c.duckdb", in_schema(column, schema)
    path.unlink(missing_ok=True)
    with duckdb.connect(str(path)) as connection:
        connection.from_arrow(cells).create("cells")
    return DuckTable(path, "cells")


def in_lines(column: list[Any], schema: Any) -> bytes:
    return "".join(f'"{cell}"\n' for cell in ("c", *column)).encode()


def read_lines(held: bytes, coding: str) -> np.ndarray:
    textual = declare(coding).textual
    return read_loaded(load_csv(held, text=textual, numbers=() if textual else ("c",)), coding)


def in_categories(column: list[Any], schema: Any) -> Any:
    try:
        return name(pd.Categorical(column))
    except (TypeError, ValueError):  # lists and spans among truths are no categories
        return name(pd.Categorical([None if isinstance(cell, list | dict | np.generic) else cell for cell in column]))


def as_objects(column: list[Any], schema: Any) -> pd.DataFrame:
    return name(pd.Series(column, dtype=object))


def in_array(column: list[Any], schema: Any) -> Any:
    """What NumPy makes of all of them: floats, text, bytes, objects. Of what is refused by its type it has none."""
    refused = list | complex | np.datetime64 | np.timedelta64
    return np.array([[None if isinstance(cell, refused) else cell] for cell in column])


def in_parts(column: list[Any], schema: Any) -> Any:
    """In the types of pandas: with its usual setting Dask would make text of all cells of objects before any door."""
    with dask.config.set({"dataframe.convert-string": False}):
        return dd.from_pandas(name(column), npartitions=2).persist(scheduler="sync")


FOLDER = TemporaryDirectory()
NULLABLE = {pa.bool_(): pd.BooleanDtype(), pa.int64(): pd.Int64Dtype(), pa.float64(): pd.Float64Dtype()}
DOORS = {
    "pandas": Door(name, read_frame, 7),
    "pandas, released": Door(name, read_table, 13),
    "objects": Door(as_objects, read_frame),
    "objects, released": Door(as_objects, read_table),
    "nullable": Door(lambda *column: in_schema(*column).to_pandas(types_mapper=NULLABLE.get), read_frame),
    "categories": Door(in_categories, read_frame),
    "categories, released": Door(in_categories, read_table),
    "Arrow": Door(in_schema, read_frame),
    "Arrow, released": Door(in_schema, read_table),
    "pandas over Arrow": Door(lambda *column: in_schema(*column).to_pandas(types_mapper=pd.ArrowDtype), read_frame),
    "Arrow made pandas": Door(lambda *column: in_schema(*column).to_pandas(), read_frame),
    "Polars": Door(lambda *column: pl.from_arrow(in_schema(*column)), read_frame),
    "Dask": Door(in_parts, read_parts, 149),
    "lists": Door(lambda column, _: [[cell] for cell in column], read_array),
    "arrays": Door(in_array, read_array),
    "masked": Door(lambda *column: np.ma.masked_array(in_array(*column)), read_array),
    "Parquet": Door(in_file, read_typed),
    "DuckDB": Door(in_database, read_typed, 331),
    "lines": Door(in_lines, read_lines),
}


def list_cases(every: int) -> Iterator[tuple[str, str, list[Any], list[Any], int | None]]:
    """Of each type: its cells, and those with one that comes, goes or is another; the place where two rows differ."""
    for number, ((kind, cells), coding, odd) in enumerate(product(SOME.items(), CODINGS, ODD)):
        if number % every == 0:
            place, change = number // every % len(cells), number // every % 3
            before, behind = cells[: place + 1], cells[place + 1 :]
            if change == 0:  # a row comes
                yield kind, coding, cells, [*before, odd, *behind], place + 1
            elif change == 1:  # another one goes, while the odd one stays
                yield kind, coding, [*before, *behind, odd], [*before[:-1], *behind, odd], place
            else:
                yield kind, coding, cells, [*before[:-1], odd, *behind], None


@pytest.mark.parametrize("door", DOORS)
def test_a_row_that_comes_goes_or_changes_changes_no_other(door: str) -> None:
    way = DOORS[door]
    for kind, coding, one, other, place in list_cases(way.every):
        with about(f"{kind}, {coding}, {one}, {other}"):
            first, second = (take(way, kind, cells, coding) for cells in (one, other))
            if isinstance(first, str) or isinstance(second, str):
                assert [first] == [second]
                continue
            if place is None:
                assert len(first) == len(second)
                assert np.count_nonzero(first.view(np.int64) != second.view(np.int64)) <= 1
            else:
                longer, shorter = sorted((first, second), key=len, reverse=True)
                assert np.delete(longer, place).tobytes() == shorter.tobytes()


def take(door: Door, kind: str, cells: list[Any], coding: str) -> np.ndarray | str:
    """The numbers that a door makes, or the sentence with which it refuses."""
    held = door.hold(cells, pa.array(SOME[kind]).type)
    try:
        return 0.0 + np.ascontiguousarray(door.read(held, coding))
    except RequestError as error:
        return str(error)


N = 2_000
ATTACKS: dict[str, tuple[list[Any], Any, Any]] = {
    "a missing truth": ([True, False] * (N // 2), None, {"categories": ["False", "True"], "closed": True}),
    "one time of day": (
        [datetime(2024, 1, 2)] * N,
        datetime(2024, 1, 2, 3),
        {"categories": ["2024-01-02", "2024-01-03"], "closed": True},
    ),
    "a missing number of 16 digits": (
        [LARGE + 1, LARGE + 3] * (N // 2),
        None,
        {"categories": [str(LARGE + 1), str(LARGE + 3)], "closed": True},
    ),
    "large numbers beside a missing one": ([LARGE + 1] * N, None, [LARGE - 10, LARGE + 10]),
    "a word among numbers": ([7, 2] * (N // 2), "x", [0, 10]),
}
"""Cells of which one more, of another kind, once changed how all others were read: ε ≥ 2.76 at a claimed 1."""


@pytest.mark.parametrize("attack", ATTACKS)
def test_an_attack_by_one_odd_cell_sees_no_more_than_one_row(attack: str) -> None:
    """Its statistic is how many rows there are, or where they lie: with the same noise both differ as by one row."""
    cells, odd, said = ATTACKS[attack]
    held = [name([*cells, *more]) for more in ([], [cells[0]], [odd])]

    def look(frame: pd.DataFrame) -> tuple[float, np.ndarray]:
        fitted = dpviz.PrivateKMeans(1, "dplloyd", 1.0, bounds={"c": said}, random_state=0).fit(frame)
        return fitted.run_.noisy_weights.sum(), fitted.cluster_centers_

    (size, center), (another, moved) = look(held[0]), look(held[2])
    assert abs(another - size) <= 5
    np.testing.assert_allclose(moved, center, rtol=0.05)
    opened = [dpviz.open_table(frame, {"bounds": {"c": said}}) for frame in held]
    values = [np.sort(np.asarray(table._rows.values)[:, 0]) for table in opened]
    assert max(map(len, values)) - min(map(len, values)) <= 1
    least = min(map(len, values))
    assert all(np.count_nonzero(one[:least] != values[0][:least]) <= 1 for one in values)


PERSONS = {
    "lists": lambda column, _: column,
    "pandas": lambda column, _: pd.Series(column),
    "objects": lambda column, _: np.array([*column, None], dtype=object)[:-1],
    "categories": lambda *column: in_categories(*column)["c"],
    "Arrow": lambda *column: in_schema(*column)["c"],
    "Polars": lambda *column: pl.from_arrow(in_schema(*column))["c"],
}


@pytest.mark.parametrize("door", PERSONS)
def test_whose_a_row_is_follows_from_its_own_id(door: str) -> None:
    for kind, _, one, other, place in list_cases(61):
        with about(f"{kind}, {one}, {other}"):
            schema = pa.array(SOME[kind]).type
            first, second = (list_texts(take_frame(PERSONS[door](cells, schema))) for cells in (one, other))
            if door == "pandas":
                released = make_numeric_table(name(other)).groups("c")
                np.testing.assert_array_equal(pd.factorize(second)[0], released)
            if place is None:
                assert sum(a != b for a, b in zip(first, second, strict=True)) <= 1
            else:
                longer, shorter = sorted((first.tolist(), second.tolist()), key=len, reverse=True)
                del longer[place]
                assert longer == shorter


def test_numbers_without_a_point_are_exact_where_a_schema_says_so() -> None:
    """Of NumPy 2^53 and 2^53 + 1 are one float as soon as a cell is missing: from there on they are nobody's."""
    large = [LARGE, LARGE + 1, None, LARGE, LARGE - 1]
    exact = [None if cell is None else str(cell) for cell in large]
    for kind in ("Int64", pd.ArrowDtype(pa.int64())):
        assert list_texts(pd.Series(large, dtype=kind)).tolist() == exact
    for column in (pd.Series(large), pd.Series(large[:2]), pd.Series(large, dtype=object), np.array(large[:2])):
        assert [text for text in list_texts(column) if text is not None] in ([], [str(LARGE - 1)])
    assert list_numbers(pd.Series(large)).tolist()[:2] == [float(LARGE)] * 2


def test_a_category_keeps_whichever_of_equal_cells_came_first() -> None:
    """So what is equal to Python has one text: else one row that writes 1 for a truth would change all of them."""
    same = [1, True, 1.0, np.bool_(1), Decimal("1.00"), 1 + 0j, "True", " 1.0 ", b"1", np.float32(1)]
    assert {find_text(cell) for cell in same} == {"1"} and {find_number(cell) for cell in same} == {1.0}
    for first in same[:6]:
        assert list_texts(pd.Series(pd.Categorical([first, True, True]))).tolist() == ["1"] * 3
    moment = pd.Timestamp("2024-01-02 03:00", tz="UTC")
    assert find_text(moment) == find_text(moment.tz_convert("Asia/Tokyo")) == "2024-01-02 03:00:00+00:00"
    assert find_text(Decimal("sNaN")) is find_text(Decimal("1e400")) is find_text(object()) is find_text("") is None
