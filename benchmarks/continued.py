"""Whether a release that continues another one tells what changed, on samples of which a tenth of the rows did.

A table is released; then a tenth of its rows are others: some segments lose from a fifth to two thirds of them to
another one, and of the others as many rows as before are there. A second release continues the first. A line for each
ε: how often a change is told of a segment that has as many rows as before, how often one beyond a fifth of its rows is
found, how often the interval of a change holds, and how often the segment that is named as lying there is the one with
most of its rows. Beyond 3 % false alarms, or below 90 % found at ε = 1, it exits with 1.

python -m benchmarks.continued [--seeds 12] [--first-seed 0] [--algorithms auto,eugkm,dplloyd,lsh-coreset]
    [--epsilons 0.3,1,3] [--tables people,fifteen,city,colours] [--segments 0.2] [--each]
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from benchmarks.draws import Table, find_truth, open_table, release
from dpviz.core.noise import StudyNoise
from dpviz.releases.continuing import COUNTED_AGAIN, Continued, count_again, find_continued
from dpviz.releases.described_table import make_described_table
from dpviz.releases.release_request import Division
from dpviz.runs.open_table import declare
from dpviz.tables.loaded_table import LoadedTable
from dpviz.tables.named import sample
from dpviz.words import NINE_IN_TEN

CHANGED, LARGE = 0.1, 0.2
FALSE, FOUND, HELD, LIES = "false alarms", "found", "interval holds", "names the segment with most"


def main(argv: Sequence[str] | None = None) -> int:
    """Serve the command line."""
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(prog="python -m benchmarks.continued", description=__doc__.split("\n")[0])
    parser.add_argument("--seeds", type=int, default=12)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--algorithms", default="auto,eugkm,dplloyd,lsh-coreset")
    parser.add_argument("--epsilons", default="0.3,1,3")
    parser.add_argument("--tables", default="people,fifteen,city,colours")
    parser.add_argument("--segments", type=float, default=Division.segments)
    parser.add_argument("--each", action="store_true", help="a line for each table and algorithm, too")
    asked = parser.parse_args(argv)
    kinds = (FALSE, FOUND, HELD, LIES)
    print(f"{'ε':>5}  {'of':24} " + " ".join(f"{kind:>28}" for kind in kinds))
    failed = False
    for epsilon in map(float, asked.epsilons.split(",")):
        whole: dict[str, list[bool]] = defaultdict(list)
        for table in map(open_table, asked.tables.split(",")):
            for algorithm in asked.algorithms.split(","):
                told: dict[str, list[bool]] = defaultdict(list)
                for seed in range(asked.first_seed, asked.first_seed + asked.seeds):
                    for kind, hits in measure(table, algorithm, epsilon, seed, asked.segments).items():
                        told[kind] += hits
                        whole[kind] += hits
                if asked.each:
                    print(_format_line(epsilon, f"{table.name} {algorithm}", told, kinds), flush=True)
        print(_format_line(epsilon, "all", whole, kinds), flush=True)
        failed |= np.mean(whole[FALSE]) > 0.03 or (epsilon == 1 and np.mean(whole[FOUND]) < 0.9)
    return int(failed)


def measure(table: Table, algorithm: str, epsilon: float, seed: int, segments: float) -> dict[str, list[bool]]:
    """What two releases tell, of which the second one continues the first."""
    rng = np.random.default_rng([seed, *f"continued {table.name} {algorithm} {epsilon}".encode()])
    parts = release(table, algorithm, epsilon, seed, share=segments)
    before = find_truth(table, parts)
    later = change_table(table, draw_rows(before.cell, len(before.sizes), rng))
    second = release(later, algorithm, epsilon, seed + 10_000, share=segments * (1 - COUNTED_AGAIN))
    earlier = parts.publish_segments("0" * 64)
    assert earlier is not None
    again = count_again(earlier, later.described, epsilon=epsilon * segments * COUNTED_AGAIN, noise=StudyNoise(rng))
    found = find_continued(earlier, again, second.clustered.run.domain, second.clustered.unit_centers)
    after, theirs = find_truth(later, parts), find_truth(later, second).cell
    return judge(found, before.sizes, after.sizes, after.cell, theirs)


def judge(
    found: Continued, before: np.ndarray, after: np.ndarray, cell: np.ndarray, theirs: np.ndarray
) -> dict[str, list[bool]]:
    """What is right of it: ``before`` and ``after`` (k,) are true sizes, ``cell`` and ``theirs`` (n,) the earlier and
    the later segment of each row."""
    same, large = before == after, np.abs(after - before) > LARGE * np.maximum(before, 1)
    holds = np.abs(found.differences - (after - before)) <= NINE_IN_TEN * found.sd
    lies = [
        bool(np.bincount(theirs[cell == place]).argmax() == partner)
        for place, partner in enumerate(found.places.tolist())
        if partner >= 0 and (cell == place).any()
    ]
    return {FALSE: found.changed[same].tolist(), FOUND: found.changed[large].tolist(), HELD: holds.tolist(), LIES: lies}


def draw_rows(cell: np.ndarray, k: int, rng: np.random.Generator) -> np.ndarray:
    """Which row stands in the place of each, (n,): a tenth of them are others.

    Segments in any order lose from a fifth to two thirds of their rows to one that gains, as long as that tenth lasts;
    with what is left, rows of the others are replaced by rows of the same segment.
    """
    order, left = np.arange(len(cell)), round(CHANGED * len(cell))
    members = [np.flatnonzero(cell == one) for one in range(k)]
    gaining, *losing = rng.permutation([one for one in range(k) if len(members[one])]).tolist()
    untouched = losing[: len(losing) // 2]
    for one in losing[len(losing) // 2 :]:
        many = round(rng.uniform(LARGE, 2 / 3) * len(members[one]))
        if many > left:
            untouched.append(one)
            continue
        order[rng.choice(members[one], many, replace=False)] = rng.choice(members[gaining], many)
        left -= many
    staying = np.concatenate([members[one] for one in untouched]) if untouched else np.zeros(0, dtype=int)
    for place in rng.permutation(staying)[:left].tolist():
        order[place] = rng.choice(members[cell[place]])
    return order


def change_table(table: Table, order: np.ndarray) -> Table:
    """The table with these rows in place of its own."""
    source, declared = sample(table.name).load()
    assert isinstance(source, LoadedTable)
    other = replace(source, frame=source.frame.iloc[order].reset_index(drop=True), fingerprint="")
    opened = declare(other, declared)
    cells = {name: values[order] for name, values in table.cells.items()}
    described = make_described_table(opened, other)
    return Table(table.name, table.k, opened, described, table.points[order], table.values[order], cells)


def _format_line(epsilon: float, of: str, told: dict[str, list[bool]], kinds: Sequence[str]) -> str:
    cells = (f"{100 * np.mean(told[kind]):.1f} % of {len(told[kind])}" if told[kind] else "" for kind in kinds)
    return f"{epsilon:>5g}  {of:24} " + " ".join(f"{cell:>28}" for cell in cells)


if __name__ == "__main__":
    sys.exit(main())
