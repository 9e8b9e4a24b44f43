"""Parquet files and folders of them: all types, text that is no UTF-8, parts that disagree, damage."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.fuzzing.case import Broken, Case, command, short
from benchmarks.fuzzing.hostile import TEXTS, damaged, happens, one, some
from benchmarks.fuzzing.secrets import Secrets
from dpviz.core.check import RequestError
from dpviz.runs.open_table import Plan, declare
from dpviz.tables import arrow_intake
from dpviz.tables.arrow_intake import ParquetTable
from dpviz.tables.declarations import Declaration
from dpviz.tables.named import open_file

_Make = Callable[[np.random.Generator, int, Secrets], pa.Array]
_CHOSEN = (["x"], ["x"], ["x"], ["x"], ["x", "y"], ["y"], ["nowhere"])
_ROWS = (0, 1, 2, 7, 60, 3_000)
_NO_TEXT = (b"\xff\xfe", b"\xc3\x28", b"\xed\xa0\x80", b"\x00", b"a\x00b", b"ok", b"")


def parquet_case(rng: np.random.Generator) -> Case:
    """A file or a folder, declared somehow, and opened in one way or in all that there are."""
    secrets = Secrets.drawn(rng, many=3)
    if happens(rng, 0.4):
        name, put, made_of = _folder(rng, secrets)
    else:
        raw, made_of = _file(rng, secrets)
        name, put = "table.parquet", {"table.parquet": raw}
    stated: dict[str, Any] = {"bounds": {column: [-1, 1] for column in one(rng, _CHOSEN)}}
    if happens(rng, 0.6):
        stated |= {"id_column": one(rng, ("id", "id", "id", "x", "nowhere")), "rows_per_person": one(rng, (1, 2))}
    stated["label"] = one(rng, ("", "", "", "label", "id"))
    do = partial(_every_way if happens(rng, 0.5) else _run, put=put, name=name, stated=stated)
    return Case("parquet", f"{made_of}; {short(stated, most=300)}", do, secrets, for_a_page=False)


def database_case(rng: np.random.Generator) -> Case:
    """The same tables in a file of a database, whole or damaged, under their name or another one."""
    secrets = Secrets.drawn(rng, many=3)
    table, made_of = _table(rng, secrets)
    harm = (lambda raw: damaged(rng, raw)[0]) if happens(rng, 0.5) else bytes
    said = {"bounds": {column: [-1, 1] for column in one(rng, _CHOSEN)}, "label": ""}
    do = partial(
        _run_database, table=table, harm=harm, name=one(rng, ("cells", "cells", "cells", "other")), stated=said
    )
    return Case("database", f"{made_of}; {short(said, most=300)}", do, secrets, for_a_page=False)


def _run_database(
    folder: Path, *, table: pa.Table, harm: Callable[[bytes], bytes], name: str, stated: dict[str, Any]
) -> str:
    path = folder / "table.duckdb"
    with duckdb.connect(str(path)) as connection, suppress(duckdb.Error):  # what it cannot hold is not there
        connection.from_arrow(table).create("cells")
    path.write_bytes(harm(path.read_bytes()))
    (folder / "declared.json").write_text(json.dumps(stated))
    asked = ("--k", "2", "--epsilon", "1", "--algorithm", "eugkm", "--bounds", "declared.json")
    return command(["run", f"duckdb:///{path}?table={name}", *asked])


def _run(folder: Path, *, put: Mapping[str, Any], name: str, stated: dict[str, Any]) -> str:
    _written(folder, put)
    (folder / "declared.json").write_text(json.dumps(stated))
    asked = ("--k", "2", "--epsilon", "1", "--algorithm", "eugkm", "--bounds", "declared.json")
    return command(["run", str(folder / name), *asked])


def _every_way(folder: Path, *, put: Mapping[str, Any], name: str, stated: dict[str, Any]) -> str:
    """Into memory, in batches, and in pieces for other processes: all find as many rows, or none reads the table."""
    _written(folder, put)
    pairs = stated["bounds"]
    declared = Declaration(
        tuple(pairs),
        (-1.0,) * len(pairs),
        (1.0,) * len(pairs),
        label_column="",
        id_column=stated.get("id_column"),
        rows_per_person=stated.get("rows_per_person", 1),
    )

    def in_memory() -> int:
        return len(declare(open_file(folder / name), declared).private._rows)

    def in_batches() -> int:
        with patch.object(arrow_intake, "_MOST_BYTES", -1):
            return in_memory()

    def in_pieces() -> int:
        Plan.of(table := ParquetTable(folder / name), declared)
        pieces = table.pieces(declared.columns, id_column=declared.id_column)
        return sum(len(piece.batch().values) for piece in pieces)

    found: list[int | str] = []
    for way in (in_memory, in_batches, in_pieces):
        try:
            found.append(way())
        except RequestError as error:
            found.append(str(error))
    rows = {way if isinstance(way, int) else "refused" for way in found[:2]}
    if len(rows) > 1 or isinstance(found[0], str) != isinstance(found[2], str):
        raise Broken(f"one way reads what another one refuses, or reads otherwise: {short(found, most=400)}")
    if isinstance(found[0], str):
        raise RequestError(found[0])
    with_a_name = open_file(folder / name)
    assert isinstance(with_a_name, ParquetTable)
    return "\n".join((with_a_name.name, *with_a_name.columns, with_a_name.fingerprint))


def _written(folder: Path, put: Mapping[str, Any]) -> None:
    """Bytes by place; instead of bytes there may be something that makes what is to stand there."""
    for place, what in put.items():
        path = folder / place
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(what, bytes):
            path.write_bytes(what)
        else:
            what(path)


def _file(rng: np.random.Generator, secrets: Secrets) -> tuple[bytes, str]:
    table, made_of = _table(rng, secrets)
    return _harmed(rng, _saved(rng, table), made_of)


def _harmed(rng: np.random.Generator, raw: bytes, made_of: str) -> tuple[bytes, str]:
    if not happens(rng, 0.4):
        return raw, made_of
    harm = one(rng, tuple(_HARMS))
    raw, about = _HARMS[harm](rng, raw)
    return raw, f"{made_of}; {harm}: {about}"


def _table(rng: np.random.Generator, secrets: Secrets, rows: int | None = None) -> tuple[pa.Table, str]:
    many = one(rng, _ROWS) if rows is None else rows
    kinds = {"x": "float64" if happens(rng, 0.7) else one(rng, tuple(_COLUMNS))}
    kinds |= {name: one(rng, tuple(_COLUMNS)) for name in ("y", "id", "label")}
    names = list(kinds)
    if happens(rng, 0.1):
        names[-1] = one(rng, ("x", "", "\0", "a\nb", "y" * 5_000, *(text for text in TEXTS if text.isprintable())))
    columns = [_COLUMNS[kind](rng, many, secrets) for kind in kinds.values()]
    if happens(rng, 0.02):
        more = one(rng, (300, 2_000))
        names, columns = [*names, *(f"c{i}" for i in range(more))], [*columns, *[pa.nulls(many)] * more]
    return pa.table(
        columns, names=names
    ), f"{many} rows of {', '.join(f'{name} {kind}' for name, kind in kinds.items())}"


def _saved(rng: np.random.Generator, table: pa.Table) -> bytes:
    file = io.BytesIO()
    pq.write_table(
        table,
        file,
        compression=one(rng, ("none", "snappy", "zstd", "gzip")),
        row_group_size=one(rng, (1, 5, 1_000_000)) if len(table) < 100 else 1_000,
        version=one(rng, ("2.6", "2.6", "2.4")),
        data_page_version=one(rng, ("1.0", "2.0")),
        use_dictionary=one(rng, (True, False)),
        write_statistics=one(rng, (True, False)),
        store_schema=one(rng, (True, False)),
        write_page_checksum=one(rng, (True, False)),
    )
    return file.getvalue()


def _gaps(rng: np.random.Generator, many: int) -> Any:
    return rng.random(many) < one(rng, (0.0, 0.3, 1.0))


def _numbers(kind: str) -> _Make:
    """Whole numbers and floats: secret ones, and those at the ends of what the type holds."""

    def make(rng: np.random.Generator, many: int, secrets: Secrets) -> pa.Array:
        dtype = np.dtype(kind)
        if dtype.kind == "f":
            ends: list[Any] = [np.nan, np.inf, -np.inf, 0.0, -0.0, np.finfo(dtype).max, 0.5, -0.25]
        else:
            ends = [np.iinfo(dtype).min, np.iinfo(dtype).max, 0, 1]
        held = np.array(ends, dtype=dtype)[rng.integers(0, len(ends), many)]
        if dtype.itemsize >= 4 and many:
            held[:: int(rng.integers(1, 5))] = one(rng, secrets.numbers)
        if dtype.kind == "f" and happens(rng, 0.5):
            held = rng.uniform(-1, 1, many).astype(dtype)
        return pa.array(held, mask=_gaps(rng, many))

    return make


def _words(kind: pa.DataType) -> _Make:
    def make(rng: np.random.Generator, many: int, secrets: Secrets) -> pa.Array:
        words = [*secrets.words, *map(str, secrets.numbers), "", " a", "a ", "7", "7.0", "é", "e\u0301"]
        cells = [one(rng, words) for _ in range(many)]
        return pa.array(cells, pa.string(), mask=_gaps(rng, many)).cast(kind)

    return make


def _no_text(kind: pa.DataType) -> _Make:
    """Cells of a column of text that are no UTF-8, as careless writers leave them."""

    def make(rng: np.random.Generator, many: int, secrets: Secrets) -> pa.Array:
        cells = [one(rng, _NO_TEXT) + one(rng, secrets.words).encode() for _ in range(many)]
        raw = pa.array(cells, pa.large_binary() if kind == pa.large_string() else pa.binary(), mask=_gaps(rng, many))
        if not pa.types.is_dictionary(kind):
            return raw.view(kind)
        coded = raw.dictionary_encode()
        return pa.DictionaryArray.from_arrays(coded.indices, coded.dictionary.view(pa.string()))

    return make


def _cells(kind: pa.DataType, *cells: Any) -> _Make:
    def make(rng: np.random.Generator, many: int, secrets: Secrets) -> pa.Array:
        return pa.array([one(rng, (*cells, None)) for _ in range(many)], kind)

    return make


def _coded_numbers(rng: np.random.Generator, many: int, secrets: Secrets) -> pa.Array:
    return _numbers(one(rng, ("int64", "float64", "uint8")))(rng, many, secrets).dictionary_encode()


_COLUMNS: Mapping[str, _Make] = {
    **{
        kind: _numbers(kind) for kind in ("float64", "float32", "float16", "int64", "uint64", "int32", "uint16", "int8")
    },
    "text": _words(pa.string()),
    "large text": _words(pa.large_string()),
    "viewed text": _words(pa.string_view()),
    "coded text": _words(pa.dictionary(pa.int32(), pa.string())),
    "coded numbers": _coded_numbers,
    "no UTF-8": _no_text(pa.string()),
    "large, no UTF-8": _no_text(pa.large_string()),
    "coded, no UTF-8": _no_text(pa.dictionary(pa.int32(), pa.string())),
    "nothing": lambda rng, many, secrets: pa.nulls(many),
    "yes or no": _cells(pa.bool_(), True, False),
    "decimal": _cells(pa.decimal128(38, 0), Decimal(10**37), Decimal(-1), Decimal(0)),
    "small decimal": _cells(pa.decimal128(9, 2), Decimal("0.25"), Decimal("-1234567.89")),
    "large decimal": _cells(pa.decimal256(76, 10), Decimal(10**60), Decimal("0.5")),
    "bytes": _cells(pa.binary(), b"\xff", b"a", b""),
    "bytes of one width": _cells(pa.binary(16), bytes(16), b"0123456789abcdef"),
    "dates": _cells(pa.date32(), 0, 2**31 - 1, -(2**31)),
    "moments": _cells(pa.timestamp("ns", "UTC"), 0, 4 * 10**18),
    "moments of nowhere": _cells(pa.timestamp("us", "Nowhere/There"), 0, 1),
    "hours": _cells(pa.time64("us"), 0, 1),
    "spans": _cells(pa.duration("ms"), 0, -1),
    "lists": _cells(pa.list_(pa.float64()), [0.5], []),
    "parts": _cells(pa.struct([("a", pa.float64())]), {"a": 0.5}),
    "maps": _cells(pa.map_(pa.string(), pa.int64()), [("a", 1)], []),
}


def _flipped_at_the_end(rng: np.random.Generator, raw: bytes) -> tuple[bytes, str]:
    """Bytes of the footer: what columns and parts there are, and where."""
    found, places = bytearray(raw), []
    footer = min(int.from_bytes(raw[-8:-4], "little"), len(raw) - 12)
    for _ in range(int(rng.integers(1, 5))):
        places.append(len(raw) - 8 - int(rng.integers(1, footer)))
        found[places[-1]] = int(rng.integers(0, 256))
    return bytes(found), str(places)


def _another_length(rng: np.random.Generator, raw: bytes) -> tuple[bytes, str]:
    length = int(one(rng, (0, 1, 8, len(raw) - 8, len(raw), 2**31 - 1, 2**32 - 1)))
    return raw[:-8] + length.to_bytes(4, "little") + raw[-4:], str(length)


def _something_else(rng: np.random.Generator, raw: bytes) -> tuple[bytes, str]:
    what = one(rng, (b"", b"PAR1", b"PAR1PAR1", b"x,y\n1,2\n", raw[:-4] + b"PARE", raw + raw, b"PAR1" + rng.bytes(90)))
    return what, short(what[:20])


_HARMS: Mapping[str, Callable[[np.random.Generator, bytes], tuple[bytes, str]]] = {
    "damaged": damaged,
    "damaged at the end": _flipped_at_the_end,
    "another length of the footer": _another_length,
    "something else": _something_else,
}


def _folder(rng: np.random.Generator, secrets: Secrets) -> tuple[str, dict[str, Any], str]:
    """Up to four parts of one table, up to two of which are not like the others, and strangers beside them."""
    table, made_of = _table(rng, secrets, one(rng, (1, 7, 60)))
    put: dict[str, Any] = {}
    for part in range(int(rng.integers(1, 5))):
        put[f"parts/{part}.parquet"] = _saved(rng, table)
    done = []
    for mishap in some(rng, tuple(_OTHER_PARTS), 2):
        place = one(rng, tuple(put))
        put[place] = _saved(rng, _OTHER_PARTS[mishap](rng, table, secrets))
        done.append(f"{place} {mishap}")
    for stranger in some(rng, tuple(_STRANGERS), 2):
        put[f"parts/{stranger}"] = _STRANGERS[stranger]
        done.append(f"{stranger!r}")
    if happens(rng, 0.15):
        place = one(rng, [place for place, what in put.items() if isinstance(what, bytes) and len(what) > 99])
        put[place], harm = _harmed(rng, put[place], place)
        done.append(harm)
    return "parts", put, f"a folder of {len(put)}; {made_of}; {', '.join(done)}"


def _retyped(rng: np.random.Generator, table: pa.Table, secrets: Secrets) -> pa.Table:
    at = int(rng.integers(table.num_columns))
    return table.set_column(at, table.column_names[at], _COLUMNS[one(rng, tuple(_COLUMNS))](rng, len(table), secrets))


_OTHER_PARTS: Mapping[str, Callable[[np.random.Generator, pa.Table, Secrets], pa.Table]] = {
    "has another type": _retyped,
    "has another order": lambda rng, table, secrets: (
        table.select(table.column_names[::-1]) if len({*table.column_names}) == table.num_columns else table
    ),
    "has a column less": lambda rng, table, secrets: table.remove_column(int(rng.integers(table.num_columns))),
    "has a column more": lambda rng, table, secrets: table.append_column("more", pa.nulls(len(table))),
    "is empty": lambda rng, table, secrets: table.slice(0, 0),
    "has no type": lambda rng, table, secrets: table.set_column(0, "x", pa.nulls(len(table))),
}
# The names of strangers are bytes that need not be UTF-8.
_STRANGERS: Mapping[str, Any] = {
    "_metadata": b"PAR1",
    ".hidden.parquet": b"nothing",
    "notes.txt": b"nothing",
    "inside/_more/9.parquet": b"nothing",
    "inside/8.parquet": b"PAR1",
    os.fsdecode(b"caf\xe9.parquet"): b"",
    "lost.parquet": lambda path: path.symlink_to("nowhere"),
    "round.parquet": lambda path: path.symlink_to(path),
    "above": lambda path: path.symlink_to(path.parent),
    "pipe.parquet": os.mkfifo,
    "zeros.parquet": lambda path: path.symlink_to("/dev/zero"),
    "folder.parquet": lambda path: path.mkdir(),
}
