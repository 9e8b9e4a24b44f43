"""The owner of a private file on the way to a release: its declaration, the words of the card, an account."""

import json
from pathlib import Path

from playwright.sync_api import expect

from tests.browser.server import ROOT
from tests.browser.visitor import Visitor

PEOPLE = ROOT / "sample_data" / "people.csv"
CARD_WORDS = {
    "Intended use": "Planning of bus lines and opening hours",
    "Region that the data describe": "A town in the north",
    "Curators: who publishes it, one a line": "The town's office of statistics",
    "Justification: why these bounds, this ε and this k": "Bounds as the questionnaire asks; ε from a synthetic table.",
    "Authors: who filled in the card, one a line": "A. Muster",
}
PRESS, CONFIRM = "Charge the account and release ε = 1", "Type 1 to confirm ε"


def declares_people(visit: Visitor) -> None:
    """The sample of people as if it were somebody's private file, with the declaration that lies beside it."""
    said = json.loads(PEOPLE.with_suffix(".json").read_text(encoding="utf-8"))
    declared = {name: value for name, value in said.items() if name not in ("public", "label")}
    visit.uploads(PEOPLE.read_bytes(), "people.csv")
    visit.opens_word("table")
    visit.presses("Use a declaration (JSON)")
    visit.page.get_by_label("or paste it", exact=True).fill(json.dumps(declared))
    visit.presses("Use these")
    expect(visit.page.locator('[data-word^="high:"]').first).not_to_have_value("")
    visit.sees("made-up rows")


def says_the_words(visit: Visitor) -> None:
    """Fill in what the card asks for."""
    for label, text in CARD_WORDS.items():
        box = visit.page.get_by_label(label, exact=True).first
        box.fill(text)
        box.blur()
        visit.waits()


def makes_an_account(visit: Visitor, path: Path) -> None:
    """A new account of the data set, in a file at ``path``."""
    visit.types("Account file on this machine, or a path for a new one", str(path))
    visit.page.get_by_label("What the data set is called", exact=True).fill("people")
    visit.presses("Make it")
    visit.sees("0 before, 1 now, 1 left of 2")


def confirms(visit: Visitor) -> None:
    """Type ε, so that it can be pressed."""
    visit.sees("Ready.")
    visit.types(CONFIRM, "1")
    expect(visit.button(PRESS)).to_be_enabled()
