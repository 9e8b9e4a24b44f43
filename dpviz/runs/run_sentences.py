"""What is said of a run before and after it, and why one is refused, in whole sentences: ``sentences.toml``."""

from typing import Any

from dpviz.words import Sentences

SENTENCES = Sentences(__file__)
make_refusal = SENTENCES.make_refusal


def demand(holds: object, key: str, /, **said: Any) -> None:
    """Refuse what does not hold, in the sentence of that key."""
    if not holds:
        raise make_refusal(key, **said)
