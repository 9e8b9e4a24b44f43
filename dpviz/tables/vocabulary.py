"""Words of names and ways to write a cell, from ``vocabulary.toml``: what a proposal goes by, and what is no header."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

TOLD = tomllib.loads(Path(__file__).with_name("vocabulary.toml").read_text(encoding="utf-8"))
WORDS = {kind: frozenset(said.split()) for kind, said in TOLD.items() if isinstance(said, str)}
PATTERNS = {
    what: re.compile(re.sub("~([a-z]+)~", lambda part: TOLD["parts"][part[1]], written))
    for what, written in TOLD["patterns"].items()
}


def match(what: str, cell: str) -> re.Match[str] | None:
    """How a whole cell is written in the way that has this name, if it is."""
    return PATTERNS[what].fullmatch(cell)
