"""A running app, and visits to it in one browser; what costs a visit seconds is done once for many tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext

from tests.browser.chromium import launched_for_tests
from tests.browser.looks import LOOKS, takes_on
from tests.browser.server import running_app
from tests.browser.visitor import WIDE, Visitor


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """One Chromium for all tests in this folder."""
    with launched_for_tests() as found:
        yield found


@pytest.fixture(scope="package")
def address(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Of an app that all browser tests share; at the end its log must hold no exception."""
    log = tmp_path_factory.mktemp("app") / "log.txt"
    with running_app(log) as found:
        yield found
    printed = log.read_text(errors="replace")
    assert "Traceback" not in printed and "Uncaught" not in printed, printed


@pytest.fixture(scope="package")
def contexts(browser: Browser) -> Iterator[Callable[..., BrowserContext]]:
    """A browser context with these options: that of an earlier visit, whose browser has read the page's scripts."""
    made: dict[str, BrowserContext] = {}

    def context(**options: Any) -> BrowserContext:
        name = repr(sorted(options.items()))
        if name not in made:
            made[name] = browser.new_context(**options)
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


class Shared:
    """A visit that tests share, one after the other, until one of them fails."""

    visit: Visitor | None = None


@pytest.fixture(scope="package")
def shared() -> Shared:
    """Where the visit is that tests share."""
    return Shared()


@pytest.fixture
def fifteen(
    shared: Shared, contexts: Callable[..., BrowserContext], address: str, request: pytest.FixtureRequest
) -> Iterator[Visitor]:
    """On the bench, in the light, on a wide screen, with the table *Fifteen clusters*: as others left its settings."""
    visit = shared.visit
    look = LOOKS["light"]
    if visit is None:
        visit = Visitor(contexts(viewport=look.window, color_scheme=look.colors), address)
        visit.goes_to("/")
    takes_on(visit, look)
    if urlsplit(visit.page.url).path != "/":
        visit.turns_to("Bench")
    visit.sees_animation()
    visit.page.get_by_test_id("stMain").evaluate("main => main.scrollTo(0, 0)")
    shared.visit, failed = None, request.session.testsfailed
    yield visit
    if request.session.testsfailed > failed:
        visit.page.close()
    else:
        visit.is_content()
        shared.visit = visit
