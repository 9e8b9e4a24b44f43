"""A file of one's own: bounds typed in a hurry are all there, nothing is cut off, a reload forgets it; its centres."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable

import numpy as np
import pytest
from playwright.sync_api import Locator, expect

from tests.browser.looks import WINDOW
from tests.browser.test_explore import comes_first, shares_a_screen
from tests.browser.visitor import NARROW, Visitor
from tests.contract.tables import make_blobs
from tests.waiting import eventually

pytestmark = [pytest.mark.browser, pytest.mark.slow]

COLUMNS = [f"col{place}" for place in range(7)]
TYPED = 4  # a column without bounds is not used
WHATS = ("lower bound", "upper bound", "unit")
HABITS = ("hours", "meals", "walks", "books")
LOW, HIGH, CLUSTERS = -2, 2, 3


def test_bounds_typed_in_a_hurry_are_all_there_and_a_reload_forgets_the_file(visitor: Callable[..., Visitor]) -> None:
    visit = visitor(viewport=WINDOW)
    visit.goes_to("/data")
    visit.uploads(_numbers(), "people.csv")
    assert visit.is_as_wide_as_its_window()
    for words in ("Open this sample", "Your CSV file", "Make a synthetic table", "Use this table"):
        expect(visit.text(words)).to_be_in_viewport()
    # Who and how many are asked first; the first columns are in sight below.
    expect(_box(visit, COLUMNS[2], "upper bound")).to_be_in_viewport()
    for window in (NARROW, WINDOW):
        visit.page.set_viewport_size(window)
        assert visit.is_as_wide_as_its_window()
        assert eventually(lambda width=window["width"]: _side_by_side(visit, width))

    expected = [(f"-{place + 1}", f"{place}.5", "km") for place in range(TYPED)]
    _box(visit, COLUMNS[0], "lower bound").click()
    for answers in expected:
        for answer in answers:
            visit.page.keyboard.type(answer)
            visit.page.keyboard.press("Tab")
        visit.page.keyboard.press("Tab")  # past the box that is ticked by typing
    visit.waits()
    assert _typed(visit) == expected
    visit.presses("Use this table")
    visit.sees("Explore this table")
    visit.turns_to("Ledger")
    visit.turns_to("Data")
    assert _typed(visit) == expected, "after another page"
    visit.sees("A reload of the page forgets this file")
    expect(visit.page).to_have_url(re.compile(r"table=file"))  # it is in use
    visit.page.reload()
    visit.waits()
    visit.sees("The table of this link is not open")


def test_a_private_file_is_declared_run_and_its_centres_are_taken_away(visitor: Callable[..., Visitor]) -> None:
    visit = visitor(viewport=WINDOW)
    visit.goes_to("/data")
    visit.uploads(_habits(2_000), "habits.csv")
    visit.ticks(*HABITS)
    visit.declares(low=LOW, high=HIGH)
    visit.presses("Use this table")
    visit.sees("habits")
    visit.sees("The rows of a private file are not shown")

    visit.presses("Explore this table")
    visit.types("k, clusters", str(CLUSTERS))
    visit.chooses("Algorithm", "Grid: EUGkM")
    visit.sees("Spends ε = 1; this visit 0 so far")
    visit.presses("Run")
    visit.sees_run("EUGkM")
    shares_a_screen(visit, "Run")
    visit.sees("0 looks at private rows")
    visit.page.get_by_role("tab", name="Take away").click()
    visit.waits()
    centers = list(csv.DictReader(visit.downloads("Centres (CSV)").read_text(encoding="utf-8").splitlines()))
    assert len(centers) == CLUSTERS
    coordinates = np.array([[float(center[name]) for name in HABITS] for center in centers])
    assert (coordinates >= LOW).all() and (coordinates <= HIGH).all()

    visit.page.set_viewport_size(NARROW)
    comes_first(visit)
    visit.page.locator(".animation .range").press("ArrowLeft")  # nothing is spent without a press
    expect(visit.page.locator(".animation .said")).to_contain_text("press Run")


def _box(visit: Visitor, column: str, what: str) -> Locator:
    return visit.page.get_by_label(f"{column}, {what}", exact=True)


def _typed(visit: Visitor) -> list[tuple[str, ...]]:
    """What stands in the boxes of each column: lower bound, upper bound, unit."""
    return [tuple(_box(visit, column, what).input_value() for what in WHATS) for column in COLUMNS[:TYPED]]


def _side_by_side(visit: Visitor, width: int) -> bool:
    boxes = [box for what in WHATS if (box := _box(visit, COLUMNS[0], what).bounding_box())]
    whole = all(box["x"] + box["width"] <= width for box in boxes)
    return whole and len(boxes) == len(WHATS) and len({round(box["y"]) for box in boxes}) == 1


def _numbers() -> bytes:
    """A made-up table with many columns."""
    rows = "\n".join(",".join(str(row * place % 7) for place in range(len(COLUMNS))) for row in range(200))
    return f"{','.join(COLUMNS)}\n{rows}\n".encode()


def _habits(rows: int) -> bytes:
    """A made-up table with columns of measurements and one of words."""
    lines = (",".join([*(f"{value:.4f}" for value in row), "north"]) for row in make_blobs(rows, len(HABITS)))
    return "\n".join([",".join([*HABITS, "region"]), *lines]).encode()
