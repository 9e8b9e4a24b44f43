"""An auditor of others over every algorithm: all pairs of neighbours, and the mistakes that it has to object to.

    python -m benchmarks.outside_audit [--most 8] [--only WORD] [--planted]

Every setting of every private algorithm, with study noise and released, over every kind of table that it takes (see
``auditing.outside``); ``--most`` so many pairs of each kind. The auditor has to lie beside the checkout. Ends with 1
where it objects to anything; with ``--planted``, where it does not object to a mistake that it once found.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Sequence

from benchmarks.auditing.outside import PLACE, audit_plan, list_plans, load_auditor
from benchmarks.auditing.outside_mistakes import TESTS, list_planted, read_reasons
from benchmarks.mutation.forked import Nurseries
from benchmarks.timing import machine


def main(argv: Sequence[str] | None = None) -> int:
    """Audit what is asked for; 0 if the auditor objects to what it should, and to nothing else."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--most", type=int, help="pairs of each setting and kind of table; all, if it is not said")
    parser.add_argument("--only", default="", metavar="WORD", help="plans or mistakes whose name has it")
    parser.add_argument("--planted", action="store_true", help="plant mistakes")
    asked = parser.parse_args(argv)
    if load_auditor() is None:
        print(f"The outside auditor is not at {PLACE}.")
        return 2
    print(machine(), flush=True)
    return plant_all(asked.only) if asked.planted else audit_all(asked.only, asked.most)


def audit_all(only: str, most: int | None) -> int:
    """Every plan; 1 if the auditor objects to one."""
    began, called, pairs, refused, objected = time.monotonic(), Counter[str](), 0, 0, 0
    for plan in list_plans():
        for found in audit_plan(plan, most=most) if only in str(plan) else ():
            called.update(found.called)
            pairs, refused = pairs + 1, refused + found.refused
            if found.objection:
                objected += 1
                print(f"{plan}: {found.objection}", flush=True)
    print(f"{pairs:,} pairs ({refused} of them refused alike), {called.total():,} calls, {objected} objections")
    print(", ".join(f"{kind} {number:,}" for kind, number in sorted(called.items())))
    print(f"{time.monotonic() - began:.0f} s")
    return 1 if objected else 0


def plant_all(only: str) -> int:
    """Every mistake; 1 if one that is within the auditor's reach passes."""
    passed, outside, found, reasons = 0, 0, 0, read_reasons()
    with Nurseries([TESTS]) as nursery:
        for planted in list_planted():
            if only not in planted.mistake.mistake:
                continue
            if planted.outside:
                outside += 1
                print(f"outside its reach  {planted.mistake.mistake}: {reasons[planted.outside]}", flush=True)
                continue
            objection = planted.plant(nursery)
            found, passed = found + bool(objection), passed + (not objection)
            print(f"{'found ' if objection else 'PASSED'}  {planted.mistake.mistake}: {objection}", flush=True)
    print(f"{found} mistakes found, {passed} passed, {outside} outside its reach")
    return 1 if passed else 0


if __name__ == "__main__":
    sys.exit(main())
