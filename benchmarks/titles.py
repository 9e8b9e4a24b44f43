"""Whether titles can say that a run failed, and do: every rule of a verdict on runs from good to hopeless.

python -m benchmarks.titles [--runs 200] [--first 5000] [--tuning] [--jobs 2]

The thresholds of ``dpviz/runs/verdict.py`` were chosen with ``--tuning --first 1000``, on the tuning families; without
it the judging families answer. A run is bad if it loses more than twice as much as k-means++, or nearly as much as one
centre; it is good if it loses less than 1.2 times as much. Printed are, for each rule, how many runs of each kind it
names; false alarms and misses; and how far the centres of two draws lie apart, over what the title says of them.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from math import sqrt
from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from benchmarks.families import FAMILIES, FORECAST_FAMILIES, Family, Size, generated
from benchmarks.timing import machine
from dpviz.core.check import RequestError
from dpviz.runs.clipped_rows import clip_rows
from dpviz.runs.evaluation import find_reference, match, nicv
from dpviz.runs.one_run import run

DELTA, BAD, FINE, LIKE_ONE = 1e-6, 2.0, 1.2, 0.9
ALGORITHMS = (
    *("auto", "auto", "auto", "dplloyd", "balcan", "lsh-coreset", "eugkm", "gkm", "stable-kmeans", "balcan-kmedian"),
)
EPSILONS = (0.05, 0.1, 0.3, 1.0, 3.0, 10.0)
# Of good runs so many may be told to have failed, and of bad ones so many may have a title without a warning.
MOST_FALSE, MOST_MISSED = 0.03, 0.25
# Titles that say outright that a run is lost.
OUTRIGHT = ("failed", "edge", "dropped", "one")


class Titled(NamedTuple):
    """One run: its rule, whether it is good or bad, and two draws apart over what the title says."""

    algorithm: str
    epsilon: float
    kind: str
    worth: str
    apart: float | None


def titled(family: Family, size: Size, algorithm: str, epsilon: float, seed: int) -> Titled | None:
    """Two draws on one table; None where the algorithm cannot serve it."""
    with threadpool_limits(1):
        table = generated(family, size, seed)
        rows = clip_rows(table.reveal(note="a bench"), table.domain.region)
        points = np.asarray(rows.points)
        reference, of_one = find_reference(rows, size.k).nicv, nicv(points, points.mean(axis=0)[None])
        try:
            one, other = (run(algorithm, table, k=size.k, epsilon=epsilon, delta=DELTA, seed=draw) for draw in (0, 1))
        except RequestError:
            return None
        loss, verdict = nicv(points, one.unit_centers), one.verdict
        bad = loss > BAD * reference or loss > LIKE_ONE * of_one
        worth = "bad" if bad else "good" if loss < FINE * reference else "between"
        there = other.unit_centers[match(one.unit_centers, other.unit_centers)]
        apart = float(np.median(np.linalg.norm(one.unit_centers - there, axis=1))) / sqrt(2)
        claimed = verdict.error if verdict is not None and verdict.fine else None
        kind = "none" if verdict is None else verdict.kind
        return Titled(algorithm, epsilon, kind, worth, apart / claimed if claimed else None)


def titles(runs: int, *, first: int, judging: bool, jobs: int) -> list[Titled]:
    """So many random cells, the families in turn; the same in every call."""
    rng = np.random.default_rng(first)
    families = [family for family in (*FAMILIES, *FORECAST_FAMILIES) if family.judging is judging]
    work = []
    for place in range(runs):
        size = Size(*(int(rng.choice(of)) for of in ((1000, 3000, 10_000, 30_000), (1, 2, 3, 6), (3, 5, 10))))
        algorithm, epsilon = str(rng.choice(ALGORITHMS)), float(rng.choice(EPSILONS))
        work.append(delayed(titled)(families[place % len(families)], size, algorithm, epsilon, first + place))
    return [one for one in Parallel(n_jobs=jobs)(work) if one is not None]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--first", type=int, default=5000)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--tuning", action="store_true")
    asked = parser.parse_args()
    print(machine(), file=sys.stderr)
    found = titles(asked.runs, first=asked.first, judging=not asked.tuning, jobs=asked.jobs)
    return report(found)


def report(found: list[Titled]) -> int:
    """Print what each rule named; 1 where more is wrong than is promised."""
    everyone = Counter(one.worth for one in found)
    for kind, _ in Counter(one.kind for one in found).most_common():
        named = Counter(one.worth for one in found if one.kind == kind)
        print(f"{kind:8s} " + "  ".join(f"{worth} {named[worth]:3d} of {many}" for worth, many in everyone.items()))
    false = sum(one.kind in OUTRIGHT for one in found if one.worth == "good")
    missed = sum(one.kind == "fine" for one in found if one.worth == "bad")
    apart = [one.apart for one in found if one.apart is not None]
    print(f"two draws apart over what the title says, quartiles: {np.quantile(apart, (0.25, 0.5, 0.75)).round(2)}")
    print(f"false alarms {false} of {everyone['good']}, misses {missed} of {everyone['bad']}, runs {len(found)}")
    return int(false > MOST_FALSE * everyone["good"] or missed > MOST_MISSED * everyone["bad"])


if __name__ == "__main__":
    sys.exit(main())
