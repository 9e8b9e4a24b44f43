"""Every claim of a guarantee against the frequencies of many draws: lower bounds on ε that must stay below the claims.

    python -m benchmarks.audits [--draws 4000] [--runs 1500] [--only WORD]

Whole runs of every algorithm on tiny neighbouring tables, every mechanism between the answers that tell most, tests of
tuples, messages of single users, and attacks on a person in a sample. Where frequencies can tell, each has a twin with
too little noise, which has to be found out: with how many draws is printed, and what all draws say of the honest one.
Ends with 1 where a claim is refuted or a twin is not. The suite does the same of a few, with as many draws as find out
their twins.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence

from benchmarks.auditing.attacks import audit_of_an_attack
from benchmarks.auditing.bounds import SIZES, Audit, settled
from benchmarks.auditing.mechanisms import CASES, gaussian_audit
from benchmarks.auditing.runs import audit_of_runs, audited
from benchmarks.auditing.tuples import (
    ALONE,
    MECHANISMS,
    audit_of_messages,
    audit_of_rows,
    audit_of_tuples,
    far_pair,
    lone_pair,
    misfit_pair,
)
from benchmarks.timing import machine


def main(argv: Sequence[str] | None = None) -> int:
    """Run what is asked for; 0 if every claim held and every twin was found out."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=4000, help="of each mechanism")
    parser.add_argument("--runs", type=int, default=1500, help="of each algorithm; of an attack, a fifth")
    parser.add_argument("--only", default="", metavar="WORD", help="audits whose name has it")
    asked = parser.parse_args(argv)
    print(machine(), flush=True)
    broken = []
    for name, audit, most in every_audit(asked.draws, asked.runs):
        if asked.only in name:
            sentence, held = judge(audit, most)
            print(f"{'held' if held else 'BROKEN':7} {name}: {sentence}", flush=True)
            broken += [] if held else [name]
    print(f"Did not hold: {', '.join(broken)}." if broken else "Every claim held, and every twin was found out.")
    return 1 if broken else 0


OVER_CATEGORIES = ("dplloyd (gdp)", "lsh-coreset (pld)")
"""What is audited over tables with categories, too: one of sums, one of a tree. Of Laplace noise on seven coordinates
one run tells too little."""


def every_audit(draws: int, runs: int) -> Iterator[tuple[str, Audit, int]]:
    """All audits by name, each with the most draws that it has."""
    for setting in audited():
        yield f"runs of {setting.card.id} ({setting.accounting.value})", audit_of_runs(setting), runs
        if (name := f"{setting.card.id} ({setting.accounting.value})") in OVER_CATEGORIES:
            yield f"runs of {name} over categories", audit_of_runs(setting, mixed=True), runs
    for name, case in CASES.items():
        yield f"draws of {name}", case.audit(), draws
    yield "draws of gaussian noise", gaussian_audit(), draws
    for name, mechanism in MECHANISMS.items():
        yield f"tuples: {name}, a misfit more", audit_of_tuples(mechanism, misfit_pair), draws
        yield f"tuples: {name}, a tuple farther apart", audit_of_tuples(mechanism, far_pair), draws
    yield "tuples: an average without a test", audit_of_tuples(ALONE, lone_pair), draws
    yield "noise on a row", audit_of_rows(), 5 * draws
    for group in range(3):
        for epsilon in (1.0, 2.0):
            yield f"messages of group {group}, ε = {epsilon:g}", audit_of_messages(group, epsilon), draws
    # What the last two release says so little of one person that ten times the ε does not show.
    for algorithm, times in (("auto", 10), ("dplloyd", 10), ("eugkm", 10), ("balcan", None), ("lsh-coreset", None)):
        for epsilon in (0.5, 2.0):
            audit = audit_of_an_attack(algorithm, epsilon, times=times)
            yield f"attacks on {algorithm}, ε = {epsilon:g}", audit, runs // 5


def judge(audit: Audit, most: int) -> tuple[str, bool]:
    """What came of an audit with at most so many draws, and whether the claim held and the twin was found out."""
    verdict = settled(audit, [*(size for size in SIZES if size < most), most])
    whole = audit.honest(most)
    if audit.thinned is None:
        found_out = "it has no twin"
    elif verdict is None:
        found_out = "its twin was not found out"
    else:
        found_out = f"its twin was found out with {verdict.draws:,} draws"
    held = whole <= 0 and (audit.thinned is None or verdict is not None)
    return f"{found_out}; with {most:,} the bound is {whole:+.3f} from the claim", held


if __name__ == "__main__":
    sys.exit(main())
