"""A running app, and visits to it in one browser; what costs a visit seconds is done once for many tests."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext

from tests.browser.chromium import launched_for_tests
from tests.browser.looks import WINDOW
from tests.browser.server import STEPS, running_app
from tests.browser.visitor import WIDE, Visitor

# Where a process can be waited for by whoever is not its parent.
_PROGRAM = "tests.browser.small_app" if hasattr(os, "pidfd_open") else "streamlit"


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """One Chromium for all tests in this folder."""
    with launched_for_tests() as found:
        yield found


@pytest.fixture(scope="package")
def steps(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file that says how far a run goes that is held (``tests/browser/small_app.py``)."""
    path = tmp_path_factory.mktemp("held") / "steps"
    path.touch()
    return path


@pytest.fixture(scope="package")
def address(browser: Browser, steps: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Of an app that all browser tests share; at the end its log must hold no exception."""
    log = tmp_path_factory.mktemp("app") / "log.txt"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(STEPS, str(steps))
        with running_app(log, program=_PROGRAM) as found:
            yield found
    printed = log.read_text(errors="replace")
    assert "Traceback" not in printed and "Uncaught" not in printed, printed


@pytest.fixture(scope="package")
def contexts(browser: Browser, address: str) -> Iterator[Callable[..., BrowserContext]]:
    """A browser context with these options: that of an earlier visit, whose browser has read the page's scripts.

    As long as a page of the app is open, though none is visited, the process that draws them goes on.
    """
    made: dict[str, BrowserContext] = {}

    def context(**options: Any) -> BrowserContext:
        name = repr(sorted(options.items()))
        if name not in made:
            made[name] = browser.new_context(**options)
            made[name].new_page().goto(f"{address}/_stcore/health")
        return made[name]

    yield context
    for one in made.values():
        one.close()


@pytest.fixture
def visitor(contexts: Callable[..., BrowserContext], address: str) -> Iterator[Callable[..., Visitor]]:
    """A new visit: ``visitor()``, or with other options of a browser context; at its end it must be content."""
    visits: list[Visitor] = []

    def arrive(**options: Any) -> Visitor:
        visits.append(Visitor(contexts(**{"viewport": WIDE, "color_scheme": "light", **options}), address))
        return visits[-1]

    yield arrive
    try:
        for visit in visits:
            visit.is_content()
    finally:
        for visit in visits:
            visit.page.close()


@pytest.fixture
def fifteen(visitor: Callable[..., Visitor]) -> Visitor:
    """On the bench as everybody finds it: the sample *Fifteen clusters* at ε = 1, what auto takes, the last step."""
    visit = visitor(viewport=WINDOW)
    visit.goes_to("/")
    visit.sees_animation()
    return visit
