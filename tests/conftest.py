"""For all tests: every core, one thread each, property tests that repeat exactly, and a browser."""

import csv
import gc
import os
import sys
from collections import defaultdict
from collections.abc import Generator, Iterator
from pathlib import Path

# Before NumPy loads its linear algebra: several test processes share few cores, and what is stored to the last bit was
# computed as processors with AVX2 do, which those with AVX-512 can do, too.
os.environ.setdefault("OMP_NUM_THREADS", "1")
if "avx512f" in (Path("/proc/cpuinfo").read_text("utf-8") if sys.platform == "linux" else ""):
    os.environ.setdefault("OPENBLAS_CORETYPE", "Haswell")
    os.environ.setdefault("NPY_DISABLE_CPU_FEATURES", "X86_V4 AVX512_ICL AVX512_SPR")

import pytest
from playwright.sync_api import Browser

from dpviz.algorithms import plugins
from dpviz.core.private_session import ACCESS_LOG
from tests import examples
from tests.browser.chromium import launched_for_tests

pytest_plugins = ["tests.durations"]
_MOST_PROCESSES = 4
_LONGEST_CELL = 131_072  # of the module csv, as it is loaded
# Whoever has installed packages that bring algorithms, as the README shows, tests ours all the same.
plugins.entry_points = lambda group: ()


@pytest.fixture(autouse=True)
def nothing_seen() -> None:
    """Each test begins as a process does that has seen no row, and with the limit of cells that Python has.

    A library that checks catalogues raises it where it is imported, and so does the program of a release that finds
    the segment of a row.
    """
    ACCESS_LOG.clear()
    csv.field_size_limit(_LONGEST_CELL)


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """The whole suite runs on every core, where pytest-xdist is installed; tests asked for by name run in this process.

    Whatever ``-n`` says goes.
    """
    whole = config.args_source is pytest.Config.ArgsSource.TESTPATHS and not hasattr(config, "workerinput")
    if whole and getattr(config.option, "numprocesses", "not installed") is None:
        config.option.numprocesses, config.option.maxprocesses = "auto", _MOST_PROCESSES
        config.option.dist = "loadfile"


def pytest_configure(config: pytest.Config) -> None:
    """Properties are tried on fewer examples where slow tests are left out."""
    examples.load(quick="not slow" in config.option.markexpr)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Nothing that is imported and collected is garbage: to look for some takes a third of the time of collecting."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Of a test marked ``some(n)`` that many of its cases are fast: the first, the last, and others between them."""
    cases = defaultdict(list)
    for item in items:
        if item.get_closest_marker("some") and not item.get_closest_marker("slow"):
            cases[item.nodeid.partition("[")[0]].append(item)
    for family in cases.values():
        number = min(family[0].get_closest_marker("some").args[0], len(family))
        fast = {round(place * (len(family) - 1) / max(1, number - 1)) for place in range(number)}
        for place, item in enumerate(family):
            if place not in fast:
                item.add_marker(pytest.mark.slow)


@pytest.fixture(autouse=True)
def own_main_module() -> Iterator[None]:
    """A page run in this process takes the place of its main module, which processes started later would run again."""
    own = sys.modules["__main__"]
    yield
    sys.modules["__main__"] = own


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium for one file of tests: as long as it is open, Playwright's event loop runs in this thread.

    No other loop can meanwhile. The tests in ``tests/browser`` need none, and share one browser.
    """
    with launched_for_tests() as found:
        yield found
