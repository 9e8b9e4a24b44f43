"""Sentences that stand in a file beside the code that says them: each once, whole, under a key."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from string import Formatter
from typing import Any

from dpviz.words.foreign import list_names, quote_name


class Sentences(Formatter):
    """The sentences of a TOML file, which is read when the first one is wanted.

    A name from elsewhere is quoted, a list of them is cut short; ``{...:s}`` is a text of our own, or another entry.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    @cached_property
    def by_key(self) -> Mapping[str, str]:
        """Each with its places still open."""
        return tomllib.loads(self._path.read_text(encoding="utf-8"))

    def fill(self, key: str, /, **said: Any) -> str:
        """The sentence under that key, with what is ``said`` in its places."""
        return self.format(self.by_key[key], **said)

    def get_value(self, key: int | str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """What stands in a place."""
        return kwargs[str(key)] if key in kwargs else self.by_key[str(key)]

    def format_field(self, value: Any, format_spec: str) -> Any:
        """How it is written there."""
        if isinstance(value, str) and not format_spec:
            return quote_name(value)
        return list_names(value) if isinstance(value, list | tuple) else super().format_field(value, format_spec)
