"""How every benchmark times and reports: medians of alternating repeats, with the machine and versions on top."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable, Sequence
from statistics import median

import numpy as np
import scipy
import sklearn


def seconds_of(work: Callable[[], object]) -> float:
    """Wall seconds of one call."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def median_seconds(work: Callable[[], object], repeats: int) -> float:
    """Median wall seconds after one call that is not counted."""
    work()
    return median(seconds_of(work) for _ in range(repeats))


def median_ratio(ours: Callable[[], object], theirs: Callable[[], object], repeats: int) -> tuple[float, float, float]:
    """Median seconds of both and the median of the pairwise ratios; the two take turns, so drift hits both."""
    ours(), theirs()
    pairs = [(seconds_of(ours), seconds_of(theirs)) for _ in range(repeats)]
    return median(a for a, _ in pairs), median(b for _, b in pairs), median(a / b for a, b in pairs)


def fitted_exponent(sizes: Sequence[float], seconds: Sequence[float]) -> float:
    """Slope of log seconds over log size."""
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def load() -> str:
    """How many processes wanted a core, over the last minute."""
    return f"load {os.getloadavg()[0]:.1f}"


def busy() -> str:
    """Why nothing can be judged by time, if others want the cores: the load; else nothing.

    What measures may want all cores itself, and every machine does something beside.
    """
    return "" if os.getloadavg()[0] <= (os.cpu_count() or 1) + 0.25 else f"not judged: {load()}"


def judge(holds: bool) -> str:
    """The verdict on an aim that is measured by time, or why there is none."""
    return busy() or ("holds" if holds else "DOES NOT HOLD")


def machine() -> str:
    """One line on what was measured where, and what else ran there."""
    return (
        f"{os.cpu_count()} cores, Python {platform.python_version()}, NumPy {np.__version__}, "
        f"SciPy {scipy.__version__}, scikit-learn {sklearn.__version__}, {load()}"
    )
