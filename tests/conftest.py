"""Settings for all tests: one thread each, one browser at a time, property tests that repeat exactly."""

from __future__ import annotations

import os

# Before NumPy loads its linear algebra: several test processes share few cores.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "repeatable",
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
settings.load_profile("repeatable")


@pytest.hookimpl(tryfirst=True)  # before the items are dealt out
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Browser tests share one app and one browser: the same process runs them all, while others run the rest."""
    for item in items:
        if item.get_closest_marker("browser"):
            item.add_marker(pytest.mark.xdist_group("browser"))
