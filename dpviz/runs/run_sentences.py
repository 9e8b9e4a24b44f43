"""What is said of a run before and after it, and why one is refused, in whole sentences: ``sentences.toml``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dpviz.core import RequestError
from dpviz.words import Sentences

SENTENCES = Sentences(Path(__file__).with_name("sentences.toml"))


def make_refusal(key: str, /, **said: Any) -> RequestError:
    """The refusal that stands under that key, with what is ``said`` in its places."""
    return RequestError(SENTENCES.fill(key, **said))
