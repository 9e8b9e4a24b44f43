"""A case: one thing that is done with hostile input, and what must not be seen afterwards."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from unittest.mock import patch

from benchmarks.fuzzing.secrets import Secrets
from dpviz.api import console as command_line
from dpviz.core.check import RequestError

REFUSED = 2
# A refusal may print what was paid for and could not be written.
_PAID = "stand on stdout"


class Broken(Exception):
    """What should not have happened, in words."""


@dataclass(frozen=True)
class Case:
    """One thing to do.

    Attributes
    ----------
    family : str
    about : str
        Enough to know what was asked; long values are cut.
    do : function of a folder of its own to all text that a person would see; a refusal is a ``RequestError``
    secrets : Secrets
    for_a_page : bool
        Whether what is said may reach a page, which shows no half characters; a terminal replaces them.
    """

    family: str
    about: str
    do: Callable[[Path], str]
    secrets: Secrets = field(default_factory=Secrets)
    for_a_page: bool = True


def command(argv: list[str]) -> str:
    """All that ``dpviz ARGV`` prints.

    Raises
    ------
    RequestError
        With what it says, if it refuses; what it said before stands in the error's notes.
    Broken
        If it ends in another way.
    """
    defects: list[Exception] = []
    tell = command_line._report_defect

    def note(error: Exception) -> int:
        defects.append(error)
        return tell(error)

    out, err = StringIO(), StringIO()
    with patch.object(command_line, "_report_defect", note), redirect_stdout(out), redirect_stderr(err):
        code = command_line.main(argv)
    said = err.getvalue()
    if any(not line.startswith("dpviz: ") for line in said.splitlines()):
        raise Broken("stderr holds something that is no sentence of dpviz")
    if code == 0:
        return out.getvalue() + said
    if code == REFUSED:
        if out.getvalue() and _PAID not in said:
            raise Broken("a refusal printed to stdout")
        *notes, sentence = (line.removeprefix("dpviz: ") for line in said.splitlines())
        refusal = RequestError(sentence)
        refusal.__notes__ = [*notes, out.getvalue()]
        raise refusal
    if defects:
        raise defects[-1]
    raise Broken(f"exit code {code}")


def short(value: object, *, most: int = 160) -> str:
    """``value`` as Python writes it, cut."""
    try:
        text = repr(value)
    except ValueError:  # a number of more digits than Python writes
        text = "a very long number"
    return text if len(text) <= most else f"{text[:most]}… ({len(text):,} characters)"
