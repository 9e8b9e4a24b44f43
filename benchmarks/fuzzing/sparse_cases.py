"""Sparse files: ``.npz`` as SciPy writes it, damaged, or claiming what it does not hold."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks.fuzzing.case import Case, command, short
from benchmarks.fuzzing.hostile import happens, one, some
from benchmarks.fuzzing.secrets import Secrets

_Parts = dict[str, Any]


def sparse_case(rng: np.random.Generator) -> Case:
    """A sparse file, and a run on it by the command line."""
    secrets = Secrets.drawn(rng, many=3)
    raw, about = _file(rng, secrets)
    algorithm = one(rng, ("balcan-sparse", "balcan-sparse", "kmeans++", "auto"))
    bounds = one(rng, ("-1,1", "-1,1", "-1,1", "0,1", "-1e308,1e308"))
    more = ["--evaluate"] if happens(rng, 0.3) else []

    def do(folder: Path) -> str:
        path = folder / "words.npz"
        path.write_bytes(raw)
        asked = ["--algorithm", algorithm, "--k", "2", "--epsilon", "1", "--bounds", bounds, *more]
        return command(["run", str(path), *asked])

    # With bounds that wide the file's numbers lie inside, and centres without privacy may be they.
    hidden = secrets if bounds != "-1e308,1e308" else Secrets()
    return Case("sparse file", f"{about}; {algorithm}, bounds {bounds} {short(more)}", do, hidden)


def _file(rng: np.random.Generator, secrets: Secrets) -> tuple[bytes, str]:
    shape = one(rng, ((6, 4), (1, 1), (40, 30), (3, 2_000)))
    values: Any = sparse.random_array(shape, density=0.3, format="csr", rng=rng)
    values.data[: len(secrets.numbers)] = secrets.numbers[: len(values.data)]
    parts: _Parts = {
        "indices": values.indices,
        "indptr": values.indptr,
        "format": np.array(b"csr"),
        "shape": np.array(shape),
        "data": values.data,
    }
    done = some(rng, tuple(_CLAIMS), 2)
    for claim in done:
        _CLAIMS[claim](rng, parts)
    raw = _saved(parts)
    for harm in some(rng, tuple(_HARMS), 1):
        raw = _HARMS[harm](rng, raw)
        done.append(harm)
    return raw, f"{shape} {', '.join(done) or 'as it should be'}"


def _saved(parts: _Parts) -> bytes:
    file = io.BytesIO()
    np.savez_compressed(file, **parts)
    return file.getvalue()


def _replaced(name: str, *values: Any) -> Callable[[np.random.Generator, _Parts], None]:
    def replace(rng: np.random.Generator, parts: _Parts) -> None:
        parts[name] = np.asarray(one(rng, values))

    return replace


def _entry(name: str, *values: Any) -> Callable[[np.random.Generator, _Parts], None]:
    """One number of an array is another."""

    def put(rng: np.random.Generator, parts: _Parts) -> None:
        found = np.array(parts.get(name, 0)).reshape(-1)
        value = one(rng, values)
        if found.dtype.kind in "if" and len(found):
            kind = np.int64 if isinstance(value, int) and found.dtype.kind == "i" else np.float64
            found = found.astype(kind)
            found[int(rng.integers(0, len(found)))] = value
            parts[name] = found

    return put


def _without_a_part(rng: np.random.Generator, parts: _Parts) -> None:
    parts.pop(one(rng, tuple(parts)), None)


_CLAIMS: Mapping[str, Callable[[np.random.Generator, _Parts], None]] = {
    "another shape": _replaced("shape", [0, 4], [6, 0], [6], [6, 4, 1], [-6, 4], [2**40, 4], [6, 2**40], [6, 99_999]),
    "a shape that is none": _replaced(
        "shape", [2**63 - 1, 2**63 - 1], [6.5, 4], ["6", "4"], [], 6, [[6, 4]], [np.nan, 4]
    ),
    "another format": _replaced("format", b"csc", b"coo", b"bsr", b"dia", b"xyz", "csr", 3, b"lil", b"\xff", b""),
    "odd places": _entry("indices", -1, 10**6, 2**31 - 1, 2**62, -(2**62)),
    "odd line ends": _entry("indptr", -1, 10**6, 2**31 - 1, 2**62, 3, 0),
    "odd values": _entry("data", float("nan"), float("inf"), 1e308, -1e308, 5e-324),
    "values of another kind": _replaced("data", ["a"] * 8, [True] * 8, [1j] * 8, [b"x"] * 8, [2**63 - 1] * 8, [], 3.0),
    "places of another kind": _replaced("indices", [0.5] * 8, ["a"] * 8, [], [[0] * 8], [True] * 8, 0),
    "more than it says": lambda rng, parts: parts.update(data=np.ones(10**6)),
    "a part missing": _without_a_part,
    "a stranger inside": lambda rng, parts: parts.update(secret=np.arange(5), row=np.arange(3)),
}


def _claimed(rng: np.random.Generator, raw: bytes) -> bytes:
    """The header of an array says that it holds billions of numbers, or is written in Python's own format."""
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(raw)) as old, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as new:
        chosen = one(rng, old.namelist())
        for name in old.namelist():
            content = old.read(name)
            if name == chosen:
                shape = one(rng, (b"(9999999999,)", b"(-1,)", b"(1e9,)", b"()", b"(99999999999999999999,)", b"((((1,"))
                kind = one(rng, (b"<f8", b"|O", b"<i8", b"|V9", b"M8[s]", b"<U9", b"zz"))
                header = b"{'descr': '" + kind + b"', 'fortran_order': False, 'shape': " + shape + b", }"
                content = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + content[-20:]
            new.writestr(name, content)
    return file.getvalue()


def _bomb(rng: np.random.Generator, raw: bytes) -> bytes:
    """Three hundred kilobytes that unpack to three hundred megabytes."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as new, new.open("data.npy", "w", force_zip64=True) as part:
        zeros = bytes(10**7)
        for _ in range(30):
            part.write(zeros)
    return file.getvalue()


def _flipped(rng: np.random.Generator, raw: bytes) -> bytes:
    found = bytearray(raw)
    for place in rng.integers(0, len(raw), 6):
        found[int(place)] = int(rng.integers(0, 256))
    return bytes(found)


_HARMS: Mapping[str, Callable[[np.random.Generator, bytes], bytes]] = {
    "cut off": lambda rng, raw: raw[: int(rng.integers(0, len(raw)))],
    "flipped bytes": _flipped,
    "followed": lambda rng, raw: raw + rng.bytes(30),
    "another header": _claimed,
    "no zip": lambda rng, raw: rng.bytes(50),
    "a CSV": lambda rng, raw: b"x,y\n1,2\n",
    "a bomb": lambda rng, raw: _bomb(rng, raw) if happens(rng, 0.1) else raw,
}
