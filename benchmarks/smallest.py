"""How often a promised smallest group is broken, and what it costs in groups, on samples whose truth is known.

A line for each ε and each promise, in parts of the rows that a segment has on average: releases with a group of fewer
rows than promised, groups that are left beside those that knowing all sizes would leave, and releases that say that
they cannot keep the promise. A broken one in more than a hundred exits with 1.

python -m benchmarks.smallest [--seeds 25] [--algorithms auto,eugkm,dplloyd,lsh-coreset] [--epsilons 0.3,1,3]
    [--tables people,fifteen,city,colours]
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from benchmarks.draws import find_truth, open_table, release
from dpviz.releases.smallest_groups import Groups, find_groups
from dpviz.releases.tallies import SegmentTallies

PROMISES = (0.1, 0.3, 1.0)
_EXACT = 1e-6


def main(argv: Sequence[str] | None = None) -> int:
    """Serve the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.smallest", description=__doc__.split("\n")[0])
    parser.add_argument("--seeds", type=int, default=25)
    parser.add_argument("--algorithms", default="auto,eugkm,dplloyd,lsh-coreset")
    parser.add_argument("--epsilons", default="0.3,1,3")
    parser.add_argument("--tables", default="people,fifteen,city,colours")
    asked = parser.parse_args(argv)
    tables = [open_table(name) for name in asked.tables.split(",")]
    print(f"{'ε':>5} {'promise':>8} {'releases':>9} {'broken':>8} {'groups':>7} {'knowing':>8} {'not kept':>9}")
    whole = np.zeros(2)
    for epsilon in map(float, asked.epsilons.split(",")):
        told: dict[float, list[tuple[bool, int, int, bool]]] = {promise: [] for promise in PROMISES}
        for table in tables:
            for algorithm in asked.algorithms.split(","):
                for seed in range(asked.seeds):
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        parts = release(table, algorithm, epsilon, seed)
                    truth, tallies = find_truth(table, parts).sizes, parts.tallies
                    assert tallies is not None
                    for promise in PROMISES:
                        least = max(1, round(promise * truth.mean()))
                        found = find_groups(tallies, parts.clustered.unit_centers, least)
                        knowing = find_groups(_make_exact(tallies, truth), parts.clustered.unit_centers, least)
                        broken = found.kept and _find_fewest(found, truth) < least
                        told[promise].append((broken, len(found.every), len(knowing.every), not found.kept))
        for promise, lines in told.items():
            broken, groups, knowing_all, failed = np.mean(lines, axis=0)
            whole += (sum(line[0] for line in lines), len(lines))
            print(
                f"{epsilon:>5g} {promise:>7g}x {len(lines):>9} {100 * broken:>6.2f} % {groups:>7.2f} "
                f"{knowing_all:>8.2f} {100 * failed:>7.1f} %"
            )
    print(f"\nbroken in {100 * whole[0] / whole[1]:.2f} % of {whole[1]:,.0f} promises")
    return int(whole[0] > 0.01 * whole[1])


def _make_exact(tallies: SegmentTallies, sizes: np.ndarray) -> SegmentTallies:
    """What would be counted without noise."""
    one = tallies.every[0]
    return SegmentTallies(
        (replace(one, counts=sizes[:, None].astype(float), sd=_EXACT, possible=np.ones((len(sizes), 1), bool)),)
    )


def _find_fewest(groups: Groups, sizes: np.ndarray) -> float:
    """Rows of the group that has fewest."""
    return float(min(sizes[[place - 1 for place in one.segments]].sum() for one in groups.every))


if __name__ == "__main__":
    sys.exit(main())
