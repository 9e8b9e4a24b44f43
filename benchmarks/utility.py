"""What every algorithm loses, on generated families and on real tables: medians, bands, failures shown as failures.

python -m benchmarks.utility [--quick] [--jobs 2] [--repeats 5] [--real FOLDER] [--out FOLDER] [--only auto,dplloyd]
    [--judging | --judged] [--settle 40] [--report]

A cell is a table at an ε. One repeat of all cells comes first, small tables before large ones, then the next repeat: a
bench that was stopped is an answer about all cells, or about all that are not large. What a repeat of a cell says is
added to utility.csv below --out as soon as it is done, and not run again: a bench goes on where it was, and runs an
algorithm anew whose lines were taken out. utility.md says how many repeats of how many cells it rests on.
What lost far more than the best in the first run of a cell is not run there again, but for ``auto``, which is judged.
Where runs have two outcomes a median of few says little: with ``--settle`` cells where ``auto`` is not near the best
are run up to so many times.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from math import inf, nan
from pathlib import Path
from typing import Any, NamedTuple

from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from benchmarks.families import FAMILIES, JUDGED, Family, Size, generated
from benchmarks.public_implementations import PUBLIC, Fit
from benchmarks.real_tables import REAL, real_table
from benchmarks.timing import machine
from benchmarks.utility_report import list_far_cells, report
from dpviz import __version__
from dpviz.algorithms.registry import CARDS, list_private_cards
from dpviz.core.check import RequestError
from dpviz.core.private_session import PrivateTable
from dpviz.runs.clipped_rows import clip_rows
from dpviz.runs.evaluation import Reference, find_reference, nicv
from dpviz.runs.one_run import run
from dpviz.runs.request import Contender, Request

DELTA = 1e-6
TABLE_SEED, RUN_SEED = 20_000, 70_000
# Of the judged tables each repeat has a table of its own.
JUDGED_SEED, JUDGED_EPSILONS = 900, (0.1, 0.3, 0.5, 1.0, 3.0)
EPSILONS, QUICK_EPSILONS = (0.1, 0.3, 1.0, 3.0, 10.0), (0.3, 1.0, 3.0)
SIZES = (
    *(Size(1000, 2, 5), Size(10_000, 2, 20), Size(100_000, 2, 50), Size(1_000_000, 2, 100)),
    *(Size(10_000, 3, 8), Size(10_000, 6, 4), Size(100_000, 6, 12), Size(20_000, 10, 20)),
    *(Size(5000, 16, 2), Size(100_000, 20, 30), Size(100_000, 50, 64), Size(200_000, 100, 16), Size(100_000, 200, 8)),
)
QUICK_SIZES = (
    *(Size(5000, 2, 5), Size(20_000, 2, 20), Size(20_000, 3, 8)),
    *(Size(20_000, 6, 4), Size(20_000, 12, 15), Size(20_000, 40, 8)),
)
# Algorithms whose estimate is above are not run: it says so in the table.
MOST_OPERATIONS, QUICK_MOST_OPERATIONS = 3e11, 2e10
# What lost so many times as much as the best in the first run of a cell is out of the race there.
OUT_OF_THE_RACE = 1.5
JUDGED_ID = "auto"
COLUMNS = (
    *("table", "judging", "n", "d", "k", "epsilon", "algorithm", "repeat", "ratio", "seconds", "spent_epsilon"),
    "outcome",
)


@dataclass(frozen=True)
class Plan:
    """What to run on each table; beside the algorithms, whatever else fits centres to rows."""

    epsilons: tuple[float, ...]
    repeats: int
    most_operations: float
    algorithms: tuple[str, ...]
    others: Mapping[str, Fit] = field(default_factory=lambda: PUBLIC)

    def once_at(self, epsilon: float) -> Plan:
        """Of one repeat of one cell."""
        return replace(self, epsilons=(epsilon,), repeats=1)

    @property
    def names(self) -> tuple[str, ...]:
        """Of all that is run."""
        return *self.algorithms, *self.others

    def keep(self, names: Set[str]) -> Plan:
        """The same without what is not among ``names``."""
        others = {name: fit for name, fit in self.others.items() if name in names}
        return replace(self, algorithms=tuple(name for name in self.algorithms if name in names), others=others)


class Once(NamedTuple):
    """One repeat of a cell: the table by its name and what it takes to read it through, the ε, and how it is run."""

    table: str
    cost: int
    epsilon: float
    repeat: int
    run: Callable[[Plan], list[dict[str, Any]]]
    plan: Plan

    @property
    def key(self) -> tuple[str, float, int]:
        """What tells it from all others, also in a file."""
        return self.table, self.epsilon, self.repeat


def measured(
    name: str, judging: bool, table: PrivateTable, k: int, plan: Plan, *, first: int = 0
) -> list[dict[str, Any]]:
    """All runs on one table, one tidy row each; repeats are counted from ``first``."""
    with threadpool_limits(1):
        revealed = clip_rows(table.reveal(note="a bench"), table.domain.region)
        size = {"table": name, "judging": judging, "n": len(revealed.points), "d": table.domain.dim, "k": k}
        reference = _find_reference(table, k).nicv
        rows = []
        for epsilon in plan.epsilons:
            for found in _runs(table, k, epsilon, plan, first):
                centers = found.pop("centers")
                ratio = nan if centers is None else nicv(revealed.points, centers) / reference
                rows.append({**size, "epsilon": epsilon, **found, "ratio": ratio})
    return rows


@lru_cache(maxsize=1)
def _find_reference(table: PrivateTable, k: int) -> Reference:
    """Of the table that was last asked for: its cells follow one another."""
    return find_reference(clip_rows(table.reveal(note="a bench"), table.domain.region), k)


def _runs(table: PrivateTable, k: int, epsilon: float, plan: Plan, first: int) -> Iterator[dict[str, Any]]:
    for name in plan.algorithms:
        for repeat in range(first, first + plan.repeats):
            found = _one(name, table, k, epsilon, RUN_SEED + repeat, plan.most_operations)
            yield {"algorithm": name, "repeat": repeat, **found}
            if found["outcome"] != "done":
                break
    for name, fit in plan.others.items():
        for repeat in range(first, first + plan.repeats):
            began = time.perf_counter()
            centers, spent = fit(table.reveal(note="a bench").points, k, epsilon, RUN_SEED + repeat)
            seconds = time.perf_counter() - began
            outcome = {"centers": centers, "spent_epsilon": spent, "seconds": seconds, "outcome": "done"}
            yield {"algorithm": name, "repeat": repeat, **outcome}


def _one(name: str, table: PrivateTable, k: int, epsilon: float, seed: int, most: float) -> dict[str, Any]:
    """One run; a refusal or an estimate that is too long is an outcome."""
    card = CARDS[name]
    nothing = {"centers": None, "spent_epsilon": nan, "seconds": nan}
    setting = Request(Contender(name), k, epsilon, DELTA).make_setting(table)
    if card.operations is not None and card.operations(setting, card.params()) > most:
        return {**nothing, "outcome": "too slow"}
    began = time.perf_counter()
    try:
        done = run(card, table, k=k, epsilon=epsilon, delta=DELTA, seed=seed)
    except RequestError:
        return {**nothing, "outcome": "refused"}
    seconds = time.perf_counter() - began
    return {"centers": done.unit_centers, "spent_epsilon": done.spent_epsilon, "seconds": seconds, "outcome": "done"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer tables, ε and repeats")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--repeats", type=int)
    parser.add_argument("--real", type=Path, help="a folder with the published files; see benchmarks/real_tables.py")
    parser.add_argument("--out", type=Path, default=Path("utility"))
    parser.add_argument("--judging", action="store_true", help="only the families that no constant was chosen on")
    parser.add_argument("--judged", action="store_true", help="only the judged tables: few columns, hard for auto")
    parser.add_argument("--only", help="ids, with commas between them")
    parser.add_argument("--settle", type=int, default=0, help="runs of cells where auto is not near the best")
    parser.add_argument("--report", action="store_true", help="run nothing: only say what is there, in utility.md")
    asked = parser.parse_args()
    plan = Plan(
        epsilons=QUICK_EPSILONS if asked.quick else EPSILONS,
        repeats=asked.repeats or (3 if asked.quick else 5),
        most_operations=QUICK_MOST_OPERATIONS if asked.quick else MOST_OPERATIONS,
        algorithms=tuple(asked.only.split(",")) if asked.only else tuple(card.id for card in list_private_cards()),
    )
    work = list_work(asked, plan)
    asked.out.mkdir(parents=True, exist_ok=True)
    settings = {"dpviz": __version__, "most operations": plan.most_operations}
    refuse_other_settings(asked.out, settings)
    header = (
        f"dpviz {__version__}, {machine()}. δ = {DELTA:g}, n public, table seed {TABLE_SEED}, "
        f"run seeds from {RUN_SEED}; default parameters of every algorithm. What lost {OUT_OF_THE_RACE:g} times as "
        f"much as the best in the first run of a cell is not run there again ({JUDGED_ID} is)."
    )
    print(header)
    file = asked.out / "utility.csv"
    if not asked.report:
        run_missing(work, file, asked.jobs)
        far = list_far_cells(read_rows(file))
        again = list_work(asked, replace(plan, repeats=asked.settle)) if far else []
        run_missing([one for one in again if one.key[:2] in far], file, asked.jobs)
    rows = read_rows(file)
    if not rows:
        raise SystemExit(f"{file} holds nothing to report: run the bench without --report first.")
    settled = f" Cells where {JUDGED_ID} was not near the best by then were run up to {asked.settle} times."
    text = report(rows, f"{header} {count_repeats(rows, work)}{settled * (asked.settle > plan.repeats)}")
    (asked.out / "utility.md").write_text(text, "utf-8")
    print(text)


def run_missing(work: Sequence[Once], file: Path, jobs: int) -> None:
    """One repeat after the other: what is out of the race is known after the first."""
    for repeat in range(max((one.repeat for one in work), default=-1) + 1):
        of_repeat = [one for one in work if one.repeat == repeat]
        left = list_missing(of_repeat, read_rows(file))
        print(f"repeat {repeat}: {len(left)} of {len(of_repeat)} cells are to be run", flush=True)
        tasks = (delayed(one.run)(part) for one, part in left)
        for place, found in enumerate(Parallel(n_jobs=jobs, return_as="generator_unordered")(tasks), start=1):
            _append(file, found)
            print(f"{place} of {len(left)}: {found[0]['table']}, ε = {found[0]['epsilon']:g}", flush=True)


def list_missing(work: Sequence[Once], rows: Sequence[dict[str, Any]]) -> list[tuple[Once, Plan]]:
    """Of each repeat of a cell, what is to be run yet: nothing that is there, or is out of the race.

    Parameters
    ----------
    work : sequence of Once
        Repeats of cells.
    rows : sequence of dict
        Of the file.

    Returns
    -------
    list of (Once, Plan)
        Those of which something is left, each with a plan of what that is.
    """
    there = {(row["table"], row["epsilon"], row["repeat"], row["algorithm"]) for row in rows}
    first = dict[tuple[str, float], dict[str, float]]()
    for row in rows:
        if row["repeat"] == 0:
            lost = row["ratio"] if row["outcome"] == "done" else inf
            first.setdefault((row["table"], row["epsilon"]), {})[row["algorithm"]] = lost
    left = []
    for one in work:
        of_cell = first.get(one.key[:2], {}) if one.repeat else {}
        most = OUT_OF_THE_RACE * min(of_cell.values(), default=inf)
        racing = {name for name in one.plan.names if name == JUDGED_ID or of_cell.get(name, 0.0) <= most}
        missing = {name for name in racing if (*one.key, name) not in there}
        if missing:
            left.append((one, one.plan.keep(missing)))
    return left


def count_repeats(rows: Sequence[dict[str, Any]], work: Sequence[Once]) -> str:
    """How many repeats of how many cells there are, in a sentence that says so where some are missing.

    Parameters
    ----------
    rows : sequence of dict
        Of the file.
    work : sequence of Once
        All that was asked for.

    Returns
    -------
    str
        A sentence.
    """
    there = {(row["table"], row["epsilon"], row["repeat"]) for row in rows}
    cells = Counter(one.key[:2] for one in work if one.key in there)
    asked = len({one.key[:2] for one in work})
    fewest, most = min(cells.values(), default=0), max(cells.values(), default=0)
    each = f"{most} run{'s' * (most != 1)} each" if fewest == most else f"{fewest} to {most} runs each"
    if len(there & {one.key for one in work}) == len(work):
        return f"All {asked:,} cells, {each}."
    return f"**Not finished**: {len(cells):,} of {asked:,} cells, {each}, the smallest tables first."


def refuse_other_settings(folder: Path, settings: dict[str, Any]) -> None:
    """Cells of other settings are no cells of this bench: it leaves them alone, and says so."""
    file = folder / "settings.json"
    if file.exists() and json.loads(file.read_text("utf-8")) != settings:
        raise SystemExit(f"{folder} holds a bench with other settings: give another --out, or empty it.")
    file.write_text(json.dumps(settings, indent=1), "utf-8")


def read_rows(file: Path) -> list[dict[str, Any]]:
    """The rows of all cells that are done; a last line that has no end is not one, and is cut off the file."""
    if not file.exists():
        return []
    text = file.read_text("utf-8")
    whole = text[: text.rfind("\n") + 1]
    if whole != text:
        file.write_text(whole, "utf-8")
    numbers = {"n": int, "d": int, "k": int, "repeat": int, "epsilon": float, "ratio": float, "seconds": float}
    return [
        {
            **row,
            **{name: kind(row[name]) for name, kind in numbers.items()},
            "judging": row["judging"] == "True",
            "spent_epsilon": float(row["spent_epsilon"]),
        }
        for row in csv.DictReader(whole.splitlines())
    ]


def _append(file: Path, rows: list[dict[str, Any]]) -> None:
    """The rows of a cell, in one piece: a bench that is stopped leaves no cell with a part of its rows."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    if not file.exists() or not file.stat().st_size:
        writer.writeheader()
    writer.writerows(rows)
    with file.open("a", newline="", encoding="utf-8") as end:
        end.write(text.getvalue())


def list_work(asked: argparse.Namespace, plan: Plan) -> list[Once]:
    """All repeats of all cells, in the order in which they are run.

    Parameters
    ----------
    asked : Namespace
        What the command line asks for.
    plan : Plan
        What to run on each table.

    Returns
    -------
    list of Once
        The first repeat of each cell, small tables before large ones, then the second, and so on.
    """
    listed = list(_list_cells(asked, plan))
    return sorted(listed, key=lambda one: (one.repeat, one.cost))


def _list_cells(asked: argparse.Namespace, plan: Plan) -> Iterator[Once]:
    """Repeats of each cell: generated tables, the judged ones among them, and real ones where there are files."""
    for family in FAMILIES:
        for size in () if asked.judged else QUICK_SIZES if asked.quick else SIZES:
            if family.judging or not asked.judging:
                yield from list_repeats(f"{family.name}, {size}", size, plan, _generated, family, size)
    for family, size in () if asked.quick else JUDGED:
        judged = replace(plan, epsilons=JUDGED_EPSILONS)
        yield from list_repeats(f"judged: {family.name}, {size}", size, judged, _judged, family, size)
    for name in REAL:
        if asked.real and (asked.real / REAL[name].file).exists():
            table, k = _load_real_table(name, asked.real)
            size = Size(table.n_public or 1, table.domain.dim, k)
            yield from list_repeats(name, size, plan, _real, name, asked.real)


def list_repeats(name: str, size: Size, plan: Plan, run_once: Callable[..., Any], *what: Any) -> Iterator[Once]:
    """Each ε of a table in turn, each repeat."""
    for repeat in range(plan.repeats):
        for epsilon in plan.epsilons:
            run_it = partial(run_once, *what, repeat)
            yield Once(name, size.n * size.d * size.k, epsilon, repeat, run_it, plan.once_at(epsilon))


_generate = lru_cache(maxsize=1)(generated)
_load_real_table = lru_cache(maxsize=1)(real_table)


def _generated(family: Family, size: Size, repeat: int, plan: Plan) -> list[dict[str, Any]]:
    table = _generate(family, size, TABLE_SEED)
    return measured(f"{family.name}, {size}", family.judging, table, size.k, plan, first=repeat)


def _judged(family: Family, size: Size, repeat: int, plan: Plan) -> list[dict[str, Any]]:
    """Each repeat on a table of its own."""
    table = _generate(family, size, JUDGED_SEED + repeat)
    return measured(f"judged: {family.name}, {size}", True, table, size.k, plan, first=repeat)


def _real(name: str, folder: Path, repeat: int, plan: Plan) -> list[dict[str, Any]]:
    table, k = _load_real_table(name, folder)
    return measured(name, False, table, k, plan, first=repeat)


if __name__ == "__main__":
    main()
