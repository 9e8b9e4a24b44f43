"""What the tests catch: a sample of one-token mistakes, each tried by the tests that reach its line.

    python -m benchmarks.mutation --sample 400 --seed S [--part core] [--processes 2] [--out FILE]
    python -m benchmarks.mutation --against FILE [--live]
    python -m benchmarks.mutation --planted [WORDS]

The second command tries the changes of an earlier result again, or those alone that lived, and names those that were
caught then and live now. The third one says which test catches each known mistake of ``tests/planted/mistakes`` (with
these words in its name). The first run measures which tests reach which lines; that takes minutes and is kept outside
the tree. Exits with 1 where a change lives that ``survivors.yaml`` does not explain.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.mutation.choice import SECONDS, chosen_tests
from benchmarks.mutation.crew import crew
from benchmarks.mutation.forked import Trial
from benchmarks.mutation.places import PARTS, Place, places, sample
from benchmarks.mutation.planted import mistakes
from benchmarks.mutation.reached import ReachedLines, reached_lines, test_files
from benchmarks.mutation.results import Result, explanations, killed_before, report, store, stored
from benchmarks.timing import machine

_REPORT_EVERY = 20


def main(argv: Sequence[str] | None = None) -> int:
    """Run what is asked for; 0 if every change was caught or is explained."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sample", type=int, default=400)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--part", choices=PARTS, action="append", help="this folder only; may be repeated")
    parser.add_argument("--file", action="append", help="of these files only, such as dpviz/core/private_session.py")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="of tests for a change, without it")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--against", type=Path, help="the changes of an earlier result instead of a sample")
    parser.add_argument("--live", action="store_true", help="of an earlier result only what lived")
    parser.add_argument("--planted", nargs="?", const="", metavar="WORDS")
    asked = parser.parse_args(argv)
    if asked.planted is not None:
        return _planted(asked.planted, asked.processes, asked.seconds)
    parts = tuple(asked.part or PARTS)
    chosen = _again(asked.against, parts, live=asked.live) if asked.against else sample(parts, asked.sample, asked.seed)
    chosen = [place for place in chosen if not asked.file or place.file in asked.file]
    print(f"{machine()}; seed {asked.seed}, {len(chosen)} changes; load {_load()}", flush=True)
    began = time.monotonic()
    with crew(asked.processes) as run:
        reached = reached_lines(test_files(), run)
        tried = [_Tried.of(place, reached, asked.seconds) for place in chosen]
        explained = explanations()
        results: list[Result] = []
        for one, outcome in zip(tried, run([one.trial for one in tried]), strict=True):
            results.append(Result.of(one.place, outcome, tests=len(one.trial.tests), explained=explained))
            if len(results) % _REPORT_EVERY == 0:
                alive = sum(not result.red for result in results)
                print(f"  {len(results)} of {len(tried)}, {alive} live", flush=True)
                if asked.out:
                    store(results, asked.out)
    if asked.out:
        store(results, asked.out)
    print(report(results))
    print(f"{time.monotonic() - began:.0f} s by the clock, load {_load()}")
    worse = killed_before(results, stored(asked.against)) if asked.against else []
    print(*(f"CAUGHT BEFORE: {line}" for line in worse), sep="\n")
    return int(any(not result.red and not result.explanation for result in results))


def _planted(words: str, processes: int, seconds: float) -> int:
    """Which test catches each known mistake; 0 if there is one for all."""
    lives = 0
    wanted = [one for one in mistakes() if words in one.mistake]
    with crew(processes) as run:
        reached = reached_lines(test_files(), run)
        chosen = [chosen_tests(one.place, reached, seconds=seconds) for one in wanted]
        trials = (
            Trial(tests, one.file, one.source).patient(seconds) for one, tests in zip(wanted, chosen, strict=True)
        )
        for one, outcome in zip(wanted, run([*trials]), strict=True):
            lives += not outcome.red
            print(f"{one.mistake}: {outcome.test or 'LIVES'} ({outcome.seconds:.1f} s)", flush=True)
    return int(lives > 0)


@dataclass(frozen=True)
class _Tried:
    place: Place
    trial: Trial

    @classmethod
    def of(cls, place: Place, reached: ReachedLines, seconds: float) -> _Tried:
        tests = chosen_tests(place, reached, seconds=seconds)
        usual = sum(reached.seconds[test] for test in tests)
        return cls(place, Trial(tests, place.file, place.mutated()).patient(usual))


def _again(earlier: Path, parts: Sequence[str], *, live: bool) -> list[Place]:
    """The places of an earlier result that are still there."""
    keys = {result.key: None for result in stored(earlier) if result.part in parts and not (live and result.red)}
    found = {place.key: place for part in parts for place in places(part)}
    for key in keys.keys() - found.keys():
        print(f"gone: {key}")
    return [found[key] for key in keys if key in found]


def _load() -> str:
    return " ".join(f"{load:.1f}" for load in os.getloadavg())


if __name__ == "__main__":
    sys.exit(main())
