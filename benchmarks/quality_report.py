"""What the quality report of a release is worth: how near it comes to the revealed ratio, and which runs it flags.

python -m benchmarks.quality_report [--repeats 5] [--epsilons 1,0.3] [--share 0.2] [--jobs 2]

A run is bad if it loses more than twice as much as k-means++; it is flagged where the quality report does not call it
good. A false alarm is a run that is not bad and called poor; where it says that it cannot tell is counted apart.
"""

from __future__ import annotations

import argparse
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from benchmarks.families import FAMILIES, Family, Rows, Size, group_middles, group_width
from dpviz.algorithms.steps import CentersStep
from dpviz.core.accounting import Accounting
from dpviz.core.noise import StudyNoise
from dpviz.releases.described_table import make_described_table
from dpviz.releases.segments import ask_segments
from dpviz.releases.segments_report import QualityVerdict
from dpviz.runs.clipped_rows import clip_rows
from dpviz.runs.evaluation import find_reference, nicv
from dpviz.runs.one_run import run
from dpviz.runs.open_table import declare
from dpviz.tables.declarations import Declaration
from dpviz.tables.loaded_table import make_numeric_table

DELTA, BAD = 1e-6, 2.0
SIZES = (Size(20_000, 2, 5), Size(20_000, 6, 4), Size(5_000, 6, 5))
# Groups of very unlike sizes, as narrow as "far groups" and narrower: small ones are missed where noise is large.
UNLIKE = tuple(
    (f"sizes {':'.join(map(str, shares))}, width x {narrow}", shares, narrow)
    for shares in ((1, 20), (1, 20, 100))
    for narrow in (0.25, 0.1)
)
UNLIKE_SIZES = ((5_000, 6), (20_000, 6), (20_000, 10))


@dataclass(frozen=True)
class ClusterRecovery:
    """One run and its quality report."""

    table: str
    epsilon: float
    lost: float
    verdict: QualityVerdict
    error: float
    covered: bool
    """Of the ratio that is not capped, which no interval promises."""


def unlike_sizes(shares: tuple[int, ...], narrow: float, n: int, d: int, rng: np.random.Generator) -> Rows:
    """Round groups of very unlike sizes."""
    weights, k = np.array(shares) / sum(shares), len(shares)
    who = rng.choice(k, n, p=weights)
    return group_middles(k, d, rng)[who] + narrow * group_width(k, d) * rng.normal(size=(n, d))


def certified(table: str, rows: Rows, k: int, epsilon: float, share: float, seed: int) -> ClusterRecovery:
    """A run of ``auto`` and the quality report that the rest of ε buys."""
    with threadpool_limits(1):
        radius = 1.0 if rows.shape[1] > 3 else None
        source = make_numeric_table(rows)
        declared = Declaration(lower=(-1.0,), upper=(1.0,), scaling="common", radius=radius, n_public=len(rows))
        opened = declare(source, declared)
        private, description = opened.private, make_described_table(opened, source).description
        released = run("auto", private, k=k, epsilon=(1 - share) * epsilon, delta=DELTA, seed=seed)
        last = released.frames[-1].step
        session = private.open(
            epsilon=share * epsilon,
            delta=0.0,
            accounting=Accounting.PURE,
            noise=StudyNoise(np.random.default_rng((seed, 1))),
            needs_n=False,
        )
        noise_sd = last.center_noise_sd if isinstance(last, CentersStep) else None
        said = ask_segments(session, released.unit_centers, description, center_noise_sd=noise_sd).quality_report
        revealed = clip_rows(private.reveal(note="benchmark"), private.domain.region)
        points = np.asarray(revealed.points)
        loss, one = nicv(points, released.unit_centers), nicv(points, points.mean(axis=0)[None])
        return ClusterRecovery(
            table,
            epsilon,
            loss / find_reference(revealed, k).nicv,
            said.verdict,
            said.ratio.value / (loss / one) - 1,
            said.ratio.low <= loss / one <= said.ratio.high,
        )


def _plans(
    repeats: int, epsilons: tuple[float, ...], share: float
) -> Iterator[tuple[str, Rows, int, float, float, int]]:
    for epsilon in epsilons:
        for size in SIZES:
            for family in FAMILIES:
                for seed in range(repeats):
                    yield f"{family.name}, {size}", _rows(family, size, seed), size.k, epsilon, share, seed
    for name, shares, narrow in UNLIKE:
        for n, d in UNLIKE_SIZES:
            for seed in range(repeats):
                rows = unlike_sizes(shares, narrow, n, d, np.random.default_rng((seed, n, d)))
                yield f"{name}, {n:,} x {d}", rows, len(shares), 0.3, share, seed


def _rows(family: Family, size: Size, seed: int) -> Rows:
    return family.make(
        size.n, size.d, size.k, np.random.default_rng((seed, zlib.crc32(f"{family.name} {size}".encode())))
    )


def main() -> None:
    """Print a line a table, then the shares over all of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--epsilons", default="1,0.3")
    parser.add_argument("--share", type=float, default=0.2)
    parser.add_argument("--jobs", type=int, default=2)
    asked = parser.parse_args()
    plans = _plans(asked.repeats, tuple(map(float, asked.epsilons.split(","))), asked.share)
    found = Parallel(asked.jobs)(delayed(certified)(*plan) for plan in plans)
    for key in dict.fromkeys((one.table, one.epsilon) for one in found):
        _line(f"{key[0]}, ε = {key[1]:g}", [one for one in found if (one.table, one.epsilon) == key])
    for epsilon in dict.fromkeys(one.epsilon for one in found):
        families = [one for one in found if one.epsilon == epsilon and not one.table.startswith("sizes")]
        _line(f"eight families, ε = {epsilon:g}", families)
    _line("groups of unlike sizes, ε = 0.3", [one for one in found if one.table.startswith("sizes")])
    _line("all", found)


def _line(name: str, found: list[ClusterRecovery]) -> None:
    if not found:
        return
    bad, fine = ([one for one in found if (one.lost > BAD) is is_bad] for is_bad in (True, False))
    errors = np.abs([one.error for one in found])
    middle, most = np.nanmedian(errors), np.nanquantile(errors, 0.9)
    print(
        f"{name:58s} ratio off by {middle:6.1%} (nine in ten {most:6.1%}), "
        f"covered {np.mean([one.covered for one in found]):4.0%} | "
        f"bad {len(bad):3d}: {_verdicts(bad)} | fine {len(fine):3d}: {_verdicts(fine)}"
    )


def _verdicts(found: list[ClusterRecovery]) -> str:
    return ", ".join(f"{sum(one.verdict is verdict for one in found)} {verdict.value}" for verdict in QualityVerdict)


if __name__ == "__main__":
    main()
