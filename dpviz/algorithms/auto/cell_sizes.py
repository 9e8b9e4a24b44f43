"""How many cells a grid of ``auto`` has: by public and released numbers, before what it is laid over is known.

Many cells show where rows are, few are full enough to be told from noise. What trees of details make of a histogram
hardly depends on noise in single cells, so that they may be smaller than where cells are only smoothed. Constants were
chosen by hand on tables whose families stand in ``benchmarks/families.py``.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt


@dataclass(frozen=True)
class _Tuning:
    """How many cells a grid has.

    Chosen by hand on the tuning families of ``benchmarks/families.py``.

    Parameters
    ----------
    noise_part : float
        Cells of a grid that is smoothed: so many that their noise is this part of a cluster.
    scales_per_cell : float
        Rows in a cell that is read through trees: so many scales of noise, where rows fill a domain of one
        column evenly.
    fewest_cells, cells_per_cluster : int
        No fewer cells in all, or for each cluster.
    per_axis_flat, per_axis_view : float
        No more for each cluster and axis, over few columns and over a view.
    most_flat, most_view : int
        No more in all.
    widening_part : float
        Cells that widen outwards, over those of a grid of equal ones: they have to be few, so that rows far away share
        one.
    fewest_widening, widening_per_cluster : float
        But no fewer in all, or for each cluster.
    enough_scales : float
        Rows of a cluster have to be so many scales for finer grids to be tried.
    """

    noise_part: float = 0.3
    scales_per_cell: float = 3.0
    fewest_cells: int = 32
    cells_per_cluster: int = 4
    per_axis_flat: float = 20.0
    per_axis_view: float = 12.0
    most_flat: int = 60_000
    most_view: int = 20_000
    widening_part: float = 0.25
    fewest_widening: float = 100.0
    widening_per_cluster: float = 20.0
    enough_scales: float = 25.0


_TUNED = _Tuning()


# Finer grids that are tried have so many times the cells; rows of a cluster have to be so many scales for any of that.
FINER = (4.0, 16.0)


def can_tell_apart(n: int, k: int, scale: float) -> bool:
    """Whether clusters hold enough rows, in scales of noise, for trees of details to tell them from noise.

    Parameters
    ----------
    n : int
        Rows; public, or bought.
    k : int
        Clusters.
    scale : float
        Of the noise on a cell, in rows.

    Returns
    -------
    bool
        Whether trees are worth asking.
    """
    return n / (k * scale) >= _TUNED.enough_scales


def count_smoothed_cells(n: int, k: int, scale: float, axes: int, *, flat: bool) -> float:
    """Cells whose noise, in the mean of a cluster, is a part of the cluster: about (0.3 n / sd)² / k, within limits.

    Parameters
    ----------
    n : int
        Rows; public, or bought.
    k : int
        Clusters.
    scale : float
        Of the noise on a cell, in rows.
    axes : int
        Of the view.
    flat : bool
        Whether the grid is over the rows' own columns.

    Returns
    -------
    float
        Cells; not rounded.
    """
    wanted = (_TUNED.noise_part * n / (sqrt(2) * scale)) ** 2 / k
    return _limit_cells(wanted, k, axes, flat=flat)


def count_tree_cells(n: int, k: int, scale: float, dim: int) -> float:
    """(n / (3 scales))^(2d / (2 + d)) cells, within limits: as a density in d columns is best read from a histogram.

    Parameters
    ----------
    n : int
        Rows; public, or bought.
    k : int
        Clusters.
    scale : float
        Of the noise on a cell, in rows.
    dim : int
        Columns.

    Returns
    -------
    float
        Cells; not rounded.
    """
    return _limit_cells((n / (_TUNED.scales_per_cell * scale)) ** (2 * dim / (2 + dim)), k, dim, flat=True)


def count_widening_cells(n: int, k: int, scale: float, dim: int) -> float:
    """Cells of a grid that widens outwards: a part of those of equal ones, within limits.

    Parameters
    ----------
    n : int
        Rows; public, or bought.
    k : int
        Clusters.
    scale : float
        Of the noise on a cell, in rows.
    dim : int
        Columns.

    Returns
    -------
    float
        Cells; not rounded.
    """
    few = max(_TUNED.fewest_widening, _TUNED.widening_per_cluster * k)
    return max(_TUNED.widening_part * count_tree_cells(n, k, scale, dim), min(few, count_most_flat(k, dim)))


def list_finer_cells(n: int, k: int, scale: float, dim: int) -> list[float]:
    """The numbers of cells of finer grids, within limits: those below them are worth trying.

    Parameters
    ----------
    n : int
        Rows; public, or bought.
    k : int
        Clusters.
    scale : float
        Of the noise on a cell, in rows.
    dim : int
        Columns.

    Returns
    -------
    list of float
        Cells of each grid, ascending.
    """
    return [min(times * count_tree_cells(n, k, scale, dim), count_most_flat(k, dim)) for times in FINER]


def count_most_flat(k: int, dim: int) -> float:
    """The most cells of a grid over few columns.

    Parameters
    ----------
    k : int
        Clusters.
    dim : int
        Columns.

    Returns
    -------
    float
        Cells.
    """
    return _count_most(k, dim, flat=True)


def _limit_cells(wanted: float, k: int, axes: int, *, flat: bool) -> float:
    return max(
        1.0, min(max(wanted, _TUNED.cells_per_cluster * k, _TUNED.fewest_cells), _count_most(k, axes, flat=flat))
    )


def _count_most(k: int, axes: int, *, flat: bool) -> float:
    per_axis, most = (_TUNED.per_axis_flat, _TUNED.most_flat) if flat else (_TUNED.per_axis_view, _TUNED.most_view)
    return float(min(most, k * per_axis ** min(axes, 40)))
