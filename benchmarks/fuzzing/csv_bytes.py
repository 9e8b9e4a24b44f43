"""Files that are CSV, nearly CSV, or anything but."""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from benchmarks.fuzzing.hostile import ENCODINGS, NUMBER_TEXTS, TEXTS, happens, one, some
from benchmarks.fuzzing.secrets import Secrets

_SOUP = (*",;\t|\" '\n\r\\\0-+.%1a", "\r\n", '""', "sep=;", "é", "\ufeff", "\u2028", "\x85", "\x1c")
_MAGIC = (
    b"PK\x03\x04",
    b"\x89PNG\r\n\x1a\n",
    b"%PDF-1.7",
    b"PAR1",
    b"BZh9",
    b"\x1f\x8b",
    b"\x1f\x8b\x08\x00",
    b"<html>",
)
_MARKS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"\xff\xfe\x00\x00", b"\x00\x00\xfe\xff")
_NAMES = ("x", "y", "age", "income", "height cm", "größe", "x", "", "id", "label", "weight", "city", "t0", "n.a.")
_BIG = 3_000_000


@dataclass(frozen=True)
class HostileFile:
    """Bytes, what their cells must not tell anybody, and a word on how they were made.

    ``names`` are the columns of the file before anything happened to it; ``plain`` are its bytes before it was packed.
    """

    raw: bytes
    names: tuple[str, ...]
    secrets: Secrets
    about: str
    plain: bytes | None = None

    @property
    def unpacked(self) -> bytes:
        """The bytes of its lines."""
        return self.raw if self.plain is None else self.plain


def hostile_file(rng: np.random.Generator) -> HostileFile:
    """A file to be read as the plain default or as declared."""
    way = rng.random()
    if way < 0.1:
        return _noise(rng)
    if way < 0.18:
        return _headless(rng)
    return _mutated(rng)


def well_formed_file(rng: np.random.Generator) -> HostileFile:
    """A plain CSV whose cells hold secrets, odd cells and text, with x and y among its columns."""
    secrets = Secrets.drawn(rng)
    names = ("x", "y", *some(rng, ("id", "label", "city", "height cm"), 3))
    return HostileFile(_table(rng, names, secrets, delimiter=",").encode(), names, secrets, "a plain file")


def _noise(rng: np.random.Generator) -> HostileFile:
    """Bytes that were never a table; there is nothing in them to tell."""
    length = int(rng.integers(0, 400))
    kind = int(rng.integers(0, 4))
    if kind == 0:
        raw = rng.bytes(length)
    elif kind == 1:
        raw = "".join(one(rng, _SOUP) for _ in range(length)).encode()
    elif kind == 2:
        raw = one(rng, _MAGIC) + rng.bytes(length)
    else:
        raw = one(rng, (b"", b"\n", b"\r", b'"', b'""', b"sep=;", "sep=§".encode(), b"sep=\n", b"\0", b",", b"#", b"x"))
    return HostileFile(raw, (), Secrets(), f"{len(raw)} bytes of noise")


def _headless(rng: np.random.Generator) -> HostileFile:
    """A file whose first line is a row, each cell of it a value: none of them may become a name."""
    secrets = Secrets.drawn(rng)
    write = one(rng, tuple(_AMOUNTS.values()))
    columns = int(rng.integers(1, 5))
    rows = [[write(one(rng, secrets.numbers)) for _ in range(columns)] for _ in range(int(rng.integers(1, 9)))]
    delimiter = one(rng, (";", "\t", "|"))
    raw = (one(rng, ("\n", "\r\n")).join(delimiter.join(row) for row in rows)).encode()
    return HostileFile(raw, (), secrets, "rows without a header")


_AMOUNTS: Mapping[str, Callable[[int], str]] = {
    "plain": str,
    "negative": lambda value: f"-{value}",
    "minus sign": lambda value: f"\u2212{value}",
    "grouped": lambda value: f"{value:,}",
    "decimals": lambda value: f"{value / 1e4:.4f}",
    "amount": lambda value: f"${value}",
    "euro": lambda value: f"{value} €",
    "percentage": lambda value: f"{value}%",
    "brackets": lambda value: f"({value})",
    "quoted": lambda value: f'"{value}"',
    "scientific": lambda value: f"{value}e3",
    "currency": lambda value: f"USD {value}",
}


def _mutated(rng: np.random.Generator) -> HostileFile:
    """A table after up to four mishaps, in some encoding, perhaps packed."""
    secrets = Secrets.drawn(rng)
    names = tuple(_name(rng) for _ in range(int(rng.integers(1, 7))))
    if happens(rng, 0.02):
        names = tuple(f"c{place}" for place in range(one(rng, (300, 2_000, 2_001, 9_000))))
    delimiter = one(rng, (",", ",", ",", ";", "\t", "|", " "))
    text = _table(rng, names, secrets, delimiter=delimiter)
    encoding = one(rng, ENCODINGS) if happens(rng, 0.3) else "utf-8"
    raw = text.encode(encoding, errors="replace")
    done = [encoding]
    for mishap in some(rng, tuple(_MISHAPS), 4):
        raw = _MISHAPS[mishap](rng, raw)
        done.append(mishap)
    open_line, plain = _first_line(raw), raw
    if happens(rng, 0.12):
        packing = one(rng, tuple(_PACKINGS))
        raw = _PACKINGS[packing](rng, raw)
        done.append(packing)
    return HostileFile(raw, names, secrets.without_those_in(open_line), f"{delimiter!r} {', '.join(done)}", plain)


def _name(rng: np.random.Generator) -> str:
    name = one(rng, TEXTS) if happens(rng, 0.25) else one(rng, _NAMES)
    plain = name.encode("utf-8", errors="replace").decode()
    return f'"{plain.replace(chr(34), chr(34) * 2)}"' if happens(rng, 0.2) else plain


def _table(rng: np.random.Generator, names: tuple[str, ...], secrets: Secrets, *, delimiter: str) -> str:
    end = one(rng, ("\n", "\n", "\r\n"))
    rows = int(one(rng, (0, 1, 2, 5, 20, 60)))
    kinds = [one(rng, ("number", "number", "number", "secret", "word", "odd")) for _ in names]
    quote = happens(rng, 0.15)
    lines = [delimiter.join(names)]
    for _ in range(rows):
        cells = [_cell(rng, kind, secrets) for kind in kinds]
        lines.append(delimiter.join(f'"{cell}"' if quote else cell for cell in cells))
    return end.join(lines) + (end if happens(rng, 0.8) else "")


def _cell(rng: np.random.Generator, kind: str, secrets: Secrets) -> str:
    if kind == "secret":
        return one(rng, tuple(_AMOUNTS.values()))(one(rng, secrets.numbers))
    if kind == "word":
        return one(rng, secrets.words)
    if kind == "odd":
        return one(rng, NUMBER_TEXTS[:-4]).encode("utf-8", errors="replace").decode()
    return f"{rng.uniform(-1, 1):.4f}"


def _first_line(raw: bytes) -> str:
    """What is public by being the header: the first line, and the next one where that says ``sep=``.

    Zero bytes are left out, so that it is the same in all encodings.
    """
    lines = re.split(rb"[\r\n]+", raw.replace(b"\0", b"")[:_BIG], maxsplit=2)
    many = 2 if b"sep=" in lines[0].lower() or not lines[0].strip(b" \t,;|\xef\xbb\xbf\xff\xfe") else 1
    return b"\n".join(lines[:many]).decode("latin-1")


def _inserted(what: tuple[bytes, ...]) -> Callable[[np.random.Generator, bytes], bytes]:
    def insert(rng: np.random.Generator, raw: bytes) -> bytes:
        for _ in range(int(rng.integers(1, 4))):
            place = int(rng.integers(0, len(raw) + 1))
            raw = raw[:place] + one(rng, what) + raw[place:]
        return raw

    return insert


def _without_a_piece(rng: np.random.Generator, raw: bytes) -> bytes:
    first, last = sorted(int(place) for place in rng.integers(0, len(raw) + 1, 2))
    return raw[:first] + raw[min(last, first + 30) :]


def _flipped(rng: np.random.Generator, raw: bytes) -> bytes:
    found = bytearray(raw)
    for place in rng.integers(0, max(1, len(raw)), 5) if raw else ():
        found[int(place)] = int(rng.integers(0, 256))
    return bytes(found)


def _repeated(rng: np.random.Generator, raw: bytes) -> bytes:
    first, last = sorted(int(place) for place in rng.integers(0, len(raw) + 1, 2))
    return raw[:last] + raw[first:last] * int(rng.integers(1, 4)) + raw[last:]


def _shuffled_lines(rng: np.random.Generator, raw: bytes) -> bytes:
    first, *rest = raw.split(b"\n")
    return b"\n".join([first, *(rest[int(place)] for place in rng.permutation(len(rest)))])


def _giant(rng: np.random.Generator, raw: bytes) -> bytes:
    place = raw.find(b"\n") + 1 if happens(rng, 0.7) else 0
    return (
        raw[:place] + one(rng, (b"7", b'"', b",", b"a", b" ", b'"x",', b"\r")) * one(rng, (140_000, _BIG)) + raw[place:]
    )


_MISHAPS: Mapping[str, Callable[[np.random.Generator, bytes], bytes]] = {
    "quotes": _inserted((b'"', b'""', b"'", b'"\n"', b'\\"')),
    "zero bytes": _inserted((b"\0", b"\0\0\0")),
    "returns": _inserted((b"\r", b"\r\r", b"\n\r")),
    "marks inside": _inserted(_MARKS),
    "bad bytes": _inserted((b"\xff", b"\xc3\x28", b"\x80", b"\xed\xa0\x80", b"\xf8")),
    "odd line ends": _inserted((b"\x85", b"\xe2\x80\xa8", b"\x0b", b"\x0c", b"\x1c", b"\xc2\x85")),
    "more delimiters": _inserted((b",", b";;", b"\t", b"|", b",,,,")),
    "blank lines": _inserted((b"\n", b"\n\n", b"\r\n", b"  \n", b",,\n")),
    "odd numbers": _inserted((b"inf", b"nan", b"1e999", b"-", b"%", b"$", b"9" * 400, b"e", b"0x")),
    "a piece missing": _without_a_piece,
    "flipped bytes": _flipped,
    "a piece repeated": _repeated,
    "lines shuffled": _shuffled_lines,
    "cut off": lambda rng, raw: raw[: int(rng.integers(0, len(raw) + 1))],
    "sep above": lambda rng, raw: one(rng, (b"sep=;\n", b"sep=,\r\n", b"SEP=\n", b"sep=ab\n", b" sep=|\n")) + raw,
    "mark above": lambda rng, raw: one(rng, _MARKS) + raw,
    "comment above": lambda rng, raw: b"# made by a program\n" + raw,
    "a giant field": _giant,
}


def _bomb(rng: np.random.Generator, raw: bytes) -> bytes:
    return gzip.compress(raw) + _ZEROS * one(rng, (5, 60))


_ZEROS = gzip.compress(b"0,0\n" * 2_500_000, compresslevel=9)

_PACKINGS: Mapping[str, Callable[[np.random.Generator, bytes], bytes]] = {
    "packed": lambda rng, raw: gzip.compress(raw),
    "packed twice": lambda rng, raw: gzip.compress(gzip.compress(raw)),
    "packed in parts": lambda rng, raw: gzip.compress(raw[:20]) + gzip.compress(raw[20:]) + b"\0" * 7,
    "packed, cut": lambda rng, raw: gzip.compress(raw)[: int(rng.integers(0, 40))],
    "packed, flipped": lambda rng, raw: _flipped(rng, gzip.compress(raw)),
    "packed, followed": lambda rng, raw: gzip.compress(raw) + rng.bytes(9),
    "a bomb": _bomb,
}
