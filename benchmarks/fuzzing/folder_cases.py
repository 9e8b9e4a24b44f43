"""Folders of studies: finished ones that were damaged, and then are gone on with."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

import numpy as np

from benchmarks.fuzzing.case import Case, command, short
from benchmarks.fuzzing.csv_bytes import well_formed_file
from benchmarks.fuzzing.hostile import NUMBER_TEXTS, TEXTS, happens, one, some
from benchmarks.fuzzing.secrets import Secrets

_ASK = ("--bounds", "-1,1", "--columns", "x,y", "--ks", "2", "--epsilons", "1", "--repeats", "2", "--jobs", "1")
_OTHERS = (
    ("--seed", "3"),
    ("--ks", "2,3"),
    ("--epsilons", "3"),
    ("--delta", "1e-6"),
    ("--bounds", "0,1"),
    ("--repeats", "1"),
)


def folder_case(rng: np.random.Generator) -> Case:
    """A study resumed in a folder that something has happened to, perhaps with another request."""
    damages = some(rng, tuple(_DAMAGES), 2)
    # The damage is drawn now, so that it is the same whenever the case is done.
    seeds = [int(rng.integers(0, 2**32)) for _ in damages]
    more = one(rng, _OTHERS) if happens(rng, 0.4) else ()
    resume = ["--resume"] if happens(rng, 0.85) else []

    def do(folder: Path) -> str:
        _study().copied_to(folder)
        for name, seed in zip(damages, seeds, strict=True):
            _DAMAGES[name](np.random.default_rng(seed), folder / "study")
        argv = ["sweep", "data.csv", *_ASK, "--algorithms", "dplloyd", "--out", "study", *resume, *more]
        return command(argv)

    about = f"{', '.join(damages) or 'no damage'}; {short(list(more))} {' '.join(resume)}"
    return Case("study folder", about, do, _study().secrets, for_a_page=False)


class _Study:
    """A finished study, made once: a table, and the folder that a sweep of it left."""

    def __init__(self) -> None:
        self._home = tempfile.TemporaryDirectory(prefix="dpviz-fuzz-study-")
        self._path = Path(self._home.name)
        file = well_formed_file(np.random.default_rng(5))
        self.secrets: Secrets = file.secrets
        data = self._path / "data.csv"
        data.write_bytes(file.raw)
        command(["sweep", str(data), *_ASK, "--algorithms", "dplloyd", "--out", str(self._path / "study")])

    def copied_to(self, folder: Path) -> None:
        shutil.copytree(self._path, folder, dirs_exist_ok=True)


@cache
def _study() -> _Study:
    return _Study()


def _file(rng: np.random.Generator, study: Path) -> Path:
    return study / one(rng, ("results.csv", "results.csv", "manifest.json"))


def _rewritten(change: Callable[[np.random.Generator, bytes], bytes]) -> Callable[[np.random.Generator, Path], None]:
    def damage(rng: np.random.Generator, study: Path) -> None:
        path = _file(rng, study)
        if path.is_file():
            path.write_bytes(change(rng, path.read_bytes()))

    return damage


def _flipped(rng: np.random.Generator, raw: bytes) -> bytes:
    found = bytearray(raw)
    for place in rng.integers(0, len(raw), 4) if raw else ():
        found[int(place)] = int(rng.integers(0, 256))
    return bytes(found)


def _another_word(rng: np.random.Generator, raw: bytes) -> bytes:
    """One cell or one value is something else."""
    separator = one(rng, (b",", b":", b"\n"))
    parts = raw.split(separator)
    parts[int(rng.integers(0, len(parts)))] = one(rng, (*NUMBER_TEXTS, *TEXTS)).encode("utf-8", errors="replace")
    return separator.join(parts)


def _a_line_twice(rng: np.random.Generator, raw: bytes) -> bytes:
    lines = raw.splitlines(keepends=True)
    return b"".join(lines + lines[1:2])


def _a_column_less(rng: np.random.Generator, raw: bytes) -> bytes:
    return b"\n".join(line.rpartition(b",")[0] for line in raw.split(b"\n"))


def _gone(rng: np.random.Generator, study: Path) -> None:
    _room_for(_file(rng, study))


def _room_for(path: Path) -> bool:
    """Whether something else can stand there; what stood there is gone then."""
    if path.is_dir() and not path.is_symlink():
        path.rmdir()
    elif path.parent.is_dir():
        path.unlink(missing_ok=True)
    return path.parent.is_dir()


def _a_folder_instead(rng: np.random.Generator, study: Path) -> None:
    if _room_for(path := _file(rng, study)):
        path.mkdir()


def _a_link_instead(rng: np.random.Generator, study: Path) -> None:
    if _room_for(path := _file(rng, study)):
        path.symlink_to(one(rng, (path.name, "/nowhere/at/all", "../data.csv")))


def _a_file_instead_of_all(rng: np.random.Generator, study: Path) -> None:
    shutil.rmtree(study)
    study.write_bytes(b"x")


_DAMAGES: Mapping[str, Callable[[np.random.Generator, Path], None]] = {
    "cut off": _rewritten(lambda rng, raw: raw[: int(rng.integers(0, len(raw) + 1))]),
    "flipped bytes": _rewritten(_flipped),
    "another word": _rewritten(_another_word),
    "a line twice": _rewritten(_a_line_twice),
    "a column less": _rewritten(_a_column_less),
    "empty": _rewritten(lambda rng, raw: b""),
    "one word": _rewritten(
        lambda rng, raw: one(rng, (b"null", b"[]", b"3", b'"x"', b"\xff\xfe", b"{", b"\0", b"[" * 50_000))
    ),
    "a quote": _rewritten(lambda rng, raw: raw[: len(raw) // 2] + b'"' + raw[len(raw) // 2 :]),
    "a seed that is none": _rewritten(
        lambda rng, raw: raw.replace(
            b'"seed": 0', b'"seed": ' + one(rng, (b'"a"', b"1e999", b"[]", b"null", b"-5", b"9" * 5_000))
        )
    ),
    "returns": _rewritten(lambda rng, raw: raw.replace(b"\n", b"\r")),
    "a giant field": _rewritten(lambda rng, raw: raw + b"x" * 200_000 + b"\n"),
    "gone": _gone,
    "a folder instead": _a_folder_instead,
    "a link instead": _a_link_instead,
    "a file instead of all": _a_file_instead_of_all,
}
