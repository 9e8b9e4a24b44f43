"""Sizes of clusters as a finished run tells them, from everything that it released, to whoever has no rows."""

from __future__ import annotations

from typing import NamedTuple

from dpviz.arrays import Array

NINE_IN_TEN = 1.645
"""Half the width of an interval that nine values in ten lie in, in standard deviations."""


class Sizes(NamedTuple):
    """Estimates of how many ``rows`` (k,) are nearest to each centre, and what they are off by, as an ``sd`` (k,).

    Nine true sizes in ten lie within 1.645 sds: noise is a part of it, what the estimates cannot know another.
    """

    rows: Array
    sd: Array

    @property
    def low(self) -> Array:
        """Lower ends of intervals that hold nine sizes in ten, at least 0; (k,)."""
        low: Array = (self.rows - NINE_IN_TEN * self.sd).clip(min=0.0)
        return low

    @property
    def high(self) -> Array:
        """Upper ends of intervals that hold nine sizes in ten, (k,)."""
        return self.rows + NINE_IN_TEN * self.sd
