"""Chromium: from ``CHROMIUM``, from the PATH, or Playwright's own."""

import os
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserType, sync_playwright

# WebGL without a graphics card, and all else drawn without the detour over an emulated one, which takes seconds for a
# page; no sandbox, because tests often run as root in a container.
_ARGUMENTS = (
    "--no-sandbox",
    "--disable-dev-shm-usage",
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--disable-gpu-compositing",
    "--disable-gpu-rasterization",
    # What fades or turns is drawn with the page, and not sixty times a second beside it: a third of what a visit costs.
    "--disable-threaded-animation",
    # One process draws all pages of an app, and keeps what it compiled for the first: a sixth of what visits cost.
    "--process-per-site",
    # A page of a test is read once and left: to compile its scripts a second time, better, costs more than it saves.
    "--js-flags=--no-opt --no-maglev --max-lazy --single-threaded-gc",
)
# The shell first: it has no windows, and so none whose frames somebody may stop asking for.
_ON_THE_PATH = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


class NoBrowser(RuntimeError):
    """There is no Chromium to be found."""


@contextmanager
def launched() -> Iterator[Browser]:
    """A headless Chromium.

    Raises
    ------
    NoBrowser
        If there is none, or if ``CHROMIUM`` names none.
    """
    with sync_playwright() as playwright:
        executable = _executable(playwright.chromium)
        browser = playwright.chromium.launch(executable_path=executable, args=list(_ARGUMENTS))
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def launched_for_tests() -> Iterator[Browser]:
    """A headless Chromium; without one, tests skip, or fail where ``REQUIRE_BROWSER=1``."""
    with ExitStack() as stack:
        try:
            found = stack.enter_context(launched())
        except NoBrowser as nothing:
            if os.environ.get("REQUIRE_BROWSER") == "1":
                pytest.fail(f"{nothing} REQUIRE_BROWSER=1 asks for one.")
            pytest.skip(str(nothing))
        yield found


def _executable(own: BrowserType) -> str:
    asked = os.environ.get("CHROMIUM")
    if asked:
        found = shutil.which(asked)
        if found is None:
            raise NoBrowser(f"CHROMIUM is {asked!r}, and there is no such program.")
        return found
    for name in _ON_THE_PATH:
        if found := shutil.which(name):
            return found
    if Path(own.executable_path).exists():
        return own.executable_path
    raise NoBrowser(
        "No Chromium on the PATH, in CHROMIUM or of Playwright's own: install Debian's package chromium-headless-shell."
    )
