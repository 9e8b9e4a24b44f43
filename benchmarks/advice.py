"""The stored study that advice is read from, and a judgement of that advice on published tables it has not seen.

python -m benchmarks.advice --fit [--jobs 1] [--repeats 2]      writes dpviz/runs/advice/advice_study.csv
python -m benchmarks.advice --judge FOLDER [--out measured.csv]  how often the advised algorithm was near the best

The study runs on the tuning families only: each as it is, reaching the bounds; in a part of them, since bounds are
often wider than what they bound; and with more groups than k, since nobody knows the right k. What a file holds already
is not run again. The published tables of ``--judge`` (benchmarks/real_tables.py) take no part in the study.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from dataclasses import asdict
from itertools import product
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from benchmarks.families import FAMILIES, Family, Generator, Rows, Size, generated
from benchmarks.real_tables import REAL, real_table
from benchmarks.timing import machine
from dpviz.algorithms.card import Card, Setting
from dpviz.algorithms.registry import list_private_cards
from dpviz.core.private_session import PrivateTable
from dpviz.core.revealed_rows import Revealed
from dpviz.runs.advice.advice import NEAR, choose_cheapest, foresee
from dpviz.runs.advice.judgement import Judgement
from dpviz.runs.clipped_rows import clip_rows
from dpviz.runs.evaluation import find_reference, nicv
from dpviz.runs.one_run import run
from dpviz.runs.request import Contender, Request

DELTA = 1e-6
TABLE_SEED, RUN_SEED = 30_000, 90_000
STORED = Path(__file__).resolve().parents[1] / "dpviz" / "runs" / "advice" / "advice_study.csv"
# So many rows has every synthetic table: losses depend on rows times budget, so another ε serves other numbers.
FIT_ROWS = 6_000
FIT_EPSILONS = (0.025, 0.1, 0.4, 1.6, 6.4)
FIT_DIMS, FIT_KS = (2, 6, 24), (3, 8, 24)
# Runs of a card on a synthetic table are not repeated once they took so long.
FIT_SECONDS = 0.5
# How much of the bounds a narrowed family fills.
PART = 0.3
JUDGE_EPSILONS, JUDGE_REPEATS = (0.3, 1.0, 3.0), 5
# Algorithms whose estimate is above are not run: on synthetic tables, and on published tables.
MOST_OPERATIONS, JUDGE_MOST_OPERATIONS = 2e9, 1e9


def medians(
    table: PrivateTable,
    k: int,
    *,
    epsilon: float,
    delta: float,
    repeats: int,
    hopeless: bool = True,
    most_operations: float = MOST_OPERATIONS,
    most_seconds: float = inf,
    reference: float | None = None,
) -> Iterator[dict[str, Any]]:
    """A line for each card that can run: the median ratio to k-means++ of its runs, and their median seconds."""
    revealed = clip_rows(table.reveal(note="a bench"), table.domain.region)
    reference = reference or find_reference(revealed, k).nicv
    for card in list_private_cards():
        request = Request(Contender.of(card), k, epsilon, delta)
        judged, setting = Judgement.of_request(request, table), request.make_setting(table)
        slow = card.operations is not None and card.operations(setting, card.params()) > most_operations
        # Where a bench told what to expect, red means a large loss, not a larger one than that of others.
        skipped = judged.needed_n > setting.n and card.expect is None and not hopeless
        if judged.refusal or slow or skipped:
            continue
        runs: list[tuple[float, float]] = []
        while len(runs) < repeats and sum(seconds for _, seconds in runs) < most_seconds:
            runs.append(_one(card, table, revealed, k, epsilon, delta, RUN_SEED + len(runs)))
        loss, seconds = np.median(runs, axis=0)
        yield {"algorithm": card.id, "ratio": loss / reference, "seconds": seconds}


def _one(
    card: Card, table: PrivateTable, revealed: Revealed, k: int, epsilon: float, delta: float, seed: int
) -> tuple[float, float]:
    began = time.process_time()
    done = run(card, table, k=k, epsilon=epsilon, delta=delta, seed=seed)
    seconds = time.process_time() - began
    return nicv(revealed.points, done.unit_centers), seconds


def narrowed(family: Family) -> Family:
    """The same tables in a part of the bounds, somewhere off their middle."""

    def make(n: int, d: int, k: int, rng: Generator) -> Rows:
        direction = rng.normal(size=d)
        return PART * family.make(n, d, k, rng) + (1 - PART) / 2 * direction / np.linalg.norm(direction)

    return Family(f"{family.name}, in a part", make, judging=False, alike=family.alike)


def crowded(family: Family) -> Family:
    """The same with a third more groups than are asked for."""

    def make(n: int, d: int, k: int, rng: Generator) -> Rows:
        return family.make(n, d, k + max(1, k // 3), rng)

    return Family(f"{family.name}, more than k", make, judging=False, alike=family.alike)


def run_on_synthetic_table(family: Family, size: Size, repeats: int) -> list[dict[str, Any]]:
    """All cards that are not hopeless on one synthetic table, at each ε and δ."""
    table = generated(family, size, TABLE_SEED)
    reference = find_reference(clip_rows(table.reveal(note="a bench"), table.domain.region), size.k).nicv
    rows = []
    with threadpool_limits(1):
        for delta in (DELTA, 0.0):
            for epsilon in FIT_EPSILONS:
                asked = {"family": family.name, **asdict(size), "epsilon": epsilon, "delta": delta}
                options = {"repeats": repeats, "hopeless": False, "most_seconds": FIT_SECONDS, "reference": reference}
                found = medians(table, size.k, epsilon=epsilon, delta=delta, **options)
                rows += [{**asked, **line} for line in found]
    return rows


def fit(out: Path, *, jobs: int, repeats: int) -> None:
    """Run what the study lacks and write it, a line for each synthetic table, ε, δ and card."""
    tuning = [family for family in FAMILIES if not family.judging]
    families = [*tuning, *map(narrowed, tuning), *map(crowded, tuning)]
    index = ["family", "d", "k"]
    earlier = pd.read_csv(out, dtype={"ratio": str, "seconds": str}) if out.exists() else pd.DataFrame(columns=index)
    known = set(earlier[index].itertuples(index=False, name=None))
    work = [
        delayed(run_on_synthetic_table)(family, Size(FIT_ROWS, d, k), repeats)
        for d, k, family in product(FIT_DIMS, FIT_KS, families)
        if (family.name, d, k) not in known
    ]
    rows: list[dict[str, Any]] = []
    began = time.monotonic()
    for done, part in enumerate(Parallel(n_jobs=jobs, return_as="generator")(work), start=1):
        rows += part
        print(f"{done} of {len(work)} synthetic tables, {time.monotonic() - began:.0f} s", flush=True)
    fresh = pd.DataFrame(rows)
    if rows:
        fresh["ratio"], fresh["seconds"] = fresh["ratio"].map("{:.4g}".format), fresh["seconds"].map("{:.2g}".format)
    frame = pd.concat([earlier, fresh]).sort_values(["d", "k", "family", "delta", "epsilon", "algorithm"])
    frame.to_csv(out, index=False)
    print(f"{len(frame):,} lines, {out.stat().st_size / 1e3:.0f} kB in {out}")


def measured(name: str, epsilon: float, folder: Path) -> list[dict[str, Any]]:
    """All cards on a published table at one ε."""
    table, k = real_table(name, folder)
    with threadpool_limits(1):
        size = {"table": name, "n": table.n_public, "d": table.domain.dim, "k": k, "epsilon": epsilon}
        found = medians(
            table, k, epsilon=epsilon, delta=DELTA, repeats=JUDGE_REPEATS, most_operations=JUDGE_MOST_OPERATIONS
        )
        return [{**size, "delta": DELTA, **line} for line in found]


def judge(folder: Path, out: Path, jobs: int, tables: list[str]) -> None:
    """Measure all cards on all published tables, but what ``out`` holds already; compare the advice with the best."""
    earlier = pd.read_csv(out) if out.exists() else pd.DataFrame(columns=["table", "epsilon"])
    known = set(zip(earlier["table"], earlier["epsilon"], strict=True))
    names = [name for name in tables if (folder / REAL[name].file).exists()]
    left = [cell for cell in product(names, JUDGE_EPSILONS) if cell not in known]
    work = [delayed(measured)(name, epsilon, folder) for name, epsilon in left]
    for part in Parallel(n_jobs=jobs, return_as="generator")(work):
        pd.DataFrame(part).to_csv(out, mode="a", header=not out.exists(), index=False)
        print(f"measured: {part[0]['table']}, ε = {part[0]['epsilon']:g}, {len(part)} algorithms", flush=True)
    _compare(pd.read_csv(out))


def _compare(found: pd.DataFrame) -> None:
    """Of each table and ε: the advised algorithm's loss over the least one of all; and how often it was near."""
    lines = []
    for cell, rows in found.groupby(["table", "n", "d", "k", "epsilon"], sort=False):
        name, n, d, k, epsilon = cell
        ratio = rows.set_index("algorithm")["ratio"]
        advised = choose_cheapest(foresee(Setting(d, k, epsilon, DELTA, n=n)).list_outlooks(epsilon))
        chosen = "" if advised is None else advised.algorithm
        lines.append(
            {
                **{"table": name, "k": k, "epsilon": epsilon, "best": ratio.idxmin(), "its ratio": ratio.min()},
                **{"advised": chosen, "over best": ratio.get(chosen, inf) / ratio.min()},
                **{"auto over best": ratio.get("auto", inf) / ratio.min(), "algorithms": len(ratio)},
            }
        )
    frame = pd.DataFrame(lines)
    print(frame.to_string(index=False, float_format="{:.3f}".format))
    for whom in ("over best", "auto over best"):
        near = frame[whom] <= NEAR
        print(f"{whom}: within {NEAR - 1:.0%} in {near.sum()} of {len(near)} cells ({near.mean():.0%})")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fit", action="store_true", help="run the study and write it")
    parser.add_argument("--repeats", type=int, default=2, help="runs of each point of the study")
    parser.add_argument("--judge", type=Path, metavar="FOLDER", help="a folder with the published files")
    parser.add_argument("--only", default=",".join(REAL), help="published tables, with commas between them")
    parser.add_argument("--out", type=Path, help="where the study, or what was measured, is written to")
    parser.add_argument("--jobs", type=int, default=1)
    asked = parser.parse_args()
    print(machine())
    if asked.fit:
        fit(asked.out or STORED, jobs=asked.jobs, repeats=asked.repeats)
    if asked.judge:
        judge(asked.judge, asked.out or Path("advice_measured.csv"), asked.jobs, asked.only.split(","))


if __name__ == "__main__":
    main()
