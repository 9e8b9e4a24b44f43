"""What a release says in sentences that no template has, why it refuses, and what its terms are called."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dpviz.words import Sentences, read_toml

TERMS: Mapping[str, Any] = read_toml(__file__, "release_terms.toml")

SENTENCES = Sentences(Path(__file__).with_name("sentences.toml"))
make_refusal = SENTENCES.make_refusal
