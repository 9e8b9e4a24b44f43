"""Settings for all tests: one thread each, and property tests that repeat exactly."""

from __future__ import annotations

import os

# Before NumPy loads its linear algebra: several test processes share few cores.
os.environ.setdefault("OMP_NUM_THREADS", "1")

from hypothesis import HealthCheck, settings

settings.register_profile(
    "repeatable",
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
settings.load_profile("repeatable")
