"""What release-grade noise costs beside study noise: loss and seconds of the same algorithms on the same tables.

Losses are ratios to ten starts of k-means++ on the same rows; a line has both medians, their ratio, how likely ranks
as unlike as theirs are where both laws are one (Mann and Whitney 1947), and the seconds of one release. The aim is a
ratio of at most 1.03 and less than a minute. Where runs have two outcomes, medians jump from one to the other:
ranks say more.

    python -m benchmarks.release_noise [--data FOLDER] [--runs 20] [--algorithms auto] [--deltas 1e-6,0] [--epsilons 1]
        [--tables people,s1,letter,adult] [--tails]
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.stats import mannwhitneyu

from benchmarks.real_tables import REAL, real_table
from benchmarks.tails import TUNING, table_of
from benchmarks.timing import machine
from dpviz.core.exact_noise import ExactNoise, ExactSource
from dpviz.core.private_session import PrivateTable
from dpviz.runs.clipped_rows import clip_rows
from dpviz.runs.evaluation import evaluate, find_reference
from dpviz.runs.one_run import run_request
from dpviz.runs.open_table import declare
from dpviz.runs.request import Contender, Request
from dpviz.tables.named import sample

SAMPLES = {"people": 5, "fifteen": 15}


class Measured(NamedTuple):
    """Loss ratios of runs, and the seconds of the slowest."""

    ratios: list[float]
    seconds: float


def main() -> None:
    warnings.simplefilter("ignore")
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--data", type=Path, default=Path("../shared/data"))
    options.add_argument("--runs", type=int, default=20)
    options.add_argument("--algorithms", default="auto")
    options.add_argument("--deltas", default="1e-6,0")
    options.add_argument("--epsilons", default="1")
    options.add_argument("--tables", default="people,s1,letter,adult")
    options.add_argument("--tails", action="store_true", help="the tables of benchmarks.tails instead")
    given = options.parse_args()
    print(machine())
    print(f"{'table':<26}{'algorithm':<14}{'ε':>6}{'δ':>8}{'study':>9}{'release':>9}{'ratio':>8}{'p':>7}{'seconds':>9}")
    for name in TUNING if given.tails else given.tables.split(","):
        table, k = _table(name, given.data)
        rows = clip_rows(table.reveal(note="benchmark"), table.domain.region)
        reference = find_reference(rows, k)
        for request in _requests(given, k):
            study, release = (
                _measured(request, table, rows, reference, given.runs, exact=exact) for exact in (False, True)
            )
            one, other = np.median(study.ratios), np.median(release.ratios)
            alike = mannwhitneyu(study.ratios, release.ratios).pvalue
            print(
                f"{name:<26}{request.algorithm:<14}{request.epsilon:>6g}{request.delta:>8g}{one:>9.4f}{other:>9.4f}"
                f"{other / one:>8.4f}{alike:>7.2f}{release.seconds:>9.1f}",
                flush=True,
            )


def _table(name: str, folder: Path) -> tuple[PrivateTable, int]:
    if name in TUNING:
        k, make = TUNING[name]
        return table_of(make), k
    if name in REAL:
        return real_table(name, folder)
    return declare(*sample(name).load()).private, SAMPLES[name]


def _requests(given: argparse.Namespace, k: int) -> Iterator[Request]:
    for algorithm in given.algorithms.split(","):
        for epsilon in map(float, given.epsilons.split(",")):
            for delta in map(float, given.deltas.split(",")):
                yield Request(Contender.from_text(algorithm), k, epsilon, delta)


def _measured(request, table, rows, reference, runs: int, *, exact: bool) -> Measured:
    ratios, slowest = [], 0.0
    for _ in range(runs):
        noise: ExactSource | None = ExactNoise() if exact else None
        began = time.perf_counter()
        finished = run_request(request, table, noise=noise)
        slowest = max(slowest, time.perf_counter() - began)
        ratios.append(evaluate(rows, finished.unit_centers, reference).to_dict()["ratio"])
    return Measured(ratios, slowest)


if __name__ == "__main__":
    main()
