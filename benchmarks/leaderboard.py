"""Every algorithm on tables by recipe and on published ones, as one page with the worst cells first. Goes on; offline.

python -m benchmarks.leaderboard [--quick] [--out leaderboard] [--data FOLDER] [--only auto,dplloyd] [--of auto]
    [--repeats 5] [--jobs 2]

A cell is a table at an ε. Algorithms that installed packages bring take part, and so do other public implementations
that can be imported, and guests: a grid whose start is chosen by the true loss, as a published script does, beside one
that is chosen by its noisy counts. What each really spends stands beside it. Each cell is a file below --out: what is
there is not run again, so that a bench that was stopped goes on where it was.
"""

from __future__ import annotations

import argparse
import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed

from benchmarks.families import FAMILIES, Family, Size, generated
from benchmarks.leaderboard_page import page
from benchmarks.public_implementations import GUESTS, PUBLIC
from benchmarks.real_tables import REAL, real_table
from benchmarks.timing import machine
from benchmarks.utility import (
    DELTA,
    MOST_OPERATIONS,
    QUICK_MOST_OPERATIONS,
    RUN_SEED,
    TABLE_SEED,
    Plan,
    measured,
    refuse_other_settings,
)
from dpviz import __version__
from dpviz.algorithms.registry import AUTO, CARDS, list_private_cards

EPSILONS = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0)
QUICK_EPSILONS = (0.25, 1.0, 4.0)
SIZES = (
    *(Size(5000, 2, 5), Size(20_000, 2, 20), Size(20_000, 3, 8), Size(10_000, 1, 6)),
    *(Size(20_000, 6, 4), Size(50_000, 10, 20), Size(20_000, 40, 8)),
)
QUICK_SIZES = (Size(5000, 2, 5), Size(10_000, 3, 8), Size(10_000, 8, 4))
REPEATS, QUICK_REPEATS = 5, 1
Row = dict[str, Any]


@dataclass(frozen=True)
class Cell:
    """A table by its recipe, or by the name of a published file in a folder, at an ε."""

    name: str
    epsilon: float
    made: tuple[Family, Size] | None = None
    folder: Path | None = None

    @property
    def file(self) -> str:
        words = re.sub(r"[^a-z0-9]+", "-", self.name.lower()).strip("-")
        return f"{words}-{self.epsilon:g}.json"

    def rows(self, plan: Plan) -> list[Row]:
        """All runs of the cell, one tidy row each."""
        if self.made is not None:
            family, size = self.made
            return measured(self.name, family.judging, generated(family, size, TABLE_SEED), size.k, plan)
        assert self.folder is not None
        table, k = real_table(self.name, self.folder)
        return measured(self.name, False, table, k, plan)


def cells_of(*, quick: bool, data: Path | None) -> Iterator[Cell]:
    """The cells in their order: recipes, then the published tables that lie in ``data``."""
    for epsilon in QUICK_EPSILONS if quick else EPSILONS:
        for family in FAMILIES:
            for size in QUICK_SIZES if quick else SIZES:
                yield Cell(f"{family.name}, {size}", epsilon, made=(family, size))
        for name, real in REAL.items():
            if data is not None and (data / real.file).exists():
                yield Cell(name, epsilon, folder=data)


def run_cell(cell: Cell, plan: Plan, folder: Path) -> list[Row]:
    """The rows of a cell: those of its file, or new ones, which are written as a whole."""
    file = folder / cell.file
    if file.exists():
        kept: list[Row] = json.loads(file.read_text("utf-8"))
        return kept
    rows = [
        {name: None if isinstance(value, float) and math.isnan(value) else value for name, value in row.items()}
        for row in cell.rows(plan)
    ]
    half = file.with_suffix(".half")
    half.write_text(json.dumps(rows), "utf-8")
    half.replace(file)
    return rows


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer tables, ε and repeats: minutes")
    parser.add_argument("--out", type=Path, default=Path("leaderboard"), help="folder of the page and of the cells")
    parser.add_argument("--data", type=Path, help="a folder with published files; see benchmarks/real_tables.py")
    parser.add_argument("--only", help="ids, with commas between them")
    parser.add_argument("--of", default=AUTO, help="whose worst cells come first")
    parser.add_argument("--repeats", type=int)
    parser.add_argument("--jobs", type=int, default=2)
    asked = parser.parse_args(argv)
    names = tuple(asked.only.split(",")) if asked.only else tuple(card.id for card in list_private_cards())
    unknown = [name for name in (*names, asked.of) if name not in CARDS]
    if unknown or asked.of not in names:
        raise SystemExit(
            f"There is no algorithm {', '.join(unknown) or asked.of} here: choose from {', '.join(CARDS)}."
        )
    repeats = asked.repeats or (QUICK_REPEATS if asked.quick else REPEATS)
    most = QUICK_MOST_OPERATIONS if asked.quick else MOST_OPERATIONS
    work = list(cells_of(quick=asked.quick, data=asked.data))
    folder = asked.out / "cells"
    folder.mkdir(parents=True, exist_ok=True)
    settings = {"dpviz": __version__, "quick": asked.quick, "repeats": repeats, "algorithms": list(names)}
    settings |= {} if asked.only else {"guests": list(GUESTS)}
    refuse_other_settings(folder, settings)
    others = PUBLIC if asked.only else PUBLIC | GUESTS
    done = sum((folder / cell.file).exists() for cell in work)
    print(f"{len(work)} cells, {done} of them are there", flush=True)
    tasks = (delayed(run_cell)(cell, Plan((cell.epsilon,), repeats, most, names, others), folder) for cell in work)
    rows: list[Row] = []
    for place, found in enumerate(Parallel(n_jobs=asked.jobs, return_as="generator_unordered")(tasks), start=1):
        rows += found
        print(f"{place} of {len(work)}: {found[0]['table']}, ε = {found[0]['epsilon']:g}", flush=True)
    header = (
        f"dpviz {__version__}, {machine()}. δ = {DELTA:g}, n public, {repeats} run{'s' * (repeats > 1)} a cell, table "
        f"seed {TABLE_SEED}, run seeds from {RUN_SEED}; default parameters of every algorithm."
    )
    file = asked.out / "leaderboard.html"
    file.write_text(page(rows, header=header, of=asked.of), "utf-8")
    print(file)


if __name__ == "__main__":
    main()
