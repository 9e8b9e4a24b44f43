"""How often each kind of interval about segments covers the truth, on the sample *People*.

python -m benchmarks.segments [--seeds 200] [--epsilon 1] [--share 0.2]
"""

from __future__ import annotations

import argparse
from collections import defaultdict

import numpy as np

from dpviz.core.accounting import Accounting
from dpviz.core.noise import StudyNoise
from dpviz.releases.described_table import DescribedTable, make_described_table
from dpviz.releases.segments import ask_segments
from dpviz.releases.segments_report import NumbersSaid, SegmentsReport
from dpviz.releases.tallies import Interval
from dpviz.runs.one_run import run
from dpviz.runs.open_table import declare
from dpviz.tables.loaded_table import LoadedTable
from dpviz.tables.named import sample

DELTA, CLUSTERS = 1e-6, 5
_LEVELS = {"lower_quartile": 0.25, "median": 0.5, "upper_quartile": 0.75}


def covered(
    *, seeds: int, clusterings: int | None = None, epsilon: float = 1.0, share: float = 0.2
) -> dict[str, list[float]]:
    """For each kind of interval the shares of those of a release that cover the truth, a number a release.

    Releases share so many clusterings; each has its own if nothing is said.
    """
    source, declared = sample("people").load()
    assert isinstance(source, LoadedTable)
    opened = declare(source, declared)
    table = make_described_table(opened, source)
    centers = [
        run("auto", opened.private, k=CLUSTERS, epsilon=(1 - share) * epsilon, delta=DELTA, seed=seed).unit_centers
        for seed in range(clusterings or seeds)
    ]
    found = defaultdict(list)
    for seed in range(seeds):
        released = centers[seed % len(centers)]
        noise = StudyNoise(np.random.default_rng((seed, 1)))
        session = table.private.open(
            epsilon=share * epsilon, delta=0.0, accounting=Accounting.PURE, noise=noise, needs_n=False
        )
        report = ask_segments(session, released, table.description)
        hits = _hits(report, source, table, released)
        for kind, covers in hits.items():
            found[kind].append(float(np.mean(covers)))
    return dict(found)


def _hits(
    report: SegmentsReport, source: LoadedTable, table: DescribedTable, centers: np.ndarray
) -> dict[str, list[bool]]:
    domain = table.description.domain
    points = domain.region.rows(domain.to_unit(source.columns(domain.columns)))
    squared = ((points[:, None] - centers) ** 2).sum(axis=2)
    cell, hits = squared.argmin(axis=1), defaultdict(list)
    for place, segment in enumerate(report.segments):
        mine = cell == place
        hits["size"].append(_covers(segment.size, mine.sum()))
        for said in segment.columns:
            cells = source.frame[said.column].to_numpy()[mine]
            if isinstance(said, NumbersSaid):
                for name, level in _LEVELS.items():
                    interval = getattr(said, name)
                    if interval is not None:
                        true = np.quantile(cells, level, method="inverted_cdf")
                        hits[name.replace("_", " ")].append(_covers(interval, true))
            else:
                hits["share"] += [_covers(one.share, (cells == one.label).mean()) for one in said.shares]
    cap = report.quality_report.caps[0]
    hits["loss"].append(_covers(report.quality_report.released, np.minimum(squared.min(axis=1), cap).mean()))
    return dict(hits)


def _covers(interval: Interval, true: float) -> bool:
    # Losses are rounded down to a millionth before they are added.
    return bool(interval.low - 2e-6 <= true <= interval.high + 2e-6)


def main() -> None:
    """Print a line for each kind of interval."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=200)
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--share", type=float, default=0.2)
    asked = parser.parse_args()
    for kind, shares in covered(seeds=asked.seeds, epsilon=asked.epsilon, share=asked.share).items():
        print(f"{kind:16s} covered {np.mean(shares):.1%}")


if __name__ == "__main__":
    main()
