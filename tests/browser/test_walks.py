"""Three owners of unlike files go from a drop to a verified zip: what they do is counted, and what they read."""

import re
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest
from playwright.sync_api import expect

from dpviz.releases.verifying import verify
from tests.browser.looks import WINDOW, offences
from tests.browser.own_files import make_customers, make_hospital, make_places
from tests.browser.owner import CARD_WORDS
from tests.browser.visitor import Visitor

pytestmark = [pytest.mark.browser, pytest.mark.slow]

MOST_WORDS = 1_000
_ASKED = """() => [...document.querySelectorAll('[data-testid="stMain"] :is(.gap, input[type=text], textarea)')]
  .filter(part => part.checkVisibility() && !part.value)
  .map(part => part.dataset.word || part.getAttribute("aria-label") || "")"""

# Whether bars of sizes beside the step that is drawn reach beyond their axis.
_CUT = """() => {
    const { side } = document.querySelector(".animation").player;
    if (side.hidden || side.data[0].uid !== "linked") return false;
    return Math.max(...side.calcdata[0].map(({ s }) => s)) > side._fullLayout.xaxis.range[1];
}"""


class Walk:
    """What an owner does, counted; the words that were read on the way, and what was asked and is answered."""

    def __init__(self, visit: Visitor) -> None:
        self.visit, self.actions, self.words = visit, 0, set[str]()
        self.asked, self.answered = set[str](), set[str]()

    def does(self, act: Callable[..., object], *said: str) -> None:
        self.actions += 1
        act(*said)
        self.reads()

    def says(self, **typed: str) -> None:
        """Type into words of the sentence; ``low_age`` is the lower bound of age."""
        for word, text in typed.items():
            self.does(self.visit.says, word.replace("_", ":", 1), text)

    def reads(self) -> None:
        lines = self.visit.page.get_by_test_id("stMain").inner_text().splitlines()
        # A line whose numbers alone have changed, as noise and a clock change them, is read once.
        self.words |= {re.sub(r"[\d.,]+", "0", line.strip()) for line in lines if line.strip()}
        asked = Counter(self.visit.page.evaluate(_ASKED))
        assert max(asked.values(), default=1) == 1, f"asked twice at once: {asked}"
        self.answered |= self.asked - {*asked}
        assert not self.answered & {*asked}, f"asked again: {self.answered & {*asked}}"
        self.asked |= {*asked}

    @property
    def number_of_words(self) -> int:
        # A name with a stroke is that of an icon, which is drawn.
        read = (re.sub(r"\w+_\w+", "", line) for line in self.words)
        return sum(len(re.findall(r"[^\W\d]{2,}", line)) for line in read)


def declare_places(walk: Walk) -> None:
    walk.says(rows="3,000 to 6,000")
    walk.does(walk.visit.presses, "So it is")  # whose rows they are, opened by Enter
    walk.says(low_east="0 to 20; 0 to 20")
    walk.does(walk.visit.chooses, "Where are these bounds from?", "law or physics")


def declare_customers(walk: Walk) -> None:
    visit = walk.visit
    walk.does(visit.presses, "By seit, too")
    walk.says(rows="5,000 to 12,000")
    walk.does(visit.presses, "So it is")
    walk.says(low_alter="18 to 100", low_umsatz="1 to 20,000", low_seit="2015-01-01 to 2024-12-31")
    walk.does(visit.chooses, "Where are these bounds from?", "the CRM manual")
    walk.does(visit.opens_word, "column:umsatz")
    walk.does(visit.chooses, "What it holds", "amounts on a log scale: money, sizes")
    walk.does(visit.presses, "So it is")


def declare_hospital(walk: Walk) -> None:
    visit = walk.visit
    walk.does(visit.presses, "crp: -9 means missing")
    walk.says(rows="8,000")
    walk.does(visit.chooses, "Whose row is it?", "column patient says it")
    walk.does(visit.types, "Most rows used of one person", "3")
    walk.does(visit.presses, "So it is")
    walk.says(low_age="0 to 110; 60 to 250; 0 to 500")
    walk.does(visit.chooses, "Where are these bounds from?", "law or physics")


class Owner(NamedTuple):
    """A file, what its owner says of it, and how many actions that and its release may take."""

    file: bytes
    declares: Callable[[Walk], None]
    most_actions: int


OWNERS: Mapping[str, Owner] = {
    "customers": Owner(make_customers(), declare_customers, 28),
    "hospital": Owner(make_hospital(), declare_hospital, 24),
    "places": Owner(make_places(), declare_places, 18),
}


@pytest.mark.parametrize("name", OWNERS)
def test_an_own_file_goes_from_a_drop_to_a_verified_zip(
    visitor: Callable[..., Visitor], tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    visit, owner = visitor(viewport=WINDOW), OWNERS[name]
    visit.goes_to("/")
    walk = Walk(visit)
    walk.does(visit.uploads, owner.file, f"{name}.csv")
    owner.declares(walk)
    visit.sees("made-up rows")
    own, epsilon = (
        visit.page.get_by_role("button", name=re.compile(f"^{what} at")).inner_text().rpartition(" ")[2]
        for what in ("Run", "Release")
    )
    walk.does(visit.presses, f"Run at ε = {own}")
    expect(visit.page.get_by_role("button", name=re.compile("^Run at"))).to_have_count(0)
    assert not offences(visit)
    if name == "hospital":  # some steps have sizes beside them, and some a picture whose axis has a range
        visit.picks("Steps in a plane")
        visit.sees_animation()
        visit.steps_to("Home")
        for _ in range(visit.page.locator(".animation .cut").count() - 1):
            visit.steps_to("ArrowRight")
            assert not visit.page.evaluate(_CUT)
        visit.picks("Profiles")
    walk.does(visit.presses, f"Release at ε = {epsilon}")
    for label, text in CARD_WORDS.items():
        walk.does(lambda label=label, text=text: visit.types(label, text, enter=False))
    walk.does(visit.types, "Account file on this machine, or a path for a new one", str(tmp_path / f"{name}.sqlite"))
    walk.does(visit.presses, "Make it")
    visit.sees("Ready.")
    walk.does(visit.types, f"Type {epsilon} to confirm ε", epsilon)
    walk.does(visit.presses, f"Charge the account and release ε = {epsilon}")
    visit.sees("It verifies")
    walk.actions += 1
    zipped = visit.downloads("The release (zip)")
    assert verify(zipped).holds
    walk.reads()
    with capsys.disabled():
        sys.stdout.write(f"\n{name}: {walk.actions} actions, {walk.number_of_words} words to a verified zip\n")
    assert walk.actions <= owner.most_actions
    assert walk.number_of_words <= MOST_WORDS, "\n".join(sorted(walk.words))
    assert not offences(visit)
