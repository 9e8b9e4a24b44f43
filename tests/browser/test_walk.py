"""A first visit in a real browser: a sample, two algorithms step by step, a file of one's own, its centres, a link."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable

import numpy as np
import pytest
from playwright.sync_api import expect

from tests.browser.visitor import PATIENCE, Visitor
from tests.contract.tables import blobs

pytestmark = [pytest.mark.slow, pytest.mark.browser]

LOW, HIGH, CLUSTERS = -2, 2, 3


def test_a_sample_is_one_click_away_and_shows_its_run_at_once(visitor: Callable[..., Visitor]) -> None:
    visit = visitor()
    visit.goes_to("/")
    visit.opens_sample("Fifteen clusters")
    visit.chooses("Algorithm", "Grid: EUGkM")
    visit.sees_run("EUGkM")
    visit.sees_step("centres")
    visit.steps_to("Home")
    visit.sees_step("Noisy histogram")


def test_another_algorithm_shows_its_tree_and_is_still_there_after_a_change_of_page(
    visitor: Callable[..., Visitor],
) -> None:
    visit = visitor()
    visit.goes_to("/")
    visit.opens_sample("Fifteen clusters")
    visit.chooses("Algorithm", "Tree: Balcan et al.")
    visit.sees_run("Balcan")
    visit.steps_to("Home")
    visit.sees_step("Private partition")
    visit.sees("At level 1")
    visit.presses_exactly("Next step")
    visit.sees("At level 2")
    visit.steps_to("End")
    title = visit.page.get_by_role("heading", level=1).inner_text()
    visit.turns_to("Ledger")
    visit.sees("finds no run above its request")
    visit.turns_to("Explore")
    visit.sees_run("Balcan")
    assert visit.page.get_by_role("heading", level=1).inner_text() == title


def test_a_run_plays_on_by_itself_until_it_is_told_to_pause(visitor: Callable[..., Visitor]) -> None:
    visit = visitor()
    visit.goes_to("/")
    visit.opens_sample("Fifteen clusters")
    visit.chooses("Algorithm", "Tree: Balcan et al.")
    visit.sees_run("Balcan")
    visit.presses_exactly("Play all steps")
    film = visit.page.locator(".film")
    expect(film).to_have_attribute("data-at", re.compile(r"^[3-9]$"), timeout=PATIENCE)
    visit.presses_exactly("Pause")
    step = film.get_attribute("data-at")
    visit.page.wait_for_timeout(2500)
    assert film.get_attribute("data-at") == step, "it went on after Pause"


@pytest.mark.slow
def test_a_private_file_is_declared_run_and_its_centres_are_taken_away(visitor: Callable[..., Visitor]) -> None:
    visit = visitor()
    visit.goes_to("/data")
    visit.uploads(_table(2_000), "habits.csv")
    visit.sees("Same bounds for all")
    visit.ticks("hours", "meals")
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
    visit.sees("0 looks at private rows")
    visit.page.get_by_role("tab", name="Take away").click()
    visit.waits()
    centers = list(csv.DictReader(visit.downloads("Centres (CSV)").read_text(encoding="utf-8").splitlines()))
    assert len(centers) == CLUSTERS
    coordinates = np.array([[float(center[name]) for name in ("hours", "meals")] for center in centers])
    assert (coordinates >= LOW).all() and (coordinates <= HIGH).all()


@pytest.mark.slow  # tests/pages/test_links.py looks at links without a browser
def test_a_link_carries_settings_to_the_first_table(visitor: Callable[..., Visitor]) -> None:
    visit = visitor()
    visit.goes_to("/explore", algorithm="balcan", epsilon=3.5, k=4)
    visit.sees("No table is open yet")
    visit.turns_to("Home")
    visit.opens_sample("Fifteen clusters")
    expect(visit.page.get_by_label("exact ε", exact=True)).to_have_value("3.5", timeout=PATIENCE)
    expect(visit.page.get_by_label("k, clusters", exact=True)).to_have_value("4")
    visit.sees_run("Balcan")
    visit.types("exact ε", "0.5")
    assert "epsilon=0.5" in visit.page.url, "what is typed is not in the address, to be passed on"


@pytest.mark.slow  # tests/pages/test_file_format.py looks at each answer without a browser
def test_a_file_is_read_as_its_rows_propose_and_opened_again_by_its_declaration(
    visitor: Callable[..., Visitor],
) -> None:
    content = _table(300).replace(b",", b";").replace(b".", b",")
    visit = visitor()
    visit.goes_to("/data")
    visit.uploads(content, "habits.csv")
    visit.presses("Propose from the rows (counted)")
    visit.sees("1 look at private rows in this visit")
    visit.sees("found in the first rows")
    for column in ("hours", "meals"):
        expect(visit.page.get_by_role("checkbox", name=column, exact=True)).to_be_checked(timeout=PATIENCE)
    visit.declares(low=LOW, high=HIGH)
    visit.presses("Use this table")
    visit.page.get_by_text("Promises", exact=True).click()
    visit.waits()
    visit.sees("how the file is read was proposed by a look at its rows")
    declaration = visit.downloads("Declaration (JSON)").read_bytes()
    visit.turns_to("Ledger")
    visit.sees("a proposal of how the file is read")

    again = visitor()
    again.goes_to("/data")
    again.uploads(content, "habits.csv")
    again.presses("Use a declaration (JSON)")
    chooser = again.page.get_by_test_id("stPopoverBody").locator("input[type=file]")
    chooser.set_input_files({"name": "habits.json", "mimeType": "application/json", "buffer": declaration})
    expect(again.page.get_by_role("checkbox", name="meals", exact=True)).to_be_checked(timeout=PATIENCE)
    again.presses("Use this table")
    again.sees("The rows of a private file are not shown")
    again.page.get_by_text("Promises", exact=True).click()
    again.waits()
    assert again.downloads("Declaration (JSON)").read_bytes() == declaration
    again.sees("0 looks at private rows in this visit")


def _table(rows: int) -> bytes:
    """A made-up table with two columns of measurements and one of words."""
    lines = (f"{x:.4f},{y:.4f},north" for x, y in blobs(rows, 2))
    return "\n".join(["hours,meals,region", *lines]).encode()
