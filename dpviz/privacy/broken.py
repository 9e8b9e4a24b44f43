"""What is raised where a promise of the contract does not hold."""

from __future__ import annotations

import numpy as np


class Broken(AssertionError):
    """A promise of the contract that did not hold, in a sentence."""


def demand(holds: bool | np.bool_, sentence: str) -> None:
    """Refuse what does not hold.

    Raises
    ------
    Broken
    """
    if not holds:
        raise Broken(sentence)
