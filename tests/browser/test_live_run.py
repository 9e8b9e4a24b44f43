"""A run that takes long, in a browser: it arrives step by step, and is cancelled in the middle."""

import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.server import HELD
from tests.browser.visitor import WIDE, Visitor

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="no run is held where the app is as users start it"),
]


def test_a_long_run_arrives_step_by_step_and_is_cancelled(visitor: Callable[..., Visitor], steps: Path) -> None:
    """To the app of these tests (small_app) a run of so many clusters is long, and it waits for this test."""
    visit = visitor(viewport=WIDE)
    steps.write_bytes(b"..")
    visit.goes_to("/", table="fifteen", algorithm="dplloyd", k=HELD)
    progress, where = visit.page.get_by_test_id("stProgress"), visit.page.locator(".animation .where")
    expect(progress).to_contain_text("so far")
    expect(where).to_have_text(re.compile(r"\d+/\d+"))
    held = where.inner_text()
    steps.write_bytes(b"...")
    expect(where).not_to_have_text(held)  # the next one has come
    assert progress.count() == 1, "the run was still under way"
    visit.presses("Cancel")
    visit.sees("cancelled")
    expect(where).to_be_visible()
