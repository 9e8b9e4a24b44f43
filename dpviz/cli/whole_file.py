"""Files that are written as a whole or not at all: what was paid for must not be half there."""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from pathlib import Path


def write_whole(path: Path, data: bytes) -> None:
    """Put ``data`` into the file at ``path``: what stood there goes only when all of it is on the disk.

    What is no plain file (a pipe, a device) is written to as it is, and so is a file in a folder where no other one can
    be made.

    Parameters
    ----------
    path : Path
        Of the file.
    data : bytes
        Its new content.

    Raises
    ------
    OSError
        If it cannot be written, or not all of it: the disk may be full, and some say so only at the end.
    """
    if path.exists() and not path.is_file():
        _write(path, data, os.O_WRONLY)
        return
    path = Path(os.path.realpath(path))  # a link stays one, and what it names is written
    beside = path.with_name(f".dpviz-{secrets.token_hex(8)}.part")
    try:
        _write(beside, data, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
        if path.exists():
            beside.chmod(path.stat().st_mode & 0o777)
        beside.replace(path)
    except PermissionError:
        _discard(beside)
        _write(path, data, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    except BaseException:
        _discard(beside)
        raise


def _write(path: Path, data: bytes, how: int) -> None:
    descriptor = os.open(path, how | getattr(os, "O_BINARY", 0), 0o666)
    with os.fdopen(descriptor, "wb", buffering=0) as file:
        left = memoryview(data)
        while left:
            left = left[file.write(left) :]
        if path.is_file():
            os.fsync(descriptor)


def _discard(path: Path) -> None:
    with suppress(OSError):
        path.unlink(missing_ok=True)
