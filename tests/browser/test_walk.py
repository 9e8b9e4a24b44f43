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


def test_a_sample_is_one_click_away_and_its_run_shows_a_grid_and_centres(visitor: Callable[..., Visitor]) -> None:
    visit = visitor()
    visit.goes_to("/")
    visit.sees_figure("Private centres over a public sample")
    visit.opens_sample("Fifteen clusters")

    visit.picks("Su et al. 2016")
    visit.picks("EUGkM")
    visit.presses("Run")
    visit.sees("matches the settings above")
    visit.sees_figure("centres")
    visit.steps_to("Home")
    visit.sees_figure("Noisy histogram")
    visit.sees("of 484 cells")


@pytest.mark.slow
def test_a_run_after_another_shows_its_tree_and_is_still_there_after_a_change_of_page(
    visitor: Callable[..., Visitor],
) -> None:
    visit = visitor()
    visit.goes_to("/")
    visit.opens_sample("Fifteen clusters")
    visit.picks("Su et al. 2016")
    visit.picks("EUGkM")
    visit.presses("Run")
    visit.sees("matches the settings above")

    visit.picks("Balcan et al. 2017")
    visit.sees("older settings")
    visit.presses("Run")
    visit.sees("matches the settings above")
    visit.steps_to("Home")
    visit.sees_figure("partition tree by level")
    visit.sees("At level 1")
    visit.presses("Next")
    visit.sees("At level 2")

    visit.steps_to("End")
    visit.sees("Spent so far: ε = 1 of 1")  # the page may still be on its way there
    result = visit.text("Spent so far").inner_text()
    visit.turns_to("Ledger")
    visit.sees("finds no run above its request")
    visit.turns_to("Explore")
    visit.sees("matches the settings above")
    assert visit.text("Spent so far").inner_text() == result


@pytest.mark.slow
def test_a_run_plays_on_by_itself_until_it_is_told_to_pause(visitor: Callable[..., Visitor]) -> None:
    visit = visitor()
    visit.goes_to("/")
    visit.opens_sample("Fifteen clusters")
    visit.picks("Balcan et al. 2017")
    visit.presses("Run")
    visit.sees("matches the settings above")
    visit.steps_to("Home")
    visit.sees("At level 1")
    visit.presses("Play")
    # By the slider: a picture stays for a second, which may pass between two looks at it.
    slider = visit.slider("Step of the algorithm")
    expect(slider).to_have_attribute("aria-valuetext", re.compile(r"^([4-9]|1\d)$"), timeout=PATIENCE)
    visit.presses("Pause")
    expect(visit.button("Play")).to_be_visible(timeout=PATIENCE)
    visit.page.wait_for_timeout(1500)  # a tick that was on its way when the button was pressed may still land
    step = visit.slider("Step of the algorithm").get_attribute("aria-valuetext")
    visit.page.wait_for_timeout(2500)
    assert visit.slider("Step of the algorithm").get_attribute("aria-valuetext") == step, "it went on after Pause"


@pytest.mark.slow
def test_a_private_file_is_declared_run_and_its_centres_are_taken_away(visitor: Callable[..., Visitor]) -> None:
    visit = visitor()
    visit.goes_to("/data")
    visit.uploads(_table(2_000), "habits.csv")
    visit.sees("Same bounds for all")
    visit.ticks("hours", "meals")
    _bounds(visit)
    visit.presses("Use this table")
    visit.sees("habits")
    visit.sees("The rows of a private file are not shown")

    visit.presses("Explore this table")
    visit.types("k, the number of clusters", str(CLUSTERS))
    visit.picks("Su et al. 2016")
    visit.picks("EUGkM")
    visit.presses("Run")
    visit.sees("matches the settings above")
    visit.sees("0 looks at private rows")
    visit.page.get_by_role("tab", name="Take it away").click()
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
    visit.turns_to("Home", heading="What does privacy cost your clusters?")
    visit.opens_sample("Fifteen clusters")
    expect(visit.page.get_by_label("exact ε", exact=True)).to_have_value("3.5", timeout=PATIENCE)
    expect(visit.page.get_by_label("k, the number of clusters", exact=True)).to_have_value("4")
    visit.sees("Parameters of Balcan et al.")
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
    _bounds(visit)
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


def _bounds(visit: Visitor) -> None:
    visit.presses("Same bounds for all")
    visit.types("lower bound of every column", str(LOW))
    visit.types("upper bound of every column", str(HIGH))
    visit.chooses("where from?", "a guess")
    visit.presses("Use for all columns")


def _table(rows: int) -> bytes:
    """A made-up table with two columns of measurements and one of words."""
    lines = (f"{x:.4f},{y:.4f},north" for x, y in blobs(rows, 2))
    return "\n".join(["hours,meals,region", *lines]).encode()
