"""Which tests reach a line, and how long each takes: measured a test file at a time, and kept until sources change."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from coverage.numbits import numbits_to_nums

from benchmarks.mutation.forked import NEVER, ROOT, Outcome, Trial, cache_folder
from tests.durations import stored as durations

# Tests of what these rooms promise. Those of pages, pictures and whole programs reach every line as well, but a
# mistake that only they catch is found late.
TEST_FOLDERS = ("core", "releases", "tables", "algorithms", "contract", "runs", "sample_data", "api")
_TEST_FILES = ("test_public_api.py",)
_MEASURING_SECONDS = 100.0
# What takes longer in a whole run, all its cases together, is not measured.
_LONGEST = 15.0


@dataclass(frozen=True)
class Reach:
    """What one test file covers: the seconds of each test, and the files in which its lines are found."""

    test_file: str
    seconds: dict[str, float]
    data: Path


class ReachedLines:
    """The map, read a module at a time."""

    def __init__(self, reaches: Sequence[Reach]) -> None:
        self._reaches = reaches
        every = ((test, seconds) for reach in reaches for test, seconds in reach.seconds.items())
        self.seconds = {test: seconds for test, seconds in every if seconds != NEVER}

    @cache  # noqa: B019 -- as long as the command runs
    def tests_of(self, file: str) -> dict[int, frozenset[str]]:
        """For each line of a module the tests that run it, apart from importing it."""
        found: dict[int, set[str]] = defaultdict(set)
        for reach in self._reaches:
            for test, line in _lines(reach.data, file):
                if test in self.seconds:
                    found[line].add(test)
        return {line: frozenset(tests) for line, tests in found.items()}

    @cache  # noqa: B019 -- as long as the command runs
    def focus(self, test_file: str) -> dict[str, float]:
        """How much of all that a test file runs lies in each module: a file that is about a module runs little else."""
        data = next(reach.data for reach in self._reaches if reach.test_file == test_file)
        with closing(sqlite3.connect(data)) as base:
            rows = base.execute("select path, numbits from line_bits join file on file.id = file_id").fetchall()
        lines: dict[str, set[int]] = defaultdict(set)
        for path, bits in rows:
            lines["dpviz/" + str(path).rpartition("/dpviz/")[2]].update(numbits_to_nums(bits))
        total = sum(map(len, lines.values()))
        return {file: len(found) / total for file, found in lines.items()}


def test_files() -> list[str]:
    """The files whose tests count, in the order in which they are measured."""
    tests = ROOT / "tests"
    found = [path for folder in TEST_FOLDERS for path in sorted((tests / folder).rglob("test_*.py"))]
    found += [path for pattern in _TEST_FILES for path in sorted(tests.glob(pattern))]
    return [str(path.relative_to(ROOT)) for path in found]


def reached_lines(files: Sequence[str], run_all: Callable[[Sequence[Trial]], Iterable[Outcome]]) -> ReachedLines:
    """The map of these test files; what was measured before for the same sources is read."""
    folder = cache_folder() / "reached" / _digest(sorted((ROOT / "dpviz").rglob("*.py")))
    folder.mkdir(parents=True, exist_ok=True)
    shared = _digest(path for path in sorted((ROOT / "tests").rglob("*.py")) if _helps(path))
    places = {file: folder / _named(file, _digest([ROOT / file]), shared) for file in files}
    missing = [file for file in files if not places[file].with_suffix(".json").exists()]
    trials = [
        Trial([file], coverage=str(places[file].with_suffix(".coverage")), without=_too_long(file)).patient(
            _MEASURING_SECONDS
        )
        for file in missing
    ]
    for file, outcome in zip(missing, run_all(trials), strict=True):
        if outcome.test:
            print(f"  {outcome.test} is red without any change, and left out: {outcome.why}", flush=True)
        places[file].with_suffix(".json").write_text(json.dumps(dict(outcome.durations)))
        print(f"  reached by {file}: {len(outcome.durations)} tests, {outcome.seconds:.1f} s", flush=True)
    return ReachedLines([_read(file, places[file]) for file in files])


def _too_long(file: str) -> list[str]:
    return [f"{file}::{function}" for function, seconds in durations().get(file, {}).items() if seconds > _LONGEST]


def _named(file: str, *digests: str) -> str:
    """Without a dot, which a suffix is put behind."""
    return "-".join((file.removesuffix(".py").replace("/", "-"), *digests))


def _helps(path: Path) -> bool:
    """Whether tests import it; those of planted mistakes do not count, and nobody else imports what helps them."""
    return not path.name.startswith("test_") and "planted" not in path.parts


def _read(file: str, place: Path) -> Reach:
    return Reach(file, json.loads(place.with_suffix(".json").read_text()), place.with_suffix(".coverage"))


def _lines(data: Path, file: str) -> list[tuple[str, int]]:
    """Pairs of a test and a line of the module."""
    if not data.exists():
        return []
    with closing(sqlite3.connect(data)) as base:
        rows = base.execute(
            "select context, numbits from line_bits join file on file.id = file_id"
            " join context on context.id = context_id where path like ? and context != ''",
            (f"%/{file}",),  # the checkout may have moved
        ).fetchall()
    return [(test, line) for test, bits in rows for line in numbits_to_nums(bits)]


def _digest(paths: Iterable[Path]) -> str:
    found = hashlib.sha256()
    for path in paths:
        found.update(str(path.relative_to(ROOT)).encode() + b"\0" + path.read_bytes() + b"\0")
    return found.hexdigest()[:16]
