"""What the job tests run in workers: module-level generators, importable by name."""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dpviz.runs.jobs import Progress, brief
from dpviz.runs.worker import PROGRESS_INTERVAL

SECRET = "row 17 is 42.4242"


_FOREVER = "import threading; threading.Event().wait()"


class Vouched(Exception):
    safe_message = True


class Stubborn:
    def __reduce__(self) -> str:
        raise TypeError(SECRET)


def count(n: int) -> Iterator[Progress | int]:
    for i in range(n):
        yield i
        yield Progress(i + 1, n)


def one_then_hang() -> Iterator[Progress | str]:
    yield Progress(1, 10)
    yield Progress(2, 10)  # too soon: it must arrive all the same, while the work is silent
    yield "ready"
    yield Progress(3, 10)
    yield Progress(4, 10)
    threading.Event().wait(3 * PROGRESS_INTERVAL)
    yield Progress(5, 10)
    threading.Event().wait()


def hang(with_child: bool = False) -> Iterator[int]:
    yield os.getpid()
    if with_child:
        yield subprocess.Popen([sys.executable, "-c", _FOREVER]).pid
    threading.Event().wait()


@brief
def run() -> Iterator[int]:
    yield from hang()


def fail(kind: str) -> Iterator[int]:
    yield 1
    if kind == "vouched":
        raise Vouched("choose an epsilon above 0")
    if kind == "exit":
        sys.exit(SECRET)
    if kind == "unpicklable":
        yield Stubborn()  # type: ignore[misc]
    raise ValueError(SECRET)


def die() -> Iterator[int]:
    yield 1
    os._exit(3)


def surroundings() -> Iterator[dict[str, object]]:
    from threadpoolctl import threadpool_info

    print("printed")
    os.write(1, b"written")
    np.ones((2, 2)) @ np.ones((2, 2))
    yield {
        "OMP_NUM_THREADS": os.environ["OMP_NUM_THREADS"],
        "threads": [pool["num_threads"] for pool in threadpool_info()],
        "streamlit": "streamlit" in sys.modules,
        "nice": os.nice(0),
    }


def touch(rows: NDArray[np.float64], again: NDArray[np.float64]) -> Iterator[tuple[float, float, bool, int]]:
    """Write to ``rows``; their sum before and after, whether both arguments are one array, how much is mapped."""
    before = float(rows.sum())
    rows[0] += 1.0
    maps = [line.split() for line in Path("/proc/self/maps").read_text().splitlines() if "memfd:dpviz" in line]
    ends = [[int(end, 16) for end in line[0].split("-")] for line in maps]
    yield before, float(rows.sum()), rows is again, sum(high - low for low, high in ends)
