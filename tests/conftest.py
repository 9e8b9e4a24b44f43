"""For all tests: one thread each, property tests that repeat exactly, and one browser."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack

# Before NumPy loads its linear algebra: several test processes share few cores.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import pytest
from hypothesis import HealthCheck, settings
from playwright.sync_api import Browser

from tests.browser.chromium import NoBrowser, launched

settings.register_profile(
    "repeatable",
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
settings.load_profile("repeatable")


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium; without one, tests that need it skip, or fail where ``REQUIRE_BROWSER=1``."""
    with ExitStack() as stack:
        try:
            found = stack.enter_context(launched())
        except NoBrowser as nothing:
            if os.environ.get("REQUIRE_BROWSER") == "1":
                pytest.fail(f"{nothing} REQUIRE_BROWSER=1 asks for one.")
            pytest.skip(str(nothing))
        yield found
