"""The playground in a browser: a stroke is answered and read, by pointer, touch and keyboard; a link brings it back."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, expect

from dpviz.algorithms.baselines.kmeans_plus_plus import find_reference_centers
from dpviz.runs.evaluation import nicv
from dpviz.tables.drawings import decode_drawing, load_preset
from tests.browser import quiet
from tests.browser.looks import ALL_IN_TWO, WINDOW, offences, offences_in, out_of_reach
from tests.browser.visitor import NARROW, Visitor

pytestmark = [pytest.mark.browser, pytest.mark.slow]

_LOSS = """async ([people, k]) => {
  const { kmeans, lossOf } = await import("/board/board.js");
  return lossOf(people, kmeans(people, k, 8));
}"""
_ANSWERED = "drawn => Number(document.querySelector('.board').dataset.drawn ?? 0) > drawn"


class Painter:
    """Somebody at a board."""

    def __init__(self, visit: Visitor) -> None:
        self.visit, self.page = visit, visit.page
        self.board = visit.page.locator(".board")
        self.ink = self.board.locator(".ink")

    def sees_a_draw(self) -> None:
        expect(self.board).to_have_attribute("data-drawn", re.compile("."))
        expect(self.board.locator(".map svg").first).to_be_attached()

    def answered(self, act: Callable[[], None]) -> str:
        """Do something that asks, and wait for the picture; its title."""
        before = self.drawn
        act()
        quiet.becomes(self.page, _ANSWERED, before)
        self.visit.waits()
        return self.title

    def strokes(self, *places: tuple[float, float]) -> None:
        """Press at the first of these places of the board, from 0 to 256, go along the others, and let go."""
        frame = self.ink.bounding_box()
        assert frame is not None
        on_page = [
            (frame["x"] + x / 256 * frame["width"], frame["y"] + (1 - y / 256) * frame["height"]) for x, y in places
        ]
        self.page.mouse.move(*on_page[0])
        self.page.mouse.down()
        for x, y in on_page[1:]:
            self.page.mouse.move(x, y, steps=6)
        self.page.mouse.up()

    def chooses(self, picture: str) -> str:
        return self.answered(lambda: self.part("preset").select_option(picture))

    def takes(self, name: str) -> None:
        self.board.get_by_role("button", name=name, exact=True).click()

    def part(self, name: str) -> Locator:
        return self.board.locator(f".{name}")

    @property
    def drawn(self) -> int:
        return int(self.board.get_attribute("data-drawn") or 0)

    @property
    def title(self) -> str:
        return self.part("title").inner_text()

    @property
    def people(self) -> int:
        return int(self.part("numbers").locator(".public dd").inner_text())

    def has(self, people: int) -> None:
        expect(self.part("numbers").locator(".public dd")).to_have_text(str(people))


@pytest.fixture
def painter(visitor: Callable[..., Visitor]) -> Painter:
    visit = visitor(viewport=WINDOW)
    visit.goes_to("/playground")
    painter = Painter(visit)
    painter.sees_a_draw()
    return painter


def test_a_stroke_is_answered_by_a_private_draw_and_everything_is_read_and_taken_back(painter: Painter) -> None:
    page, part = painter.page, painter.part
    painter.has(900)
    expect(part("legend")).to_contain_text("simulated")
    expect(part("map")).to_have_attribute("aria-label", re.compile("."))

    title = painter.answered(lambda: painter.strokes((220, 220), (240, 200)))
    people = painter.people
    assert people > 900 and title
    expect(part("painted")).to_contain_text(f"Painted: {people} points")
    expect(part("painted")).to_contain_text("Found: centre 1 at x")
    expect(part("heard").first).to_contain_text("points more")
    linked = re.search(r"drawing=([\w-]+)", page.url)
    assert linked and len(decode_drawing(linked[1]).points) == people and len(page.url) <= 2_048
    assert not offences(painter.visit) and not out_of_reach(painter.visit)
    town = load_preset("blobs").drawing.others
    exact = page.evaluate(_LOSS, [town.tolist(), 3])
    best = nicv(town, find_reference_centers(town, 3, starts=8, seed=0))
    assert 0.98 * best <= exact <= 1.03 * best, "the k-means++ of the board is one"

    painter.takes("Erase")
    painter.answered(lambda: painter.strokes((30, 240), (120, 240)))
    expect(part("undo")).to_be_enabled()
    painter.answered(lambda: part("undo").click())
    painter.has(people)
    painter.answered(lambda: part("redo").click())

    # The step of the tree that is looked at stays, and its cubes are those of the draw.
    painter.answered(lambda: painter.takes("Tree"))
    painter.chooses("hermit")
    while not painter.title.startswith("At level 4"):
        painter.answered(lambda: part("back").click())
    assert re.match(r"At level 4, \d+ of \d+ cubes woke up", painter.title)
    painter.answered(lambda: painter.takes("↻ Draw again"))
    assert painter.title.startswith("At level 4")
    expect(part("verdict")).to_contain_text("2 draws of the same picture")
    expect(part("verdict")).to_contain_text("cost their sum, ε 2")
    apart = painter.answered(lambda: painter.takes("Take me out"))
    assert apart.startswith("Without me, a k-means++ centre moves by ")
    expect(part("verdict")).to_contain_text("Only simulated points may be asked 24 times")
    assert not offences_in(painter.visit, *ALL_IN_TWO)
    assert painter.title == apart, "other colours are no new draw"

    painter.visit.turns_to("Read")
    painter.visit.turns_to("Playground")
    painter.sees_a_draw()
    painter.has(901)
    expect(part("title")).to_have_text(apart)
    page.reload()
    painter.sees_a_draw()
    painter.has(901)  # the link has it


def test_a_preview_says_that_it_has_no_privacy_and_a_keyboard_paints_without_one(painter: Painter) -> None:
    page, badge, frame = painter.page, painter.part("badge"), painter.ink.bounding_box()
    assert frame is not None
    expect(badge).to_be_hidden()
    drawn = painter.drawn
    page.mouse.move(frame["x"] + 100, frame["y"] + 100)
    page.mouse.down()
    page.mouse.move(frame["x"] + 150, frame["y"] + 120, steps=5)
    expect(badge).to_have_text(re.compile(r"^Preview without privacy: exact counts and k-means of \d+ points$"))
    expect(painter.part("plane")).to_have_class(re.compile("stale"))
    assert painter.drawn == drawn, "nothing is drawn before that"
    painter.answered(page.mouse.up)
    expect(badge).to_be_hidden()
    expect(painter.part("plane")).not_to_have_class(re.compile("stale"))

    heard = painter.part("heard").first
    painter.answered(lambda: painter.takes("Clear"))
    painter.has(0)
    assert painter.title, "it answers all the same"
    painter.ink.focus()
    page.keyboard.press("Shift+ArrowRight")
    page.keyboard.press("ArrowUp")
    expect(heard).to_have_text("x 160, y 136: 0 points within the brush.")
    painter.answered(lambda: page.keyboard.press("Space"))
    assert painter.people > 0
    expect(heard).to_contain_text("points more")
    page.keyboard.press("m")
    painter.answered(lambda: page.keyboard.press("Enter"))
    expect(heard).to_contain_text("1 point more")
    expect(painter.part("painted")).to_contain_text("I am at x 160, y 136.")
    painter.answered(lambda: page.keyboard.press("Control+z"))
    painter.answered(lambda: page.keyboard.press("Control+z"))
    painter.has(0)


def test_a_finger_paints_in_the_dark_without_moving_the_page(visitor: Callable[..., Visitor]) -> None:
    visit = visitor(viewport=NARROW, color_scheme="dark", has_touch=True, reduced_motion="reduce")
    visit.goes_to("/playground")
    painter = Painter(visit)
    painter.sees_a_draw()
    frame = painter.ink.bounding_box()
    assert frame is not None
    touches = visit.page.context.new_cdp_session(visit.page)
    x, y = frame["x"] + 40, frame["y"] + 40

    def drags() -> None:
        touches.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [{"x": x, "y": y}]})
        for by in range(10, 160, 10):
            touches.send("Input.dispatchTouchEvent", {"type": "touchMove", "touchPoints": [{"x": x + by, "y": y + by}]})
        touches.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})

    painter.answered(drags)
    assert painter.people > 900
    assert (painter.ink.bounding_box() or {})["y"] == frame["y"], "the page has not been moved"
    assert not offences(visit)
