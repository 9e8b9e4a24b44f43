"""What is said beside the result, on stderr, and written into the file that ``--out`` names: no value of the data."""

from __future__ import annotations

import sys
from pathlib import Path

from dpviz.core import RequestError
from dpviz.runs import create_whole


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


def refuse_taken(out: Path) -> None:
    """Refuse ``--out`` where no new file can be, before a row is read or anything is charged.

    Raises
    ------
    RequestError
        If a file is there already, or no folder to put it into.
    """
    try:
        is_new = not out.exists() and out.absolute().parent.is_dir()
    except (OSError, ValueError):  # a name that is too long, or with a character that no file may have
        is_new = False
    if not is_new:
        raise RequestError("--out is there already, or is in no folder: give a new file, so that nothing is lost.")


def create_out(out: Path, data: bytes) -> None:
    """Write the new file that ``--out`` names.

    Parameters
    ----------
    out : Path
        Where nothing is yet.
    data : bytes
        Its content.

    Raises
    ------
    RequestError
        If it cannot be written, or is there already.
    """
    try:
        create_whole(out, data)
    except (OSError, ValueError) as error:
        raise RequestError(f"--out cannot be written ({type(error).__name__}): give a path you may write to.") from None
