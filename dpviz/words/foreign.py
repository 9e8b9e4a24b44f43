"""What comes from elsewhere or goes there: by which door, how much of it, and read without a surprise or a traceback.

Readers take their limits and expected errors from the doors, the fuzz judges by them, ``docs/limits.md`` prints them,
and a rule of the house finds whoever opens or parses a file and is not named. Only what is a file is opened, and it is
read no further than agreed.
"""

from __future__ import annotations

import errno
import os
import stat
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from dpviz.core import RequestError


@dataclass(frozen=True)
class Door:
    """One way in or out.

    Attributes
    ----------
    name : str
        What a sentence calls that which comes through.
    readers : tuple of str
        The modules that may open or parse it, below ``dpviz/`` or in ``experiments/``.
    damage : tuple of str
        Full names of the errors that a damaged one may raise in a library; any other is a defect of ours.
    most_bytes, most_unpacked, most_lines, most_cells : int
        As it is given, and after it was unpacked; 0 where it has no such size, or none is set. A cell of text counts
        as eight, because that is what memory makes of it.
    smaller : str
        What to do where memory runs out.
    """

    name: str
    readers: tuple[str, ...]
    damage: tuple[str, ...] = ()
    most_bytes: int = 0
    most_unpacked: int = 0
    most_lines: int = 0
    most_cells: int = 0
    smaller: str = "give a smaller one"

    def expects(self, error: BaseException) -> bool:
        """Whether damage may raise this."""
        return any(_name_type(kind) in self.damage for kind in type(error).__mro__)

    def holds_cells(self, given_bytes: int, cells: int) -> bool:
        """Whether so many cells are read of so many bytes as they were given."""
        # A table has a byte or so for a cell; what promises far more of them than its size is packed to fill memory, or
        # has short lines under a long header.
        in_proportion = max(_CELLS_OF_ANY_FILE, _CELLS_A_BYTE * given_bytes)
        return cells <= min(in_proportion, self.most_cells or in_proportion)


# Measured on a run of DPLloyd: reading and preparing a cell takes some forty to sixty bytes at the peak.
_CELLS_OF_ANY_FILE, _CELLS_A_BYTE = 8_000_000, 8
OF_TEXT = 8
"""So many numbers a cell of text weighs in memory."""
_DEEPEST = 100  # brackets of YAML within each other


def _name_type(kind: type) -> str:
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def _read_doors() -> Iterator[tuple[str, Door]]:
    told = tomllib.loads(Path(__file__).with_name("doors.toml").read_text(encoding="utf-8"))
    errors, smaller = told.pop("errors"), told.pop("smaller")
    for name, said in told.items():
        said["readers"] = tuple(said["readers"])
        said["damage"] = tuple(error for one in said.get("damage", ()) for error in errors.get(one, (one,)))
        yield name, Door(**said | ({"smaller": smaller[said["smaller"]]} if "smaller" in said else {}))


_DOORS = dict(_read_doors())
CSV = _DOORS["CSV"]
GZIP = _DOORS["GZIP"]
PARQUET = _DOORS["PARQUET"]
DATABASE = _DOORS["DATABASE"]
SPARK = _DOORS["SPARK"]
SPARSE = _DOORS["SPARSE"]
RELEASE = _DOORS["RELEASE"]
TRANSCRIPT = _DOORS["TRANSCRIPT"]
ACCOUNT = _DOORS["ACCOUNT"]
DECLARATION = _DOORS["DECLARATION"]
LESSON = _DOORS["LESSON"]
STUDY_FILE = _DOORS["STUDY_FILE"]
STUDY_FOLDER = _DOORS["STUDY_FOLDER"]
EXPERIMENTS = _DOORS["EXPERIMENTS"]
LINK = _DOORS["LINK"]
NOTEBOOK = _DOORS["NOTEBOOK"]
PLUG_IN = _DOORS["PLUG_IN"]
KEY = _DOORS["KEY"]
STDOUT = _DOORS["STDOUT"]
OURS = _DOORS["OURS"]

DOORS = tuple(_DOORS.values())
"""All of them."""


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
    """The name of a file on one line that can be written anywhere; what is no UTF-8 or cannot be printed is marked."""
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

        def fetch_flow_collection_start(self, kind: Any) -> None:
            if self.flow_level == _DEEPEST:  # its scanner takes seconds for a thousand
                raise yaml.YAMLError("too many brackets within each other")
            super().fetch_flow_collection_start(kind)

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
        started = what[:1].lower() + what[1:]
        raise type(refusal)(f"Memory ran out while {started} was read: {door.smaller}.") from None
    except RecursionError:
        raise refusal from None
    except Exception as error:
        why = _DISK_SAYS.get(error.errno or 0) if isinstance(error, OSError) else None
        if why is not None:
            raise type(refusal)(f"{what} cannot be read: {why}.") from None
        if door.expects(error) or isinstance(error, OSError):
            raise refusal from None
        raise ReaderDefect(type(error).__name__, door.name).with_traceback(error.__traceback__) from None


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
