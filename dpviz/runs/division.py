"""How the ε of a release is divided: whoever advises one and whoever spends it ask here, and both mean the whole."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from dpviz.core import RequestError, check

_MOST_SEGMENTS, _MOST_BOUNDS = 0.9, 0.5


class EpsilonParts(NamedTuple):
    """What each part of a release may spend; together the whole, by basic composition."""

    bounds: float
    missing: float
    centers: float
    segments: float


@dataclass(frozen=True)
class Division:
    """The parts of the ε of a release that do not go to its centres.

    Attributes
    ----------
    segments : float
        The share of what bounds and missing cells leave that says what the segments are; 0: nothing is said of them.
    bounds : float
        The part of ε for each column whose bounds are to be bought.
    missing : float
        The part of ε for the share of missing cells of all clustered columns; 0: it is not shown.
    """

    segments: float = 0.2
    bounds: float = 0.03
    missing: float = 0.0

    def check(self) -> None:
        """Refuse parts that are none."""
        check.within(0.0, _MOST_SEGMENTS, segments=self.segments)
        check.within(0.0, _MOST_BOUNDS, bounds=self.bounds, missing=self.missing)

    def divide(self, epsilon: float, *, bought: int) -> EpsilonParts:
        """The parts of ``epsilon`` where the bounds of so many columns are ``bought``."""
        bounds, missing = epsilon * self.bounds * bought, epsilon * self.missing
        segments = (epsilon - bounds - missing) * self.segments
        return EpsilonParts(bounds, missing, epsilon - bounds - missing - segments, segments)

    def find_share(self, *, bought: int = 0) -> float:
        """The part of any ε that goes to the centres; refused where nothing is left.

        >>> round(Division().find_share(), 6), round(Division(segments=0.5).find_share(bought=2), 6)
        (0.8, 0.47)
        """
        self.check()
        share = self.divide(1.0, bought=bought).centers
        if not share > 0:
            raise RequestError("Bounds and segments leave nothing of ε: buy fewer bounds, or give them less.")
        return share
