"""What the pages explain at length, beside a control or below a picture: once, by its key in ``sentences.toml``."""

from __future__ import annotations

from pathlib import Path

from dpviz.words import Sentences

SENTENCES = Sentences(Path(__file__).with_name("sentences.toml"))
