"""A running app, and visits to it in the browser that all tests share."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

from tests.browser.server import ROOT, running_app
from tests.browser.visitor import Visitor

WIDE = {"width": 1280, "height": 900}
NARROW = {"width": 390, "height": 844}


@pytest.fixture(scope="session")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Of an app that all browser tests share; at the end its log must hold no exception."""
    log = tmp_path_factory.mktemp("app") / "log.txt"
    with running_app(log) as found:
        yield found
    printed = log.read_text(errors="replace")
    assert "Traceback" not in printed and "Uncaught" not in printed, printed


@pytest.fixture
def visitor(browser: Browser, request: pytest.FixtureRequest) -> Iterator[Callable[..., Visitor]]:
    """A new visit: ``visitor()``, or with other options of a browser context; at its end it must be content."""
    address = request.getfixturevalue("address")  # not started where there is no browser
    contexts = []
    visits = []

    def arrive(**options: Any) -> Visitor:
        contexts.append(browser.new_context(**{"viewport": WIDE, "color_scheme": "light", **options}))
        visits.append(Visitor(contexts[-1], address))
        return visits[-1]

    yield arrive
    try:
        for visit in visits:
            visit.is_content()
    finally:
        for context in contexts:
            context.close()


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    """Where pictures go: to ``docs/`` under DPVIZ_PICTURES=1, else out of the tree."""
    return ROOT / "docs" if os.environ.get("DPVIZ_PICTURES") == "1" else tmp_path
