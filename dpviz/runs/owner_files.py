"""Files that appear whole or not at all, and folders for their owner's eyes, in which one process at a time writes."""

import errno
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from dpviz.core import RequestError
from dpviz.runs.run_sentences import demand, make_refusal

try:
    import fcntl
except ImportError:  # Windows has no such lock: there nothing keeps two sweeps apart
    fcntl = None  # type: ignore[assignment]

OWNER_ONLY = 0o600
"""A file that nobody else may read."""

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL
_NO_LOCKS_HERE = {errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS}
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_BARRED = {errno.EACCES, errno.EPERM, errno.EROFS}


def write_whole(path: Path, data: bytes, *, mode: int | None = None) -> None:
    """Put ``data`` into the file at ``path``: what stood there goes only when all of it is on the disk.

    Parameters
    ----------
    path : Path
    data : bytes
        Its new content.
    mode : int or None
        Who may read it, from its first byte on; None: whoever could before. Then what is no plain file (a pipe, a
        device) is written to as it is, and so is a file in a folder where no other one can be made.

    Raises
    ------
    OSError
        If it cannot be written, or not all of it: the disk may be full, and some say so only at the end.
    """
    if mode is None and path.exists() and not path.is_file():
        _write(path, data, os.O_WRONLY)
        return
    path = Path(os.path.realpath(path))  # a link stays one, and what it names is written
    beside = _name_beside(path)
    try:
        _write(beside, data, _NEW, 0o666 if mode is None else mode)
        if mode is None and path.exists():
            beside.chmod(path.stat().st_mode & 0o777)
        beside.replace(path)
    except PermissionError:
        _discard(beside)
        if mode is not None:
            raise
        _write(path, data, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    except BaseException:
        _discard(beside)
        raise


def create_whole(path: Path, data: bytes, *, mode: int = 0o666) -> None:
    """Make a new file at ``path``: under that name it is there as a whole or not at all, and takes no other's place.

    Parameters
    ----------
    path : Path
        Of a file that is not there yet.
    data : bytes
        Its content.
    mode : int
        Who may read it, from its first byte on.

    Raises
    ------
    OSError
        If it cannot be written, or another file has that name.
    """
    part = _name_beside(path)
    try:
        _write(part, data, _NEW, mode)
        try:
            path.hardlink_to(part)  # a link, unlike a new name, takes the place of no other file
        except FileExistsError:
            raise
        except OSError as no_links:  # as on some disks
            if path.exists():
                raise FileExistsError(path) from no_links
            part.rename(path)
    finally:
        _discard(part)


def _name_beside(path: Path) -> Path:
    return path.with_name(f".dpviz-{secrets.token_hex(8)}.part")


def _write(path: Path, data: bytes, how: int, mode: int = 0o666) -> None:
    descriptor = os.open(path, how | getattr(os, "O_BINARY", 0), mode)
    with os.fdopen(descriptor, "wb", buffering=0) as file:
        left = memoryview(data)
        while left:
            left = left[file.write(left) :]
        if path.is_file():
            os.fsync(descriptor)


def _discard(path: Path) -> None:
    with suppress(OSError):
        path.unlink(missing_ok=True)


def open_to(path: Path, how: int) -> IO[str]:
    """A text file of mode 0600 to write: ``os.O_APPEND`` adds to it, ``os.O_TRUNC`` begins it anew."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | how, OWNER_ONLY)
    with suppress(OSError, AttributeError):  # it may be older, or lie where there are no modes
        os.fchmod(descriptor, OWNER_ONLY)
    return os.fdopen(descriptor, "w", newline="", encoding="utf-8")


@contextmanager
def lock_writer(path: Path, *, called: str) -> Iterator[None]:
    """The right to write beside the lock file ``path``; it ends with the block, or with this process.

    ``called`` is what whoever is refused knows the folder by.
    """
    with open_to(path, os.O_APPEND) as lock:
        if fcntl is not None:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise make_refusal("being_written", called=called) from None
            except OSError as error:
                if error.errno not in _NO_LOCKS_HERE:
                    raise
        yield


def make_private(path: Path, *, called: str) -> None:
    """Make a folder that its owner alone may enter; one that is there must be such a folder."""
    with translate_disk_errors(called=called):
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        made = path.stat()
    demand(os.name != "posix" or (made.st_uid == os.geteuid() and not made.st_mode & 0o077), "not_yours", called=called)


@contextmanager
def translate_disk_errors(*, called: str = "--out", after: str = "") -> Iterator[None]:
    """What a disk refuses, as a request that cannot be served; ``after`` says what to do once there is room."""
    try:
        yield
    except OSError as error:
        if error.errno in _FULL:
            raise RequestError(f"The disk of {called} is full: make room{after}.") from None
        why = "you may not write to it" if error.errno in _BARRED else "it cannot be written to"
        raise RequestError(f"{called} cannot be used, because {why}: give another folder, or mend this one.") from None
