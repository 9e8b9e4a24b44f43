"""What a user waits for, of this checkout beside another one: the same work in both by turns, and ratios of the pairs.

Each checkout has a process of its own, which stays, so that fits are warm; what is called first is a process from its
start to the end of a fit. Seconds are of the wall and of the processor, which count for more where others are at work:
a line that was measured then says that it is not judged. Who goes first changes with every pair. A line ends after
three pairs or more once it has taken ``SECONDS``, so that all of them take some five minutes.

    python -m benchmarks.waits --beside ../another/checkout [--only balcan]
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from statistics import median
from typing import Any

HERE = Path(__file__).resolve()
REPEATS, FEWEST, SECONDS = 7, 3, 20.0


def serve() -> None:
    """Do what each line of the input names, and answer with the seconds that it took."""
    done: dict[str, Callable[[], object]] = {}
    for line in sys.stdin:
        name = line.strip()
        if name not in done:
            done[name] = WORK[name]()
            done[name]()
        began, worked = time.perf_counter(), time.process_time()
        done[name]()
        print(time.perf_counter() - began, time.process_time() - worked, flush=True)


def find_name(name: str, *modules: str) -> Any:
    """What is called ``name`` in the first of ``modules`` that is there: older checkouts have other names for some."""
    for module in modules:
        with suppress(ModuleNotFoundError):
            return getattr(import_module(module), name)
    raise ImportError(f"{name} is in none of {', '.join(modules)}: name its module of that checkout in find_name.")


def make_table(n: int, dim: int, k: int) -> Any:
    """``n`` rows in ``k`` Gaussian clusters."""
    import numpy as np

    from dpviz.core.domain import Domain

    table = find_name("PrivateTable", "dpviz.core.private_session", "dpviz.core.room")
    rng = np.random.default_rng(0)
    centers = rng.uniform(-0.7, 0.7, (k, dim))
    rows = np.clip(centers[rng.integers(0, k, n)] + rng.normal(0, 0.06, (n, dim)), -1, 1)
    return table(rows, Domain.of([f"x{j}" for j in range(dim)], -1, 1), n_public=n)


def fit(algorithm: str, n: int, dim: int, k: int, *, delta: float = 1e-6) -> Callable[[], object]:
    """A run on a table that is made once."""
    from dpviz.runs.one_run import run

    return partial(run, algorithm, make_table(n, dim, min(k, 60)), k=k, epsilon=1.0, delta=delta, seed=0)


def step(n: int, dim: int, k: int) -> Callable[[], object]:
    """Noisy counts and sums of all clusters, ten times."""
    import numpy as np

    from dpviz.core.accounting import Accounting
    from dpviz.core.mechanisms import Laplace
    from dpviz.core.noise import StudyNoise
    from dpviz.core.partitions import Voronoi
    from dpviz.core.queries import Count, Sum

    question = find_name("Question", "dpviz.core.mechanisms", "dpviz.core.released")
    table = make_table(n, dim, k)
    cells = np.random.default_rng(1).uniform(-1, 1, (k, dim))

    def ask() -> None:
        for _ in range(10):
            noise = StudyNoise(np.random.default_rng(0))
            session = table.open(epsilon=1.0, delta=0.0, accounting=Accounting.PURE, noise=noise)
            share, over = session.budget.split(counts=1, sums=1), Voronoi(cells)
            session.ask_together(
                question(Count(over), Laplace, share.counts), question(Sum(over), Laplace, share.sums), note="step"
            )

    return ask


def swap(n: int, dim: int, k: int, candidates: int) -> Callable[[], object]:
    """One private choice among all swaps of a centre and a candidate: candidates lie where rows are."""
    import numpy as np

    from dpviz.core.accounting import Accounting
    from dpviz.core.losses import SwapLoss
    from dpviz.core.mechanisms import Exponential
    from dpviz.core.noise import StudyNoise

    table, rng = make_table(n, dim, k), np.random.default_rng(0)
    centers = rng.uniform(-0.7, 0.7, (k, dim))  # those of the table
    others = np.clip(centers[rng.integers(0, k, candidates)] + rng.normal(0, 0.15, (candidates, dim)), -1, 1)

    def ask() -> None:
        noise = StudyNoise(np.random.default_rng(0))
        session = table.open(epsilon=1.0, delta=0.0, accounting=Accounting.PURE, noise=noise)
        session.ask(SwapLoss(centers, others), Exponential, session.budget, note="swap")

    return ask


WORK: dict[str, Callable[[], Callable[[], object]]] = {
    "ten steps, 1,000 x 2, k = 8": partial(step, 1_000, 2, 8),
    "ten steps, 100,000 x 2, k = 15": partial(step, 100_000, 2, 15),
    "ten steps, 100,000 x 10, k = 10": partial(step, 100_000, 10, 10),
    "ten steps, 100,000 x 100, k = 64": partial(step, 100_000, 100, 64),
    "ten steps, 1,000,000 x 2, k = 100": partial(step, 1_000_000, 2, 100),
    "auto, warm, 100,000 x 10, k = 8": partial(fit, "auto", 100_000, 10, 8),
    "auto, warm, 5,000 x 2, k = 15": partial(fit, "auto", 5_000, 2, 15),
    "auto, warm, 100,000 x 100, k = 64": partial(fit, "auto", 100_000, 100, 64),
    "auto, 100,000 x 2, k = 1,000": partial(fit, "auto", 100_000, 2, 1_000),
    "eugkm, 100,000 x 2, k = 1,000": partial(fit, "eugkm", 100_000, 2, 1_000, delta=0.0),
    "swap of 1,000, 100,000 x 6, k = 8": partial(swap, 100_000, 6, 8, 1_000),
    "balcan, 10,000 x 6, k = 8": partial(fit, "balcan", 10_000, 6, 8),
    "balcan, 100,000 x 6, k = 8": partial(fit, "balcan", 100_000, 6, 8),
    "balcan-kmedian, 100,000 x 6, k = 8": partial(fit, "balcan-kmedian", 100_000, 6, 8),
}
FIRST = {
    "first, PrivateKMeans imported": "from dpviz import PrivateKMeans",
    "first, auto fitted on 5,000 x 2": (
        "import numpy as np; from dpviz import PrivateKMeans; rows = np.random.default_rng(0).normal(size=(5000, 2)); "
        "PrivateKMeans(5, epsilon=1.0, bounds=(-5, 5), random_state=0).fit(rows)"
    ),
}


class Checkout:
    """A process that works with the package of one checkout."""

    def __init__(self, root: Path) -> None:
        self.environment = os.environ | {"PYTHONPATH": str(root)}
        self.process = subprocess.Popen(
            [sys.executable, str(HERE), "--serve"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=self.environment,
            cwd=root,
        )

    def measure(self, name: str) -> tuple[float, float]:
        """Wall and processor seconds of a piece of work."""
        if name in FIRST:
            before, began = os.times(), time.perf_counter()
            subprocess.run([sys.executable, "-W", "ignore", "-c", FIRST[name]], env=self.environment, check=True)
            after = os.times()
            worked = after.children_user - before.children_user + after.children_system - before.children_system
            return time.perf_counter() - began, worked
        assert self.process.stdin is not None and self.process.stdout is not None
        print(name, file=self.process.stdin, flush=True)
        wall, worked = map(float, self.process.stdout.readline().split())
        return wall, worked


def main() -> None:
    """Print a line for each wait."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--beside", type=Path, required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("--repeats", type=int, default=REPEATS)
    asked = parser.parse_args()
    from benchmarks.timing import busy, machine

    print(machine())
    print(f"{'seconds: wall (processor)':<36}{'there':>18}{'here':>18}{'ratio':>8}{'of processor':>14}")
    there, here = Checkout(asked.beside.resolve()), Checkout(HERE.parent.parent)
    for name in (name for name in (*FIRST, *WORK) if asked.only in name):
        pairs: list[tuple[float, float, float, float]] = []
        began = time.perf_counter()
        while len(pairs) < asked.repeats and (len(pairs) < FEWEST or time.perf_counter() - began < SECONDS):
            both = (there, here) if len(pairs) % 2 == 0 else (here, there)
            measured = {checkout: checkout.measure(name) for checkout in both}
            pairs.append((*measured[there], *measured[here]))
        was, worked, now, works = (median(column) for column in zip(*pairs, strict=True))
        ratio, of_processor = median(pair[2] / pair[0] for pair in pairs), median(pair[3] / pair[1] for pair in pairs)
        seconds = f"{was:>9.3f} ({worked:6.3f}){now:>9.3f} ({works:6.3f})"
        print(f"{name:<36}{seconds}{ratio:>8.2f}{of_processor:>14.2f}  {busy()}".rstrip(), flush=True)
    for checkout in (there, here):
        checkout.process.terminate()


if __name__ == "__main__":
    serve() if "--serve" in sys.argv else main()
