"""The owner's way on the page: a private CSV, its declaration, an account, ε typed, one press, and a zip that holds."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect

from dpviz.releases.account import Account, State
from dpviz.releases.verify import verify
from tests.browser.looks import LOOKS, WINDOW, offences, takes_on
from tests.browser.owner import PRESS, confirms, declares_people, makes_an_account, presses_release, says_the_words
from tests.browser.visitor import Visitor
from tests.waiting import eventually

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def test_from_a_private_file_to_a_zip_that_holds(visitor: Callable[..., Visitor], tmp_path: Path) -> None:
    """The ten steps of the README, on the page, and everybody can read every state."""
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
    found["released"] = offences(visit)
    takes_on(visit, LOOKS["dark telephone"])
    found["released, in the dark on a telephone"] = offences(visit)
    takes_on(visit, LOOKS["light"])
    assert len(Account.open(file).standing().entries) == 1  # a page drawn in other colours releases nothing again

    visit.turns_to("Explore")
    visit.sees("Released in this visit: charge 1 of account people, ε = 1 left.")
    visit.turns_to("Read")  # 10: whoever has the zip checks it
    dropped = visit.page.get_by_test_id("stFileUploader").locator("input[type=file]")
    dropped.set_input_files({"name": "r.zip", "mimeType": "application/zip", "buffer": zipped.read_bytes()})
    visit.sees("is what it says")

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
