"""Values that stand in the cells of a file and nowhere else: whoever meets one outside has met a leak."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

_LETTERS = tuple("bcdfghjkmnpqrstvwxz")
_BETWEEN_DIGITS = re.compile(r"(?<=\d)[,._'\u2019\s](?=\d)")


@dataclass(frozen=True)
class Secrets:
    """What no sentence, note or file of results may hold.

    Attributes
    ----------
    numbers : tuple of int
        Of nine digits each. They lie outside the bounds that the cases declare, so that no centre comes near.
    words : tuple of str
        Of ten consonants each.
    """

    numbers: tuple[int, ...] = ()
    words: tuple[str, ...] = ()

    @classmethod
    def drawn(cls, rng: np.random.Generator, *, many: int = 6) -> Secrets:
        """So many new numbers, and as many words."""
        numbers = rng.integers(100_000_000, 1_000_000_000, many)
        return cls(tuple(map(int, numbers)), tuple("".join(rng.choice(_LETTERS, 10)) for _ in range(many)))

    def found_in(self, text: str) -> int:
        """How many of them stand in ``text``, as they are or rounded as numbers often are.

        >>> Secrets((731944027,), ("qwrtzpsdfg",)).found_in("7.31944e+08 and QWRTZPSDFG")
        2
        """
        digits, lower = _BETWEEN_DIGITS.sub("", text), text.lower()
        seen = [str(number) in digits or f"{number:g}" in lower for number in self.numbers]
        return sum(seen) + sum(word in lower for word in self.words)

    def without_those_in(self, text: str) -> Secrets:
        """The others: those in ``text`` are public."""
        return Secrets(
            tuple(number for number in self.numbers if not Secrets((number,)).found_in(text)),
            tuple(word for word in self.words if word not in text.lower()),
        )
