"""What algorithms emit: public and released values only, in unit coordinates."""

from __future__ import annotations

from dataclasses import dataclass

from dpviz.core import Array, Codes, partitions


@dataclass(frozen=True, eq=False, kw_only=True)
class Step:
    """One picture of an algorithm at work; ``title`` says what just happened.

    ``ahead`` is how many steps like it are planned to follow, where that is known: for the time left.
    """

    title: str
    ahead: int | None = None

    @property
    def public(self) -> bool:
        """Whether no row has been read for it."""
        return False


@dataclass(frozen=True, eq=False, kw_only=True)
class CentersStep(Step):
    """Centres of shape (k, d), and what their cells were measured to hold.

    ``noisy_counts`` (k,) are released weights, None before any row was read. ``previous`` are the centres before this
    step, ``center_noise_sd`` (k,) the standard deviation of the noise on one coordinate of each centre,
    ``count_noise_sd`` that of the noise on one count. ``released`` says that rows were read where neither counts nor
    noise can be told.
    """

    centers: Array
    noisy_counts: Array | None = None
    previous: Array | None = None
    center_noise_sd: Array | None = None
    count_noise_sd: float | None = None
    released: bool = False

    @property
    def public(self) -> bool:
        """Whether no row has been read for these centres."""
        return self.noisy_counts is None and self.center_noise_sd is None and not self.released


@dataclass(frozen=True, eq=False, kw_only=True)
class GridStep(Step):
    """A noisy histogram: ``noisy_counts`` (m,) of the listed cell ``codes``.

    With a ``cutoff``, cells whose noisy count is within it are not listed: they are unknown, not zero. ``sd`` is the
    standard deviation of the noise on one cell. Where the grid fills a box only, ``around`` are the coarse cells that
    took the rows outside of it; else rows outside belong to the cell at the edge.
    """

    grid: partitions.Grid
    codes: Codes
    noisy_counts: Array
    sd: float
    cutoff: float | None = None
    around: GridStep | None = None

    @property
    def spread_in_cell(self) -> float:
        """Mean squared distance of rows to the middle of their cell, as far as rows fill cells evenly."""
        return self.grid.spread_in_cell
