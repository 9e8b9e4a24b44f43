"""What a release says in sentences that no template has, why it refuses, and what its terms are called."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dpviz.words import Sentences

TERMS: Mapping[str, Any] = tomllib.loads(Path(__file__).with_name("release_terms.toml").read_text(encoding="utf-8"))

SENTENCES = Sentences(Path(__file__).with_name("sentences.toml"))
make_refusal = SENTENCES.make_refusal
