"""Cases that break each promise on purpose: the judge must say so."""

import os
import signal
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa

from benchmarks.fuzzing.case import Broken, Case
from benchmarks.fuzzing.secrets import Secrets
from dpviz.core.check import RequestError
from dpviz.words import foreign

SECRETS = Secrets((731_944_027,), ("qwrtzpsdfg",))
MEGABYTES = 160
HANGS = "DPVIZ_TEST_HANGS"
LINE = "x,name\n731944027,qwrtzpsdfg\n"


def shows_a_cell(folder: Path) -> str:
    """A reader whose note quotes a number, as numbers are usually written."""
    return "The largest value is 731,944,027."


def refusing(words: str) -> Callable[[Path], str]:
    """A refusal in these words."""

    def refuses(folder: Path) -> str:
        raise RequestError(words)

    return refuses


def prints_a_word(folder: Path) -> str:
    """A reader that leaves a trace for debugging."""
    print("qwrtzpsdfg", file=sys.stderr)  # noqa: T201 - that is what is to be found
    return "fine"


def says_why(folder: Path) -> str:
    """A refusal whose cause, which a log would show, quotes a cell."""
    try:
        float("qwrtzpsdfg")
    except ValueError as error:
        raise RequestError("The file cannot be read: give another one.") from error
    return ""


def hides_a_key_error(folder: Path) -> str:
    """The same inside a guard."""
    with foreign.refuse_as(RequestError("It is damaged: mend it."), foreign.CSV):
        return {"x": "1"}["y"]


def raises_a_key_error(folder: Path) -> str:
    """A reader that fails in a way nobody thought of."""
    return {"x": "1"}["y"]


def works_without_end(folder: Path) -> str:
    """A loop that does not end, and would swallow whatever is an Exception."""
    while True:
        try:
            sum(range(1_000))
        except Exception:
            warnings.warn("go on", stacklevel=1)


def waits_without_end(folder: Path) -> str:
    """What is waited for never comes."""
    signal.pause()
    return ""


def hears_no_alarm(folder: Path) -> str:
    """Compiled code that does not come back to Python; from then on the file that ``HANGS`` names is there."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGALRM, signal.SIGPROF})
    Path(os.environ[HANGS]).touch()
    signal.pause()
    return ""


def takes_much_memory(folder: Path) -> str:
    """Memory that is really written to."""
    return str(np.ones(MEGABYTES * 2**17).sum())


def uses_arrow(folder: Path) -> str:
    """Arrow, whose allocator sets a gigabyte of addresses aside, and then more than is allowed, but never touched."""
    pa.array(["a"])
    return str(len(bytes(1_200 * 2**20)))


def dies(folder: Path) -> str:
    """The process ends, as under a fault in compiled code."""
    os._exit(1)


def says_half_a_character(folder: Path) -> str:
    """A name that no page can show."""
    return "There is no column \ud800."


def ends_in_another_way(folder: Path) -> str:
    """An exit code that means nothing."""
    raise Broken("exit code 3")


def keeps_the_promise(folder: Path) -> str:
    """A result."""
    (folder / "x.csv").write_text(LINE)
    return "ok"


refuses_well = refusing("k is 0: give a whole number of at least 1.")
IN_A_PROCESS = (keeps_the_promise, hears_no_alarm, refuses_well, dies, uses_arrow)


def case(do: object) -> Case:
    """A case that does it."""
    return Case("planted", getattr(do, "__name__", ""), do, SECRETS)  # type: ignore[arg-type]


def case_of(seed: int, index: int) -> Case:
    """One of those for processes."""
    return case(IN_A_PROCESS[index])
