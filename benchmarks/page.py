"""What a person waits for: the Home page, and a chart after a press on Run, for 100,000 × 2 rows.

The aim is at most 1.5 s from the press to the chart. Chromium and the server share this machine.

    python -m benchmarks.page
"""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path
from statistics import median

from playwright.sync_api import Page

from benchmarks.timing import machine
from tests.browser.chromium import launched
from tests.browser.server import running_app
from tests.browser.visitor import PATIENCE, Visitor

ROWS, REPEATS = 100_000, 5
FAMILY = "Su et al. 2016"
TITLES = ("EUGkM", "DPLloyd")

# The title is the last thing that Plotly writes; figures of the run before are marked, so as not to count.
_DRAWN = ".js-plotly-plot:not([data-before]) .g-gtitle text"
_MARK = "document.querySelectorAll('.js-plotly-plot').forEach(figure => figure.dataset.before = 'yes')"


def main() -> None:
    print(f"{machine()}, load {os.getloadavg()[0]:.1f}")
    with tempfile.TemporaryDirectory() as folder, launched() as browser, running_app(Path(folder) / "log.txt") as app:
        context = browser.new_context(viewport={"width": 1280, "height": 900})
        visit = Visitor(context, app)
        loads = [_seconds_to_load_home(visit) for _ in range(1 + REPEATS)]
        print(f"Home, first visit to the server   {loads[0]:6.2f} s")
        print(f"Home, later visits                {median(loads[1:]):6.2f} s")
        _open_stand_in(visit)
        for title in TITLES:
            visit.picks(FAMILY)
            visit.picks(title)
            waits = [_seconds_to_chart(visit) for _ in range(1 + REPEATS)]
            print(f"{title}, press on Run to chart{'':<{13 - len(title)}}{median(waits[1:]):6.2f} s", flush=True)


def _seconds_to_load_home(visit: Visitor) -> float:
    began = time.perf_counter()
    visit.page.goto(visit.address)
    visit.sees_figure("Private centres over a public sample")
    taken = time.perf_counter() - began
    visit.waits()
    return taken


def _open_stand_in(visit: Visitor) -> None:
    visit.turns_to("Data")
    visit.presses("Simulate a stand-in")
    visit.page.get_by_label("n, rows", exact=True).fill(str(ROWS))
    visit.presses("Simulate and open")
    visit.presses("Explore this table")


def _seconds_to_chart(visit: Visitor) -> float:
    page: Page = visit.page
    page.evaluate(_MARK)
    began = time.perf_counter()
    visit.button("Run").click()
    page.wait_for_selector(_DRAWN, timeout=PATIENCE)
    taken = time.perf_counter() - began
    visit.waits()
    page.wait_for_timeout(1000)
    return taken


if __name__ == "__main__":
    main()
