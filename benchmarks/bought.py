"""What an owner cannot declare: how well bounds that are bought do, and how often k is read right from a synopsis.

python -m benchmarks.bought [--data FOLDER] [--seeds 20] [--epsilon 1]

**Bounds.** Raw Adult (six columns), k = 5, δ = 1e-6, n private, ``auto``. Side by side, seed by seed: a run with the
published bounds and all of ε; and runs for which all six bounds were bought with a part of ε a column, and which have
what is left of it. The loss of either is that of its centres, in data units, over all rows, in the unit coordinates of
the *published* bounds, so that both are measured in one geometry. Beside them, free of charge and therefore no release:
bounds at the 0.5 % and 99.5 % quantiles of the rows, and bounds twice as far as published ones.

**k.** ``auto`` planned for k = 20 at ε = 1, δ = 1e-6, on tables whose clusters are known, and on clouds that have none.
"""

from __future__ import annotations

import argparse
import csv
import gzip
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from statistics import median

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.real_tables import REAL, real_table
from benchmarks.timing import machine
from dpviz.algorithms.auto.view_synopsis import SynopsisStep
from dpviz.algorithms.synopsis_reading import suggest_k
from dpviz.core.arrays import Array
from dpviz.core.noise import StudyNoise
from dpviz.core.private_session import PrivateTable
from dpviz.releases.bought_bounds import buy_bounds
from dpviz.runs.one_run import run, run_steps
from dpviz.runs.open_table import declare
from dpviz.runs.request import Contender, Request
from dpviz.tables.declarations import Declaration
from dpviz.tables.loaded_table import LoadedTable, make_numeric_table
from dpviz.tables.named import sample

DATA = Path(__file__).resolve().parents[1] / "data"
DELTA, K_ADULT, MOST, K_SEEDS = 1e-6, 5, 20, 10
PARTS = (0.02, 0.05)


def adult(folder: Path) -> LoadedTable:
    """The six columns of numbers, as published."""
    with gzip.open(folder / REAL["adult"].file, "rt", encoding="utf-8") as file:
        names, *lines = csv.reader(file)
    return make_numeric_table(np.array(lines)[:, :-1].astype(np.float64), names[:-1], name="Adult")


def losses(table: LoadedTable, declared: Declaration, seeds: int, epsilon: Callable[[int], float]) -> list[float]:
    """Of ``auto`` with these bounds, each seed with its ε."""
    private = declare(table, declared).private
    return [one_loss(table, private, seed, epsilon(seed)) for seed in range(seeds)]


def one_loss(table: LoadedTable, private: PrivateTable, seed: int, epsilon: float) -> float:
    """Loss of the released centres over all rows, in unit coordinates of the published bounds."""
    lower, upper = (np.asarray(bound, dtype=np.float64) for bound in (REAL["adult"].lower, REAL["adult"].upper))
    centers = run("auto", private, k=K_ADULT, epsilon=epsilon, delta=DELTA, seed=seed).centers
    half: Array = (upper - lower) / 2
    rows, centers = table.columns(table.numeric_columns) / half, centers / half
    return float(((rows[:, None] - centers) ** 2).sum(axis=2).min(axis=1).sum())


def bounds_bought(folder: Path, seeds: int, epsilon: float) -> None:
    """Print a line for each way to come by bounds."""
    table = adult(folder)
    names = table.numeric_columns
    empty = Declaration(columns=names, lower=(None,) * len(names), upper=(None,) * len(names))
    values = table.columns(names)
    low, high = (np.asarray(bound, dtype=np.float64) for bound in (REAL["adult"].lower, REAL["adult"].upper))
    cut_low, cut_high = np.quantile(values, [0.005, 0.995], axis=0)
    cut_high = np.maximum(cut_high, cut_low + 1)
    lines = {"published": losses(table, bounded(empty, low, high), seeds, lambda seed: epsilon)}
    free = {"0.5 % quantiles": (cut_low, cut_high), "twice as wide": (1.5 * low - high / 2, 1.5 * high - low / 2)}
    for name, (lower, upper) in free.items():
        lines[f"{name}, free"] = losses(table, bounded(empty, lower, upper), seeds, lambda seed: epsilon)
    for part in PARTS:
        found, seen = [], Counter[str]()
        for seed in range(seeds):
            noise = StudyNoise(np.random.default_rng([seed, 1]))
            bought = buy_bounds(table, empty, epsilon=part * epsilon, noise=noise)
            found.append(one_loss(table, declare(table, bought.declaration).private, seed, epsilon - bought.epsilon))
            seen.update(f"{c.name} {c.lower:g} … {c.upper:g}" for c in bought.columns)
        lines[f"bought, {part:.0%} of ε a column"] = found
        print("; ".join(f"{bounds} ({times})" for bounds, times in sorted(seen.items())))
    usual = median(lines["published"])
    print(f"Adult, k = {K_ADULT}, ε = {epsilon:g}, δ = {DELTA:g}: median loss of {seeds} seeds, × published")
    for name, found in lines.items():
        ratios = np.array(found) / usual
        print(f"  {name:28} {median(found):9.1f}  {median(ratios):.3f}×  ({ratios.min():.3f} to {ratios.max():.3f})")


def bounded(empty: Declaration, lower: Array, upper: Array) -> Declaration:
    """The declaration with these bounds."""
    return Declaration(columns=empty.columns, lower=tuple(lower.tolist()), upper=tuple(upper.tolist()))


def clouds() -> dict[str, tuple[PrivateTable, int | None]]:
    """Tables of 10,000 rows in which there is no group."""
    rng = np.random.default_rng(3)
    made = {
        "uniform, 2 columns": rng.uniform(0, 1, (10_000, 2)),
        "uniform, 5 columns": rng.uniform(0, 1, (10_000, 5)),
        "normal, 6 columns": rng.normal(0.5, 0.1, (10_000, 6)),
    }
    return {name: (declare(make_numeric_table(rows), UNIT).private, None) for name, rows in made.items()}


UNIT = Declaration(lower=(0.0,), upper=(1.0,))


def k_read(folder: Path) -> None:
    """Print a line for each table: how often k was read right, and how often redraws of the noise agreed."""
    tables: dict[str, tuple[PrivateTable, int | None]] = {"s1": real_table("s1", folder)}
    for name in ("fifteen", "people"):
        loaded = sample(name)
        tables[name] = declare(*loaded.load()).private, loaded.clusters
    print(f"k read from the synopsis of auto, planned for k = {MOST}, ε = 1, δ = {DELTA:g}, {K_SEEDS} seeds")
    for name, (table, truth) in {**tables, **clouds()}.items():
        read = [suggest_k([synopsis(table, seed)], MOST, np.random.default_rng(seed)) for seed in range(K_SEEDS)]
        right = sum(one.suggested == truth for one in read)
        agreeing = sum(one.agreeing for one in read) / sum(one.redraws for one in read)
        said = dict(Counter(str(one.suggested) for one in read))
        print(f"  {name:20} k = {truth!s:4} right: {right} of {K_SEEDS}; said: {said}; redraws agree: {agreeing:.0%}")


def synopsis(table: PrivateTable, seed: int) -> SynopsisStep:
    """What ``auto`` releases first."""
    for grown in run_steps(Request(Contender("auto"), MOST, 1.0, DELTA, seed), table):
        if isinstance(step := grown.frames[-1].step, SynopsisStep):
            return step
    raise AssertionError("auto has no synopsis")


def main() -> None:
    """Print both."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--epsilon", type=float, default=1.0)
    asked = parser.parse_args()
    print(machine())
    with threadpool_limits(1):
        bounds_bought(asked.data, asked.seeds, asked.epsilon)
        k_read(asked.data)


if __name__ == "__main__":
    main()
