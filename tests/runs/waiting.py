"""Waiting for what other processes do."""

import time
from collections.abc import Callable


def eventually(fact: Callable[[], object], seconds: float = 60) -> bool:
    """Whether ``fact`` comes true in time."""
    end = time.monotonic() + seconds
    while not fact():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True
