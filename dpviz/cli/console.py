"""What is said beside the result, on stderr: never a value of the data."""

from __future__ import annotations

import sys

from dpviz.check import RequestError


class NotWritten(RequestError):
    """A release that could not be written to its file: ``printed`` goes to stdout, so that nothing paid for is lost."""

    def __init__(self, sentence: str, printed: str) -> None:
        super().__init__(sentence)
        self.printed = printed


class FoundWrong(Exception):
    """What was checked is not what it says: ``printed`` goes to stdout, and the exit code is 1."""

    def __init__(self, printed: str) -> None:
        super().__init__(printed)
        self.printed = printed


def say(sentence: str) -> None:
    """One line on stderr."""
    sys.stderr.write(f"dpviz: {sentence}\n")
    sys.stderr.flush()
