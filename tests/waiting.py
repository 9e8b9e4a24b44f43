"""The one way in which tests wait: for an event, and no longer than one generous patience.

No test asks how fast the machine is. A wait ends when what it waits for has happened; the patience only turns a test
that would hang into one that fails, on a machine that is busy with other things, too.
"""

import threading
from collections.abc import Callable

SECONDS = 600.0
MILLISECONDS = 1000 * SECONDS  # for a browser
CLICKS_AGAIN = 10_000.0  # milliseconds after which a person clicks once more on what a busy browser has not heard
_BETWEEN = 0.02


def eventually(fact: Callable[[], object], seconds: float = SECONDS) -> bool:
    """Whether ``fact()`` becomes true before patience ends."""
    pause = threading.Event()
    for _ in range(round(seconds / _BETWEEN)):
        if fact():
            return True
        pause.wait(_BETWEEN)
    return bool(fact())
