"""The owner's way on the page: a private CSV, its declaration, an account, ε typed, one press, and a zip that holds."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect

from dpviz.releases.account import Account, State
from dpviz.releases.verifying import verify
from tests.browser.looks import ALL_IN_TWO, WINDOW, offences, offences_in
from tests.browser.owner import (
    CONFIRM,
    PRESS,
    WORDS,
    Counted,
    confirms,
    declares_people,
    make_customers,
    makes_an_account,
    presses_release,
    says_the_words,
)
from tests.browser.visitor import Visitor
from tests.waiting import eventually

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def test_from_a_private_file_to_a_zip_that_holds(visitor: Callable[..., Visitor], tmp_path: Path) -> None:
    """The steps of the README on the page, and everybody can read every state; its last, to check the zip, is below."""
    visit, file = visitor(viewport=WINDOW), tmp_path / "people.sqlite"
    visit.goes_to("/data")  # 1: the file
    declares_people(visit)  # 2: its declaration
    visit.turns_to("Trade-off")  # 3: what ε buys
    visit.turns_to("Release")
    visit.sees("Nothing can leave yet.")
    expect(visit.button(PRESS)).to_be_disabled()
    says_the_words(visit)  # 4: the words of the card
    makes_an_account(visit, file)  # 5: the account
    visit.presses("Try it on made-up rows")  # 6: a dry run
    visit.sees("runs on made-up tables")
    visit.sees("Ready.")
    found = {"ready": offences(visit)}

    confirms(visit)  # 7: ε, typed
    visit.button(PRESS).dblclick()  # 8: one press, even so
    visit.sees("Charge 1.")
    visit.waits()
    zipped = visit.downloads("The release (zip)")  # 9: the zip
    assert verify(zipped).holds
    assert verify(tmp_path / "people-release-1.zip").holds
    (entry,) = Account.open(file).standing().entries
    assert entry.state is State.RELEASED
    visit.sees_figure("Five segments")
    assert not offences_in(visit, *ALL_IN_TWO)
    assert len(Account.open(file).standing().entries) == 1  # a page drawn in other colours releases nothing again

    visit.turns_to("Explore")
    visit.sees("Released in this visit: charge 1 of account people, ε = 1 left.")

    visit.turns_to("Release")
    visit.presses("Prepare another release")
    visit.types("exact ε", "1.5")
    visit.sees("left in the account")
    found["refused"] = offences(visit)
    assert not {state: wrong for state, wrong in found.items() if wrong}
    visit.types("exact ε", "1")
    # A reload in the middle neither stops a release nor repeats it.
    confirms(visit)
    presses_release(visit, 2)
    visit.page.reload()
    visit.waits()
    second = tmp_path / "people-release-2.zip"
    assert eventually(second.exists) and verify(second).holds
    assert [entry.state for entry in Account.open(file).standing().entries] == [State.RELEASED] * 2


def test_an_office_file_of_unknown_n_goes_to_a_verified_zip_on_the_page_alone(
    visitor: Callable[..., Visitor], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ids, money in accounting style, dates, two categories, umlauts: no command line, no JSON, at most 30 actions."""
    visit = visitor(viewport=WINDOW)
    visit.goes_to("/data")
    walk = Counted(visit)
    walk.uploads(make_customers(), "kunden.csv")
    walk.presses("Propose from the rows (counted)")
    walk.presses("Kundennummer says whose row it is")
    walk.types("Most rows used of one person", "2")
    for name, low, high in (("Umsatz", "-5000", "5000"), ("Alter", "18", "100")):
        walk.types(f"{name}, lower bound", low)
        walk.types(f"{name}, upper bound", high)
    walk.types("Eintritt: first and last date", "2010-01-01, 2025-12-31")
    walk.presses("Declare three columns")
    walk.chooses("Where are these bounds from?", "documentation")
    wrong = offences(visit)
    walk.presses("Use this table")
    visit.sees("The rows of a private file are not shown")

    walk.turns_to("Release")
    for label, text in WORDS.items():
        walk.types(label, text, enter=False)
    walk.presses("New account")
    walk.types("Path of the new file", str(tmp_path / "kunden.sqlite"), enter=False)
    walk.types("What the data set is called", "kunden", enter=False)
    walk.presses("Make it")
    walk.escapes()
    visit.sees("Ready.")
    walk.types(CONFIRM, "1")
    walk.presses(PRESS)
    visit.sees("Charge 1.")
    visit.waits()
    zipped = walk.downloads("The release (zip)")
    assert verify(zipped).holds
    walk.turns_to("Read")
    walk.drops(zipped.read_bytes(), "kunden.zip")
    visit.sees("is what it says")
    with capsys.disabled():
        sys.stdout.write(f"\nthe owner's walk: {walk.actions} actions from a private file to a verified zip\n")
    assert walk.actions <= 30
    assert not wrong
