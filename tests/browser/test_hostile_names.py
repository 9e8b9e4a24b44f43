"""Columns and a file with hostile names, in a real browser: no request, no link, no picture; they read as they are."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urlsplit

import numpy as np
import pytest
from playwright.sync_api import expect

from tests.browser.visitor import PATIENCE, Visitor
from tests.contract.tables import blobs

pytestmark = [pytest.mark.browser, pytest.mark.slow]

NOBODY = "http://localhost:9"  # the port of a service that no machine runs any more
NAMES = (
    f"![i]({NOBODY}/x.png)",
    "[click](http://x.invalid)",
    "http://x.invalid/",
    f"<img src={NOBODY}/y.png>",
    "$x$ :red[b]",
    ":material/home: www.x.invalid a@x.invalid",
)
TITLE = "![t](www.x.invalid) <b>t"
_MADE_OF_NAMES = """() => [...document.querySelectorAll("a, img, .katex, object, iframe, svg image, svg a")]
  .map(part => part.outerHTML).filter(part => /invalid|localhost:9\\b|katex/.test(part))"""


def test_hostile_names_are_text_on_every_page(visitor: Callable[..., Visitor]) -> None:
    visit = visitor(viewport={"width": 1280, "height": 2400})
    visit.goes_to("/data")
    visit.uploads(_table(1_500), f"{TITLE}.csv")
    _reads_as_it_is(visit, NAMES[0], NAMES[2], TITLE)
    visit.picks("Public")
    visit.presses("Propose from the rows")
    visit.declares(low=-1, high=1)
    visit.presses("Use this table")
    visit.sees("Explore this table")
    visit.page.get_by_text("Promises", exact=True).click()
    visit.waits()
    _reads_as_it_is(visit, *NAMES[:4], TITLE)
    for tab in ("Rows", "Bounds", "Dots"):
        visit.page.get_by_role("tab", name=tab).click()
        visit.waits()
        _reads_as_it_is(visit)

    visit.presses("Explore this table")
    for algorithm in ("Rounds: DPLloyd", "Tree: Balcan et al."):
        visit.chooses("Algorithm", algorithm)
        visit.sees_run(algorithm)
        visit.steps_to("Home")
        for _ in range(12):
            visit.steps_to("ArrowRight")
            _reads_as_it_is(visit, TITLE)
    drawn = visit.sees_step("centres").locator("svg text").all_text_contents()
    assert NAMES[0] in drawn and NAMES[1] in drawn  # the titles of both axes
    visit.chooses("Plane", f"{NAMES[2]} × {NAMES[3]}")
    _reads_as_it_is(visit)

    visit.turns_to("Compare")
    visit.keeps("DPLloyd")
    visit.presses("Compute")
    expect(visit.button("Cancel")).to_be_hidden(timeout=PATIENCE)
    visit.waits()
    _reads_as_it_is(visit, TITLE)
    visit.turns_to("Trade-off")
    visit.keeps("DPLloyd")
    visit.presses("Compute")
    expect(visit.button("Cancel")).to_be_hidden(timeout=PATIENCE)
    visit.waits()
    _reads_as_it_is(visit, TITLE)
    visit.turns_to("Ledger")
    visit.sees("finds no run above its request")
    _reads_as_it_is(visit, TITLE)


def _reads_as_it_is(visit: Visitor, *names: str) -> None:
    """Names stand on the page letter by letter; nothing is made of them, and nobody is asked for anything."""
    for _ in range(25):  # a label may be drawn a moment after its box
        text = " ".join(visit.page.locator("body").inner_text().replace("\N{WORD JOINER}", "").split())
        missing = [name for name in names if name not in text]
        if not missing:
            break
        visit.page.wait_for_timeout(200)
    assert not missing
    assert visit.page.evaluate(_MADE_OF_NAMES) == []
    app = urlsplit(visit.address).netloc
    asked = [urlsplit(url) for url in visit.requested]
    assert {part.netloc for part in asked if part.scheme in ("http", "https", "ws")} <= {app}


def _table(n: int) -> bytes:
    lines = [",".join(f'"{name}"' for name in NAMES)]
    lines += [",".join(f"{value:.5f}" for value in row) for row in np.asarray(blobs(n, len(NAMES)))]
    return "\n".join(lines).encode()
