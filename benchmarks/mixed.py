"""Tables with categories: losses beside k-means++ on the same coordinates, errors of shares, and k-prototypes.

python -m benchmarks.mixed [--repeats 3] [--epsilons 0.3,1,3] [--data FOLDER] [--only survey,visits]

Everything is judged on the coded rows: the loss is that of the mean of each cluster. k-prototypes clusters the table
itself, with means of numbers and modes of categories, and no privacy. Ends with 1 where ``auto`` at ε = 1 loses more
than one mean for all rows.

References
----------
Huang 1998 (k-prototypes, and its weight of categories: half the mean standard deviation of the numbers).
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.spatial.distance import cdist
from sklearn.metrics import adjusted_rand_score

from dpviz.core.arrays import Array, Codes
from dpviz.core.reporting import TextTable
from dpviz.runs.clipped_rows import clip_rows
from dpviz.runs.evaluation import assign, find_reference, nicv
from dpviz.runs.one_run import run
from dpviz.runs.open_table import OpenTable, declare
from dpviz.runs.profiles import read_shares
from dpviz.runs.synthetic_tables import synthesise_declared
from dpviz.tables.csv_intake import load_csv
from dpviz.tables.declarations import Declaration, apply_declaration
from dpviz.tables.loaded_table import make_numeric_table

DELTA, ALGORITHMS = 1e-6, ("auto", "lsh-coreset", "balcan", "dplloyd")
_STARTS, _ROUNDS = 3, 30


class Mixed(NamedTuple):
    """A table, its number of clusters, and its planted groups, if it has some."""

    table: OpenTable
    k: int
    groups: Codes | None


def survey(n: int = 4_000, k: int = 5) -> Mixed:
    """Answers of planted groups: each likes two of the five answers to a question; three measures tell them apart."""
    rng, answers = np.random.default_rng(7), [f"answer {letter}" for letter in "abcde"]
    group = rng.integers(0, k, n)
    columns: dict[str, Any] = {}
    for j in range(3):
        columns[f"measure {j}"] = 50 + 12 * rng.normal(size=k)[group] + 8 * rng.normal(size=n)
    said: dict[str, Any] = {name: [0, 100] for name in columns}
    for j in range(6):
        likes = 0.06 + 0.38 * (rng.permuted(np.tile(np.arange(5), (k, 1)), axis=1) < 2)
        chance = likes / likes.sum(axis=1, keepdims=True)
        columns[f"question {j}"] = np.array(answers)[(chance[group].cumsum(axis=1) < rng.random((n, 1))).sum(axis=1)]
        said[f"question {j}"] = {"categories": answers}
    columns["sex"] = np.array(["F", "M"])[rng.integers(0, 2, n)]
    said["sex"] = {"categories": ["F", "M"], "closed": True}
    return Mixed(declare(make_numeric_table(pd.DataFrame(columns)), _declared(said, n)), k, group)


def visits(n: int = 20_000, k: int = 6) -> Mixed:
    """A synthetic table for a register of visits: made of nothing but its declaration."""
    said = {
        "age": [0, 100],
        "bill": {"bounds": [1, 60_000], "scale": "log"},
        "ward": {"categories": [f"ward {j}" for j in range(8)]},
        "region": {"categories": ["N", "E", "S", "W"]},
        "urgent": {"categories": ["no", "yes"], "closed": True},
        "stage": {"order": ["I", "II", "III", "IV"]},
        "hour": {"cycle": 24},
    }
    return Mixed(synthesise_declared(_declared(said, n), n=n, k=k, spread=0.08), k, None)


def adult(folder: Path) -> Mixed:
    """The published census table, education as categories and gains by their roots."""
    loaded = load_csv(folder / "adult_num.csv.gz")
    frame = loaded.frame[[name for name in loaded.numeric_columns if name != "label"]].copy()
    frame.columns = ["age", "weight", "education", "gain", "loss", "hours"]
    frame["education"] = "level " + frame["education"].astype(int).astype(str)
    said = {
        "age": [17, 90],
        "education": {"categories": [f"level {j}" for j in range(1, 17)]},
        "gain": {"bounds": [0, 99_999], "scale": "root"},
        "loss": {"bounds": [0, 4_356], "scale": "root"},
        "hours": [1, 99],
    }
    return Mixed(declare(make_numeric_table(frame), _declared(said, len(frame))), 5, None)


def _declared(said: Mapping[str, Any], n: int) -> Declaration:
    values = {"bounds": dict(said), "n_public": n, "kind": "simulated", "title": "bench"}
    return apply_declaration(json.dumps(values)).validate()


def k_prototypes(numbers: Array, codes: Codes, k: int, seed: int) -> Codes:
    """Clusters (n,) of rows with ``numbers`` (n, p), unit coordinates, and ``codes`` (n, q) of categories."""
    rng, gamma = np.random.default_rng(seed), 0.5 * float(numbers.std(axis=0).mean()) if numbers.size else 1.0
    best, least = np.zeros(len(codes), dtype=np.int64), np.inf
    for _ in range(_STARTS):
        chosen = rng.choice(len(codes), k, replace=False)
        means, modes = numbers[chosen].copy(), codes[chosen].copy()
        for _ in range(_ROUNDS):
            costs = cdist(numbers, means, "sqeuclidean") if numbers.size else np.zeros((len(codes), k))
            costs = costs + gamma * (codes[:, None] != modes[None]).sum(axis=2)
            mine = costs.argmin(axis=1)
            for cluster in np.unique(mine):
                inside = mine == cluster
                means[cluster] = numbers[inside].mean(axis=0)
                modes[cluster] = [np.bincount(column).argmax() for column in codes[inside].T]
        if (total := float(costs.min(axis=1).sum())) < least:
            best, least = mine, total
    return best


def judged(name: str, mixed: Mixed, epsilons: list[float], repeats: int) -> list[list[str]]:
    """Lines about one table."""
    private = mixed.table.private
    revealed = clip_rows(private.reveal(note="a bench"), private.domain.region)
    points, reference = np.asarray(revealed.points), find_reference(revealed, mixed.k)
    theirs = assign(points, reference.centers)

    def line(what: str, centers: list[Array], mine: list[Codes]) -> list[str]:
        planted = [adjusted_rand_score(mixed.groups, own) for own in mine] if mixed.groups is not None else []
        return [
            *(f"{name} ({private.domain.coded_dim} of {private.domain.dim})", what),
            f"{np.median([nicv(points, one) for one in centers]) / reference.nicv:.3f}",
            f"{np.median([_share_error(mixed, points, one) for one in centers]):.3f}",
            f"{np.median([adjusted_rand_score(theirs, own) for own in mine]):.2f}",
            f"{np.median(planted):.2f}" if planted else "",
        ]

    lines = [line("k-means++", [reference.centers], [theirs])]
    one = points.mean(axis=0)[None]
    lines.append(line("one mean", [one], [np.zeros(len(points), dtype=np.int64)]))
    own = [_prototypes_of(mixed, points, seed) for seed in range(repeats)]
    lines.append(line("k-prototypes", [_means(points, labels) for labels in own], own))
    for algorithm in ALGORITHMS:
        for epsilon in epsilons:
            made = [
                run(algorithm, private, k=mixed.k, epsilon=epsilon, delta=DELTA, seed=seed).unit_centers
                for seed in range(repeats)
            ]
            lines.append(line(f"{algorithm}, ε = {epsilon:g}", made, [assign(points, one) for one in made]))
    return lines


def _prototypes_of(mixed: Mixed, points: Array, seed: int) -> Codes:
    domain = mixed.table.domain
    numbers, codes = [], []
    for column, place in zip(domain.declared, domain.places, strict=True):
        if column.coding.values and column.coding.shape is not None:
            codes.append(np.rint(column.read_numbers(points[:, place])).astype(np.int64))
        else:
            numbers.append(points[:, place])
    beside = np.concatenate(numbers, axis=1) if numbers else np.zeros((len(points), 0))
    return k_prototypes(beside, np.stack(codes, axis=1), mixed.k, seed)


def _means(points: Array, labels: Codes) -> Array:
    return np.array([points[labels == cluster].mean(axis=0) for cluster in np.unique(labels)])


def _share_error(mixed: Mixed, points: Array, centers: Array) -> float:
    """Total variation between the shares of each centre and those of the rows next to it, over rows and columns."""
    domain, mine = mixed.table.domain, assign(points, centers)
    settled = domain.region.settle_points(centers)
    true = np.array([points[mine == j].mean(axis=0) if (mine == j).any() else settled[j] for j in range(len(centers))])
    said, there = (read_shares(domain, domain.from_unit(one)) for one in (settled, true))
    weights = np.bincount(mine, minlength=len(centers)) / len(points)
    errors = [
        (weights * 0.5 * sum(np.abs(values[value] - there[name][value]) for value in values)).sum()
        for name, values in said.items()
    ]
    return float(np.mean(errors))


TABLES: dict[str, Callable[[Path], Mixed]] = {
    "survey": lambda folder: survey(),
    "visits": lambda folder: visits(),
    "adult": adult,
}


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--epsilons", default="0.3,1,3")
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("DPVIZ_DATA", ".")))
    parser.add_argument("--only", default=",".join(TABLES))
    arguments = parser.parse_args()
    start, lines = time.perf_counter(), []
    for name in arguments.only.split(","):
        if name == "adult" and not (arguments.data / "adult_num.csv.gz").exists():
            print("adult is left out: there is no such file.")
            continue
        mixed = TABLES[name](arguments.data)
        lines += judged(name, mixed, [float(one) for one in arguments.epsilons.split(",")], arguments.repeats)
    header = ["table (coded of all)", "by", "loss / k-means++", "share error", "ARI to k-means++", "ARI planted"]
    print(TextTable("Medians, on coded rows", header, lines).to_text(most=None))
    load = ", ".join(f"{one:.1f}" for one in os.getloadavg())
    print(f"{time.perf_counter() - start:.0f} s; load of the machine {load}")
    lost = {(line[0], line[1]): float(line[2]) for line in lines}
    broken = [table for table, by in lost if by == "auto, ε = 1" and lost[table, by] > lost[table, "one mean"]]
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
