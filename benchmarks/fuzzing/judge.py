"""Whether a case kept the promise: a result or a clear sentence, no value of the data, no traceback, soon and small."""

from __future__ import annotations

import logging
import os
import signal
import tempfile
import time
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import asdict, dataclass
from io import StringIO
from pathlib import Path
from types import FrameType
from typing import Any

from benchmarks.fuzzing.case import Broken, Case
from dpviz.core.check import RequestError
from dpviz.words.foreign import ReaderDefect

SECONDS = 20.0
"""Of work: what other programs take of a busy machine meanwhile is not counted."""

WAITED = 9.0
"""So many times as long may pass by the clock."""
MEGABYTES = 1_000
_LONGEST_SENTENCE = 1_500
_GUARD = "foreign.py"
_ROOT = Path(__file__).resolve().parents[2]


class _TooLong(BaseException):
    """No ``except Exception`` on the way may swallow it."""


@dataclass(frozen=True)
class Verdict:
    """What became of a case.

    Attributes
    ----------
    outcome : str
        ``result`` or ``refused``; otherwise the promise that was broken.
    where : str
        The line that broke it, where there is one.
    seconds, megabytes : float
        Of work, and how far the process's memory rose meanwhile.
    """

    index: int
    family: str
    about: str
    outcome: str
    where: str = ""
    seconds: float = 0.0
    megabytes: float = 0.0

    @property
    def kept(self) -> bool:
        return self.outcome in ("result", "refused")

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


def judged(case: Case, index: int = 0, *, seconds: float = SECONDS, megabytes: float = MEGABYTES) -> Verdict:
    """Do what ``case`` says in a new folder and look at all that came of it."""
    _forget_peak()
    before, began = _peak_megabytes(), time.process_time()
    outcome, where = _outcome(case, seconds)
    taken, peak = time.process_time() - began, _peak_megabytes() - before
    if outcome in ("result", "refused") and peak > megabytes:
        outcome = "too much memory"
    return Verdict(index, case.family, case.about, outcome, where, round(taken, 3), round(peak))


def _outcome(case: Case, seconds: float) -> tuple[str, str]:
    printed = StringIO()
    try:
        with _printing_to(printed), _own_folder() as folder, _alarm(seconds):
            said, outcome = case.do(folder), "result"
    except RequestError as error:
        said, outcome = "\n".join((*getattr(error, "__notes__", ()), str(error))), "refused"
        if error.__cause__ is not None or not (error.__suppress_context__ or error.__context__ is None):
            printed.write("".join(traceback.format_exception(error)))  # what a log would show
        unclear = _unclear(str(error))
        if unclear:
            return unclear, _place(error)
    except _TooLong as error:
        return "too slow", _place(error)
    except Broken as error:
        return str(error), _place(error)
    except ReaderDefect as error:
        return f"a guard caught a {error.kind}", _place(error)
    except Exception as error:
        return f"traceback: {type(error).__name__}", _place(error)
    if case.secrets.found_in(said + printed.getvalue()):
        return f"a value of the data leaks ({outcome})", "" if case.secrets.found_in(said) else "a log"
    if case.for_a_page and not _can_be_shown(said):
        return "half a character that no page can show", ""
    return outcome, ""


def _unclear(sentence: str) -> str:
    """What is wrong with a refusal, or nothing."""
    if not sentence.strip():
        return "an empty refusal"
    if "Traceback" in sentence:
        return "a traceback in a refusal"
    if len(sentence) > _LONGEST_SENTENCE:
        return "a refusal that nobody reads to its end"
    if not sentence.rstrip().endswith("."):
        return "a refusal that is no sentence"
    return "a refusal over several lines" if len(sentence.strip().splitlines()) > 1 else ""


def _can_be_shown(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


@contextmanager
def _printing_to(printed: StringIO) -> Iterator[None]:
    """What libraries print, warn and log, as text."""
    log = logging.StreamHandler(printed)
    root = logging.getLogger()
    root.addHandler(log)
    try:
        with redirect_stdout(printed), redirect_stderr(printed), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # as the command line does
            yield
    finally:
        root.removeHandler(log)


@contextmanager
def _own_folder() -> Iterator[Path]:
    here = Path.cwd()
    with tempfile.TemporaryDirectory(prefix="dpviz-fuzz-") as folder:
        os.chdir(folder)
        try:
            yield Path(folder)
        finally:
            os.chdir(here)


@contextmanager
def _alarm(seconds: float) -> Iterator[None]:
    """Stops what has worked for so long, or has waited for many times as long."""

    def ring(number: int, frame: FrameType | None) -> None:
        raise _TooLong

    before = {kind: signal.signal(kind, ring) for kind in (signal.SIGPROF, signal.SIGALRM)}
    signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.setitimer(signal.ITIMER_REAL, WAITED * seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
        for kind, handler in before.items():
            signal.signal(kind, handler)


def _place(error: BaseException) -> str:
    """The innermost line of the product that the error went through, or of what called it."""
    found = [(Path(frame.filename), frame) for frame in traceback.extract_tb(error.__traceback__)]
    here = [(path.relative_to(_ROOT), frame) for path, frame in found if path.is_relative_to(_ROOT)]
    product = [(path, frame) for path, frame in here if path.parts[0] in ("dpviz", "pages") and path.name != _GUARD]
    path, frame = (product or here)[-1]
    return f"{path.as_posix()}:{frame.lineno} {frame.name}"


def _forget_peak() -> None:
    """Start the count of the largest memory anew; where the system does not allow it, it counts from the start."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return


def _peak_megabytes() -> float:
    try:
        status = Path("/proc/self/status").read_text()
    except OSError:
        return 0.0
    return next(int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("VmHWM"))
