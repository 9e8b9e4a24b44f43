"""Rounding of released centres to a public grid: post-processing, which takes away digits that are noise."""

from __future__ import annotations

from dataclasses import dataclass
from math import floor, log10

import numpy as np

from dpviz.core import Array, Codes
from dpviz.runs import Run
from dpviz.tables import codings

# A grid is at most this part of the noise, or of a column's width where no noise is known.
_PART_OF_NOISE, _PART_OF_WIDTH = 0.5, 1e-4


@dataclass(frozen=True, eq=False)
class Rounded:
    """Centres on a grid.

    ``digits`` (k, d), decimals of each coordinate; below 0, zeros before the point. They are the same along a
    column, but on a log or root scale, where noise grows with the amount; ``centers`` (k, d), data units, inside
    the bounds.
    """

    digits: Codes
    centers: Array

    @property
    def step(self) -> Array:
        """The width of the grid at each coordinate, shape (k, d)."""
        return np.array([[10.0**-digits for digits in row] for row in self.digits.tolist()])

    @property
    def texts(self) -> list[list[str]]:
        """The centres as they are printed, a row each."""
        return [
            [f"{value:.{max(digits, 0)}f}" for value, digits in zip(center, row, strict=True)]
            for center, row in zip(self.centers.tolist(), self.digits.tolist(), strict=True)
        ]


def round_centers(run: Run) -> Rounded:
    """The centres of a run on a decimal grid of at most half their noise; a centre at a bound stays inside."""
    digits = np.array([[-floor(log10(one)) for one in row] for row in _find_widest_grids(run).tolist()])
    lower, upper = run.domain.lower.tolist(), run.domain.upper.tolist()
    columns = zip(run.centers.T, digits.T, lower, upper, strict=True)
    return Rounded(digits, np.column_stack([_round_column(*column) for column in columns]))


def _find_widest_grids(run: Run) -> Array:
    """How wide the grid may be at each coordinate, data units, shape (k, d)."""
    domain, noise = run.domain, _find_typical_noise(run)
    whole = domain.upper - domain.lower
    grids = np.tile(_PART_OF_WIDTH * whole, (run.k, 1))
    if noise is not None:
        grids = np.where(noise > 0, np.minimum(_PART_OF_NOISE * noise * domain.even_scale, whole), grids)
    for column, place in zip(domain.declared, domain.places, strict=False):
        if isinstance(column.coding, codings.Stretched):
            amounts = run.centers[:, place.start]
            sd = np.full(run.k, 2 * _PART_OF_WIDTH if not noise else noise * float(column.even_scale[0]))
            spread = column.coding.spread_around(amounts, sd)
            grids[:, place.start] = np.minimum(_PART_OF_NOISE * spread, whole[place.start])
    return grids


def _find_typical_noise(run: Run) -> float | None:
    """The median over the centres of what the last step says of their noise, unit coordinates."""
    said = run.center_noise_sd
    return None if said is None or not np.isfinite(said).all() else float(np.median(said))


def _round_column(values: Array, digits: Codes, lower: float, upper: float) -> Array:
    rounded = np.array(values, dtype=np.float64)
    for one in np.unique(digits).tolist():
        rounded[digits == one] = _round_inside(values[digits == one], one, lower, upper)
    return rounded


def _round_inside(values: Array, digits: int, lower: float, upper: float) -> Array:
    step = 10.0**-digits
    nearest = np.round(values, digits)
    nearest = np.where(nearest > upper, np.round(nearest - step, digits), nearest)
    inside: Array = np.where(nearest < lower, np.round(nearest + step, digits), nearest) + 0.0
    return np.clip(inside, lower, upper)
