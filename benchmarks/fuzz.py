"""Hostile input of all kinds: each case ends in a result or a clear sentence, tells no value, and takes little.

    python -m benchmarks.fuzz --cases 10000 [--kind KIND] [--seed S] [--processes P]
    python -m benchmarks.fuzz [--kind KIND] --seed S --case I

Case I of a seed and a kind is always the same. Prints its figures last and exits with 1 where a promise is broken.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from queue import SimpleQueue

from benchmarks.fuzzing.case import Case
from benchmarks.fuzzing.catalogue import KINDS, case_of
from benchmarks.fuzzing.judge import MEGABYTES, SECONDS, Verdict
from benchmarks.fuzzing.workers import verdicts
from benchmarks.timing import machine

_SECONDS_BETWEEN_REPORTS = 10.0
_EXAMPLES = 4


def main(argv: Sequence[str] | None = None) -> int:
    """Run what is asked for; 0 if all promises were kept."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kind", choices=sorted(KINDS), help="cases of this kind only")
    parser.add_argument("--case", type=int, action="append", help="this case only; may be repeated")
    parser.add_argument("--processes", type=int, default=1)
    asked = parser.parse_args(argv)
    indices = asked.case or range(asked.cases)
    print(f"{machine()}; seed {asked.seed}, {len(indices):,} cases", flush=True)
    began = time.monotonic()
    again = f"--seed {asked.seed}" if asked.kind is None else f"--kind {asked.kind} --seed {asked.seed}"
    came = _all(asked.seed, indices, asked.processes, partial(case_of, kind=asked.kind))
    found = list(_reported(came, total=len(indices), again=again))
    if asked.case:
        for verdict in found:
            print(f"case {verdict.index}, {verdict.family}: {verdict.outcome} {verdict.where}\n  {verdict.about}")
    print(report(found, again=again, seconds=time.monotonic() - began))
    return 0 if all(verdict.kept for verdict in found) else 1


def _all(seed: int, indices: Sequence[int], processes: int, make: Callable[[int, int], Case]) -> Iterator[Verdict]:
    """Verdicts from so many processes at a time, as they come."""
    came: SimpleQueue[Verdict] = SimpleQueue()

    def work(share: Sequence[int]) -> None:
        for verdict in verdicts(seed, share, make=make):
            came.put(verdict)

    with ThreadPoolExecutor(processes) as threads:
        working = [threads.submit(work, indices[first::processes]) for first in range(processes)]
        for _ in indices:
            while came.empty():
                for one in working:
                    if one.done() and (error := one.exception()):
                        raise error
                time.sleep(0.005)
            yield came.get()


def _reported(found: Iterator[Verdict], *, total: int, again: str) -> Iterator[Verdict]:
    """The verdicts as they pass, with a word every few seconds, and at once on a broken promise."""
    reported = time.monotonic()
    for done, verdict in enumerate(found, start=1):
        if not verdict.kept:
            print(f"  BROKEN {again} --case {verdict.index}: {verdict.outcome} {verdict.where}", flush=True)
        if time.monotonic() - reported > _SECONDS_BETWEEN_REPORTS:
            reported = time.monotonic()
            print(f"  {done:,} of {total:,}", flush=True)
        yield verdict


def report(found: Sequence[Verdict], *, again: str, seconds: float) -> str:
    """What was kept and what was broken, by family and by place."""
    broken = [verdict for verdict in found if not verdict.kept]
    lines = []
    by_place: dict[tuple[str, str], list[Verdict]] = defaultdict(list)
    for verdict in broken:
        by_place[verdict.outcome, verdict.where].append(verdict)
    for (outcome, where), verdicts_there in sorted(by_place.items(), key=lambda item: -len(item[1])):
        lines.append(f"{len(verdicts_there)} × {outcome} {where}")
        shortest = sorted(verdicts_there, key=lambda one: len(one.about))[:_EXAMPLES]
        lines += [f"    {again} --case {one.index} ({one.family}): {one.about}" for one in shortest]
    lines.append(f"{'family':<18}{'cases':>7}{'results':>9}{'refused':>9}{'broken':>8}{'slowest':>10}{'most':>10}")
    families = sorted({verdict.family for verdict in found})
    lines += [_line(family, [verdict for verdict in found if verdict.family == family]) for family in families]
    lines.append(_line("all", found))
    kinds = Counter(verdict.outcome.split(":")[0] for verdict in broken)
    lines.append(
        f"{len(found):,} cases in {seconds:.0f} s: {kinds['traceback']} tracebacks, "
        f"{sum(times for kind, times in kinds.items() if 'guard caught' in kind)} guards that caught the unexpected, "
        f"{sum(times for kind, times in kinds.items() if 'leaks' in kind)} leaked values, "
        f"{kinds['hangs'] + kinds['too slow']} hangs (over {SECONDS:g} s), "
        f"{kinds['too much memory'] + kinds['the process died']} over {MEGABYTES:,} MB, {len(broken)} broken in all"
    )
    return "\n".join(lines)


def _line(name: str, found: Sequence[Verdict]) -> str:
    outcomes = Counter(verdict.outcome for verdict in found)
    results, refused = outcomes["result"], outcomes["refused"]
    slowest = max((verdict.seconds for verdict in found), default=0.0)
    most = max((verdict.megabytes for verdict in found), default=0.0)
    broken = len(found) - results - refused
    return f"{name:<18}{len(found):>7,}{results:>9,}{refused:>9,}{broken:>8,}{slowest:>8.2f} s{most:>7,.0f} MB"


if __name__ == "__main__":
    sys.exit(main())
