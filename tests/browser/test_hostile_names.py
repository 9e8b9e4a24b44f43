"""Columns and a file with hostile names, in a real browser: no request, no link, no picture; they read as they are."""

from collections.abc import Callable, Sequence
from urllib.parse import urlsplit

import numpy as np
import pytest
from playwright.sync_api import expect

from tests.browser.looks import WINDOW
from tests.browser.visitor import Visitor
from tests.contract.tables import make_blobs
from tests.waiting import eventually

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

_ESCAPED_NAMES = """() => [...document.querySelectorAll("[aria-label]")].map(part => part.ariaLabel)
  .filter(name => /\\\\[!-/:-@[-`{-~]/.test(name))"""


def test_hostile_names_are_text_on_every_page(visitor: Callable[..., Visitor]) -> None:
    visit = visitor(viewport=WINDOW)
    visit.page.set_viewport_size({"width": 1280, "height": 2400})
    visit.goes_to("/")
    chooser = visit.page.get_by_test_id("stFileUploader").first.locator("input[type=file]")
    chooser.set_input_files({"name": f"{TITLE}.csv", "mimeType": "text/csv", "buffer": _table(500)})
    visit.sees("Say what is missing")
    _reads_as_it_is(visit)
    visit.opens_word("kind")
    visit.picks("public: anybody may see the rows")
    visit.opens_word("table")
    _reads_as_it_is(visit, NAMES[0], NAMES[2])
    visit.presses("Propose from the rows")
    visit.opens_word("person")
    _reads_as_it_is(visit)
    visit.presses("So it is")
    visit.declares(low=-1, high=1)
    visit.sees_figure("on a lane")
    _reads_as_it_is(visit)
    visit.picks("Steps in a plane")
    visit.sees_animation()
    visit.opens_word(f"column:{NAMES[0]}")
    _reads_as_it_is(visit, NAMES[0])
    visit.text("The table: promises · rows · declaration").click()
    visit.waits()
    _reads_as_it_is(visit)
    for tab in ("Rows", "Bounds", "Dots"):
        visit.page.get_by_role("tab", name=tab, exact=True).click()
        visit.waits()
        _reads_as_it_is(visit)
    visit.text("The table: promises · rows · declaration").click()
    visit.waits()

    visit.opens_word("algorithm")
    visit.chooses("Algorithm", "Tree: Balcan et al.")
    visit.picks("Steps in a plane")
    visit.sees_run("Balcan")
    visit.page.locator('[data-word="algorithm"]').click()  # what tells how it works has formulas of its own
    expect(visit.page.get_by_role("combobox", name="Algorithm")).to_have_count(0)
    visit.waits()
    for key in ("Home", "ArrowRight", "End"):
        visit.steps_to(key)
        _reads_as_it_is(visit)
    drawn = visit.sees_step("centres").locator("svg text").all_text_contents()
    assert NAMES[0] in drawn and NAMES[1] in drawn  # the titles of both axes
    visit.text("What was found · ledger").click()
    visit.sees("clusters, of")
    _reads_as_it_is(visit)
    visit.text("Ledger of this visit").click()
    visit.sees("finds no run above its request")
    _reads_as_it_is(visit, TITLE)
    visit.button("Release at ε = 1").click()
    visit.sees("Where every bound comes from")
    _reads_as_it_is(visit)


def _reads_as_it_is(visit: Visitor, *names: str) -> None:
    """Names stand on the page letter by letter; nothing is made of them, and nobody is asked for anything."""
    assert eventually(lambda: not _missing(visit, names)), _missing(visit, names)  # drawn a moment after its box
    assert visit.page.evaluate(_MADE_OF_NAMES) == []
    # The page frees the names of widgets once its own script is there.
    assert eventually(lambda: not visit.page.evaluate(_ESCAPED_NAMES)), visit.page.evaluate(_ESCAPED_NAMES)
    app = urlsplit(visit.address).netloc
    asked = [urlsplit(url) for url in visit.requested]
    assert {part.netloc for part in asked if part.scheme in ("http", "https", "ws")} <= {app}


def _missing(visit: Visitor, names: Sequence[str]) -> list[str]:
    text = " ".join(visit.page.locator("body").inner_text().replace("\N{WORD JOINER}", "").split())
    return [name for name in names if name not in text]


def _table(n: int) -> bytes:
    lines = [",".join(f'"{name}"' for name in NAMES)]
    lines += [",".join(f"{value:.5f}" for value in row) for row in np.asarray(make_blobs(n, len(NAMES)))]
    return "\n".join(lines).encode()
