"""A tour of screenshots: every page in light, dark, large and on a telephone, and every step of the four pictures.

Not a measurement: what a person looks at before a change of the pages is called done.

    python -m benchmarks.tour --out FOLDER [--table fifteen]
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, expect

from tests.browser.chromium import launched
from tests.browser.server import running_app
from tests.browser.visitor import PATIENCE, Visitor

LOOKS: dict[str, dict[str, Any]] = {
    "light": {"viewport": {"width": 1440, "height": 900}, "color_scheme": "light"},
    "dark": {"viewport": {"width": 1440, "height": 900}, "color_scheme": "dark"},
    "large": {"viewport": {"width": 1920, "height": 1080}, "color_scheme": "light"},
    "telephone": {"viewport": {"width": 390, "height": 844}, "color_scheme": "light"},
}
LEARN = ("Learn", "Playground", "What ε means", "Papers", "Compare algorithms")
PAGES = ("Bench", "Read", *LEARN)
STUDIES = ("Compare algorithms",)
# The partition tree with its candidates and swaps; the grid with its starts; rounds up to the final centres.
PICTURES = {"tree": "balcan", "grid": "eugkm", "centres": "auto"}


def main() -> None:
    """Take the tour."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, required=True, help="folder of the pictures")
    parser.add_argument("--table", default="fifteen", help="id of a sample")
    asked = parser.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, launched() as browser, running_app(Path(folder) / "log.txt") as app:
        taken = 0
        for look in LOOKS:
            for name, visit in stops(browser, app, look, asked.table):
                visit.photographs(asked.out / f"{look}-{name}.png")
                taken += 1
                print(f"{look}-{name}.png", flush=True)
    print(f"{taken} pictures in {asked.out}")


def stops(browser: Browser, app: str, look: str, table: str) -> Iterator[tuple[str, Visitor]]:
    """Every place of the tour under one look."""
    visit = Visitor(browser.new_context(**LOOKS[look]), app)
    visit.goes_to("/", table=table)
    for page in PAGES:
        visit.turns_to(page)
        if page == "Bench":
            visit.sees_animation()
        if page in STUDIES and look != "telephone":  # where the form is in the drawer
            visit.presses("Compute")
            expect(visit.button("Cancel")).to_be_hidden(timeout=4 * PATIENCE)
            visit.waits()
        yield page.lower(), visit
    visit.page.context.close()
    for name, algorithm in PICTURES.items():
        yield from steps(browser, app, look, table, name, algorithm)


def steps(
    browser: Browser, app: str, look: str, table: str, name: str, algorithm: str
) -> Iterator[tuple[str, Visitor]]:
    """Every step of a run."""
    visit = Visitor(browser.new_context(**LOOKS[look]), app)
    visit.goes_to("/", table=table, algorithm=algorithm)
    animation = visit.page.locator(".animation")
    visit.sees_animation()
    visit.is_still()
    for place in range(visit.page.locator(".animation .cut").count()):
        visit.page.locator(".animation .cut").nth(place).click()
        expect(animation).to_have_attribute("data-at", str(place), timeout=PATIENCE)
        yield f"{name}-{place + 1:02d}", visit
    visit.page.context.close()


if __name__ == "__main__":
    main()
