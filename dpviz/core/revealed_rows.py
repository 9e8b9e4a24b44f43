"""What a session reveals to the owner of its rows; a look, which is counted and is part of no release."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpviz.core.arrays import Array, Codes


@dataclass(frozen=True, eq=False)
class Revealed:
    """Rows shown to their owner, unit coordinates, not clipped to the bounds (only to a billion half-widths, so that
    squared distances stay finite); rows with missing cells are left out.

    Of rows that are not in memory they are a fair sample, as the bounds leave them: ``inside``.

    Never part of a release; ``kept`` are the positions of these rows in the loaded table, or in the sample.
    """

    points: Array
    kept: Codes
    inside: bool = False

    def unfold(self, points: int) -> Revealed:
        """The ``points`` points that stand side by side in each row, one after the other: what a row stands for."""
        dim = self.points.shape[1] // points
        if points == 1:
            return self
        return Revealed(self.points.reshape(-1, dim), np.repeat(self.kept, points), self.inside)
