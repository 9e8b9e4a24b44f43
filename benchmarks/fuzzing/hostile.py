"""Values that people and programs send by mistake or on purpose."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np

Item = TypeVar("Item")

NUMBER_TEXTS: Sequence[str] = (
    *("", " ", "0", "-0", "1", "-1", "2", "0.5", "1.5", "1e-3", "1e-6", "3e2", "1e5", "1e9", "1e308", "1e309"),
    *("5e-324", "1e-400", "nan", "NaN", "-nan", "inf", "-inf", "Infinity", "+1", " 1 ", "1_000", "1,5", "0x10"),
    *(
        "1e",
        "1.2.3",
        "--1",
        "1,000",
        "-1e308",
        "½",
        "٣",
        "１",
        "1 2",
        "None",
        "auto",
        "null",
        "true",
        "True",
        "[]",
        "{}",
    ),
    *("9" * 400, "-" + "9" * 400, "0." + "0" * 400 + "1", "1" + "0" * 5000, str(2**63), str(2**64)),
)
"""What may stand where a number is wanted."""

NUMBERS: Sequence[Any] = (
    *(0, 1, -1, 2, 3, 10, 0.0, -0.0, 0.5, 1.0, 1.5, 1e-3, 1e-6, 1e-12, 1e-100, 1e-300, 5e-324, 1e3, 1e6, 1e9, 1e16),
    *(1e100, 1e308, -1e308, math.nan, math.inf, -math.inf, 2**31, 2**53 + 1, 2**63, 2**64, 10**30, 10**400, -(10**400)),
    *(True, False, 1 - 1e-16, 0.999999, 0.1, 0.3),
)
"""The same as Python holds them."""

TEXTS: Sequence[str] = (
    *("", " ", "\t", "\n", "\r", "\0", "\\", "'", '"', '""', ",", ";", ":", "=", "%", "%s", "{x!r}", "$HOME", "~"),
    *("é", "\u0301", "ｅ", "\u202egnirts", "\u200b", "\ufeff", "\ud800", "\udcff", "😀", "x" * 81, "y" * 3_000),
    *("![i](http://example.invalid/a.png)", "<script>alert(1)</script>", "[a](javascript:x)", "=1+1", "@SUM(A1)"),
    *("http://example.invalid", ":material/home:", ":red[x]", "$\\alpha$", "../../etc/passwd", "/dev/full", "-", "--"),
    *("auto", "none", "None", "nan", "label", "id", "row", "column_1", "__class__", "add_remove", "replace", "unit"),
)
"""What may stand where a name or a word is wanted."""

ENCODINGS: Sequence[str] = (
    *("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "cp1252", "latin-1"),
    *("iso8859-15", "koi8-r", "mac-roman", "ascii", "cp1253"),
)
STRANGE_ENCODINGS: Sequence[str] = ("utf-7", "base64", "rot13", "idna", "cp037", "hz", "", "\0", "utf-8\n", "é" * 300)


def one(rng: np.random.Generator, among: Sequence[Item]) -> Item:
    """One of them."""
    return among[int(rng.integers(len(among)))]


def some(rng: np.random.Generator, among: Sequence[Item], most: int) -> list[Item]:
    """Up to ``most`` of them, each at most once."""
    order = rng.permutation(len(among))[: int(rng.integers(0, most + 1))]
    return [among[int(place)] for place in order]


def happens(rng: np.random.Generator, chance: float) -> bool:
    """True so often."""
    return bool(rng.random() < chance)


def damaged(rng: np.random.Generator, data: bytes) -> tuple[bytes, str]:
    """``data``, which is not empty, with bits changed, cut off, put in or gone; and what was done."""
    broken = bytearray(data)
    match one(rng, ("flip", "flip", "cut", "put in", "zeros")):
        case "flip":
            places = rng.integers(len(broken), size=int(rng.integers(1, 6))).tolist()
            for at in places:
                broken[at] ^= 1 << int(rng.integers(8))
            return bytes(broken), f"bits changed at {places}"
        case "cut":
            end = int(rng.integers(len(broken)))
            return bytes(broken[:end]), f"cut at {end}"
        case "put in":
            at, more = int(rng.integers(len(broken))), rng.bytes(int(rng.integers(1, 400)))
            return bytes(broken[:at] + more + broken[at:]), f"{len(more)} bytes put in at {at}"
    at = int(rng.integers(len(broken)))
    broken[at : at + 200] = bytes(len(broken[at : at + 200]))
    return bytes(broken), f"nothing from {at} on"


def any_value(rng: np.random.Generator, depth: int = 0) -> Any:
    """Anything that JSON or YAML can say, nested now and then."""
    kind = int(rng.integers(0, 9 if depth < 3 else 6))
    if kind < 2:
        return one(rng, NUMBERS)
    if kind < 4:
        return one(rng, TEXTS)
    if kind == 4:
        return one(rng, NUMBER_TEXTS)
    if kind == 5:
        return one(rng, (None, True, False, [], {}, [[]], "x"))
    inside = [any_value(rng, depth + 1) for _ in range(int(rng.integers(0, 4)))]
    return inside if kind < 8 else {one(rng, TEXTS): each for each in inside}
