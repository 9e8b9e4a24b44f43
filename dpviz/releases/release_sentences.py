"""What a release says in sentences that no template has, why it refuses, and what its terms are called."""

from collections.abc import Mapping
from typing import Any

from dpviz.words import Sentences, read_toml

TERMS: Mapping[str, Any] = read_toml(__file__, "release_terms.toml")

SENTENCES = Sentences(__file__)
make_refusal = SENTENCES.make_refusal
