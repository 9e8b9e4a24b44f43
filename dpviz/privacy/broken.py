"""What is raised where a promise of the contract does not hold."""

from __future__ import annotations

import numpy as np


class Broken(AssertionError):
    """A promise of the contract that did not hold, in a sentence."""


def demand(holds: bool | np.bool_, sentence: str) -> None:
    """Refuse what does not hold.

    Parameters
    ----------
    holds : bool or bool
        What has to be true.
    sentence : str
        What is wrong otherwise.

    Raises
    ------
    Broken
    """
    if not holds:
        raise Broken(sentence)
