"""What a person waits for, in Chromium beside the server on one machine: medians and the worst of ten.

From ε let go on the axis to the picture, from a press to the picture (*Another draw*), a step, a change of page, 64
Gaussians, and a million rows, each once its axis has both curves; from a stroke let go on the playground to its
picture, twenty times; before all, the bench in a browser that has been nowhere, of a server that has just begun and of
one that has not. Aims: 3 s and 1.4 MB to the first picture, 0.3 s from the axis for 5,000 × 2, 1 s for 100,000 × 2,
0.1 s a step, 0.5 s from a stroke on 1,000 points.

    python -m benchmarks.page
"""

from __future__ import annotations

import argparse
import compileall
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

from playwright.sync_api import Browser, Page, expect

from benchmarks.timing import machine
from tests.browser.chromium import launched
from tests.browser.server import running_app
from tests.browser.visitor import PATIENCE, Visitor

REPEATS, STROKES = 10, 20
WINDOW = {"width": 1440, "height": 900}
ALGORITHMS = {"auto": "Everything: Auto", "eugkm": "Grid: EUGkM", "dplloyd": "Rounds: DPLloyd"}
PLANS = ("Grid", "Tree", "Rounds", "Auto")
_PAINTED = "drawn => Number(document.querySelector('.board')?.dataset.drawn ?? 0) > drawn"
_DRAWN = "drawn => Number(document.querySelector('.animation')?.dataset.drawn ?? 0) > drawn"


def main() -> None:
    """Print a line for each wait."""
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    compileall.compile_dir("dpviz", quiet=1)  # as after any earlier start
    print(machine())
    with tempfile.TemporaryDirectory() as folder, launched() as browser, running_app(Path(folder) / "log.txt") as app:
        came = [arrived(browser, app) for _ in range(REPEATS)]
        say("the bench for the first visitor, to its first picture", [came[0][0]])
        say("the bench in a browser that has been nowhere", [seconds for seconds, _ in came[1:]])
        print(f"{'megabytes until then':<56}{max(megabytes for _, megabytes in came):6.2f}", flush=True)
        painting(Visitor(browser.new_context(viewport=WINDOW), app))
        visit = Visitor(browser.new_context(viewport=WINDOW), app)
        for algorithm in ALGORITHMS:
            visit.goes_to("/", algorithm=algorithm)
            has_curve(visit)
            say(f"5,000 × 2, {algorithm}, ε let go to picture", [turned(visit, place) for place in range(REPEATS)])
        say("5,000 × 2, press on Another draw to picture", [pressed(visit) for _ in range(REPEATS)])
        visit.goes_to("/", algorithm="balcan")
        has_curve(visit)
        say("a step, seen from outside", [stepped(visit, place) for place in range(REPEATS)])
        say("change of page, Read to Bench", [turned_page(visit) for _ in range(REPEATS)])
        visit.goes_to("/", table="mixture64")
        visit.presses("Open it")
        visit.picks("Steps in a plane")
        visit.sees_animation()
        say("64 Gaussians, a step, by the player's own clock", [redrawn(visit, place) for place in range(REPEATS)])
        for rows, known in ((100_000, "100,000 × 2"), (1_000_000, "1,000,000 × 2")):
            make_synthetic_table(visit, rows)
            for algorithm in ALGORITHMS:
                visit.opens_word("algorithm")
                visit.chooses("Algorithm", ALGORITHMS[algorithm])
                has_curve(visit)
                say(f"{known}, {algorithm}, ε let go to picture", [turned(visit, place) for place in range(REPEATS)])


def arrived(browser: Browser, app: str) -> tuple[float, float]:
    """Seconds from the address of the bench to its first picture, and the megabytes that came until then."""
    context = browser.new_context(viewport=WINDOW)
    page, came = context.new_page(), list[float]()
    heard = context.new_cdp_session(page)
    heard.on("Network.loadingFinished", lambda told: came.append(told["encodedDataLength"]))
    heard.on("Network.webSocketFrameReceived", lambda told: came.append(0.75 * len(told["response"]["payloadData"])))
    heard.send("Network.enable")
    began = time.perf_counter()
    page.goto(app, wait_until="commit")
    page.wait_for_function(_DRAWN, arg=0, timeout=PATIENCE, polling="raf")
    taken = time.perf_counter() - began
    context.close()
    return taken, sum(came) / 1e6


def painting(visit: Visitor) -> None:
    """Strokes on the playground: about a thousand people, and a few more each time."""
    visit.goes_to("/playground")
    board = visit.page.locator(".board")
    painted(visit, lambda: board.locator(".preset").select_option("unlike"))
    for plan in PLANS:
        painted(visit, board.get_by_role("button", name=plan, exact=True).click)
        say(f"playground, 1,000 points, {plan}, stroke to picture", [stroke(visit, place) for place in range(STROKES)])
    visit.page.context.close()


def stroke(visit: Visitor, place: int) -> float:
    """The pointer is pressed and let go again."""
    frame = visit.page.locator(".board .ink").bounding_box()
    assert frame is not None
    visit.page.mouse.move(frame["x"] + 30 + 20 * place, frame["y"] + 40)
    visit.page.mouse.down()
    return painted(visit, visit.page.mouse.up)


def painted(visit: Visitor, act: Callable[[], object]) -> float:
    """Seconds from an act to the picture that the board draws then."""
    page = visit.page
    page.wait_for_function(_PAINTED, arg=0, timeout=PATIENCE)
    drawn = int(page.locator(".board").get_attribute("data-drawn") or 0)
    began = time.perf_counter()
    act()
    page.wait_for_function(_PAINTED, arg=drawn, timeout=PATIENCE, polling="raf")
    taken = time.perf_counter() - began
    settled(visit)
    return taken


def say(what: str, seconds: list[float]) -> None:
    """Median and worst."""
    print(f"{what:<56}{median(seconds):6.2f} s   worst {max(seconds):5.2f} s", flush=True)


def timed(visit: Visitor, act: Callable[[Page], None]) -> float:
    """Seconds from an act to a picture that was not there before."""
    page = visit.page
    drawn = int(page.locator(".animation").get_attribute("data-drawn") or 0)
    began = time.perf_counter()
    act(page)
    page.wait_for_function(_DRAWN, arg=drawn, timeout=PATIENCE, polling="raf")
    taken = time.perf_counter() - began
    settled(visit)
    return taken


def settled(visit: Visitor) -> None:
    """Until nothing of the last wait is left to do."""
    visit.waits()
    visit.page.wait_for_timeout(1_200)


def has_curve(visit: Visitor) -> None:
    """Until no draw for the axis is left to be made."""
    expect(visit.page.locator(".epsilon .read")).to_contain_text("looser")
    visit.sees_animation()
    settled(visit)


def turned(visit: Visitor, place: int) -> float:
    """The handle of the axis moves back and forth by one place."""
    return timed(
        visit, lambda _: visit.slider("ε, the privacy budget").press("ArrowRight" if place % 2 else "ArrowLeft")
    )


def pressed(visit: Visitor) -> float:
    """Another draw."""
    return timed(visit, lambda _: visit.button("Another draw").click())


def stepped(visit: Visitor, place: int) -> float:
    """One step back, or forward again."""
    return timed(visit, lambda _: visit.steps_to("ArrowRight" if place % 2 else "ArrowLeft"))


def redrawn(visit: Visitor, place: int) -> float:
    """A step as the player times it: from the key to the drawn picture, without the way of the key to the page."""
    stepped(visit, place)
    return float(visit.page.locator(".animation").get_attribute("data-milliseconds") or "nan") / 1000


def turned_page(visit: Visitor) -> float:
    """From Read back to the picture."""
    visit.turns_to("Read")
    visit.page.wait_for_timeout(500)
    began = time.perf_counter()
    visit.page.get_by_role("link", name="Bench", exact=True).click()
    visit.page.wait_for_function(_DRAWN, arg=0, timeout=PATIENCE, polling="raf")
    taken = time.perf_counter() - began
    settled(visit)
    return taken


def make_synthetic_table(visit: Visitor, rows: int) -> None:
    """Simulate a table by the form of the table's word."""
    visit.opens_word("table")
    visit.presses("Made-up rows")
    visit.page.get_by_label("n, rows", exact=True).fill(str(rows))
    visit.presses("Simulate and open")
    visit.sees_animation()


if __name__ == "__main__":
    main()
