"""How often what is told of published segments holds, on runs whose truth is known, and ten questions from the zip.

Truth is the exact answer about the rows nearest to each published centre, of four samples. A line of the first table
is a kind of number: the part of its nine-in-ten intervals that hold the truth, by algorithm and ε. The second one has
ten questions over several numbers, answered from ``draws.csv`` alone: right, wrong, or hidden by noise. Besides the
samples, tables with categories can be made from seeds: what holds on all together need not hold on each.

python -m benchmarks.draws [--seeds 10] [--algorithms auto,eugkm,dplloyd,lsh-coreset] [--epsilons 0.3,1,3]
    [--tables people,fifteen,city,colours] [--made 101-135]
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import time
import warnings
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.spatial.distance import cdist

from dpviz.core.accounting import Accounting
from dpviz.core.noise import StudyNoise
from dpviz.releases.asking import ReleaseQuestion, ask, find_middle
from dpviz.releases.described_table import DescribedTable, make_described_table
from dpviz.releases.release_parts import Clustered, Parts, SegmentsPart
from dpviz.releases.release_request import Division
from dpviz.releases.segments import ask_segments
from dpviz.releases.tallies import COVERED, Draws, Rounded, draw_versions, format_draws
from dpviz.runs.one_run import run
from dpviz.runs.open_table import OpenTable, declare
from dpviz.tables.declarations import apply_declaration
from dpviz.tables.loaded_table import LoadedTable, make_numeric_table
from dpviz.tables.named import sample

DELTA, MOST_PAIRS = 1e-6, 15
KINDS_OF_NUMBERS = (
    *("size, as printed", "centre, as printed", "centre, noise alone", "share, as printed", "quartile, as printed"),
    *("size", "sum of two", "difference", "ratio", "part", "share", "difference of shares", "at least"),
    *("mean", "mean of two", "difference of means"),
)
Held = dict[str, list[bool]]


class Table(NamedTuple):
    """A sample, opened, and its rows in unit coordinates (n, d), data units (n, d), and as cells by column."""

    name: str
    k: int
    opened: OpenTable
    described: DescribedTable
    points: np.ndarray
    values: np.ndarray
    cells: dict[str, np.ndarray]


class Truth(NamedTuple):
    """Of the rows nearest to each published centre: which one that is (n,), and how many rows each has (k,)."""

    cell: np.ndarray
    sizes: np.ndarray

    def add_up(self, values: np.ndarray) -> np.ndarray:
        """The sum of ``values`` (n,) over the rows of each segment, (k,)."""
        return np.bincount(self.cell, weights=values, minlength=len(self.sizes))

    def average(self, sums: np.ndarray, places: Sequence[int]) -> float:
        """The mean of what adds up to ``sums`` (k,) over the rows of some segments."""
        return float(sums[[*places]].sum() / self.sizes[[*places]].sum())


def open_table(name: str) -> Table:
    """A sample by its id, with as many clusters as it has."""
    entry = sample(name)
    source, declared = entry.load()
    assert isinstance(source, LoadedTable)
    opened = declare(source, declared)
    described = make_described_table(opened, source)
    domain = described.description.domain
    points = domain.region.rows(domain.to_unit(source.columns(domain.columns)))
    cells = {column.name: source.frame[column.name].to_numpy() for column in described.description.columns}
    return Table(name, entry.clusters, opened, described, points, domain.from_unit(points), cells)


def make_table(seed: int) -> Table:
    """A made-up table of clusters in which each column of categories is mostly one or two of them, the others rare."""
    rng = np.random.default_rng(seed)
    n, k = int(np.exp(rng.uniform(np.log(2_500), np.log(40_000)))), int(rng.integers(2, 7))
    cluster, columns, declared = rng.choice(k, n, p=rng.dirichlet(np.full(k, 3))), {}, {}
    for place in range(int(rng.integers(1, 5))):
        middles, width = rng.uniform(0, 100, k), rng.uniform(3, 14)
        spread = rng.standard_t(3, n) if rng.random() < 0.4 else rng.normal(size=n)
        columns[f"number {place}"] = np.clip(middles[cluster] + width * spread, 0, 100)
        declared[f"number {place}"] = [0, 100]
    for place in range(int(rng.integers(1, 4))):
        labels = [f"label {label}" for label in range(int(rng.integers(2, 7)))]
        chances = rng.dirichlet(np.full(len(labels), 0.25 if rng.random() < 0.7 else 0.7), size=k)
        drawn = (chances[cluster].cumsum(axis=1) < rng.random((n, 1))).sum(axis=1)
        columns[f"question {place}"] = np.array(labels)[np.minimum(drawn, len(labels) - 1)]
        declared[f"question {place}"] = {"categories": labels}
    source = make_numeric_table(pd.DataFrame(columns))
    document = {"bounds": declared, "n_public": n, "kind": "simulated", "title": f"made from {seed}"}
    opened = declare(source, apply_declaration(json.dumps(document)).validate())
    points = np.asarray(opened.private.reveal(note="a bench").points)
    described, values = make_described_table(opened, source), opened.domain.from_unit(points)
    cells = {column.name: source.frame[column.name].to_numpy() for column in described.description.columns}
    return Table(f"made from {seed}", k, opened, described, points, values, cells)


def release(
    table: Table, algorithm: str, epsilon: float, seed: int, *, k: int | None = None, share: float = Division.segments
) -> Parts:
    """The parts of a release whose segments get a ``share`` of ε, with seeded noise."""
    found = run(algorithm, table.opened.private, k=k or table.k, epsilon=(1 - share) * epsilon, delta=DELTA, seed=seed)
    clustered = Clustered(found, Rounded.of(found))
    session = table.described.private.open(
        epsilon=share * epsilon,
        delta=0.0,
        accounting=Accounting.PURE,
        noise=StudyNoise(np.random.default_rng([seed, *f"{table.name} {algorithm} {epsilon}".encode()])),
        needs_n=False,
    )
    report = ask_segments(session, clustered.unit_centers, table.described.description)
    return Parts(table.opened.declaration, clustered, told=SegmentsPart(report, tuple(session.ledger.entries)))


def draw(parts: Parts, seed: int) -> Draws:
    """The draws of a release, whose transcript has a hash of its own."""
    assert parts.tallies is not None and parts.means is not None
    return draw_versions(parts.tallies, parts.means, parts.profile, seed=f"benchmark {seed}")


def find_truth(table: Table, parts: Parts) -> Truth:
    """The rows nearest to each published centre."""
    centers = table.described.description.domain.region.clip(parts.clustered.unit_centers)
    cell = cdist(table.points, centers, "sqeuclidean").argmin(axis=1)
    return Truth(cell, np.bincount(cell, minlength=len(centers)))


def find_held(table: Table, parts: Parts, draws: Draws, truth: Truth, rng: np.random.Generator) -> Held:
    """Of each kind of number, which of the intervals hold."""
    held: Held = defaultdict(list)
    there = [place for place in range(draws.k) if truth.sizes[place]]
    made, report = parts.profile, parts.told.report if parts.told else None
    assert made.sizes is not None and report is not None
    (low, high), (least, most) = made.ends, replace(made, center_sd=made.noise_sd).ends
    columns = {one.name: place for place, one in enumerate(made.columns)}
    for place in range(draws.k):
        held["size, as printed"].append(made.sizes.low[place] <= truth.sizes[place] <= made.sizes.high[place])
    sums = {at: truth.add_up(table.values[:, at]) for at in columns.values()}
    for place in there:
        for at in columns.values():
            mean = truth.average(sums[at], [place])
            held["centre, as printed"].append(_holds(low[place, at], high[place, at], mean))
            held["centre, noise alone"].append(_holds(least[place, at], most[place, at], mean))
        for said in report.segments[place].columns:
            cells = table.cells[said.column][truth.cell == place]
            for one in getattr(said, "shares", ()):
                held["share, as printed"].append(_holds(one.share.low, one.share.high, (cells == one.label).mean()))
            for name, level in (("lower_quartile", 0.25), ("median", 0.5), ("upper_quartile", 0.75)):
                if (interval := getattr(said, name, None)) is not None:
                    true = np.quantile(cells, level, method="inverted_cdf")
                    held["quartile, as printed"].append(_holds(interval.low, interval.high, true))
    for kind, question, true in _list_questions(table, draws, truth, there, rng):
        answer = ask(draws, question)
        held[kind].append(_holds(answer.low, answer.high, true))
    return held


def _list_questions(
    table: Table, draws: Draws, truth: Truth, there: list[int], rng: np.random.Generator
) -> Iterator[tuple[str, ReleaseQuestion, float]]:
    """Questions, what kind of number answers each, and the true answer."""
    sizes, n = truth.sizes, truth.sizes.sum()
    labelled = {
        (column.name, label): truth.add_up(table.cells[column.name] == label)
        for _, _, column in draws.tallies.described
        for label in column.labels
    }
    numbers = [column for _, tally, column in draws.tallies.described if len(tally.edges)]
    means = {name: truth.add_up(table.values[:, place]) for name, place in draws.averaged.items()}
    for place in range(draws.k):
        yield "size", ReleaseQuestion("size", (place + 1,)), float(sizes[place])
        yield "part", ReleaseQuestion("part", (place + 1,)), float(sizes[place] / n)
    for place in there:
        for name, sums in means.items():
            yield "mean", ReleaseQuestion("mean", (place + 1,), name), truth.average(sums, [place])
        for (name, label), sums in labelled.items():
            share = truth.average(sums, [place])
            yield "share", ReleaseQuestion("share", (place + 1,), name, label), share
        for column in numbers:
            value = float(rng.uniform(column.lower, column.upper))
            above = truth.average(truth.add_up(table.cells[column.name] >= value), [place])
            yield "at least", ReleaseQuestion("at-least", (place + 1,), column.name, value=value), above
    pairs = list(combinations(range(draws.k), 2))
    for one, other in (pairs[at] for at in rng.permutation(len(pairs))[:MOST_PAIRS]):
        both = (one + 1, other + 1)
        yield "sum of two", ReleaseQuestion("size", both), float(sizes[one] + sizes[other])
        yield "difference", ReleaseQuestion("larger", both), float(sizes[one] - sizes[other])
        if sizes[other]:
            yield "ratio", ReleaseQuestion("ratio", both), float(sizes[one] / sizes[other])
        if not (sizes[one] and sizes[other]):
            continue
        for name, sums in means.items():
            apart = truth.average(sums, [one]) - truth.average(sums, [other])
            yield "mean of two", ReleaseQuestion("mean", both, name), truth.average(sums, [one, other])
            yield "difference of means", ReleaseQuestion("higher", both, name), apart
        for (name, label), sums in labelled.items():
            apart = 100 * (truth.average(sums, [one]) - truth.average(sums, [other]))
            yield "difference of shares", ReleaseQuestion("more-often", both, name, label), apart


def _holds(low: float, high: float, true: float) -> bool:
    return bool(low - 1e-6 * (1 + abs(true)) <= true <= high + 1e-6 * (1 + abs(true)))


RIGHT, WRONG, NONE = "right", "wrong", "noise hides it"


class DrawsFile:
    """``draws.csv`` as anybody reads it, with the standard library and NumPy: arrays (D, k) by the name of a column."""

    def __init__(self, text: str) -> None:
        rows = list(csv.DictReader(io.StringIO(text)))
        k = max(int(row["segment"]) for row in rows)
        self.k, self.columns = k, [name for name in rows[0] if name not in ("draw", "segment")]
        self.of = {name: np.array([float(row[name]) for row in rows]).reshape(-1, k) for name in self.columns}

    @property
    def means(self) -> list[str]:
        """Columns that are means."""
        return [name for name in self.columns if name.startswith("mean of ")]


def answer_ten(told: DrawsFile, truth: Truth, means: dict[str, np.ndarray]) -> list[str]:
    """How the ten questions came out, each over several numbers; of the largest two segments by released size."""
    rows = told.of["rows"]
    first, second, *_ = order = np.argsort(-np.median(rows, axis=0), kind="stable").tolist()
    third, last = order[2] if told.k > 2 else second, order[-1]
    sizes, name = truth.sizes, told.means[0]
    of_three = sizes[first] - sizes[second] - sizes[third]
    mean, values = told.of[name], means[name.removeprefix("mean of ")]
    sums = truth.add_up(values)
    average = lambda *places: truth.average(sums, places) if sizes[list(places)].all() else None  # noqa: E731
    weights = rows[:, [first, second]]
    of_two = (weights * mean[:, [first, second]]).sum(axis=1) / np.maximum(weights.sum(axis=1), 1e-9)
    apart = None if average(first, second) is None else average(first) - average(second)
    total = np.maximum(rows.sum(axis=1), 1e-9)
    return [
        _judge_direction(rows[:, first] - rows[:, second], sizes[first] - sizes[second]),
        _judge_direction(rows[:, second] - rows[:, last], sizes[second] - sizes[last]),
        _judge_direction(rows[:, first] - rows[:, second] - rows[:, third], of_three),
        _judge_direction(mean[:, first] - mean[:, second], apart),
        _judge_number(rows[:, first] + rows[:, last], float(sizes[first] + sizes[last])),
        _judge_number(rows[:, first] - rows[:, last], float(sizes[first] - sizes[last])),
        _judge_number(rows[:, first] / np.maximum(rows[:, second], 1e-9), sizes[first] / max(sizes[second], 1)),
        _judge_number((rows[:, first] + rows[:, second]) / total, (sizes[first] + sizes[second]) / sizes.sum()),
        _judge_number(of_two, average(first, second), hidden=float(np.ptp(values)) / 2),
        _judge_number(mean[:, first] - mean[:, second], apart, hidden=float(np.ptp(values)) / 2),
    ]


def _judge_direction(difference: np.ndarray, true: float | None) -> str:
    above = float((difference > 0).mean())
    if true is None or max(above, 1 - above) < 0.95:
        return NONE
    return RIGHT if (true > 0) == (above > 0.5) or true == 0 else WRONG


def _judge_number(values: np.ndarray, true: float | None, *, hidden: float = np.inf) -> str:
    """Whether the interval holds. It says nothing where its ends are farther apart than ``hidden``; a number of rows or
    a ratio says nothing where it may be 0."""
    low, high = find_middle(values)
    if true is None or high - low > hidden or (hidden == np.inf and low <= 0):
        return NONE
    return RIGHT if _holds(low, high, true) else WRONG


def measure(
    table: Table, algorithm: str, epsilon: float, seeds: int, *, k: int | None = None
) -> tuple[Held, list[str]]:
    """What held in so many releases, and how ten questions came out in each."""
    held: Held = defaultdict(list)
    outcomes: list[str] = []
    for seed in range(seeds):
        parts = release(table, algorithm, epsilon, seed, k=k)
        draws, truth = draw(parts, seed), find_truth(table, parts)
        for kind, hits in find_held(table, parts, draws, truth, np.random.default_rng((seed, 2))).items():
            held[kind] += hits
        means = {name: table.values[:, place] for name, place in draws.averaged.items()}
        outcomes += answer_ten(DrawsFile(format_draws(draws)), truth, means)
    return held, outcomes


def main() -> None:
    """Print both tables."""
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--algorithms", default="auto,eugkm,dplloyd,lsh-coreset")
    parser.add_argument("--epsilons", default="0.3,1,3")
    parser.add_argument("--tables", default="people,fifteen,city,colours")
    parser.add_argument("--made", default="", help="tables made from these seeds instead, the first and the last one")
    parser.add_argument("--each", action="store_true", help="a line for each table, too")
    asked = parser.parse_args()
    if asked.made:
        first, _, last = asked.made.partition("-")
        tables = [make_table(seed) for seed in range(int(first), int(last or first) + 1)]
    else:
        tables = [open_table(name) for name in asked.tables.split(",")]
    epsilons, algorithms = [float(one) for one in asked.epsilons.split(",")], asked.algorithms.split(",")
    found: dict[tuple[str, float], Held] = {}
    ten: dict[float, list[str]] = defaultdict(list)
    least: list[tuple[float, str]] = []
    started = time.monotonic()
    for algorithm in algorithms:
        for epsilon in epsilons:
            together: Held = defaultdict(list)
            for table in tables:
                held, outcomes = measure(table, algorithm, epsilon, asked.seeds)
                ten[epsilon] += outcomes
                for kind, hits in held.items():
                    together[kind] += hits
                least.append(
                    (float(np.mean(held["centre, as printed"])), f"{table.name}, {algorithm}, ε = {epsilon:g}")
                )
                if asked.each:
                    print(f"{algorithm} {epsilon:g} {table.name}: {_format_line(held)}", flush=True)
            found[algorithm, epsilon] = together
    print(f"{asked.seeds} releases of each of {len(tables)} tables, {time.monotonic() - started:.0f} seconds\n")
    heads = [f"{algorithm} {epsilon:g}" for algorithm, epsilon in found]
    print(f"| of nine-in-ten intervals hold | {' | '.join(heads)} |\n|---|{'---:|' * len(heads)}")
    for kind in KINDS_OF_NUMBERS:
        print(f"| {kind} | {' | '.join(_format_part(held.get(kind, [])) for held in found.values())} |")
    few = sum(part < COVERED for part, _ in least)
    print(f"\nThe ± of a centre holds less than {COVERED:.0%} in {few} of {len(least)} cells; least:")
    print(*(f"{part:.3f} {cell}" for part, cell in sorted(least)[:5]), sep="\n")
    print("\n| ten questions from draws.csv | right | wrong | noise hides it |\n|---|---:|---:|---:|")
    for epsilon, outcomes in ten.items():
        parts = (f"{100 * outcomes.count(one) / len(outcomes):.1f} %" for one in (RIGHT, WRONG, NONE))
        print(f"| ε = {epsilon:g} | {' | '.join(parts)} |")


def _format_part(hits: list[bool]) -> str:
    return f"{np.mean(hits):.3f}" if hits else ""


def _format_line(held: Held) -> str:
    return ", ".join(f"{kind} {_format_part(held[kind])}" for kind in KINDS_OF_NUMBERS if kind in held)


if __name__ == "__main__":
    main()
