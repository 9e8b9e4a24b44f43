"""Rounding of released centres to a public grid: post-processing, which takes away digits that are noise."""

from __future__ import annotations

from dataclasses import dataclass
from math import floor, log10

import numpy as np

from dpviz.algorithms.steps import CentersStep
from dpviz.arrays import Array
from dpviz.runs.run import Run

# A grid is at most this part of the noise, or of a column's width where no noise is known.
_PART_OF_NOISE, _PART_OF_WIDTH = 0.5, 1e-4


@dataclass(frozen=True, eq=False)
class Rounded:
    """Centres on a grid.

    Parameters
    ----------
    digits : tuple of int
        Decimals of each column; below 0, zeros before the point.
    centers : array of shape (k, d)
        Data units, inside the bounds.
    """

    digits: tuple[int, ...]
    centers: Array

    @property
    def step(self) -> Array:
        """The width of the grid along each column, shape (d,)."""
        return np.array([10.0**-digits for digits in self.digits])

    @property
    def texts(self) -> list[list[str]]:
        """The centres as they are printed, a row each."""
        return [
            [f"{value:.{max(digits, 0)}f}" for value, digits in zip(center, self.digits, strict=True)]
            for center in self.centers.tolist()
        ]


def round_centers(run: Run) -> Rounded:
    """The centres of a run on a decimal grid of at most half their noise; a centre at a bound stays inside."""
    domain = run.domain
    sd = _find_typical_noise(run)
    width = _PART_OF_WIDTH * (domain.upper - domain.lower)
    widest = (
        width if sd is None else np.where(sd > 0, np.minimum(_PART_OF_NOISE * sd, domain.upper - domain.lower), width)
    )
    digits = tuple(-floor(log10(one)) for one in widest.tolist())
    centers = np.column_stack(
        [
            _clip_inside(column, places, lower, upper)
            for column, places, lower, upper in zip(
                run.centers.T, digits, domain.lower.tolist(), domain.upper.tolist(), strict=True
            )
        ]
    )
    return Rounded(digits, centers)


def _find_typical_noise(run: Run) -> Array | None:
    """The median over the centres of what the last step says of their noise, data units, shape (d,)."""
    step = run.frames[-1].step
    said = step.center_noise_sd if isinstance(step, CentersStep) else None
    if said is None or not np.isfinite(said).all():
        return None
    typical: Array = float(np.median(said)) * np.broadcast_to(run.domain.scale, (run.domain.dim,))
    return typical


def _clip_inside(values: Array, digits: int, lower: float, upper: float) -> Array:
    step = 10.0**-digits
    nearest = np.round(values, digits)
    nearest = np.where(nearest > upper, np.round(nearest - step, digits), nearest)
    inside: Array = np.where(nearest < lower, np.round(nearest + step, digits), nearest) + 0.0
    return np.clip(inside, lower, upper)
