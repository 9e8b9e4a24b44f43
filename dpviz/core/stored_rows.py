"""How dense rows are stored: on the lattice of their region, in small floats, with a column of ones behind them."""

from __future__ import annotations

from typing import Any, Literal, Protocol

import numpy as np

from dpviz.core.domain import Region
from dpviz.core.lattice import choose_number_type

# Rows of so few columns are stored column by column: copies and sums of a column are several times as fast.
FEW_COLUMNS = 2


class Stored(Protocol):
    """Rows wherever they lie: dense ones with ones behind them, shape (n, d + 1), or sparse ones, shape (n, d)."""

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        ...

    def __getitem__(self, rows: slice) -> Any:
        """Some consecutive rows, in memory; not to be written to."""
        ...


def allocate_rows(n: int, region: Region) -> Any:
    """Memory for ``n`` rows of ``region``, in the smaller floats where they are exact; the ones are there.

    Parameters
    ----------
    n : int
        Rows.
    region : Region
        Where rows live, unit coordinates.

    Returns
    -------
    array of shape (n, dim + 1)
        The last column is 1.
    """
    stored = np.empty(
        (n, region.dim + 1), choose_number_type(float(region.half.max()), region.row_bits), choose_order(region.dim)
    )
    stored[:, -1] = 1.0
    return stored


def choose_order(dim: int) -> Literal["C", "F"]:
    """How rows of ``dim`` columns lie in memory."""
    return "F" if dim <= FEW_COLUMNS else "C"
