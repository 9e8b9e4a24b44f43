"""Bytes from elsewhere: a file that is one, read no further than agreed; YAML without surprises; and no traceback."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from dpviz.core import RequestError
from dpviz.words.doorways import Door


@contextmanager
def open_file(path: Path) -> Iterator[IO[bytes]]:
    """A regular file, open for reading. A pipe, a device or a folder is not opened: it may never answer,
    or never end.
    """
    _refuse_others(read_state(path).st_mode)
    with path.open("rb") as file:
        _refuse_others(os.fstat(file.fileno()).st_mode)  # should another one have taken its place meanwhile
        yield file


def read_state(path: Path) -> os.stat_result:
    """Size, time and kind of what lies at the path; nothing lies at one that no file can have."""
    try:
        return os.stat(path)  # noqa: PTH116 (of a path, whatever its name)
    except ValueError:
        raise FileNotFoundError(errno.ENOENT, "no path") from None


def read_bytes(path: Path, most: int) -> bytes:
    """The content of a regular file, or its first ``most`` + 1 bytes where there are more; see ``open_file``."""
    with open_file(path) as file:
        return file.read(most + 1)


def format_name(path: Path) -> str:
    """The name of a file on one line that can be written anywhere; what is no UTF-8 or cannot be printed is marked.

    >>> format_name(Path("caf\\udce9\\x1b[31m.csv"))
    'caf��[31m.csv'
    """
    name = os.fsencode(path.name).decode("utf-8", errors="replace")
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in name)


def quote_name(name: str) -> str:
    """A name between quotation marks, cut at 60 characters, on one line."""
    short = name if len(name) <= 60 else name[:57] + "..."
    return '"' + "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in short) + '"'


def list_names(names: Sequence[str], *, most: int = 12) -> str:
    """Names as a short list for a sentence; ``(none)`` when there are none.

    Parameters
    ----------
    names : sequence of str
        From elsewhere.
    most : int
        So many are spelled out.

    Returns
    -------
    str
        Quoted, on one line.
    """
    shown = ", ".join(quote_name(name) for name in names[:most])
    rest = len(names) - most
    return f"{shown} and {rest} more" if rest > 0 else shown or "(none)"


def read_yaml(text: str, *, most: int) -> Any:
    """The values that YAML says, each written out where it stands.

    A name for a part (an alias) is refused: a few hundred bytes of them can stand for gigabytes.
    """
    import yaml  # slow to import

    class PlainLoader(yaml.SafeLoader):
        def compose_node(self, parent: Any, index: Any) -> Any:
            if self.check_event(yaml.AliasEvent):
                raise yaml.YAMLError("a name that stands for another part")
            node = super().compose_node(parent, index)
            if isinstance(node, yaml.ScalarNode):
                node.value.encode()  # half a character, which nothing can show, is an error
            return node

    if len(text) > most:
        raise NoYaml(None)
    try:
        return yaml.load(text, PlainLoader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        raise NoYaml(None if mark is None else mark.line + 1) from None
    except MemoryError:
        raise
    except Exception:  # its reader has more than one way to say no: a date that is none, a number of 5,000 digits
        raise NoYaml(None) from None


class NoYaml(ValueError):
    """What is no YAML; ``line`` is where, if that is known."""

    def __init__(self, line: int | None) -> None:
        super().__init__("no YAML")
        self.line = line


class ReaderDefect(Exception):
    """An error in a reader that no damage should raise: a defect of dpviz, told by its type alone.

    Attributes
    ----------
    kind : str
        The type of the error.
    """

    safe_message = True

    def __init__(self, kind: str, door: str) -> None:
        super().__init__(f"A defect of dpviz ({kind}) stopped the reading of the {door}: please report it.")
        self.kind = kind
        self.door = door

    def __reduce__(self) -> tuple[type[ReaderDefect], tuple[str, str]]:
        return ReaderDefect, (self.kind, self.door)


@contextmanager
def refuse_as(
    refusal: RequestError, door: Door, *, missing: RequestError | None = None, called: str = ""
) -> Iterator[None]:
    """What damage raises in a reader of ``door`` is ``refusal``, a sentence without a value of what is read.

    Where memory runs out or the disk refuses, that is said instead, of what is ``called`` so. Sentences of our own go
    on as they are. Any other error is a ``ReaderDefect``: whoever meets it is told so.
    """
    what = called or f"The {door.name}"
    try:
        yield
    except (RequestError, ReaderDefect):
        raise
    except FileNotFoundError:
        raise missing or refusal from None
    except MemoryError:
        raise type(refusal)(describe_lack_of_memory(what, door)) from None
    except RecursionError:
        raise refusal from None
    except Exception as error:
        why = _DISK_SAYS.get(error.errno or 0) if isinstance(error, OSError) else None
        if why is not None:
            raise type(refusal)(f"{what} cannot be read: {why}.") from None
        if door.expects(error) or isinstance(error, OSError):
            raise refusal from None
        defect = ReaderDefect(type(error).__name__, door.name)
        raise defect.with_traceback(error.__traceback__) from None


def describe_lack_of_memory(what: str, door: Door) -> str:
    """What is said where memory ran out while ``what`` was read."""
    return f"Memory ran out while {what[:1].lower()}{what[1:]} was read: {door.smaller}."


_MAY_NOT = "you may not open it; change who may, or give another one"
_TOO_MANY = "too many files are open; close some, or allow more with ulimit -n"
_FULL = "the disk is full; make room there"
_DISK_SAYS = {
    errno.EACCES: _MAY_NOT,
    errno.EPERM: _MAY_NOT,
    errno.EISDIR: "it is a folder; give a file",
    errno.EIO: "the disk fails; copy the file to another one",
    errno.EMFILE: _TOO_MANY,
    errno.ENFILE: _TOO_MANY,
    errno.ENOSPC: _FULL,
    errno.EDQUOT: _FULL,
}


def _refuse_others(mode: int) -> None:
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, "a folder")
    if not stat.S_ISREG(mode):
        raise OSError("not a regular file")
