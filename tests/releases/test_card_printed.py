"""A card in a browser: two sheets of paper, a telephone, the dark; it asks for nothing and serves every reader."""

import re
from importlib.resources import files
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from dpviz.releases.release_texts import make_card_page
from tests.browser.visitor import NARROW, WIDE
from tests.releases.made_played import people

pytestmark = [pytest.mark.slow, pytest.mark.browser]

_CUT = "[...document.querySelectorAll('p, li, dd, h1, h2, h3')].filter(e => e.scrollWidth > e.clientWidth + 1).length"
_SHEET = re.compile(rb"/Type\s*/Page\b(?!s)")


@pytest.fixture
def card(tmp_path: Path) -> Path:
    """The file of a card of eight clusters and seven columns."""
    file = tmp_path / "card.html"
    file.write_text(make_card_page(people(8, 1)), "utf-8")
    return file


def test_it_prints_on_two_sheets(browser: Browser, card: Path) -> None:
    page = browser.new_page(color_scheme="dark")
    page.goto(card.as_uri())
    assert len(_SHEET.findall(page.pdf(prefer_css_page_size=True))) == 2
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    page.close()


def test_it_asks_for_nothing_and_everybody_can_read_it_on_every_screen(browser: Browser, card: Path) -> None:
    # The page's own policy forbids the checker's script: that one is let in for the test alone.
    context = browser.new_context(bypass_csp=True)
    context.set_offline(True)
    page = context.new_page()
    asked: list[str] = []
    complaints: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda said: complaints.append(said.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(card.as_uri())
    page.evaluate((files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8"))
    for scheme, surface in (("light", "rgb(255, 255, 255)"), ("dark", "rgb(18, 23, 30)")):
        page.emulate_media(color_scheme=scheme)
        for window in (WIDE, NARROW, {"width": 768, "height": 1024}, {"width": 1920, "height": 1080}):
            page.set_viewport_size(window)
            where = f"{scheme}, {window['width']} wide"
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), where
            assert page.evaluate(_CUT) == 0, where
            assert page.evaluate("getComputedStyle(document.body).backgroundColor") == surface, where
            if (scheme, window) in (("light", WIDE), ("dark", NARROW)):
                found = page.evaluate("axe.run({resultTypes: ['violations']}).then(found => found.violations)")
                assert [(one["id"], [node["html"][:80] for node in one["nodes"]]) for one in found] == [], where
    assert (asked, complaints) == ([card.as_uri()], [])
    context.close()
