"""Names that a file system allows and nobody expects, and what may stand there in place of a file, on command lines."""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.fuzzing.case import Broken, Case, command, short
from benchmarks.fuzzing.hostile import one
from benchmarks.fuzzing.secrets import Secrets
from dpviz.core.check import RequestError

_STEERS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_STEMS = (
    *(b"table", b"caf\xe9", b"\xff\xfe", b"\xed\xa0\x80", "größe".encode(), b"a\nb", b"a\rb", b"\x1b[31mred", b"\x07"),
    *(
        "a\u2028b".encode(),
        "\u202egnirts".encode(),
        b"\xc2\x85",
        b"-",
        b"--help",
        b"--k=3",
        b"-h",
        b"a,b",
        b"a b",
        b" ",
    ),
    *(b"x" * 240, b"x" * 251, b"x" * 252, b"x" * 5_000, b"'", b'"', b"{x!r}", b"%s", b"..", b"~", b"$HOME", b"fifteen"),
    *(b"/dev/null", b"/dev/zero", b"/dev/full", b"no/such", b"a\\b", b"*", b"\xf0\x9f\x98\x80", b""),
)
_ENDINGS = (b".csv", b".csv", b".csv.gz", b".parquet", b".npz", b".zip", b".sqlite", b".json", b"")
_RUN = ("--k", "2", "--epsilon", "1", "--algorithm", "eugkm", "--columns", "x,y")
_ROUND = ("--bounds", "-1,1")
_WORDS: Mapping[str, Callable[[str], list[str]]] = {
    "run": lambda name: ["run", name, *_RUN, *_ROUND],
    "run, as JSON": lambda name: ["run", name, *_RUN, *_ROUND, "--json"],
    "declare": lambda name: ["declare", name],
    "declare to": lambda name: ["declare", "data.csv", "--out", name],
    "run to": lambda name: ["run", "data.csv", *_RUN, *_ROUND, "--out", name],
    "bounds of": lambda name: ["run", "data.csv", *_RUN, "--bounds", name],
    "sweep to": lambda name: [
        *("sweep", "data.csv", *_ROUND, "--columns", "x,y", "--algorithms", "eugkm", "--epsilons", "1", "--ks", "2"),
        *("--repeats", "1", "--jobs", "1", "--out", name),
    ],
    "without bounds": lambda name: ["run", name, *_RUN],
}
_OF_RELEASES: Mapping[str, Callable[[str], list[str]]] = {
    "verify": lambda name: ["verify", name],
    "account": lambda name: ["account", "show", name],
    "account new": lambda name: ["account", "new", name, "--name", "Table", "--cap-epsilon", "1"],
}


def name_case(rng: np.random.Generator) -> Case:
    """A command line with such a name, where a table, something else or nothing stands."""
    secrets = Secrets.drawn(rng, many=2)
    rows = "".join(f"0.{row},-0.{row},{secrets.words[row % 2]},{secrets.numbers[row % 2]}\n" for row in range(1, 9))
    table = f"x,y,who,much\n{rows}".encode()
    name = os.fsdecode(one(rng, _STEMS) + one(rng, _ENDINGS))
    asked = one(rng, (*_WORDS, *_WORDS, *_OF_RELEASES, *_OF_RELEASES))
    things = ("a table", "nothing") if asked.endswith("to") else ("a table", *_THINGS)
    thing = one(rng, things)
    # The parser takes what begins with a dash for an option, unless a folder goes before.
    word = name if rng.random() < 0.6 else f"./{name}"
    argv = {**_WORDS, **_OF_RELEASES}[asked](word)
    do = partial(_said, name=name, thing=thing, table=table, argv=argv)
    return Case("file names", f"{short(word)}, {thing}; {asked}", do, secrets, for_a_page=False)


def _said(folder: Path, *, name: str, thing: str, table: bytes, argv: list[str]) -> str:
    (folder / "data.csv").write_bytes(table)
    if not name.startswith("/"):
        with suppress(OSError, ValueError):  # no file can have such a name, or it is one already
            if thing == "a table":
                (folder / name).write_bytes(table)
            elif thing in _THINGS:
                _THINGS[thing](folder / name)
    try:
        said = command(argv)
    except RequestError as error:
        _check("\n".join((*getattr(error, "__notes__", ()), str(error))))
        raise
    _check(said)
    return said


def _check(said: str) -> None:
    """What stands in a name must not steer the terminal that shows it."""
    if _STEERS.search(said):
        raise Broken("a name steers the terminal")


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(os.fspath(path))


_THINGS: Mapping[str, Callable[[Path], object]] = {
    "nothing": lambda path: None,
    "a pipe": os.mkfifo,
    "a folder": lambda path: path.mkdir(),
    "zeros without end": lambda path: path.symlink_to("/dev/zero"),
    "a full device": lambda path: path.symlink_to("/dev/full"),
    "leads nowhere": lambda path: path.symlink_to("nowhere"),
    "leads round": lambda path: path.symlink_to(path.name),
    "leads to the table": lambda path: path.symlink_to("data.csv"),
    "a socket": _socket,
}
