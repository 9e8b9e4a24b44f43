"""One copy of the rows for many worker processes: anonymous memory that each of them maps.

The memory has no name and is no file: nobody else can open it, nothing reaches a disk, and it is gone with the last
process that has it open, even one that was killed. A temporary folder of memory-mapped files, as joblib makes it, would
leave private rows behind after a kill.
"""

from __future__ import annotations

import io
import mmap
import os
import pickle
import weakref
from collections.abc import Iterable
from typing import Any, NamedTuple

from dpviz.tables import LatticeFile

_ALIGNED = 64


class Shared:
    """``content``, its arrays in shared memory: as an argument of a `Job` it arrives as ``content`` itself.

    Workers may write to its arrays: a page that one writes to becomes its own, and nobody else sees the change.
    """

    def __init__(self, content: object) -> None:
        self._head, parts, self._files = pickle_content(content)
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

    @property
    def fds(self) -> list[int]:
        """What a worker has to inherit."""
        return [self.fd, *list_fds(self._files)]

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
    """The descriptors of open files."""
    return [fd for file in files for fd in (file.fds if isinstance(file, Shared) else [file.fd])]


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
