"""The owner's way on the page: a private CSV, its declaration, an account, ε typed, one press, and a zip that holds."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect

from dpviz.release.account import Account, State
from dpviz.release.verify import verify
from tests.browser.looks import WINDOW, offences
from tests.browser.server import ROOT
from tests.browser.visitor import PATIENCE, Visitor

pytestmark = [pytest.mark.browser, pytest.mark.slow]

PEOPLE = ROOT / "sample_data" / "people.csv"
PRESS, CONFIRM = "Charge the account and release ε = 1", "Type 1 to confirm ε"
WORDS = {
    "Intended use": "Planning of bus lines and opening hours",
    "Region that the data describe": "A town in the north",
    "Curators: who publishes it, one a line": "The town's office of statistics",
    "Justification: why these bounds, this ε and this k": "Bounds as the questionnaire asks; ε from a stand-in.",
    "Authors: who filled in the card, one a line": "A. Muster",
}


def test_from_a_private_file_to_a_zip_that_holds(
    visitor: Callable[..., Visitor], tmp_path: Path, pictures: Path
) -> None:
    """The ten steps of the README, on the page."""
    visit = visitor(viewport=WINDOW)
    visit.goes_to("/data")  # 1: the file
    _declares_people(visit)  # 2: its declaration
    visit.turns_to("Trade-off")  # 3: what ε buys
    visit.turns_to("Release")
    visit.sees("Nothing can leave yet.")
    expect(visit.button(PRESS)).to_be_disabled()
    _says(visit, WORDS)  # 4: the words of the card
    _makes_an_account(visit, tmp_path / "people.sqlite")  # 5: the account
    visit.presses("Try it on made-up rows")  # 6: a dry run
    visit.sees("runs on made-up tables")
    visit.sees("Ready.")
    visit.page.get_by_test_id("stMain").evaluate("main => main.scrollTo(0, 0)")
    visit.photographs(pictures / "release.png")

    visit.types(CONFIRM, "1")  # 7: ε, typed
    expect(visit.button(PRESS)).to_be_enabled(timeout=PATIENCE)
    visit.button(PRESS).dblclick()  # 8: one press, even so
    visit.sees("Charge 1.")
    visit.waits()
    zipped = visit.downloads("The release (zip)")  # 9: the zip
    assert verify(zipped).holds
    assert verify(tmp_path / "people-release-1.zip").holds
    (entry,) = Account.open(tmp_path / "people.sqlite").standing().entries
    assert entry.state is State.RELEASED
    visit.sees_figure("Five segments")
    visit.scrolls_to("What the segments are")
    visit.photographs(pictures / "release-segments.png")

    visit.turns_to("Explore")
    visit.sees("Released in this visit: charge 1 of account people, ε = 1 left.")
    visit.turns_to("Home")  # 10: whoever has the zip checks it
    dropped = visit.page.get_by_test_id("stFileUploader").locator("input[type=file]")
    dropped.set_input_files({"name": "r.zip", "mimeType": "application/zip", "buffer": zipped.read_bytes()})
    visit.sees("This release is what it says")


def test_a_reload_in_the_middle_neither_stops_nor_repeats_it(visitor: Callable[..., Visitor], tmp_path: Path) -> None:
    visit = visitor(viewport=WINDOW)
    account = Account.new(tmp_path / "people.sqlite", name="people", cap_epsilon=2.0, cap_delta=1e-5)
    visit.goes_to("/data")
    _declares_people(visit)
    visit.turns_to("Release")
    _says(visit, WORDS)
    visit.types("Account file on this machine", str(account.path))
    visit.sees("Ready.")
    visit.types(CONFIRM, "1")
    visit.button(PRESS).click()
    visit.sees("Releasing 5 centres")
    visit.page.reload()
    visit.waits()
    for _ in range(60):
        if (tmp_path / "people-release-1.zip").exists():
            break
        visit.page.wait_for_timeout(500)
    assert verify(tmp_path / "people-release-1.zip").holds
    (entry,) = account.standing().entries
    assert entry.state is State.RELEASED


def test_everybody_can_read_every_state(visitor: Callable[..., Visitor], tmp_path: Path) -> None:
    visit = visitor(viewport=WINDOW)
    account = Account.new(tmp_path / "people.sqlite", name="people", cap_epsilon=1.2, cap_delta=1e-5)
    visit.goes_to("/data")
    _declares_people(visit)
    visit.turns_to("Release")
    visit.sees("Nothing can leave yet.")
    found = offences(visit, "blocked")
    _says(visit, WORDS)
    visit.types("Account file on this machine", str(account.path))
    visit.sees("Ready.")
    found |= offences(visit, "ready")
    visit.types(CONFIRM, "1")
    visit.button(PRESS).click()
    visit.sees("Charge 1.")
    visit.sees_figure("Five segments")
    visit.waits()
    found |= offences(visit, "released")
    visit.presses("Prepare another release")
    visit.sees("left in the account")
    found |= offences(visit, "refused")
    assert not found
    assert len(account.standing().entries) == 1  # a page that is drawn in other colours releases nothing again


def _declares_people(visit: Visitor) -> None:
    """The sample of people as if it were somebody's private file, with the declaration that lies beside it."""
    said = json.loads(PEOPLE.with_suffix(".json").read_text(encoding="utf-8"))
    declared = {name: value for name, value in said.items() if name not in ("public", "label")}
    visit.uploads(PEOPLE.read_bytes(), "people.csv")
    visit.presses("Use a declaration (JSON)")
    chooser = visit.page.get_by_test_id("stPopoverBody").locator("input[type=file]")
    chooser.set_input_files({"name": "d.json", "mimeType": "application/json", "buffer": json.dumps(declared).encode()})
    expect(visit.page.get_by_role("checkbox", name="savings", exact=True)).to_be_checked(timeout=PATIENCE)
    visit.page.keyboard.press("Escape")
    visit.presses("Use this table")
    visit.sees("The rows of a private file are not shown")


def _says(visit: Visitor, words: dict[str, str]) -> None:
    for label, text in words.items():
        box = visit.page.get_by_label(label, exact=True).first
        box.fill(text)
        box.blur()
        visit.waits()


def _makes_an_account(visit: Visitor, path: Path) -> None:
    visit.presses("New account")
    visit.page.get_by_label("Path of the new file", exact=True).fill(str(path))
    visit.page.get_by_label("What the data set is called", exact=True).fill("people")
    visit.presses("Make it")
    visit.page.keyboard.press("Escape")
    visit.sees("0 before, 1 now, 1 left of 2")
