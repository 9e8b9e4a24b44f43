"""Somebody with a browser: goes to pages, presses what they read, and notes whatever should not have happened."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Literal
from urllib.parse import urlencode, urlsplit

from playwright.sync_api import BrowserContext, ConsoleMessage, Locator, Page, Request, ViewportSize, WebSocket, expect
from playwright.sync_api import TimeoutError as PlaywrightTimeoutError

from tests import waiting
from tests.browser import quiet

# An assertion of the browser waits no longer than it has to; one without a word about it, no shorter either.
PATIENCE = waiting.MILLISECONDS
expect.set_options(timeout=PATIENCE)
WIDE: ViewportSize = {"width": 1280, "height": 900}
NARROW: ViewportSize = {"width": 390, "height": 844}
# A window up to this width folds menu and rail into a drawer.
_DRAWER_UP_TO = 768
_HERE = {"localhost", "127.0.0.1"}
_PATHS = {"Bench": "", "What ε means": "meaning", "Compare algorithms": "compare"}
# What is reached by a link on Learn, not by the menu.
_LEARNED = ("Playground", "What ε means", "Papers", "Compare algorithms")
_FITS = """() => {
  const main = document.querySelector('[data-testid="stMain"]');
  return main.scrollWidth <= main.clientWidth && document.documentElement.scrollWidth <= innerWidth;
}"""
_DRAWN = """() => {
  const animation = document.querySelector(".animation"), { at, drawn, whole } = animation.dataset;
  return Number(at) === animation.player.at && whole === drawn;
}"""
_INSIDE_THE_BROWSER = {"data", "blob", "about"}


class Visitor:
    """One visit in a browser context of its own.

    Parameters
    ----------
    context : BrowserContext
        Window size and colours come from it.
    address : str
        Of the running app.
    """

    def __init__(self, context: BrowserContext, address: str) -> None:
        self.address = address
        self.requested: list[str] = []
        self.complaints: list[str] = []
        self.page: Page = context.new_page()
        self.page.set_default_timeout(PATIENCE)
        self.page.add_init_script(quiet.WATCHES)
        self.page.on("request", self._asks_for)
        self.page.on("websocket", self._opens)
        self.page.on("console", self._hears)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))

    def goes_to(self, path: str = "/", **settings: str | float) -> None:
        """Follow a link to a page, with settings in it."""
        query = f"?{urlencode(settings)}" if settings else ""
        self.page.goto(f"{self.address}{path}{query}")
        self.waits()

    def turns_to(self, title: str) -> None:
        """Change the page by the menu, which a narrow window folds away, or by what Learn leads to."""
        if title in _LEARNED:
            self.turns_to("Learn")

        def follows() -> None:
            entry = self.page.get_by_role("link", name=title, exact=True)
            there = re.compile(rf"/{_PATHS.get(title, title.lower().replace('-', ''))}(\?.*)?$")
            entry.click()
            try:
                expect(self.page).to_have_url(there, timeout=waiting.CLICKS_AGAIN)
            except AssertionError:  # a busy browser loses a click while the menu is drawn anew: a person clicks again
                entry.click()
                expect(self.page).to_have_url(there)
            self.waits()

        if title in _LEARNED:
            follows()
        else:
            self.unfolded(follows)

    def goes_back(self) -> None:
        """To the page before, by the browser: once for each time that its address was entered."""
        here = self._path()
        while self._path() == here:
            self.page.go_back()
        self.waits()

    def _path(self) -> str:
        return urlsplit(self.page.url).path

    def unfolded(self, act: Callable[[], None]) -> None:
        """Do something in menu or rail, which a narrow window folds into a drawer."""
        size = self.page.viewport_size
        if size is None or size["width"] > _DRAWER_UP_TO:
            act()
            return
        opener = self.page.get_by_test_id("stExpandSidebarButton")
        expect(opener).to_be_visible()  # it comes back when the drawer has closed, which takes a while
        opener.click()
        act()
        self.is_still()
        if not opener.count():  # a page that was turned to closes the drawer, if it was not being drawn at that moment
            self.page.get_by_test_id("stSidebarCollapseButton").get_by_role("button").click()
        expect(opener).to_be_visible()

    def presses(self, label: str) -> None:
        """Press the first button with that label and wait for what it does."""
        self.button(label).click()
        self.waits()

    def presses_exactly(self, name: str) -> None:
        """Press the button of that very name, which need not be written on it."""
        self.page.get_by_role("button", name=name, exact=True).click()

    def says(self, word: str, text: str) -> None:
        """Type into a word of the sentence, and send it with Enter."""
        box = self.page.locator(f'[data-word="{word}"]')
        box.fill(text)
        box.press("Enter")
        self.waits()

    def opens_word(self, word: str) -> None:
        """Open the form of a word, which may open by itself just then: a press that comes too late closes it again."""
        button = self.page.locator(f'[data-word="{word}"]')
        for _ in range(2):
            if button.get_attribute("aria-expanded") != "true":
                button.click()
            self.waits()

    def picks(self, label: str) -> None:
        """Choose one of the options that are all on the page: a segment or a radio button."""
        self.option(label).click()
        self.waits()

    def types(self, label: str, value: str, *, enter: bool = True) -> None:
        """Type into a box and leave it with Enter, or with the Tab key."""
        box = self.page.get_by_label(label, exact=True).first
        box.fill(value)
        box.press("Enter" if enter else "Tab")
        self.waits()

    def button(self, label: str) -> Locator:
        """The button a person would read as ``label``: for a machine, the name of its icon is text too."""
        return self.page.get_by_role("button").filter(has=self.page.get_by_text(label, exact=True)).first

    def option(self, label: str) -> Locator:
        """A segment, or the label of a radio button (the circle itself is drawn, and cannot be pressed)."""
        segment = self.page.get_by_role("radio").filter(has_text=label)
        circle = self.page.get_by_role("radiogroup").get_by_text(label, exact=True)
        return segment.or_(circle).first

    def text(self, words: str) -> Locator:
        """The first place where ``words`` stand."""
        return self.page.get_by_text(words).first

    def sees(self, words: str) -> None:
        """The words are on the page, now or soon."""
        expect(self.text(words)).to_be_visible()

    def sees_figure(self, words: str) -> Locator:
        """A figure that says of itself what it shows, in these words, and that has been drawn."""
        figure = self.page.get_by_role("figure", name=words)
        expect(figure.locator("svg").first).to_be_visible()
        return figure.first

    def slider(self, label: str) -> Locator:
        """The handle of a slider; it listens to arrow keys, Home and End."""
        return self.page.get_by_role("slider", name=label).first

    def steps_to(self, key: Literal["Home", "End", "ArrowLeft", "ArrowRight"]) -> None:
        """Walk through the run that is played, by the keyboard, and wait until the step is drawn."""
        self.page.locator(".animation .cut.now").press(key)
        expect(self.page.locator(".animation .map.js-plotly-plot")).to_have_count(1)  # it was a sketch until then
        quiet.becomes(self.page, _DRAWN)

    def sees_animation(self) -> None:
        """A run that has ended is played, its picture drawn: one under way is another animation, which leaves."""
        expect(self.page.locator(".animation[data-whole]")).to_have_count(1)
        self.waits()

    def sees_step(self, words: str) -> Locator:
        """The picture of a step, which says of itself what it shows in these words, drawn."""
        picture = self.page.locator(f'.animation .map[aria-label*="{words}"]')
        expect(picture.locator("svg").first).to_be_visible()
        return picture

    def sees_run(self, algorithm: str) -> None:
        """A run of that algorithm is played, and it is what the controls ask for."""
        expect(self.page.get_by_role("combobox", name="Algorithm")).to_have_value(re.compile(re.escape(algorithm)))
        self.waits()
        expect(self.page.locator(".animation .said")).to_be_hidden()
        expect(self.page.locator(".animation[data-whole]")).to_be_visible()

    def declares(self, *, low: float, high: float) -> None:
        """Give all columns of a waiting file the same bounds."""
        box = self.page.locator('[data-word^="low:"]').first
        box.fill(f"{low:g} to {high:g}; …")
        box.press("Enter")
        self.waits()

    def uploads(self, content: bytes, name: str) -> None:
        """Drop a file on the bench."""
        chooser = self.page.get_by_test_id("stFileUploader").first.locator("input[type=file]")
        chooser.set_input_files({"name": name, "mimeType": "text/csv", "buffer": content})
        expect(self.page.locator('[data-word="table"]')).to_have_text(name.rpartition(".")[0][:18])
        self.waits()

    def chooses(self, label: str, option: str) -> None:
        """Open a list, type what is looked for, as a long list shows some of its options only, and take it.

        With the keyboard: a pointer would have to hit a list that still moves while it closes in on what is typed.
        The option of that very name is taken, else the first whose name has it.
        """
        box = self.page.get_by_role("combobox", name=label).first
        if box.input_value() == option:
            return
        box.click()
        box.fill(option)
        expect(self.page.get_by_role("option", name=option).first).to_be_visible()
        named = self.page.get_by_role("option", name=option, exact=True)
        wanted = (named if named.count() else self.page.get_by_role("option", name=option)).first.get_attribute("id")
        for _ in range(1 + self.page.get_by_role("option").count()):
            if box.get_attribute("aria-activedescendant") == wanted:
                break
            box.press("ArrowDown")
        box.press("Enter")
        expect(box).to_have_value(re.compile(re.escape(option)))
        self.waits()

    def keeps(self, *chosen: str) -> None:
        """Take everything else out of a list of what is chosen."""
        for name in chosen:
            expect(self.page.get_by_role("button", name=f"Remove {name}", exact=True)).to_be_visible()
        removers = self.page.get_by_role("button", name=re.compile("^Remove "))
        names = [remover.get_attribute("aria-label") or "" for remover in removers.all()]
        for name in names:
            if name.removeprefix("Remove ") not in chosen:
                self.page.get_by_role("button", name=name, exact=True).click()
                self.waits()

    def downloads(self, label: str) -> Path:
        """Press a download button; where the file lies."""
        with self.page.expect_download() as coming:
            self.button(label).click()
        return coming.value.path()

    def waits(self) -> None:
        """Until the page has stopped computing: what was pressed is answered, and the answer is drawn."""
        quiet.answers(self.page)

    def is_still(self) -> None:
        """Wait until all is drawn and nothing fades or glides any more."""
        self.waits()
        # What is about to be drawn anew is pale for a moment.
        expect(self.page.locator("[data-stale=true]")).to_have_count(0)
        expect(self.page.locator(".animation:not([data-whole])")).to_have_count(0)
        quiet.still(self.page)

    def scrolls_to(self, words: str) -> None:
        """Bring a heading or another text to the upper edge of the window."""
        self.text(words).evaluate("place => place.scrollIntoView({block: 'start'})")

    def photographs(self, path: Path, *, of: Locator | Literal["window", "page"] = "window") -> None:
        """Save what is in the window, or a part of it, with the pointer out of the way."""
        self.page.mouse.move(0, 0)
        self.is_still()
        if isinstance(of, str):
            self.page.screenshot(path=path, full_page=of == "page")
        else:
            of.screenshot(path=path)

    def is_as_wide_as_its_window(self) -> bool:
        """Whether the page can be read without moving it sideways, now or once it has followed its window."""
        try:
            quiet.becomes(self.page, _FITS)
        except PlaywrightTimeoutError:
            return False
        return True

    def is_content(self) -> None:
        """Nothing has left this machine, no script of ours complained, and no traceback is on the page."""
        strangers = [url for url in self.requested if not _stays_here(url)]
        assert not strangers, f"requests that leave this machine: {strangers}"
        assert not self.complaints, f"the browser's console says: {self.complaints}"
        expect(self.page.get_by_test_id("stException")).to_have_count(0)
        expect(self.page.get_by_text("A defect of dpviz")).to_have_count(0)

    def _asks_for(self, request: Request) -> None:
        self.requested.append(request.url)

    def _opens(self, socket: WebSocket) -> None:
        self.requested.append(socket.url)

    def _hears(self, said: ConsoleMessage) -> None:
        # On a deep link Streamlit asks for its own service below that page first, then at the root.
        if said.type == "error" and "/_stcore/" not in said.location["url"]:
            self.complaints.append(f"{said.text} ({said.location['url']})")


def _stays_here(url: str) -> bool:
    parts = urlsplit(url)
    return parts.scheme in _INSIDE_THE_BROWSER or parts.hostname in _HERE
