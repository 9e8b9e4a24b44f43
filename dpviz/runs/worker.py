"""The far side of a job: a process that receives its work, streams what that yields, dies with its parent.

It is a fresh interpreter rather than a spawned child of ``multiprocessing`` for two reasons: it never re-runs
the main script (under Streamlit that would be a page), and its environment is handed to it rather than set in
a server full of threads. Rows travel through a pipe, from memory to memory, or lie in memory that several workers
share (``Shared``); nothing is written to disk.

That memory is anonymous: it has no name and is no file, nobody else can open it, and it is gone with the last process
that has it open, even one that was killed. A temporary folder of memory-mapped files, as joblib makes it, would leave
private rows behind after a kill."""

from __future__ import annotations

import io
import mmap
import os
import pickle
import signal
import struct
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import IO, Any, NamedTuple, NoReturn

from dpviz.tables import LatticeFile

_ALIGNED = 64


class Shared:
    """``content``, its arrays in shared memory: as an argument of a `Job` it arrives as ``content`` itself.

    Workers may write to its arrays: a page that one writes to becomes its own, and nobody else sees the change.
    """

    def __init__(self, content: object) -> None:
        self._head, parts, self.files = pickle_content(content)
        self._layout: list[tuple[int, int]] = []
        end = 0
        for part in parts:
            self._layout.append((end, part.nbytes))
            end += -(-part.nbytes // _ALIGNED) * _ALIGNED
        self.fd = os.memfd_create("dpviz")
        weakref.finalize(self, os.close, self.fd)
        self.size = max(end, 1)
        os.truncate(self.fd, self.size)
        with mmap.mmap(self.fd, self.size) as memory:
            for (start, size), part in zip(self._layout, parts, strict=True):
                memory[start : start + size] = part

    def __reduce__(self) -> tuple[Any, ...]:
        return _map_content, (self._head, self.fd, self.size, self._layout)


class Pickled(NamedTuple):
    """A pickled object: its large arrays are views of the object's own memory; ``files`` are open ones inside it."""

    head: bytes
    arrays: list[memoryview]
    files: tuple[Shared | LatticeFile, ...]


def pickle_content(content: object) -> Pickled:
    """``content``, ready for another process, which has to inherit its files (see ``list_fds``)."""
    stream = io.BytesIO()
    buffers: list[pickle.PickleBuffer] = []
    pickler = _Pickler(stream, protocol=5, buffer_callback=buffers.append)
    pickler.dump(content)
    return Pickled(stream.getvalue(), [buffer.raw() for buffer in buffers], tuple(pickler.files))


def list_fds(files: Iterable[Shared | LatticeFile]) -> list[int]:
    """The descriptors of open files, and of those inside what is shared: what a worker has to inherit."""
    return [fd for file in files for fd in (file.fd, *list_fds(getattr(file, "files", ())))]


class _Pickler(pickle.Pickler):
    """Remembers the open files that it met."""

    def __init__(self, *given: Any, **more: Any) -> None:
        super().__init__(*given, **more)
        self.files: list[Shared | LatticeFile] = []

    def reducer_override(self, thing: Any) -> Any:
        if isinstance(thing, Shared | LatticeFile):
            self.files.append(thing)
        return NotImplemented


def share_content(content: Any) -> Any:
    """``content`` in shared memory where the system has memory without a name (Linux), else ``content`` as it is."""
    return Shared(content) if hasattr(os, "memfd_create") else content


def _map_content(head: bytes, fd: int, size: int, layout: list[tuple[int, int]]) -> Any:
    """The content, in the worker, which inherited ``fd``."""
    memory = memoryview(mmap.mmap(fd, size, access=mmap.ACCESS_COPY))
    os.close(fd)
    return pickle.loads(head, buffers=[memory[start : start + length] for start, length in layout])


PROGRESS_INTERVAL = 0.2
"""Seconds between two progress reports that cross the pipe."""

_POOLS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
_BOOT = "import sys; sys.path[:] = {path!r}; from dpviz.runs.worker import serve; serve({politeness})"


@dataclass(frozen=True)
class Progress:
    """How far the work is: yield it as often as you like, only about five a second are delivered.

    ``left`` are the seconds to its end, where that is better known than by the pace of what is done.
    """

    done: int
    total: int
    note: str = ""
    left: float | None = None

    @property
    def fraction(self) -> float:
        """Share of the work that is done, in [0, 1]."""
        return min(1.0, max(0.0, self.done / self.total)) if self.total > 0 else 0.0


@dataclass(frozen=True)
class Failure:
    """Why a job failed: the type of the error, and its message only if that type vouches for it.

    An exception class vouches for its messages with a class attribute ``safe_message = True``: no message of
    it (nor of a subclass) ever carries a value of the data. Any other message stays in the worker.
    """

    kind: str
    message: str = ""

    @classmethod
    def of(cls, error: BaseException) -> Failure:
        """``error`` as it may be shown."""
        return cls(type(error).__name__, str(error) if getattr(type(error), "safe_message", False) is True else "")

    @classmethod
    def of_death(cls, exit_code: int) -> Failure:
        """A worker that ended without saying why."""
        cause = f"signal {-exit_code}" if exit_code < 0 else f"exit code {exit_code}"
        return cls("WorkerDied", f"The worker ended without an answer ({cause}; often: out of memory).")

    def __str__(self) -> str:
        return f"{self.kind}: {self.message}" if self.message else self.kind


class Item(NamedTuple):
    """A result on the pipe, told apart from `Progress` and from the end (a `Failure` or None)."""

    value: Any


def new_worker(inherits: Sequence[int] = (), *, politeness: int = 0) -> subprocess.Popen[bytes]:
    """A worker that waits for its work, with files to inherit; it and whatever it starts form one process group.

    The higher its ``politeness``, the later it gets a core that others want, too.
    """
    return subprocess.Popen(
        [sys.executable, "-c", _BOOT.format(path=sys.path, politeness=politeness)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, **dict.fromkeys(_POOLS, "1")},
        start_new_session=True,
        pass_fds=tuple(inherits),
    )


def kill(process: subprocess.Popen[bytes]) -> None:
    """End a worker and whatever it started, and wait until it is gone."""
    if process.poll() is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL) if hasattr(os, "killpg") else process.kill()
    process.wait()


def serve(politeness: int = 0) -> None:
    """Do one piece of work (the worker's whole life)."""
    if politeness and hasattr(os, "nice"):
        os.nice(politeness)
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what the work prints must not end up among the answers
    outbox = _Outbox(answers)
    failure = None
    try:
        work, args, kwargs = receive(requests, on_arrival=lambda: _die_with_parent(requests.fileno()))
        for item in work(*args, **kwargs):
            outbox.put(item)
    except BaseException as error:  # whatever it is, its message and traceback may quote rows: they end here
        failure = Failure.of(error)
    with suppress(OSError):  # nobody listens any more
        outbox.end(failure)


def _die_with_parent(pipe: int) -> None:
    """From now on, end this process and its children as soon as the other side of ``pipe`` closes."""

    def watch() -> NoReturn:
        while os.read(pipe, 1):
            pass
        if hasattr(os, "killpg"):
            os.killpg(0, signal.SIGKILL)
        os._exit(1)

    threading.Thread(target=watch, name="parent-watch", daemon=True).start()


class _Outbox:
    """The worker's end of the pipe: results at once, progress at most every ``PROGRESS_INTERVAL`` seconds.

    A report that comes too soon waits; the newest one is sent when its time has come, or before a result.
    """

    def __init__(self, pipe: IO[bytes]) -> None:
        self._pipe = pipe
        self._lock = threading.Lock()
        self._waiting: Progress | None = None
        self._timer_runs = False

    def put(self, item: object) -> None:
        """Send ``item``, or let it wait if it is progress and too soon."""
        with self._lock:
            if not isinstance(item, Progress):
                self._flush()
                send(self._pipe, pickle_content(Item(item)))
            else:
                self._waiting = item
                if not self._timer_runs:
                    self._flush()
                    self._start_timer()

    def end(self, failure: Failure | None) -> None:
        """Send how the work ended."""
        with self._lock:
            self._flush()
            send(self._pipe, pickle_content(failure))

    def _flush(self) -> None:
        if self._waiting is not None:
            send(self._pipe, pickle_content(self._waiting))
            self._waiting = None

    def _start_timer(self) -> None:
        self._timer_runs = True
        timer = threading.Timer(PROGRESS_INTERVAL, self._on_time)
        timer.daemon = True
        timer.start()

    def _on_time(self) -> None:
        with self._lock:
            self._timer_runs = False
            if self._waiting is not None:
                self._flush()
                self._start_timer()


def send(pipe: IO[bytes], parcel: Pickled) -> None:
    """Write a parcel; blocks while the pipe is full."""
    sizes = [len(parcel.head), *(array.nbytes for array in parcel.arrays)]
    pipe.write(struct.pack(f"<I{len(sizes)}Q", len(sizes), *sizes))
    pipe.write(parcel.head)
    for array in parcel.arrays:
        pipe.write(array)
    pipe.flush()


def receive(pipe: IO[bytes], on_arrival: Callable[[], None] = lambda: None) -> Any:
    """The next object; ``on_arrival`` is called when all its bytes are here, before it is rebuilt."""
    (count,) = struct.unpack("<I", _read(pipe, 4))
    head, *arrays = [_read(pipe, size) for size in struct.unpack(f"<{count}Q", _read(pipe, 8 * count))]
    on_arrival()
    return pickle.loads(head, buffers=arrays)


def _read(pipe: IO[bytes], size: int) -> bytearray:
    data = bytearray(size)
    if pipe.readinto(data) != size:  # type: ignore[attr-defined]
        raise EOFError
    return data
