"""What functions, the estimator and commands say, and why they refuse, in whole sentences: ``sentences.toml``."""

from __future__ import annotations

from pathlib import Path

from dpviz.words import Sentences

SENTENCES = Sentences(Path(__file__).with_name("sentences.toml"))
make_refusal = SENTENCES.make_refusal
