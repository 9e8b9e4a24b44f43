"""What is said of a run before and after it, and why one is refused, in whole sentences: ``sentences.toml``."""

from __future__ import annotations

from pathlib import Path

from dpviz.words import Sentences

SENTENCES = Sentences(Path(__file__).with_name("sentences.toml"))
make_refusal = SENTENCES.make_refusal
