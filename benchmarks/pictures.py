"""The pictures of the README and of docs/findings.md, taken in Chromium, each fit to be shown: drawn, small, uncut.

    python -m benchmarks.pictures [--out docs] [NAME ...]

A name is that of a picture, as ``bench``; without one, all are taken.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path

from playwright.sync_api import Browser, Locator, expect

from dpviz.app.lessons.lesson import NumberGuess
from dpviz.app.lessons.reading import read_lessons
from dpviz.tables.drawings import encode_drawing, load_preset
from tests.browser.chromium import launched
from tests.browser.looks import LOOKS, takes_on
from tests.browser.owner import confirms, declares_people, makes_an_account, says_the_words
from tests.browser.server import ROOT, running_app
from tests.browser.visitor import Visitor

LEAST_BYTES, MOST_BYTES = 10_000, 300_000
# Of docs/findings.md: the name of the picture, a claim, the title of its figure.
FINDINGS = {
    "findings-grid": ("Su et al. 2016, Fig. 2", "Loss above k-means++ by d and k"),
    "findings-coreset": ("Chang & Kamath 2021", "Loss against k at ε = 1"),
    "findings-far": ("Cohen et al. 2021, Test 1", "Samples needed against R, d = 1"),
    "findings-errors": ("Su et al. 2016, §6", "Errors with 6 columns and 20,000 rows against ε"),
    "findings-captured": ("Balcan et al. 2017, Theorem 5", "Farthest that an optimal centre is from its candidate"),
    "findings-needed": ("Cohen et al. 2021, Test 1", "dashed what the theorems ask for"),
}
_LESSON, _SCENE = "rich-person", 3


class Camera:
    """Takes the pictures that are asked for into a folder.

    Parameters
    ----------
    wanted : sequence of str
        Their names; none for all.
    """

    def __init__(self, browser: Browser, address: str, folder: Path, wanted: Sequence[str]) -> None:
        self.browser, self.address, self.folder, self.wanted = browser, address, folder, wanted
        self.broken: list[str] = []

    def visit(self) -> Visitor:
        """A new visit, in the light."""
        colors, window = LOOKS["light"]
        return Visitor(self.browser.new_context(viewport=window, color_scheme=colors), self.address)

    def takes(self, visit: Visitor, name: str, *, of: Locator | None = None) -> None:
        """What is in the window, or a part of the page, once it is still."""
        if self.wanted and name not in self.wanted:
            return
        if not visit.is_as_wide_as_its_window():
            self.broken.append(f"{name} is cut at the right edge")
        path = self.folder / f"{name}.png"
        visit.photographs(path, of="window" if of is None else of)
        size = path.stat().st_size
        if not LEAST_BYTES < size < MOST_BYTES:
            self.broken.append(f"{name} has {size:,} bytes")
        print(f"{path} ({size:,} bytes)", flush=True)


def bench(camera: Camera) -> None:
    """The bench with the sample that is there from the start, once its axis has both curves."""
    visit = camera.visit()
    visit.goes_to("/")
    visit.sees_animation()
    visit.sees("both promises are kept")
    camera.takes(visit, "bench")


def findings(camera: Camera) -> None:
    """Figures of stored claims."""
    visit = camera.visit()
    visit.goes_to("/papers")
    for name, (paper, title) in FINDINGS.items():
        visit.chooses("Claim", paper)
        camera.takes(visit, name, of=visit.sees_figure(title))


def release(camera: Camera) -> None:
    """What stands against a release, and the segments of one."""
    visit = camera.visit()
    with tempfile.TemporaryDirectory() as folder:
        visit.goes_to("/", epsilon=1)
        declares_people(visit)
        visit.presses("Release at ε = 1")
        says_the_words(visit)
        makes_an_account(visit, Path(folder) / "people.sqlite")
        visit.sees("Ready.")
        visit.page.get_by_test_id("stMain").evaluate("main => main.scrollTo(0, 0)")
        camera.takes(visit, "release")
        confirms(visit)
        visit.presses("Charge the account and release ε = 1")
        visit.sees("Charge 1:")
        visit.sees_figure("Five segments")
        visit.scrolls_to("What the segments are")
        camera.takes(visit, "release-segments")


def lesson(camera: Camera) -> None:
    """A scene whose answer is revealed."""
    visit, question = camera.visit(), read_lessons().lessons[_LESSON].scenes[_SCENE - 1].question
    assert isinstance(question, NumberGuess)
    visit.goes_to("/lessons", lesson=_LESSON, scene=_SCENE)
    box = visit.page.get_by_test_id("stNumberInputField")
    box.fill(f"{question.low:g}")
    box.press("Enter")
    visit.waits()
    visit.presses("Reveal")
    visit.sees_animation()
    camera.takes(visit, "lesson")


def playground(camera: Camera) -> None:
    """A painted town under a tree, and somebody whom it does not wake for; with them and without, in the dark."""
    visit = camera.visit()
    visit.goes_to("/playground", drawing=encode_drawing(load_preset("hermit").drawing), asked="balcan,2,3")
    board = visit.page.locator(".board")
    expect(board.locator(".map svg").first).to_be_attached()
    while not board.locator(".title").inner_text().startswith("At level 5"):
        drawn = board.get_attribute("data-drawn")
        board.locator(".back").click()
        expect(board).not_to_have_attribute("data-drawn", drawn or "")
    camera.takes(visit, "playground")
    takes_on(visit, LOOKS["dark"])
    visit.goes_to("/playground", drawing=encode_drawing(load_preset("rich").drawing), asked="dplloyd,1,2")
    visit.presses("Take me out")
    visit.sees("Without me, a k-means++ centre moves")
    visit.waits()
    camera.takes(visit, "playground-dark")


def meaning(camera: Camera) -> None:
    """The attack, run."""
    visit = camera.visit()
    visit.goes_to("/meaning", epsilon=1, part="attack")
    expect(visit.button("More runs")).to_be_visible()
    camera.takes(visit, "meaning")


# What takes which pictures.
SHOTS: dict[Callable[[Camera], None], tuple[str, ...]] = {
    bench: ("bench",),
    findings: tuple(FINDINGS),
    release: ("release", "release-segments"),
    playground: ("playground", "playground-dark"),
    lesson: ("lesson",),
    meaning: ("meaning",),
}
NAMES = tuple(name for names in SHOTS.values() for name in names)


def main(argv: Sequence[str] | None = None) -> int:
    """Take the pictures; 0 if all are fit to be shown."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, default=ROOT / "docs", help="folder of the pictures")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(NAMES)}")
    asked = parser.parse_args(argv)
    if unknown := [name for name in asked.names if name not in NAMES]:
        parser.error(f"there is no picture {unknown[0]}; there are {', '.join(NAMES)}")
    asked.out.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        log = Path(stack.enter_context(tempfile.TemporaryDirectory())) / "log.txt"
        camera = Camera(stack.enter_context(launched()), stack.enter_context(running_app(log)), asked.out, asked.names)
        for take, names in SHOTS.items():
            if not asked.names or not set(names).isdisjoint(asked.names):
                take(camera)
    for wrong in camera.broken:
        print(f"BROKEN {wrong}")
    return 1 if camera.broken else 0


if __name__ == "__main__":
    sys.exit(main())
