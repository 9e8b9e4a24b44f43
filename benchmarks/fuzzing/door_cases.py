"""What was packed to fill memory, and the doors that no other kind comes through: key files, stored claims, stdout."""

from __future__ import annotations

import errno
import gzip
import io
import sys
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.fuzzing.case import REFUSED, Broken, Case, command, short
from benchmarks.fuzzing.hostile import NUMBER_TEXTS, TEXTS, damaged, happens, one
from dpviz.api import console as command_line
from dpviz.app.charts.studies import stored_verdicts
from dpviz.releases.signature import check_signer
from dpviz.tables.csv_intake import load_csv, open_csv
from dpviz.tables.file_format import FileFormat
from dpviz.tables.proposal import propose
from experiments.claim_folder import ClaimFolder
from experiments.registry import CLAIMS

_MOST_PACKED = 100_000
_LINES = (b"1\n", b"\n", b"1,1\n", b'"1\n', b'"a"\n', b",,,\n", b"1,a,1\n", b"\r", b",", b"x", b"\0", b"1;2\n")
_ASK = ("--k", "2", "--epsilon", "1", "--bounds", "-1,1", "--algorithm", "dplloyd")


def packed_case(rng: np.random.Generator) -> Case:
    """A file below 100 kB that unpacks to a thousand times as much."""
    way = one(rng, tuple(_PACKED))
    raw, name, about = _PACKED[way](rng)
    asked = one(rng, ("load", "propose", "several", "run", "run")) if name.endswith(".gz") else "run"

    def do(folder: Path) -> str:
        if len(raw) > _MOST_PACKED:
            raise Broken("the case itself is too large")
        path = folder / name
        path.write_bytes(raw)
        if asked == "run":
            return command(["run", name, *_ASK])
        if asked == "propose":
            return str(propose(open_csv(path)))
        return repr(load_csv(path, declared=FileFormat(several_lines=asked == "several")))

    return Case("packed file", f"{about}, {len(raw):,} bytes; {asked}", do)


def _packed_lines(rng: np.random.Generator) -> tuple[bytes, str, str]:
    columns, line = one(rng, (1, 2, 3, 50, 2_000)), one(rng, _LINES)
    many = int(one(rng, (1e5, 1e6, 2e7, 8e7)) // len(line))
    head = ",".join(f"c{number}" for number in range(columns)).encode() + b"\n"
    raw, many = _pack_fitting(lambda many: gzip.compress(head + line * many, 9), many)
    return raw, "data.csv.gz", f"{columns} columns, {many:,} times {line!r}"


def _pack_fitting(pack: Callable[[int], bytes], many: int) -> tuple[bytes, int]:
    """So many packed, or as many as make a small file."""
    while len(raw := pack(many)) > _MOST_PACKED:
        many = int(0.95 * many * _MOST_PACKED / len(raw))
    return raw, many


def _packed_rows(rng: np.random.Generator) -> tuple[bytes, str, str]:
    rows, columns = one(rng, ((10_000_000, 1), (1_000_000, 5), (100_000, 20), (30_000_000, 1)))
    file = io.BytesIO()
    cells = pa.array(np.zeros(1_000)) if happens(rng, 0.5) else pa.array(["a"] * 1_000)
    part = pa.table({f"c{number}": pa.chunked_array([cells] * (rows // 1_000)) for number in range(columns)})
    # In one page: of pages of 20,000 rows, as they are by default, what is said of each would be most of the file.
    pq.write_table(part, file, compression="zstd", row_group_size=rows, max_rows_per_page=rows)
    return file.getvalue(), "data.parquet", f"{rows:,} rows of {columns}, {cells.type}"


def _packed_entries(rng: np.random.Generator) -> tuple[bytes, str, str]:
    entries, kind = int(one(rng, (1e6, 1e7, 9e7))), one(rng, ("int8", "float32"))
    rows = one(rng, (1, 1_000))

    def pack(entries: int) -> bytes:
        file = io.BytesIO()
        parts: dict[str, Any] = {
            "indices": np.zeros(entries, dtype=kind if kind == "int8" else "int16"),
            "indptr": np.linspace(0, entries, rows + 1).astype(np.int64),
            "data": np.ones(entries, dtype=kind),
        }
        np.savez_compressed(file, format=np.array(b"csr"), shape=np.array((rows, 5)), **parts)
        return file.getvalue()

    raw, entries = _pack_fitting(pack, min(entries, 9 * 10**7 // np.dtype(kind).itemsize))
    return raw, "data.npz", f"{entries:,} entries of {kind}"


_PACKED: Mapping[str, Callable[[np.random.Generator], tuple[bytes, str, str]]] = {
    "lines": _packed_lines,
    "more lines": _packed_lines,
    "rows": _packed_rows,
    "entries": _packed_entries,
}


def key_case(rng: np.random.Generator) -> Case:
    """A key file that is damaged, or of another kind."""
    raw, about = damaged(rng, _key())

    def do(folder: Path) -> str:
        (folder / "key.pem").write_bytes(raw)
        check_signer(folder / "key.pem")
        return "a key"

    return Case("key file", about, do)


@cache
def _key() -> bytes:
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import ed25519

    return ed25519.Ed25519PrivateKey.from_private_bytes(bytes(32)).private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )


def claims_case(rng: np.random.Generator) -> Case:
    """The folder of reproduced claims with something wrong in one of its files."""
    claim = CLAIMS[one(rng, tuple(CLAIMS))]
    name = one(rng, (f"{claim.id}.csv", f"{claim.id}.csv", "manifest.json", "verdicts.csv", stored_verdicts.FILE))
    raw = (stored_verdicts.FOLDER / name).read_bytes()
    if happens(rng, 0.5):
        raw, about = damaged(rng, raw)
    else:
        separator = one(rng, (b",", b":", b"\n"))
        parts, text = raw.split(separator), one(rng, (*NUMBER_TEXTS, *TEXTS))
        parts[int(rng.integers(0, len(parts)))] = text.encode("utf-8", "replace")
        raw, about = separator.join(parts), short(text)

    def do(folder: Path) -> str:
        for one_name in (f"{claim.id}.csv", "manifest.json", "verdicts.csv", stored_verdicts.FILE):
            whole = (stored_verdicts.FOLDER / one_name).read_bytes()
            (folder / one_name).write_bytes(raw if one_name == name else whole)
        with ClaimFolder(folder) as held:
            table, _, made = held.read(claim, claim.settings(quick=False))
            found = held.read_verdict(claim, table) if made.get("look", 0) and len(table) else None
        return "" if found is None else found.sentence

    return Case("stored claims", f"{name}: {about}", do)


class _Full(io.StringIO):
    """An output whose disk is full."""

    def flush(self) -> None:
        raise OSError(errno.ENOSPC, "full")

    def fileno(self) -> int:
        return _null().fileno()


@cache
def _null() -> io.BufferedWriter:
    return Path("/dev/null").open("wb")


def stdout_case(rng: np.random.Generator) -> Case:
    """A command whose output cannot be written."""
    argv = one(rng, (["algorithms"], ["--help"], ["advise", "--n", "1000", "--d", "2", "--k", "3"], ["run", "--help"]))

    def do(folder: Path) -> str:
        said = io.StringIO()
        with patch.object(sys, "stdout", _Full()), patch.object(sys, "stderr", said):
            code = command_line.main(argv)
        if code != REFUSED or "could not be written" not in said.getvalue():
            raise Broken(f"a full disk ends with exit code {code}")
        return said.getvalue()

    return Case("full disk", " ".join(argv), do)
