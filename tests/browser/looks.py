"""What anybody must be able to read, whatever the colours and the window: how pages are looked at by tests."""

import re
from collections import Counter
from importlib.resources import files
from typing import Any, Literal, NamedTuple

from playwright.sync_api import ViewportSize, expect

from tests.browser.visitor import NARROW, Visitor


class Look(NamedTuple):
    """Colours and a window, which an open page takes on without computing anything again."""

    colors: Literal["light", "dark"]
    window: ViewportSize


WINDOW: ViewportSize = {"width": 1440, "height": 900}

LOOKS = {"light": Look("light", WINDOW), "dark": Look("dark", WINDOW), "dark telephone": Look("dark", NARROW)}
# Both colours and both windows, each of them once: for what differs by a colour or a window, and not by their pair.
ALL_IN_TWO = ("light", "dark telephone")
# Streamlit's own menu is not ours to mend: in a narrow window, what is no entry of a list stands in its list of pages.
_NOT_OURS = ['[data-testid="stHeader"]', '[data-testid="stToolbar"]', '[data-testid="stSidebarNavItems"]']
# Nor is what it paints in the dark: a slider's value and a chosen segment are in the primary colour, and on buttons and
# chips of that colour stands white. No colour is 4.5 to 1 both as text on a dark page and under white text; this one
# is so under white, and 3 to 1 on the page (tests/words/test_theme.py).
_NOT_OURS_IN_THE_DARK = ['[data-testid="stSliderThumbValue"]', '[data-testid="stButtonGroup"]']
# Its rail is scrolled by keys, as any part of a page in today's browsers, if nothing that is in it can be reached.
_RAIL, _UNREACHABLE = 'data-testid="stSidebarContent"', "scrollable-region-focusable"
# Streamlit's numbers have steppers, its tables, charts and uploaders tools, which are told apart by what they stand in,
# and the question mark beside a text that is no label has one name only.
_MANY = re.compile(
    r"Increment|Decrement|Download plot|Fullscreen|Zoom|Pan|Reset axes|Show/hide|Search|Download as CSV|^Help$|"
    r"^Add files$"
)
_MARKUP = re.compile(r":\w+-badge\[|:material/|:(?:gray|blue|orange|green|red|violet|small)\[|\*\*|</?\w+>|\$\w+\$")
_NAMES = """() => [...document.querySelectorAll(
  "button, a, input, select, textarea, [role=switch], [role=slider], [role=radio], [role=tab], [role=figure]"
)].filter(part => part.checkVisibility() && (part.tabIndex >= 0 || part.role === "figure")).map(part => [
  part.getAttribute("role") || part.tagName.toLowerCase(),
  part.getAttribute("aria-label") || part.innerText || "",
])"""
_LEAST_TARGET = 24
# WCAG 2.2, 2.5.8: a link in a sentence, and what lies alone in a circle of 24 pixels, may be smaller. Not ours are the
# tools over Streamlit's tables.
_SMALL = """least => {
  const wanted = "button, a, input, select, textarea, [role=slider], [role=tab], [role=switch]";
  const parts = [...document.querySelectorAll(`[data-testid="stMain"] :is(${wanted})`)].filter(part =>
    part.checkVisibility({opacityProperty: true, visibilityProperty: true})
    && !part.matches("p a, [kind=elementToolbar]"));
  const boxes = parts.map(part => (part.closest("label") || part).getBoundingClientRect());
  const middles = boxes.map(box => [box.x + box.width / 2, box.y + box.height / 2]);
  return parts.filter((part, i) => {
    const box = boxes[i];
    if (!box.width || (box.width >= least && box.height >= least)) return false;
    return middles.some(([x, y], j) => j !== i && !part.contains(parts[j]) && !parts[j].contains(part)
      && Math.hypot(x - middles[i][0], y - middles[i][1]) < least);
  }).map(part => `${part.tagName} ${part.getAttribute("aria-label") || part.innerText || part.outerHTML.slice(0, 90)}`);
}"""
# What has the focus is in sight, and nothing lies over it; Streamlit's tables are not ours.
_COVERED = """() => {
  const part = document.activeElement, box = part.getBoundingClientRect();
  if (part === document.body || !box.width || part.closest('[data-testid="stDataFrame"]')) return "";
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  const seen = document.elementFromPoint(x, y);
  const near = part.closest("label") || part.parentElement || part;
  const sees = seen && (part.contains(seen) || near.contains(seen) || seen.contains(part));
  return sees ? "" : part.outerHTML.slice(0, 160);
}"""
# Landmarks are moderate at most, and to look for what lies in none takes as long as half of all other rules.
_RUN = """exclude => axe.run({exclude: exclude.map(selector => [selector])},
    {resultTypes: ["violations"], rules: {region: {enabled: false}}}).then(found => found.violations)"""


def offences_in(visit: Visitor, *names: str) -> dict[str, list[str]]:
    """What is wrong in these looks, by their names; the page is left in the light."""
    found = {}
    for name in names:
        takes_on(visit, LOOKS[name])
        found[name] = offences(visit)
    takes_on(visit, LOOKS["light"])
    return {name: wrong for name, wrong in found.items() if wrong}


def takes_on(visit: Visitor, look: Look) -> None:
    """Give the open page these colours and this window, and wait until it has followed."""
    dark = look.colors == "dark"
    others = dark != visit.page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
    visit.page.emulate_media(color_scheme=look.colors)
    visit.page.set_viewport_size(look.window)
    if others:  # the page tells the server (dpviz/app/ui/assets/reader.js), and is drawn again
        told = re.compile(f'"dark":{str(dark).lower()}')
        expect(visit.page.locator(".probe")).to_have_attribute("data-told", told)
    visit.is_still()


def offences(visit: Visitor) -> list[str]:
    """What is wrong with the page as it is looked at, with the pointer out of the way."""
    visit.page.mouse.move(0, 0)
    visit.is_still()
    dark = bool(visit.page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches"))
    wide = [] if visit.is_as_wide_as_its_window() else ["wider than its window"]
    return [*serious(visit, dark=dark), *misnamed(visit), *wide]


def serious(visit: Visitor, *, dark: bool) -> list[str]:
    """What axe-core calls serious or critical, each with the first element that is meant."""
    if not visit.page.evaluate("'axe' in window"):
        visit.page.evaluate((files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8"))
    left_out = _NOT_OURS + _NOT_OURS_IN_THE_DARK * dark
    found: list[dict[str, Any]] = visit.page.evaluate(_RUN, left_out)
    serious = [one for one in found if one["impact"] in ("serious", "critical") and not _is_of_the_rail(one)]
    return [f"{one['id']}: {len(one['nodes'])}, such as {one['nodes'][0]['html'][:200]}" for one in serious]


def _is_of_the_rail(one: dict[str, Any]) -> bool:
    return one["id"] == _UNREACHABLE and all(_RAIL in node["html"] for node in one["nodes"])


def misnamed(visit: Visitor) -> list[str]:
    """Names with markup in them, names that two buttons share, and figures that do not say what they show."""
    names = [(role, " ".join(name.split())) for role, name in visit.page.evaluate(_NAMES)]
    wrong = [f"markup in the name of a {role}: {name}" for role, name in names if _MARKUP.search(name)]
    shared = Counter(name for role, name in names if role == "button" and name and not _MANY.search(name))
    wrong += [f"{number} buttons are called {name}" for name, number in shared.items() if number > 1]
    return wrong + [f"a figure says: {name}" for role, name in names if role == "figure" and len(name.split()) < 5]


def out_of_reach(visit: Visitor, *, tabs: int = 20) -> list[str]:
    """Targets that a finger misses, and what has the focus, on the way by the Tab key, under something else."""
    found: list[str] = visit.page.evaluate(_SMALL, _LEAST_TARGET)
    for _ in range(tabs):
        visit.page.keyboard.press("Tab")
        found += filter(None, [visit.page.evaluate(_COVERED)])
    return found
