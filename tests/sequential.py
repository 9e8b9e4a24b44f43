"""Decisions about what happens by chance, taken as soon as enough has been drawn."""

from collections.abc import Iterable
from math import log


def usually(trials: Iterable[bool], *, often: float = 0.9, rarely: float = 0.3, error: float = 0.01) -> bool:
    """Whether trials succeed ``often`` rather than ``rarely``: Wald's sequential test.

    Of either kind, no more than about ``error`` of all sequences are decided wrongly. Five successes in a row decide,
    as do three failures. ``trials`` may be without end: no more of them are drawn than are needed.
    """
    evidence, enough = 0.0, log((1 - error) / error)
    for success in trials:
        evidence += log(often / rarely) if success else log((1 - often) / (1 - rarely))
        if abs(evidence) >= enough:
            return evidence > 0
    raise AssertionError("so few trials decide nothing")
