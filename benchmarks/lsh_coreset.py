"""The coreset of hashes on the 64-Gaussian mixture: its loss beside k-means++, its time beside scikit-learn's.

python -m benchmarks.lsh_coreset [--runs 20] [--table letter.csv.gz --k 26 --lower 0 --upper 15]
"""

from __future__ import annotations

import argparse
from pathlib import Path
from statistics import median

import numpy as np
from sklearn.cluster import KMeans

from benchmarks.timing import machine, median_ratio
from dpviz.core.domain import Domain
from dpviz.core.private_session import PrivateTable
from dpviz.runs.clipped_rows import clip_rows
from dpviz.runs.evaluation import find_reference, nicv
from dpviz.runs.one_run import run
from dpviz.tables.csv_intake import load_csv
from dpviz.tables.named import sample

EPSILON, DELTA = 1.0, 1e-6
TIMED = 3


def mixture() -> tuple[PrivateTable, int]:
    """100,000 rows in 100 columns around 64 centres, in the unit ball."""
    loaded = sample("mixture64").load()
    declared = loaded.declaration
    bounds = declared.list_bounds(declared.columns)
    domain = Domain.of(declared.columns, bounds.lower, bounds.upper, radius=declared.radius, scaling=declared.scaling)
    rows = loaded.table.columns(declared.columns)
    return PrivateTable(rows, domain, n_public=len(rows)), 64


def table_at(path: Path, lower: float, upper: float) -> PrivateTable:
    """All columns of a file but ``label``, with one pair of bounds and one scale."""
    loaded = load_csv(path)
    names = [name for name in loaded.numeric_columns if name != "label"]
    return PrivateTable(loaded.columns(names), Domain.of(names, lower, upper, scaling="common"), n_public=loaded.n_rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--table", type=Path, help="a CSV file instead of the mixture")
    parser.add_argument("--k", type=int, default=26)
    parser.add_argument("--lower", type=float, default=0.0)
    parser.add_argument("--upper", type=float, default=1.0)
    asked = parser.parse_args()
    table, k = mixture() if asked.table is None else (table_at(asked.table, asked.lower, asked.upper), asked.k)
    print(machine())
    revealed = clip_rows(table.reveal(note="a benchmark"), table.domain.region)
    rows, reference = revealed.points, find_reference(revealed, k).nicv
    print(f"{len(rows):,} rows x {rows.shape[1]}, k = {k}, eps = {EPSILON:g}, delta = {DELTA:g}, {asked.runs} runs")
    for preset in ("practical", "paper"):
        ratios = [nicv(rows, _centers(table, k, preset, seed)) / reference for seed in range(asked.runs)]
        low, high = np.quantile(ratios, [0.25, 0.75])
        print(f"{preset:<10} loss ratio: median {median(ratios):.3f}, quartiles {low:.3f} to {high:.3f}", flush=True)
    ours, theirs, ratio = median_ratio(
        lambda: _centers(table, k, "practical", 0),
        lambda: KMeans(k, n_init=1, random_state=0).fit(rows),
        TIMED,
    )
    print(f"fit: {ours:.2f} s, scikit-learn KMeans(n_init=1): {theirs:.2f} s, ratio {ratio:.2f}")


def _centers(table: PrivateTable, k: int, preset: str, seed: int) -> np.ndarray:
    done = run("lsh-coreset", table, k=k, epsilon=EPSILON, delta=DELTA, params={"preset": preset}, seed=seed)
    return done.unit_centers


if __name__ == "__main__":
    main()
