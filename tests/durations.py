"""How long each test took when it was measured, kept in ``durations.json``, and the two processes balanced by it.

``python -m pytest -m "" -n 2 --store-durations`` measures and stores all; with some files, those. Where several
processes run, each takes a whole file at a time, so that what its tests share is made once, and the dearest files
first; all that drive the browser count as one file, and all that plant mistakes. Without ``-m ""`` the whole suite
leaves out, beside tests that are marked as slow, those that took longer than ``LONGEST_QUICK`` seconds.
"""

import json
import os
from collections import Counter, defaultdict
from collections.abc import Generator
from math import fsum
from pathlib import Path

import pytest
from xdist.scheduler import LoadScopeScheduling

_STORED = Path(__file__).with_name("durations.json")
LONGEST_QUICK = 0.5
_SHARED = ("tests/browser/", "tests/planted/")


class DearestFirst(LoadScopeScheduling):  # type: ignore[misc]
    """Whole files to whoever is free, in the order in which they were collected."""

    def _split_scope(self, nodeid: str) -> str:
        return scope_of(nodeid)


def scope_of(nodeid: str) -> str:
    """What is run in one process: a file, or a folder whose files share a browser or the processes that fork trials."""
    file = nodeid.partition("::")[0]
    return next((folder for folder in _SHARED if file.startswith(folder)), file)


def dearest_first(items: list[pytest.Item]) -> None:
    """Sort whole files by the time that they took when it was stored; a file that is not there yet comes first."""
    seconds = stored()
    scopes: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        scopes[scope_of(item.nodeid)].append(item)

    def cost(scope: str) -> float:
        files = {item.nodeid.partition("::")[0] for item in scopes[scope]}
        if not files <= seconds.keys():
            return float("inf")
        functions = {tuple(item.nodeid.partition("[")[0].split("::", 1)) for item in scopes[scope]}
        # Rounded once, whatever the order of the set: all processes must sort alike.
        return fsum(seconds[file].get(function, 0.0) for file, function in functions)

    items[:] = [item for scope in sorted(scopes, key=lambda scope: (-cost(scope), scope)) for item in scopes[scope]]


def mark_slow(items: list[pytest.Item]) -> None:
    """Mark the tests whose cases took, one by one, longer than a quick test when they were measured."""
    seconds = stored()
    functions = [item.nodeid.partition("[")[0] for item in items]
    cases = Counter(functions)
    for item, function in zip(items, functions, strict=True):
        file, _, name = function.partition("::")
        if seconds.get(file, {}).get(name, 0.0) > LONGEST_QUICK * cases[function]:
            item.add_marker(pytest.mark.slow)


def stored() -> dict[str, dict[str, float]]:
    """Seconds by file and test function, its cases together."""
    return json.loads(_STORED.read_text()) if _STORED.exists() else {}


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> Generator[None, None, None]:
    """Of the whole suite what took long is slow; in one of several processes the dearest files come first."""
    if config.args_source is pytest.Config.ArgsSource.TESTPATHS or hasattr(config, "workerinput"):
        mark_slow(items)
    yield
    if hasattr(config, "workerinput"):
        dearest_first(items)


class Stopwatch:
    """Adds up what each test function took, set-up and teardown included, and stores it at the end."""

    def __init__(self) -> None:
        self._seconds: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """One phase of one test has ended, in whichever process."""
        file, _, function = report.nodeid.partition("[")[0].partition("::")
        self._seconds[file][function] += report.duration

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """All have ended: what was measured replaces what was stored of it, and names that are gone go."""
        renewed: dict[str, dict[str, float]] = {}
        for file in sorted({*stored(), *self._seconds}):
            path = session.config.rootpath / file
            source = path.read_text("utf-8") if path.exists() else ""
            functions = {**stored().get(file, {}), **self._seconds.get(file, {})}
            there = {name: round(seconds, 2) for name, seconds in sorted(functions.items()) if f" {name}(" in source}
            renewed |= {file: there} if there else {}
        _STORED.write_text(json.dumps(renewed, indent=0) + "\n")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Durations are stored when somebody asks."""
    parser.addoption(
        "--store-durations", action="store_true", help="store how long each test took in tests/durations.json"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Only the process that gathers the reports stores them."""
    if config.getoption("--store-durations") and "PYTEST_XDIST_WORKER" not in os.environ:
        config.pluginmanager.register(Stopwatch(), "stopwatch")
    if config.pluginmanager.has_plugin("xdist"):
        config.pluginmanager.register(Scheduling(), "dearest-first")


class Scheduling:
    """What pytest-xdist asks, where it is in use."""

    @staticmethod
    def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> LoadScopeScheduling:
        """Also wherever another way of dealing was asked for."""
        config.option.loadscopereorder = False
        return DearestFirst(config, log)
