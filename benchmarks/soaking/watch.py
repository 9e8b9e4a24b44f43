"""What a server takes of its machine: memory, processes that outlive it, files that it leaves."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

MARK = "DPVIZ_SOAK"
"""A variable in the environment of the server and of all its children."""

_SECONDS_BETWEEN = 1.0


@dataclass
class Watch:
    """Memory of a process over time, and its work.

    Attributes
    ----------
    seconds, megabytes : list of float
    worked : float
        Seconds of all processors that the process itself took.
    late : float
        By how many seconds the one who watches woke up too late, at most: so much of any time may be the watcher's own.
    """

    pid: int
    worked: float = 0.0
    late: float = 0.0
    seconds: list[float] = field(default_factory=list)
    megabytes: list[float] = field(default_factory=list)

    async def looks(self) -> None:
        """Note the memory once a second, for as long as the process lives."""
        began = time.monotonic()
        while (now := resident_megabytes(self.pid)) is not None:
            self.seconds.append(time.monotonic() - began)
            self.megabytes.append(now)
            self.worked = worked_seconds(self.pid) or self.worked
            slept = time.monotonic()
            await asyncio.sleep(_SECONDS_BETWEEN)
            self.late = max(self.late, time.monotonic() - slept - _SECONDS_BETWEEN)


def resident_megabytes(pid: int) -> float | None:
    """The memory that a process holds; None where there is no such process."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except OSError:
        return None
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def worked_seconds(pid: int) -> float | None:
    """What the process has worked, without its children; None where there is no such process."""
    fields = _fields(pid)
    return None if fields is None else (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def marked(value: str) -> list[int]:
    """The processes, other than this one, that were started with that value of ``MARK``."""
    wanted = f"{MARK}={value}".encode()
    return [pid for pid, environment in _environments() if pid != os.getpid() and wanted in environment.split(b"\0")]


def server_of(value: str) -> int:
    """The one of them that this process has started."""
    return next(pid for pid in marked(value) if (fields := _fields(pid)) and int(fields[1]) == os.getpid())


def left_behind(value: str, *, seconds: float = 10.0) -> list[int]:
    """Those that are still there after so many seconds."""
    latest = time.monotonic() + seconds
    while (found := marked(value)) and time.monotonic() < latest:
        time.sleep(0.2)
    return found


def _fields(pid: int) -> list[str] | None:
    """What the system says of a process behind its name; None where there is no such process."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None


def _environments() -> Iterator[tuple[int, bytes]]:
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                yield int(folder.name), (folder / "environ").read_bytes()
            except OSError:
                continue
