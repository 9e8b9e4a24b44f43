"""What is said beside the result, on stderr: never a value of the data."""

from __future__ import annotations

import sys


def say(sentence: str) -> None:
    """One line on stderr."""
    sys.stderr.write(f"dpviz: {sentence}\n")
    sys.stderr.flush()
